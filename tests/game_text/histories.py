"""Positions of histories, for tests."""

from __future__ import annotations

from engine.core.events import fold
from engine.core.state import State, copy_state
from engine.game_text import GameHistory


def end_of(history: GameHistory) -> State:
    """The position after the last line."""
    state = copy_state(history.start)
    for line in history.lines:
        fold(line.events, state)
    return state
