"""Tables, seats, cards, votes."""

import pytest

from storage import Missing, Store, StoreError, Taken
from tests.storage.conftest import Clock, new_table


async def test_codes_are_short_unique_and_no_numbers(store: Store) -> None:
    async with store.begin() as unit:
        codes = [(await unit.games.add("t", str(n))).code for n in range(200)]
        assert len(set(codes)) == 200
        assert all(len(code) == 3 and code[0].isalpha() and not set(code) & set("01OIL") for code in codes)
        table = await unit.games.by_code(f" {codes[7].lower()} ")
        assert table is not None and table.name == "7"
        assert await unit.games.by_code("0") is None


async def test_a_table_goes_through_its_states(store: Store) -> None:
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        table = await unit.games.add("t", "Friday", ann.id, ["fast"])
        assert (table.status, table.host_id, table.options) == ("lobby", ann.id, ["fast"])
        await unit.games.change(table.id, status="running", seed=2**62, place={"guild": 1, "thread": 2})
    async with store.read() as unit:
        table = await unit.games.get(table.id)
        assert (table.status, table.seed, table.place) == ("running", 2**62, {"guild": 1, "thread": 2})
        assert [found.id for found in await unit.games.all("running", "paused")] == [table.id]
        assert await unit.games.all("lobby") == []
        with pytest.raises(Missing):
            await unit.games.get(77)


async def test_a_state_that_does_not_exist(store: Store) -> None:
    table = await new_table(store)
    with pytest.raises(Exception, match=r"(?i)check"):
        async with store.begin() as unit:
            await unit.games.change(table, status="lost")  # type: ignore[arg-type]


async def test_seating_numbers_the_seats(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        people = [await unit.people.add(name) for name in ("Ann", "Bob", "Cid")]
        seats = [await unit.games.sit(table, person.id, person.name) for person in people]
        await unit.games.number(table, [seats[2].id, seats[0].id, seats[1].id])
        assert [(s.number, s.name) for s in await unit.games.seats(table)] == [
            (0, "Cid"),
            (1, "Ann"),
            (2, "Bob"),
        ]
        await unit.games.number(table, [seat.id for seat in seats])
        assert [seat.name for seat in await unit.games.seats(table)] == ["Ann", "Bob", "Cid"]
        for wrong in ([seats[0].id], [seats[0].id, seats[1].id, 99]):
            with pytest.raises(StoreError, match="every seat"):
                await unit.games.number(table, wrong)


async def test_a_name_is_one_persons_while_he_sits(store: Store) -> None:
    table, other = await new_table(store), await new_table(store)
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        seat = await unit.games.sit(table, ann.id, "Ann")
        await unit.games.sit(other, ann.id, "Ann")
        with pytest.raises(Taken, match="Ann"):
            await unit.games.sit(table, ann.id, "Ann")
        await unit.games.leave(seat.id)
        await unit.games.sit(table, ann.id, "Ann")
        with pytest.raises(Missing):
            await unit.games.leave(seat.id)


async def test_a_replacement_takes_over_and_the_former_stays_on_record(store: Store, clock: Clock) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        ann, bob = await unit.people.add("Ann"), await unit.people.add("Bob")
        seat = await unit.games.sit(table, ann.id, "Ann", 0)
    start = clock.at
    clock.pass_by(hours=5)
    async with store.begin() as unit:
        await unit.games.replace(seat.id, bob.id)
    async with store.read() as unit:
        (now,) = await unit.games.seats(table)
        assert (now.person_id, now.number, now.name, now.joined) == (bob.id, 0, "Ann", clock.at)
        former = await unit.games.seats(table, former=True)
        assert [(s.person_id, s.joined, s.left_at) for s in former] == [
            (ann.id, start, clock.at),
            (bob.id, clock.at, None),
        ]
        assert await unit.games.of_person(ann.id) == []
        assert [(t.id, s.id) for t, s in await unit.games.of_person(bob.id)] == [(table, now.id)]


async def test_an_invitation_is_accepted(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        seat = await unit.games.sit(table, ann.id, "Ann", invited=True)
        assert seat.joined is None
        await unit.games.accept(seat.id)
        assert (await unit.games.seats(table))[0].joined == unit.now


async def test_one_message_carries_the_controls_of_a_slot(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        assert await unit.games.put_card(table, "turn", {"message": 1}, "d1") is None
        former = await unit.games.put_card(table, "turn", {"message": 2}, "d2")
        assert former is not None and (former.ref, former.decision) == ({"message": 1}, "d1")
        await unit.games.put_card(table, "lobby", {"message": 3})
    async with store.begin() as unit:
        card = await unit.games.card(table, "turn")
        assert card is not None and card.ref == {"message": 2}
        assert [card.slot for card in await unit.games.cards(table)] == ["lobby", "turn"]
        assert (await unit.games.drop_card(table, "turn")) == card
        assert await unit.games.drop_card(table, "turn") is None


async def test_a_vote_gathers_voices_until_it_is_closed(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        opened = await unit.votes.open(table, "undo", [1, 2], {"stands_at": 4}, seat=0)
        assert opened.voices == {1: None, 2: None}
    async with store.begin() as unit:
        with pytest.raises(Taken, match="undo"):
            await unit.votes.open(table, "undo", [1], {})
        await unit.votes.open(table, "pause", [0, 1, 2], {})
        assert (await unit.votes.answer(opened.vote.id, 1, True)).voices == {1: True, 2: None}
        assert (await unit.votes.answer(opened.vote.id, 2, False)).voices == {1: True, 2: False}
        with pytest.raises(Missing):
            await unit.votes.answer(opened.vote.id, 0, True)
    async with store.begin() as unit:
        undo, pause = await unit.votes.at(table)
        assert undo.vote.subject == {"stands_at": 4} and undo.voices == {1: True, 2: False}
        assert pause.vote.kind == "pause"
        assert await unit.votes.close(opened.vote.id, "refused")
        assert not await unit.votes.close(opened.vote.id, "carried")
        with pytest.raises(Missing):
            await unit.votes.answer(opened.vote.id, 1, False)
        assert [ballot.vote.kind for ballot in await unit.votes.at(table)] == ["pause"]
        assert (await unit.votes.get(opened.vote.id)).vote.outcome == "refused"
        await unit.votes.open(table, "undo", [1], {})
