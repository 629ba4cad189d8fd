"""What has happened at a table since a player's last turn, as emails and digests tell it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.hub.log import LogEntry
from bot.hub.notifications.waiting import WaitingTable
from bot.hub.queries import TableQueries

MAX_EVENTS = 50
MAX_EVENTS_IN_DIGEST = 8


def recent_events(entries: Sequence[LogEntry], most: int = MAX_EVENTS) -> tuple[str, ...]:
    """Log entries as sentences; of many only the last."""
    events = [
        " ".join([*entry.sentences, *(["(Your order said this.)"] if entry.by_own_order else [])])
        for entry in entries
        if entry.is_live and entry.sentences
    ]
    left_out = len(events) - most
    return tuple(events if left_out <= 0 else [f"… and {left_out} earlier events", *events[-most:]])


async def digest_events(queries: TableQueries, waiting: WaitingTable, reader: int) -> tuple[str, ...]:
    """The events of one table for the digest of a person; only the player themselves sees which moves their
    orders have said."""
    player = waiting.table.player_at(waiting.seat)
    is_owner = player is not None and player.person_id == reader
    entries = await queries.log_since_last_move(waiting.table.id, waiting.seat, by_hand=is_owner)
    return recent_events(entries, MAX_EVENTS_IN_DIGEST)
