"""The log of a table: appended to with an expected sequence, never changed."""

import asyncio

import pytest
from sqlalchemy.exc import IntegrityError
from sqlmodel import insert, select

from storage import (
    DuplicateRequest,
    LogRow,
    MoveRecord,
    NotFound,
    Store,
    StoreError,
    UnitOfWork,
    WriteConflict,
    resolve_line_of_play,
)
from storage.models import TableSnapshot
from tests.storage.conftest import ManualClock, move, new_table, rewind


async def played(unit: UnitOfWork, table: int) -> list[str]:
    rows = await unit.move_log.rows(table)
    return [row.line for row in rows if row.seq in resolve_line_of_play(rows).played]


async def test_a_move_and_its_state_are_stored(store: Store, clock: ManualClock) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        [row] = await unit.move_log.append(table, 0, [move("r1", "buy SV")], b"after")
        assert row.seq == 1
    async with store.read() as unit:
        head = await unit.move_log.snapshot(table)
        (row,) = await unit.move_log.rows(table)
    assert (head.seq, head.current_move, head.state) == (1, 1, b"after")
    assert (row.seq, row.kind, row.line, row.events, row.request_id) == (1, "move", "buy SV", b"buy SV", "r1")
    assert row.created_at == clock.at


async def test_several_lines_take_consecutive_places(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        rows = await unit.move_log.append(table, 0, [move("m#1"), move("m#2"), move("m#3")], b"s")
        assert [row.seq for row in rows] == [1, 2, 3]
    async with store.read() as unit:
        assert [row.seq for row in await unit.move_log.rows(table)] == [1, 2, 3]


async def test_an_append_based_on_old_data_is_a_conflict(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        await unit.move_log.append(table, 0, [move()], b"one")
    with pytest.raises(WriteConflict) as stale:
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move()], b"two")
    assert (stale.value.expected_seq, stale.value.actual_seq) == (0, 1)
    async with store.read() as unit:
        assert (await unit.move_log.snapshot(table)).state == b"one"
        assert len(await unit.move_log.rows(table)) == 1


async def test_of_two_appends_at_once_one_is_a_conflict(store: Store) -> None:
    table = await new_table(store)

    async def say(line: str) -> str:
        async with store.begin() as unit:
            await asyncio.sleep(0)
            await unit.move_log.append(table, 0, [move(line, line)], line.encode())
        return line

    said = await asyncio.gather(say("a"), say("b"), return_exceptions=True)
    assert [type(result) for result in said] == [str, WriteConflict]
    async with store.read() as unit:
        assert await played(unit, table) == ["a"]


async def test_a_request_is_unique_over_the_store(store: Store) -> None:
    first, second = await new_table(store), await new_table(store)
    async with store.begin() as unit:
        await unit.move_log.append(first, 0, [move("same")], b"")
    with pytest.raises(DuplicateRequest, match="same"):
        async with store.begin() as unit:
            await unit.move_log.append(second, 0, [move("same")], b"")
    with pytest.raises(DuplicateRequest):
        async with store.begin() as unit:
            await unit.move_log.append(second, 0, [move("twice"), move("twice")], b"")
    async with store.read() as unit:
        assert (await unit.move_log.snapshot(second)).seq == 0


async def test_the_database_itself_refuses_a_second_row_of_a_sequence(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        await unit.move_log.append(table, 0, [move()], b"")
        row = move()._asdict() | {"table_id": table, "seq": 1, "at": unit.now}
        with pytest.raises(IntegrityError):
            await unit._transaction.execute(insert(MoveRecord), row)


@pytest.mark.parametrize("entry", [rewind("undo", 0)._replace(rewinds_to=None),
                                   move()._replace(rewinds_to=0)])  # fmt: skip
async def test_only_undo_and_redo_rewind(store: Store, entry: LogRow) -> None:
    table = await new_table(store)
    with pytest.raises(StoreError, match="rewinds_to"):
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [entry], b"")


async def test_undo_and_redo_append(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        await unit.move_log.append(table, 0, [move(line="a"), move(line="b"), move(line="c")], b"abc")
    async with store.begin() as unit:
        await unit.move_log.append(table, 3, [rewind("undo", 1)], b"a")
    async with store.read() as unit:
        assert await played(unit, table) == ["a"]
        head = await unit.move_log.snapshot(table)
        assert (head.seq, head.current_move, head.state) == (4, 1, b"a")
    async with store.begin() as unit:
        await unit.move_log.append(table, 4, [rewind("redo", 3)], b"abc")
        assert await played(unit, table) == ["a", "b", "c"]
        assert (await unit.move_log.snapshot(table)).current_move == 3
        await unit.move_log.append(table, 5, [rewind("undo", 2), move(line="d")], b"abd")
        assert await played(unit, table) == ["a", "b", "d"]
    with pytest.raises(StoreError, match="not on the line"):
        async with store.begin() as unit:
            await unit.move_log.append(table, 7, [rewind("redo", 3)], b"")
    async with store.read() as unit:
        assert (await unit.move_log.snapshot(table)).seq == 7


async def test_a_note_leaves_the_line_of_play_as_it_is(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        await unit.move_log.append(
            table, 0, [move(), LogRow(kind="note", transport="mail", raw_line="hello")], b"s"
        )
        assert (await unit.move_log.snapshot(table)).current_move == 1
        assert (await unit.move_log.snapshot(table)).seq == 2


async def test_a_repeated_request_gets_its_stored_result(store: Store) -> None:
    async with store.begin() as unit:
        assert await unit.move_log.request_result("r") is None
        await unit.move_log.save_request_result("r", b"done")
    async with store.begin() as unit:
        assert await unit.move_log.request_result("r") == b"done"
    with pytest.raises(DuplicateRequest):
        async with store.begin() as unit:
            await unit.move_log.save_request_result("r", b"else")
    async with store.read() as unit:
        assert await unit.move_log.request_result("r") == b"done"


async def test_an_unknown_table(store: Store) -> None:
    with pytest.raises(NotFound, match="no table 99"):
        async with store.begin() as unit:
            await unit.move_log.append(99, 0, [move()], b"")
    async with store.read() as unit:
        assert await unit._transaction.all(select(TableSnapshot)) == []
