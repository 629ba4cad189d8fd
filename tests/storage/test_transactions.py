"""Transactions: all or nothing, one writer, kill -9."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from storage import LogRow, Store, StoreError, open_store
from tests.end_to_end.fork_server import ForkedProcess, ForkServer
from tests.storage.conftest import move, new_message, new_table, seq_elsewhere
from tests.stores import run_sql, sqlite_only


async def seqs(store: Store, *tables: int) -> list[int]:
    async with store.read() as unit:
        return [(await unit.move_log.snapshot(table)).seq for table in tables]


async def test_a_block_that_fails_leaves_nothing(store: Store) -> None:
    table = await new_table(store)
    with pytest.raises(ZeroDivisionError):
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move("r")], b"s")
            await unit.move_log.save_request_result("r", b"a")
            await unit.outbox.enqueue(new_message("p"))
            raise ZeroDivisionError
    async with store.read() as unit:
        assert (await unit.move_log.snapshot(table)).seq == 0
        assert await unit.move_log.request_result("r") is None
        assert await unit.outbox.get("p") is None


async def test_units_that_wait_for_each_other_fail_alone(store: Store) -> None:
    tables = [await new_table(store) for _ in range(8)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            assert await unit.move_log.request_result(f"{table}") is None
            assert (await unit.move_log.snapshot(table)).seq == 0
            await unit.move_log.append(table, 0, [move(str(table))], b"s")
            assert (await unit.move_log.snapshot(table)).seq == 1
            await unit.move_log.save_request_result(str(table), b"a")
            if table == tables[3]:
                raise ZeroDivisionError

    results = await asyncio.gather(*map(say, tables), return_exceptions=True)
    assert [type(result) for result in results] == [type(None)] * 3 + [ZeroDivisionError] + [type(None)] * 4
    assert await seqs(store, *tables) == [1, 1, 1, 0, 1, 1, 1, 1]


async def test_nothing_is_reported_before_the_commit(store: Store) -> None:
    """After its block, a unit of work finds its rows by another connection."""
    tables = [await new_table(store) for _ in range(6)]

    async def say(table: int) -> int | None:
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move()], b"s")
        return await seq_elsewhere(store, table)

    assert await asyncio.gather(*map(say, tables)) == [1] * 6


@pytest.mark.parametrize("delay", range(40))
async def test_a_cancelled_unit_takes_nobody_with_it(store: Store, delay: int) -> None:
    tables = [await new_table(store) for _ in range(3)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            for seq in range(4):
                await unit.move_log.append(table, seq, [move()], b"s")

    tasks = [asyncio.create_task(say(table)) for table in tables]
    for _ in range(delay):
        await asyncio.sleep(0.0001)
    tasks[delay % 3].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    found = await seqs(store, *tables)
    for index, (result, seq) in enumerate(zip(results, found, strict=True)):
        assert seq in (0, 4)
        if index != delay % 3:
            assert (result, seq) == (None, 4)
        elif result is None:
            assert seq == 4
    await say(await new_table(store))


async def test_a_lost_transaction_fails_alone(store: Store) -> None:
    tables = [await new_table(store) for _ in range(3)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move()], b"s")
            if table == tables[1]:
                await run_sql(unit, "ROLLBACK")  # as a full disk does

    results = await asyncio.gather(*map(say, tables), return_exceptions=True)
    assert isinstance(results[1], StoreError) and "nothing was changed" in str(results[1])
    assert results[0] is results[2] is None
    assert await seqs(store, *tables) == [1, 0, 1]


async def test_a_unit_inside_a_unit_is_refused_not_waited_for(store: Store) -> None:
    async with store.begin():
        with pytest.raises(RuntimeError, match="inside a transaction"):
            async with store.begin():
                pass


async def test_a_view_is_of_one_moment_and_waits_for_nobody(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit, store.read() as view:
        await unit.move_log.append(table, 0, [move()], b"s")
        assert (await view.move_log.snapshot(table)).seq == 0
    async with store.read() as view:
        assert (await view.move_log.snapshot(table)).seq == 1
        async with store.begin() as unit:
            await unit.move_log.append(table, 1, [move()], b"s")
        assert len(await view.move_log.rows(table)) == 1


async def test_a_view_may_not_write(store: Store) -> None:
    with pytest.raises(StoreError, match=r"read-?only"):
        async with store.read() as view:
            await view.people.add("Ann")


async def test_another_process_that_writes_is_waited_for_then_named(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.database.LOCK_TIMEOUT", 0.05)
    async with await open_store(address) as impatient:
        async with store.begin():
            with pytest.raises(StoreError, match=r"cannot be written now: .*(locked|lock timeout)"):
                async with impatient.begin():
                    pass
        async with impatient.begin() as unit:
            await unit.people.add("Ann")


@sqlite_only
async def test_the_files_settings(store: Store) -> None:
    async def pragma(name: str) -> object:
        async with store.begin() as unit:
            ((value,),) = await run_sql(unit, f"PRAGMA {name}")
            return value

    assert await pragma("journal_mode") == "wal"
    assert await pragma("synchronous") == 2
    assert await pragma("foreign_keys") == 1


async def test_closing_waits_for_open_transactions(address: str) -> None:
    store = await open_store(address)
    tables = [await new_table(store) for _ in range(4)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move()], b"s")

    saying = [asyncio.create_task(say(table)) for table in tables]
    await asyncio.sleep(0.001)
    await store.close()
    results = await asyncio.gather(*saying, return_exceptions=True)
    async with await open_store(address) as again:
        found = await seqs(again, *tables)
    assert [result is None for result in results] == [seq == 1 for seq in found]
    assert found[0] == 1


PLAYER = """
import asyncio, sys
from storage import MoveCommit, WriteConflict, open_store
from tests.storage.conftest import move, new_message

