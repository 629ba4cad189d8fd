"""Random moves at many tables: throughput, waits, gaps of the event loop, memory; and the start of a service.

Some games are played at random to various stages and stored; the other tables are copies of them, made by
SQL, so that thousands are there in seconds. Each press is the line with which its game went on, at a table
chosen at random: so the rules, the store and the cache are measured, and not the choice of a line. The clock
and the robots of the service go on beside, as they do when it serves.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from time import perf_counter, process_time

from rich.progress import Progress, TaskID
from sqlalchemy import Connection, Table, create_engine, text

from bot.hub.request import Completed
from bot.position.pending import seat_number
from bot.service import Service
from bot.tools.benchmark.games import BenchmarkError, random_games
from bot.tools.benchmark.rules import PlayedGame, RulesMetrics, play_through
from bot.tools.benchmark.timing import Timings
from engine import decode_events, decode_state, encode_state, fold, title_names
from engine.game_text.history import GameHistory, HistoryLine
from engine.standing_orders import is_order_line, limit_as_order
from storage import Store, open_store
from storage.database import store_url
from storage.models import (
    GameTable,
    Identity,
    Model,
    MoveRecord,
    Person,
    Seat,
    SeatClockRecord,
    TableClock,
    TableSnapshot,
)

STRIDE = 1000
"""How far the ids of one copy are from those of the next; the tables that are copied have smaller ids."""
SHIFTED = ("id", "person_id", "table_id", "host_id")
COPIED = (Person, Identity, GameTable, TableSnapshot, Seat, MoveRecord, TableClock, SeatClockRecord)
RENAMED = {
    ("identities", "value"): "CAST(:copy AS TEXT) || value",
    ("game_tables", "code"): "code || '-' || CAST(:copy AS TEXT)",
}
MODELS = 8
"""Games that are played; the other tables are copies."""
LINES = 60
"""Lines of each game that are left to be played."""
CONCURRENT = 24
"""Presses that wait at the same time."""
GAP_STEP = 0.005
"""Seconds between two looks at the event loop."""
SEED = 14


@dataclass
class ManyTablesMetrics:
    """Moves at so many tables.

    cpu: seconds of processor time of the process. start: seconds until the first press at a new service is
    answered. waits, gaps: milliseconds, of a press and of the event loop.
    """

    tables: int
    moves: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    start: float = 0.0
    megabytes: float = 0.0
    in_memory: int = 0
    cached_megabytes: float = 0.0
    waits: Timings = field(default_factory=Timings)
    gaps: Timings = field(default_factory=Timings)

    def lines(self) -> list[str]:
        """The figures in sentences."""
        return [
            f"{self.tables:,} tables, {self.moves:,} moves, {CONCURRENT} at a time",
            f"moves a second: {self.moves / self.seconds:,.0f}; "
            f"a second of processor time: {self.moves / self.cpu:,.0f}",
            f"a press waits {self.waits.mean:.1f} ms on average, 99 of 100 at most {self.waits.p99:.1f} ms, "
            f"the longest {self.waits.worst:.0f} ms",
            f"gaps of the event loop: the longest {self.gaps.worst:.0f} ms, "
            f"99 of 100 at most {self.gaps.p99:.1f} ms",
            f"the first press is answered {self.start:.2f} s after the start",
            f"memory: {self.megabytes:,.0f} MB, {self.in_memory:,} tables, "
            f"{self.cached_megabytes:,.0f} MB by the cache's count",
        ]


async def measure_many_tables(
    url: str, tables: int, moves: int, keep_megabytes: float, bar: Progress
) -> ManyTablesMetrics:
    """Fill an empty store and play. Raises BenchmarkError."""
    models, metrics = await fill_store(url, tables, bar), ManyTablesMetrics(tables)
    started = perf_counter()
    async with await open_store(url) as store:
        service = Service(store, keep_megabytes=keep_megabytes)
        presser = Presser(service, models, metrics)
        async with _running(service):
            await presser.press()
            metrics.start = perf_counter() - started
            metrics.waits, metrics.moves = Timings(), 0
            clock_start, cpu_start = perf_counter(), process_time()
            async with _watching_gaps(metrics.gaps):
                task = bar.add_task("moves", total=moves)
                async with asyncio.TaskGroup() as tasks:
                    for _ in range(CONCURRENT):
                        tasks.create_task(presser.press_until(moves, bar, task))
            metrics.seconds, metrics.cpu = perf_counter() - clock_start, process_time() - cpu_start
        metrics.in_memory, metrics.cached_megabytes = service.cache.table_count, service.cache.megabytes
        metrics.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return metrics


@dataclass(frozen=True, slots=True)
class BenchmarkTable:
    """A table in the store: the person in each seat, and the lines still to be played."""

    table_id: int
    person_by_seat: dict[int, int]
    lines: Sequence[tuple[str, str]]


async def open_table(
    store: Store, service: Service, played: PlayedGame, number: int, start: int, moves: int
) -> BenchmarkTable:
    """A table at which the first lines of a game are played already, and so many are to come.

    Everybody has a Discord identity and a mail address; tables with odd numbers are shown on Discord.
    """
    game = played.game
    played_lines = zip(game.lines[:start], played.events, strict=False)
    before = tuple(HistoryLine(seat, line, decode_events(raw)) for (seat, line), raw in played_lines)
    table = await service.lobby.import_game(GameHistory(game.start, before), name=f"Table {number}")
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


async def fill_store(url: str, tables: int, bar: Progress) -> list[BenchmarkTable]:
    """Store the games and their copies; the tables of the games. Raises BenchmarkError."""
    rng, models = Random(SEED), list[BenchmarkTable]()
    async with await open_store(url) as store:
        async with store.read() as unit:
            if await unit.tables.count_by_status():
                raise BenchmarkError("The store has tables already; name an empty one.")
        service = Service(store)
        task = bar.add_task("games", total=MODELS)
        for number, game in enumerate(random_games(MODELS // len(title_names()))):
            played, _ = play_through(game, RulesMetrics())
            start = rng.randrange(max(len(game.lines) - LINES, 1))
            models.append(await open_table(store, service, played, number, start, LINES))
            bar.advance(task)
        await service.clock.tick()
    task = bar.add_task("tables", total=tables)
    for copied in copy_tables(url, len(models), tables):
        bar.update(task, completed=copied)
    return models


@asynccontextmanager
async def _running(service: Service) -> AsyncIterator[None]:
    task = asyncio.create_task(service.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


@asynccontextmanager
async def _watching_gaps(gaps: Timings) -> AsyncIterator[None]:
    """Look at the event loop all the time: how much later than asked it runs a task."""

    async def watch() -> None:
        while True:
            before = perf_counter()
            await asyncio.sleep(GAP_STEP)
            gaps.add((perf_counter() - before - GAP_STEP) * 1000, "")

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()


class Presser:
    """Presses the next line of a table that is chosen at random."""

    def __init__(
        self, service: Service, models: Sequence[BenchmarkTable], metrics: ManyTablesMetrics
    ) -> None:
        self._service, self._models, self._metrics = service, models, metrics
        self._dice, self._next, self._busy = Random(SEED), dict[int, int](), set[int]()

    def _choose(self) -> tuple[int, int, BenchmarkTable]:
        """Copy, the number of its next line, and the table that it copies. Raises BenchmarkError."""
        for _ in range(10_000):
            number = self._dice.randrange(self._metrics.tables)
            model, line = self._models[number % len(self._models)], self._next.get(number, 0)
            if number not in self._busy and line < len(model.lines):
                return number, line, model
        raise BenchmarkError("The games have no lines left; ask for fewer moves or more tables.")

    async def press(self) -> None:
        """One press, with its wait. Raises BenchmarkError where the line is refused."""
        number, line_number, model = self._choose()
        self._busy.add(number)
        shift = STRIDE * (number // len(self._models))
        seat, line = model.lines[line_number]
        table_id, person = model.table_id + shift, model.person_by_seat[seat_number(seat)] + shift
        before = perf_counter()
        result = await self._service.submit(
            table_id, None, [line], None, f"{table_id}.{line_number}", person_id=person, transport="discord"
        )
        self._metrics.waits.add((perf_counter() - before) * 1000, line)
        if not isinstance(result, Completed):
            raise BenchmarkError(f"Table {table_id} refuses {line!r}: {result}")
        self._next[number] = line_number + 1
        self._busy.discard(number)

    async def press_until(self, moves: int, bar: Progress, task: TaskID) -> None:
        """Press until so many moves are made."""
        while self._metrics.moves < moves:
            self._metrics.moves += 1
            await self.press()
            bar.advance(task)


def copy_tables(url: str, models: int, tables: int) -> Iterator[int]:
    """Copy the first tables of a store until there are so many; yields how many there are."""
    engine = create_engine(store_url(url))
    try:
        for copy in range(1, -(-tables // models)):
            with engine.begin() as connection:
                for model in COPIED:
                    _copy(connection, Model.metadata.tables[str(model.__tablename__)], copy)
            yield models * (copy + 1)
    finally:
        engine.dispose()


def _copy(connection: Connection, table: Table, copy: int) -> None:
    names = [column.name for column in table.columns]
    values = [
        f"{name} + {STRIDE * copy}" if name in SHIFTED else RENAMED.get((table.name, name), name)
        for name in names
    ]
    key = "table_id" if "id" not in names else "id"
    query = (
        f"INSERT INTO {table.name} ({', '.join(names)}) "
        f"SELECT {', '.join(values)} FROM {table.name} WHERE {key} < {STRIDE}"
    )
    connection.execute(text(query), {"copy": copy} if ":copy" in query else {})
