"""The money in exported games of 1830, by a model that knows the file and the rules of the site only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.simulation.simulate import random_options, simulate_game
from engine.core.actions import Action
from engine.core.events import RoundStarted
from engine.game_text import GameHistory
from engine.site_18xx.export import SiteExporter
from engine.site_18xx.site_game import SiteGame
from tests.site_18xx.recorded_games import recorded_files
from tests.site_18xx.site_money import money_faults
from tests.site_18xx.test_export import history_of, played
from tests.site_18xx.test_round_trips import options_on_site, tables

RECORDED = [path for path in recorded_files() if path.parent.name == "1830"]
Exported = tuple[dict[str, Any], list[tuple[int, str]]]


class RoundsGame(SiteGame):
    """A second game that notes after how many actions each of its rounds has begun."""

    rounds: list[tuple[int, str]]

    def play(self, seat: str, action: Action) -> None:
        super().play(seat, action)
        self.rounds += [(len(self.actions), e.round) for e in self.game.events if isinstance(e, RoundStarted)]


def with_rounds(history: GameHistory) -> Exported:
    """The exported game, and its rounds."""
    exporter = SiteExporter(history.start)
    exporter.site.__class__ = RoundsGame
    recorded = exporter.site
    assert isinstance(recorded, RoundsGame)
    recorded.rounds = []
    for line in history.lines:
        exporter.add_line(line)
    return json.loads(json.dumps(exporter.build_file())), recorded.rounds


def exported(players: int, seed: int, options: tuple[str, ...]) -> Exported:
    return with_rounds(simulate_game("1830", players, seed, options_on_site("1830", options)).history)


def test_the_money_in_an_exported_game_is_that_of_the_model() -> None:
    """Every balance by then, and what everybody is worth in the end. Damaged files are found."""
    file, rounds = exported(4, 2, random_options("1830", 4, 2, "18xx.games"))
    assert file["result"] and list(money_faults(file, rounds)) == []
    for damage in (_withheld, _dearer_train, _cheaper_bid, _sold_less):
        broken = json.loads(json.dumps(file))
        damage(broken["actions"])
        assert list(money_faults(broken, rounds)), damage.__name__


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_the_money_in_many_exported_games_is_that_of_the_model() -> None:
    for seed, players, options in tables("1830", "18xx.games", 100):
        assert list(money_faults(*exported(players, seed, options))) == [], seed


@pytest.mark.skipif(not RECORDED, reason="the recorded games are not beside this checkout")
@pytest.mark.parametrize("path", RECORDED[::6], ids=lambda path: path.name)
def test_the_money_in_recorded_games_is_that_of_the_model(path: Path) -> None:
    assert list(money_faults(*with_rounds(history_of(played(path))))) == []


def _first(actions: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(action for action in actions if action["type"] == kind)


def _withheld(actions: list[dict[str, Any]]) -> None:
    next(a for a in actions if a.get("kind") == "payout")["kind"] = "withhold"


def _dearer_train(actions: list[dict[str, Any]]) -> None:
    _first(actions, "buy_train")["price"] += 100


def _cheaper_bid(actions: list[dict[str, Any]]) -> None:
    _first(actions, "bid")["price"] -= 5


def _sold_less(actions: list[dict[str, Any]]) -> None:
    sold = _first(actions, "sell_shares")
    sold["percent"] -= 10
