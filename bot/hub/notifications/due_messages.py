"""Messages of the outbox that are due after a wait: meanwhile their readers may have begun to sleep, or
to want no emails."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from msgspec import DecodeError

from bot.hub.loading import UnreadableTable, load_info, load_recipient
from bot.hub.notifications.messages import Notification, decode_notification, is_public, sent
from bot.hub.notifications.notify import ABOUT_SEATS, RULES, Recipient, sleeps_until
from bot.hub.people import load_standing
from bot.hub.timers import PING_KIND, recall
from storage import NotFound, OutboxMessage, UnitOfWork

LATE = timedelta(minutes=10)
"""So long after its time a message is late."""


async def still_wanted(unit: UnitOfWork, leased: Iterable[OutboxMessage]) -> list[OutboxMessage]:
    """Those that are to be sent now. What a reader in quiet hours has to get waits for the end of the hours,
    and to who wants no emails any more it goes as a direct message, if nothing else tells them."""
    return [row for row in leased if await _is_wanted(unit, row)]


async def _is_wanted(unit: UnitOfWork, row: OutboxMessage) -> bool:
    is_composed, for_all = "sender" in row.address, is_public(row)
    was_held = row.not_before > row.created_at and not for_all
    if is_composed or row.attempts > 1 or not (was_held or unit.now - row.not_before >= LATE):
        return True
    try:
        notification = decode_notification(row.payload)
        sleeps = RULES.get(notification.kind, ABOUT_SEATS).sleeps and (notification.ping or not for_all)
        if notification.person_id is None or not notification.table_id or not sleeps:
            return True
        recipient = await load_recipient(unit, notification.person_id, notification.seat)
        until = sleeps_until(notification.kind, recipient, unit.now)
        if until is None and row.channel == "mail" and recipient.email is None:
            return not await _withdrawn(unit, row, notification, recipient)
    except (DecodeError, NotFound, UnreadableTable):
        return True  # whoever sends it says what is wrong with it
    if until is not None:
        await unit.outbox.put_off(row.idempotency_key, until)
    return until is None


async def _withdrawn(
    unit: UnitOfWork, row: OutboxMessage, notification: Notification, recipient: Recipient
) -> bool:
    """Withdraw an email to a person who has stopped their emails, or has no address any more; what they were
    told by email alone is told on Discord, and a turn is told anew. Whether there was such a reason. Raises
    NotFound, and UnreadableTable."""
    table = await load_info(unit, notification.table_id)
    standing = await load_standing(unit, recipient.person_id)
    if standing.wants_mail and standing.address:
        return False
    await unit.outbox.mark_sent(row.idempotency_key)
    by_mail_alone = recipient.settings.is_told_by_mail_alone(table.code)
    if notification.kind == "turn" and by_mail_alone:
        clock = (await unit.clocks.seat_clocks(table.id)).get(notification.seat or 0)
        if clock is not None:
            await recall(unit, PING_KIND, clock, unit.now)
    elif by_mail_alone or notification.kind == "digest":
        name = f"{row.idempotency_key}.instead"
        await unit.outbox.enqueue(*sent(table, notification, recipient, channels={"user"}, name=name))
    return True
