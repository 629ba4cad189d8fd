"""Deeds of many tables in one commit; glances that say whether what is in memory still holds."""

import asyncio

import pytest

from storage import Deed, Entry, Missing, Repeated, Stale, Store, StoreError, open_store
from storage.deeds import keep
from storage.direct import Through
from tests.storage.conftest import Clock, move, new_table, parcel, seq_elsewhere


async def deed(store: Store, table: int, name: str, **details: object) -> Deed:
    """A move with all that goes with one."""
    seen = await store.glance(table)
    base = {
        "table": table, "at": store.now(), "expected": seen.seq, "mark": seen.mark, "request": name,
        "entries": [move(name)], "state": name.encode(), "parcels": [parcel(name)],
        "answer": b"done " + name.encode(),
    }  # fmt: skip
    return Deed(**(base | details))  # type: ignore[arg-type]


def commits(store: Store) -> list[object]:
    """Grows with every commit from now on."""
    seen: list[object] = []
    driver = store._writer._commit

    async def counted(group: object) -> None:
        seen.append(group)
        await driver(group)  # type: ignore[arg-type]

    store._writer._commit = counted  # type: ignore[method-assign]
    return seen


async def test_a_deed_is_there_as_a_whole(store: Store, clock: Clock) -> None:
    table = await new_table(store)
    await store.record(await deed(store, table, "r"))
    async with store.read() as unit:
        head = await unit.moves.head(table)
        (row,) = await unit.moves.rows(table)
        message = await unit.outbox.get("r")
        assert await unit.moves.answered("r") == b"done r"
    assert (head.seq, head.stands_at, head.state) == (1, 1, b"r")
    assert (row.seq, row.at, row.kind, row.line, row.request) == (1, clock.at, "move", "pass", "r")
    assert message is not None
    assert (message.state, message.address, message.not_before) == ("pending", {"to": "ann"}, clock.at)


async def test_deeds_that_wait_share_a_commit_and_fail_alone(store: Store) -> None:
    tables = [await new_table(store) for _ in range(20)]
    deeds = [await deed(store, table, f"r{table}") for table in tables]
    deeds[3] = await deed(store, tables[3], "late", expected=7)
    deeds[5] = await deed(store, tables[5], f"r{tables[4]}")
    deeds[6] = await deed(store, 999, "nowhere", expected=0)
    deeds[7] = await deed(store, tables[7], "nobody", entries=[Entry(transport="mail", person_id=77)])
    counted = commits(store)
    results = await asyncio.gather(*map(store.record, deeds), return_exceptions=True)
    assert isinstance(results[3], Stale) and isinstance(results[5], Repeated)
    assert isinstance(results[6], Missing) and "FOREIGN KEY" in str(results[7]).upper()
    assert [n for n, result in enumerate(results) if result is not None] == [3, 5, 6, 7]
    assert len(counted) <= 2
    seqs = [(await store.glance(table)).seq for table in tables]
    assert [n for n, seq in enumerate(seqs) if seq == 0] == [3, 5, 6, 7]
    async with store.read() as unit:
        assert await unit.outbox.get("late") is None
        assert await unit.moves.answered("nobody") is None
        assert (await unit.outbox.queue("mail")).pending == 16


async def test_nothing_is_told_before_the_commit(store: Store) -> None:
    tables = [await new_table(store) for _ in range(6)]

    async def say(table: int) -> int | None:
        await store.record(await deed(store, table, f"r{table}"))
        return await seq_elsewhere(store, table)

    assert await asyncio.gather(*map(say, tables)) == [1] * 6


async def test_a_glance_shows_what_was_answered(store: Store) -> None:
    table = await new_table(store)
    await store.record(await deed(store, table, "r"))
    assert (await store.glance(table, "r")).answer == b"done r"
    assert (await store.glance(table, "other")).answer is None
    assert (await store.glance(999)).seq is None


