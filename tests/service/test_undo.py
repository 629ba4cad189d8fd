"""Undo and redo: at once for the own moves, else by a vote of the others."""

from __future__ import annotations

import engine
from bot.discord.cards import card_texts
from bot.hub.log import recent_events
from bot.hub.request import Completed, LineAmbiguous, LineRefused, PollUpdated, StaleDecision
from bot.service import Service
from tests.service.conftest import NAMES, ServiceHarness
from tests.service.test_orders import OPENING, say_all


async def state(world: ServiceHarness) -> bytes:
    return engine.encode_state(await world.service.queries.state_at(world.table))


async def test_the_own_last_move_is_undone_at_once(world: ServiceHarness) -> None:
    before, asked = await state(world), await world.decision()
    await world.say("Ann", "buy SV")
    answer = await world.say("Ann", "undo")
    assert isinstance(answer, Completed)
    assert answer.sentences == ("Ann undoes buy SV.",)
    assert await world.asked_names() == ["Ann"]
    assert await state(world) == before
    assert await world.decision() != asked, "a decision after an undo is another one"
    assert isinstance(await world.say("Ann", "buy SV", seen=asked), StaleDecision)
    assert isinstance(await world.say("Ann", "buy SV", seen=await world.decision()), Completed)


async def test_a_request_with_two_lines_is_undone_line_by_line(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Bob", "buy CS")
    await world.say("Cid", "buy DH")
    await world.say("Ann", "buy MH")
    await world.say("Bob", "buy CA")
    await world.say("Cid", "buy BO", "par BO 100")
    await world.say("Cid", "undo")
    assert (await world.lines())[-1] == "buy BO"
    await world.say("Cid", "undo")
    assert (await world.lines())[-1] == "buy CA"


async def test_redo_until_the_next_move(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    after = await state(world)
    await world.say("Ann", "undo")
    assert isinstance(await world.say("Ann", "redo"), Completed)
    assert await state(world) == after
    assert isinstance(await world.say("Ann", "redo"), LineRefused)
    await world.say("Ann", "undo")
    await world.say("Ann", "pass")
    refused = await world.say("Ann", "redo")
    assert isinstance(refused, LineRefused) and "redo" in refused.reason


async def test_nothing_to_undo(world: ServiceHarness) -> None:
    assert isinstance(await world.say("Bob", "undo"), LineRefused)
    await world.say("Ann", "buy SV")
    assert isinstance(await world.say("Bob", "undo"), LineRefused)


async def test_the_log_keeps_what_was_undone(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Ann", "undo")
    log = await world.service.queries.log(world.table)
    assert [(h.kind, h.is_live) for h in log] == [("note", True), ("move", False), ("undo", True)]


async def two_moves_later(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Bob", "buy CS")


async def undo_that_waits_for_cid(world: ServiceHarness) -> None:
    """Ann asks to undo her move, which two others have followed, and Bob agrees."""
    await two_moves_later(world)
    await world.say("Cid", "buy DH")
    await world.say("Ann", "undo")
    await world.say("Bob", "accept")


async def test_others_who_have_moved_vote(world: ServiceHarness) -> None:
    before = await state(world)
    await two_moves_later(world)
    asked = await world.say("Ann", "undo")
    assert isinstance(asked, PollUpdated) and asked.outcome is None
    assert asked.waiting_seats == (1,)
    assert await world.lines() == ["buy SV", "buy CS"]
    assert isinstance(await world.say("Ann", "undo"), LineRefused), "it is being voted on already"
    assert isinstance(await world.say("Cid", "accept"), LineRefused), "Cid is not asked"
    passed = await world.say("Bob", "accept", seen=asked.poll_id)
    assert isinstance(passed, PollUpdated) and passed.outcome == "passed"
    assert await world.lines() == []
    assert await state(world) == before
    assert isinstance(await world.say("Bob", "accept", seen=asked.poll_id), StaleDecision)


async def test_an_undo_leaves_a_trace(world: ServiceHarness) -> None:
    """What was undone, who asked and who agreed is in the next summary of everybody, on card and in mail."""
    await undo_that_waits_for_cid(world)
    await world.say("Cid", "accept")
    trace = "Ann undoes buy SV; Bob: buy CS; Cid: buy DH. Bob and Cid agreed."
    await world.say("Ann", "pass")
    for seat in (1, 2):
        entries = await world.service.queries.log_since_last_move(world.table, seat)
        assert trace in recent_events(entries)
        assert trace in card_texts.history_lines(entries, NAMES)
    assert trace in [sentence for _, n in await world.sent("news") for sentence in n.sentences] or not (
        await world.sent()
    )


async def test_a_vote_can_be_changed_while_it_is_open(world: ServiceHarness) -> None:
    """With the line, as with the button of the card."""
    await undo_that_waits_for_cid(world)
    changed = await world.say("Bob", "decline")
    assert isinstance(changed, PollUpdated) and changed.outcome == "failed"


async def test_one_decline_is_enough(world: ServiceHarness) -> None:
    await undo_that_waits_for_cid(world)
    failed = await world.say("Cid", "decline")
    assert isinstance(failed, PollUpdated) and failed.outcome == "failed"
    assert len(await world.lines()) == 3
    assert isinstance(await world.say("Ann", "undo"), PollUpdated), "it may be asked again"


async def test_votes_survive_a_restart(world: ServiceHarness) -> None:
    await two_moves_later(world)
    await world.say("Ann", "undo")
    world.service = Service(world.store)
    passed = await world.say("Bob", "accept")
    assert isinstance(passed, PollUpdated) and passed.outcome == "passed"
    assert await world.lines() == []


async def test_a_move_closes_the_vote_on_an_undo(world: ServiceHarness) -> None:
    """The vote is about the moves that it names, and no others vanish with them."""
    async with world.store.begin() as unit:
        await unit.people.add_identity(world.people["Bob"], "email", "bob@example.org")
    await two_moves_later(world)
    asked = await world.say("Ann", "undo")
    assert isinstance(asked, PollUpdated)
    await world.say("Cid", "pass")
    assert (await world.service.queries.view(world.table)).polls == ()
    over = f"The vote is over, because Cid has moved: {asked.sentences[0]}"
    told = [sentence for _, news in await world.sent("news") for sentence in news.sentences]
    assert over in told
    since = await world.service.queries.log_since_last_move(world.table, 0)
    assert over in recent_events(since), "Ann, who acts next, reads it with her turn"
    late = await world.say("Bob", "accept", seen=asked.poll_id)
    assert isinstance(late, StaleDecision)
    assert await world.lines() == ["buy SV", "buy CS", "pass"]


async def test_orders_wait_while_an_undo_is_voted_on(world: ServiceHarness) -> None:
    await two_moves_later(world)
    await world.say("Ann", "undo")
    await world.say("Cid", "auto pass")
    assert await world.lines() == ["buy SV", "buy CS"]
    await world.say("Bob", "decline")
    assert await world.lines() == ["buy SV", "buy CS", "pass"]


async def test_another_undo_supersedes_the_vote(world: ServiceHarness) -> None:
    await two_moves_later(world)
    await world.say("Ann", "undo")
    await world.say("Bob", "undo")  # his own last move: at once
    assert await world.lines() == ["buy SV"]
    assert (await world.service.queries.view(world.table)).polls == ()
    assert isinstance(await world.say("Bob", "accept"), LineRefused)


async def test_a_redo_of_others_moves_is_voted_on(world: ServiceHarness) -> None:
    await two_moves_later(world)
    await world.say("Ann", "undo")
    await world.say("Bob", "accept")
    asked = await world.say("Ann", "redo")
    assert isinstance(asked, PollUpdated) and asked.waiting_seats == (1,)
    assert isinstance(await world.say("Bob", "accept"), PollUpdated)
    assert await world.lines() == ["buy SV", "buy CS"]


async def test_a_move_ends_the_vote_on_a_redo(world: ServiceHarness) -> None:
    await two_moves_later(world)
    await world.say("Ann", "undo")
    await world.say("Bob", "accept")
    await world.say("Ann", "redo")
    await world.say("Ann", "pass")
    assert (await world.service.queries.view(world.table)).polls == ()


async def test_an_undo_button_from_before_an_undo_is_stale(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    now = (await world.service.queries.view(world.table)).current_decision_id
    assert isinstance(await world.say("Ann", "undo", seen=now), Completed)
    await world.say("Ann", "buy SV")
    assert isinstance(await world.say("Ann", "undo", seen=now), StaleDecision)
    assert await world.lines() == ["buy SV"]


async def test_undo_stands_alone(world: ServiceHarness) -> None:
    answer = await world.say("Ann", "buy SV", "undo")
    assert isinstance(answer, LineRefused) and answer.index == 1
    assert await world.lines() == []


async def test_a_vote_and_an_offer_are_distinguished(world: ServiceHarness) -> None:
    """Bob is asked by a vote and by an offer of a private (1830 §23): a bare `accept` is neither's."""
    await say_all(world, *OPENING[:5])
    await world.say("Cid", "buy BO", "par BO 100")
    for name in ("Ann", "Bob", "Cid", "Ann", "Bob"):  # nothing is sold between players in the first round
        await world.say(name, "pass")
    assert isinstance(await world.say("Cid", "sell private DH to Bob for 50"), Completed)
    vote = await world.say("Ann", "undo")
    assert isinstance(vote, PollUpdated) and vote.waiting_seats == (1, 2)
    both = await world.say("Bob", "accept")
    assert isinstance(both, LineAmbiguous) and both.suggestions[0] == "accept vote"
    voted = await world.say("Bob", "accept vote")
    assert isinstance(voted, PollUpdated) and voted.waiting_seats == (2,)
    offer = next(a for a in (await world.service.queries.view(world.table)).pending if not a.is_main)
    assert isinstance(await world.say("Bob", "accept", seen=offer.decision_id), Completed)
    assert (await world.service.queries.view(world.table)).polls == (), "a move closes the vote"
