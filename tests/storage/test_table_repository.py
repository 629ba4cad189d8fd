"""Tables, seats, cards, polls."""

from typing import Any

import pytest

from storage import AlreadyExists, LogRow, NotFound, Store, StoreError, TableStatus
from tests.storage.conftest import ManualClock, new_table
from tests.stores import run_sql, sqlite_only


async def test_codes_are_short_unique_and_no_numbers(store: Store) -> None:
    async with store.begin() as unit:
        codes = [(await unit.tables.add("t", str(n))).code for n in range(200)]
        assert len(set(codes)) == 200
        assert all(len(code) == 3 and code[0].isalpha() and not set(code) & set("01OIL") for code in codes)
        table = await unit.tables.by_code(f" {codes[7].lower()} ")
        assert table is not None and table.name == "7"
        assert await unit.tables.by_code("0") is None


async def test_a_table_changes_its_status(store: Store) -> None:
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        table = await unit.tables.add("t", "Friday", ann.id, ["fast"])
        assert (table.status, table.host_id, table.options) == ("lobby", ann.id, ["fast"])
        await unit.tables.update(table.id, status="running", seed=2**62, location={"guild": 1, "thread": 2})
    async with store.read() as unit:
        table = await unit.tables.get(table.id)
        assert (table.status, table.seed, table.location) == ("running", 2**62, {"guild": 1, "thread": 2})
        assert [found.id for found in await unit.tables.find("running", "paused")] == [table.id]
        assert await unit.tables.find("lobby") == []
        with pytest.raises(NotFound):
            await unit.tables.get(77)


async def test_an_unknown_status(store: Store) -> None:
    table = await new_table(store)
    with pytest.raises(Exception, match=r"(?i)check"):
        async with store.begin() as unit:
            await unit.tables.update(table, status="lost")  # type: ignore[arg-type]


