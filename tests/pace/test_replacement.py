"""A player is replaced by consent of the new one, and of the old one or, if they are late, of the others."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.hub.info import open_seats
from bot.hub.pace import calendar_of, parse_pace
from bot.hub.request import (
    Completed,
    ConfirmationRequired,
    LineRefused,
    NotYourSeat,
    PollUpdated,
    QueryAnswer,
)
from bot.service import Service
from tests.mail.mail_desk import MailDesk
from tests.pace.conftest import START, DrivenTable, to
from tests.pace.test_seat_requests import ask

DAY = timedelta(days=1)


async def asked_for_ann(driven: DrivenTable, pace: str) -> str:
    """Ann, who is to act and the host, sleeps; Dora would play on for her."""
    await driven.begin(pace)
    await driven.person("Dora")
    return await ask(driven, "Dora", "ask Ann")


async def names(driven: DrivenTable) -> tuple[str, ...]:
    return (await driven.service.queries.table_info(driven.table)).names


async def voters(driven: DrivenTable) -> list[str]:
    view = await driven.service.queries.view(driven.table)
    return [view.table.names[seat] for _, seat in view.missing_votes()]


async def test_the_old_player_agrees_and_both_are_told(driven: DrivenTable) -> None:
    """It was one line of the host, at once, without a word to either."""
    told = await asked_for_ann(driven, "24h")
    assert "Ann is asked; once Ann is late by 2 days, the other players are." in told
    assert await names(driven) == ("Ann", "Bob", "Cid") and await voters(driven) == ["Ann"]
    assert "Dora would play on for Ann." in driven.heard("Ann", "vote")[0]
    assert isinstance(await driven.say("Ann", "accept"), PollUpdated)
    assert await names(driven) == ("Dora", "Bob", "Cid")
    assert "You have a seat at table Friday" in driven.heard("Dora", "seat_answer")[0]
    assert "Dora plays on for Ann, as agreed." in driven.heard("Bob", "news")[-1]
    assert isinstance(await driven.say("Dora", "pass"), Completed)


async def test_another_person_of_that_name_is_told_from_the_player(driven: DrivenTable) -> None:
    """It may be the player, who writes from another address; `Ann would play on for Ann.` said nothing."""
    await driven.begin("24h")
    async with driven.store.begin() as unit:
        driven.people["another"] = (await unit.people.add("Ann")).id
    await ask(driven, "another", "ask Ann")
    assert "Another person called Ann would play on for Ann." in driven.heard("Ann", "vote")[0]


async def test_the_old_player_declines(driven: DrivenTable) -> None:
    await asked_for_ann(driven, "24h")
    await driven.say("Ann", "decline")
    assert await names(driven) == ("Ann", "Bob", "Cid")
    why = "is over, because Ann declines."
    assert [each.endswith(why) for each in driven.heard("Dora", "seat_answer")] == [True]
    assert driven.heard("Bob", "news")[-1].endswith("because Ann declines: Dora would play on for Ann.")


async def test_no_vote_waits_for_who_has_left(driven: DrivenTable) -> None:
    """Ann resigns. Dora had asked for her seat, and now asks the new host for the open seat."""
    await asked_for_ann(driven, "24h")
    await driven.say("Bob", "pace 12h")
    await driven.say("Ann", "resign yes")
    assert await voters(driven) == []
    (told,) = driven.heard("Cid", "news")
    assert "Ann resigns." in told and "because Ann has left: Bob proposes another pace" in told
    (told,) = driven.heard("Dora", "seat_answer")
    assert told.endswith(" is open now. You are told when its host has answered.")
    (asked,) = driven.heard("Bob", "seat_request")
    assert "Dora asks for the seat of Ann" in asked and driven.heard("Cid", "seat_request") == []
    assert (await ask(driven, "Bob", "admit Dora")).startswith("Dora has a seat at table")


async def test_who_plays_on_is_asked_for_the_open_votes(driven: DrivenTable) -> None:
    """A new player, a deputy, and a player who is back."""
    await asked_for_ann(driven, "24h")
    await driven.say("Bob", "pace 12h")
    await driven.say("Ann", "accept")
    await driven.wait_until(driven.now + timedelta(minutes=5))
    assert ["pace: 12h" in each for each in driven.heard("Dora", "vote")] == [True]
    await driven.person("Eve")
    await driven.say("Dora", "away until 2026-07-01 deputy Eve")
    assert ["pace: 12h" in each for each in driven.heard("Eve", "vote")] == [True]
    await driven.say("Dora", "back")
    assert len(driven.heard("Dora", "vote")) == 2 and len(driven.heard("Cid", "vote")) == 1


async def test_a_deputy_keeps_the_seat_and_has_plans_of_their_own(driven: DrivenTable) -> None:
    """A deputy could resign, and accepted in the place of the player that another plays on."""
    await asked_for_ann(driven, "none")
    await driven.person("Eve")
    await driven.say("Ann", "plan bid CA 165")
    await driven.say("Ann", "away until 2026-07-01 deputy Eve")
    assert driven.heard("Eve", "vote") == []
    for line in ("resign yes", "robot Ann", "accept vote"):
        refused = await driven.say("Eve", line)
        assert isinstance(refused, LineRefused)
        assert refused.reason == "You play for Ann; only Ann can give up that seat."
    shown = await driven.say("Eve", "plan")
    assert isinstance(shown, QueryAnswer) and "You have no plan" in shown.text
    await driven.say("Eve", "plan pass")
    shown = await driven.say("Ann", "plan")
    assert isinstance(shown, QueryAnswer) and "bid CA 165" in shown.text
    await driven.wait_until(START + 3 * DAY)
    assert driven.heard("Eve", "vote_reminder") == []
    await driven.say("Ann", "back")
    assert len(driven.heard("Ann", "vote")) == 2
    assert isinstance(await driven.say("Ann", "accept vote"), PollUpdated)


async def test_who_takes_an_open_seat_is_told_once_and_nobody_is_called_back(driven: DrivenTable) -> None:
    """Bob was away when he resigned; the others heard that his successor was back."""
    await driven.begin("none")
    await driven.person("Dora")
    await driven.say("Bob", "away until 2026-07-01")
    await driven.say("Bob", "resign yes")
    await ask(driven, "Dora", "ask Bob")
    before = len(driven.told)
    await driven.say("Ann", "admit Dora")
    assert [(told.to, told.kind) for told in driven.told[before:]] == [
        ("Cid", "news"),
        ("Dora", "seat_answer"),
    ]
    assert driven.heard("Cid", "news")[-1].endswith("Dora plays on for Bob. The game goes on.")
    assert isinstance(await driven.say("Ann", "buy SV"), Completed)
    assert not [told for told in driven.told if "is back" in told.text]
    log = await driven.say("Cid", "log")
    assert isinstance(log, QueryAnswer) and "resign — Bob resigns" in log.text
    assert "Dora: resign" not in log.text and "Ann: buy SV" in log.text


async def test_who_asks_is_answered_at_once_where_an_order_declines(driven: DrivenTable) -> None:
    """Dora read that the others would be asked later."""
    await driven.begin("24h")
    await driven.person("Dora")
    await driven.say("Ann", "auto decline votes")
    answer = await ask(driven, "Dora", "ask Ann")
    assert "Ann declines" in answer and answer.endswith("Nothing changes.") and "late" not in answer


async def test_votes_on_one_seat_end_together(driven: DrivenTable) -> None:
    """Dora heard nothing, and the vote that could decide nothing any more stayed open."""
    await asked_for_ann(driven, "24h")
    await driven.say("Ann", "robot Ann")
    await driven.say("Bob", "accept")
    await driven.say("Cid", "accept")
    assert await names(driven) == ("Robot", "Bob", "Cid") and await voters(driven) == []
    assert driven.heard("Dora", "seat_answer")[0].endswith("is over, because the seats have changed.")
    assert "because the seats have changed: Dora would play on" in driven.heard("Bob", "news")[-1]


async def test_who_asks_for_a_taken_seat_hears_that_the_game_is_over(driven: DrivenTable) -> None:
    await asked_for_ann(driven, "24h")
    await driven.say("Ann", "end yes")
    assert driven.heard("Dora", "seat_answer")[0].endswith("is over, because the game is over.")
    assert await voters(driven) == []


async def test_the_pause_for_a_sleeper_ends_with_them_and_their_orders_too(driven: DrivenTable) -> None:
    """An order of Ann's bought a private for Dora in the moment in which she took the seat."""
    await asked_for_ann(driven, "24h, then pause")
    await driven.wait_until(START + timedelta(hours=25))
    await driven.say("Ann", "auto buy private SV up to 20")
    await driven.say("Ann", "accept vote")
    view = await driven.service.queries.view(driven.table)
    assert view.table.status == "running" and [p.name for p in view.pending] == ["Dora"]


