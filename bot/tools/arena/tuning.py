"""Tuning the weights of the robot by self-play: `railpost tune`.

Theory of operation. One weight is varied at a time, up and down by a factor. Half of the seats have the
weights found so far, the others the varied ones, and the seats rotate from game to game, so that every seed
is played fairly. What counts is the part of the net worth of all players that the varied seats end with,
over a half: a finer measure than wins. A change is kept if its mean over the games is above zero by more
than `SURE` standard errors; else the weight stays. Every game is a row of the arena's file under the names
of its players, such as `robot:0.1+reach=0.18`, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from bot.features.robots.weights import DEFAULT_WEIGHTS, Weights
from bot.tools.arena.match import SeatResult
from bot.tools.arena.series import Series, Watch, play_series, unwatched

SURE = 1.64
"""Standard errors by which a change has to be better: one in twenty would be by chance."""
FACTORS = (1.4, 1 / 1.4)
"""By which a weight is varied."""


class Trial(NamedTuple):
    """A weight with a value, against the weights before it.

    `gain`: mean part of the net worth over a half of the varied seats; `error`: its standard error;
    `is_kept`: it is better beyond doubt.
    """

    weight: str
    value: float
    before: float
    games: int
    gain: float
    error: float
    is_kept: bool


class Tuning(NamedTuple):
    """What is tuned: the title, an even number of players, seconds of a robot, games of each trial."""

    title: str
    players: int
    seconds: float
    options: tuple[str, ...]
    seeds: range
    weights: Sequence[str]

    def check(self) -> None:
        """Raises ValueError with a sentence for what cannot be tuned."""
        if unknown := set(self.weights) - set(Weights.__struct_fields__):
            names = ", ".join(Weights.__struct_fields__)
            raise ValueError(f"There is no weight {sorted(unknown)[0]}; the weights are {names}.")
        if self.players % 2:
            raise ValueError("Half of the players have the varied weights: name an even number of players.")
        Series(self.title, (f"robot:{self.seconds:g}",) * self.players, self.options, self.seeds).check()

    def player(self, changes: dict[str, float]) -> str:
        """The name of a robot with changed weights."""
        named = [f"{name}={value:g}" for name, value in changes.items()]
        return "+".join([f"robot:{self.seconds:g}", *named])


def tune(tuning: Tuning, out: Path | None, watch: Watch = unwatched) -> Iterator[Trial]:
    """Vary each weight up and down; yields the trials as they are decided. Raises ValueError."""
    tuning.check()
    kept: dict[str, float] = {}
    for name in tuning.weights:
        before = kept.get(name, getattr(DEFAULT_WEIGHTS, name))
        for factor in FACTORS:
            value = float(f"{before * factor:.3g}")
            trial = try_weight(tuning, kept, name, value, before, out, watch)
            yield trial
            if trial.is_kept:
                kept[name] = value
                break


def try_weight(
    tuning: Tuning,
    kept: dict[str, float],
    name: str,
    value: float,
    before: float,
    out: Path | None,
    watch: Watch,
) -> Trial:
    """Play a varied weight against the weights kept so far."""
    varied = tuning.player(kept | {name: value})
    line_up = (varied, tuning.player(kept)) * (tuning.players // 2)
    series = Series(tuning.title, line_up, tuning.options, tuning.seeds)
    gains = [_gain(game, varied) for game in play_series(series, out, watch)]
    mean = sum(gains) / len(gains)
    spread = sqrt(sum((gain - mean) ** 2 for gain in gains) / max(len(gains) - 1, 1))
    error = spread / sqrt(len(gains))
    is_kept = len(gains) > 1 and mean > SURE * error
    return Trial(name, value, before, len(gains), mean, error, is_kept)


def _gain(game: Sequence[SeatResult], player: str) -> float:
    return sum(row.share for row in game if row.player == player) - 0.5
