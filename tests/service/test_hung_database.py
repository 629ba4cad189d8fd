"""A database that takes what is sent and answers nothing: nobody waits long, and nothing is played twice."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection

from bot.hub.request import Completed
from storage import MoveCommit, OutcomeUnknown, Store, StoreError
from storage.connections import ConnectionThread
from tests.postgresql_server import PostgresqlServer
from tests.service.conftest import ServiceHarness
from tests.storage.conftest import move, new_table
from tests.stores import needs_server, stoppable_server

pytestmark = needs_server
HUNG = "the database does not answer; please try again in a moment"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresqlServer]:
    monkeypatch.setattr("storage.connections.ANSWER_WITHIN", 0.3)
    monkeypatch.setattr("storage.connections.ASK_AGAIN_AFTER", 0.1)
    with stoppable_server() as running:
        yield running


@pytest.fixture
def address(server: PostgresqlServer) -> str:
    return server.address


async def answers_again(store: Store) -> None:
    """Wait until the store is asked again, and answers."""
    async with asyncio.timeout(60):
        while True:
            try:
                await store.table_version(0)
                await new_table(store)
                return
            except StoreError:
                await asyncio.sleep(0.05)


async def test_everybody_reads_a_sentence_and_all_goes_on(
    empty: ServiceHarness, server: PostgresqlServer
) -> None:
    store = empty.store
    tables = [await new_table(store) for _ in range(3)]
    others = [await new_table(store) for _ in range(3)]

    async def locked(table: int) -> None:
        async with store.begin(table=table) as unit:
            await unit.tables.update(table, name="Another")

    def everything() -> list[Any]:
        commits = [MoveCommit(table, store.now(), 0, 0, [move()], b"s") for table in tables]
        return [
            *map(store.commit_move, commits), *map(store.table_version, tables), *map(locked, others),
            *(new_table(store) for _ in range(3)),
        ]  # fmt: skip

    server.freeze()
    for _ in range(2):  # who comes later is refused at once
        async with asyncio.timeout(120):
            results = await asyncio.gather(*everything(), return_exceptions=True)
        assert all(isinstance(each, StoreError) and HUNG in str(each) for each in results), results
    server.thaw()
    await answers_again(store)
    results = await asyncio.gather(*everything(), return_exceptions=True)
    assert not [each for each in results if isinstance(each, BaseException)]


async def test_a_move_whose_commit_was_sent_is_played_once(
    world: ServiceHarness, server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = ConnectionThread.commit

    def unanswered(thread: ConnectionThread, connection: Connection) -> None:
        server.freeze()
        commit(thread, connection)

    monkeypatch.setattr(ConnectionThread, "commit", unanswered)

    with pytest.raises(OutcomeUnknown, match=r"not known yet .* pressing again is safe\.$"):
        await world.say("Ann", "buy SV", request="press")
    monkeypatch.setattr(ConnectionThread, "commit", commit)
    server.thaw()
    await answers_again(world.store)
    assert isinstance(await world.say("Ann", "buy SV", request="press"), Completed)
    assert await world.lines() == ["buy SV"]
