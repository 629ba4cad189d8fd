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

from bot.answers import Done
from bot.offline.bench.games import Unplayable
from bot.offline.bench.rules import Played
from bot.offline.bench.times import Times, forget, spent
from bot.play import Known, Play, seat_number
from bot.service import Service
from bot.tables import TableInfo
from engine import (
    choices,
    decision,
    decoded,
    decoded_events,
    encoded,
    fold,
    game_of,
)
from storage import LogRow, Store, StoreError, open_store

TABLES = 50
"""Tables that go on at once."""

MOVES = 60
"""Moves at each of them."""


@dataclass
class Tables:
    """What tables cost: milliseconds to load them, kB to keep them.

    moves, seconds, busy: of the moves that were kept, by the clock and in processor time.
    """

    folds: Times = field(default_factory=Times)
    loads: Times = field(default_factory=Times)
    kilobytes: Times = field(default_factory=Times)
    moves: int = 0
    seconds: float = 0.0
    busy: float = 0.0


def opened(played: Played, tables: Tables) -> None:
    """Load a game that is over, as its table is loaded from the rows of its log. Raises Unplayable."""
    game, end = played.game, decoded(played.end)
    where = f"{game.name}, {len(game.lines)} moves"
    first = encoded(game.start)
    state, milliseconds = spent(
        lambda: fold((e for raw in played.events for e in decoded_events(raw)), decoded(first))
    )
    if state != end:
        raise Unplayable(f"{game.name}: the events do not lead to the position that was played")
    tables.folds.add(milliseconds, where)
    rows = list(_rows(played))
    known = Known(TableInfo(1, "A23", game.name, end.title, end.options, "running", None, {}, ()))
    tables.loads.add(min(spent(lambda: Play(known, rows))[1] for _ in range(2)), where)
    tables.kilobytes.add(_kilobytes(known, played), where)


def _rows(played: Played) -> Iterable[LogRow]:
    now = datetime.now(UTC)
    start = encoded(played.game.start)
    yield LogRow(1, now, "note", None, None, "service", "The game begins.", "start", start, None, None, None)
    for seq, ((seat, line), events) in enumerate(zip(played.game.lines, played.events, strict=True), 2):
        yield LogRow(
            seq, now, "move", seat_number(seat), 1, "mail", line, line, events, f"0.{seq}", None, f"r{seq}"
        )


def _kilobytes(known: Known, played: Played) -> float:
    """What a table takes with its log, its position, and what was asked of it."""
    forget()
    tracemalloc.start()
    table = Play(known, [row._replace(events=bytes(bytearray(row.events))) for row in _rows(played)])
    for seat in decision(table.state).asked:
        choices(table.state, seat)
    _ = game_of(table.state).network
    size = tracemalloc.get_traced_memory()[0] / 1000
    tracemalloc.stop()
    return size


# -- durable moves ---------------------------------------------------------------------------


def durable(games: Sequence[Played], tables: Tables, folder: Path) -> None:
    """Go on at tables that stand at all stages of these games, in a store in a file there.

    Everybody has a Discord identity and an address, and every other table a place on Discord, so that
    all that a move causes is written. Raises Unplayable where a line is not taken.
    """
    with TemporaryDirectory(prefix="railpost-bench-", dir=folder) as own:
        asyncio.run(_durable(games, tables, Path(own)))


async def _durable(games: Sequence[Played], tables: Tables, folder: Path) -> None:
    async with await open_store(folder / "railpost.db") as store:
        service = Service(store, keep=TABLES)
        going = [await _seated(store, service, games[n % len(games)], n) for n in range(TABLES)]
        for table in going:
            await service.view(table.number)
        clock, busy = perf_counter(), process_time()
        try:
            async with asyncio.TaskGroup() as together:
                for table in going:
                    together.create_task(_go_on(service, table))
        except* (Unplayable, StoreError) as wrong:
            raise wrong.exceptions[0] from None
        tables.seconds = perf_counter() - clock
        tables.busy = process_time() - busy
        tables.moves = sum(len(table.lines) for table in going)


@dataclass(frozen=True, slots=True)
class Going:
    """A table in the store: who sits in each seat, and what is still to be said there."""

    number: int
    people: dict[int, int]
    lines: Sequence[tuple[str, str]]


async def _seated(store: Store, service: Service, played: Played, number: int) -> Going:
    """A table at which a part of the game is played, the greater the greater its number."""
    game = played.game
    past = max(len(game.lines) - MOVES, 0) * number // TABLES
    told = zip(game.lines[:past], played.events, strict=False)
    moves = ((seat_number(seat), line, decoded_events(raw)) for (seat, line), raw in told)
    table = await service.adopt(game.start, moves, name=f"Table {number}")
    people = {s.seat: s.person for s in table.sitters if s.seat is not None}
    async with store.begin() as unit:
        for person in people.values():
            await unit.people.identify(person, "discord", str(10**17 + person))
            await unit.people.identify(person, "email", f"player{person}@example.org")
        if number % 2:
            await unit.games.change(table.id, place={"guild": 1, "channel": number})
    return Going(table.id, people, game.lines[past : past + MOVES])


async def _go_on(service: Service, table: Going) -> None:
    for number, (seat, line) in enumerate(table.lines):
        request = f"{table.number}.{number}"
        person = table.people[seat_number(seat)]
        answer = await service.say(table.number, None, [line], None, request, person=person)
        if not isinstance(answer, Done):
            raise Unplayable(f"Table {table.number} does not take {line!r}: {answer}")
