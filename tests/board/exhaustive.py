"""An exhaustive search for all walks on a board, independent of `engine.board` but for the tile geometry; and
random boards."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from engine.board.tile_geometry import face_at, fitting_rotations
from engine.core.components import Components, components_of, tile_faces

Tiles = dict[str, tuple[str, int]]
Tokens = dict[str, list[tuple[int, str]]]
Stop = tuple[str, int]
Side = frozenset[tuple[str, int]]

PLAIN = "7 8 9 16 18 19 20 23 24 25 26 28 40 43 44 47 63 80 81 82 544".split()
STOPS = "1 2 3 4 55 57 58 14 15 63 69 141 144 145".split()


class Walk(NamedTuple):
    """Stops visited, hexsides crossed, track used, and where the walk is: a stop or a port."""

    stops: tuple[Stop, ...]
    sides: frozenset[Side]
    tracks: frozenset[tuple[str, int]]
    at: tuple[str, int]


class ExhaustiveBoard:
    """A position as plain lists of track; in the hexes of `one_city` a route stops but once."""

    def __init__(
        self, facts: Components, tiles: Tiles, tokens: Tokens, one_city: frozenset[str] = frozenset()
    ) -> None:
        self.facts, self.tokens, self.one_city = facts, tokens, one_city
        self.faces = {hex: face_at(facts, tiles, hex) for hex in facts.map.hexes}

    def stops(self) -> list[Stop]:
        return [(hex, n) for hex, face in self.faces.items() for n in face.stops]

    def own(self, company: str) -> list[Stop]:
        return [(hex, n) for hex, here in self.tokens.items() for n, there in here if there == company]

    def ends(self, company: str, stop: Stop) -> bool:
        node = self.faces[stop[0]].nodes[stop[1]]
        here = [c for n, c in self.tokens.get(stop[0], ()) if n == stop[1]]
        return node.kind == "offboard" or bool(node.slots and len(here) >= node.slots and company not in here)

    def side(self, hex: str, edge: int) -> Side:
        there = self.facts.map.hexes[hex].neighbors.get(edge)
        ports = {(hex, edge)} | ({(there, (edge + 3) % 6)} if there else set())
        return frozenset(ports)

    def across(self, hex: str, edge: int) -> tuple[str, int] | None:
        hexes = self.facts.map.hexes
        there = hexes[hex].neighbors.get(edge)
        back = (edge + 3) % 6
        if there is None or there not in hexes:
            return None
        walls = [(h, b.edge) for h in (hex, there) for b in hexes[h].borders]
        return None if (hex, edge) in walls or (there, back) in walls else (there, back)

    def area(self, stop: Stop) -> object:
        if stop[0] in self.one_city:
            return stop[0]
        return self.faces[stop[0]].nodes[stop[1]].group or stop

    def walks(self, start: Stop, company: str) -> Iterator[Walk]:
        """All walks from a stop that use nothing twice, each at the moment it comes somewhere."""
        yield from self._leave(Walk((start,), frozenset(), frozenset(), start))

    def _leave(self, walk: Walk) -> Iterator[Walk]:
        hex, n = walk.at
        yield from self._run(walk, hex, 6 + n, frozenset())

    def _run(self, walk: Walk, hex: str, end: int, junctions: frozenset[int]) -> Iterator[Walk]:
        face = self.faces[hex]
        for t, pair in enumerate(face.tracks):
            if end not in pair or (hex, t) in walk.tracks:
                continue
            other = pair[1] if pair[0] == end else pair[0]
            on = walk._replace(tracks=walk.tracks | {(hex, t)})
            if other < 6:
                side = self.side(hex, other)
                if side in walk.sides:
                    continue
                on = on._replace(sides=walk.sides | {side}, at=(hex, -1 - other))
                yield on
                across = self.across(hex, other)
                if across:
                    yield from self._run(on, across[0], across[1], frozenset())
            elif face.nodes[other - 6].kind == "junction":
                if other not in junctions:
                    yield from self._run(on, hex, other, junctions | {other})
            elif (hex, other - 6) not in walk.stops:
                yield on._replace(stops=(*walk.stops, (hex, other - 6)), at=(hex, other - 6))

    def routes(self, start: Stop, company: str, distance: int) -> Iterator[Walk]:
        """All routes from a stop: walks from stop to stop, blocked ones passed by none."""
        todo = [Walk((start,), frozenset(), frozenset(), start)]
        while todo:
            walk = todo.pop()
            if len(walk.stops) > 1:
                yield walk
            if len(walk.stops) == distance or (len(walk.stops) > 1 and self.ends(company, walk.at)):
                continue
            areas = {self.area(stop) for stop in walk.stops}
            todo += [
                on
                for on in self._leave(walk)
                if len(on.stops) > len(walk.stops) and self.area(on.stops[-1]) not in areas
            ]


NEAR = (
    "H10 G11 G9 H8 I9 I11 G13 H14 G15 F12 F14 I13 J14 H16 E11 "
    "D10 F10 G7 H6 F8 I15 H4 G5 G3 H2 I7 J10 J12 I17 G17"
).split()


def random_board(seed: int, lays: int = 150) -> tuple[Components, Tiles, Tokens]:
    """Random lays around Altoona that mostly meet, upgraded again and again, and random tokens."""
    rng = random.Random(seed)
    facts = components_of("1830")
    faces = tile_faces()
    tiles: Tiles = {}

    def met(hex: str, exits: int) -> int:
        """How many of these edges have track on the other side."""
        around = facts.map.hexes[hex].neighbors.items()
        return sum(
            exits >> e & 1 and face_at(facts, tiles, there).exits >> (e + 3) % 6 & 1 for e, there in around
        )

    for _ in range(lays):
        hex = rng.choice(NEAR)
        nodes = facts.map.hexes[hex].nodes
        pool = "53 61".split() if hex == "I15" else PLAIN
        if nodes and hex != "I15":
            pool = "59 64 65 66 67 68".split() if len(nodes) == 2 and nodes[0].kind == "city" else STOPS
        kinds = sorted(node.kind for node in nodes)
        pool = [t for t in pool if sorted(n.kind for n in faces[t].nodes if n.kind != "junction") == kinds]
        tile = rng.choice(pool)
        if options := fitting_rotations(facts, hex, tiles.get(hex), tile):
            turns = [(met(hex, fit.face.exits) + rng.random(), fit.rotation) for fit in options]
            tiles[hex] = (tile, max(turns)[1])
    tokens: Tokens = {"H12": [(0, "PRR")]} if seed % 3 else {"I15": [(0, "PRR")]}
    for hex in ("H10", "J14", "E11", "F6", "H16"):
        face = face_at(facts, tiles, hex)
        for company in rng.sample(["PRR", "B&O", "C&O"], k=rng.randint(0, 2)):
            n = rng.choice(face.stops)
            here = tokens.setdefault(hex, [])
            if sum(m == n for m, _ in here) < face.nodes[n].slots:
                here.append((n, company))
    return facts, tiles, tokens
