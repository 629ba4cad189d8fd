"""Lines become moves: all or none, once, in order, and only while the decision they answer is open."""

from __future__ import annotations

import asyncio

import pytest

import engine
from bot.hub.request import (
    Completed,
    LineAmbiguous,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
    decode_result,
    encode_result,
)
from bot.service import Service
from storage import NotFound, open_store
from tests.service.conftest import ServiceHarness
from tests.service.test_orders import OPENING, say_all
from tests.tables import started


async def test_a_line_is_played(world: ServiceHarness) -> None:
    answer = await world.say("Ann", "buy sv")
    assert isinstance(answer, Completed)
    (move,) = answer.played
    assert (move.raw_line, move.line) == ("buy sv", "buy SV")
    assert any("SV" in s and "$20" in s for s in move.sentences)
    assert await world.asked_names() == ["Bob"]
    assert (await world.service.queries.state_at(world.table)).cash["p0"] == 780


@pytest.mark.parametrize("typed", ["buy SV.", "“buy SV”", "buy\u00a0SV", "Buy ＳＶ"])
async def test_what_a_phone_makes_of_a_line_is_read(world: ServiceHarness, typed: str) -> None:
    answer = await world.say("Ann", typed)
    assert isinstance(answer, Completed), answer
    assert [(move.raw_line, move.line) for move in answer.played] == [(typed, "buy SV")]


async def test_several_lines_are_played_in_order(world: ServiceHarness) -> None:
    for name in ("Ann", "Bob", "Cid"):
        await world.say(name, {"Ann": "buy SV", "Bob": "buy CS", "Cid": "buy DH"}[name])
    for name, line in (("Ann", "buy MH"), ("Bob", "buy CA")):
        await world.say(name, line)
    answer = await world.say("Cid", "buy BO", "par BO 100  # the dearest")
    assert isinstance(answer, Completed)
    assert [m.line for m in answer.played] == ["buy BO", "par B&O 100"]
    assert (await world.lines())[-2:] == ["buy BO", "par B&O 100"]


@pytest.mark.parametrize("bad", ["buy XX", "sell 1 PRR", "bid"])
async def test_all_lines_or_none(world: ServiceHarness, bad: str) -> None:
    await say_all(world, *OPENING[:5])
    before = await world.service.queries.view(world.table)
    answer = await world.say("Cid", "buy BO", bad)
    assert isinstance(answer, LineUnreadable | LineRefused)
    assert (answer.index, answer.line) == (1, bad)
    after = await world.service.queries.view(world.table)
    assert engine.encode_state(after.state) == engine.encode_state(before.state)  # type: ignore[arg-type]
    assert after.seq == before.seq


async def test_the_three_failures(world: ServiceHarness) -> None:
    unreadable = await world.say("Ann", "frobnicate")
    assert isinstance(unreadable, LineUnreadable) and not unreadable.suggestions
    unreadable = await world.say("Ann", "bye SV")
    assert isinstance(unreadable, LineUnreadable) and unreadable.suggestions == ("buy SV",)
    refused = await world.say("Ann", "bid CA 160")
    assert isinstance(refused, LineRefused) and "bid CA 165" in refused.suggestions
    await say_all(world, *OPENING[:5])
    await world.say("Cid", "buy BO")
    ambiguous = await world.say("Cid", "par BO")
    assert isinstance(ambiguous, LineAmbiguous)
    assert "par B&O 100" in ambiguous.suggestions


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("undo pls", "undo"),
        ("/undo", "undo"),
        ("udno", "undo"),
        ("show map", "map"),
        ("autopass", "auto pass"),
        ("autopas", "auto pass"),
        ("notes: mine", "notes"),
        ("awya until 2026-12-24", "away until 2026-12-24"),
        ("what can I do", ""),
        ("Noted.", ""),
        ("Trying later", ""),
        ("resigned yesterday", ""),
    ],
)
async def test_a_command_with_a_wrong_word_is_named(world: ServiceHarness, text: str, meant: str) -> None:
    answer = await world.say("Ann", text)
    assert isinstance(answer, LineUnreadable) and answer.suggestions == ((meant,) if meant else ())
    assert not meant or answer.reason == f"`{text}` cannot be read. Did you mean `{meant}`?"


async def test_a_line_is_named_by_its_place(world: ServiceHarness) -> None:
    """Blank lines and comments are skipped, and counted."""
    answer = await world.say("Ann", "", "# my turn", "buy SV", "  ", "buy QQ")
    assert isinstance(answer, LineUnreadable | LineRefused)
    assert (answer.index, answer.line) == (4, "buy QQ")


async def test_nothing_but_a_comment(world: ServiceHarness) -> None:
    assert isinstance(await world.say("Ann", "  # hm", ""), LineUnreadable)


async def test_a_line_out_of_turn_is_refused(world: ServiceHarness) -> None:
    answer = await world.say("Bob", "buy SV")
    assert isinstance(answer, LineRefused)
    assert "Ann" in answer.reason


