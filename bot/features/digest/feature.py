"""The daily digest: one message with every table that waits for a person, a page for each. On Discord these
pages are the answer to `turns` too.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from bot.hub.cache import TableCache
from bot.hub.feature import Page
from bot.hub.loading import load_recipient
from bot.hub.log import recent_events
from bot.hub.notifications.messages import Notification, unique_suffix
from bot.hub.notifications.preferences import settings_of
from bot.hub.notifications.waiting import WaitingTable, next_digest_at, waiting_tables
from bot.hub.polls import VOTE_CONTROLS
from bot.hub.queries import TableQueries
from bot.position.pending import prompt_of
from storage import NewMessage, StoredTimer, UnitOfWork


async def enqueue_digest(unit: UnitOfWork, person_id: int, due_at: datetime) -> None:
    """Put the digest of a person into the outbox, if a table waits for them: by mail, else as a direct
    message. One that comes late waits for the end of quiet hours."""
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
                idempotency_key=f"clock.digest.{person_id}.{channel}.{unique_suffix()}",
                channel="mail" if channel == "mail" else "discord",
                address=address,
                payload=msgspec.json.encode(notification),
                ordering_key=f"{channel}:{person_id}",
                collapse_key=f"digest:{person_id}:{channel}",
                not_before=due_at,
            )
        )


class DigestTimer:
    """Sends the digest of a person when it is due."""

    def __init__(self, cache: TableCache) -> None:
        self._cache = cache

    async def send(self, row: StoredTimer) -> bool:
        """Send the digest, if any table waits for the person, and set the next; none to who is away. At
        another time than the person's, which was set back, only set the next."""
        assert row.person_id is not None
        async with self._cache.store.begin() as unit:
            person = await unit.people.get(row.person_id)
            settings = settings_of(person.preferences, person.time_zone)
            next_at = next_digest_at(settings, unit.now) if settings.wants_digest else None
            is_its_time = next_digest_at(settings, row.due_at - timedelta(seconds=1)) == row.due_at
            is_wanted = is_its_time and settings.wants_digest and not settings.is_away(unit.now)
            if await unit.clocks.take_due(row, next_at) and is_wanted:
                await enqueue_digest(unit, row.person_id, row.due_at)
        self._cache.wake_subscribers()
        return True


MAX_EVENTS = 8


class WaitingPages:
    """Makes the pages of the tables that wait for a person, the most urgent first."""

    def __init__(self, cache: TableCache, queries: TableQueries) -> None:
        self._store, self._queries = cache.store, queries

    async def pages(self, person_id: int, *, in_digest: bool = False) -> list[tuple[WaitingTable, Page]]:
        """Each table and its page. in_digest: only those that the digest of the person has, with what has
        happened there."""
        async with self._store.read() as unit:
            settings = (await load_recipient(unit, person_id, None)).settings
            waiting, now = await waiting_tables(unit, person_id), unit.now
        found = []
        for each in waiting:
            if in_digest and not settings.for_table(each.table.code).digest:
                continue
            headline = each.line(now, settings.zone)
            if each.poll is not None:
                question = str(each.poll.poll.details["question"])
                page = Page(headline, [question], controls=VOTE_CONTROLS, decision_id=each.poll_id)
                found.append((each, page))
                continue
            view = await self._queries.view(each.table.id)
            pending = next((p for p in view.pending if p.seat == each.seat), None)
            if pending is not None and view.state is not None:
                events = await self._events(each, person_id) if in_digest else ()
                lists = [(f"Since your last turn at {each.table.code}", events)] if events else []
                sentence = f"You to act: {prompt_of(view.state, pending)}."
                found.append((each, Page(headline, [sentence], lists, decision_id=pending.decision_id)))
        return found

    async def _events(self, waiting: WaitingTable, reader: int) -> tuple[str, ...]:
        """What has happened at a table; only the player sees which moves their orders have said."""
        player = waiting.table.player_at(waiting.seat)
        is_owner = player is not None and player.person_id == reader
        entries = await self._queries.log_since_last_move(waiting.table.id, waiting.seat, by_hand=is_owner)
        return recent_events(entries, MAX_EVENTS)
