"""Random games by the site's conventions, exported, and checked by a model of the site's procedure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.tools.simulation.simulate import random_options, simulate_game
from engine.site_18xx.export import export_game
from engine.title import SITE_CONVENTIONS
from tests.site_18xx.site_procedure import faults
from tests.site_18xx.test_round_trips import EXPORTABLE_TITLES, options_on_site, tables


def exported(title: str, players: int, seed: int, options: tuple[str, ...]) -> dict[str, Any]:
    history = simulate_game(title, players, seed, options_on_site(title, options)).history
    file: dict[str, Any] = json.loads(json.dumps(export_game(history)))
    return file


@pytest.mark.parametrize("title, players, seed", [("1830", 4, 2), ("1870", 3, 1), ("1817", 5, 3)])
def test_an_exported_game_follows_the_procedure_of_the_site(title: str, players: int, seed: int) -> None:
    options = random_options(title, players, seed, "18xx.games")
    assert list(faults(exported(title, players, seed, options))) == []


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("title", EXPORTABLE_TITLES)
def test_many_exported_games_follow_the_procedure_of_the_site(title: str) -> None:
    for seed, players, options in tables(title, "18xx.games", 100):
        assert list(faults(exported(title, players, seed, options))) == [], seed


def test_the_model_finds_what_is_wrong() -> None:
    file = exported("1830", 4, 2, (SITE_CONVENTIONS,))
    for damage in (_swap_steps, _foreign_train, _tile_twice, _share_twice, _sold_without, _free_train):
        broken = json.loads(json.dumps(file))
        damage(broken["actions"])
        assert list(faults(broken)), damage.__name__


def _swap_steps(actions: list[dict[str, Any]]) -> None:
    at = next(n for n, a in enumerate(actions) if a["type"] == "dividend")
    actions[at]["type"], actions[at - 1]["type"] = actions[at - 1]["type"], actions[at]["type"]
    actions[at - 1].setdefault("routes", []), actions[at].setdefault("routes", [])


def _foreign_train(actions: list[dict[str, Any]]) -> None:
    run = next(a for a in actions if a["type"] == "run_routes" and a["routes"])
    run["routes"][0]["train"] = "6-1"


def _share_twice(actions: list[dict[str, Any]]) -> None:
    bought = next(a for a in actions if a["type"] == "buy_shares")
    bought["shares"] *= 2


def _sold_without(actions: list[dict[str, Any]]) -> None:
    sold = next(a for a in actions if a["type"] == "sell_shares")
    sold["percent"] += 60


def _free_train(actions: list[dict[str, Any]]) -> None:
    next(a for a in actions if a["type"] == "buy_train")["price"] = 0


def _tile_twice(actions: list[dict[str, Any]]) -> None:
    first, second = [a for a in actions if a["type"] == "lay_tile"][:2]
    second["tile"] = first["tile"]
