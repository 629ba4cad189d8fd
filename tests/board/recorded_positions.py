"""Positions of the recorded games, read in place from the folder of reference games."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from engine.board.tile_geometry import fitting_rotations
from engine.core.components import components_of

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
    facts = components_of(title)
    with gzip.open(folder / f"{name}.json.gz") as file:
        placed = {a["id"]: a for a in _actions(json.load(file)) if a["type"] == "place_token"}
    homes = {c.sym: c.home for c in facts.companies if c.home}
    # Nodes of tokens and of homes that wait for theirs, as tiles move them.
    nodes = {(home.hex, sym): home.city or 0 for sym, home in homes.items()}
    seen: set[tuple[str, str]] = set()
    found: list[Position] = []
    tiles: Tiles = {}
    chosen: dict[str, int] = {}
    for state in lines(folder / f"{name}.states.jsonl.gz"):
        now = {hex: (tile, turn) for hex, (tile, turn) in state["tiles"].items()}
        for hex, laid in now.items():
            if tiles.get(hex) != laid:
                moved = next(
                    f.node_map
                    for f in fitting_rotations(facts, hex, tiles.get(hex), laid[0])
                    if f.rotation == laid[1]
                )
                for hc in list(nodes):
                    if hc[0] == hex:
                        nodes[hc] = moved[nodes[hc]]
        tiles = now
        action = placed.get(state["id"])
        placer = action and FAMED.get(
            action.get("tokener", action["entity"]), action.get("tokener", action["entity"])
        )
        if action and placer:
            chosen[placer] = int(action["city"].rsplit("-", 1)[1])
        tokens: Tokens = {}
        for sym, company in state["companies"].items():
            ours = FAMED.get(sym, sym)
            for hex in company["tokens"]:
                key = (hex, ours)
                if key not in seen:
                    seen.add(key)
                    nodes[key] = chosen.pop(ours, nodes.get(key, 0))
        if placer in chosen:
            # No token is new: a company whose home has two cities is given one of them.
            for sym, home in homes.items():
                if home.city is None and (home.hex, sym) in seen:
                    nodes[home.hex, sym] = chosen.pop(placer)
        for hex, sym in sorted(seen):
            if hex in state["companies"].get(_site(sym), {"tokens": ()})["tokens"]:
                tokens.setdefault(hex, []).append((nodes[hex, sym], sym))
        found.append(Position(state["id"], state["phase"], dict(tiles), tokens))
    return found


def _site(sym: str) -> str:
    return next((theirs for theirs, ours in FAMED.items() if ours == sym), sym)
