"""Tile geometry: the face of a hex, printed or on a tile in a rotation, and the rotations that fit a hex.

The ends of track are numbered: 0-5 are the edges of the hex, 6 + n is its node n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count

import msgspec

from engine.core.components import Color, Components, Face, Node, tile_faces

FIXED_COLORS = frozenset({"gray", "red", "blue"})
"""Colours of printed hexes on which no tile can be laid."""

FIRST_NODE = 6
"""The number of the end that is node 0; node n is FIRST_NODE + n."""

Stop = tuple[str, int]
"""A hex and the number of a node that is a stop."""


class RotatedFace(msgspec.Struct, frozen=True, gc=False):
    """A face in a rotation.

    `tracks`: pairs of ends. `exits`: the edges with track, bit e for edge e. `node_exits`: the same for
    each node, including track through junctions. `stops`: the nodes that are stops, which is all but
    junctions. `connections`: for each end, where track leads from it, as pairs of the tracks used (bit t
    for track t) and the end reached. That end is never a junction.
    """

    color: Color
    label: str | None
    nodes: tuple[Node, ...]
    tracks: tuple[tuple[int, int], ...]
    exits: int
    node_exits: tuple[int, ...]
    stops: tuple[int, ...]
    connections: tuple[tuple[tuple[int, int], ...], ...]


def _parse_end(text: str, rotation: int) -> int:
    number = int(text[1:])
    return (number + rotation) % 6 if text[0] == "e" else FIRST_NODE + number


def _rotated(face: Face, rotation: int) -> RotatedFace:
    tracks = tuple((_parse_end(a, rotation), _parse_end(b, rotation)) for a, b in face.paths)
    nodes = face.nodes

    def continuations(end: int, used: int) -> Iterator[tuple[int, int]]:
        for t, pair in enumerate(tracks):
            if end in pair and not used >> t & 1:
                other = pair[pair[0] == end]
                if other >= FIRST_NODE and nodes[other - FIRST_NODE].kind == "junction":
                    yield from continuations(other, used | 1 << t)
                else:
                    yield used | 1 << t, other

    ends = range(FIRST_NODE + len(nodes))
    connections = tuple(
        tuple(sorted(continuation for continuation in continuations(end, 0) if continuation[1] != end))
        for end in ends
    )
    exits = _bit_mask(end for pair in tracks for end in pair if end < FIRST_NODE)
    node_exits = tuple(
        _bit_mask(end for _, end in connections[FIRST_NODE + n] if end < FIRST_NODE)
        for n in range(len(nodes))
    )
    stops = tuple(n for n, node in enumerate(nodes) if node.kind != "junction")
    return RotatedFace(face.color, face.label, nodes, tracks, exits, node_exits, stops, connections)


def _bit_mask(bits: Iterator[int]) -> int:
    mask = 0
    for bit in bits:
        mask |= 1 << bit
    return mask


def keeps_all_track(old: RotatedFace, new: RotatedFace) -> bool:
    """Whether the new face has all track of the old one, end by end, and the same stops."""
    key = (id(old), id(new))
    result = _keeps_all_track_cache.get(key)
    if result is None:
        result = _keeps_all_track_cache[key] = old.stops == new.stops and all(
            {end for _, end in before} <= {end for _, end in after}
            for before, after in zip(old.connections, new.connections, strict=False)
        )
    return result


_keeps_all_track_cache: dict[tuple[int, int], bool] = {}
"""By the ids of both faces. Faces are made once and never dropped."""


def closed_face(face: RotatedFace) -> RotatedFace:
    """The same face without any track that routes may use."""
    no_connections = tuple(() for _ in face.connections)
    return msgspec.structs.replace(face, connections=no_connections, node_exits=(0,) * len(face.nodes))


@cache
def rotated_face(tile: str, rotation: int) -> RotatedFace:
    """The face of a tile in its rotation 0-5. Raises KeyError for a tile that does not exist."""
    return _rotated(tile_faces()[tile], rotation)


Arc = tuple[int, int, int, int, int]
"""An arc of the track graph, from a vertex: the tracks used (bits), the end of the hex that they lead to,
the hexside crossed (a bit), the vertex reached (-1: none), and the bit of that vertex if it is a node,
else 0."""


class MapIndex:
    """The printed map of one title, with its hexes, hexsides and vertices numbered.

    The vertices of the track graph are entries and nodes. An entry, 6 x hex number + edge, is a hex
    entered over that edge. Nodes have the numbers from `entry_count` on. Every hex has room for
    `nodes_per_hex` of them, which is as many as any tile has.

    `hex_vertices`: by hex number its vertices. `vertex_hex`, `vertex_stop`: by vertex its hex number, and
    the stop that a node is. `node_bit`: by vertex one bit for each node. `offboard_vertices`: the
    off-board nodes. `across`: by entry the entry on the other side of its edge, -1 where track cannot
    cross (edge of the map, impassable border). `hexside`: by entry the hexside as a bit, the same for the
    entries on both sides. `open_edges`: by hex the edges that track may run to (bits 0-5); blank sides of
    printed gray and red hexes are closed (1830 §18). `inner_track`: by hex the bit that stands, like that
    of a hexside, for printed track between two nodes of the hex.
    """

    def __init__(self, components: Components) -> None:
        hexes = components.map.hexes
        self.components = components
        self.hexes = tuple(hexes)
        self.hex_number = {hex: i for i, hex in enumerate(self.hexes)}
        self.printed_faces = {hex: _rotated(face, 0) for hex, face in hexes.items()}
        impassable = {(hex, b.edge) for hex, face in hexes.items() for b in face.borders}
        self.across = [-1] * (6 * len(hexes))
        self.hexside = [0] * (6 * len(hexes))
        self.open_edges: dict[str, int] = {}
        sides = count()
        for hex, face in hexes.items():
            self.open_edges[hex] = 0
            for edge in range(6):
                entry = 6 * self.hex_number[hex] + edge
                neighbor, opposite_edge = face.neighbors.get(edge), (edge + 3) % 6
                if (
                    neighbor is not None
                    and neighbor in hexes
                    and not impassable & {(hex, edge), (neighbor, opposite_edge)}
                ):
                    self.across[entry] = 6 * self.hex_number[neighbor] + opposite_edge
                    if (
                        hexes[neighbor].color not in FIXED_COLORS
                        or self.printed_faces[neighbor].exits >> opposite_edge & 1
                    ):
                        self.open_edges[hex] |= 1 << edge
                other_entry = self.across[entry]
                self.hexside[entry] = (
                    self.hexside[other_entry] if 0 <= other_entry < entry else 1 << next(sides)
                )
        self.inner_track = {
            hex: 1 << next(sides)
            for hex, face in self.printed_faces.items()
            if any(min(pair) >= FIRST_NODE for pair in face.tracks)
        }
        self.entry_count = 6 * len(hexes)
        tiles = tile_faces()
        nodes_per_hex = max(
            len(face.nodes) for face in (*hexes.values(), *(tiles[tile] for tile in components.tiles))
        )
        self.nodes_per_hex = nodes_per_hex
        nodes = [(hex, n) for hex in hexes for n in range(nodes_per_hex)]
        self.vertex_stop: list[Stop] = [("", 0)] * self.entry_count + nodes
        self.node_bit = [0] * self.entry_count + [1 << i for i in range(len(nodes))]
        self.vertex_hex = [p // 6 for p in range(self.entry_count)] + [
            i // nodes_per_hex for i in range(len(nodes))
        ]
        self.hex_vertices = [
            (
                *range(6 * h, 6 * h + 6),
                *range(self.entry_count + nodes_per_hex * h, self.entry_count + nodes_per_hex * (h + 1)),
            )
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
        """The vertex of a node. Raises KeyError for a hex that is not on the map."""
        return self.entry_count + self.nodes_per_hex * self.hex_number[hex] + node

    def arcs(self, h: int, face: RotatedFace) -> tuple[tuple[Arc, ...], ...]:
        """The arcs from each end of hex number `h` where that face lies."""
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
        """The face of a hex, tile or print, without any track that routes may use yet."""
        face = self._closed_faces.get((hex, laid))
        if face is None:
            open_ = rotated_face(*laid) if laid else self.printed_faces[hex]
            face = self._closed_faces[hex, laid] = closed_face(open_)
        return face


_map_indexes: dict[int, MapIndex] = {}


def map_index_of(components: Components) -> MapIndex:
    """The numbered map of a title. It is made once."""
    map_index = _map_indexes.get(id(components))
    if map_index is None:
        map_index = _map_indexes[id(components)] = MapIndex(components)
    return map_index


def printed_face(components: Components, hex: str) -> RotatedFace:
    """The printed face of a hex. Raises KeyError for a hex that is not on the map."""
    return map_index_of(components).printed_faces[hex]


def face_at(components: Components, tiles: Mapping[str, tuple[str, int]], hex: str) -> RotatedFace:
    """The face of a hex: that of its tile, or else the printed one."""
    laid = tiles.get(hex)
    return rotated_face(*laid) if laid else map_index_of(components).printed_faces[hex]


class Fit(msgspec.Struct, frozen=True, gc=False):
    """A rotation 0-5 in which a tile fits a hex. `node_map`: the new node of each old node."""

    rotation: int
    face: RotatedFace
    node_map: dict[int, int]


def fitting_rotations(
    components: Components, hex: str, old: tuple[str, int] | None, tile: str
) -> tuple[Fit, ...]:
    """The rotations 0-5 in which the track of a tile fits a hex (1830 §18, §18.1).

    `old`: the tile in the hex, with its rotation. All track is kept: the edges of a node stay together on
    one node, and different nodes stay different unless the new tile has fewer. No track runs off the
    map, over an impassable side or against a blank side of a gray or red hex. Rotations in which a
    symmetric tile looks the same are all included, because players may name any of them. Raises KeyError
    for an unknown hex or tile.
    """
    map_index = map_index_of(components)
    key = (hex, old, tile)
    rotations = map_index.rotations_cache.get(key)
    if rotations is None:
        old_face = rotated_face(*old) if old else map_index.printed_faces[hex]
        closed = ~map_index.open_edges[hex]
        rotations = tuple(
            Fit(rotation, face, node_map)
            for rotation in range(6)
            if not (face := rotated_face(tile, rotation)).exits & closed
            and (node_map := _node_map(old_face, face)) is not None
        )
        map_index.rotations_cache[key] = rotations
    return rotations


def same_rotations(
    components: Components, hex: str, old: tuple[str, int] | None, tile: str
) -> dict[int, int]:
    """For each rotation in which a tile fits a hex, the smallest rotation that comes to the same.

    Two rotations are the same if all track lies the same, between the same edges and equal stops, and if each
    stop of the hex gets the same exits; `old`: the tile in the hex, with its rotation.
    """
    first: dict[object, int] = {}
    result = {}
    for fit in fitting_rotations(components, hex, old, tile):
        exits = {n: fit.face.node_exits[m] for n, m in fit.node_map.items()}
        result[fit.rotation] = first.setdefault(
            (_track_signature(fit.face), tuple(sorted(exits.items()))), fit.rotation
        )
    return result


@cache
def _track_signature(face: RotatedFace) -> object:
    """What can be seen of a face's track and stops, whatever their numbers."""
    stops = [
        (node.kind, node.slots, repr(node.revenue), exits)
        for node, exits in zip(face.nodes, face.node_exits, strict=True)
    ]
    tracks = {
        (edge, end if end < FIRST_NODE else stops[end - FIRST_NODE])
        for edge in range(FIRST_NODE)
        for _, end in face.connections[edge]
    }
    return frozenset(tracks), tuple(sorted(stops))


def _node_map(old: RotatedFace, new: RotatedFace) -> dict[int, int] | None:
    """The new node of each old node, or None where track is lost or two nodes become one."""
    for end, onward in enumerate(old.connections[:FIRST_NODE]):
        kept = {other for _, other in new.connections[end]}
        if any(other < FIRST_NODE and other not in kept for _, other in onward):
            return None
    node_map: dict[int, int] = {}
    stops = old.stops
    for n in stops:
        if old.node_exits[n]:
            candidates = [m for m in new.stops if not old.node_exits[n] & ~new.node_exits[m]]
            if not candidates:
                return None
            node_map[n] = candidates[0]
    if len(new.stops) >= len(stops) and len(set(node_map.values())) < len(node_map):
        return None
    free = [m for m in new.stops if m not in node_map.values()] or list(new.stops)
    for n in stops:
        if n not in node_map and free:
            node_map[n] = free.pop(0) if len(free) > 1 else free[0]
    return node_map
