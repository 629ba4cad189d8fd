"""Positions of the recorded games, read in place from the folder of reference games."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from engine.board.faces import fits
from engine.facts import facts_of

SHARED = Path(__file__).parents[3] / "shared"
GAMES = SHARED / "games"
ABSENT = f"no recorded games: {GAMES.name}/ is not beside the checkout"
FAMED = {"ERIE": "Erie"}

Tiles = dict[str, tuple[str, int]]
Tokens = dict[str, list[tuple[int, str]]]


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path) as file:
        return [json.loads(line) for line in file]


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
    facts = facts_of(title)
    with gzip.open(folder / f"{name}.json.gz") as file:
        placed = {a["id"]: a for a in _actions(json.load(file)) if a["type"] == "place_token"}
    homes = {c.sym: c.home for c in facts.companies}
    found: list[Position] = []
    tiles: Tiles = {}
    nodes: dict[tuple[str, str], int] = {}
    chosen: dict[str, int] = {}
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
        if action:
            chosen[action.get("tokener", action["entity"])] = int(action["city"].rsplit("-", 1)[1])
        tokens: Tokens = {}
        for sym, company in state["companies"].items():
            ours = FAMED.get(sym, sym)
            home = homes.get(ours)
            for hex in company["tokens"]:
                if (hex, ours) not in nodes:
                    nodes[hex, ours] = chosen.pop(sym, home.city or 0 if home else 0)
                elif home and home.city is None and home.hex == hex and sym in chosen:
                    nodes[hex, ours] = chosen.pop(sym)
                tokens.setdefault(hex, []).append((nodes[hex, ours], ours))
        found.append(Position(state["id"], state["phase"], dict(tiles), tokens))
    return found
