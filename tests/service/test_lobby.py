"""Tables are created, filled, started and ended by the persons who may do it."""

from __future__ import annotations

import random

import pytest

from bot.hub.request import (
    Completed,
    ConfirmationRequired,
    LineRefused,
    NotYourSeat,
    PollUpdated,
    TableNotRunning,
)
from bot.service import Service
from engine.game_text.history import GameHistory, HistoryLine
from storage import NotFound
from tests.service.conftest import NAMES, ServiceHarness


async def table_with_players(world: ServiceHarness, *names: str) -> int:
    for name in names:
        if name not in world.people:
            await world.person(name)
    info = await world.service.lobby.create("1830", world.people[names[0]], name="Friday")
    for name in names:
        info = await world.service.lobby.join(info.id, world.people[name], name)
    return info.id


async def test_a_table_is_created_and_found(empty: ServiceHarness) -> None:
    ann = await empty.person("Ann")
    info = await empty.service.lobby.create("1830", ann, name="Friday", options=["conventions 18xx.games"])
    assert (info.title, info.name, info.status, info.host_id) == ("1830", "Friday", "lobby", ann)
    assert info.options == ("conventions 18xx.games",)
    assert 3 <= len(info.code) <= 4 and info.code.isalnum()
    assert (await empty.service.queries.find_table(f" {info.code.lower()} ")).id == info.id
    with pytest.raises(ValueError, match="no table"):
        await empty.service.queries.find_table("????")
    with pytest.raises(NotFound):
        await empty.service.queries.view(999)


async def test_default_options(empty: ServiceHarness) -> None:
    service = Service(empty.store, default_options=["conventions 18xx.games"])
    assert (await service.lobby.create("1830", None)).options == ("conventions 18xx.games",)
    assert (await service.lobby.create("1830", None, options=[])).options == ()


@pytest.mark.parametrize(("title", "options"), [("1066", []), ("1830", ["no_such_rule"])])
async def test_an_unknown_title_or_option(empty: ServiceHarness, title: str, options: list[str]) -> None:
    with pytest.raises(ValueError):
        await empty.service.lobby.create(title, None, options=options)
    assert await empty.service.queries.list_tables() == []


@pytest.mark.parametrize("name", ["pool", "PRR", "B&O", "", "a" * 21, "An!", "ann"])
async def test_names_that_cannot_be_used(empty: ServiceHarness, name: str) -> None:
    table = await table_with_players(empty, "Ann")
    dora = await empty.person("Dora")
    with pytest.raises(ValueError):
        await empty.service.lobby.join(table, dora, name)
    assert len((await empty.service.queries.table_info(table)).seated_players) == 1


async def test_who_is_called_robot_elsewhere_is_a_player_here(empty: ServiceHarness) -> None:
    """Whoever presses *Join* has chosen no name, and can choose no other."""
    table = await table_with_players(empty, "Ann")
    info = await empty.service.lobby.join(table, await empty.person("Robot"), "Robot", is_chosen=False)
    assert [player.name for player in info.seated_players] == ["Ann", "Player Robot"]
    with pytest.raises(ValueError, match="is what the computer player is called"):
        await empty.service.lobby.join(table, await empty.person("Other"), "Robot")


async def test_join_leave_and_full(empty: ServiceHarness) -> None:
    table = await table_with_players(empty, *"ABCDEF")
    with pytest.raises(ValueError, match="already sit"):
        await empty.service.lobby.join(table, empty.people["B"], "Other")
    late = await empty.person("Late")
    with pytest.raises(ValueError, match="full"):
        await empty.service.lobby.join(table, late, "Late")
    with pytest.raises(ValueError, match="host"):
        await empty.service.lobby.leave(table, empty.people["B"], by=empty.people["C"])
    await empty.service.lobby.leave(table, empty.people["B"], by=empty.people["B"])
    await empty.service.lobby.leave(table, empty.people["C"], by=empty.people["A"])
    info = await empty.service.lobby.join(table, late, "Late")
    assert [s.name for s in info.seated_players] == ["A", "D", "E", "F", "Late"]


async def test_an_invited_seat_is_reserved(empty: ServiceHarness) -> None:
    table = await table_with_players(empty, "Ann", "Bob")
    dora = await empty.person("Dora", email="dora@example.org")
    stranger = await empty.person("Eve")
    with pytest.raises(ValueError, match="or a player"):
        await empty.service.lobby.invite(table, dora, "Dora", by=stranger)
    await empty.service.lobby.invite(table, dora, "Dora", by=empty.people["Bob"])
    with pytest.raises(ValueError, match="Dora has not joined"):
        await empty.service.lobby.start(table, by=empty.people["Ann"])
    info = await empty.service.lobby.join(table, dora, "Dora")
    assert [s.joined for s in info.seated_players] == [True, True, True]
    assert [n.kind for _, n in await empty.sent("invited")] == ["invited"]


