"""What only happens with PostgreSQL: an unreachable server, a transaction that a failure breaks."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from storage import (
    InvalidStore,
    MoveCommit,
    NewerStore,
    NotFound,
    Store,
    StoreError,
    backup,
    move_store,
    open_store,
)
from tests.storage.conftest import move, new_message, new_table
from tests.stores import (
    SERVER,
    needs_server,
    temporary_database,
    url_text,
)

pytestmark = needs_server


@pytest.fixture
def address(database: str) -> str:
    return database


async def length(store: Store, table: int) -> int | None:
    return (await store.table_version(table)).seq


def cut_off(store: Store) -> None:
    """End every connection to a store, as the end of its server does."""
    engine = create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with engine.connect() as server:
        ended = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name")
        assert server.execute(ended, {"name": store.url.database}).all()
    engine.dispose()


async def test_a_swallowed_failure_does_not_look_committed(store: Store) -> None:
    """PostgreSQL would answer the commit with a rollback, and without a complaint."""
    table = await new_table(store)
    with pytest.raises(StoreError, match="nothing was changed"):
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move()], b"s")
            with pytest.raises(DBAPIError):
                await unit._transaction.read(lambda c: c.execute(text("SELECT * FROM nowhere")))
    assert await length(store, table) == 0


async def test_a_connection_that_breaks_fails_its_transaction_and_no_other(store: Store) -> None:
    tables = [await new_table(store) for _ in range(3)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move()], b"s")
            if table == tables[1]:
                cut_off(store)

    results = await asyncio.gather(*map(say, tables), return_exceptions=True)
    assert isinstance(results[1], StoreError)
    assert results[0] is results[2] is None
    assert [await length(store, table) for table in tables] == [1, 0, 1]


async def test_a_restart_of_the_server_meanwhile_does_no_harm(store: Store) -> None:
    table = await new_table(store)
    cut_off(store)
    mark = (await store.table_version(table)).revision
    await store.commit_move(MoveCommit(table, store.now(), 0, mark, [move()], b"s"))
    cut_off(store)
    async with store.begin() as unit:
        await unit.move_log.append(table, 1, [move()], b"s")
    async with store.read() as unit:
        assert (await unit.move_log.snapshot(table)).seq == 2


async def test_a_server_that_takes_no_changes_is_one_sentence_and_no_mistake_of_ours(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """As those that others host do when their disk is full."""
    table = await new_table(store)
    await store.check_writable()
    engine = create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with engine.connect() as server:
        change = f"ALTER DATABASE {store.url.database} SET default_transaction_read_only = "
        server.execute(text(f"{change}on"))
        cut_off(store)
        with pytest.raises(
            StoreError, match=r"^The store cannot be written now: the database is read-only\.$"
        ):
            await store.check_writable()
        with pytest.raises(StoreError, match=r"nothing was changed: the database is read-only\.$"):
            await new_table(store)
        assert await length(store, table) == 0
        server.execute(text(f"{change}off"))
        cut_off(store)
    engine.dispose()
    await store.check_writable()
    await new_table(store)
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_process_that_is_stopped_in_a_transaction_does_not_hold_up_the_others_for_good(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("storage.database.FROZEN_AFTER", 2.0)
    async with await open_store(url_text(store.url)) as stopped:
        with pytest.raises(StoreError, match=r"nothing was changed: the database does not answer"):
            async with stopped.begin() as unit:
                ann = await unit.people.add("Ann")
                async with store.begin() as other:
                    await other.people.add("Bob")
                await unit.people.get(ann.id)
        async with stopped.begin() as unit:
            with pytest.raises(NotFound):
                await unit.people.get(ann.id)
    assert not [record for record in caplog.records if record.exc_info]


async def test_an_empty_database_is_called_empty(tmp_path: Path) -> None:
    """Not one of the revision `None`."""
    with temporary_database() as url:
        told = r"postgres.* is empty; run `railpost migrate` first"
        with pytest.raises(StoreError, match=told):
            await open_store(url_text(url), migrated=False)
        with pytest.raises(StoreError, match=told):
            await move_store(url_text(url), tmp_path / "other.db")


async def test_a_machine_that_is_gone_ends_the_connections_to_it(store: Store) -> None:
    """After seven seconds; the system's own limit is a quarter of an hour, while players wait."""

    def parameters_of(connection: Connection) -> dict[str, str]:
        driver: Any = connection.connection.driver_connection
        return dict(driver.info.get_parameters())

    async with store.read() as view, store.begin() as unit:
        for each in (view, unit):
            parameters = await each._transaction.run(parameters_of)
            assert parameters["tcp_user_timeout"] == "7000" and parameters["keepalives_idle"] == "3"


async def test_the_first_move_after_a_restart_of_the_server_is_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.connections.PROBE_AFTER", 0.0)
    table = await new_table(store)
    for seq in range(3):
        mark = (await store.table_version(table)).revision
        await store.commit_move(MoveCommit(table, store.now(), seq, mark, [move()], b"s"))
        cut_off(store)
    assert await length(store, table) == 3


