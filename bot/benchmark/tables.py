"""What an open table costs: its loading, its memory, and moves that are on the disk when answered."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from bot.benchmark.games import BenchmarkError
from bot.benchmark.rules import PlayedGame
from bot.benchmark.timing import Timings, clear_caches, timed
from bot.service.live_table import LiveTable, TableMetadata, seat_number
from bot.service.results import Completed
from bot.service.service import Service
from bot.service.tables import TableInfo
from engine import (
    choices,
    decision,
    decode_events,
    decode_state,
    encode_state,
    fold,
    game_of,
)
from storage import LogRow, Store, StoreError, open_store

TABLE_COUNT = 50
"""Tables that go on at once."""

MOVES_PER_TABLE = 60
"""Moves at each of them."""


@dataclass
class TableMetrics:
    """What tables cost: milliseconds to load them, kB to keep them.

    moves, seconds, busy: of the moves that were kept, by the clock and in processor time.
    """

    fold_times: Timings = field(default_factory=Timings)
    load_times: Timings = field(default_factory=Timings)
    kilobytes: Timings = field(default_factory=Timings)
    move_count: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


def measure_loading(played: PlayedGame, tables: TableMetrics) -> None:
    """Load a game that is over, as its table is loaded from the rows of its log. Raises Unplayable."""
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
    known = TableMetadata(TableInfo(1, "A23", game.name, end.title, end.options, "running", None, {}, ()))
    tables.load_times.add(min(timed(lambda: LiveTable(known, rows))[1] for _ in range(2)), where)
    tables.kilobytes.add(_kilobytes(known, played), where)


def _log_rows(played: PlayedGame) -> Iterable[LogRow]:
    now = datetime.now(UTC)
    start = encode_state(played.game.start)
    yield LogRow(1, now, "note", None, None, "service", "The game begins.", "start", start, None, None, None)
    for seq, ((seat, line), events) in enumerate(zip(played.game.lines, played.events, strict=True), 2):
        yield LogRow(
            seq, now, "move", seat_number(seat), 1, "mail", line, line, events, f"0.{seq}", None, f"r{seq}"
        )


def _kilobytes(known: TableMetadata, played: PlayedGame) -> float:
    """What a table takes with its log, its position, and what was asked of it."""
    clear_caches()
    tracemalloc.start()
    table = LiveTable(known, [row._replace(events=bytes(bytearray(row.events))) for row in _log_rows(played)])
    for seat in decision(table.state).asked:
        choices(table.state, seat)
    _ = game_of(table.state).network
    size = tracemalloc.get_traced_memory()[0] / 1000
    tracemalloc.stop()
    return size


# -- durable moves ---------------------------------------------------------------------------


def measure_durable_moves(games: Sequence[PlayedGame], tables: TableMetrics, folder: Path) -> None:
    """Go on at tables that stand at all stages of these games, in a store in a file there.

    Everybody has a Discord identity and an address, and every other table a place on Discord, so that
    all that a move causes is written. Raises Unplayable where a line is not taken.
    """
    with TemporaryDirectory(prefix="railpost-bench-", dir=folder) as own:
        asyncio.run(_measure_durable_moves(games, tables, Path(own)))


async def _measure_durable_moves(games: Sequence[PlayedGame], tables: TableMetrics, folder: Path) -> None:
    async with await open_store(folder / "railpost.db") as store:
        service = Service(store, capacity=TABLE_COUNT)
        going = [await _open_table(store, service, games[n % len(games)], n) for n in range(TABLE_COUNT)]
        for table in going:
            await service.queries.view(table.table_id)
        clock, busy = perf_counter(), process_time()
        try:
            async with asyncio.TaskGroup() as together:
                for table in going:
                    together.create_task(_play_on(service, table))
        except* (BenchmarkError, StoreError) as wrong:
            raise wrong.exceptions[0] from None
        tables.seconds = perf_counter() - clock
        tables.cpu_seconds = process_time() - busy
        tables.move_count = sum(len(table.lines) for table in going)


@dataclass(frozen=True, slots=True)
class BenchmarkTable:
    """A table in the store: who sits in each seat, and what is still to be said there."""

    table_id: int
    person_by_seat: dict[int, int]
    lines: Sequence[tuple[str, str]]


async def _open_table(store: Store, service: Service, played: PlayedGame, number: int) -> BenchmarkTable:
    """A table at which a part of the game is played, the greater the greater its number."""
    game = played.game
    past = max(len(game.lines) - MOVES_PER_TABLE, 0) * number // TABLE_COUNT
    told = zip(game.lines[:past], played.events, strict=False)
    moves = ((seat_number(seat), line, decode_events(raw)) for (seat, line), raw in told)
    table = await service.lobby.import_game(game.start, moves, name=f"Table {number}")
    people = {s.seat: s.person_id for s in table.seated_players if s.seat is not None}
    async with store.begin() as unit:
        for person in people.values():
            await unit.people.add_identity(person, "discord", str(10**17 + person))
            await unit.people.add_identity(person, "email", f"player{person}@example.org")
        if number % 2:
            await unit.tables.update(table.id, location={"guild": 1, "channel": number})
    return BenchmarkTable(table.id, people, game.lines[past : past + MOVES_PER_TABLE])


async def _play_on(service: Service, table: BenchmarkTable) -> None:
    for number, (seat, line) in enumerate(table.lines):
        request = f"{table.table_id}.{number}"
        person = table.person_by_seat[seat_number(seat)]
        answer = await service.submit(table.table_id, None, [line], None, request, person_id=person)
        if not isinstance(answer, Completed):
            raise BenchmarkError(f"Table {table.table_id} does not take {line!r}: {answer}")
