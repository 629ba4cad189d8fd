"""What lies in a hex: tile faces in a rotation, and which rotations of a tile fit a hex.

The ends of track are numbers: 0-5 the edges of the hex, 6 + n its node n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count

import msgspec

from engine.facts import Color, Face, Facts, Node, tile_faces

FIXED = frozenset({"gray", "red", "blue"})
"""Colours of printed hexes on which no tile is ever laid."""

NODE = 6
"""The end that is node 0."""


class Turned(msgspec.Struct, frozen=True, gc=False):
    """A face in its rotation.

    `tracks`: pairs of ends. `exits`: the edges with track, bit e for edge e; `node_exits`: the same
    for each node, through junctions too. `stops`: the nodes that are stops, all but junctions.
    `onward`: for each end, where track leads from it: pairs of the tracks used (bit t for track t) and
    the end that is reached, a junction never being one.
    """

    color: Color
    label: str | None
    nodes: tuple[Node, ...]
    tracks: tuple[tuple[int, int], ...]
    exits: int
    node_exits: tuple[int, ...]
    stops: tuple[int, ...]
    onward: tuple[tuple[tuple[int, int], ...], ...]


def _end(text: str, turn: int) -> int:
    number = int(text[1:])
    return (number + turn) % 6 if text[0] == "e" else NODE + number


def _turned(face: Face, turn: int) -> Turned:
    tracks = tuple((_end(a, turn), _end(b, turn)) for a, b in face.paths)
    nodes = face.nodes

    def leads(end: int, used: int) -> Iterator[tuple[int, int]]:
        for t, pair in enumerate(tracks):
            if end in pair and not used >> t & 1:
                other = pair[pair[0] == end]
                if other >= NODE and nodes[other - NODE].kind == "junction":
                    yield from leads(other, used | 1 << t)
                else:
                    yield used | 1 << t, other

    ends = range(NODE + len(nodes))
    onward = tuple(tuple(sorted(lead for lead in leads(end, 0) if lead[1] != end)) for end in ends)
    exits = _mask(end for pair in tracks for end in pair if end < NODE)
    node_exits = tuple(_mask(end for _, end in onward[NODE + n] if end < NODE) for n in range(len(nodes)))
    stops = tuple(n for n, node in enumerate(nodes) if node.kind != "junction")
    return Turned(face.color, face.label, nodes, tracks, exits, node_exits, stops, onward)


def _mask(bits: Iterator[int]) -> int:
    mask = 0
    for bit in bits:
        mask |= 1 << bit
    return mask


def grows(old: Turned, new: Turned) -> bool:
    """Whether all track of a face is kept in the other, end by end, each stop being what it was."""
    known = (id(old), id(new))
    found = _grown.get(known)
    if found is None:
        found = _grown[known] = old.stops == new.stops and all(
            {end for _, end in before} <= {end for _, end in after}
            for before, after in zip(old.onward, new.onward, strict=False)
        )
    return found


_grown: dict[tuple[int, int], bool] = {}
"""By the two faces, which are made once each and stay."""


def shut(face: Turned) -> Turned:
    """The face with track that nobody may run along."""
    nowhere = tuple(() for _ in face.onward)
    return msgspec.structs.replace(face, onward=nowhere, node_exits=(0,) * len(face.nodes))


@cache
def turned(tile: str, turn: int) -> Turned:
    """The face of a tile in its rotation 0-5. Raises KeyError for a tile that does not exist."""
    return _turned(tile_faces()[tile], turn)


Step = tuple[int, int, int, int, int]
"""How track goes on from a place: tracks used (bits), the end of the hex that it comes to, the hexside
(bit) between, the place come to (-1: none), its bit if that is a node, else 0."""


class Ground:
    """The map of one title before a tile is laid, with hexes, hexsides and nodes numbered.

    A port, 6 x hex + edge, is a hex entered by an edge. A place is a port or, from the number `ports`
    on, a node: room for so many in each hex as any tile has. `places`: those of each hex; `hex_at`,
    `stop_at`, `bits`: by place its hex, and of a node its stop and bit. `offboard`: nodes off the board.
    `across`: the port that track running out
    over a port's edge enters, -1 where there is none (off the map, impassable border). `side`: the
    hexside of a port as a bit, the same for the two ports that it joins. `open`: by hex the edges
    track may run to, those against blank sides of printed gray and red hexes left out (1830 §18).
    `inner`: by hex a bit like a hexside's that stands for printed track between nodes of the hex.
    """

    def __init__(self, facts: Facts) -> None:
        hexes = facts.map.hexes
        self.facts = facts
        self.hexes = tuple(hexes)
        self.number = {hex: i for i, hex in enumerate(self.hexes)}
        self.printed = {hex: _turned(face, 0) for hex, face in hexes.items()}
        walls = {(hex, b.edge) for hex, face in hexes.items() for b in face.borders if b.kind == "impassable"}
        self.across = [-1] * (6 * len(hexes))
        self.side = [0] * (6 * len(hexes))
        self.open: dict[str, int] = {}
        sides = count()
        for hex, face in hexes.items():
            self.open[hex] = 0
            for edge in range(6):
                port = 6 * self.number[hex] + edge
                there, back = face.neighbors.get(edge), (edge + 3) % 6
                if there is not None and there in hexes and not walls & {(hex, edge), (there, back)}:
                    self.across[port] = 6 * self.number[there] + back
                    if hexes[there].color not in FIXED or self.printed[there].exits >> back & 1:
                        self.open[hex] |= 1 << edge
                other = self.across[port]
                self.side[port] = self.side[other] if 0 <= other < port else 1 << next(sides)
        self.inner = {
            hex: 1 << next(sides)
            for hex, face in self.printed.items()
            if any(min(pair) >= NODE for pair in face.tracks)
        }
        self.ports = 6 * len(hexes)
        tiles = tile_faces()
        room = max(len(face.nodes) for face in (*hexes.values(), *(tiles[tile] for tile in facts.tiles)))
        self.room = room
        nodes = [(hex, n) for hex in hexes for n in range(room)]
        self.stop_at = [("", 0)] * self.ports + nodes
        self.bits = [0] * self.ports + [1 << i for i in range(len(nodes))]
        self.hex_at = [p // 6 for p in range(self.ports)] + [i // room for i in range(len(nodes))]
        self.places = [
            (*range(6 * h, 6 * h + 6), *range(self.ports + room * h, self.ports + room * (h + 1)))
            for h in range(len(hexes))
        ]
        self.offboard = frozenset(
            self.place(hex, n)
            for hex, face in hexes.items()
            for n, node in enumerate(face.nodes)
            if node.kind == "offboard"
        )
        self._steps: dict[tuple[int, int], tuple[tuple[Step, ...], ...]] = {}
        self.fitted: dict[tuple[str, tuple[str, int] | None, str], tuple[Fit, ...]] = {}
        self._shut: dict[tuple[str, tuple[str, int] | None], Turned] = {}

    def place(self, hex: str, node: int) -> int:
        """The place of a node. Raises KeyError for a hex that is not on the map."""
        return self.ports + self.room * self.number[hex] + node

    def steps(self, h: int, face: Turned) -> tuple[tuple[Step, ...], ...]:
        """For each place of hex number h how track goes on where that face lies."""
        found = self._steps.get((h, id(face)))
        if found is None:
            found = self._steps[h, id(face)] = tuple(
                tuple(self._step(h, end, used, to) for used, to in face.onward[end])
                if end < len(face.onward)
                else ()
                for end in range(NODE + self.room)
            )
        return found

    def _step(self, h: int, end: int, used: int, to: int) -> Step:
        if to < NODE:
            return used, to, self.side[6 * h + to], self.across[6 * h + to], 0
        node = self.ports + self.room * h + to - NODE
        inner = self.inner[self.hexes[h]] if end >= NODE else 0
        return used, to, inner, node, self.bits[node]

    def shut(self, hex: str, laid: tuple[str, int] | None) -> Turned:
        """What lies in a hex, tile or print, with track that nobody may run along yet."""
        face = self._shut.get((hex, laid))
        if face is None:
            open_ = turned(*laid) if laid else self.printed[hex]
            face = self._shut[hex, laid] = shut(open_)
        return face


_grounds: dict[int, Ground] = {}


def ground_of(facts: Facts) -> Ground:
    """The numbered map of a title, made once."""
    ground = _grounds.get(id(facts))
    if ground is None:
        ground = _grounds[id(facts)] = Ground(facts)
    return ground


def printed(facts: Facts, hex: str) -> Turned:
    """What the map shows in a hex. Raises KeyError for a hex that is not on the map."""
    return ground_of(facts).printed[hex]


def face_at(facts: Facts, tiles: Mapping[str, tuple[str, int]], hex: str) -> Turned:
    """What lies in a hex: its tile, or else what the map shows."""
    laid = tiles.get(hex)
    return turned(*laid) if laid else ground_of(facts).printed[hex]


class Fit(msgspec.Struct, frozen=True, gc=False):
    """A rotation in which a tile fits; `moved`: the new node of each old node."""

    turn: int
    face: Turned
    moved: dict[int, int]


def fits(facts: Facts, hex: str, old: tuple[str, int] | None, tile: str) -> tuple[Fit, ...]:
    """The rotations 0-5 in which a tile may lie in a hex as far as track goes (1830 §18, §18.1).

    `old` is the tile that lies there with its turn. All track that lies there is kept, with all
    edges of a node on one node and different nodes different (unless the new tile has fewer), and
    no track runs off the map, over an impassable side or against a blank side of a gray or red hex.
    Rotations in which a symmetric tile looks alike are all given: players use any of them, and what
    they name is what is stored. Raises KeyError for an unknown hex or tile.
    """
    ground = ground_of(facts)
    key = (hex, old, tile)
    found = ground.fitted.get(key)
    if found is None:
        before = turned(*old) if old else ground.printed[hex]
        closed = ~ground.open[hex]
        found = tuple(
            Fit(turn, face, moved)
            for turn in range(6)
            if not (face := turned(tile, turn)).exits & closed and (moved := _kept(before, face)) is not None
        )
        ground.fitted[key] = found
    return found


def _kept(old: Turned, new: Turned) -> dict[int, int] | None:
    """The new node of each old node, or None where track or the difference of two nodes is lost."""
    for end, onward in enumerate(old.onward[:NODE]):
        kept = {other for _, other in new.onward[end]}
        if any(other < NODE and other not in kept for _, other in onward):
            return None
    moved: dict[int, int] = {}
    stops = old.stops
    for n in stops:
        if old.node_exits[n]:
            homes = [m for m in new.stops if not old.node_exits[n] & ~new.node_exits[m]]
            if not homes:
                return None
            moved[n] = homes[0]
    if len(new.stops) >= len(stops) and len(set(moved.values())) < len(moved):
        return None
    free = [m for m in new.stops if m not in moved.values()] or list(new.stops)
    for n in stops:
        if n not in moved and free:
            moved[n] = free.pop(0) if len(free) > 1 else free[0]
    return moved
