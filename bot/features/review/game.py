"""A game as a review reads it: its first position, and its moves with the numbers that `at` takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import engine
from engine.core.events import AnyEvent, RoundStarted
from engine.game_text.history import GameHistory


class Move(NamedTuple):
    """A move that counts. `number`: by which `at` shows the position after it."""

    number: int
    seat: str
    line: str
    events: Sequence[AnyEvent]


class PlayedGame(NamedTuple):
    """A game from its first position on, without what was undone."""

    start: engine.State
    moves: Sequence[Move]

    def state_after(self, count: int) -> engine.State:
        """The position after that number of moves, as a copy."""
        state = engine.copy_state(self.start)
        for move in self.moves[:count]:
            engine.fold(move.events, state)
        return state

    def rounds(self) -> Iterator[tuple[int, str]]:
        """Each move's index with the round in which it was made: `stock round 2`."""
        name = "opening"
        for index, move in enumerate(self.moves):
            yield index, name
            for event in move.events:
                if isinstance(event, RoundStarted):
                    name = event.round.partition(" of ")[0]


def played_game(history: GameHistory) -> PlayedGame:
    """The game of a history; its moves count from 1."""
    moves = (Move(n, e.seat, e.line, e.events) for n, e in enumerate(history.lines, 1))
    return PlayedGame(history.start, tuple(moves))


class Place(NamedTuple):
    """Where a move was made: the round, and the company whose operating turn it was, if it was one."""

    round: str
    company: str


def places(game: PlayedGame) -> list[Place]:
    """The place of every move."""
    state, found = engine.copy_state(game.start), []
    for (_, round), move in zip(game.rounds(), game.moves, strict=True):
        turn = next((f for f in reversed(state.stack) if isinstance(f, engine.OperatingTurn)), None)
        found.append(Place(round, turn.company if turn else ""))
        engine.fold(move.events, state)
    return found


def last_round_start(game: PlayedGame) -> int:
    """How many moves were made before the round in which the game is, or in which it ended."""
    starts = [
        index + 1
        for index, move in enumerate(game.moves)
        if any(isinstance(event, RoundStarted) for event in move.events)
    ]
    return starts[-1] if starts else 0
