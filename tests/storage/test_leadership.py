"""One process does a job: with real processes, killed by -9, on both databases."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import create_engine, text

from storage import Store, leadership, open_store
from tests.stores import SERVER

ROOT = Path(__file__).parent.parent.parent
REPLACED = 10.0  # seconds within which another process has the job
LEADER = """
import asyncio, sys
from storage import open_store

async def work():
    print("leads", flush=True)
    await asyncio.Event().wait()

async def main():
    async with await open_store(sys.argv[1]) as store:
        print("ready", flush=True)
        await store.lead(sys.argv[2:], work)

asyncio.run(main())
"""


@asynccontextmanager
async def contender(address: str, *jobs: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that wants some jobs, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LEADER, address, *jobs, stdout=asyncio.subprocess.PIPE, cwd=ROOT
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
    assert process.stdout is not None
    try:
        return await asyncio.wait_for(process.stdout.readline(), seconds) == b"leads\n"
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
    lock = leadership.job_lock(store.url, ["a", "b"])
    other, third = (leadership.job_lock(store.url, jobs) for jobs in (["b", "c"], ["c"]))
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


async def test_a_leader_whose_connection_ends_stops_and_leads_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the lock is that of a connection; then nobody knows who has it."""
    if not SERVER or store.path is not None:
        pytest.skip("a lock on a file is lost with its process only")
    monkeypatch.setattr(leadership, "LOOK_INTERVAL", 0.05)
    begun = asyncio.Event()
    ends = list[str]()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("stopped")

    leading = asyncio.ensure_future(store.lead(["a"], work))
    await asyncio.wait_for(begun.wait(), 30)
    begun.clear()
    engine = create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with engine.connect() as server:
        holders = (
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
        )
        assert server.execute(text(holders)).all()
    engine.dispose()
    await asyncio.wait_for(begun.wait(), 30)
    assert ends == ["stopped"]
    leading.cancel()


async def test_another_store_has_its_own_jobs(address: str, tmp_path: Path) -> None:
    async with await open_store(address) as store, await open_store(tmp_path / "other.db") as other:
        locks = [leadership.job_lock(each.url, ["mail"]) for each in (store, other)]
        assert [await lock.acquire() for lock in locks] == [True, True]
        for lock in locks:
            await lock.release()
