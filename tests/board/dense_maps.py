"""Late positions with the densest maps: tiles as far upgraded as the supply allows, and long trains."""

from __future__ import annotations

import random

from engine import new_game
from engine.board.routes import RunningTrain
from engine.board.tile_geometry import Fit, face_at, fitting_rotations
from engine.game import Game
from engine.kernel import game_of
from engine.operating.track import candidate_tiles, is_tile_allowed_on, tile_supply

COMPANY = "own"
TOKENS = 4
SWEEPS = 3
HEAVY = {
    "1830": ("D", "D", "D", "D"),
    "1851": ("8", "8", "8", "8"),
    "1870": ("12", "12", "12", "12"),
    "1817": ("8", "8", "8", "8"),
}
"""The longest trains of each title, more than a company may have."""


def kinds(title: str, count: int) -> list[RunningTrain]:
    """So many of them."""
    g = _game(title)
    return [RunningTrain(name, g.train_definition(name).distance) for name in HEAVY[title][:count]]


def _game(title: str) -> Game:
    g = game_of(new_game(title, ["Ann", "Bob", "Cid"]).state)
    g.state.phase = g.components.phases[-1].name
    return g


def late_position(title: str, seed: int) -> Game:
    """A map filled from a city outward with tiles that may come to lie there and are left, turned so that
    most of their track goes on; TOKENS of COMPANY in the cities around, others full of other companies'."""
    rng = random.Random(f"{title} {seed}")
    g = _game(title)
    hexes = _outward(g, rng.choice(list(g.components.map.hexes)))
    for _ in range(SWEEPS):
        for hex in hexes:
            g.state.tiles.pop(hex, None)
            left = tile_supply(g)
            lays = [
                (_goes_on(g, hex, fit) + rng.random(), tile, fit.rotation)
                for tile in _after(g, hex)
                if left.get(tile, 1) > 0
                for fit in fitting_rotations(g.components, hex, None, tile)
            ]
            if lays:
                g.state.tiles[hex] = max(lays)[1:]
    cities = [
        (hex, n)
        for hex in hexes
        for n, node in enumerate(face_at(g.components, g.state.tiles, hex).nodes)
        if node.kind == "city" and face_at(g.components, g.state.tiles, hex).node_exits[n]
    ]
    inner = cities[: 3 * TOKENS]
    rng.shuffle(inner)
    for i, (hex, n) in enumerate([*inner, *cities[len(inner) :]]):
        slots = face_at(g.components, g.state.tiles, hex).nodes[n].slots
        if i < TOKENS:
            g.state.tokens.setdefault(hex, []).append((n, COMPANY))
        elif rng.random() < 0.1:
            g.state.tokens.setdefault(hex, []).extend((n, f"other {k}") for k in range(slots))
    return g


def _after(g: Game, hex: str) -> list[str]:
    """The tiles that may come to lie on a hex without one, sooner or later."""
    found = dict.fromkeys(candidate_tiles(g, hex))
    todo = list(found)
    while todo:
        for tile in (g.components.upgrades or {}).get(todo.pop(), ()):
            if tile not in found and is_tile_allowed_on(g, tile, hex):
                found[tile] = None
                todo.append(tile)
    return list(found)


def _outward(g: Game, start: str) -> list[str]:
    """All hexes, the nearest to one of them first."""
    found = [start]
    for hex in found:
        found += [there for there in g.components.map.hexes[hex].neighbors.values() if there not in found]
    return [hex for hex in found if hex in g.components.map.hexes]


def _goes_on(g: Game, hex: str, fit: Fit) -> int:
    """A score by edges: those that meet track count most, those at blank sides of a tile nothing."""
    gained = 0
    for edge, there in g.components.map.hexes[hex].neighbors.items():
        exits = face_at(g.components, g.state.tiles, there).exits
        if fit.face.exits >> edge & 1:
            laid = exits or there in g.state.tiles
            gained += 3 if exits >> (edge + 3) % 6 & 1 else -3 if laid else 1
    return gained
