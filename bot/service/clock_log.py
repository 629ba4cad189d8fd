"""What the clock has done stands in the log of its table: the digests and turn emails of all tell it."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.service.live_table import LiveTable
from storage import LogRow, NewLogRow, UnitOfWork


async def write_notes(unit: UnitOfWork, table: LiveTable, sentences: Sequence[str]) -> list[LogRow]:
    """Append notes to the log of a locked table; the rows, to add to it in memory after the transaction."""
    rows = [NewLogRow(kind="note", transport="clock", line="clock", raw_line=each) for each in sentences]
    if rows:
        state = engine.encode_state(table.state)
        await unit.move_log.append(table.stored_info.id, table.seq, rows, state)
    return [
        LogRow(seq=seq, created_at=unit.now, **row._asdict()) for seq, row in enumerate(rows, table.seq + 1)
    ]
