"""What has happened at a table since a player's last turn, as emails and digests tell it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.hub.log import LogEntry

MAX_EVENTS = 50


def recent_events(entries: Sequence[LogEntry], most: int = MAX_EVENTS) -> tuple[str, ...]:
    """Log entries as sentences; of many only the last."""
    events = [
        " ".join([*entry.sentences, *(["(Your order said this.)"] if entry.by_own_order else [])])
        for entry in entries
        if entry.is_live and entry.sentences
    ]
    left_out = len(events) - most
    return tuple(events if left_out <= 0 else [f"… and {left_out} earlier events", *events[-most:]])
