"""Where the moves of a game were made: in which round, and in whose operating turn."""

from __future__ import annotations

from typing import NamedTuple

import engine
from engine.core.events import RoundStarted
from engine.game_text.history import GameHistory


class Place(NamedTuple):
    """Where a move was made: the round, and the company whose operating turn it was, if it was one."""

    round: str
    company: str


def places(game: GameHistory) -> list[Place]:
    """The place of every move."""
    state, found, round = engine.copy_state(game.start), [], "opening"
    for move in game.lines:
        turn = next((f for f in reversed(state.stack) if isinstance(f, engine.OperatingTurn)), None)
        found.append(Place(round, turn.company if turn else ""))
        for event in move.events:
            if isinstance(event, RoundStarted):
                round = event.name
        engine.fold(move.events, state)
    return found


def last_round_start(game: GameHistory) -> int:
    """How many moves were made before the round in which the game is, or in which it ended."""
    starts = (
        count
        for count, move in enumerate(game.lines, 1)
        if any(isinstance(event, RoundStarted) for event in move.events)
    )
    return max(starts, default=0)