async def test_a_vote_about_somebody_who_is_deleted_is_over(driven: DrivenTable) -> None:
    """Accepting it failed, again and again."""
    await asked_for_ann(driven, "24h")
    await driven.service.personal_data.erase(driven.people["Dora"])
    await driven.tick()
    assert await voters(driven) == []
    assert "because somebody has left" in driven.heard("Bob", "news")[-1]
    notes = [row.raw_line for row in await driven.service.queries.log(driven.table)]
    assert not [each for each in notes if "Dora" in each]


@pytest.mark.parametrize("pace, late_days", [("24h", 3), ("24h, bank 24h", 4), ("none", 9)])
async def test_when_they_are_late_the_others_decide(driven: DrivenTable, pace: str, late_days: int) -> None:
    await asked_for_ann(driven, pace)
    await driven.wait_until(START + late_days * DAY - timedelta(hours=1))
    assert await voters(driven) == ["Ann"]
    await driven.wait_until(START + late_days * DAY + timedelta(minutes=5))
    assert await voters(driven) == ["Bob", "Cid"]
    assert driven.heard("Bob", "vote")[-1].endswith("play on for Ann. Ann is late, so the others decide.")
    await driven.say("Bob", "accept")
    assert await names(driven) == ("Ann", "Bob", "Cid")
    await driven.say("Cid", "accept")
    assert await names(driven) == ("Dora", "Bob", "Cid")
    assert "Dora plays on for you at table Friday" in driven.heard("Ann", "seat_answer")[0]


