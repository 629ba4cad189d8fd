"""Taking back and playing again: at once among one's own moves, else by the votes of the others."""

from __future__ import annotations

import engine
from bot.answers import Ambiguous, Done, Refused, Stale, Voted
from bot.service import Service
from tests.service.conftest import World


async def state(world: World) -> bytes:
    return engine.encoded(await world.service.state_at(world.table))


async def test_ones_own_last_move_goes_at_once(world: World) -> None:
    before, asked = await state(world), await world.decision()
    await world.say("Ann", "buy SV")
    answer = await world.say("Ann", "undo")
    assert isinstance(answer, Done)
    assert answer.sentences == ("Ann takes back buy SV.",)
    assert [a.name for a in answer.asked] == ["Ann"]
    assert await state(world) == before
    assert await world.decision() != asked, "a decision after an undo is another one"
    assert isinstance(await world.say("Ann", "buy SV", seen=asked), Stale)
    assert isinstance(await world.say("Ann", "buy SV", seen=await world.decision()), Done)


async def test_a_letter_of_two_lines_is_taken_back_line_by_line(world: World) -> None:
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


async def test_redo_until_the_next_move(world: World) -> None:
    await world.say("Ann", "buy SV")
    after = await state(world)
    await world.say("Ann", "undo")
    assert isinstance(await world.say("Ann", "redo"), Done)
    assert await state(world) == after
    assert isinstance(await world.say("Ann", "redo"), Refused)
    await world.say("Ann", "undo")
    await world.say("Ann", "pass")
    refused = await world.say("Ann", "redo")
    assert isinstance(refused, Refused) and "redo" in refused.reason


async def test_nothing_to_undo(world: World) -> None:
    assert isinstance(await world.say("Bob", "undo"), Refused)
    await world.say("Ann", "buy SV")
    assert isinstance(await world.say("Bob", "undo"), Refused)


async def test_the_log_keeps_what_was_undone(world: World) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Ann", "undo")
    log = await world.service.log(world.table)
    assert [(h.kind, h.live) for h in log] == [("note", True), ("move", False), ("undo", True)]


async def after_two(world: World) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Bob", "buy CS")


async def test_where_others_have_moved_they_are_asked(world: World) -> None:
    before = await state(world)
    await after_two(world)
    asked = await world.say("Ann", "undo")
    assert isinstance(asked, Voted) and asked.outcome is None
    assert asked.waiting == (1,)
    assert await world.lines() == ["buy SV", "buy CS"]
    assert isinstance(await world.say("Ann", "undo"), Refused), "it is being voted on already"
    assert isinstance(await world.say("Cid", "accept"), Refused), "Cid is not asked"
    passed = await world.say("Bob", "accept", seen=asked.vote)
    assert isinstance(passed, Voted) and passed.outcome == "passed"
    assert await world.lines() == []
    assert await state(world) == before
    assert isinstance(await world.say("Bob", "accept", seen=asked.vote), Stale)


async def test_one_who_does_not_agree_is_enough(world: World) -> None:
    await after_two(world)
    await world.say("Cid", "buy DH")
    await world.say("Ann", "undo")
    await world.say("Bob", "accept")
    failed = await world.say("Cid", "decline")
    assert isinstance(failed, Voted) and failed.outcome == "failed"
    assert len(await world.lines()) == 3
    assert isinstance(await world.say("Ann", "undo"), Voted), "it may be asked again"


async def test_votes_survive_a_restart(world: World) -> None:
    await after_two(world)
    await world.say("Ann", "undo")
    world.service = Service(world.store)
    passed = await world.say("Bob", "accept")
    assert isinstance(passed, Voted) and passed.outcome == "passed"
    assert await world.lines() == []