async def main():
    async with await open_store(sys.argv[1]) as store:
        async with store.begin() as unit:
            tables = [(await unit.tables.add("t", str(n))).id for n in range(4)]

        async def play(table):
            seq = 0
            while True:
                name = f"{table}-{seq + 2}"
                moves = [move(f"{name}#1"), move(f"{name}#2")]
                if table % 2:
                    revision = (await store.table_version(table)).revision
                    rest = name.encode(), [new_message(name)], name, name.encode()
                    try:
                        await store.commit_move(MoveCommit(table, store.now(), seq, revision, moves, *rest))
                    except WriteConflict:  # another process has made a table since the version check
                        continue
                else:
                    async with store.begin() as unit:
                        await unit.move_log.append(table, seq, moves, name.encode())
                        await unit.move_log.save_request_result(name, name.encode())
                        await unit.outbox.enqueue(new_message(name))
                seq += 2
                print(name, flush=True)
                await asyncio.sleep(0.002)  # a writer without any pause would keep the other process out

        await asyncio.gather(*map(play, tables))

asyncio.run(main())
"""


class PlayingProcess(NamedTuple):
    """A process that plays, and the moves that it reports as committed."""

    process: ForkedProcess
    said: Iterator[str]


Play = Callable[[], AbstractContextManager[PlayingProcess]]


@pytest.fixture
def playing(address: str, forks: ForkServer, tmp_path: Path) -> Play:
    @contextmanager
    def start() -> Iterator[PlayingProcess]:
        process, said = forks.talking(tmp_path, PLAYER, address)
        with said:
            try:
                yield PlayingProcess(process, (line.strip() for line in said))
            finally:
                process.kill()

    return start


@pytest.mark.parametrize("after", [1, 2, 7, 40])
async def test_kill_9_after_a_commit(address: str, playing: Play, after: int) -> None:
    """Reported moves are there, and all there is is complete: rows, snapshot, result, message."""
    with playing() as player:
        said = [next(player.said) for _ in range(after)]
        player.process.kill()
        said += player.said
    await whole(address, said)


async def test_two_processes_at_one_store(address: str, playing: Play) -> None:
    """Both write at once and are then killed: what each has reported is there, and complete."""
    with playing() as first, playing() as second:
        said = [next(player.said) for _ in range(12) for player in (first, second)]
        first.process.kill()
        said += [next(second.said) for _ in range(12)]
        second.process.kill()
        said += [*first.said, *second.said]
    assert len({name.split("-")[0] for name in said}) == 8
    await whole(address, said)


async def whole(address: str, said: list[str]) -> None:
    """All that was reported is in the store, and nothing in it is incomplete."""
    async with await open_store(address) as store, store.read() as unit:
        for table in await unit.tables.find():
            head = await unit.move_log.snapshot(table.id)
            rows = await unit.move_log.rows(table.id)
            assert [row.seq for row in rows] == list(range(1, head.seq + 1))
            assert head.seq % 2 == 0
            names = [f"{table.id}-{seq}" for seq in range(2, head.seq + 1, 2)]
            assert head.state == (names[-1].encode() if names else b"")
            for name in names:
                assert await unit.move_log.request_result(name) == name.encode()
                assert (await unit.outbox.get(name)) is not None
            mine = [name for name in said if name.split("-")[0] == str(table.id)]
            assert set(mine) <= set(names)
            assert len(names) <= len(mine) + 1
        assert (await unit.outbox.queue_status("mail")).pending == sum(
            [(await unit.move_log.snapshot(table.id)).seq // 2 for table in await unit.tables.find()]
        )


async def test_entries_are_checked_by_foreign_keys(store: Store) -> None:
    table = await new_table(store)
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [LogRow(transport="mail", person_id=77)], b"")


async def test_a_log_that_ends_with_another_process_is_no_loss(tmp_path: Path) -> None:
    """The last to close a file deletes its log; a process that has not connected yet does not hold it."""
    path = tmp_path / "railpost.db"
    async with await open_store(path) as other:
        async with other.begin() as unit:
            await unit.settings.set("known", "before")
        store = await open_store(path)
        store.check_file()
        assert Path(f"{path}-wal").exists()
    assert not Path(f"{path}-wal").exists()
    async with store, store.begin() as unit:
        await unit.settings.set("known", "after")
