"""A fault at one table stays at that table."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

import engine
from bot.hub.loading import UnreadableTable, unreadable_tables
from bot.hub.request import Completed, LineUnreadable, QueryAnswer, TableNotRunning
from bot.service import Service
from storage import Store, StoreError
from tests.service.conftest import NAMES, ServiceHarness
from tests.stores import run_sql

DAMAGES = {
    "events are no MessagePack": "UPDATE moves SET events = :bytes WHERE table_id = :table AND seq = 2",
    "events of a newer version": "UPDATE moves SET format_version = 99 WHERE table_id = :table",
    "a row is missing": "DELETE FROM moves WHERE table_id = :table AND seq = 2",
}
SNAPSHOT_DAMAGES = {
    "no MessagePack": "UPDATE table_snapshots SET state = :bytes WHERE table_id = :table",
    "a newer version": "UPDATE table_snapshots SET format_version = 99 WHERE table_id = :table",
}


async def execute(store: Store, sql: str, **values: object) -> None:
    async with store.begin() as unit:
        used = {name: value for name, value in values.items() if f":{name}" in sql}
        await run_sql(unit, sql, used)


async def second_table(world: ServiceHarness) -> int:
    info = await world.service.lobby.create("1830", None, name="Other")
    for name in NAMES:
        await world.service.lobby.join(info.id, world.people[name], name)
    await world.service.lobby.start(info.id, by=None, order=NAMES)
    return info.id


@pytest.mark.parametrize("damage", DAMAGES)
async def test_14_1_a_table_that_cannot_be_read_stops_nobody_else(
    world: ServiceHarness, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    await world.say("Ann", "buy SV")
    other = await second_table(world)
    await execute(world.store, DAMAGES[damage], table=world.table, bytes=b"\xc1")
    service = Service(world.store)
    with caplog.at_level(logging.ERROR):
        answer = await service.submit(world.table, 1, ["log"], None, "q")
        again = await service.submit(world.table, 1, ["log"], None, "q")
    code = (await service.queries.table_info(world.table)).code
    assert isinstance(answer, TableNotRunning) and answer == again
    assert answer.reason == (
        f"Table {code} cannot be read, so nobody can play there now; nothing of it is lost, and the operator "
        "has been told."
    )
    reports = [each.message for each in caplog.records if each.name == "for the operator"]
    assert len(reports) == 1 and f"table {code} cannot be read" in reports[0]
    with pytest.raises(UnreadableTable):
        await service.queries.log(world.table)
    assert isinstance(await service.submit(other, 0, ["buy SV"], None, None), Completed)
    assert [info.id for info in await service.queries.list_tables()] == [world.table, other]


@pytest.mark.parametrize("damage", SNAPSHOT_DAMAGES)
@pytest.mark.parametrize("log_damage", DAMAGES)
async def test_14_1_a_list_says_which_table_cannot_be_read(
    world: ServiceHarness, damage: str, log_damage: str
) -> None:
    await world.say("Ann", "buy SV")
    other = await second_table(world)
    for sql in (SNAPSHOT_DAMAGES[damage], DAMAGES[log_damage]):
        await execute(world.store, sql, table=world.table, bytes=b"\xc1")
    rounds = {info.id: info.round for info in await Service(world.store).queries.list_tables()}
    assert rounds == {world.table: "cannot be read", other: "opening"}


@pytest.mark.parametrize("damage", SNAPSHOT_DAMAGES)
async def test_14_1_a_table_with_a_damaged_snapshot_is_played_on_from_its_log(
    world: ServiceHarness, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await world.say("Ann", "buy SV")
    await execute(world.store, SNAPSHOT_DAMAGES[damage], table=world.table, bytes=b"\xc1")
    service = Service(world.store)
    (info,) = await service.queries.list_tables()
    assert (info.round, info.acting_seats) == ("opening", (1,))
    for _ in range(3):
        await service.queries.list_tables()
    told = [each for each in caplog.records if "stored position" in each.getMessage()]
    assert [each.levelname for each in told] == ["INFO"] and unreadable_tables() == []
    assert not [each for each in caplog.records if each.levelno > logging.INFO]
    assert isinstance(await service.submit(world.table, 1, ["buy CS"], None, None), Completed)
    async with world.store.read() as unit:
        state = engine.decode_state((await unit.move_log.snapshot(world.table)).state)
    assert state == await service.queries.state_at(world.table)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_table_whose_position_and_log_are_damaged_is_told_once(
    world: ServiceHarness, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    await world.say("Ann", "buy SV")
    await execute(world.store, DAMAGES[damage], table=world.table, bytes=b"\xc1")
    await execute(world.store, SNAPSHOT_DAMAGES["no MessagePack"], table=world.table, bytes=b"\xc1")
    service = Service(world.store)
    for _ in range(3):
        await service.queries.list_tables()
        await service.submit(world.table, 1, ["buy CS"], None, None)
    assert [each.levelname for each in caplog.records] == ["ERROR"]


async def test_14_1_states_and_events_say_their_format(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    async with world.store.read() as unit:
        rows = await unit.move_log.rows(world.table)
        snapshot = await unit.move_log.snapshot(world.table)
    assert {row.format_version for row in rows} == {snapshot.format_version} == {engine.FORMAT_VERSION}


async def test_14_2_plans_and_votes_elsewhere_refuse_no_move(world: ServiceHarness) -> None:
    """Everything that is checked for a move stays as it was, whatever happens at another table."""
    other = await second_table(world)
    before = await world.store.table_version(other)
    await world.say("Ann", "plan buy SV")
    await world.say("Ann", "buy SV")
    await world.say("Bob", "undo")
    await world.say("Bob", "end")
    await world.service.running.pause(world.table, by=world.people["Bob"])
    assert await world.store.table_version(other) == before
    assert (await world.store.table_version(world.table)).revision > 0


async def test_14_2_a_plan_changes_nothing_that_others_see(world: ServiceHarness) -> None:
    before = await world.store.table_version(world.table)
    assert isinstance(await world.say("Ann", "plan buy SV"), QueryAnswer)
    assert await world.store.table_version(world.table) == before


CONFLICTS: list[Callable[[Service, ServiceHarness], Awaitable[object]]] = [
    lambda service, world: service.submit(world.table, 0, ["buy SV"], None, "m"),
    lambda service, world: service.running.pause(world.table, by=None),
    lambda service, world: service.submit(world.table, 0, ["resign yes"], None, "m"),
]


def after_each_look(
    service: Service, step: Callable[[], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Do something whenever the service has taken a table, before it is changed."""

    def overtaken(name: str) -> None:
        look = getattr(service.cache, name)

        async def looked(*arguments: object, **options: object) -> object:
            table = await look(*arguments, **options)
            await step()
            return table

        monkeypatch.setattr(service.cache, name, looked)

    overtaken("up_to_date")
    overtaken("uncompared")


