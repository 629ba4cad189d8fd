"""Messages of the outbox that come late, after a downtime, wake nobody."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from msgspec import DecodeError

from bot.hub.loading import load_recipient
from bot.hub.notifications.messages import decode_notification
from bot.hub.notifications.notify import sleeps_until
from storage import NotFound, OutboxMessage, UnitOfWork

LATE = timedelta(minutes=10)
"""So long after its time a message is late: its time was chosen outside the quiet hours of its reader."""


async def without_sleepers(unit: UnitOfWork, leased: Iterable[OutboxMessage]) -> list[OutboxMessage]:
    """Without late messages whose readers are in quiet hours; those wait for the end of the hours."""
    return [row for row in leased if not await _waits(unit, row)]


async def _waits(unit: UnitOfWork, row: OutboxMessage) -> bool:
    is_composed = "sender" in row.address
    if is_composed or row.attempts > 1 or unit.now - row.not_before < LATE:
        return False
    try:
        notification = decode_notification(row.payload)
        if notification.person_id is None:
            return False
        recipient = await load_recipient(unit, notification.person_id, notification.seat)
    except (DecodeError, NotFound):
        return False  # whoever sends it says what is wrong with it
    until = sleeps_until(notification.kind, recipient, unit.now)
    if until is not None:
        await unit.outbox.put_off(row.id, until)
    return until is not None
