"""The stored games, and positions of histories, for tests."""

from __future__ import annotations

import os
import pickle
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import cast

from engine.core.events import fold
from engine.core.state import State, copy_state
from engine.game_text import GameHistory, ReplayReport, replay

TESTS = Path(__file__).parents[1]
GAMES = sorted((TESTS / "games").glob("*.18xx"))
GAMES_1851 = sorted((TESTS / "t1851" / "games").glob("*.18xx"))


REPLAYS = "TESTS_REPLAYS"
"""The variable with the folder of the replays that the processes of a run of the tests share."""


@cache
def replayed(path: Path) -> ReplayReport:
    """The replay of a game in a file, which one of the processes makes for all; nobody changes it."""
    script = path.read_text(encoding="utf-8")
    kept = Path(os.environ.get(REPLAYS, "")) / sha256(script.encode()).hexdigest()
    if kept.exists():
        return cast("ReplayReport", pickle.loads(kept.read_bytes()))
    report = replay(script)
    if REPLAYS in os.environ:
        mine = kept.with_suffix(f".{os.getpid()}")
        mine.write_bytes(pickle.dumps(report))
        mine.rename(kept)
    return report


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
