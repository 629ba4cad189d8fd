"""Thirty tables with robots beside people: nobody's move is lost, and the service goes on answering.

The figures of the soak are printed (`pytest -s`), not asserted: they depend on the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from statistics import median, quantiles

import pytest

from bot.hub.request import Completed, StaleDecision
from bot.service import Service
from storage import open_store

TABLES = 30
MOVES = 12
"""Moves of people at each table."""


async def new_table(service: Service, robots: bool) -> tuple[int, dict[int, int]]:
    """A running table of four; its id, and the people by seat."""
    names = ["Ann", "Bob"] if robots else ["Ann", "Bob", "Cid", "Dan"]
    async with service.store.begin() as unit:
        people = {name: (await unit.people.add(name)).id for name in names}
    info = await service.lobby.create("1830", people["Ann"])
    for name, person_id in people.items():
        await service.lobby.join(info.id, person_id, name)
    for _ in range(4 - len(names)):
        await service.lobby.invite_robot(info.id, by=None)
    info = await service.lobby.start(info.id, by=None)
    return info.id, {seat: people[name] for seat, name in enumerate(info.names) if name in people}


async def played(service: Service, table_id: int, people: dict[int, int]) -> list[float]:
    """Let the people of a table make their moves whenever they are asked; milliseconds of each answer."""
    times: list[float] = []
    while len(times) < MOVES:
        view = await service.queries.view(table_id)
        asked = [each for each in view.pending if each.seat in people]
        if not asked:
            await asyncio.sleep(0.02)
            continue
        seat = asked[0].seat
        choices = await service.queries.choices(table_id, seat)
        line = next((c.line for c in choices if c.line.startswith("buy")), choices[-1].line)
        begun = time.perf_counter()
        result = await service.submit(
            table_id, seat, [line], asked[0].decision_id, f"{table_id}.{view.seq}", person_id=people[seat]
        )
        assert isinstance(result, Completed | StaleDecision), result
        if isinstance(result, Completed):
            times.append(1000 * (time.perf_counter() - begun))
    return times


async def measured(folder: Path, robots: bool) -> list[float]:
    """The answer times at all tables, with or without robots."""
    async with await open_store(folder / f"robots-{robots}.db") as store:
        service = Service(store, robot_seconds=0.05)
        running = asyncio.create_task(service.run())
        try:
            tables = [await new_table(service, robots) for _ in range(TABLES)]
            found = await asyncio.gather(*(played(service, *table) for table in tables))
            for table_id, people in tables:
                rows = [row for row in await service.queries.log(table_id) if row.kind == "move"]
                assert sum(row.seat in people for row in rows) == MOVES
                assert robots == any(row.seat not in people for row in rows)
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
    return [each for times in found for each in times]


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_thirty_tables_with_robots(tmp_path: Path) -> None:
    for robots in (False, True):
        times = await measured(tmp_path, robots)
        assert len(times) == TABLES * MOVES
        print(
            f"{'with' if robots else 'without'} robots: {len(times)} answers, median {median(times):.1f} ms, "
            f"95 % below {quantiles(times, n=20)[-1]:.1f} ms, longest {max(times):.1f} ms"
        )