async def test_who_moves_keeps_their_seat(driven: DrivenTable) -> None:
    await asked_for_ann(driven, "24h")
    await driven.wait_until(START + 3 * DAY + timedelta(minutes=5))
    await driven.say("Bob", "accept")
    assert isinstance(await driven.say("Ann", "pass"), Completed)
    assert await voters(driven) == []
    assert "The vote is over, because Ann has moved" in driven.heard("Cid", "news")[-1]


@pytest.mark.parametrize("pace", ["24h, weekends out", "24h, then pause"])
async def test_weekends_do_not_count_and_a_pause_for_the_sleeper_does(driven: DrivenTable, pace: str) -> None:
    """START is a Monday; asked anew on Thursday, the time counts on Friday and from the next Monday."""
    await driven.begin(pace)
    await driven.person("Dora")
    if "weekends" in pace:
        await driven.wait_until(START + 3 * DAY)
        await driven.say("Ann", "pass")
        for name in ("Bob", "Cid"):
            await driven.say(name, "buy SV" if name == "Bob" else "pass")
        start, late = driven.now, 5
        sleeper = (await driven.asked())[0]
    else:
        start, late, sleeper = START, 3, "Ann"
    await ask(driven, "Dora", f"ask {sleeper}")
    await driven.wait_until(start + late * DAY - timedelta(hours=2))
    assert await voters(driven) == [sleeper]
    await driven.wait_until(start + late * DAY + DAY)
    assert sleeper not in await voters(driven) and len(await voters(driven)) == 2
    assert calendar_of(parse_pace(pace), None).weekends == ("weekends" not in pace)


async def test_nobody_is_late_in_an_absence(driven: DrivenTable) -> None:
    await asked_for_ann(driven, "24h")
    await driven.settings("Ann", "away until 2026-06-20")
    await driven.wait_until(START + 10 * DAY)
    assert await voters(driven) == ["Ann"]


async def test_nobody_is_late_whom_no_message_reaches(driven: DrivenTable) -> None:
    """The host is told, here the others, since the host is the one who sleeps."""
    await asked_for_ann(driven, "24h")
    async with driven.store.begin() as unit:
        await unit.people.record_bounces(driven.people["Ann"], "ann@player.test", {}, "no such mailbox")
    await driven.service.cache.refresh(driven.table)
    await driven.wait_until(START + 5 * DAY)
    assert await voters(driven) == ["Ann"]
    assert "no message of Railpost reaches them" in driven.heard("Bob", "seat_answer")[0]
    await driven.wait_until(START + 150 * DAY)
    assert len(driven.heard("Bob", "seat_answer")) == 8, "not without end"


