"""The daily digest: one message with every table that waits for a person."""

from __future__ import annotations

import msgspec

from bot.hub.cache import TableCache
from bot.hub.loading import load_recipient
from bot.hub.notifications.messages import Notification
from bot.hub.notifications.preferences import settings_of
from bot.hub.notifications.waiting import next_digest_at, waiting_tables
from bot.position.times import zone_of
from storage import DueRow, NewMessage, UnitOfWork


async def enqueue_digest(unit: UnitOfWork, person_id: int) -> None:
    """Put the digest of a person into the outbox, if a table waits for them: by mail, else as a direct
    message."""
    recipient = await load_recipient(unit, person_id, None)
    settings = recipient.settings
    waiting = [
        each for each in await waiting_tables(unit, person_id) if settings.for_table(each.table.code).digest
    ]
    if not waiting:
        return
    chosen = settings.tell.channels or ("mail", "direct")
    by_mail = recipient.email if "mail" in chosen or not recipient.discord_id else None
    direct = recipient.discord_id if not by_mail or "direct" in (settings.tell.channels or ()) else None
    day = unit.now.astimezone(zone_of(settings.zone)).date().isoformat()
    lines = tuple(each.line(unit.now, settings.zone) for each in waiting)
    notification = Notification("digest", waiting[0].table.id, 0, person_id=person_id, sentences=lines)
    for channel, address in (
        ("mail", {"person": person_id, "email": by_mail} if by_mail else None),
        ("user", {"user": direct} if direct else None),
    ):
        if address is None:
            continue
        await unit.outbox.enqueue(
            NewMessage(
                idempotency_key=f"clock.digest.{person_id}.{day}.{channel}",
                channel="mail" if channel == "mail" else "discord",
                address=address,
                payload=msgspec.json.encode(notification),
                ordering_key=f"{channel}:{person_id}",
                collapse_key=f"digest:{person_id}:{channel}",
            )
        )


class DigestTimer:
    """Sends the digest of a person when it is due."""

    def __init__(self, cache: TableCache) -> None:
        self._cache = cache

    async def send(self, row: DueRow) -> bool:
        """Send the digest, if any table waits for the person, and set the next."""
        assert row.person_id is not None
        async with self._cache.store.begin() as unit:
            person = await unit.people.get(row.person_id)
            settings = settings_of(person.preferences, person.time_zone)
            next_at = next_digest_at(settings, unit.now) if settings.wants_digest else None
            if await unit.clocks.take_due(row, next_at) and settings.wants_digest:
                await enqueue_digest(unit, row.person_id)
        self._cache.wake_subscribers()
        return True