async def test_seating_numbers_the_seats(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        people = [await unit.people.add(name) for name in ("Ann", "Bob", "Cid")]
        seats = [await unit.tables.add_seat(table, person.id, person.name) for person in people]
        await unit.tables.assign_seat_numbers(table, [seats[2].id, seats[0].id, seats[1].id])
        assert [(s.number, s.name) for s in await unit.tables.seats(table)] == [
            (0, "Cid"),
            (1, "Ann"),
            (2, "Bob"),
        ]
        await unit.tables.assign_seat_numbers(table, [seat.id for seat in seats])
        assert [seat.name for seat in await unit.tables.seats(table)] == ["Ann", "Bob", "Cid"]
        for wrong in ([seats[0].id], [seats[0].id, seats[1].id, 99]):
            with pytest.raises(StoreError, match="every seat"):
                await unit.tables.assign_seat_numbers(table, wrong)


async def test_a_name_is_unique_while_its_player_sits(store: Store) -> None:
    table, other = await new_table(store), await new_table(store)
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        seat = await unit.tables.add_seat(table, ann.id, "Ann")
        await unit.tables.add_seat(other, ann.id, "Ann")
        with pytest.raises(AlreadyExists, match="Ann"):
            await unit.tables.add_seat(table, ann.id, "Ann")
        await unit.tables.vacate_seat(seat.id)
        await unit.tables.add_seat(table, ann.id, "Ann")
        with pytest.raises(NotFound):
            await unit.tables.vacate_seat(seat.id)


async def test_a_replacement_takes_over_and_the_former_stays_on_record(
    store: Store, clock: ManualClock
) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        ann, bob = await unit.people.add("Ann"), await unit.people.add("Bob")
        seat = await unit.tables.add_seat(table, ann.id, "Ann", 0)
    start = clock.at
    clock.advance(hours=5)
    async with store.begin() as unit:
        await unit.tables.vacate_seat(seat.id)
        await unit.tables.add_seat(table, bob.id, seat.name, seat.number)
    async with store.read() as unit:
        (now,) = await unit.tables.seats(table)
        assert (now.person_id, now.number, now.name, now.joined_at) == (bob.id, 0, "Ann", clock.at)
        former = await unit.tables.seats(table, former=True)
        assert [(s.person_id, s.joined_at, s.left_at) for s in former] == [
            (ann.id, start, clock.at),
            (bob.id, clock.at, None),
        ]
        assert await unit.tables.for_person(ann.id) == []
        assert [(t.id, s.id) for t, s in await unit.tables.for_person(bob.id)] == [(table, now.id)]


async def test_an_invited_person_has_not_joined_yet(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        seat = await unit.tables.add_seat(table, ann.id, "Ann", invited=True)
        assert seat.joined_at is None
        await unit.tables.vacate_seat(seat.id)
        await unit.tables.add_seat(table, ann.id, "Ann")
        assert [each.joined_at for each in await unit.tables.seats(table)] == [unit.now]


async def test_a_slot_has_one_card(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        await unit.tables.set_card(table, "turn", {"message": 1})
        await unit.tables.set_card(table, "turn", {"message": 2})
        await unit.tables.set_card(table, "lobby", {"message": 3})
    async with store.begin() as unit:
        card = await unit.tables.card(table, "turn")
        assert card is not None and card.message_ref == {"message": 2}
        assert [card.slot for card in await unit.tables.cards(table)] == ["lobby", "turn"]
        await unit.tables.remove_card(table, "turn")
        await unit.tables.remove_card(table, "turn")
        assert [card.slot for card in await unit.tables.cards(table)] == ["lobby"]


async def test_a_poll_takes_votes_until_it_is_closed(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        opened = await unit.polls.open(table, "undo", [1, 2], {"rewinds_to": 4}, proposer_seat=0)
        assert opened.votes == {1: None, 2: None}
    async with store.begin() as unit:
        with pytest.raises(AlreadyExists, match="undo"):
            await unit.polls.open(table, "undo", [1], {})
        await unit.polls.open(table, "pause", [0, 1, 2], {})
        assert (await unit.polls.cast_vote(opened.poll.id, 1, True)).votes == {1: True, 2: None}
        assert (await unit.polls.cast_vote(opened.poll.id, 2, False)).votes == {1: True, 2: False}
        with pytest.raises(NotFound):
            await unit.polls.cast_vote(opened.poll.id, 0, True)
    async with store.begin() as unit:
        undo, pause = await unit.polls.open_polls(table)
        assert undo.poll.details == {"rewinds_to": 4} and undo.votes == {1: True, 2: False}
        assert pause.poll.kind == "pause"
        assert await unit.polls.close(opened.poll.id, "refused")
        assert not await unit.polls.close(opened.poll.id, "carried")
        with pytest.raises(NotFound):
            await unit.polls.cast_vote(opened.poll.id, 1, False)
        assert [poll.poll.kind for poll in await unit.polls.open_polls(table)] == ["pause"]
        assert (await unit.polls.get(opened.poll.id)).poll.outcome == "refused"
        await unit.polls.open(table, "undo", [1], {})


async def test_14_10_tables_are_found_by_place_and_person(store: Store) -> None:
    async with store.begin() as unit:
        ann, bob = await unit.people.add("Ann"), await unit.people.add("Bob")
        first = await unit.tables.add("t", "First", host_id=ann.id)
        second = await unit.tables.add("t", "Second")
        await unit.tables.update(first.id, location={"guild": 2**60, "channel": 6})
        await unit.tables.update(second.id, location={"guild": 2**60, "thread": 7}, status="running")
        await unit.tables.add_seat(second.id, bob.id, "Bob")

        async def found(*statuses: TableStatus, **criteria: Any) -> list[str]:
            return [table.name for table in await unit.tables.find(*statuses, **criteria)]

        assert await found() == ["First", "Second"]
        assert await found(location=("guild", 2**60)) == ["First", "Second"]
        assert await found(location=("thread", 7)) == ["Second"]
        assert await found(location=("thread", None)) == []
        assert await found("running", location=("channel", 6)) == []
        assert await found(person_id=ann.id) == ["First"]
        assert await found(person_id=bob.id) == ["Second"]
        assert await unit.tables.ids("lobby", "running") == [first.id, second.id]
        await unit.tables.update(second.id, location={})
        assert await found(location=("thread", 7)) == []


@pytest.mark.parametrize("column", ["guild", "channel", "thread", "host_id"])
@sqlite_only
async def test_14_10_an_index_finds_them(store: Store, column: str) -> None:
    async with store.read() as unit:
        plan = await run_sql(unit, f"EXPLAIN QUERY PLAN SELECT * FROM game_tables WHERE {column} = 5")
        assert f"ix_game_tables_{column}" in str(plan)


async def test_14_10_only_tables_with_something_new_have_older_cards(
    store: Store, clock: ManualClock
) -> None:
    """After a start the cards of these tables alone are looked at."""
    async with store.begin() as unit:
        quiet, changed = [(await unit.tables.add("1830", name)).id for name in ("Quiet", "Changed")]
        for table in (quiet, changed):
            await unit.tables.update(table, status="running", location={"thread": 100 + table})
            await unit.move_log.append(table, 0, [LogRow(transport="t", line="pass")], b"s")
    clock.advance(minutes=1)
    async with store.begin() as unit:
        for table in (quiet, changed):
            await unit.tables.set_card(table, "turn:0", {"whole": 1})
            await unit.tables.set_card(table, "run", {})
    clock.advance(minutes=1)
    async with store.begin() as unit:
        await unit.move_log.append(changed, 1, [LogRow(transport="t", line="pass")], b"s")
        await unit.tables.set_card(quiet, "old:5", {})
    async with store.read() as unit:
        besides = ("run", "old:5")
        assert await unit.tables.with_older_cards("running", besides=besides, whole="whole") == [changed]
        assert await unit.tables.with_older_cards("paused", besides=besides, whole="whole") == []
        assert await unit.tables.with_older_cards("paused", besides=("run",), whole="whole") == [quiet]
        assert await unit.tables.threads("running") == [100 + quiet, 100 + changed]
