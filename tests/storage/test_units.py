"""Transactions: all or nothing, one writer, shared commits, kill -9."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from storage import Entry, Store, StoreError, open_store
from tests.storage.conftest import move, new_table, parcel


async def heads(store: Store, *tables: int) -> list[int]:
    async with store.read() as unit:
        return [(await unit.moves.head(table)).seq for table in tables]


async def test_a_block_that_fails_leaves_nothing(store: Store) -> None:
    table = await new_table(store)
    with pytest.raises(ZeroDivisionError):
        async with store.begin() as unit:
            await unit.moves.append(table, 0, [move("r")], b"s")
            await unit.moves.remember("r", b"a")
            await unit.outbox.enqueue(parcel("p"))
            raise ZeroDivisionError
    async with store.read() as unit:
        assert (await unit.moves.head(table)).seq == 0
        assert await unit.moves.answered("r") is None
        assert await unit.outbox.get("p") is None


async def test_units_that_wait_share_a_commit_and_fail_alone(store: Store) -> None:
    tables = [await new_table(store) for _ in range(8)]
    commits = 0
    driver = store._writer._commit

    async def counted(group: object) -> None:
        nonlocal commits
        commits += 1
        await driver(group)  # type: ignore[arg-type]

    store._writer._commit = counted  # type: ignore[method-assign]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            assert await unit.moves.answered(f"{table}") is None
            assert (await unit.moves.head(table)).seq == 0
            await unit.moves.append(table, 0, [move(str(table))], b"s")
            assert (await unit.moves.head(table)).seq == 1
            await unit.moves.remember(str(table), b"a")
            if table == tables[3]:
                raise ZeroDivisionError

    results = await asyncio.gather(*map(say, tables), return_exceptions=True)
    assert [type(result) for result in results] == [type(None)] * 3 + [ZeroDivisionError] + [type(None)] * 4
    assert await heads(store, *tables) == [1, 1, 1, 0, 1, 1, 1, 1]
    assert commits == 1


async def test_the_first_of_a_group_fails_alone_too(store: Store) -> None:
    tables = [await new_table(store) for _ in range(4)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            await unit.moves.append(table, 0, [move()], b"s")
            if table == tables[0]:
                raise ZeroDivisionError

    results = await asyncio.gather(*map(say, tables), return_exceptions=True)
    assert isinstance(results[0], ZeroDivisionError)
    assert await heads(store, *tables) == [0, 1, 1, 1]


async def test_nothing_is_said_before_the_commit(store: Store, tmp_path: Path) -> None:
    """Whoever has left its block finds its rows with another connection, also in a group."""
    tables = [await new_table(store) for _ in range(6)]

    async def say(table: int) -> int:
        async with store.begin() as unit:
            await unit.moves.append(table, 0, [move()], b"s")
        with sqlite3.connect(tmp_path / "railpost.db") as other:
            (seq,) = other.execute("SELECT seq FROM heads WHERE table_id = ?", (table,)).fetchone()
        other.close()
        return int(seq)

    assert await asyncio.gather(*map(say, tables)) == [1] * 6


@pytest.mark.parametrize("delay", range(40))
async def test_a_cancelled_unit_takes_nobody_with_it(store: Store, delay: int) -> None:
    tables = [await new_table(store) for _ in range(3)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            for seq in range(4):
                await unit.moves.append(table, seq, [move()], b"s")

    tasks = [asyncio.create_task(say(table)) for table in tables]
    for _ in range(delay):
        await asyncio.sleep(0.0001)
    tasks[delay % 3].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    found = await heads(store, *tables)
    for index, (result, seq) in enumerate(zip(results, found, strict=True)):
        assert seq in (0, 4)
        if index != delay % 3:
            assert (result, seq) == (None, 4)
        elif result is None:
            assert seq == 4
    await say(await new_table(store))


async def test_a_lost_transaction_fails_the_whole_group_and_no_further_one(store: Store) -> None:
    tables = [await new_table(store) for _ in range(3)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            await unit.moves.append(table, 0, [move()], b"s")
            if table == tables[1]:
                await unit._work.connection.exec_driver_sql("ROLLBACK")  # as a full disk does

    results = await asyncio.gather(*map(say, tables), return_exceptions=True)
    assert isinstance(results[0], StoreError)
    assert isinstance(results[1], (StoreError, OperationalError))
    assert results[2] is None
    assert await heads(store, *tables) == [0, 0, 1]


async def test_a_unit_inside_a_unit_is_refused_not_waited_for(store: Store) -> None:
    async with store.begin():
        with pytest.raises(RuntimeError, match="inside a unit"):
            async with store.begin():
                pass


async def test_a_view_is_of_one_moment_and_waits_for_nobody(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit, store.read() as view:
        await unit.moves.append(table, 0, [move()], b"s")
        assert (await view.moves.head(table)).seq == 0
    async with store.read() as view:
        assert (await view.moves.head(table)).seq == 1
        async with store.begin() as unit:
            await unit.moves.append(table, 1, [move()], b"s")
        assert len(await view.moves.rows(table)) == 1


async def test_a_view_may_not_write(store: Store) -> None:
    with pytest.raises(OperationalError, match="readonly"):
        async with store.read() as view:
            await view.people.add("Ann")


async def test_another_process_that_writes_is_waited_for_then_named(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.store.WAIT", 0.05)
    path = tmp_path / "railpost.db"
    other = sqlite3.connect(path, isolation_level=None)
    async with await open_store(path) as impatient:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            async with impatient.begin():
                pass
        other.execute("ROLLBACK")
        async with impatient.begin() as unit:
            await unit.people.add("Ann")
    other.close()


async def test_the_files_settings(store: Store) -> None:
    async def pragma(name: str) -> object:
        async with store.begin() as unit:
            return (await unit._work.connection.exec_driver_sql(f"PRAGMA {name}")).scalar()

    assert await pragma("journal_mode") == "wal"
    assert await pragma("synchronous") == 2
    assert await pragma("foreign_keys") == 1


async def test_closing_waits_for_those_who_are_at_it(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "closed.db")
    tables = [await new_table(store) for _ in range(4)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            await unit.moves.append(table, 0, [move()], b"s")

    saying = [asyncio.create_task(say(table)) for table in tables]
    await asyncio.sleep(0.001)
    await store.close()
    results = await asyncio.gather(*saying, return_exceptions=True)
    async with await open_store(tmp_path / "closed.db") as again:
        found = await heads(again, *tables)
    assert [result is None for result in results] == [seq == 1 for seq in found]
    assert found[0] == 1


PLAYER = """
import asyncio, sys
from storage import Deed, open_store
from tests.storage.conftest import move, parcel

