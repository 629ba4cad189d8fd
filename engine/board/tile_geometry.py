"""What lies in a hex: tile faces in a rotation, and which rotations of a tile fit a hex.

The ends of track are numbers: 0-5 the edges of the hex, 6 + n its node n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count

import msgspec

from engine.core.components import Color, Components, Face, Node, tile_faces

FIXED_COLORS = frozenset({"gray", "red", "blue"})
"""Colours of printed hexes on which no tile is ever laid."""

FIRST_NODE = 6
"""The end that is node 0."""


class RotatedFace(msgspec.Struct, frozen=True, gc=False):
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
    connections: tuple[tuple[tuple[int, int], ...], ...]


def _parse_end(text: str, turn: int) -> int:
    number = int(text[1:])
    return (number + turn) % 6 if text[0] == "e" else FIRST_NODE + number


def _rotated(face: Face, turn: int) -> RotatedFace:
    tracks = tuple((_parse_end(a, turn), _parse_end(b, turn)) for a, b in face.paths)
    nodes = face.nodes

    def leads(end: int, used: int) -> Iterator[tuple[int, int]]:
        for t, pair in enumerate(tracks):
            if end in pair and not used >> t & 1:
                other = pair[pair[0] == end]
                if other >= FIRST_NODE and nodes[other - FIRST_NODE].kind == "junction":
                    yield from leads(other, used | 1 << t)
                else:
                    yield used | 1 << t, other

    ends = range(FIRST_NODE + len(nodes))
    onward = tuple(tuple(sorted(lead for lead in leads(end, 0) if lead[1] != end)) for end in ends)
    exits = _bit_mask(end for pair in tracks for end in pair if end < FIRST_NODE)
    node_exits = tuple(
        _bit_mask(end for _, end in onward[FIRST_NODE + n] if end < FIRST_NODE) for n in range(len(nodes))
    )
    stops = tuple(n for n, node in enumerate(nodes) if node.kind != "junction")
    return RotatedFace(face.color, face.label, nodes, tracks, exits, node_exits, stops, onward)


def _bit_mask(bits: Iterator[int]) -> int:
    mask = 0
    for bit in bits:
        mask |= 1 << bit
    return mask


def keeps_all_track(old: RotatedFace, new: RotatedFace) -> bool:
    """Whether all track of a face is kept in the other, end by end, each stop being what it was."""
    known = (id(old), id(new))
    found = _keeps_all_track_cache.get(known)
    if found is None:
        found = _keeps_all_track_cache[known] = old.stops == new.stops and all(
            {end for _, end in before} <= {end for _, end in after}
            for before, after in zip(old.connections, new.connections, strict=False)
        )
    return found


_keeps_all_track_cache: dict[tuple[int, int], bool] = {}
"""By the two faces, which are made once each and stay."""


def closed_face(face: RotatedFace) -> RotatedFace:
    """The face with track that nobody may run along."""
    nowhere = tuple(() for _ in face.connections)
    return msgspec.structs.replace(face, connections=nowhere, node_exits=(0,) * len(face.nodes))


@cache
def rotated_face(tile: str, turn: int) -> RotatedFace:
    """The face of a tile in its rotation 0-5. Raises KeyError for a tile that does not exist."""
    return _rotated(tile_faces()[tile], turn)


Arc = tuple[int, int, int, int, int]
"""How track goes on from a place: tracks used (bits), the end of the hex that it comes to, the hexside
(bit) between, the place come to (-1: none), its bit if that is a node, else 0."""


class MapIndex:
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

    def __init__(self, facts: Components) -> None:
        hexes = facts.map.hexes
        self.facts = facts
        self.hexes = tuple(hexes)
        self.hex_number = {hex: i for i, hex in enumerate(self.hexes)}
        self.printed_faces = {hex: _rotated(face, 0) for hex, face in hexes.items()}
        walls = {(hex, b.edge) for hex, face in hexes.items() for b in face.borders if b.kind == "impassable"}
        self.across = [-1] * (6 * len(hexes))
        self.hexside = [0] * (6 * len(hexes))
        self.open_edges: dict[str, int] = {}
        sides = count()
        for hex, face in hexes.items():
            self.open_edges[hex] = 0
            for edge in range(6):
                port = 6 * self.hex_number[hex] + edge
                there, back = face.neighbors.get(edge), (edge + 3) % 6
                if there is not None and there in hexes and not walls & {(hex, edge), (there, back)}:
                    self.across[port] = 6 * self.hex_number[there] + back
                    if hexes[there].color not in FIXED_COLORS or self.printed_faces[there].exits >> back & 1:
                        self.open_edges[hex] |= 1 << edge
                other = self.across[port]
                self.hexside[port] = self.hexside[other] if 0 <= other < port else 1 << next(sides)
        self.inner_track = {
            hex: 1 << next(sides)
            for hex, face in self.printed_faces.items()
            if any(min(pair) >= FIRST_NODE for pair in face.tracks)
        }
        self.entry_count = 6 * len(hexes)
        tiles = tile_faces()
        room = max(len(face.nodes) for face in (*hexes.values(), *(tiles[tile] for tile in facts.tiles)))
        self.nodes_per_hex = room
        nodes = [(hex, n) for hex in hexes for n in range(room)]
        self.vertex_stop = [("", 0)] * self.entry_count + nodes
        self.node_bit = [0] * self.entry_count + [1 << i for i in range(len(nodes))]
        self.vertex_hex = [p // 6 for p in range(self.entry_count)] + [i // room for i in range(len(nodes))]
        self.hex_vertices = [
            (*range(6 * h, 6 * h + 6), *range(self.entry_count + room * h, self.entry_count + room * (h + 1)))
            for h in range(len(hexes))
        ]
        self.offboard_vertices = frozenset(
            self.node_vertex(hex, n)
            for hex, face in hexes.items()
            for n, node in enumerate(face.nodes)
            if node.kind == "offboard"
        )
        self._arc_cache: dict[tuple[int, int], tuple[tuple[Arc, ...], ...]] = {}
        self.rotations_cache: dict[tuple[str, tuple[str, int] | None, str], tuple[Fit, ...]] = {}
        self._closed_faces: dict[tuple[str, tuple[str, int] | None], RotatedFace] = {}

    def node_vertex(self, hex: str, node: int) -> int:
        """The place of a node. Raises KeyError for a hex that is not on the map."""
        return self.entry_count + self.nodes_per_hex * self.hex_number[hex] + node

    def arcs(self, h: int, face: RotatedFace) -> tuple[tuple[Arc, ...], ...]:
        """For each place of hex number h how track goes on where that face lies."""
        found = self._arc_cache.get((h, id(face)))
        if found is None:
            found = self._arc_cache[h, id(face)] = tuple(
                tuple(self._arc(h, end, used, to) for used, to in face.connections[end])
                if end < len(face.connections)
                else ()
                for end in range(FIRST_NODE + self.nodes_per_hex)
            )
        return found

    def _arc(self, h: int, end: int, used: int, to: int) -> Arc:
        if to < FIRST_NODE:
            return used, to, self.hexside[6 * h + to], self.across[6 * h + to], 0
        node = self.entry_count + self.nodes_per_hex * h + to - FIRST_NODE
        inner = self.inner_track[self.hexes[h]] if end >= FIRST_NODE else 0
        return used, to, inner, node, self.node_bit[node]

    def closed_face(self, hex: str, laid: tuple[str, int] | None) -> RotatedFace:
        """What lies in a hex, tile or print, with track that nobody may run along yet."""
        face = self._closed_faces.get((hex, laid))
        if face is None:
            open_ = rotated_face(*laid) if laid else self.printed_faces[hex]
            face = self._closed_faces[hex, laid] = closed_face(open_)
        return face


_map_indexes: dict[int, MapIndex] = {}


def map_index_of(facts: Components) -> MapIndex:
    """The numbered map of a title, made once."""
    ground = _map_indexes.get(id(facts))
    if ground is None:
        ground = _map_indexes[id(facts)] = MapIndex(facts)
    return ground


def printed_face(facts: Components, hex: str) -> RotatedFace:
    """What the map shows in a hex. Raises KeyError for a hex that is not on the map."""
    return map_index_of(facts).printed_faces[hex]


def face_at(facts: Components, tiles: Mapping[str, tuple[str, int]], hex: str) -> RotatedFace:
    """What lies in a hex: its tile, or else what the map shows."""
    laid = tiles.get(hex)
    return rotated_face(*laid) if laid else map_index_of(facts).printed_faces[hex]


class Fit(msgspec.Struct, frozen=True, gc=False):
    """A rotation in which a tile fits; `moved`: the new node of each old node."""

    rotation: int
    face: RotatedFace
    node_map: dict[int, int]


def fitting_rotations(facts: Components, hex: str, old: tuple[str, int] | None, tile: str) -> tuple[Fit, ...]:
    """The rotations 0-5 in which a tile may lie in a hex as far as track goes (1830 §18, §18.1).

    `old` is the tile that lies there with its turn. All track that lies there is kept, with all
    edges of a node on one node and different nodes different (unless the new tile has fewer), and
    no track runs off the map, over an impassable side or against a blank side of a gray or red hex.
    Rotations in which a symmetric tile looks alike are all given: players use any of them, and what
    they name is what is stored. Raises KeyError for an unknown hex or tile.
    """
    ground = map_index_of(facts)
    key = (hex, old, tile)
    found = ground.rotations_cache.get(key)
    if found is None:
        before = rotated_face(*old) if old else ground.printed_faces[hex]
        closed = ~ground.open_edges[hex]
        found = tuple(
            Fit(turn, face, moved)
            for turn in range(6)
            if not (face := rotated_face(tile, turn)).exits & closed
            and (moved := _node_map(before, face)) is not None
        )
        ground.rotations_cache[key] = found
    return found


def _node_map(old: RotatedFace, new: RotatedFace) -> dict[int, int] | None:
    """The new node of each old node, or None where track or the difference of two nodes is lost."""
    for end, onward in enumerate(old.connections[:FIRST_NODE]):
        kept = {other for _, other in new.connections[end]}
        if any(other < FIRST_NODE and other not in kept for _, other in onward):
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
