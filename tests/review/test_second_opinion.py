"""The robot's opinion: only decisions on which it really differs."""

from __future__ import annotations

from typing import NamedTuple

import engine
from bot.features.review.game import places
from bot.features.review.review import Review
from bot.features.review.second_opinion import (
    Opinion,
    _is_still_open,
    _offer,
    _opinion,
    _reason,
    second_opinion,
)
from bot.features.review.texts import opinion_line
from bot.features.robots.robot import LEAST_EFFORT, Robot
from engine.core.actions import Accept, BuyShares, BuyTrain, Par, Pass, SellShares, SellShort
from engine.core.state import Offer
from tests.review.robot_games import robot_game


class Scored(NamedTuple):
    action: engine.Action
    worth: float
    reason: str


def test_a_robot_has_nothing_against_its_own_game() -> None:
    game = robot_game("1830", 200)
    assert second_opinion(game, places(game), Robot(1, LEAST_EFFORT).ranking) == []


def test_the_largest_differences_are_told_in_order() -> None:
    """A judge who finds every purchase of a share worth less than to pass, by its number."""
    game = robot_game("1830", 200)

    def against_shares(state: engine.State, seat: str) -> list[Scored]:
        options = [option.action for option in engine.options(state, seat)]
        passes = [a for a in options if type(a).__name__ == "Pass"]
        worth = {a: -60.0 - i for i, a in enumerate(options) if type(a).__name__ == "BuyShares"}
        return [Scored(a, 0.0, "cash is king") for a in passes] + [Scored(a, w, "") for a, w in worth.items()]

    found = second_opinion(game, places(game), against_shares, count=3)
    assert [each.at for each in found] == sorted(each.at for each in found) and len(found) == 3
    for each in found:
        assert each.played.startswith("buy ") and each.advised == "pass" and each.dollars >= 60
        assert game.lines[each.at].line == each.played
        assert each.reason == "cash is king"


def reason(action: engine.Action, best: engine.Action, worths: tuple[float, float] = (0.0, 50.0)) -> str:
    """The reason for what is best instead of what was played; their worths, in the order of the arguments."""
    state = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    state.stack.append(engine.OperatingTurn("B&O", step="trains"))
    return _reason(state, Scored(action, worths[0], "the player's"), Scored(best, worths[1], "the robot's"))


def test_the_reason_is_about_what_differs() -> None:
    """That a train will earn $396 for $630 is no reason to buy it; that the seller keeps its own is."""
    own, bank = BuyTrain("5", "PRR", 631), BuyTrain("6")
    assert reason(own, bank) == "the PRR keeps its 5-train"
    assert reason(bank, own) == reason(own, own) == "the robot's"
    fewer = reason(SellShares("GMO", 4), SellShares("GMO", 1))
    assert fewer == "the other shares of the GMO are worth more kept than sold"
    assert reason(SellShares("GMO", 1), SellShares("GMO", 4)) == "the robot's"


def test_the_reason_is_against_what_was_played_where_that_costs_more() -> None:
    bank, bad = BuyTrain("6"), (-300.0, 0.0)
    assert reason(bank, Pass(), bad) == "the 6-train will not earn its price"
    assert reason(bank, Pass(), (-3000.0, 0.0)) == "the B&O cannot afford a 6-train"
    assert reason(BuyTrain("5", "PRR", 1), Pass(), bad) == "the PRR keeps its 5-train"
    assert (
        reason(Par("NYC", 82), BuyShares("PRR", "ipo"), bad)
        == "the NYC costs more to start than it will bring"
    )
    assert reason(SellShares("PRR", 1), BuyShares("PRR", "ipo"), bad) == (
        "shares of the PRR are worth more than their price"
    )
    assert (
        reason(SellShort("A&S"), Pass(), bad) == "shares of the A&S may cost more when they are bought back"
    )
    assert reason(bank, Pass(), (-300.0, 400.0)) == reason(SellShares("PRR", 1), Pass(), bad) == "the robot's"


def test_what_can_still_be_done_in_the_turn_was_not_decided_against() -> None:
    """A player who buys one share of several that the pool sells at once may still buy the others."""
    game = robot_game("1830", 60)
    state = engine.copy_state(game.start)
    seen = set()
    for move in game.lines:
        before = engine.copy_state(state)
        engine.fold(move.events, state)
        acting = move.seat in engine.decision(state).acting
        for option in engine.options(before, move.seat):
            possible = acting and option in engine.options(state, move.seat)
            if option.amounts is None and not isinstance(option.action, Pass | BuyShares):
                assert _is_still_open(before, move, option.action) == possible
                seen.add(possible)
        assert not _is_still_open(before, move, Pass())
    assert seen == {True, False}


def test_a_bar_is_no_worth_and_an_answered_offer_is_told() -> None:
    """A robot keeps what is set aside from being spent; no dollars of that are told."""
    game = robot_game("1830", 60)
    state = engine.copy_state(game.start)
    kept = [each for each in Robot().ranking(state, "p0") if each.bar]
    for move in game.lines:
        engine.fold(move.events, state)
        kept += [each for each in Robot().ranking(state, engine.decision(state).acting[0]) if each.bar]
    assert kept and all(each.bar < 0 and each.worth == each.value - each.bar for each in kept)
    assert max(abs(each.worth) for each in kept) < 1000 > -max(each.value for each in kept)
    state.offers = [Offer(1, "p0", "p1", BuyTrain("3", "PRR", 250), "PRR", "B&O", 250)]
    assert _offer(state, Accept()) == "a 3-train from the PRR to the B&O for $250"
    opinion = Opinion(3, "p1", "accept", "decline", 90, "why not", _offer(state, Accept()))
    told = opinion_line(Review(game), opinion)
    assert "at 4: Bob played `accept` (a 3-train from the PRR to the B&O for $250); the robot" in told


def test_one_sale_of_several_for_a_train_is_not_compared() -> None:
    """Who must raise money for a train sells until it is enough; one sale has no worth of its own."""
    game = robot_game("1830", 200)
    sale = SellShares("PRR", 1)
    found = []
    state = engine.copy_state(game.start)
    for index, move in enumerate(game.lines):
        ranked = [
            Scored(sale, 500.0, "missed least"),
            Scored(engine.parse(state, move.seat, move.line), 0.0, ""),
        ]
        found += [(state.stack[-1], _opinion(game, state, index, lambda *_, ranked=ranked: ranked))]
        engine.fold(move.events, state)
    turns = [told for frame, told in found if isinstance(frame, engine.OperatingTurn)]
    assert turns and not any(turns)
    assert any(told for _, told in found)