async def test_the_host_hears_how_the_invited_have_answered(empty: ServiceHarness) -> None:
    """Wherever they answer; by a direct message where the host has no address."""
    await empty.person("Ann", discord="1")
    table = await table_with_players(empty, "Ann", "Bob")
    lobby, people = empty.service.lobby, empty.people
    for name in ("Cid", "Dan", "Eve"):
        await lobby.invite(table, await empty.person(name), name, by=people["Bob"])
    code = (await empty.service.queries.table_info(table)).code
    heard = []
    for act in (
        lobby.join(table, people["Cid"], "Cid"),
        lobby.leave(table, people["Dan"], by=people["Dan"]),
        lobby.leave(table, people["Eve"], by=people["Ann"]),  # the host knows it
        lobby.leave(table, people["Bob"], by=people["Bob"]),  # was never asked
    ):
        await empty.deliver()
        await act
        heard += [
            (message.channel, *said.sentences) for message, said in await empty.sent() if said.sentences
        ]
    assert heard == [
        ("discord", f"Cid has joined table {code}. No answer yet from Dan and Eve."),
        ("discord", f"Dan has declined the seat at table {code}."),
    ]


async def test_only_the_host_starts(empty: ServiceHarness) -> None:
    table = await table_with_players(empty, *NAMES)
    with pytest.raises(ValueError, match="host"):
        await empty.service.lobby.start(table, by=empty.people["Bob"])
    info = await empty.service.lobby.start(table, by=empty.people["Ann"])
    assert info.status == "running"
    with pytest.raises(ValueError, match="already started"):
        await empty.service.lobby.start(table, by=empty.people["Ann"])
    with pytest.raises(ValueError, match="already started"):
        await empty.service.lobby.join(table, await empty.person("Late"), "Late")


async def test_one_player_is_too_few(empty: ServiceHarness) -> None:
    table = await table_with_players(empty, "Ann")
    with pytest.raises(ValueError, match="2 to 6"):
        await empty.service.lobby.start(table, by=empty.people["Ann"])
    assert (await empty.service.queries.table_info(table)).status == "lobby"


async def test_the_seating_is_shuffled_from_a_recorded_seed(empty: ServiceHarness) -> None:
    names = list("ABCDEF")
    table = await table_with_players(empty, *names)
    await empty.service.lobby.start(table, by=empty.people["A"])
    async with empty.store.read() as unit:
        seed = (await unit.tables.get(table)).seed
    expected = list(names)
    random.Random(seed).shuffle(expected)
    info = await empty.service.queries.table_info(table)
    assert list(info.names) == expected
    assert [s.name for s in info.seated_players] == expected
    first = (await empty.service.queries.log(table))[0]
    assert "in random order" in first.sentences[0]


async def test_a_given_seating(empty: ServiceHarness) -> None:
    table = await table_with_players(empty, *NAMES)
    with pytest.raises(ValueError, match="every player once"):
        await empty.service.lobby.start(table, by=None, order=["Ann", "Bob"])
    info = await empty.service.lobby.start(table, by=None, order=["cid", "Ann", "Bob"])
    assert info.names == ("Cid", "Ann", "Bob")
    assert info.seat_of(empty.people["Cid"]) == 0


async def test_lists(world: ServiceHarness) -> None:
    ann, dora = world.people["Ann"], await world.person("Dora")
    other = await world.service.lobby.create("1830", dora, location={"guild": 5})
    every = {t.id for t in await world.service.queries.list_tables()}
    assert every == {world.table, other.id}
    assert [t.id for t in await world.service.queries.list_tables(person_id=ann)] == [world.table]
    assert [t.id for t in await world.service.queries.list_tables(person_id=dora)] == [other.id]
    assert [t.id for t in await world.service.queries.list_tables(location=("guild", 5))] == [other.id]
    (running,) = await world.service.queries.list_tables(statuses=["running"])
    assert (running.round, running.acting_seats, running.names) == ("opening", (0,), NAMES)
    await world.service.lobby.set_location(world.table, {"thread": 7})
    assert [t.id for t in await world.service.queries.list_tables(location=("thread", 7))] == [world.table]