@pytest.mark.parametrize("line", ["ask Ann", "robot Ann"])
async def test_with_one_other_person_it_takes_seven_days(driven: DrivenTable, line: str) -> None:
    await driven.begin("24h")
    await driven.person("Dora")
    await driven.person("Eve")
    await driven.say("Cid", "robot Cid")
    for name in ("Ann", "Bob"):
        await driven.say(name, "accept")
    assert (await names(driven))[2] == "Robot"
    await driven.wait_until(START + 8 * DAY - timedelta(hours=1))
    refused = await driven.say("Bob", "robot Ann")
    assert isinstance(refused, LineRefused) and "a player who is late" in refused.reason
    await driven.wait_until(START + 8 * DAY + timedelta(hours=1))
    if line == "robot Ann":
        assert isinstance(await driven.say("Bob", line), Completed)
        assert (await names(driven))[0] == "Robot 2"
    else:
        assert "the other players are asked" in await ask(driven, "Dora", line)
        assert await voters(driven) == ["Bob"], "a robot does not vote"
        await ask(driven, "Eve", "ask Robot")
        assert await voters(driven) == ["Bob", "Eve"], "but the person who takes its seat"
        await driven.say("Bob", "accept")
        await driven.say("Eve", "accept")
        assert (await names(driven))[0] == "Dora"


async def test_then_deputy_without_one_is_a_vote_of_the_others(driven: DrivenTable) -> None:
    await driven.begin("24h, then deputy")
    await driven.wait_until(START + 3 * DAY - timedelta(hours=1))
    assert "the others vote on the seat" in driven.heard("Bob", "news")[-1]
    assert await voters(driven) == []
    await driven.wait_until(START + 3 * DAY + timedelta(hours=1))
    assert await voters(driven) == ["Bob", "Cid"], "also when the sleeper is the host"
    await driven.say("Bob", "accept")
    await driven.say("Cid", "accept")
    assert await names(driven) == ("Robot", "Bob", "Cid")


async def test_a_deputy_who_sleeps_too_is_no_end(driven: DrivenTable) -> None:
    """They were reminded daily, and nobody else was ever asked."""
    await driven.begin("24h, then deputy")
    await driven.person("Dora")
    await driven.settings("Ann", "settings deputy Dora")
    await driven.wait_until(START + 3 * DAY - timedelta(hours=1))
    assert await voters(driven) == [] and len(driven.heard("Dora", "turn")) == 1
    await driven.wait_until(START + 3 * DAY + timedelta(hours=1))
    assert await voters(driven) == ["Bob", "Cid"]
    assert "Ann is late, and nobody decides for them." in driven.heard("Bob", "vote")[0]
    assert isinstance(await driven.say("Dora", "pass"), Completed)
    assert await voters(driven) == [] and await driven.asked() == ["Bob"]


async def imported(driven: DrivenTable) -> list[str]:
    """A game of two moves in; its seats are empty. Ann is the host."""
    for name in ("Ann", "Bob", "Dora"):
        await driven.person(name)
    lines = Path("tests/games/1830-2p-1.18xx").read_text().splitlines(keepends=True)
    head = "".join(lines[: lines.index("---\n") + 3])
    table, _ = await driven.service.imports.open_table(head.encode(), by=driven.people["Ann"])
    driven.table = table.id
    return list(table.names)


async def test_the_host_confirms_who_takes_which_seat_of_an_imported_game(driven: DrivenTable) -> None:
    """They were first come."""
    first, second = await imported(driven)
    assert "asked for the seat" in await ask(driven, "Dora", f"ask {first}")
    assert len(open_seats(await driven.service.queries.table_info(driven.table))) == 2
    assert (await ask(driven, "Ann", "admit Dora")).startswith("Dora has a seat")
    await driven.service.lobby.leave(driven.table, driven.people["Dora"], by=driven.people["Dora"])
    assert open_seats(await driven.service.queries.table_info(driven.table)) == [0, 1], "given back"
    await ask(driven, "Bob", "ask Dora")
    await ask(driven, "Ann", "admit Bob")
    assert "All seats are taken" in await ask(driven, "Ann", f"ask {second}")
    assert (await driven.service.queries.table_info(driven.table)).status == "running"
    with pytest.raises(ValueError, match="has started"):
        await driven.service.lobby.leave(driven.table, driven.people["Bob"], by=driven.people["Bob"])


