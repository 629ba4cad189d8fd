"""Connectivity: the track and the stops that routes of a company can reach.

Theory of operation
-------------------
A company reaches what some route of any length from one of its tokens runs over (1830 §18.1, §19). The
search finds this between two bounds.

The upper bound is the track on which a walk without memory can run. Such a walk forgets which track it
has used, except that it does not leave a stop over the only hexside by which it gets there. The lower
bound comes from a breadth-first search in which each vertex keeps the first route found to it, with the
hexsides and nodes of that route as bits. On most boards both bounds agree. Where they differ, each piece of
track in between is decided on its own: a depth-first search runs back from it to a token, or to a vertex
with a known route, using only track of the upper bound. After many steps the search goes on only from
vertices that can still be connected to a token.

From one position to the next, track is mostly added. Then every route that was found still exists. Both
searches continue where something is new: from the vertices of the changed hexes, from cities that have
opened, and from new tokens. Track between the bounds is decided again. Only where cities have become
one, or where a city on the company's way has filled up, does the search start from scratch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from engine.board.tile_geometry import Arc, MapIndex, RotatedFace, Stop, keeps_all_track

STEPS_BEFORE_PRUNING = 1_000
"""Steps of the search back from one piece of track before vertices that lead to no token are pruned."""


class SearchedTrack(NamedTuple):
    """What a search reads of a position, for one company.

    `faces`: by hex the face that lies there. `arcs`: by vertex the arcs that leave it. `tokens`: the vertices
    of the company's tokens. `terminals`: those at which all its routes end. `undecided_home`: the hex of its
    home token, if the city there has not been chosen yet.
    """

    map_index: MapIndex
    faces: dict[str, RotatedFace]
    arcs: Sequence[tuple[Arc, ...]]
    tokens: frozenset[int]
    terminals: frozenset[int]
    undecided_home: str | None


class ReachableTrack:
    """The track and the stops that routes of a company can reach.

    `entered_edges`: by hex number the edges (bits 0-5) that its track reaches, from the neighbour or from
    inside the hex. Hexes without a tile are included; of a hex with its token all six edges are.
    `stops`: the stops reached, including those with its own tokens.
    """

    def __init__(
        self, map_index: MapIndex, arrivals: Sequence[int], stops: frozenset[Stop], tracks: dict[int, int]
    ) -> None:
        self.map_index = map_index
        self.entered_edges = arrivals
        self.stops = stops
        self._tracks = tracks

    def edges_of(self, hex: str) -> int:
        """The edges of a hex that the company's track reaches. Raises KeyError for an unknown hex."""
        return self.entered_edges[self.map_index.hex_number[hex]]

    @cached_property
    def edges(self) -> dict[str, int]:
        """By hex, in the order of the map, the edges that track reaches; other hexes are left out."""
        return {
            hex: edges for hex, edges in zip(self.map_index.hexes, self.entered_edges, strict=True) if edges
        }

    @property
    def tracks(self) -> dict[str, int]:
        """By hex the tracks of its face (bit t for track t) that a route can use."""
        return {self.map_index.hexes[h]: tracks for h, tracks in self._tracks.items()}


