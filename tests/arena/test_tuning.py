"""Tuning by self-play: half of the seats vary a weight, and a run that was stopped goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.features.robots.weights import DEFAULT_WEIGHTS, varied
from bot.tools.arena import match, series
from bot.tools.arena.results import read_results
from bot.tools.arena.tuning import Tuning, tune


def tiny(weights: tuple[str, ...] = ("reach",), players: int = 2) -> Tuning:
    return Tuning("1830", players, 0, (), range(1, 3), weights)


def test_a_weight_is_varied_in_a_tiny_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "MAX_MOVES", 40)
    path = tmp_path / "tuning.csv"
    up, down = tune(tiny(), path)
    assert (up.weight, up.before, up.games) == ("reach", DEFAULT_WEIGHTS.reach, 2)
    assert up.value > up.before > down.value
    assert not up.is_kept and abs(up.gain) < 0.5
    played = read_results(path)
    names = {"robot:0", *(f"robot:0+reach={trial.value:g}" for trial in (up, down))}
    assert {row.player for row in played} == names

    def no_game(*_: object) -> None:
        raise AssertionError("a game in the file is played again")

    monkeypatch.setattr(series, "play_game", no_game)
    assert list(tune(tiny(), path)) == [up, down]
    assert read_results(path) == played


def test_what_cannot_be_tuned_is_refused() -> None:
    with pytest.raises(ValueError, match="There is no weight speed"):
        list(tune(tiny(("speed",)), None))
    with pytest.raises(ValueError, match="even number"):
        list(tune(tiny(players=3), None))


def test_weights_are_named_in_a_player() -> None:
    assert varied(DEFAULT_WEIGHTS, "reach=0.2+growth=0.05").reach == 0.2
    with pytest.raises(ValueError, match="is no weight"):
        varied(DEFAULT_WEIGHTS, "speed=1")
    with pytest.raises(ValueError, match="is no number"):
        varied(DEFAULT_WEIGHTS, "reach=far")
