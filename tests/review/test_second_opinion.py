"""The robot's opinion: only decisions on which it really differs."""

from __future__ import annotations

from typing import NamedTuple

import engine
from bot.features.review.second_opinion import _opinion, _reason, second_opinion
from bot.features.robots.player import LEAST_EFFORT, Robot
from engine.core.actions import BuyTrain, Pass, SellShares
from tests.review.robot_games import robot_game


class Scored(NamedTuple):
    action: engine.Action
    value: float
    reason: str


def test_a_robot_has_nothing_against_its_own_game() -> None:
    game = robot_game("1830", 200)
    assert second_opinion(game, Robot(1, LEAST_EFFORT).ranking) == []


def test_the_largest_differences_are_told_in_order() -> None:
    """A judge who finds every purchase of a share worth less than to pass, by its number."""
    game = robot_game("1830", 200)

    def against_shares(state: engine.State, seat: str) -> list[Scored]:
        options = [option.action for option in engine.options(state, seat)]
        passes = [a for a in options if type(a).__name__ == "Pass"]
        worth = {a: -60.0 - i for i, a in enumerate(options) if type(a).__name__ == "BuyShares"}
        return [Scored(a, 0.0, "cash is king") for a in passes] + [Scored(a, w, "") for a, w in worth.items()]

    found = second_opinion(game, against_shares, count=3)
    assert [each.at for each in found] == sorted(each.at for each in found) and len(found) == 3
    for each in found:
        assert each.played.startswith("buy ") and each.advised == "pass" and each.dollars >= 60
        assert game.moves[each.at].line == each.played and each.number == each.at + 1
        assert each.reason == "cash is king"


def test_the_reason_is_about_what_differs() -> None:
    """That a train will earn $396 for $630 is no reason to buy it; that the seller keeps its own is."""
    own, bank = BuyTrain("5", "PRR", 631), BuyTrain("6")
    state = robot_game("1830", 1).start

    def reason(action: engine.Action, best: engine.Action) -> str:
        return _reason(state, action, Scored(best, 0.0, "the robot's"))

    assert reason(own, bank) == "the PRR keeps its 5-train"
    assert reason(bank, own) == reason(own, own) == "the robot's"
    assert reason(own, Pass()) == "the 5-train will not earn its price"
    fewer = reason(SellShares("GMO", 4), SellShares("GMO", 1))
    assert fewer == "the other shares of the GMO are worth more kept than sold"
    assert reason(SellShares("GMO", 1), SellShares("GMO", 4)) == "the robot's"


def test_one_sale_of_several_for_a_train_is_not_compared() -> None:
    """Who must raise money for a train sells until it is enough; one sale has no worth of its own."""
    game = robot_game("1830", 200)
    sale = SellShares("PRR", 1)
    found = []
    state = engine.copy_state(game.start)
    for index, move in enumerate(game.moves):
        ranked = [
            Scored(sale, 500.0, "missed least"),
            Scored(engine.parse(state, move.seat, move.line), 0.0, ""),
        ]
        found += [(state.stack[-1], _opinion(game, state, index, lambda *_, ranked=ranked: ranked))]
        engine.fold(move.events, state)
    turns = [told for frame, told in found if isinstance(frame, engine.OperatingTurn)]
    assert turns and not any(turns)
    assert any(told for _, told in found)
