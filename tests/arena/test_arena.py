"""The arena: seats rotate, results are kept and read again, intervals are those of Wilson."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.tools.arena.contestants import contestant
from bot.tools.arena.match import GameSetup, SeatResult, score
from bot.tools.arena.results import append_results, interval, read_results, summaries
from engine import new_game


def rows(seed: int, winner: str) -> list[SeatResult]:
    """Rows of a game of two in which that player is the richer."""
    setup = GameSetup("1830", ("robot", "random"), (), seed)
    state = new_game("1830", ["Ann", "Bob"]).state
    state.cash[f"p{setup.seated().index(winner)}"] += 500
    return score(setup, state, 10)


def test_seats_rotate_from_game_to_game() -> None:
    setups = [GameSetup("1830", ("a", "b", "c"), (), seed) for seed in range(3)]
    assert [setup.seated() for setup in setups] == [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")]


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    append_results(path, rows(1, "robot"))
    append_results(path, rows(2, "random"))
    assert read_results(path) == rows(1, "robot") + rows(2, "random")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a file of this arena's results"):
        read_results(path)


def test_a_summary_counts_wins_places_and_bankruptcies() -> None:
    summary = next(s for s in summaries([*rows(1, "robot"), *rows(2, "random")]) if s.player == "robot")
    assert (summary.games, summary.wins.value, summary.place, summary.bankrupt.value) == (2, 0.5, 1.5, 0.0)
    assert summary.opponents == "random"


def test_a_tie_is_a_part_of_a_win() -> None:
    setup = GameSetup("1830", ("robot", "random"), (), 1)
    state = new_game("1830", ["Ann", "Bob"]).state
    assert [(row.win, row.place) for row in score(setup, state, 0)] == [(0.5, 1.5), (0.5, 1.5)]


def test_intervals_are_those_of_wilson() -> None:
    assert str(interval(8, 10)) == "80 % (49-94)"
    assert str(interval(0, 20)) == "0 % (0-16)"


@pytest.mark.parametrize("name", ["robt", "robot:fast", "robot:-1"])
def test_an_unknown_player_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="the players are random, simulate, robot"):
        contestant(name, 1, 4)