async def test_a_new_player_by_mail_is_asked_first(driven: DrivenTable, desk: MailDesk) -> None:
    """The host proposes Dora; nothing happens before she says yes, and then Bob is asked."""
    await driven.begin("24h")
    dora = await driven.person("Dora")
    told = await driven.service.seats.offer(driven.table, "Bob", dora, by=driven.people["Ann"])
    assert told.startswith("Dora is asked to play on for Bob")
    (email,) = to(await desk.take(), "Dora")
    assert "play on as Bob" in email.subject and await voters(driven) == []
    assert "Bob is asked" in (await desk.answered(email, "yes")).text
    assert await voters(driven) == ["Bob"]
    await driven.say("Bob", "accept")
    assert await names(driven) == ("Ann", "Dora", "Cid")


@pytest.mark.parametrize("by", ["Ann", "Cid"])
async def test_an_offer_ends_when_another_has_the_seat(driven: DrivenTable, by: str) -> None:
    """Dora took the seat, once it was empty again, without a word to the host; so did whom another player had
    asked to play on for somebody."""
    await driven.begin("none")
    dora, eve = await driven.person("Dora"), await driven.person("Eve")
    if by == "Ann":
        await driven.say("Bob", "resign yes")
    await driven.service.seats.offer(driven.table, "Bob", dora, by=driven.people[by])
    if by == "Ann":
        await driven.service.running.replace_player(driven.table, 1, eve, "Eve", by=driven.people["Ann"])
        await driven.say("Eve", "resign yes")
    else:
        await driven.say("Bob", "resign yes")
    assert "You are told when its host has answered." in await ask(driven, "Dora", "ask")
    assert driven.heard("Ann", "seat_request") != []


@pytest.mark.parametrize("deletes_himself", [True, False])
async def test_an_offer_of_the_host_stays_when_the_player_leaves(
    driven: DrivenTable, deletes_himself: bool
) -> None:
    """Bob deletes himself, or offers his seat too: Dora had to wait for the host who had asked her."""
    await driven.begin("none")
    dora = await driven.person("Dora")
    await driven.service.seats.offer(driven.table, "Bob", dora, by=driven.people["Ann"])
    if deletes_himself:
        await driven.service.personal_data.erase(driven.people["Bob"])
        await driven.tick()
    else:
        await driven.service.seats.offer(driven.table, "Bob", dora, by=driven.people["Bob"])
        await driven.say("Bob", "resign yes")
    assert (await ask(driven, "Dora", "ask")).startswith("You play on as")


async def test_who_was_offered_a_seat_hears_that_the_game_is_over(driven: DrivenTable) -> None:
    """Ann is the last, and is told first that the game ends without her; she read that it waits. Eve, whom
    Cid had invited for a seat that has a player, is told nothing of a game that she could not join."""
    await driven.begin("none")
    dora, eve = await driven.person("Dora"), await driven.person("Eve")
    await driven.service.seats.offer(driven.table, "Cid", eve, by=driven.people["Bob"])
    waits = await driven.say("Bob", "resign")
    assert isinstance(waits, ConfirmationRequired) and "the game waits until" in waits.reason
    for name in ("Bob", "Cid"):
        await driven.say(name, "resign yes")
    await driven.service.seats.offer(driven.table, "Bob", dora, by=driven.people["Ann"])
    ends = await driven.say("Ann", "resign")
    assert isinstance(ends, ConfirmationRequired)
    assert ends.reason == "If you resign, the game is ended, because no other person plays it."
    await driven.say("Ann", "resign yes")
    (told,) = driven.heard("Dora", "seat_answer")
    assert "You cannot play on for Bob at table Friday" in told and told.endswith("because the game is over.")
    assert driven.heard("Eve", "seat_answer") == []


@pytest.mark.parametrize(("takes", "hears"), [("Dora", "Eve"), ("Eve", "Dora")])
async def test_who_was_offered_a_seat_hears_that_another_has_it(
    driven: DrivenTable, takes: str, hears: str
) -> None:
    await driven.begin("none")
    await driven.say("Bob", "resign yes")
    for name in ("Dora", "Eve"):
        person = await driven.person(name)
        await driven.service.seats.offer(driven.table, "Bob", person, by=driven.people["Ann"])
    await ask(driven, takes, "ask Bob")
    (told,) = driven.heard(hears, "seat_answer")
    assert "You cannot play on for Bob at table Friday" in told
    assert told.endswith("because somebody else has that seat now.")
    assert driven.heard(takes, "seat_answer") == []


