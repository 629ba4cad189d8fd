"""kill -9 at random moments: whatever was acknowledged is stored, once, and the next process plays on."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from pathlib import Path

from bot.service import Service
from storage import open_store
from tests.end_to_end.fork_server import ForkServer
from tests.tables import started

KILLS = int(os.environ.get("RAILPOST_TEST_KILLS", "4"))
TABLES = 4

PLAYER = """
import asyncio, random, sys
import engine
from bot.hub.request import Completed
from bot.service import Service
from storage import open_store

async def play(service, table, dice, run):
    for number in range(100_000):
        view = await service.queries.view(table)
        if view.state.game_over:
            return
        seat = view.pending[0].seat
        line = dice.choice(engine.legal_lines(view.state, f"p{seat}"))
        request = f"{run}.{table}.{number}"
        result = await service.submit(table, seat, [line], view.pending[0].decision_id, request)
        assert isinstance(result, Completed), result
        print(table, result.played[0].seq, request, flush=True)

async def main():
    url, run, *tables = sys.argv[1:]
    async with await open_store(url) as store:
        service, dice = Service(store), random.Random(run)
        await asyncio.gather(*(play(service, int(table), dice, run) for table in tables))

asyncio.run(main())
"""


async def test_kills_at_random_moments_lose_and_double_nothing(
    address: str, forks: ForkServer, tmp_path: Path
) -> None:
    dice, acknowledged = random.Random(14), dict[str, tuple[int, int]]()
    tables = await new_tables(address)
    for run in range(KILLS):
        process, said = forks.talking(tmp_path, PLAYER, address, run, *tables)
        for _ in range(dice.randrange(1, 60)):  # the moment is counted in answers, and falls where it falls
            line = await asyncio.wait_for(asyncio.to_thread(said.readline), 60)
            assert line, "the process could not play on after the kill before it"
            table, seq, request = line.split()
            acknowledged[request] = int(table), int(seq)
        process.kill()
        for line in said:
            if line.endswith("\n"):
                table, seq, request = line.split()
                acknowledged[request] = int(table), int(seq)
        said.close()
    await assert_all_stored_once(address, tables, acknowledged)


async def new_tables(address: str) -> list[int]:
    tables = []
    async with await open_store(address) as store:
        service = Service(store)
        for _ in range(TABLES):
            async with store.begin() as unit:
                people = {name: (await unit.people.add(name)).id for name in ("Ann", "Bob", "Cid")}
            tables.append((await started(service, people)).id)
    return tables


async def assert_all_stored_once(
    address: str, tables: list[int], acknowledged: dict[str, tuple[int, int]]
) -> None:
    stored = Counter[str]()
    async with await open_store(address) as store:
        for table in tables:
            async with store.read() as unit:
                rows = await unit.move_log.rows(table)
                messages = await unit.move_log.snapshot(table)
            assert [row.seq for row in rows] == list(range(1, len(rows) + 1)) and messages.seq == len(rows)
            stored.update(row.request_id for row in rows if row.request_id)
            for row in rows:
                if row.request_id in acknowledged:
                    assert acknowledged[row.request_id] == (table, row.seq)
    assert acknowledged.keys() <= stored.keys() and set(stored.values()) <= {1}
    assert len(stored) - len(acknowledged) <= KILLS * TABLES, "only what a kill cut off may lack its answer"