async def test_a_move_during_the_vote_joins_what_would_go(world: World) -> None:
    await after_two(world)
    await world.say("Ann", "undo")
    await world.say("Cid", "pass")
    still = await world.say("Bob", "accept")
    assert isinstance(still, Voted) and still.outcome is None and still.waiting == (2,)
    passed = await world.say("Cid", "accept")
    assert isinstance(passed, Voted) and passed.outcome == "passed"
    assert await world.lines() == []


async def test_a_voice_counts_on_when_another_joins(world: World) -> None:
    await after_two(world)
    await world.say("Cid", "buy DH")
    await world.say("Bob", "undo")  # Cid's move would go
    await world.say("Ann", "pass")
    await world.say("Cid", "accept")
    passed = await world.say("Ann", "accept")
    assert isinstance(passed, Voted) and passed.outcome == "passed"
    assert await world.lines() == ["buy SV"]


async def test_another_undo_overtakes_the_vote(world: World) -> None:
    await after_two(world)
    await world.say("Ann", "undo")
    await world.say("Bob", "undo")  # his own last move: at once
    assert await world.lines() == ["buy SV"]
    assert (await world.service.view(world.table)).votes == ()
    assert isinstance(await world.say("Bob", "accept"), Refused)


async def test_a_redo_of_others_moves_is_voted_on(world: World) -> None:
    await after_two(world)
    await world.say("Ann", "undo")
    await world.say("Bob", "accept")
    asked = await world.say("Ann", "redo")
    assert isinstance(asked, Voted) and asked.waiting == (1,)
    assert isinstance(await world.say("Bob", "accept"), Voted)
    assert await world.lines() == ["buy SV", "buy CS"]


async def test_a_move_ends_the_vote_on_a_redo(world: World) -> None:
    await after_two(world)
    await world.say("Ann", "undo")
    await world.say("Bob", "accept")
    await world.say("Ann", "redo")
    await world.say("Ann", "pass")
    assert (await world.service.view(world.table)).votes == ()


async def test_an_undo_button_of_before_an_undo_is_stale(world: World) -> None:
    await world.say("Ann", "buy SV")
    now = (await world.service.view(world.table)).now
    assert isinstance(await world.say("Ann", "undo", seen=now), Done)
    await world.say("Ann", "buy SV")
    assert isinstance(await world.say("Ann", "undo", seen=now), Stale)
    assert await world.lines() == ["buy SV"]


async def test_undo_stands_alone(world: World) -> None:
    answer = await world.say("Ann", "buy SV", "undo")
    assert isinstance(answer, Refused) and answer.index == 1
    assert await world.lines() == []


async def test_a_vote_and_an_offer_are_told_apart(world: World) -> None:
    """Bob is asked by a vote and by an offer of a private (1830 §23): a bare `accept` is neither's."""
    opening = [("Ann", "buy SV"), ("Bob", "buy CS"), ("Cid", "buy DH"), ("Ann", "buy MH"), ("Bob", "buy CA")]
    for name, line in opening:
        await world.say(name, line)
    await world.say("Cid", "buy BO", "par BO 100")
    for name in ("Ann", "Bob", "Cid", "Ann", "Bob"):  # nothing is sold between players in the first round
        await world.say(name, "pass")
    assert isinstance(await world.say("Cid", "sell private DH to Bob for 50"), Done)
    vote = await world.say("Ann", "undo")
    assert isinstance(vote, Voted) and vote.waiting == (1, 2)
    both = await world.say("Bob", "accept")
    assert isinstance(both, Ambiguous) and both.choices[0] == "accept vote"
    offer = next(a for a in (await world.service.view(world.table)).asked if not a.main)
    assert isinstance(await world.say("Bob", "accept", seen=offer.decision), Done)
    voted = await world.say("Bob", "accept vote")
    assert isinstance(voted, Voted) and voted.waiting == (2,)
    assert isinstance(await world.say("Cid", "accept"), Voted), "nothing but the vote asks Cid"
    assert (await world.lines())[-4:] == ["par B&O 100", "pass", "pass", "pass"]