@pytest.mark.parametrize("act", CONFLICTS)
async def test_14_2_a_change_by_another_process_meanwhile_is_met_by_another_attempt(
    world: ServiceHarness,
    act: Callable[[Service, ServiceHarness], Awaitable[object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service, elsewhere = Service(world.store), Service(world.store)
    await service.queries.view(world.table)
    changes = 0
    commit = service.cache.commit

    def commit_late(*arguments: object, **details: object) -> object:
        nonlocal changes
        changes += 1
        return commit(*arguments, **details)  # type: ignore[arg-type]

    async def overtake() -> None:
        if not changes:
            await elsewhere.lobby.set_location(world.table, {"channel": 5})

    after_each_look(service, overtake, monkeypatch)
    monkeypatch.setattr(service.cache, "commit", commit_late)
    assert not isinstance(await act(service, world), StoreError)
    assert changes == 2


async def test_14_2_no_player_reads_of_rows(world: ServiceHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(world.store)

    async def overtake() -> None:
        async with world.store.begin() as unit:
            await unit.tables.update(world.table, name="Other")

    after_each_look(service, overtake, monkeypatch)
    with pytest.raises(StoreError) as error:
        await service.submit(world.table, 0, ["buy SV"], None, "m")
    assert str(error.value) == (
        "Others changed this table at the same moment, and nothing of yours was done; send it again."
    )


@pytest.mark.parametrize("line", ["buy \ud800", "buy SV\0", "plan \udfff", "log \ud83d 5"])
async def test_14_4_a_line_that_is_no_text_is_refused_as_any_other(world: ServiceHarness, line: str) -> None:
    answer = await world.say("Ann", line)
    assert isinstance(answer, LineUnreadable)
    assert isinstance(await world.say("Ann", "buy SV"), Completed)


async def test_14_4_the_robots_wait_for_a_database_that_is_away(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither looking for their tables nor playing at one ends the service."""

    def away() -> object:
        raise StoreError("The database is away.")

    service = Service(world.store)
    with monkeypatch.context() as patch:
        patch.setattr(world.store, "read", away)
        robots = asyncio.ensure_future(service.robots.run())
        while "the robots wait: The database is away." not in caplog.text:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert not robots.done()
    robots.cancel()
    await asyncio.gather(robots, return_exceptions=True)


async def test_14_4_whatever_the_database_raises_is_a_store_error(world: ServiceHarness) -> None:
    await world.service.queries.view(world.table)
    await execute(world.store, "DROP TABLE moves")
    calls = [
        world.say("Ann", "buy SV"),
        world.say("Ann", "resign yes"),
        Service(world.store).queries.log(world.table),
        Service(world.store).running.pause(world.table, by=None),
    ]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [isinstance(result, StoreError) for result in results] == [True] * 4
