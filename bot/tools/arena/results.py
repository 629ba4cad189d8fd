"""The results of a match: a CSV file that grows game by game, and a table."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import msgspec

from bot.tools.arena.match import SeatResult

FIELDS = SeatResult.__struct_fields__
Z = 1.96
"""Standard deviations on either side of a 95 % interval."""


def read_results(path: Path) -> list[SeatResult]:
    """The rows of a file; none if there is no such file. Raises ValueError for a file of another kind."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != FIELDS:
            raise ValueError(f"{path} is not a file of this arena's results.")
        return [
            msgspec.convert(row, SeatResult, strict=False) for row in reader if row[FIELDS[-1]] is not None
        ]


def append_results(path: Path, rows: Iterable[SeatResult]) -> None:
    """Add the rows of one game to the file; the file is made if need be."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(FIELDS)
        writer.writerows(msgspec.structs.astuple(row) for row in rows)


class Interval(NamedTuple):
    """A frequency with its 95 % interval (Wilson)."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """`78 % (71-84)`"""
        return f"{100 * self.value:.0f} % ({100 * self.low:.0f}-{100 * self.high:.0f})"


def interval(successes: float, trials: int) -> Interval:
    """The frequency of so many successes among the trials."""
    if not trials:
        return Interval(0.0, 0.0, 1.0)
    p, z2 = successes / trials, Z * Z
    middle = (p + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z * sqrt(p * (1 - p) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return Interval(p, max(middle - half, 0.0), min(middle + half, 1.0))


class Summary(NamedTuple):
    """What one player reached in a match: over its seats, and in how many games it sat."""

    title: str
    player: str
    opponents: str
    games: int
    wins: Interval
    place: float
    share: float
    bankrupt: Interval
    game_bankrupt: Interval
    last_phase: Interval


GameKey = tuple[str, str, tuple[str, ...], int]
"""Title, options, players sorted by name, and seed of a game."""


def games_of(rows: Sequence[SeatResult]) -> dict[GameKey, list[SeatResult]]:
    """The rows by game, in the order of the file, where each game begins with seat 0; whole games only."""
    games: list[list[SeatResult]] = []
    for row in rows:
        if row.seat == 0 or not games:
            games.append([])
        games[-1].append(row)
    return {
        (game[0].title, game[0].options, tuple(sorted(row.player for row in game)), game[0].seed): game
        for game in games
        if len(game) == game[0].players
    }


def summaries(rows: Sequence[SeatResult]) -> list[Summary]:
    """One summary for each title, line-up and player, in the order of the file."""
    groups: dict[tuple[str, str, str], list[SeatResult]] = {}
    for (title, *_), seats in games_of(rows).items():
        names = sorted(row.player for row in seats)
        for row in seats:
            others = list(names)
            others.remove(row.player)
            groups.setdefault((title, row.player, ", ".join(others)), []).append(row)
    return [_summary(*key, seats) for key, seats in groups.items()]


def _summary(title: str, player: str, opponents: str, rows: Sequence[SeatResult]) -> Summary:
    n = len(rows)
    by_game = {(row.options, row.seed): row for row in rows}
    return Summary(
        title,
        player,
        opponents,
        len(by_game),
        interval(sum(row.win for row in rows), n),
        sum(row.place for row in rows) / n,
        sum(row.share for row in rows) / n,
        interval(sum(row.bankrupt for row in rows), n),
        interval(sum(row.game_bankrupt for row in by_game.values()), len(by_game)),
        interval(sum(row.last_phase for row in by_game.values()), len(by_game)),
    )


HEADINGS = (
    "title", "player", "against", "games", "wins", "place", "net worth", "own bankruptcies",
    "games with a bankruptcy", "last phase",
)  # fmt: skip


def cells(summary: Summary) -> tuple[str, ...]:
    """A summary as the cells of a table."""
    return (
        summary.title,
        summary.player,
        summary.opponents,
        str(summary.games),
        str(summary.wins),
        f"{summary.place:.2f}",
        f"{100 * summary.share:.0f} %",
        str(summary.bankrupt),
        str(summary.game_bankrupt),
        str(summary.last_phase),
    )


def markdown(rows: Sequence[Summary]) -> str:
    """The summaries as a Markdown table."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    return "\n".join([*lines, *("| " + " | ".join(cells(row)) + " |" for row in rows)])
