"""The costs of `busy_day`, measured on a real store, and the day that follows from them."""

from __future__ import annotations

import asyncio

from rich.progress import Progress

from bot.hub.table import COMPACT_SIZE
from bot.tools.benchmark.busy_day import Costs, simulate_day
from bot.tools.benchmark.clock_load import measure_clock
from bot.tools.benchmark.games import BenchmarkError
from bot.tools.benchmark.many_tables import fill_store, measure_moves

WARM_TABLES = 48
"""Tables that are all in memory."""


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
