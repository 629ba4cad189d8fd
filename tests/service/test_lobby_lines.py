"""The lines of a table that has not started, as each transport says them; the status of the table decides."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from bot.hub.info import SeatedPlayer
from bot.hub.request import (
    CommandResult,
    Completed,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    PollUpdated,
    QueryAnswer,
    Request,
    TableNotRunning,
)
from bot.service import Service
from storage import open_store


class Table:
    """A table of which Ann is the host. `say` is what a transport does."""

    def __init__(self, service: Service) -> None:
        self.service, self.people, self.id = service, dict[str, int](), 0

    async def open(self, *players: str, title: str = "1830") -> None:
        self.id = (await self.service.lobby.create(title, await self.person("Ann"))).id
        for name in players:
            await self.told(name, "join")

    async def person(self, name: str) -> int:
        if name not in self.people:
            async with self.service.store.begin() as unit:
                self.people[name] = (await unit.people.add(name)).id
        return self.people[name]

    async def say(self, name: str, line: str, **options: bool) -> CommandResult:
        by = await self.person(name)
        return await self.service.submit(self.id, None, [line], None, None, person_id=by, **options)  # type: ignore[arg-type]

    async def told(self, name: str, line: str, **options: bool) -> str:
        result = await self.say(name, line, **options)
        assert isinstance(result, QueryAnswer), result
        return result.text

    async def refused(self, name: str, line: str) -> str:
        result = await self.say(name, line)
        assert isinstance(result, LineRefused), result
        return result.reason


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with await open_store(tmp_path / "railpost.db") as store:
        yield Table(Service(store))


async def test_from_the_first_seat_to_the_start(table: Table) -> None:
    await table.open()
    assert (await table.told("Ann", "join")).endswith("as Ann.")
    assert (await table.told("Bob", "join Robert")).endswith("as Robert.")
    assert "already sit" in await table.refused("Bob", "join")
    assert "its host" in await table.refused("Bob", "start")
    await table.told("Cid", "join")
    assert (await table.told("Cid", "leave")).startswith("You have left")
    assert (await table.told("Ann", "keep")).endswith("stays open.")
    assert (await table.told("Ann", "start Robert, Ann")).endswith("Seating: Robert and Ann.")


async def test_a_press_that_names_nobody_finds_a_free_name(table: Table) -> None:
    """Of two who are called the same, or as the game says, none is kept out; a chosen name is refused."""
    await table.open()
    assert (await table.told("Ann", "join")).endswith("as Ann.")
    for name, seated in (("🚂", "Player"), ("@all", "Player 2"), ("ann", "ann 2"), ("Bank", "Bank 2")):
        assert (await table.told(name, "join")).endswith(f"as {seated}.")
    assert "Two players are called ANN." in await table.refused("Eve", "join ANN")
    assert (await table.told("@Eve", "ask")).startswith("You have asked for a seat")


async def test_a_line_before_the_start_is_another_afterwards(table: Table) -> None:
    """`decline` is about robots in a lobby, and then about a vote; `pace` is set, and then voted on."""
    await table.open("Ann", "Bob")
    await table.told("Ann", "invite robot")
    assert (await table.told("Bob", "decline")).startswith("No robot plays")
    assert (await table.told("Ann", "pace 24h")).startswith("The pace is 24h")
    await table.told("Ann", "start")
    assert isinstance(await table.say("Ann", "pace 48h"), PollUpdated)
    voted = await table.say("Bob", "decline")
    assert isinstance(voted, PollUpdated) and voted.outcome == "failed"
    late = await table.say("Bob", "join")
    assert isinstance(late, TableNotRunning) and late.reason.endswith("is being played.")
    assert await table.say("Dora", "join") == late, "not that she has no seat: that is what she asks for"


async def test_a_word_of_the_game_starts_a_company_where_the_game_has_begun(table: Table) -> None:
    await table.open("Ann", "Bob", "Cid", title="1817")
    assert "begins" in await table.told("Ann", "start")
    refused = await table.say("Ann", "start A&S in E22 for 100")
    assert isinstance(refused, LineUnreadable) and "being played" not in refused.reason


async def test_only_who_was_offered_an_open_seat_takes_it_at_once(table: Table) -> None:
    await table.open("Ann", "Bob", "Cid")
    await table.told("Ann", "start")
    assert isinstance(await table.say("Bob", "resign yes"), Completed)
    assert "\nBob (open seat)" in await table.told("Ann", "who")
    dora = await table.person("Dora")
    assert "You have asked for the seat" in await table.told("Dora", "ask Bob")
    await table.service.seats.offer(table.id, "Bob", dora, by=table.people["Ann"])
    assert "asked for the seat" in await table.told("Eve", "ask Bob")
    assert (await table.told("Dora", "ask Bob")).startswith("You play on as Dora")


async def test_who_is_admitted_after_another_of_their_name_gets_a_number(table: Table) -> None:
    await table.open("Ann")
    await table.service.seats.ask(table.id, await table.person("Dora"))
    await table.told("Bob", "join Dora")
    admitted = await table.service.seats.answer(table.id, "Dora", admitted=True, by=table.people["Ann"])
    assert admitted.startswith("Dora 2 has a seat")
    assert [each.name for each in await seated(table)] == ["Ann", "Dora", "Dora 2"]


async def seated(table: Table) -> Sequence[SeatedPlayer]:
    return (await table.service.queries.table_info(table.id)).seated_players


async def test_what_a_crash_has_ended_is_said_once_more(table: Table) -> None:
    """The second attempt has no effect, and the answer of the first."""
    await table.open("Ann", "Bob")
    for line in ("uninvite Cid", "leave", "start"):
        name = "Cid" if line == "leave" else "Ann"
        first = await table.say(name, line)
        assert isinstance(first, QueryAnswer) == (line == "start")
        assert await table.told(name, line, is_repeated=True)
    assert len(await seated(table)) == 2


async def test_what_comes_between_a_crash_and_the_second_attempt_keeps_nobody_out(table: Table) -> None:
    request = Request(-1, (), (), None, "r1", await table.person("Ann"), "mail")
    text = "1830 Bob <bob@player.test>, robot"
    table.id = (await table.service.lobby_lines.open_table(text, request))[0].id
    await table.told("Ann", "invite robot")
    await table.told("Ann", "uninvite Bob")
    await table.service.lobby_lines.open_table(text, request._replace(is_repeated=True))
    assert [player.name for player in await seated(table)] == ["Ann", "Robot", "Robot 2", "Bob"]


@pytest.mark.parametrize("pace", ["none", "none, answers shown", "none, robot deputies", "24h, hold-off 0"])
async def test_a_new_table_keeps_all_of_its_pace(table: Table, pace: str) -> None:
    """Without a time for each decision, what else was agreed was lost."""
    created = await table.service.lobby.create("1830", await table.person("Ann"), pace=pace)
    assert str(created.pace) == pace


async def test_a_table_is_opened_by_one_line(table: Table) -> None:
    """Its host sits there, the others are invited; of a table that cannot be filled nothing is left."""
    service, ann = table.service, await table.person("Ann")
    request = Request(-1, (), (), None, None, ann, "mail")
    people, rules = "Bob <bob@player.test> and Cid <cid@player.test>, robot", "option optional_6_train"
    text = f"1830 {people}, pace 24h, bank 72h, {rules}, option hints"
    info, invited = await service.lobby_lines.open_table(text, request)
    assert [each.label for each in invited] == ["Bob (bob@player.test)", "Cid (cid@player.test)"]
    assert info.hints and info.options == ("optional_6_train",) and info.host_id == ann
    assert str(info.pace) == "24h, bank 72h"
    assert [(p.name, p.joined) for p in info.seated_players] == [
        ("Ann", True),
        ("Bob", False),
        ("Cid", False),
        ("Robot", True),
    ]
    with pytest.raises(ValueError, match="Name a title first"):
        await service.lobby_lines.open_table("1066 Bob <bob@player.test>", request)
    with pytest.raises(ValueError, match="at most 6 seats"):
        six = ", ".join(f"P{number} <p{number}@player.test>" for number in range(6))
        await service.lobby_lines.open_table(f"1830 {six}", request)
    with pytest.raises(ValueError, match="not one plain email address"):
        await service.lobby_lines.open_table("1830 Bob <bob@player>", request)
    with pytest.raises(ValueError, match="`Cid` is no player with an address"):
        await service.lobby_lines.open_table("1830 Bob <bob@player.test>, Cid", request)
    opened = await service.queries.list_tables()
    assert [each.status for each in opened] == ["lobby", "ended"]


async def test_a_host_who_leaves_hands_the_table_to_the_next_who_joined(table: Table) -> None:
    await table.open("Ann", "Bob", "Cid")
    assert (await table.told("Ann", "leave")).endswith("Bob is the host now.")
    assert "its host" in await table.refused("Cid", "start")
    async with table.service.store.begin() as unit:
        await unit.people.add_identity(await table.person("Cid"), "email", "cid@player.test")
    assert (await table.told("Cid", "leave")).endswith("left table " + await code(table) + ".")
    await table.told("Cid", "join")
    assert (await table.told("Bob", "leave")).endswith("Cid is the host now.")
    async with table.service.store.read() as unit:
        assert await unit.outbox.count("mail", unit.now.replace(year=2000), email="cid@player.test") == 1
    await table.told("Dora", "join")
    assert "begins" in await table.told("Cid", "start")
    for name in ("Cid", "Dora"):
        assert "Use `resign`" in await table.refused(name, "leave")


async def code(table: Table) -> str:
    return (await table.service.queries.table_info(table.id)).code


async def test_a_table_with_nobody_but_robots_and_invitations_is_closed(table: Table) -> None:
    await table.open("Ann")
    await table.told("Ann", "invite robot")
    await table.told("Ann", "invite Bob <bob@player.test>")
    closed = f"You have left table {await code(table)}. It is closed, because nobody is left there."
    assert await table.told("Ann", "leave") == closed
    assert (await table.service.queries.table_info(table.id)).status == "ended"
    assert await table.told("Ann", "leave", is_repeated=True) == closed
    with pytest.raises(ValueError, match="is ended"):
        await table.service.lobby.join(table.id, await table.person("Bob"), "Bob")


async def test_a_robot_waits_for_nobody_who_has_left_or_came_later(table: Table) -> None:
    await table.open("Ann", "Bob", "Cid")
    await table.told("Ann", "invite robot")
    await table.told("Dora", "join")
    assert await table.told("Bob", "agree") == "You agree. Others have not answered yet."
    await table.told("Cid", "leave")
    assert "The game at table" in await table.told("Ann", "start")


async def test_a_host_without_a_seat_leaves_too(table: Table) -> None:
    await table.open("Bob")
    assert (await table.told("Ann", "leave")).endswith("Bob is the host now.")
    assert "no seat" in await table.refused("Ann", "leave")


async def test_who_plays_and_the_tables_of_a_person(table: Table) -> None:
    await table.open("Ann", "Bob")
    await table.told("Ann", "invite Cid <cid@player.test>")
    head, *players = (await table.told("Bob", "who")).splitlines()
    assert head == f"Table {await code(table)} of 1830 is still in its lobby."
    assert players == ["Ann (host)", "Bob", "Cid (has not answered yet)"]
    assert "Only" in await table.refused("Eve", "who"), "it is for those who belong to the table"
    await table.told("Ann", "uninvite Cid")
    await table.told("Ann", "start")
    listed = await table.told("Bob", "list")
    own = await table.service.submit_personal(table.people["Bob"], ["list"])
    assert isinstance(own, QueryAnswer) and own.text == listed
    assert listed.startswith(f"{await code(table)} 1830, being played: Ann and Bob. Ann to act")
    nothing = await table.service.submit_personal(await table.person("Eve"), ["list"])
    assert isinstance(nothing, QueryAnswer) and nothing.text == "You have no table."


async def test_a_player_is_replaced_by_a_line(table: Table) -> None:
    """It asks for the seat, or another person to play on there, or for a robot."""
    await table.open("Ann", "Bob", "Cid")
    assert "nobody plays there yet" in await table.refused("Ann", "replace Bob by robot")
    await table.told("Ann", "start")
    for line in ("replace", "replace Bob"):
        assert "Name both players" in await table.refused("Ann", line)
    assert "There is no player Eve at table" in await table.refused("Ann", "replace Eve by robot")
    assert "Name the address of Dora" in await table.refused("Ann", "replace Bob by Dora")
    asked = "Dora is asked to play on for Bob at table " + await code(table) + "."
    assert await table.told("Ann", "replace Bob by Dora <dora@player.test>") == asked
    assert "its host" in await table.refused("Eve", "replace Bob by Flo <flo@player.test>")
    async with table.service.store.begin() as unit:
        await unit.people.add_identity(await table.person("Eve"), "discord", "77")
    told = await table.told("Eve", "replace Bob by Eva <@77>")
    assert told.startswith("You have asked to play on for Bob"), "who names themselves asks for the seat"
    voted = await table.say("Cid", "replace Cid by robot")
    assert isinstance(voted, PollUpdated) and "Cid would like a robot to play on for them." in voted.sentences
    stranger = await table.say("Eve", "replace Cid by robot")
    assert isinstance(stranger, NotYourSeat)
    by_operator = await table.service.submit(table.id, None, ["replace Bob by Gil"], None, None)
    assert isinstance(by_operator, QueryAnswer) and by_operator.text == "Gil plays on for Bob."


async def test_a_new_table_is_refused_before_anybody_is_kept(table: Table) -> None:
    """The players before the one who could not join stayed, as second persons of their names."""
    for players, by, why in (
        ("Ann, Bob, ann", None, "Two players are called ann."),
        ("Ann, Robot 2", None, "Robot 2 is what the computer player is called."),
        ("A, B, C, D, E, robot, F", None, "1830 has at most 6 seats; you have named 7."),
        (", robot" * 6, await table.person("Gil"), "1830 has at most 6 seats; you have named 6 and"),
    ):
        request = Request(-1, (), (), None, None, by, "terminal")
        with pytest.raises(ValueError, match=why):
            await table.service.lobby_lines.open_table(f"1830 {players}", request)
    async with table.service.store.read() as unit:
        assert await unit.people.by_name("Ann") == []
    assert await table.service.queries.list_tables() == []


async def test_whom_the_operator_names_is_not_kept_where_an_order_declines(table: Table) -> None:
    await table.open("Ann", "Bob", "Cid")
    await table.told("Ann", "start")
    await table.told("Bob", "auto decline polls")
    result = await table.service.submit(table.id, None, ["ask Dora for Bob"], None, None)
    assert isinstance(result, LineRefused) and "Bob declines." in result.reason
    async with table.service.store.read() as unit:
        assert await unit.people.by_name("Dora") == []


@pytest.mark.parametrize("line", ["join Robot", "ask Dora for Eve", "replace Bob by Cid"])
async def test_a_person_of_the_operator_who_is_refused_a_seat_is_not_kept(table: Table, line: str) -> None:
    """A second Dora would be in the way where the first is named as a deputy."""
    await table.open("Ann", "Bob", "Cid")
    await table.person("Eve")
    if not line.startswith("join"):
        await table.told("Ann", "start")
    result = await table.service.submit(table.id, None, [line], None, None)
    assert isinstance(result, LineRefused), result
    async with table.service.store.read() as unit:
        for name in ("Ann", "Bob", "Cid", "Eve", "Dora", "Robot"):
            found = [person.id for person in await unit.people.by_name(name)]
            assert found == ([table.people[name]] if name in table.people else []), name