async def test_only_the_seated_player_may_act(world: ServiceHarness) -> None:
    service, people = world.service, world.people
    assert isinstance(
        await service.submit(world.table, 0, ["buy SV"], None, "x", person_id=people["Bob"]), NotYourSeat
    )
    stranger = await world.person("Dora")
    assert isinstance(
        await service.submit(world.table, None, ["buy SV"], None, "y", person_id=stranger), NotYourSeat
    )
    assert isinstance(await service.submit(world.table, 7, ["buy SV"], None, "z"), NotYourSeat)
    with pytest.raises(NotFound):
        await service.submit(999, 0, ["buy SV"], None, "q")
    assert await world.lines() == []


async def test_a_repeated_request_gets_its_result_and_no_second_effect(world: ServiceHarness) -> None:
    first = await world.say("Ann", "buy SV", request="same")
    again = await world.say("Ann", "buy SV", request="same")
    assert again == first
    assert await world.lines() == ["buy SV"]
    refused = await world.say("Ann", "buy CS", request="early")
    await world.say("Bob", "pass")
    assert await world.say("Ann", "buy CS", request="early") == refused


async def test_a_repeated_request_after_a_restart(world: ServiceHarness) -> None:
    first = await world.say("Ann", "buy SV", request="same")
    world.service = Service(world.store)
    assert await world.say("Ann", "buy SV", request="same") == first


async def test_the_same_request_twice_at_once(world: ServiceHarness) -> None:
    first, second = await asyncio.gather(
        world.say("Ann", "buy SV", request="same"), world.say("Ann", "buy SV", request="same")
    )
    assert first == second
    assert await world.lines() == ["buy SV"]


async def test_of_two_at_once_the_second_learns_what_happened(world: ServiceHarness) -> None:
    seen = await world.decision()
    answers = await asyncio.gather(
        world.say("Ann", "buy SV", seen=seen), world.say("Ann", "bid CA 165", seen=seen)
    )
    done, stale = answers
    assert isinstance(done, Completed)
    assert isinstance(stale, StaleDecision)
    assert any("SV" in s and "$20" in s for s in stale.since)
    assert stale.lines == ("Ann: buy SV",)
    assert await world.asked_names() == ["Bob"]


async def test_many_at_once_lose_no_move(world: ServiceHarness) -> None:
    """All players submit everything at once: each move is played once or refused, none twice."""
    answers = await asyncio.gather(
        *(world.say(name, "pass") for _ in range(4) for name in ("Ann", "Bob", "Cid"))
    )
    played = [a for a in answers if isinstance(a, Completed)]
    assert len(played) == len(await world.lines()) > 0
    assert all(isinstance(a, Completed | LineRefused) for a in answers)


async def test_tables_do_not_wait_for_each_other(world: ServiceHarness) -> None:
    other = await world.service.lobby.create("1830", None)
    for name in ("Xan", "Yul"):
        await world.service.lobby.join(other.id, await world.person(name), name)
    await world.service.lobby.start(other.id, by=None, order=["Xan", "Yul"])
    async with world.service.cache.locked(world.table):
        waiting = asyncio.ensure_future(world.say("Ann", "buy SV"))
        async with asyncio.timeout(60):
            answer = await world.service.submit(other.id, 0, ["buy SV"], None, None)
        assert isinstance(answer, Completed)
        assert not waiting.done(), "but at one table they do"
    assert isinstance(await waiting, Completed)


async def test_two_services_at_one_store_play_as_one(world: ServiceHarness, address: str) -> None:
    """What a second process writes at the same table is noticed, not overwritten; a request counts once."""
    async with await open_store(address) as other_store:
        other = Service(other_store)
        await world.say("Ann", "buy SV")
        first = await other.submit(world.table, 1, ["buy CS"], None, "b")
        assert isinstance(first, Completed)
        assert await world.service.submit(world.table, 1, ["buy CS"], None, "b") == first
        one, same = await asyncio.gather(
            *(each.submit(world.table, 2, ["pass"], None, "c") for each in (other, world.service))
        )
        assert isinstance(one, Completed) and one == same
        assert await world.lines() == ["buy SV", "buy CS", "pass"]
        both = await asyncio.gather(
            other.submit(world.table, 0, ["pass"], "0.4", "o2"), world.say("Ann", "bid CA 165", seen="0.4")
        )
        assert sorted(type(a).__name__ for a in both) == ["Completed", "StaleDecision"]


