"""Positions to draw, made by hand, which the rules need not allow; and the ends of recorded games."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import State, new_game
from engine.game_text import replay
from renderers.views import MapView, RouteSegment

TILES: dict[str, tuple[str, int]] = {
    "B12": ("23", 4), "B14": ("24", 4), "B16": ("14", 0), "B18": ("29", 1), "B20": ("4", 2), "C13": ("7", 3),
    "C17": ("8", 3), "C19": ("39", 4), "C21": ("70", 5), "D10": ("65", 2), "D12": ("24", 4), "D16": ("9", 1),
    "D18": ("44", 2), "D20": ("42", 0), "D22": ("25", 4), "E7": ("3", 1), "E11": ("67", 0), "E13": ("41", 3),
    "E15": ("46", 1), "E17": ("47", 3), "E19": ("63", 5), "E23": ("61", 5), "F4": ("57", 3), "F10": ("58", 3),
    "F12": ("45", 5), "F20": ("69", 0), "F22": ("15", 1), "G5": ("27", 0), "G7": ("2", 2), "G11": ("40", 4),
    "G13": ("43", 1), "G17": ("56", 5), "G19": ("62", 0), "H4": ("63", 4), "H6": ("9", 1), "H8": ("19", 2),
    "H10": ("14", 0), "H16": ("15", 3), "H18": ("66", 0), "I7": ("26", 3), "I13": ("18", 4), "I15": ("61", 0),
    "I17": ("16", 1), "J4": ("1", 0), "J6": ("28", 3), "J8": ("55", 2), "J14": ("53", 1),
}  # fmt: skip

TOKENS = {
    "H12": [(0, "PRR")], "E19": [(0, "NYC"), (0, "CPR")], "A19": [(0, "CPR")], "I15": [(0, "B&O")],
    "F6": [(0, "C&O")], "E11": [(1, "Erie")], "G19": [(0, "NYNH"), (1, "NYC"), (1, "PRR")],
    "E23": [(0, "B&M")], "H10": [(0, "PRR")], "H18": [(0, "B&O")],
}  # fmt: skip


def opening(players: int = 3) -> State:
    """The first position of a game."""
    return new_game("1830", ["Ann", "Bob", "Cid", "Dora", "Eve", "Finn"][:players]).state


def position(
    tiles: Mapping[str, tuple[str, int]] = TILES,
    tokens: Mapping[str, list[tuple[int, str]]] = TOKENS,
    phase: str = "3",
) -> State:
    """A board with those tiles and tokens in that phase."""
    state = opening()
    state.tiles = dict(tiles)
    state.tokens = {coord: list(here) for coord, here in tokens.items()}
    state.phase = phase
    return state


def trading() -> State:
    """A position with share prices, four companies in one cell."""
    state = position()
    cells = {
        "B&O": (0, 6),
        "PRR": (3, 6),
        "NYC": (2, 6),
        "C&O": (3, 6),
        "CPR": (3, 6),
        "Erie": (3, 6),
        "B&M": (5, 0),
    }
    for sym, cell in cells.items():
        company = state.companies[sym]
        company.par, company.cell, company.floated = 76, cell, sym != "Erie"
        company.president = "p1"
        company.shares = {"p1": 40, "p0": 20, "pool": 10, "ipo": 30}
        company.trains = ["2", "3"]
    state.cash.update({sym: 100 + i for i, sym in enumerate(state.companies)})
    state.market_order = list(cells)
    return state


FINANCED = """
@ cash Ann 500
@ cash Bob 40
@ cash Cid 300
@ size WT 10
@ price WT 100
@ owns Ann WT 4
@ owns Bob WT -2
@ owns Cid WT -1
@ owns pool WT 5
@ owns treasury WT 4
@ cash WT 130
@ trains WT 3 3
@ loans WT 4
@ token WT F19 E22.0
@ size SR 5
@ price SR acquisition 2
@ owns Bob SR 2
@ owns treasury SR 3
@ loans SR 3
@ token SR G18
@ size R 2
@ price R liquidation
@ owns Cid R 2
@ token R C26
@ size J 2
@ price J 100
@ owns Ann J 2
@ cash J 20
@ tile F15 9 0
@ mine F15
@ tile H3 57 0
@ bridge H3
@ private CM WT
@ private OBC J
@ private PSM Ann
@ phase 3
@ round stock Ann
"""
"""Companies of all sizes, shares sold short, loans, a mine and a bridge."""


def financed() -> State:
    """That position."""
    report = replay(f"title 1817\nplayers Ann, Bob, Cid\n---\n{FINANCED}")
    assert report.state is not None and report.failure is None, report.failure
    return report.state


def with_route(view: MapView, label: str, *legs: tuple[str, str, str]) -> MapView:
    """The map with a route by its legs, (hex, end, end) each, whether or not a train could run it."""
    number = len(view.routes)
    hexes = [
        replace(hex, route_segments=(*hex.route_segments, *(
            RouteSegment(number, label, a, b) for coord, a, b in legs if coord == hex.coord
        )))
        for hex in view.hexes
    ]  # fmt: skip
    return replace(view, hexes=tuple(hexes), routes=(*view.routes, label))


def recorded_ends(shared: Path, title: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The last position of each recorded game of a title, as the site has it, after the name of its file."""
    paths = sorted((shared / "games/18xx.games" / title).glob("*.states.jsonl.gz"))
    assert paths
    for path in paths:
        with gzip.open(path, "rt") as lines:
            *_, last = lines
        yield path.name, json.loads(last)
