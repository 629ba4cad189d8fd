"""Moves of many tables in one commit; version checks that tell whether a cache is current."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from storage import (
    DuplicateRequest,
    LogRow,
    MoveCommit,
    NotFound,
    Store,
    StoreError,
    UnitOfWork,
    WriteConflict,
    open_store,
)
from tests.storage.conftest import ManualClock, move, new_message, new_table, seq_elsewhere


async def move_commit(store: Store, table: int, name: str, **details: object) -> MoveCommit:
    """A move with everything that goes with one."""
    version = await store.table_version(table)
    base = {
        "table_id": table, "created_at": store.now(), "expected_seq": version.seq,
        "revision": version.revision, "request_id": name,
        "rows": [move(name)], "state": name.encode(), "messages": [new_message(name)],
        "result": b"done " + name.encode(),
    }  # fmt: skip
    return MoveCommit(**(base | details))  # type: ignore[arg-type]


def count_commits(store: Store) -> list[object]:
    """A list that grows with every commit from now on."""
    seen: list[object] = []
    announce = store._move_writer._announce

    def counted() -> None:
        seen.append(None)
        announce()

    store._move_writer._announce = counted
    return seen


async def test_a_move_is_committed_as_a_whole(store: Store, clock: ManualClock) -> None:
    table = await new_table(store)
    await store.commit_move(await move_commit(store, table, "r"))
    async with store.read() as unit:
        head = await unit.move_log.snapshot(table)
        (row,) = await unit.move_log.rows(table)
        message = await unit.outbox.get("r")
        assert await unit.move_log.request_result("r") == b"done r"
    assert (head.seq, head.current_move, head.state) == (1, 1, b"r")
    assert (row.seq, row.created_at, row.kind, row.line, row.request_id) == (1, clock.at, "move", "pass", "r")
    assert message is not None
    assert (message.status, message.address, message.not_before) == ("pending", {"to": "ann"}, clock.at)


async def test_commits_that_wait_share_a_commit_and_fail_alone(store: Store) -> None:
    tables = [await new_table(store) for _ in range(20)]
    commits = [await move_commit(store, table, f"r{table}") for table in tables]
    commits[3] = await move_commit(store, tables[3], "late", expected_seq=7)
    commits[5] = await move_commit(store, tables[5], f"r{tables[4]}")
    commits[6] = await move_commit(store, 999, "nowhere", expected_seq=0)
    commits[7] = await move_commit(store, tables[7], "nobody", rows=[LogRow(transport="mail", person_id=77)])
    counted = count_commits(store)
    results = await asyncio.gather(*map(store.commit_move, commits), return_exceptions=True)
    assert isinstance(results[3], WriteConflict) and isinstance(results[5], DuplicateRequest)
    assert isinstance(results[6], NotFound) and "FOREIGN KEY" in str(results[7]).upper()
    assert [n for n, result in enumerate(results) if result is not None] == [3, 5, 6, 7]
    assert len(counted) <= 2
    seqs = [(await store.table_version(table)).seq for table in tables]
    assert [n for n, seq in enumerate(seqs) if seq == 0] == [3, 5, 6, 7]
    async with store.read() as unit:
        assert await unit.outbox.get("late") is None
        assert await unit.move_log.request_result("nobody") is None
        assert (await unit.outbox.queue_status("mail")).pending == 16


async def test_a_move_for_a_store_that_was_replaced_is_a_conflict(store: Store) -> None:
    """Alone, and beside others that are stored."""
    tables = [await new_table(store) for _ in range(3)]
    store_id = (await store.table_version(tables[0])).store_id
    late = await move_commit(store, tables[0], "late", store_id="another store")
    with pytest.raises(WriteConflict):
        await store.commit_move(late)
    others = [await move_commit(store, table, f"r{table}", store_id=store_id) for table in tables[1:]]
    results = await asyncio.gather(*map(store.commit_move, [late, *others]), return_exceptions=True)
    assert [type(result) for result in results] == [WriteConflict, type(None), type(None)]
    assert [(await store.table_version(table)).seq for table in tables] == [0, 1, 1]


async def test_nothing_is_reported_before_the_commit(store: Store) -> None:
    tables = [await new_table(store) for _ in range(6)]

    async def say(table: int) -> int | None:
        await store.commit_move(await move_commit(store, table, f"r{table}"))
        return await seq_elsewhere(store, table)

    assert await asyncio.gather(*map(say, tables)) == [1] * 6


async def test_a_version_check_finds_the_stored_result(store: Store) -> None:
    table = await new_table(store)
    await store.commit_move(await move_commit(store, table, "r"))
    assert (await store.table_version(table, "r")).stored_result == b"done r"
    assert (await store.table_version(table, "other")).stored_result is None
    assert (await store.table_version(999)).seq is None


async def test_the_revision_of_a_table_is_not_changed_by_moves_plans_and_messages(store: Store) -> None:
    table = await new_table(store)
    before = await store.table_version(table)
    await store.commit_move(await move_commit(store, table, "r"))
    async with store.begin() as unit:
        await unit.move_log.append(table, 1, [move()], b"s")
        await unit.outbox.enqueue(new_message("p"))
        await unit.tables.set_card(table, "turn", {"message": 1})
        await unit.facts.set("plans", table, (await unit.people.add("Ann")).id, {"lines": ["pass"]})
    after = await store.table_version(table)
    assert (after.store_id, after.revision, after.seq) == (before.store_id, before.revision, 2)


async def update_table(unit: UnitOfWork, table: int, person: int) -> None:
    await unit.tables.update(table, status="running")


async def update_person(unit: UnitOfWork, table: int, person: int) -> None:
    await unit.people.update(person, name="Anna")


async def add_address(unit: UnitOfWork, table: int, person: int) -> None:
    await unit.people.add_identity(person, "email", "ann@example.org")


async def remove_identity(unit: UnitOfWork, table: int, person: int) -> None:
    assert await unit.people.remove_identity(person, "discord", "1")


async def merge_people(unit: UnitOfWork, table: int, person: int) -> None:
    await unit.people.merge((await unit.people.add("Kept")).id, person)


async def add_seat(unit: UnitOfWork, table: int, person: int) -> None:
    await unit.tables.add_seat(table, (await unit.people.add("Bob")).id, "Bob")


async def assign_seats(unit: UnitOfWork, table: int, person: int) -> None:
    await unit.tables.assign_seat_numbers(table, [seat.id for seat in await unit.tables.seats(table)])


async def vacate_seat(unit: UnitOfWork, table: int, person: int) -> None:
    await unit.tables.vacate_seat((await unit.tables.seats(table))[0].id)


async def open_poll(unit: UnitOfWork, table: int, person: int) -> None:
    await unit.polls.open(table, "end", [0], {})


async def vote(unit: UnitOfWork, table: int, person: int) -> None:
    (poll,) = await unit.polls.open_polls(table)
    await unit.polls.cast_vote(poll.poll.id, 0, True)


async def close_poll(unit: UnitOfWork, table: int, person: int) -> None:
    (poll,) = await unit.polls.open_polls(table)
    await unit.polls.close(poll.poll.id, "passed")


CHANGES = [
    update_table, update_person, add_address, remove_identity, merge_people, add_seat,
    assign_seats, vacate_seat, vote, close_poll, open_poll,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
async def test_every_other_change_renews_the_revision_of_its_table_only(
    store: Store, change: Callable[[UnitOfWork, int, int], Awaitable[None]]
) -> None:
    table, other = await new_table(store), await new_table(store)
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        await unit.people.add_identity(ann.id, "discord", "1")
        await unit.tables.add_seat(table, ann.id, "Ann")
        if change is not open_poll:
            await unit.polls.open(table, "end", [0], {})
    before, elsewhere = await store.table_version(table), await store.table_version(other)
    async with store.begin() as unit:
        await change(unit, table, ann.id)
    assert (await store.table_version(table)).revision > before.revision
    assert (await store.table_version(other)) == elsewhere


async def test_a_text_that_cannot_be_stored_fails_alone(store: Store) -> None:
    """Half of a surrogate pair; the commits beside it are stored, and the checks beside it answered."""
    tables = [await new_table(store) for _ in range(3)]
    commits = [await move_commit(store, table, f"r{table}") for table in tables]
    commits[1] = replace(commits[1], rows=[move()._replace(line="pass \ud800")])
    results = await asyncio.gather(*map(store.commit_move, commits), return_exceptions=True)
    assert results[0] is None and isinstance(results[1], StoreError) and results[2] is None
    versions = await asyncio.gather(
        store.table_version(tables[0]), store.table_version(tables[1], "\ud800"), return_exceptions=True
    )
    assert not isinstance(versions[0], BaseException) and versions[0].seq == 1
    assert isinstance(versions[1], StoreError)
    with pytest.raises(StoreError, match="cannot be stored"):
        async with store.begin() as unit:
            await unit.people.add("\ud800")


async def test_a_commit_based_on_old_data_is_a_conflict(store: Store, address: str) -> None:
    table = await new_table(store)
    mine = await move_commit(store, table, "r")
    async with await open_store(address) as other, other.begin() as unit:
        await unit.tables.update(table, status="ended")
    with pytest.raises(WriteConflict):
        await store.commit_move(mine)
    assert (await store.table_version(table)).seq == 0


async def test_a_unit_of_work_commits_a_move_with_its_other_changes(store: Store) -> None:
    table = await new_table(store)
    mine = await move_commit(store, table, "r")
    with pytest.raises(ZeroDivisionError):
        async with store.begin() as unit:
            await unit.commit_move(mine)
            raise ZeroDivisionError
    assert (await store.table_version(table, "r")).stored_result is None
    async with store.begin() as unit:
        await unit.tables.update(table, status="running")
        await unit.commit_move(mine)
    assert (await store.table_version(table, "r")).stored_result == b"done r"


async def test_a_commit_inside_a_unit_of_work_is_refused_not_waited_for(store: Store) -> None:
    table = await new_table(store)
    mine = await move_commit(store, table, "r")
    async with store.begin():
        with pytest.raises(RuntimeError, match="inside a transaction"):
            await store.commit_move(mine)


async def test_a_lost_transaction_fails_the_batch_and_no_further_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [await new_table(store) for _ in range(3)]
    commits = [await move_commit(store, table, f"r{table}") for table in tables]

    def full(connection: Connection, *_: object) -> int:
        connection.exec_driver_sql("ROLLBACK")  # as SQLite does by itself where the disk is full
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("storage.repositories.outbox.enqueue_messages", full)
        results = await asyncio.gather(*map(store.commit_move, commits), return_exceptions=True)
    assert all(isinstance(result, StoreError) for result in results)
    assert [(await store.table_version(table)).seq for table in tables] == [0, 0, 0]
    await asyncio.gather(*map(store.commit_move, commits))
    assert [(await store.table_version(table)).seq for table in tables] == [1, 1, 1]


@pytest.mark.parametrize("delay", range(12))
async def test_a_cancelled_task_takes_no_other_with_it(store: Store, delay: int) -> None:
    tables = [await new_table(store) for _ in range(3)]
    commits = [await move_commit(store, table, f"r{table}") for table in tables]
    tasks = [asyncio.create_task(store.commit_move(each)) for each in commits]
    for _ in range(delay):
        await asyncio.sleep(0.0002)
    tasks[delay % 3].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for index, table in enumerate(tables):
        if index != delay % 3:
            assert results[index] is None
            assert (await store.table_version(table)).seq == 1
