"""One process does a job: with real processes, killed by -9, on both databases."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import create_engine, text

from storage import Store, leadership, open_store
from storage.leadership import JobState, job_lock
from tests.stores import SERVER, needs_server, stoppable_server

ROOT = Path(__file__).parent.parent.parent
REPLACED = 10.0  # seconds within which another process has the job
LEADER = """
import asyncio, sys
from storage import leadership, open_store

async def work():
    print("leads", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print("stops", flush=True)

async def main():
    leadership.SILENCE_LIMIT = float(sys.argv[2])
    async with await open_store(sys.argv[1]) as store:
        print("ready", flush=True)
        await store.lead(sys.argv[3:], work)

asyncio.run(main())
"""


@asynccontextmanager
async def contender(
    address: str, *jobs: str, silence: float = leadership.SILENCE_LIMIT
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that wants some jobs, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LEADER, address, str(silence), *jobs, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), 120) == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def leads(process: asyncio.subprocess.Process, seconds: float = 60.0) -> bool:
    """Whether the process says within some seconds that it has its jobs."""
    return await says(process, "leads", seconds)


async def says(process: asyncio.subprocess.Process, word: str, seconds: float) -> bool:
    """Whether that is the next that the process says within some seconds."""
    assert process.stdout is not None
    try:
        return await asyncio.wait_for(process.stdout.readline(), seconds) == f"{word}\n".encode()
    except TimeoutError:
        return False


async def test_14_11_a_leader_that_is_killed_is_replaced_within_ten_seconds(address: str) -> None:
    async with contender(address, "mail", "clock") as first:
        assert await leads(first)
        async with contender(address, "clock") as second:
            assert not await leads(second, 2.5), "one process has the job"
            first.kill()
            killed_at = monotonic()
            assert await leads(second)
            assert monotonic() - killed_at < REPLACED


async def test_several_jobs_are_had_together_or_not_at_all(store: Store) -> None:
    lock = job_lock(store.url, ["a", "b"])
    other, third = (job_lock(store.url, jobs) for jobs in (["b", "c"], ["c"]))
    assert await lock.acquire() and not await other.acquire() and await third.acquire()
    await third.release()
    await lock.release()
    assert await other.acquire() and not await third.acquire()
    await other.release()


async def test_work_that_fails_or_ends_gives_the_job_back(store: Store) -> None:
    async def failing() -> None:
        raise ValueError("it fails")

    async def short() -> None:
        return None

    with pytest.raises(ValueError, match="it fails"):
        await store.lead(["a"], failing)
    await store.lead(["a"], short)


class Led:
    """Work that notes what becomes of it."""

    def __init__(self) -> None:
        self.begun, self.ended = asyncio.Event(), asyncio.Event()
        self.states: list[JobState] = []

    async def work(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()

    def report(self, state: JobState) -> None:
        if self.states[-1:] != [state]:
            self.states.append(state)

    async def until(self, state: JobState) -> None:
        async with asyncio.timeout(60):
            while self.states[-1:] != [state]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def test_a_leader_whose_connection_ends_goes_on_where_nobody_else_leads(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets its lock again, with another connection."""
    if not SERVER or store.path is not None:
        pytest.skip("a lock on a file is lost with its process only")
    monkeypatch.setattr(leadership, "LOOK_INTERVAL", 0.05)
    led = Led()
    leading = asyncio.ensure_future(store.lead(["a"], led.work, led.report))
    await asyncio.wait_for(led.begun.wait(), 30)
    engine = create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with engine.connect() as server:
        holders = "FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
        (former,) = server.execute(text(f"SELECT pid {holders}")).one()
        assert server.execute(text(f"SELECT pg_terminate_backend(pid) {holders}")).all()
        async with asyncio.timeout(120):
            while server.execute(text(f"SELECT pid {holders}")).all() in ([], [(former,)]):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    engine.dispose()
    assert not led.ended.is_set() and "standing by" not in led.states
    leading.cancel()


@needs_server
async def test_14_11_a_job_goes_on_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else can get it meanwhile, and its holder gets it again before those who stand by."""
    monkeypatch.setattr(leadership, "LOOK_INTERVAL", 0.05)
    monkeypatch.setattr(leadership, "HEAD_START", 1.0)
    with stoppable_server() as server:
        async with await open_store(server.address) as one, await open_store(server.address) as two:
            first, second = Led(), Led()
            leading = [asyncio.ensure_future(one.lead(["a"], first.work, first.report))]
            await first.until("leading")
            leading.append(asyncio.ensure_future(two.lead(["a"], second.work, second.report)))
            await second.until("standing by")
            for _ in range(2):
                server.stop()
                await first.until("uncertain")
                await asyncio.sleep(20 * leadership.LOOK_INTERVAL)
                server.start()
                await first.until("leading")
            assert first.states == ["leading", "uncertain"] * 2 + ["leading"]
            assert second.states == ["standing by"] and not first.ended.is_set()
            leading[0].cancel()
            await second.until("leading")
            leading[1].cancel()


@needs_server
async def test_14_11_a_job_that_another_has_taken_meanwhile_is_given_up() -> None:
    """A machine that sleeps while the database starts again finds its job taken when it wakes."""
    with stoppable_server() as server:
        async with contender(server.address, "a") as first:
            assert await leads(first)
            async with contender(server.address, "a") as second:
                first.send_signal(signal.SIGSTOP)
                server.stop()
                server.start()
                assert await leads(second)
                first.send_signal(signal.SIGCONT)
                woke_at = monotonic()
                assert await says(first, "stops", 30)
                assert monotonic() - woke_at < REPLACED
                assert not await leads(first, 2.5), "one process has the job"
                second.kill()
                assert await leads(first)


@needs_server
async def test_14_11_a_leader_that_is_frozen_is_replaced() -> None:
    """Its machine is there and answers, so only the silence of its connection shows it."""
    with stoppable_server() as server:
        async with contender(server.address, "a", silence=2.0) as first:
            assert await leads(first)
            async with contender(server.address, "a") as second:
                first.send_signal(signal.SIGSTOP)
                assert await leads(second)
                first.send_signal(signal.SIGCONT)
                assert await says(first, "stops", 60)
                assert not await leads(first, 2.5), "one process has the job"


async def test_another_store_has_its_own_jobs(address: str, tmp_path: Path) -> None:
    async with await open_store(address) as store, await open_store(tmp_path / "other.db") as other:
        locks = [job_lock(each.url, ["mail"]) for each in (store, other)]
        assert [await lock.acquire() for lock in locks] == [True, True]
        for lock in locks:
            await lock.release()