async def test_the_mark_changes_with_people_and_tables_not_with_moves(store: Store) -> None:
    table = await new_table(store)
    before = await store.glance(table)
    await store.record(await deed(store, table, "r"))
    async with store.begin() as unit:
        await unit.moves.append(table, 1, [move()], b"s")
        await unit.outbox.enqueue(parcel("p"))
        await unit.games.put_card(table, "turn", {"message": 1})
    after = await store.glance(table)
    assert (after.incarnation, after.mark, after.seq) == (before.incarnation, before.mark, 2)
    marks = {after.mark}
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
    marks.add((await store.glance(table)).mark)
    async with store.begin() as unit:
        await unit.people.change(ann.id, name="Anna")
    marks.add((await store.glance(table)).mark)
    async with store.begin() as unit:
        await unit.games.sit(table, ann.id, "Anna")
    marks.add((await store.glance(table)).mark)
    assert len(marks) == 4


async def test_a_deed_that_rests_on_what_has_changed_is_stale(store: Store, address: str) -> None:
    table = await new_table(store)
    mine = await deed(store, table, "r")
    async with await open_store(address) as other, other.begin() as unit:
        await unit.games.change(table, status="ended")
    with pytest.raises(Stale):
        await store.record(mine)
    assert (await store.glance(table)).seq == 0


async def test_a_unit_records_a_deed_with_what_else_it_does(store: Store) -> None:
    table = await new_table(store)
    mine = await deed(store, table, "r")
    with pytest.raises(ZeroDivisionError):
        async with store.begin() as unit:
            await unit.record(mine)
            raise ZeroDivisionError
    assert (await store.glance(table, "r")).answer is None
    async with store.begin() as unit:
        await unit.games.change(table, status="running")
        await unit.record(mine)
    assert (await store.glance(table, "r")).answer == b"done r"


async def test_a_deed_inside_a_unit_is_refused_not_waited_for(store: Store) -> None:
    table = await new_table(store)
    mine = await deed(store, table, "r")
    async with store.begin():
        with pytest.raises(RuntimeError, match="inside a unit"):
            await store.record(mine)


async def test_a_lost_transaction_fails_the_lot_and_no_further_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [await new_table(store) for _ in range(3)]
    deeds = [await deed(store, table, f"r{table}") for table in tables]

    def full(execute: Through, *_: object) -> int:
        execute.plainly("ROLLBACK")  # as SQLite does by itself where the disk is full
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("storage.outbox.enqueue", full)
        results = await asyncio.gather(*map(store.record, deeds), return_exceptions=True)
    assert all(isinstance(result, StoreError) for result in results)
    assert [(await store.glance(table)).seq for table in tables] == [0, 0, 0]
    await asyncio.gather(*map(store.record, deeds))
    assert [(await store.glance(table)).seq for table in tables] == [1, 1, 1]


@pytest.mark.parametrize("delay", range(12))
async def test_a_cancelled_task_takes_no_other_with_it(store: Store, delay: int) -> None:
    tables = [await new_table(store) for _ in range(3)]
    deeds = [await deed(store, table, f"r{table}") for table in tables]
    tasks = [asyncio.create_task(store.record(each)) for each in deeds]
    for _ in range(delay):
        await asyncio.sleep(0.0002)
    tasks[delay % 3].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for index, table in enumerate(tables):
        if index != delay % 3:
            assert results[index] is None
            assert (await store.glance(table)).seq == 1


async def test_other_databases_carry_out_the_same_job(store: Store) -> None:
    """What SQLAlchemy does a statement at a time leaves the same rows."""
    tables = [await new_table(store) for _ in range(2)]
    direct, through = [await deed(store, table, f"r{table}") for table in tables]
    await store.record(direct)
    async with store.begin() as unit:
        await unit._work.connection.run_sync(lambda connection: keep(through, Through(connection)))
    async with store.read() as unit:
        rows = [(await unit.moves.rows(table))[0]._replace(request=None) for table in tables]
        heads = [await unit.moves.head(table) for table in tables]
        parcels = [await unit.outbox.get(f"r{table}") for table in tables]
    assert rows[0] == rows[1]._replace(at=rows[0].at)
    assert [(head.seq, head.stands_at) for head in heads] == [(1, 1)] * 2
    one, two = (each.model_dump(exclude={"id", "key", "payload"}) for each in parcels if each)
    assert one == two
    with pytest.raises(Repeated):
        async with store.begin() as unit:
            again = await deed(store, tables[0], f"r{tables[1]}")
            await unit._work.connection.run_sync(lambda connection: keep(again, Through(connection)))
