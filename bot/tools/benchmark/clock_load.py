"""What the clock costs at many tables: following their logs, and reminders that are due at once. The time is
driven: nobody waits for it. And the day of `busy_day` that follows from these costs and those of moves."""

from __future__ import annotations

import asyncio
import resource
from dataclasses import dataclass
from datetime import timedelta
from time import process_time

from rich.progress import Progress
from sqlalchemy import create_engine, text

from bot.hub.table import COMPACT_SIZE
from bot.service import Service
from bot.tools.benchmark.busy_day import Costs, simulate_day
from bot.tools.benchmark.games import BenchmarkError
from bot.tools.benchmark.many_tables import fill_store, measure_moves
from storage import open_store
from storage.database import store_url
from storage.store import utc_now

WARM_TABLES = 48
"""Tables that are all in memory."""
PACE = "24h"
HALF = timedelta(hours=12, minutes=1)
"""After which everybody who is awaited is reminded."""


@dataclass(frozen=True, slots=True)
class ClockCosts:
    """Milliseconds of processor time. follow: for a table whose log has grown, loading it included.
    follow_again: for one that is in memory. due: for a reminder that is due."""

    tables: int
    reminders: int
    follow: float
    follow_again: float
    due: float
    megabytes: float

    def lines(self) -> list[str]:
        """The figures in sentences."""
        return [
            f"clock: {self.follow:.2f} ms of processor time to follow one of {self.tables:,} tables that are "
            f"not in memory, {self.follow_again:.2f} ms for one that is",
            f"clock: {self.due:.2f} ms for each of {self.reminders:,} reminders that are due at once; "
            f"{self.megabytes:,.0f} MB of memory at most",
        ]


async def measure_clock(url: str, tables: int, keep_megabytes: float) -> ClockCosts:
    """Let the clock follow all tables of a store that `fill_store` has filled, twice, and remind."""
    _mark_all(url, pace=True)
    now = utc_now()
    async with await open_store(url, lambda: now) as store:
        service = Service(store, keep_megabytes=keep_megabytes)
        times = [process_time()]
        await service.clock.tick()
        times.append(process_time())
        _mark_all(url, pace=False)
        times.append(process_time())
        await service.clock.tick()
        times.append(process_time())
        now += HALF
        async with store.read() as unit:
            reminders = len(await unit.clocks.rows_due(now, 10 * tables))
        times.append(process_time())
        await service.clock.tick()
        times.append(process_time())
    first, again, due = times[1] - times[0], times[3] - times[2], times[5] - times[4]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    each = (1000 * first / tables, 1000 * again / tables, 1000 * due / max(reminders, 1))
    return ClockCosts(tables, reminders, *each, memory)


def _mark_all(url: str, *, pace: bool) -> None:
    """The clocks of all tables are to be looked at, with another pace."""
    engine = create_engine(store_url(url))
    with engine.begin() as connection:
        if pace:
            connection.execute(text("UPDATE game_tables SET pace = :pace"), {"pace": PACE})
        connection.execute(text("UPDATE table_clocks SET is_stale = true"))
    engine.dispose()


def measure_day(
    url: str, tables: int, moves: int, keep_megabytes: float, running: int, bar: Progress
) -> list[str]:
    """What a day of so many running tables costs, by what is measured at fewer. Raises BenchmarkError."""
    if tables <= 2 * WARM_TABLES:
        raise BenchmarkError(f"Ask for more than {2 * WARM_TABLES} tables.")
    models = asyncio.run(fill_store(url, tables, bar))
    few = asyncio.run(measure_moves(url, models, WARM_TABLES, min(moves, 1000), keep_megabytes, bar))
    rest = tables - WARM_TABLES
    many = asyncio.run(measure_moves(url, models, rest, moves, keep_megabytes, bar, first=WARM_TABLES))
    clock = asyncio.run(measure_clock(url, tables, keep_megabytes))
    warm = 1000 * few.cpu / few.moves - clock.follow_again
    cold = 1000 * many.cpu / many.moves - clock.follow_again
    costs = Costs(
        max(warm, 0.1), max(cold, warm, 0.1), clock.follow_again, clock.due,
        int(keep_megabytes * 1_000_000 / COMPACT_SIZE),
    )  # fmt: skip
    calculated = (
        f"calculated from {costs.warm:.2f} ms a move in memory, {costs.cold:.2f} ms loaded, "
        f"{costs.follow:.2f} ms to follow it and {costs.due:.2f} ms for a reminder, with "
        f"{costs.in_memory:,} tables in memory:"
    )
    measured = [f"{WARM_TABLES} tables in memory:", *few.lines(), "all tables:", *many.lines()]
    return [*measured, *clock.lines(), calculated, *simulate_day(running, costs).lines()]
