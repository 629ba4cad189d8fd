"""Open seats are asked for, and the host admits or refuses: as a line, by mail, in the terminal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.hub.info import open_seats
from bot.hub.request import Completed, LineRefused, QueryAnswer
from bot.service import Service
from bot.terminal.console import Console
from tests.mail.mail_desk import MailDesk
from tests.pace.conftest import DrivenTable, to
from tests.pace.test_lobby_messages import lobby


async def open_seat(driven: DrivenTable) -> None:
    """Bob has resigned; Dora has no seat."""
    await driven.begin("none")
    await driven.person("Dora")
    await driven.say("Bob", "resign yes")


async def ask(driven: DrivenTable, name: str, line: str = "ask") -> str:
    answer = await driven.say(name, line)
    assert isinstance(answer, QueryAnswer | LineRefused)
    return answer.text if isinstance(answer, QueryAnswer) else answer.reason


async def test_an_open_seat_is_asked_for_and_the_host_admits(driven: DrivenTable) -> None:
    await open_seat(driven)
    with pytest.raises(ValueError, match="`ask` tells the host"):
        await driven.service.running.replace_player(
            driven.table, 1, driven.people["Dora"], "Dora", by=driven.people["Dora"]
        )
    assert "asked for the seat of Bob" in await ask(driven, "Dora")
    assert len(driven.heard("Ann", "seat_request")) == 1 and driven.heard("Cid", "seat_request") == []
    assert "its host, may do that" in await ask(driven, "Cid", "admit Dora")
    assert await ask(driven, "Ann", "admit Eve") == (
        f"Dora asks for a seat at table {await code(driven)}; name whom you mean."
    )
    assert (await ask(driven, "Ann", "admit dora")).startswith("Dora has a seat at table")
    info = await driven.service.queries.table_info(driven.table)
    assert info.names == ("Ann", "Dora", "Cid") and info.status == "running"
    (told,) = driven.heard("Dora", "seat_answer")
    assert "You have a seat at table Friday" in told
    assert (await ask(driven, "Ann", "admit Dora")).startswith("Nobody asks for a seat")
    assert isinstance(await driven.say("Ann", "buy SV"), Completed)


async def test_a_refusal_is_told_and_the_seat_stays_open(driven: DrivenTable) -> None:
    await open_seat(driven)
    await ask(driven, "Dora", "ask Bob")
    assert await ask(driven, "Ann", "refuse Dora") == "Dora is refused."
    assert "You do not get a seat" in driven.heard("Dora", "seat_answer")[0]
    assert open_seats(await driven.service.queries.table_info(driven.table)) == [1]


@pytest.mark.parametrize("name", ["Ann", "Cid"])
async def test_who_sits_there_needs_not_ask(driven: DrivenTable, name: str) -> None:
    await open_seat(driven)
    assert (await ask(driven, name)).startswith("You already sit")


async def test_no_seat_is_open_in_a_game_that_is_played(driven: DrivenTable) -> None:
    await driven.begin("none")
    await driven.person("Dora")
    assert (await ask(driven, "Dora")).endswith("is being played; no seat is open.")


async def test_two_ask_for_one_seat(driven: DrivenTable) -> None:
    await open_seat(driven)
    await driven.person("Eve")
    await ask(driven, "Dora")
    await ask(driven, "Eve")
    assert "name whom you mean" in await ask(driven, "Ann", "admit")
    await ask(driven, "Ann", "admit Eve")
    (told,) = driven.heard("Dora", "seat_answer")
    assert told.endswith(f"{await code(driven)} is over, because somebody else has that seat now.")
    assert (await ask(driven, "Ann", "admit Dora")).startswith("Nobody asks for a seat")


async def test_who_asks_is_told_when_the_game_ends_first(driven: DrivenTable) -> None:
    """They waited for an answer that never came."""
    await open_seat(driven)
    await ask(driven, "Dora")
    await driven.say("Cid", "resign yes")
    assert driven.heard("Dora", "seat_answer") == []
    await driven.say("Ann", "end yes")
    (told,) = driven.heard("Dora", "seat_answer")
    assert told.endswith("is over, because the game is over.")


@pytest.mark.parametrize(
    ("line", "why"), [("start", "the game has begun"), ("end yes", "the table is closed")]
)
async def test_who_asks_at_a_table_that_begins_or_is_closed(driven: DrivenTable, line: str, why: str) -> None:
    await lobby(driven, "Ann", "Bob")
    await ask(driven, "Cid")
    await driven.say("Ann", line)
    assert driven.heard("Cid", "seat_answer")[0].endswith(f"is over, because {why}.")


async def test_who_asks_and_joins_needs_no_answer(driven: DrivenTable) -> None:
    await lobby(driven, "Ann", "Bob")
    await ask(driven, "Cid")
    await driven.say("Cid", "join")
    assert (await ask(driven, "Ann", "refuse")).startswith("Nobody asks for a seat")
    assert driven.heard("Cid", "seat_answer") == []


async def test_who_is_invited_after_asking_is_admitted_to_that_seat(driven: DrivenTable) -> None:
    await lobby(driven, "Ann", "Bob")
    await ask(driven, "Cid")
    await driven.say("Ann", "invite Cid <cid@player.test>")
    assert "`join` takes it" in await ask(driven, "Cid")
    assert (await ask(driven, "Ann", "admit Cid")).startswith("Cid has a seat")
    assert await ask(driven, "Ann", "start") == (
        f"The game at table {await code(driven)} begins. Seating: Ann, Bob and Cid."
    )


async def test_who_has_a_seat_now_is_not_asked_about_again(driven: DrivenTable) -> None:
    """Dora has asked for Bob's seat, and takes Ann's as agreed: nobody is asked about Bob's any more."""
    await open_seat(driven)
    await ask(driven, "Dora", "ask Bob")
    await ask(driven, "Dora", "ask Ann")
    await driven.say("Ann", "accept vote")
    assert (await ask(driven, "Cid", "admit Dora")).startswith("Nobody asks for a seat")
    await driven.wait_until(driven.now + timedelta(days=3))
    assert driven.heard("Cid", "seat_request") == []


