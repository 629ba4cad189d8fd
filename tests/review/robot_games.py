"""Games that robots have played, for reviews."""

from __future__ import annotations

from functools import cache

import engine
from bot.features.robots.robot import LEAST_EFFORT, Robot
from engine.game_text.history import GameHistory, HistoryLine


@cache
def robot_game(title: str, moves: int) -> GameHistory:
    """The first moves of a game of three robots."""
    state = engine.new_game(title, ["Ann", "Bob", "Cid"]).state
    start, lines, robot = engine.copy_state(state), list[HistoryLine](), Robot(1, LEAST_EFFORT)
    while len(lines) < moves and not state.game_over:
        seat = engine.decision(state).acting[0]
        action = robot.choose_action(state, seat)
        line = engine.format_action(state, action)
        state, events = engine.play(state, seat, action)
        lines.append(HistoryLine(seat, line, events))
    return GameHistory(start, tuple(lines))
