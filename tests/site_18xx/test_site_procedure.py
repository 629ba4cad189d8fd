"""What the model of the site's procedure finds in a damaged file. Exported games, which it finds correct, are
those of `test_round_trips` and `test_recorded_games`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.site_18xx.export import export_game
from tests.game_text.histories import history_of
from tests.site_18xx.site_procedure import faults

STORED = Path(__file__).parents[1] / "games" / "1830-4p-16-18xx.games.18xx"


def test_the_model_finds_what_is_wrong() -> None:
    file = json.loads(json.dumps(export_game(history_of(STORED))))
    assert list(faults(file)) == []
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
