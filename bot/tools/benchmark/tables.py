"""The cost of tables: loading, memory, and moves that are on the disk when they are answered."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from bot.hub.info import TableInfo
from bot.hub.result import Completed
from bot.hub.table import LiveTable, TableMetadata
from bot.position.pending import seat_number
from bot.service import Service
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
from engine.standing_orders import is_order_line, limit_as_order
from storage import LogRow, Store, StoreError, open_store

TABLE_COUNT = 50
"""Tables that are played at the same time."""

MOVES_PER_TABLE = 60
"""Moves at each table."""


@dataclass
class TableMetrics:
    """Times in milliseconds, memory in kB.

    fold_times: finished games from their events. load_times: tables with their logs. move_count, seconds,
    cpu_seconds: durable moves, by the clock and in processor time.
    """

    fold_times: Timings = field(default_factory=Timings)
    load_times: Timings = field(default_factory=Timings)
    kilobytes: Timings = field(default_factory=Timings)
    move_count: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


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


# -- durable moves ---------------------------------------------------------------------------


def measure_durable_moves(games: Sequence[PlayedGame], tables: TableMetrics, folder: Path) -> None:
    """Play on at tables at all stages of these games, in a store in a file in the folder.

    Every player has a Discord identity and a mail address, and every other table is shown on Discord, so that
    moves also write notifications. Raises BenchmarkError for a line that is refused.
    """
    with TemporaryDirectory(prefix="railpost-bench-", dir=folder) as store_folder:
        asyncio.run(_measure_durable_moves(games, tables, Path(store_folder)))


async def _measure_durable_moves(games: Sequence[PlayedGame], tables: TableMetrics, folder: Path) -> None:
    async with await open_store(folder / "railpost.db") as store:
        service = Service(store)
        open_tables = [
            await open_table(store, service, game, n, _start(game, n), MOVES_PER_TABLE)
            for n, game in ((n, games[n % len(games)]) for n in range(TABLE_COUNT))
        ]
        for table in open_tables:
            await service.queries.view(table.table_id)
        clock_start, cpu_start = perf_counter(), process_time()
        try:
            async with asyncio.TaskGroup() as tasks:
                for table in open_tables:
                    tasks.create_task(_play_on(service, table))
        except* (BenchmarkError, StoreError) as errors:
            raise errors.exceptions[0] from None
        tables.seconds = perf_counter() - clock_start
        tables.cpu_seconds = process_time() - cpu_start
        tables.move_count = sum(len(table.lines) for table in open_tables)


@dataclass(frozen=True, slots=True)
class BenchmarkTable:
    """A table in the store: the person in each seat, and the lines still to be played."""

    table_id: int
    person_by_seat: dict[int, int]
    lines: Sequence[tuple[str, str]]


def _start(played: PlayedGame, number: int) -> int:
    """How many lines are played before; tables with higher numbers are further advanced."""
    return max(len(played.game.lines) - MOVES_PER_TABLE, 0) * number // TABLE_COUNT


async def open_table(
    store: Store, service: Service, played: PlayedGame, number: int, start: int, moves: int
) -> BenchmarkTable:
    """A table at which the first lines of a game are played already, and so many are to come.

    Everybody has a Discord identity and a mail address; tables with odd numbers are shown on Discord.
    """
    game = played.game
    played_lines = zip(game.lines[:start], played.events, strict=False)
    before = ((seat_number(seat), line, decode_events(raw)) for (seat, line), raw in played_lines)
    table = await service.lobby.import_game(game.start, before, name=f"Table {number}")
    person_by_seat = {p.seat: p.person_id for p in table.seated_players if p.seat is not None}
    async with store.begin() as unit:
        for person in person_by_seat.values():
            await unit.people.add_identity(person, "discord", str(10**17 + person))
            await unit.people.add_identity(person, "email", f"player{person}@example.org")
        if number % 2:
            await unit.tables.update(table.id, location={"guild": 1, "channel": number})
    return BenchmarkTable(table.id, person_by_seat, list(_moves(played, start, moves)))


def _moves(played: PlayedGame, start: int, count: int) -> Iterator[tuple[str, str]]:
    """The lines after the first ones, up to one of which the service makes an order."""
    state = decode_state(encode_state(played.game.start))
    for number, ((seat, line), raw) in enumerate(zip(played.game.lines, played.events, strict=False)):
        if number >= start + count:
            return
        if number >= start:
            if is_order_line(line) or limit_as_order(state, seat, line):
                return
            yield seat, line
        fold(decode_events(raw), state)


async def _play_on(service: Service, table: BenchmarkTable) -> None:
    for number, (seat, line) in enumerate(table.lines):
        request_id = f"{table.table_id}.{number}"
        person = table.person_by_seat[seat_number(seat)]
        result = await service.submit(table.table_id, None, [line], None, request_id, person_id=person)
        if not isinstance(result, Completed):
            raise BenchmarkError(f"Table {table.table_id} refuses {line!r}: {result}")
