"""Each field of each type of action: a record that lacks it or contradicts itself is not taken silently."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.tools.simulation.simulate import simulate_game
from engine.core.events import PresidentNamed, PriceProtected, SharesMoved
from engine.site_18xx.certificate_numbering import CertificateNumbering
from engine.site_18xx.codec_registry import CODECS
from engine.site_18xx.export import export_game
from engine.site_18xx.game_file import SiteFileError
from engine.site_18xx.names import site_names_of
from engine.site_18xx.record_check import COMPARED, REQUIRED
from engine.site_18xx.site_table import SiteReplayError
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of
from tests.site_18xx.recorded_games import replay_file

PAGE = Path(__file__).parents[2] / "docs" / "site-files.md"
OTHER = {
    "price": -7, "company": "X", "corporation": "X", "share_price": "90,0,6", "shares": ["PRR_7"],
    "percent": 50, "hex": "F8", "tile": "57-77", "rotation": 9, "city": "57-3-0", "slot": 3, "kind": "half?",
    "train": "3-9", "variant": "6", "exchange": "4-1", "choice": 3, "target": "A1", "target_type": "player",
}  # fmt: skip
"""A value of each field that no action of these games has."""
GAMES = {"1830": (4, 2, 230), "1870": (3, 1, 160), "1817": (4, 2, 200)}
"""By title the players, the seed and the moves of a random game by the site's conventions."""


@cache
def exported(title: str) -> str:
    players, seed, moves = GAMES[title]
    game = simulate_game(title, players, seed, (SITE_CONVENTIONS,), max_moves=moves)
    return json.dumps(export_game(game.history))


def first_of_each_type(title: str) -> dict[str, int]:
    """By type of action the index of the first one in the game."""
    found: dict[str, int] = {}
    for at, action in enumerate(json.loads(exported(title))["actions"]):
        found.setdefault(action["type"], at)
    return found


def told(file: dict[str, Any], at: int, action: dict[str, Any]) -> str:
    """What is said against that action in place of the recorded one: the refusal, or the warnings."""
    actions = [*file["actions"][:at], action, *file["actions"][at + 1 : at + 2]]
    try:
        return " ".join(replay_file(file | {"actions": actions}).warnings)
    except (SiteFileError, SiteReplayError) as error:
        assert "\n" not in str(error)
        return str(error)


@pytest.mark.parametrize("title", GAMES)
def test_no_field_is_left_out_or_changed_silently(title: str) -> None:
    file = json.loads(exported(title))
    for kind, at in first_of_each_type(title).items():
        action = file["actions"][at]
        for field in ("entity", "entity_type", *REQUIRED.get(kind, ())):
            lacking = {key: value for key, value in action.items() if key != field}
            assert "Action" in told(file, at, lacking), (kind, field)
        for field in COMPARED.get(kind, ()):
            if field in action:
                assert "Action" in told(file, at, action | {field: OTHER[field]}), (kind, field)
        for entity in ({"entity": 1}, {"entity": 2}, {"entity": "B&M", "entity_type": "corporation"}):
            other = action | {"entity_type": "player"} | entity
            if other["entity"] != action["entity"] and kind not in ("message", "end_game"):
                assert told(file, at, other), (kind, entity)


def test_every_type_has_a_row() -> None:
    """All types that the site's format has for these titles; what a type needs is compared too."""
    rows = COMPARED.keys() | REQUIRED.keys()
    assert CODECS.keys() - rows == {"end_game"}
    assert REQUIRED.keys() - COMPARED.keys() == {"pass", "run_routes", "destination_connection"}
    for kind, fields in COMPARED.items():
        assert set(REQUIRED.get(kind, ())) <= set(fields), kind


def test_the_page_about_files_has_the_rows_of_the_code() -> None:
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    fields = {cells[1].strip(" `"): re.findall(r"`([^`]+)`", "".join(cells[3:])) for cells in rows}
    assert fields.keys() == CODECS.keys()
    for kind, (*_, needed, _others, _) in zip(fields, rows, strict=True):
        assert re.findall(r"`([^`]+)`", needed) == list(REQUIRED.get(kind, ())), kind
        assert set(COMPARED.get(kind, ())) <= set(fields[kind]), kind
    entities = {cells[1].strip(" `"): cells[2].strip() for cells in rows if "anyone" not in cells[2]}
    assert entities == {kind: ", ".join(CODECS[kind].entity_types) for kind in entities}


def with_run(**fields: Any) -> tuple[dict[str, Any], int, dict[str, Any]]:
    """The game of 1830 up to its first run, and that run with other fields in its first route."""
    file = json.loads(exported("1830"))
    at = next(n for n, a in enumerate(file["actions"]) if a["type"] == "run_routes" and a["routes"])
    run = file["actions"][at]
    return file, at, run | {"routes": [run["routes"][0] | fields, *run["routes"][1:]]}


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"revenue": "much"}, "is text, not a whole number"),
        ({"revenue": True}, "is true or false, not a whole number"),
        ({"revenue": 70_000}, "multiple of $10"),
        ({"train": "6-1"}, "does not own the train 6-1"),
        ({"train": "x"}, "is not a numbered train"),
        ({"train": ""}, "names no train"),
        ({"connections": [], "revenue": 10}, "$10 is paid as recorded"),
        ({"hexes": ["A1"]}, "by its track, which counts"),
        ({"nodes": "A1-0"}, "by its track, which counts"),
    ],
)
def test_a_damaged_run_is_refused_or_told(fields: dict[str, Any], words: str) -> None:
    file, at, run = with_run(**fields)
    assert words in told(file, at, run)


def test_a_run_before_its_step_is_told() -> None:
    """The site has a pass of each step with something to do: where one is missing it is added, and told."""
    file, at, run = with_run()
    before = file["actions"][at - 1]
    assert before["type"] == "pass" or before["entity"] == run["entity"]
    assert told(file, at, run | {"extra_revenue": 20}).endswith("so it would have to be 0.")
    assert told(file, at, run) == ""


def test_a_token_that_costs_something_else_is_refused() -> None:
    file = json.loads(exported("1830"))
    at = next(n for n, a in enumerate(file["actions"]) if a["type"] == "place_token" and "tokener" in a)
    assert "its cost is 5; the token costs $" in told(file, at, file["actions"][at] | {"cost": 5})


def test_a_missing_record_of_connections_is_told() -> None:
    """1870: the site writes one as a turn begins and one as it ends."""
    file = json.loads(exported("1870"))
    actions = [{k: v for k, v in action.items() if k != "auto_actions"} for action in file["actions"]]
    warnings = replay_file(file | {"actions": actions}).warnings
    assert warnings and all("no record of connections at the start" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("listed", "reason"),
    [(None, "the destination_connection has no corporations"), (["ATSF", "ATSF"], "names a company twice")],
)
def test_a_record_of_connections_with_a_wrong_list_is_refused(listed: list[str] | None, reason: str) -> None:
    file = json.loads(exported("1870"))
    for action in file["actions"]:
        for record in action.get("auto_actions", ()):
            record["corporations"] = listed
    with pytest.raises(SiteReplayError, match=reason):
        replay_file(file)


def test_half_a_presidents_certificate_is_protected_under_its_number() -> None:
    """1870 §5.9.7 on the site: the seller buys it back from the successor, who may lose the presidency."""
    held = CertificateNumbering(site_names_of("1870"), title_of("1870", (SITE_CONVENTIONS,)))
    for seat, percent, first in (("p0", 20, True), ("p1", 20, False), ("p2", 20, False)):
        named = [PresidentNamed("SP", seat)] if first else []
        held.update([*named, SharesMoved("SP", "ipo", seat, percent)])
    assert held.next_to_leave("SP", "p0", 10) == ["SP_0"]
    held.update([PresidentNamed("SP", "p1"), SharesMoved("SP", "p0", "pool", 10)])
    assert held.to_protect("SP", 10) == ["SP_0"]
    held.update([PriceProtected("p0", "SP"), PresidentNamed("SP", "p2"), SharesMoved("SP", "p1", "p0", 10)])
    owners = {owner: sorted(shares) for owner, shares in held.holders("SP").items() if owner != "ipo"}
    assert owners == {"p0": ["SP_3", "SP_4"], "p1": ["SP_1"], "p2": ["SP_0"], "pool": ["SP_2"]}