class ConnectivitySearch:
    """The search for what one company reaches in one position (see the top of the module).

    Vertices are entries and nodes (`tile_geometry.MapIndex`). `possible_tracks`: by hex number the tracks
    of a walk without memory (the upper bound). `entries`: the entries on that walk. `node_hexsides`: by
    node the hexsides (bits) over which the walk comes. `first_routes`: by vertex the hexsides and nodes
    of the first route found to it. `reached_tracks`: by hex number the tracks that some route uses.
    `_changed`: hexes where these are more than before. The search continues `previous`, a search on
    another position, from the vertices of `frontier` (see `frontier_on`; None: it starts from scratch).
    """

    def __init__(
        self,
        track: SearchedTrack,
        previous: ConnectivitySearch | None = None,
        frontier: set[int] | None = None,
    ) -> None:
        self.map_index, self.faces, self.arcs, self.tokens, self.terminals, self.undecided_home = track
        if previous is None or frontier is None:
            self._search_from_scratch()
        elif not frontier and self.undecided_home == previous.undecided_home:
            self._copy_from(previous)
        else:
            self._extend_from(previous, frontier)

    def _search_from_scratch(self) -> None:
        self.entries: set[int] = set()
        self.node_hexsides: dict[int, int] = {}
        self.possible_tracks: dict[int, int] = {}
        self.first_routes: dict[int, tuple[int, int]] = {}
        self.reached_tracks: dict[int, int] = {}
        self._changed: set[int] = set()
        self._find_possible_tracks([])
        self._find_first_routes([])
        self._decide_remaining()
        self.reachable = self._result([0] * len(self.map_index.hexes), frozenset())

    def _copy_from(self, previous: ConnectivitySearch) -> None:
        self.entries, self.node_hexsides, self.possible_tracks = (
            previous.entries,
            previous.node_hexsides,
            previous.possible_tracks,
        )
        self.first_routes, self.reached_tracks, self.reachable = (
            previous.first_routes,
            previous.reached_tracks,
            previous.reachable,
        )

    def frontier_on(self, track: SearchedTrack, changed: int) -> set[int] | None:
        """The vertices from which this search would have to continue in another position.

        `changed`: the hexes in which it differs (bit h for number h). Returns None where it is
        not sure that the company reaches there all that it reaches here.
        """
        tokens, terminals = track.tokens, track.terminals
        if not self.tokens <= tokens or not (terminals - self.terminals).isdisjoint(self.node_hexsides):
            return None
        frontier = set(tokens - self.tokens) | (self.terminals - terminals).intersection(self.node_hexsides)
        map_index, entries, node_hexsides = self.map_index, self.entries, self.node_hexsides
        for bit in _bits(changed):
            h = bit.bit_length() - 1
            vertices = [
                p for p in map_index.hex_vertices[h] if p in entries or p in node_hexsides or p in self.tokens
            ]
            if vertices:
                hex = map_index.hexes[h]
                if not keeps_all_track(self.faces[hex], track.faces[hex]):
                    return None
                frontier.update(vertices)
        return frontier

    def _extend_from(self, previous: ConnectivitySearch, frontier: set[int]) -> None:
        """Continue an earlier search from those vertices."""
        self.entries, self.node_hexsides = previous.entries - frontier, dict(previous.node_hexsides)
        self.possible_tracks, self.reached_tracks = (
            dict(previous.possible_tracks),
            dict(previous.reached_tracks),
        )
        self.first_routes = dict(previous.first_routes)
        hexes, self._changed = self.map_index.hexes, set()
        for h in {self.map_index.vertex_hex[vertex] for vertex in frontier}:
            if self.faces[hexes[h]] is not previous.faces[hexes[h]]:
                self.possible_tracks.pop(h, None)
                self.reached_tracks.pop(h, None)
        todo, known_routes = [], []
        for vertex in frontier:
            if route := self.first_routes.pop(vertex, None):
                known_routes.append((vertex, *route))
            if vertex < self.map_index.entry_count:
                todo.append((vertex, 0))
            elif hexsides := self.node_hexsides.pop(vertex, 0):
                todo += [(vertex, hexside) for hexside in _bits(hexsides)]
        self._find_possible_tracks(todo)
        self._find_first_routes(known_routes)
        self._decide_remaining()
        self.reachable = self._result(list(previous.reachable.entered_edges), previous.reachable.stops)

    # -- the two bounds ----------------------------------------------------------------

    def _find_possible_tracks(self, todo: list[tuple[int, int]]) -> None:
        """Walk without memory from the tokens and from pairs of a vertex and the hexside leading to it."""
        arcs, entry_count, terminals, tokens = (
            self.arcs,
            self.map_index.entry_count,
            self.terminals,
            self.tokens,
        )
        hexside_of, tracks, node_hexsides, entries = (
            self.map_index.hexside,
            self.possible_tracks,
            self.node_hexsides,
            self.entries,
        )
        todo += [(token, 0) for token in tokens]
        while todo:
            vertex, hexside = todo.pop()
            if vertex < entry_count:
                if vertex in entries:
                    continue
                entries.add(vertex)
                hexside, excluded = hexside_of[vertex], 0
            elif hexside:
                earlier = node_hexsides.get(vertex, 0)
                if earlier & hexside:
                    continue
                node_hexsides[vertex] = earlier | hexside
                if vertex in tokens or vertex in terminals or earlier & (earlier - 1):
                    continue
                excluded = 0 if earlier else hexside
            else:
                excluded = 0
            arcs_here = arcs[vertex]
            if arcs_here:
                mask = 0
                for used, _, crossed, target, _ in arcs_here:
                    if crossed and crossed == excluded:
                        continue
                    mask |= used
                    if target >= 0:
                        todo.append((target, crossed or hexside))
                h = self.map_index.vertex_hex[vertex]
                tracks[h] = tracks.get(h, 0) | mask

    def _find_first_routes(self, known_routes: Iterable[tuple[int, int, int]]) -> None:
        """Find first routes from the tokens, and from the ends of routes that are known."""
        arcs, terminals, tracks, routes = self.arcs, self.terminals, self.reached_tracks, self.first_routes
        todo = deque(known_routes)
        for token in self.tokens:
            routes.pop(token, None)
            todo.append((token, 0, self.map_index.node_bit[token]))
        while todo:
            vertex, hexsides, visited = todo.popleft()
            if vertex in routes:
                continue
            routes[vertex] = hexsides, visited
            arcs_here = arcs[vertex]
            if not arcs_here or vertex in terminals:
                continue
            mask = 0
            for used, _, crossed, target, node_bit in arcs_here:
                if not (crossed & hexsides or node_bit & visited):
                    mask |= used
                    if target >= 0:
                        todo.append((target, hexsides | crossed, visited | node_bit))
            h = self.map_index.vertex_hex[vertex]
            known_tracks = tracks.get(h, 0)
            if mask & ~known_tracks:
                tracks[h] = known_tracks | mask
                self._changed.add(h)

    # -- between the bounds ------------------------------------------------------------------

    def _decide_remaining(self) -> None:
        """Decide which track between the bounds is reached."""
        if self.possible_tracks == self.reached_tracks:
            return
        for h, tracks in self.possible_tracks.items():
            for track in _bits(tracks & ~self.reached_tracks.get(h, 0)):
                if self._is_reached(h, track):
                    self.reached_tracks[h] = self.reached_tracks.get(h, 0) | track
                    self._changed.add(h)

    def _is_reached(self, h: int, track: int) -> bool:
        """Whether a route from a token uses that track (a bit) of hex number `h`."""
        # The route arrives at `start` and leaves by another end. It is traced back from there to a token.
        self.steps_tried = 0
        return any(
            used & track and self._trace_back(start, crossed, node_bit)
            for start in self.map_index.hex_vertices[h]
            for used, _, crossed, _, node_bit in self.arcs[start]
        )

    def _trace_back(self, vertex: int, hexsides: int, visited: int) -> bool:
        """Whether a route can come from a token to this vertex without the hexsides and nodes already used.

        The vertex is an entry over which the route comes, or a node that it leaves.
        """
        map_index = self.map_index
        if vertex < map_index.entry_count:
            if vertex not in self.entries or hexsides & map_index.hexside[vertex]:
                return False
        else:
            if visited & map_index.node_bit[vertex]:
                return False
            if vertex in self.tokens:
                return True
            if vertex in self.terminals or vertex not in self.node_hexsides:
                return False
        if (first_route := self.first_routes.get(vertex)) and not (
            first_route[0] & hexsides or first_route[1] & visited
        ):
            return True
        self.steps_tried += 1
        if self.steps_tried > STEPS_BEFORE_PRUNING and not self._leads_to_token(vertex, hexsides, visited):
            return False
        if vertex < map_index.entry_count:
            hexsides |= map_index.hexside[vertex]
            vertex = map_index.across[vertex]
        else:
            visited |= map_index.node_bit[vertex]
        for _, _, crossed, target, node_bit in self.arcs[vertex]:
            if node_bit:
                if not crossed & hexsides and self._trace_back(target, hexsides | crossed, visited):
                    return True
            elif target >= 0 and self._trace_back(map_index.across[target], hexsides, visited):
                return True
        return False

    def _leads_to_token(self, vertex: int, hexsides: int, visited: int) -> bool:
        """Whether a walk without memory leads from a token to that vertex without what is already used."""
        map_index, seen, todo = self.map_index, {vertex}, [vertex]
        while todo:
            vertex = todo.pop()
            if vertex < map_index.entry_count:
                if vertex not in self.entries or hexsides & map_index.hexside[vertex]:
                    continue
                vertex = map_index.across[vertex]
            elif visited & map_index.node_bit[vertex]:
                continue
            elif vertex in self.tokens:
                return True
            elif vertex in self.terminals or vertex not in self.node_hexsides:
                continue
            for _, _, crossed, target, node_bit in self.arcs[vertex]:
                if target >= 0 and not (node_bit and crossed & hexsides):
                    source = target if node_bit else map_index.across[target]
                    if source not in seen:
                        seen.add(source)
                        todo.append(source)
        return False

    def can_enter(self, hex: str, edge: int, out: int | None) -> bool:
        """Whether a route can enter the hex over that edge without using the hexside of the edge `out`."""
        first_entry = 6 * self.map_index.hex_number[hex]
        self.steps_tried = 0
        return self._trace_back(
            first_entry + edge, 0 if out is None else self.map_index.hexside[first_entry + out], 0
        )

    # -- the result --------------------------------------------------------------

    def _result(self, edges: list[int], known_stops: frozenset[Stop]) -> ReachableTrack:
        """The known edges and stops, together with those to which the newly reached tracks lead."""
        map_index, across = self.map_index, self.map_index.across
        stops = []
        for h in self._changed:
            tracks, mask = self.reached_tracks[h], 0
            for vertex in map_index.hex_vertices[h]:
                for used, end, _, target, node_bit in self.arcs[vertex]:
                    if used & tracks == used:
                        if node_bit:
                            stops.append(map_index.vertex_stop[target])
                        else:
                            mask |= 1 << end
                        if vertex < map_index.entry_count:
                            mask |= 1 << vertex % 6
            edges[h] |= mask
            for edge in range(6):
                if mask >> edge & 1 and (entry := across[6 * h + edge]) >= 0:
                    edges[entry // 6] |= 1 << entry % 6
        for token in self.tokens:
            stops.append(map_index.vertex_stop[token])
            edges[map_index.vertex_hex[token]] = 0b111111
        if self.undecided_home:
            edges[map_index.hex_number[self.undecided_home]] = 0b111111
        return ReachableTrack(map_index, edges, known_stops.union(stops), self.reached_tracks)


def _bits(mask: int) -> Iterable[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit
