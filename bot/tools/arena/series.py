"""A series of games between the same players, which goes on where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bot.tools.arena.contestants import contestant
from bot.tools.arena.match import GameSetup, SeatResult, play_game
from bot.tools.arena.results import append_results, games_of, read_results
from engine import State, new_game

Watch = Callable[[GameSetup, State, int], None]
"""Called after every move with the game, the position, and the number of moves."""


class Series(NamedTuple):
    """The games to play: one for each seed, with the players rotated by it."""

    title: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seeds: range

    def check(self) -> None:
        """Raises ValueError with a sentence for a title, option or player that there is not."""
        new_game(self.title, [f"P{i}" for i in range(len(self.players))], self.options)
        for name in self.players:
            contestant(name.rpartition("@")[2], 0, len(self.players))

    def played(self, rows: Sequence[SeatResult]) -> dict[int, list[SeatResult]]:
        """The rows of the series' games among those of a file, by seed."""
        key = self.title, " ".join(self.options), tuple(sorted(self.players))
        return {
            seed: game
            for (*of, seed), game in games_of(rows).items()
            if tuple(of) == key and seed in self.seeds
        }


def play_series(series: Series, path: Path | None, watch: Watch) -> Iterator[list[SeatResult]]:
    """The rows of each game: those in the file first, then the others, which are added to it."""
    done = series.played(read_results(path) if path else [])
    yield from done.values()
    for seed in series.seeds:
        if seed not in done:
            setup = GameSetup(series.title, series.players, series.options, seed)
            rows = play_game(setup, partial(watch, setup))
            if path:
                append_results(path, rows)
            yield rows
