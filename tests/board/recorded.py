"""Positions of the recorded games, read in place from the folder of reference games."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from engine.board.faces import fits
from engine.facts import Facts, facts_of

SHARED = Path(__file__).parents[3] / "shared"
GAMES = SHARED / "games"
ABSENT = f"no recorded games: {GAMES.name}/ is not beside the checkout"
FAMED = {"ERIE": "Erie"}

Tiles = dict[str, tuple[str, int]]
Tokens = dict[str, list[tuple[int, str]]]


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path) as file:
        return [json.loads(line) for line in file]


@cache
def facts_for(title: str) -> Facts:
    """The facts of a title; of one that is not played yet, from the reference data."""
    try:
        return facts_of(title)
    except FileNotFoundError:
        return msgspec.json.decode((SHARED / "titles" / f"{title}.json").read_bytes(), type=Facts)


def _actions(game: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for action in game["actions"]:
        yield action
        for inner in action.get("auto_actions", ()):
            yield inner | {"id": action["id"]}


class Position(msgspec.Struct):
    """The board after the action `id`."""

    id: int
    phase: str
    tiles: Tiles
    tokens: Tokens


def positions(title: str, name: str) -> list[Position]:
    """The board after every live action of a recorded game.

    The states name the hexes of tokens; the node is that of the action that placed it (or of the
    home), carried along when a tile is replaced.
    """
    folder = GAMES / "18xx.games" / title
    facts = facts_for(title)
    with gzip.open(folder / f"{name}.json.gz") as file:
        placed = {a["id"]: a for a in _actions(json.load(file)) if a["type"] == "place_token"}
    homes = {c.sym: c.home for c in facts.companies}
    found: list[Position] = []
    tiles: Tiles = {}
    nodes: dict[tuple[str, str], int] = {}
    for state in lines(folder / f"{name}.states.jsonl.gz"):
        now = {hex: (t.rstrip("KL"), r) for hex, (t, r) in state["tiles"].items()}
        for hex, laid in now.items():
            if tiles.get(hex) != laid:
                moved = next(f.moved for f in fits(facts, hex, tiles.get(hex), laid[0]) if f.turn == laid[1])
                for hc in list(nodes):
                    if hc[0] == hex:
                        nodes[hc] = moved[nodes[hc]]
        tiles = now
        action = placed.get(state["id"])
        city = int(action["city"].rsplit("-", 1)[1]) if action else 0
        tokens: Tokens = {}
        fresh = False
        for sym, company in state["companies"].items():
            company_name = FAMED.get(sym, sym)
            for hex in company["tokens"]:
                key = (hex, company_name)
                if key not in nodes:
                    fresh = True
                    home = homes.get(company_name)
                    nodes[key] = (home.city or 0) if home and home.hex == hex and not action else city
                tokens.setdefault(hex, []).append((nodes[key], company_name))
        if action and not fresh:
            # A company whose home has several cities chooses one when the tile is laid.
            company_name = next(c.sym for c in facts.companies if c.home.city is None)
            hex = homes[company_name].hex
            nodes[hex, company_name] = city
            tokens[hex] = [(city if c == company_name else n, c) for n, c in tokens[hex]]
        found.append(Position(state["id"], state["phase"], dict(tiles), tokens))
    return found
