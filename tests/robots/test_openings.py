"""The opening auctions of robots: short, and everybody gets something."""

from __future__ import annotations

import pytest

from bot.features.robots.robot import LEAST_EFFORT, Robot
from engine import State, decision, is_seat, new_game, play, round_name
from engine.core.actions import Pass

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")


def opened(title: str, players: int) -> tuple[State, int, int]:
    """The position after the opening, with the moves and the passes that it took."""
    state, moves, passes = new_game(title, NAMES[:players], (), seed=3).state, 0, 0
    robots = {seat: Robot(i, LEAST_EFFORT) for i, seat in enumerate(state.seats)}
    while round_name(state) == "opening":
        seat = decision(state).awaited[0]
        action = robots[seat].choose_action(state, seat)
        state = play(state, seat, action).state
        moves, passes = moves + 1, passes + (action == Pass())
    return state, moves, passes


@pytest.mark.parametrize("title", ["1830", "1870"])
@pytest.mark.parametrize("players", [2, 4, 6])
def test_nobody_waits_for_rounds_until_a_cheap_private_is_free(title: str, players: int) -> None:
    state, moves, passes = opened(title, players)
    assert moves <= 50
    assert passes <= 6
    owners = [owner for owner in state.private_owners.values() if is_seat(owner)]
    assert max(owners.count(owner) for owner in owners) <= 4
    assert all(state.cash[seat] >= 50 for seat in state.seats)
