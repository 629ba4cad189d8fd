"""The cost of tables: loading and memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.hub.info import TableInfo
from bot.hub.table import LiveTable, TableMetadata
from bot.position.pending import seat_number
from bot.tools.benchmark.games import BenchmarkError
from bot.tools.benchmark.rules import PlayedGame
from bot.tools.benchmark.timing import Timings, clear_caches, timed
from engine import (
    choices,
    decision,
    decode_events,
    decode_state,
    encode_state,
    fold,
    game_of,
)
from storage import LogRow


@dataclass
class TableMetrics:
    """Times in milliseconds, memory in kB.

    fold_times: finished games from their events. load_times: tables with their logs.
    """

    fold_times: Timings = field(default_factory=Timings)
    load_times: Timings = field(default_factory=Timings)
    kilobytes: Timings = field(default_factory=Timings)


def measure_loading(played: PlayedGame, tables: TableMetrics) -> None:
    """Measure loading a finished game and a table with its log. Raises BenchmarkError."""
    game, end = played.game, decode_state(played.final_state)
    where = f"{game.name}, {len(game.lines)} moves"
    first = encode_state(game.start)
    state, milliseconds = timed(
        lambda: fold((e for raw in played.events for e in decode_events(raw)), decode_state(first))
    )
    if state != end:
        raise BenchmarkError(f"{game.name}: the events do not lead to the position that was played")
    tables.fold_times.add(milliseconds, where)
    rows = list(_log_rows(played))
    metadata = TableMetadata(TableInfo(1, "A23", game.name, end.title, end.options, "running", None, {}, ()))
    tables.load_times.add(min(timed(lambda: LiveTable(metadata, rows))[1] for _ in range(2)), where)
    tables.kilobytes.add(_kilobytes(metadata, played), where)


def _log_rows(played: PlayedGame) -> Iterable[LogRow]:
    now = datetime.now(UTC)
    start = encode_state(played.game.start)
    yield LogRow(1, now, "note", None, None, "service", "The game begins.", "start", start, None, None, None)
    for seq, ((seat, line), events) in enumerate(zip(played.game.lines, played.events, strict=True), 2):
        yield LogRow(
            seq, now, "move", seat_number(seat), 1, "mail", line, line, events, f"0.{seq}", None, f"r{seq}"
        )


def _kilobytes(metadata: TableMetadata, played: PlayedGame) -> float:
    """The memory of a table with its log, its position and the choices that were computed for it."""
    clear_caches()
    tracemalloc.start()
    table = LiveTable(
        metadata, [row._replace(events=bytes(bytearray(row.events))) for row in _log_rows(played)]
    )
    for seat in decision(table.state).asked:
        choices(table.state, seat)
    _ = game_of(table.state).network
    size = tracemalloc.get_traced_memory()[0] / 1000
    tracemalloc.stop()
    return size