async def test_a_pause_of_a_player_stays_when_the_last_seat_is_taken(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.person("Dora")
    await driven.say("Cid", "pause")
    await driven.say("Bob", "resign yes")
    await ask(driven, "Dora")
    await ask(driven, "Ann", "admit Dora")
    assert (await driven.service.queries.table_info(driven.table)).status == "paused"
    told = "Dora plays on for Bob. The game stays paused until a player resumes it."
    assert driven.heard("Cid", "news")[-1].endswith(told)
    assert isinstance(await driven.say("Dora", "resume"), Completed)
    await driven.say("Dora", "resign yes")
    await driven.person("Eve")
    await ask(driven, "Eve")
    goes_on = f"Eve has a seat at table {await code(driven)}. The game goes on. Ann to act: "
    assert (await ask(driven, "Ann", "admit Eve")).startswith(goes_on)
    assert (await driven.service.queries.table_info(driven.table)).status == "running"


async def test_a_lobby_by_mail(driven: DrivenTable, desk: MailDesk) -> None:
    """Cid knows the code; Ann admits them by reply."""
    table = await lobby(driven, "Ann", "Bob")
    async with driven.store.begin() as unit:
        await unit.people.add_identity(driven.people["Cid"], "email", "cid@player.test")
    await ask(driven, "Cid")
    (email,) = to(await desk.take(), "Ann")
    assert "Cid asks for a seat at table Friday" in email.text and "admit Cid" in email.text
    answer = await desk.answered(email, "admit Cid")
    assert f"\nCid has a seat at table {await code(driven)}.\n" in answer.text
    info = await driven.service.queries.table_info(table)
    assert [player.name for player in info.seated_players] == ["Ann", "Bob", "Cid"]
    (answer,) = [each for each in to(desk.emails, "Cid") if "Your seat" in each.text]
    assert "You have a seat at table Friday" in answer.text


async def test_in_the_terminal(driven: DrivenTable, tmp_path: Path) -> None:
    await open_seat(driven)
    console = Console(driven.service, tmp_path)
    console.tables.table_id = driven.table
    for line, told in (
        ("table ask Eve for Bob", "Eve has asked for the seat of Bob at table {}."),
        ("table ask Flo for Ann", "Flo has asked to play on for Ann at table {}. Ann is asked; once"),
    ):
        answer = (await console.handle_line(line)).text
        assert answer.startswith(told.format(await code(driven))) and "You" not in answer
    assert (await console.handle_line("table admit Eve")).text.startswith("Eve has a seat")


async def code(driven: DrivenTable) -> str:
    return (await driven.service.queries.table_info(driven.table)).code


async def test_who_asks_again_is_not_put_twice(driven: DrivenTable) -> None:
    """So is a request that a crash has repeated, which has no stored answer."""
    await open_seat(driven)
    first = await ask(driven, "Dora")
    assert await ask(driven, "Dora") == first
    assert len(driven.heard("Ann", "seat_request")) == 1


async def lobby_of_two(driven: DrivenTable) -> None:
    """Ann and Bob have joined; Dora has not."""
    await driven.begin("none")
    await driven.person("Dora")
    driven.table = (await driven.service.lobby.create("1830", driven.people["Ann"])).id
    for name in ("Ann", "Bob"):
        await driven.say(name, "join")


@pytest.mark.parametrize("opened", [open_seat, lobby_of_two])
async def test_a_crash_between_the_seat_and_the_answer_to_who_asked(
    driven: DrivenTable,
    monkeypatch: pytest.MonkeyPatch,
    opened: Callable[[DrivenTable], Awaitable[None]],
) -> None:
    await opened(driven)
    await ask(driven, "Dora")

    async def die(*_: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as patched:
        patched.setattr("bot.features.lobby.seats.tell_people", die)
        with pytest.raises(ConnectionError):
            await driven.service.seats.answer(driven.table, "Dora", admitted=True, by=driven.people["Ann"])
    assert (await driven.service.queries.table_info(driven.table)).player_of(driven.people["Dora"])
    await driven.service.seats.answer(driven.table, "Dora", admitted=True, by=driven.people["Ann"])
    await driven.tick()
    assert len(driven.heard("Dora", "seat_answer")) == 1


@pytest.mark.parametrize("begun", [False, True])
async def test_a_new_host_hears_who_asks(driven: DrivenTable, begun: bool) -> None:
    """Only the host before was asked, and Dora waited."""
    await (open_seat(driven) if begun else lobby_of_two(driven))
    other = "Cid" if begun else "Bob"
    await ask(driven, "Dora")
    if begun:
        eve = await driven.person("Eve")
        await driven.service.running.replace_player(driven.table, 0, eve, "Eve", by=None)
        await driven.tick()
    else:
        await driven.say("Ann", "leave")
    assert "Dora asks for" in driven.heard(other, "seat_request")[0]
    assert (await ask(driven, other, "admit")).startswith("Dora has a seat")
    assert (await driven.service.queries.table_info(driven.table)).player_of(driven.people["Dora"])


@pytest.mark.parametrize("line", ["resign yes", "end yes"])
async def test_a_seat_is_asked_for_at_the_table_as_it_is_now(driven: DrivenTable, line: str) -> None:
    """In another process Ann had left, or ended the game; she was asked, as if she were the host."""
    await driven.begin("none")
    await driven.person("Dora")
    await driven.say("Cid", "resign yes")
    other = Service(driven.store)
    await other.queries.view(driven.table)
    await other.submit(driven.table, None, [line], None, None, person_id=driven.people["Ann"])
    told = await ask(driven, "Dora", "ask Cid")
    assert driven.heard("Ann", "seat_request") == []
    if line == "resign yes":
        assert "You are told" in told and len(driven.heard("Bob", "seat_request")) == 1
    else:
        assert told.endswith("is ended; no seat is open.")


@pytest.mark.parametrize("line", ["refuse Dora", "replace Bob by Eve <eve@player.test>"])
async def test_a_former_host_decides_on_no_seat(driven: DrivenTable, line: str) -> None:
    """In a process that had not seen that they have left."""
    await open_seat(driven)
    await ask(driven, "Dora", "ask Bob")
    other = Service(driven.store)
    await other.submit(driven.table, None, ["resign yes"], None, None, person_id=driven.people["Ann"])
    assert "Only Cid, its host, may do that" in await ask(driven, "Ann", line)
    assert (await ask(driven, "Cid", "admit Dora")).startswith("Dora has a seat")