async def test_nobody_asks_for_the_seat_of_a_player_without_end(driven: DrivenTable) -> None:
    """Whoever knew the code of a table could have its players asked again after each answer."""
    await driven.begin("24h")
    await driven.person("Dora")
    for _ in range(10):
        assert (await ask(driven, "Dora", "ask Bob")).startswith("You have asked to play on for Bob")
        assert (await ask(driven, "Dora", "ask Bob")).startswith("A vote is already open"), "counts once"
        assert isinstance(await driven.say("Bob", "decline vote"), PollUpdated)
    assert (await ask(driven, "Dora", "ask Bob")).startswith("You have asked for 10 seats today")


@pytest.mark.parametrize(("line", "kind"), [("ask Bob", "replace"), ("robot Ann", "robot")])
async def test_a_vote_of_a_former_version_is_not_opened_once_more(
    driven: DrivenTable, line: str, kind: str
) -> None:
    """Bob had the same question twice: the kind of a vote did not name its seat in former versions."""
    await driven.begin("24h")
    await driven.person("Dora")
    who = "Dora" if kind == "replace" else "Ann"
    await driven.say(who, line)
    async with driven.store.begin(table=driven.table) as unit:
        (open_poll,) = await unit.polls.open_polls(driven.table)
        await unit.polls.close(open_poll.poll.id, "superseded")
        await unit.polls.open(driven.table, kind, open_poll.votes, open_poll.poll.details)
    await driven.restart()
    refusal = await driven.say(who, line)
    assert isinstance(refusal, LineRefused) and refusal.reason.startswith("A vote is already open")


async def test_a_vote_about_each_seat_may_be_open(driven: DrivenTable) -> None:
    """Eve was told that the vote about Ann's seat was open already, and could not ask."""
    await asked_for_ann(driven, "24h")
    await driven.person("Eve")
    assert (await ask(driven, "Eve", "ask Bob")).startswith("You have asked to play on for Bob")
    assert await voters(driven) == ["Ann", "Bob"]
    for name in ("Bob", "Ann"):
        assert isinstance(await driven.say(name, "accept"), PollUpdated)
    assert await names(driven) == ("Dora", "Eve", "Cid")
    for name in ("Dora", "Eve"):
        assert isinstance(await driven.say(name, f"robot {name}"), PollUpdated)
    assert await voters(driven) == ["Eve", "Cid", "Dora", "Cid"]


async def test_who_has_the_name_of_another_seat_plays_on_with_a_number(driven: DrivenTable) -> None:
    """Bob has resigned, and his seat keeps his name; Cid agreed, and was told that two players are called
    Bob."""
    await driven.begin("none")
    await driven.say("Bob", "resign yes")
    await ask(driven, "Bob", "ask Cid")
    assert "Bob 2 would play on for Cid." in driven.heard("Cid", "vote")[0]
    await driven.say("Cid", "accept vote")
    assert await names(driven) == ("Ann", "Bob", "Bob 2")
    assert driven.heard("Bob", "seat_answer")[-1].endswith("as Bob 2.")


async def test_who_has_the_name_of_another_seat_is_admitted_with_a_number(driven: DrivenTable) -> None:
    await driven.begin("none")
    for name in ("Bob", "Cid"):
        await driven.say(name, "resign yes")
    await ask(driven, "Bob", "ask Cid")
    assert "Bob 2 asks for the seat of Cid" in driven.heard("Ann", "seat_request")[0]
    assert (await ask(driven, "Ann", "admit Bob 2")).startswith("Bob 2 has a seat")


async def test_who_has_got_a_seat_meanwhile_asks_for_no_other(driven: DrivenTable) -> None:
    """Another process still has the table as it was."""
    await driven.begin("none")
    dora = await driven.person("Dora")
    other = Service(driven.store)
    await other.queries.view(driven.table)
    await driven.service.running.replace_player(driven.table, 1, dora, "Dora", by=None)
    answer = await other.submit(driven.table, None, ["ask Cid"], None, None, person_id=dora)
    assert isinstance(answer, LineRefused) and "You already sit at table" in answer.reason
    assert await voters(driven) == []


async def test_all_seats_that_are_empty_have_to_be_taken(driven: DrivenTable) -> None:
    await driven.begin("none")
    for name in ("Bob", "Cid"):
        await driven.say(name, "resign yes")
    answer = await driven.say("Ann", "resume")
    assert isinstance(answer, LineRefused)
    assert answer.reason == "The seats of Bob and Cid are empty; somebody has to take them first."