async def test_an_action_out_of_turn_makes_no_decision_stale(world: ServiceHarness) -> None:
    """Bob's offer of a private stands beside Ann's question (1830 §23), and so does Ann's card."""
    await say_all(world, *OPENING[:5])
    await world.say("Cid", "buy BO", "par BO 100")
    await world.say("Ann", "pass")
    await world.say("Bob", "pass")
    await world.say("Cid", "pass")
    seen = (await world.service.queries.view(world.table)).pending[0]
    others = [n for n in ("Ann", "Bob", "Cid") if n != seen.name]
    offers = {
        "Ann": "sell private SV to {} for 20",
        "Bob": "sell private CS to {} for 40",
        "Cid": "sell private DH to {} for 70",
    }
    seller, buyer = seen.name, others[0]
    offered = await world.say(seller, offers[seller].format(buyer), seen=seen.decision_id)
    assert isinstance(offered, Completed), offered
    view = await world.service.queries.view(world.table)
    beside = next(a for a in view.pending if a.name == buyer)
    assert not beside.is_main and ".o" in beside.decision_id
    assert (await world.decision()) == seen.decision_id
    taken = await world.say(buyer, "accept", seen=beside.decision_id)
    assert isinstance(taken, Completed), taken
    assert isinstance(await world.say(buyer, "accept", seen=beside.decision_id), StaleDecision)
    assert (await world.decision()) == seen.decision_id
    assert isinstance(await world.say(seller, "pass", seen=seen.decision_id), Completed)
    assert isinstance(await world.say(seller, "pass", seen=seen.decision_id), StaleDecision)


@pytest.mark.parametrize(
    "line", ["help!", "status?", "map", "market", "log", "log 5?", "turn", "company PRR", "player bob"]
)
async def test_queries_change_nothing(world: ServiceHarness, line: str) -> None:
    await world.say("Ann", "buy SV")
    before = await world.service.queries.view(world.table)
    answer = await world.say("Bob", line)
    assert isinstance(answer, QueryAnswer) and answer.text
    assert (await world.service.queries.view(world.table)).seq == before.seq
    assert isinstance(await world.say("Bob", line, "pass"), LineRefused)


async def test_answers_of_queries(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    status = await world.say("Ann", "status")
    assert isinstance(status, QueryAnswer) and status.picture == "sheet"
    (ann,) = [row for row in status.text.splitlines() if row.startswith("Ann ")]
    assert "$780" in ann and "SV" in ann
    assert "Bob to act:" in status.text
    assert "buy CS" in (await world.say("Bob", "help")).text  # type: ignore[union-attr]
    assert "Ann: buy SV" in (await world.say("Cid", "log")).text  # type: ignore[union-attr]
    assert isinstance(await world.say("Cid", "log 0"), LineUnreadable)


async def test_the_lobby_and_a_pause_take_no_moves(empty: ServiceHarness, world: ServiceHarness) -> None:
    other = await world.service.lobby.create("1830", None)
    assert isinstance(await world.service.submit(other.id, 0, ["buy SV"], None, None), TableNotRunning)
    await world.service.running.pause(world.table, by=world.people["Bob"])
    answer = await world.say("Ann", "buy SV")
    assert isinstance(answer, TableNotRunning) and answer.status == "paused"
    assert isinstance(await world.say("Ann", "status"), QueryAnswer)
    await world.service.running.resume(world.table, by=world.people["Cid"])
    assert isinstance(await world.say("Ann", "buy SV"), Completed)


async def test_results_are_stored_as_bytes(world: ServiceHarness) -> None:
    for lines in (["buy SV"], ["buy SV"], ["nonsense"], ["status"]):
        answer = await world.say("Ann", *lines)
        assert decode_result(encode_result(answer)) == answer


async def test_a_standing_order_is_hidden_in_the_log(empty: ServiceHarness) -> None:
    """Other players cannot read a standing order of a president (1870 §5.9)."""
    for name in ("Ann", "Bob"):
        await empty.person(name)
    info = await started(empty.service, empty.people, "1870")
    assert engine.is_secret("standing protect MP up to 300") and not engine.is_secret("bid MKT 165")
    play = await empty.service.cache.get(info.id)
    row = play.log.rows[-1]._replace(seq=play.seq + 1, kind="move", seat=0, events=engine.encode_events([]))
    play.add(row._replace(line="standing protect MP up to 300", raw_line="standing protect MP up to 300"))
    assert all("standing" not in f"{one.line}{one.raw_line}{one.sentences}" for one in play.log.entries())
    assert [one.line for one in play.log.entries() if one.has_text] == ["start"]


async def test_who_is_not_asked_reads_that_it_is_not_their_turn(world: ServiceHarness) -> None:
    """And who goes on after a turn has ended by itself, that it has."""
    refused = await world.say("Bob", "buy SV")
    assert isinstance(refused, LineRefused)
    assert refused.reason.startswith("It is not your turn. Ann to act: buy the SV for $20")
    ended = await world.say("Ann", "buy SV", "pass")
    assert isinstance(ended, LineRefused)
    assert ended.reason.startswith("Your turn has ended with the line before. Bob to act: buy the CS for $40")
    await world.say("Ann", "buy SV")
    ended = await world.say("Ann", "pass")
    assert isinstance(ended, LineRefused)
    why = "It is not your turn, which has ended with `buy SV`. Bob to act: buy the CS for $40"
    assert ended.reason.startswith(why)
    await world.say("Bob", "pass")
    later = await world.say("Ann", "pass")
    assert isinstance(later, LineRefused) and later.reason.startswith("It is not your turn. Cid to act: ")