async def test_a_move_commit_that_cannot_be_written_fails_alone(store: Store) -> None:
    """PostgreSQL cannot store the character zero in a text."""
    tables = [await new_table(store) for _ in range(3)]
    mark = (await store.table_version(tables[0])).revision
    lines = ["pass", "pass\0", "pass"]
    deeds = [
        MoveCommit(table, store.now(), 0, mark, [move(line=line)], b"s")
        for table, line in zip(tables, lines, strict=True)
    ]
    results = await asyncio.gather(*map(store.commit_move, deeds), return_exceptions=True)
    assert results[0] is None and isinstance(results[1], StoreError) and results[2] is None
    assert [await length(store, table) for table in tables] == [1, 0, 1]


async def test_an_empty_database_is_created_by_two_processes_at_once() -> None:
    with temporary_database() as url:
        first, second = await asyncio.gather(open_store(url_text(url)), open_store(url_text(url)))
        async with first, second:
            assert await length(second, await new_table(first)) == 0


async def test_a_newer_store_and_anothers_database_are_refused(address: str) -> None:
    engine = create_engine(address)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(NewerStore, match="revision 9999"):
        await open_store(address)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE alembic_version RENAME TO recipes"))
    with pytest.raises(InvalidStore, match="not a Railpost store"):
        await open_store(address)
    engine.dispose()


async def test_an_unreachable_server_is_one_sentence() -> None:
    away = make_url(SERVER).set(port=1, host="127.0.0.1", password="secret")
    with pytest.raises(StoreError, match=r"cannot be opened as a store: .*refused\.$") as error:
        await open_store(url_text(away))
    assert "secret" not in str(error.value) and "\n" not in str(error.value)


async def test_a_backup_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="pg_dump"):
        await backup(store, tmp_path / "copy.db")


async def test_14_11_processes_write_at_their_tables_without_waiting_for_each_other(
    store: Store, address: str
) -> None:
    """One process is inside a transaction at one table; another plays at another table meanwhile."""
    tables = [await new_table(store) for _ in range(2)]
    async with await open_store(address) as other, store.begin(excludes_others=False) as unit:
        await unit.move_log.append(tables[0], 0, [move()], b"s")
        version = await other.table_version(tables[1])
        commit = MoveCommit(tables[1], other.now(), 0, version.revision, [move()], b"s")
        await asyncio.wait_for(other.commit_move(commit), 30)
    assert [await length(store, table) for table in tables] == [1, 1]


async def test_14_11_two_processes_at_one_table_write_one_after_the_other(store: Store, address: str) -> None:
    table = await new_table(store)
    async with await open_store(address) as other:
        version = await store.table_version(table)
        commits = [
            each.commit_move(MoveCommit(table, each.now(), 0, version.revision, [move()], b"s"))
            for each in (store, other)
        ]
        results = await asyncio.gather(*commits, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["NoneType", "WriteConflict"]


async def test_14_11_batches_over_the_same_tables_do_not_deadlock(store: Store, address: str) -> None:
    tables = [await new_table(store) for _ in range(8)]
    async with await open_store(address) as other:
        for seq in range(5):
            commits = [
                each.commit_move(MoveCommit(table, each.now(), seq, 0, [move()], b"s"))
                for each, order in ((store, tables), (other, tables[::-1]))
                for table in order
            ]
            results = await asyncio.gather(*commits, return_exceptions=True)
            assert sum(result is None for result in results) == len(tables), results
    assert [await length(store, table) for table in tables] == [5] * 8


async def test_14_11_a_message_that_another_worker_takes_is_skipped(store: Store, address: str) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(*(new_message(f"m{n}") for n in range(4)))
    async with await open_store(address) as other, store.begin(excludes_others=False) as first:
        mine = await first.outbox.lease_due("mail", 2, timedelta(minutes=1))
        async with other.begin(excludes_others=False) as second:
            theirs = await asyncio.wait_for(second.outbox.lease_due("mail", 4, timedelta(minutes=1)), 30)
    taken = [message.idempotency_key for message in (*mine, *theirs)]
    assert sorted(taken) == ["m0", "m1", "m2", "m3"] and len(mine) == len(theirs) == 2


async def test_14_11_a_commit_wakes_the_other_processes(store: Store, address: str) -> None:
    heard = asyncio.Event()
    async with await open_store(address) as other:
        following = asyncio.ensure_future(other.follow(heard.set))
        await asyncio.wait_for(heard.wait(), 30)  # it listens now
        heard.clear()
        await new_table(store)
        await asyncio.wait_for(heard.wait(), 30)
        following.cancel()


async def test_14_4_a_text_with_u_0000_fails_alone(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """PostgreSQL cannot store it, nor look for it; the checks beside it are answered."""
    table = await new_table(store)
    found = await asyncio.gather(
        store.table_version(table, "one"), store.table_version(table, "a\x00b"), store.table_version(table),
        return_exceptions=True,
    )  # fmt: skip
    assert [getattr(each, "seq", None) for each in found] == [0, None, 0]
    assert isinstance(found[1], StoreError) and "cannot be stored" in str(found[1])
    with pytest.raises(StoreError, match="cannot be stored"):
        async with store.read() as unit:
            await unit.tables.by_code("A\x00B")
    assert not caplog.records, "a mistake of a player is none of ours"
