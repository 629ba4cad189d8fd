"""A review of a game: its parts are made when they are asked for, each from the parts before it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import engine
from bot.features.review.game import Place, last_round_start, places
from bot.features.review.money import Entry, money_entries
from bot.features.review.money_words import MoneySentences, parts_of
from bot.features.review.runs import (
    BestRunChange,
    Run,
    TrainAccount,
    best_run_changes,
    runs_of,
    train_accounts,
)
from bot.features.review.turning_points import turning_points
from bot.features.review.turning_words import TurningPoint, told
from engine.game_text.history import GameHistory, round_statistics
from renderers import Picture, review_png


class Review:
    """The review of a game.

    A running game is reviewed only in its past: turning points of the round that is on are left out, and
    only a game that `may_study` shows routes, trains and the robot's opinion. `is_study`: it is over, also by
    agreement, or for practice. `numbers`: by which `at` shows the position after each move; without them the
    moves are counted from 1.
    """

    def __init__(self, game: GameHistory, numbers: Sequence[int] = (), *, is_study: bool = False) -> None:
        self.game, self._numbers = game, numbers or range(1, len(game.lines) + 1)
        self.last = game.state_after(len(game.lines))
        self.may_study = is_study or self.last.game_over is not None

    def number(self, index: int) -> int:
        """The number of a move, for `at`."""
        return self._numbers[index]

    @cached_property
    def entries(self) -> list[Entry]:
        """Every change of worth, by its cause."""
        return money_entries(self.game)

    @cached_property
    def changes(self) -> list[BestRunChange]:
        """Every change of a best run."""
        return best_run_changes(self.game)

    @cached_property
    def sentences(self) -> list[str]:
        """Where the money came from, in at most twelve sentences."""
        return MoneySentences(self.game, self.entries, self.changes, self.last).all()

    @cached_property
    def turning_points(self) -> list[TurningPoint]:
        """The five moments that moved most between players, in order."""
        until = None if self.may_study else last_round_start(self.game)
        moments = turning_points(self.game, self.places, self.entries, self.changes, until=until)
        return [told(self.game, moment, self.last) for moment in moments]

    @cached_property
    def places(self) -> list[Place]:
        """Where each move was made."""
        return places(self.game)

    @cached_property
    def runs(self) -> list[Run]:
        """Every run, with the best that was possible."""
        return runs_of(self.game)

    @cached_property
    def trains(self) -> list[TrainAccount]:
        """Every train, by what it earned and cost."""
        return train_accounts(self.game)

    @cached_property
    def statistics(self) -> list[list[str]]:
        """The table of the rounds, see `round_statistics`."""
        return round_statistics(self.game.start, (move.events for move in self.game.lines))

    @property
    def marks(self) -> list[tuple[str, str]]:
        """The rounds of the turning points, each with its number, for the picture."""
        return [(point.round, str(at)) for at, point in enumerate(self.turning_points, 1)]

    @property
    def bars(self) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
        """Each player's name with (cause, dollars) each, for the picture; the richest first."""
        return tuple(
            (self.last.name(seat), tuple(parts_of(self.entries, seat).items()))
            for seat in engine.standings(self.last)
        )

    def picture(self) -> Picture:
        """Worth by round with the turning points, and a bar of causes for each player."""
        return review_png(self.last.title, self.statistics, self.marks, self.bars)
