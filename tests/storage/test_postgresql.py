"""What only happens with PostgreSQL: an unreachable server, a transaction that a failure breaks."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from storage import (
    InvalidStore,
    MoveCommit,
    NewerStore,
    Store,
    StoreError,
    backup,
    open_store,
)
from tests.storage.conftest import move, new_table
from tests.stores import (
    SERVER,
    StoreFactory,
    needs_server,
    temporary_database,
    url_text,
)

pytestmark = needs_server


@pytest.fixture
def address(tmp_path: Path, places: StoreFactory) -> Iterator[str]:
    with places.empty_store("postgresql", tmp_path) as found:
        yield found


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
                await unit._transaction.connection.execute(text("SELECT * FROM nowhere"))
    assert await length(store, table) == 0


async def test_a_connection_that_breaks_fails_its_group_and_no_further_one(store: Store) -> None:
    tables = [await new_table(store) for _ in range(3)]

    async def say(table: int) -> None:
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move()], b"s")
            if table == tables[1]:
                cut_off(store)

    results = await asyncio.gather(*map(say, tables), return_exceptions=True)
    assert isinstance(results[0], StoreError)
    assert isinstance(results[1], StoreError)
    assert results[2] is None
    assert [await length(store, table) for table in tables] == [0, 0, 1]


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
    with pytest.raises(InvalidStore, match="not one of Railpost"):
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
