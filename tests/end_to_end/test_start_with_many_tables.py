"""A start with thousands of stored tables that are shown on Discord: listening, the first press, no long gap.

The figures are printed; `RAILPOST_TEST_TABLES` is the number of tables. Only the processor time is asserted,
with a wide margin, because the machine may be busy.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from time import perf_counter

import pytest
from rich.progress import Progress

import engine
from bot.hub import people
from bot.operations.status_server import ask_status
from bot.service import Service
from bot.tools.benchmark.many_tables import fill_store
from storage import open_store
from tests.end_to_end.fork_server import ROOT, environment
from tests.fake_discord.server import FakeDiscord
from tests.stores import sqlite_only
from tests.tables import started

TABLES = int(os.environ.get("RAILPOST_TEST_TABLES", "10000"))
PLACES = """
UPDATE game_tables SET guild = 1, channel = id, thread = 1000000 + id,
    location = json_object('guild', 1, 'channel', id, 'thread', 1000000 + id);
INSERT INTO cards (table_id, slot, decision_id, message_ref, posted_at)
    SELECT id, 'turn', NULL, '{"channel": 1, "message": 1}', '2999-01-01 00:00:00.000000' FROM game_tables;
"""
"""Every table has a thread of its own, and a card there that is up to date."""


async def table_of_ann(path: Path, fake: FakeDiscord) -> tuple[int, str]:
    """A started table on Discord at which Ann is asked; its id, and what she can say."""
    async with await open_store(path) as store:
        service = Service(store)
        async with store.begin() as unit:
            seated = {
                name: (await people.person_by_discord(unit, fake.find_user(name).id, name)).id
                for name in ("Ann", "Bob")
            }
        place = {"guild": fake.guild_id, "channel": next(iter(fake.channels))}
        table = await started(service, seated, name="Friday", location=place)
        view = await service.queries.view(table.id)
        assert view.state is not None
        return table.id, engine.legal_lines(view.state, "p0")[0]


def processor_seconds(process: int) -> float:
    """What a process has used of the processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def first_press(fake: FakeDiscord, line: str) -> float:
    """Ann says a line as soon as there is a thread and a session; seconds until she is answered."""
    while True:
        if fake.threads:
            started = perf_counter()
            done = await fake.run_command("Ann", fake.threads[0], "do", line=line)
            if not done.is_unanswered:
                return perf_counter() - started
        await asyncio.sleep(0.02)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@sqlite_only
async def test_14_10_a_start_with_many_tables(tmp_path: Path, address: str) -> None:
    path = tmp_path / "railpost.db"
    await fill_store(address, TABLES, Progress(disable=True))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(PLACES)
    async with FakeDiscord(["Ann", "Bob"]) as fake:
        table, line = await table_of_ann(path, fake)
        settings = environment(
            RAILPOST_DATA=str(tmp_path),
            RAILPOST_DISCORD_TOKEN=fake.token,
            RAILPOST_DISCORD_API=fake.api_url,
            RAILPOST_DISCORD_GATEWAY=fake.gateway_url,
        )
        started = perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.end_to_end.watched_service", cwd=ROOT, env=settings,
            stdin=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(300):
                while await ask_status(tmp_path) is None:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                listening = perf_counter() - started
                busy = processor_seconds(process.pid)
                answered = await first_press(fake, line)
                total = perf_counter() - started
                await asyncio.sleep(5)
        finally:
            process.kill()
            await process.wait()
        gap = float((tmp_path / "gap").read_text())
        print(
            f"{TABLES} tables, {path.stat().st_size / 1e6:.0f} MB: listening after {listening:.2f} s, "
            f"{busy:.2f} s of its processor time; "
            f"the first press was answered in {answered:.2f} s, {total:.2f} s after the start; "
            f"longest gap of the loop {gap:.0f} ms"
        )
        assert table and busy < 20
