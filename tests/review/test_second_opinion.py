"""The robot's opinion: only decisions on which it really differs."""

from __future__ import annotations

from typing import NamedTuple

import engine
from bot.features.review.second_opinion import second_opinion
from bot.features.robots.player import LEAST_EFFORT, Robot
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
