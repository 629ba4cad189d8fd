"""The stored games, and positions of histories, for tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from engine.core.events import fold
from engine.core.state import State, copy_state
from engine.game_text import GameHistory, ReplayReport, replay

TESTS = Path(__file__).parents[1]
GAMES = sorted((TESTS / "games").glob("*.18xx"))
GAMES_1851 = sorted((TESTS / "t1851" / "games").glob("*.18xx"))


@cache
def replayed(path: Path) -> ReplayReport:
    """The replay of a game in a file; nobody changes it."""
    return replay(path.read_text(encoding="utf-8"))


def history_of(path: Path) -> GameHistory:
    """The game in a file, with a first position that the test may change."""
    history = replayed(path).history
    assert history is not None, replayed(path).failure
    return GameHistory(copy_state(history.start), history.lines)


def end_of(history: GameHistory) -> State:
    """The position after the last line."""
    state = copy_state(history.start)
    for line in history.lines:
        fold(line.events, state)
    return state