async def test_only_the_operator_replaces_a_person_at_once(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    dora, running = await world.person("Dora"), world.service.running
    for by in ("Ann", "Bob", "Cid"):
        with pytest.raises(ValueError, match="Bob sits there"):
            await running.replace_player(world.table, 1, dora, "Dora", by=world.people[by])
    with pytest.raises(ValueError, match="word of the game"):
        await running.replace_player(world.table, 1, dora, "pool", by=None)
    info = await running.replace_player(world.table, 1, dora, "Dora", by=None)
    assert info.names == ("Ann", "Dora", "Cid")
    assert await world.asked_names() == ["Dora"]
    assert isinstance(await world.say("Bob", "buy CS"), NotYourSeat)
    assert isinstance(await world.say("Dora", "buy CS"), Completed)
    with pytest.raises(ValueError, match="already sits"):
        await running.replace_player(world.table, 0, dora, "Eve", by=None)
    lines = [h.line for h in await world.service.queries.log(world.table)]
    assert lines == ["start", "buy SV", "replace", "buy CS"]


async def test_an_undo_does_not_bring_a_player_back(world: ServiceHarness) -> None:
    """Replacements of players belong to no line of play."""
    await world.say("Ann", "buy SV")
    dora = await world.person("Dora")
    await world.service.running.replace_player(world.table, 1, dora, "Dora", by=None)
    await world.say("Ann", "undo")
    state = await world.service.queries.state_at(world.table)
    assert state.players == ["Ann", "Dora", "Cid"]
    assert (await world.service.queries.state_at(world.table, 2)).players == ["Ann", "Bob", "Cid"]


async def test_resigning_is_confirmed_and_pauses(world: ServiceHarness) -> None:
    asked = await world.say("Bob", "resign")
    assert isinstance(asked, ConfirmationRequired)
    assert (await world.service.queries.table_info(world.table)).status == "running"
    assert isinstance(await world.say("Bob", asked.line), Completed)
    assert isinstance(await world.say("Ann", "buy SV"), TableNotRunning)
    with pytest.raises(ValueError, match="seat of Bob is empty"):
        await world.service.running.resume(world.table, by=world.people["Ann"])
    dora = await world.person("Dora")
    with pytest.raises(ValueError, match="`ask` tells the host"):
        await world.service.running.replace_player(world.table, 1, dora, "Dora", by=dora)
    await world.service.running.replace_player(world.table, 1, dora, "Dora", by=world.people["Ann"])
    assert isinstance(await world.say("Ann", "buy SV"), Completed)
    assert await world.asked_names() == ["Dora"]


async def test_pause_and_resume(world: ServiceHarness) -> None:
    stranger = await world.person("Eve")
    with pytest.raises(ValueError, match="or a player"):
        await world.service.running.pause(world.table, by=stranger)
    await world.service.running.pause(world.table, by=world.people["Bob"])
    with pytest.raises(ValueError, match="paused"):
        await world.service.running.pause(world.table, by=world.people["Bob"])
    await world.service.running.resume(world.table, by=world.people["Cid"])
    assert (await world.service.queries.table_info(world.table)).status == "running"
    assert await world.say("Bob", "pause", request="p") == await world.say("Bob", "pause", request="p")


async def test_the_host_ends_the_game_at_once(world: ServiceHarness) -> None:
    asked = await world.say("Ann", "end")
    assert isinstance(asked, ConfirmationRequired) and asked.line == "end yes"
    assert "ends unfinished" in asked.reason
    for _ in range(2):
        answer = await world.say("Ann", "end yes", request="once")
        assert isinstance(answer, Completed) and answer.sentences[0].endswith("is ended.")
    again = await world.say("Ann", "end yes")
    assert isinstance(again, TableNotRunning) and again.status == "ended"
    assert isinstance(await world.say("Ann", "buy SV"), TableNotRunning)


async def test_others_end_the_game_by_a_vote(world: ServiceHarness) -> None:
    await world.person("Eve")
    refused = await world.say("Eve", "end")
    assert isinstance(refused, LineRefused) and "or a player" in refused.reason
    asked = await world.say("Bob", "end")
    assert isinstance(asked, PollUpdated) and asked.waiting_seats == (0, 2)
    assert isinstance(await world.say("Ann", "accept"), PollUpdated)
    assert (await world.service.queries.table_info(world.table)).status == "running"
    passed = await world.say("Cid", "accept")
    assert isinstance(passed, PollUpdated) and passed.outcome == "passed"
    assert (await world.service.queries.table_info(world.table)).status == "ended"


async def test_an_imported_game_goes_on(world: ServiceHarness) -> None:
    import engine

    first = engine.new_game("1830", ["Xan", "Yul"]).state
    played = engine.play(first, "p0", engine.parse(first, "p0", "buy SV"))
    history = GameHistory(first, (HistoryLine("p0", "buy SV", played.events),))
    info = await world.service.lobby.import_game(history, name="Found")
    assert (info.status, info.names, info.acting_seats) == ("running", ("Xan", "Yul"), (1,))
    assert isinstance(await world.service.submit(info.id, 1, ["buy CS"], None, None), Completed)
    assert isinstance(await world.service.submit(info.id, 1, ["undo"], None, None), Completed)
    assert isinstance(await world.service.submit(info.id, 0, ["undo"], None, None), Completed)
    assert engine.encode_state(await world.service.queries.state_at(info.id)) == engine.encode_state(first)