async def main():
    async with await open_store(sys.argv[1]) as store:
        async with store.begin() as unit:
            tables = [(await unit.games.add("t", str(n))).id for n in range(4)]

        async def play(table):
            seq = 0
            while True:
                name = f"{table}-{seq + 2}"
                moves = [move(f"{name}#1"), move(f"{name}#2")]
                if table % 2:
                    mark = (await store.glance(table)).mark
                    told = name.encode(), [parcel(name)], name, name.encode()
                    await store.record(Deed(table, store.now(), seq, mark, moves, *told))
                else:
                    async with store.begin() as unit:
                        await unit.moves.append(table, seq, moves, name.encode())
                        await unit.moves.remember(name, name.encode())
                        await unit.outbox.enqueue(parcel(name))
                seq += 2
                print(name, flush=True)

        await asyncio.gather(*map(play, tables))

asyncio.run(main())
"""


@pytest.mark.parametrize("after", [1, 2, 7, 40])
async def test_kill_9_after_a_commit(tmp_path: Path, after: int) -> None:
    """What was said is there; what is there is whole: moves, head, answer and parcel."""
    path = tmp_path / "killed.db"
    command = [sys.executable, "-c", PLAYER, str(path)]
    player = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    assert player.stdout is not None
    said = [player.stdout.readline().strip() for _ in range(after)]
    os.kill(player.pid, signal.SIGKILL)
    said += player.stdout.read().split()
    player.stdout.close()
    player.wait()
    assert "" not in said
    async with await open_store(path) as store, store.read() as unit:
        for table in await unit.games.all():
            head = await unit.moves.head(table.id)
            rows = await unit.moves.rows(table.id)
            assert [row.seq for row in rows] == list(range(1, head.seq + 1))
            assert head.seq % 2 == 0
            names = [f"{table.id}-{seq}" for seq in range(2, head.seq + 1, 2)]
            assert head.state == (names[-1].encode() if names else b"")
            for name in names:
                assert await unit.moves.answered(name) == name.encode()
                assert (await unit.outbox.get(name)) is not None
            mine = [name for name in said if name.split("-")[0] == str(table.id)]
            assert set(mine) <= set(names)
            assert len(names) <= len(mine) + 1
        assert (await unit.outbox.queue("mail")).pending == sum(
            [(await unit.moves.head(table.id)).seq // 2 for table in await unit.games.all()]
        )


async def test_entries_are_checked_by_foreign_keys(store: Store) -> None:
    table = await new_table(store)
    with pytest.raises(Exception, match="FOREIGN KEY"):
        async with store.begin() as unit:
            await unit.moves.append(table, 0, [Entry(transport="mail", person_id=77)], b"")
