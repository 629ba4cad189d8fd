"""The money in exported games, by models that know the file and the rules of the site only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.tools.simulation.simulate import simulate_game
from engine.core.actions import Action
from engine.core.events import RoundStarted
from engine.game_text import GameHistory
from engine.site_18xx.export import SiteExporter
from engine.site_18xx.site_game import SiteGame
from tests.game_text.histories import history_of
from tests.site_18xx.site_money import faults_of
from tests.site_18xx.site_money_1830 import Money1830
from tests.site_18xx.site_money_1870 import Money1870
from tests.site_18xx.test_round_trips import options_on_site, tables

MODELS = {"1830": Money1830, "1870": Money1870}
STORED = {"1830": "1830-4p-16-18xx.games", "1870": "1870-4p-5103-18xx.games"}
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


def money_faults(file: dict[str, Any], rounds: list[tuple[int, str]]) -> list[str]:
    return list(faults_of(MODELS[file["title"]](file), file, rounds))


def exported(title: str, players: int, seed: int, options: tuple[str, ...]) -> Exported:
    return with_rounds(simulate_game(title, players, seed, options_on_site(title, options)).history)


@pytest.mark.parametrize("title", MODELS)
def test_the_money_in_an_exported_game_is_that_of_the_model(title: str) -> None:
    """Every balance by then, and what everybody is worth in the end. Damaged files are found."""
    file, rounds = with_rounds(history_of(Path(__file__).parents[1] / "games" / f"{STORED[title]}.18xx"))
    assert file["result"] and money_faults(file, rounds) == []
    for damage in (withheld, dearer_train, _cheaper_bid, _sold_less):
        broken = json.loads(json.dumps(file))
        damage(broken["actions"])
        assert money_faults(broken, rounds), damage.__name__


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("title", MODELS)
def test_the_money_in_many_exported_games_is_that_of_the_model(title: str) -> None:
    for seed, players, options in tables(title, "18xx.games", 100):
        assert money_faults(*exported(title, players, seed, options)) == [], seed


def _first(actions: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(action for action in actions if action["type"] == kind)


def withheld(actions: list[dict[str, Any]]) -> None:
    next(a for a in actions if a.get("kind") == "payout")["kind"] = "withhold"


def dearer_train(actions: list[dict[str, Any]]) -> None:
    _first(actions, "buy_train")["price"] += 100


def _cheaper_bid(actions: list[dict[str, Any]]) -> None:
    _first(actions, "bid")["price"] -= 5


def _sold_less(actions: list[dict[str, Any]]) -> None:
    sold = _first(actions, "sell_shares")
    sold["percent"] -= 10