async def test_a_stranger_proposes_no_pace(driven: DrivenTable) -> None:
    """The answer was only that the game is being played."""
    await driven.begin("none")
    await driven.person("Dora")
    assert isinstance(await driven.say("Dora", "pace 24h"), NotYourSeat)


async def test_who_is_left_alone_ends_the_game(driven: DrivenTable) -> None:
    """The host has resigned too. Cid opened a vote in which nobody had a vote."""
    await driven.begin("none")
    for name in ("Ann", "Bob"):
        await driven.say(name, "resign yes")
    assert isinstance(await driven.say("Cid", "end"), ConfirmationRequired)
    assert isinstance(await driven.say("Cid", "end yes"), Completed)
    assert (await driven.service.queries.table_info(driven.table)).status == "ended"


async def test_after_a_host_who_resigns_another_player_is_the_host(driven: DrivenTable) -> None:
    """Who asked for a seat waited for two days for a host who had left."""
    await driven.begin("none")
    await driven.person("Dora")
    await ask(driven, "Dora", "ask Bob")
    await driven.say("Bob", "resign yes")
    await ask(driven, "Dora", "ask Bob")
    await driven.say("Ann", "resign yes")
    assert driven.heard("Cid", "news")[-1].endswith(
        "Ann resigns. The game waits until somebody takes that seat. Cid is the host now."
    )
    assert len(driven.heard("Cid", "seat_request")) == 1
    assert (await ask(driven, "Cid", "admit Dora")).startswith("Dora has a seat")


@pytest.mark.parametrize("erased", [False, True])
async def test_a_game_that_everybody_has_left_is_ended(driven: DrivenTable, erased: bool) -> None:
    """It stayed paused, and nobody could go on with it or end it."""
    await driven.begin("none")
    await driven.person("Dora")
    for name in ("Bob", "Cid"):
        await driven.say(name, "resign yes")
    await ask(driven, "Dora")
    if erased:
        await driven.service.personal_data.erase(driven.people["Ann"])
        await driven.tick()
    else:
        answer = await driven.say("Ann", "resign yes")
        assert isinstance(answer, Completed) and answer.sentences[0] == "Ann resigns."
        assert answer.sentences[1].startswith("The game is ended, because nobody plays it any more.")
    assert (await driven.service.queries.table_info(driven.table)).status == "ended"
    assert driven.heard("Dora", "seat_answer")[-1].endswith("is over, because the game is over.")
    *_, end = await driven.service.queries.log(driven.table)
    assert "nobody plays it any more. Standings: " in end.sentences[0]
    assert ("Ann" in end.sentences[0]) is not erased


@pytest.mark.parametrize("has_played", [False, True])
async def test_who_is_host_after_one_without_a_seat_hears_of_it(
    driven: DrivenTable, has_played: bool
) -> None:
    """Nobody heard of it if the name of the empty seat was the host's; else who asked waited for two days."""
    await driven.begin("none")
    gus, _ = [await driven.person(name) for name in ("Gus", "Dora")]
    await driven.say("Ann", "resign yes")
    host = driven.people["Ann"] if has_played else gus  # in former versions also who had resigned
    async with driven.store.begin(table=driven.table) as unit:
        await unit.tables.update(driven.table, host_id=host)
    await driven.service.cache.refresh(driven.table)
    await ask(driven, "Dora")
    assert driven.heard("Bob", "seat_request") == []
    await driven.service.personal_data.erase(host)
    await driven.tick()
    assert len(driven.heard("Bob", "seat_request")) == 1
    assert driven.heard("Cid", "news")[-1].endswith("has left Railpost. Bob is the host now.")


async def test_a_game_is_ended_with_the_host_whom_all_players_have_left(driven: DrivenTable) -> None:
    """It stayed paused, and nobody could go on with it or end it."""
    await driven.begin("none")
    gus = await driven.person("Gus")
    async with driven.store.begin(table=driven.table) as unit:
        await unit.tables.update(driven.table, host_id=gus)
    for name in ("Ann", "Bob", "Cid"):
        await driven.say(name, "resign yes")
    assert (await driven.service.queries.table_info(driven.table)).status == "paused"
    await driven.service.personal_data.erase(gus)
    assert (await driven.service.queries.table_info(driven.table)).status == "ended"
