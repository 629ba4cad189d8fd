"""The track of a position as a network.

Theory of operation
-------------------
Track is walked from entry to entry: an entry is a hex entered over an edge (`tile_geometry.MapIndex`). A
route uses each hexside and visits each stop at most once. Every piece of track touches a hexside that it
shares with whatever else meets it there. So a single rule, that no hexside is used twice, covers "no track
twice", "no reversing" and "no two tracks over one hexside". Only track between two nodes inside one hex
would escape it. No tile has such track, and where it is printed on a map it counts as one more hexside.

Networks are cached outside the state, by the content of the board. A position differs from the one before
it in a hex or two. So a new network is derived from the network used last: it takes over everything
that does not depend on the changed hexes, including the connectivity searches of companies.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from engine.board.connectivity import ConnectivitySearch, ReachableTrack, SearchedTrack
from engine.board.tile_geometry import (
    FIRST_NODE,
    Arc,
    MapIndex,
    RotatedFace,
    Stop,
    map_index_of,
    rotated_face,
)
from engine.core.components import Components, Node

RouteSegment = tuple[str, int, int]
"""A part of a route inside one hex: the hex, the end it comes from, the end it goes to."""


class StopChains(msgspec.Struct, frozen=True, gc=False):
    """The chains of track from a stop to its neighbours.

    `chains`: the number of the stop reached, the hexsides used (bits), the segments. `hexes`: the hexes
    (bit h for number h) that the chains depend on. `complete`: no chain was left out.
    """

    chains: tuple[tuple[int, int, tuple[RouteSegment, ...]], ...]
    hexes: int
    complete: bool


class Network:
    """The track of one position. It is made by `network_of` and never changes.

    `faces`: by hex the face that lies there. `arcs`: by vertex the arcs that leave it. `stops`: all nodes
    in the order of the map, junctions included; the number of a stop is its index. `nodes`: the printed
    node of each stop. `first_stop`: by hex number the number of its first stop. `tokens`: by stop the
    companies with a token there. `undecided_homes`: by company the hex of a home token whose city has
    not been chosen yet (node -1). `chains`: by stop, filled in by `route_graph.chains_from`. `cache`:
    results that other modules keep for this network.
    """

    def __init__(
        self,
        components: Components,
        tiles: Mapping[str, tuple[str, int]],
        tokens: Mapping[str, Sequence[tuple[int, str]]],
        extra_slots: Mapping[Stop, int],
        unusable_hexes: frozenset[str] = frozenset(),
        previous: Network | None = None,
    ) -> None:
        map_index = map_index_of(components)
        self.components: Components = components
        self.map_index: MapIndex = map_index
        self._tiles_and_closed = dict(tiles), unusable_hexes
        self.faces: dict[str, RotatedFace]
        self._searches: dict[str, ConnectivitySearch] = {}
        self._changed_hexes: dict[str, int] = {}
        self._frontiers: dict[str, set[int] | None] = {}
        self.chains: dict[int, StopChains] = {}
        if previous is not None and previous.map_index is map_index:
            self._derive_from(previous)
        else:
            self.faces = dict(map_index.printed_faces)
            self.faces.update((hex, self._face(hex)) for hex in (*tiles, *unusable_hexes))
            self._build_arcs()
        self.tokens: dict[Stop, tuple[str, ...]] = {}
        self.undecided_homes: dict[str, str] = {}
        for hex, placed in tokens.items():
            for node, company in placed:
                if node < 0:
                    self.undecided_homes[company] = hex
                    continue
                stop = (hex, node)
                self.tokens[stop] = (*self.tokens.get(stop, ()), company)
        self._full_cities = [
            stop
            for stop, companies in self.tokens.items()
            if 0 < self.node(stop).slots + extra_slots.get(stop, 0) <= len(companies)
        ]
        self._terminals: dict[str, list[bool]] = {}
        self.cache: dict[object, object] = {}

    def _face(self, hex: str) -> RotatedFace:
        """The face of a hex, without usable track where the hex is closed."""
        tiles, unusable_hexes = self._tiles_and_closed
        laid = tiles.get(hex)
        if hex in unusable_hexes:
            return self.map_index.closed_face(hex, laid)
        return rotated_face(*laid) if laid else self.map_index.printed_faces[hex]

    def _build_arcs(self) -> None:
        """Set the arcs of all vertices."""
        map_index = self.map_index
        self.arcs: list[tuple[Arc, ...]] = [()] * len(map_index.vertex_hex)
        for h, face in enumerate(self.faces.values()):
            self._set_arcs(h, face)
        self._number_stops()

    def _set_arcs(self, h: int, face: RotatedFace) -> None:
        map_index = self.map_index
        arcs = map_index.arcs(h, face)
        self.arcs[6 * h : 6 * h + FIRST_NODE] = arcs[:FIRST_NODE]
        node = map_index.entry_count + map_index.nodes_per_hex * h
        self.arcs[node : node + map_index.nodes_per_hex] = arcs[FIRST_NODE:]

    def _number_stops(self) -> None:
        self.stops: list[Stop] = []
        self.nodes: list[Node] = []
        self.first_stop: dict[int, int] = {}
        for h, (hex, face) in enumerate(self.faces.items()):
            if face.nodes:
                self.first_stop[h] = len(self.stops)
                self.stops += [(hex, n) for n in range(len(face.nodes))]
                self.nodes += face.nodes
        self.stop_number: dict[Stop, int] = {stop: s for s, stop in enumerate(self.stops)}

    def _derive_from(self, previous: Network) -> None:
        """Take over from another network of the same map all that does not depend on hexes that differ."""
        old_faces, hex_number = previous.faces, self.map_index.hex_number
        (tiles, closed), (old_tiles, old_closed) = self._tiles_and_closed, previous._tiles_and_closed
        different = {hex for hex, laid in tiles.items() if old_tiles.get(hex) != laid} | (closed ^ old_closed)
        different.update(hex for hex in old_tiles if hex not in tiles)
        self.faces = dict(old_faces)
        self.faces.update((hex, self._face(hex)) for hex in different)
        changed = [hex_number[hex] for hex in different]
        self.arcs, self.nodes = previous.arcs, previous.nodes
        self.stops, self.stop_number, self.first_stop = (
            previous.stops,
            previous.stop_number,
            previous.first_stop,
        )
        self._searches, self._changed_hexes, self.chains = (
            dict(previous._searches),
            dict(previous._changed_hexes),
            previous.chains,
        )
        if not changed:
            return
        changed_bits = sum(1 << h for h in changed)
        self._changed_hexes = {
            company: bits | changed_bits for company, bits in previous._changed_hexes.items()
        }
        self.arcs = list(previous.arcs)
        hexes, renumbered = self.map_index.hexes, False
        for h in changed:
            face = self.faces[hexes[h]]
            self._set_arcs(h, face)
            renumbered |= len(face.nodes) != len(old_faces[hexes[h]].nodes)
        if renumbered:
            self._number_stops()
            self.chains = {}
            return
        self.nodes = list(previous.nodes)
        for h in changed:
            nodes = self.faces[hexes[h]].nodes
            if nodes:
                self.nodes[self.first_stop[h] : self.first_stop[h] + len(nodes)] = nodes
        self.chains = {
            s: stop_chains
            for s, stop_chains in previous.chains.items()
            if not stop_chains.hexes & changed_bits
        }

    def node(self, stop: Stop) -> Node:
        """The node of a stop. Raises KeyError where there is none."""
        return self.nodes[self.stop_number[stop]]

    def token_stops(self, company: str) -> list[int]:
        """The numbers of the stops with a token of that company."""
        return [self.stop_number[stop] for stop, companies in self.tokens.items() if company in companies]

    def terminal_stops(self, company: str) -> list[bool]:
        """By number of the stop, whether every route of the company ends there.

        These are off-board areas, and cities whose slots are all taken by others (1830 §19, §20.1).
        """
        terminals = self._terminals.get(company)
        if terminals is None:
            terminals = self._terminals[company] = [node.kind == "offboard" for node in self.nodes]
            for stop in self._full_cities:
                if company not in self.tokens[stop]:
                    terminals[self.stop_number[stop]] = True
        return terminals

    def _searched_track(self, company: str) -> SearchedTrack:
        """What a search for the track of that company reads."""
        vertex, tokens = self.map_index.node_vertex, self.tokens
        own = frozenset([vertex(*stop) for stop, companies in tokens.items() if company in companies])
        full = [vertex(*stop) for stop in self._full_cities if company not in tokens[stop]]
        terminals = self.map_index.offboard_vertices.union(full)
        home = self.undecided_homes.get(company)
        return SearchedTrack(self.map_index, self.faces, self.arcs, own, terminals, home)

    def reachable(self, company: str) -> ReachableTrack:
        """The track and stops that routes of the company can reach."""
        return self._search(company).reachable

    def _search(self, company: str) -> ConnectivitySearch:
        search = self._searches.get(company)
        if search is None or search.faces is not self.faces:
            frontier = None if search is None else self._frontier(company, search)
            search = self._searches[company] = ConnectivitySearch(
                self._searched_track(company), search, frontier
            )
            self._changed_hexes[company] = 0
        return search

    def _frontier(self, company: str, search: ConnectivitySearch) -> set[int] | None:
        """Where an earlier search of the company goes on in this network (`frontier_on`); computed once."""
        if company not in self._frontiers:
            self._frontiers[company] = search.frontier_on(
                self._searched_track(company), self._changed_hexes.get(company, 0)
            )
        return self._frontiers[company]

    def _previously_reachable(self, company: str) -> ReachableTrack | None:
        """What the company reached on an earlier network, if it surely reaches all of it here; or None."""
        search = self._searches.get(company)
        if search is None:
            return None
        is_valid = search.faces is self.faces or self._frontier(company, search) is not None
        return search.reachable if is_valid else None

    def reaches_edge(self, company: str, hex: str, edges: int) -> bool:
        """Whether the company's track reaches one of these edges (bits 0-5) of a hex."""
        previous = self._previously_reachable(company)
        return bool(
            (previous and previous.edges_of(hex) & edges) or self.reachable(company).edges_of(hex) & edges
        )

    def reachable_stops(self, company: str) -> Iterator[Stop]:
        """The stops that routes of the company can reach, in no particular order, known ones first."""
        previous = self._previously_reachable(company)
        known_stops = previous.stops if previous else frozenset()
        yield from known_stops
        yield from self.reachable(company).stops - known_stops

    def reaches_stop(self, company: str, stop: Stop) -> bool:
        """Whether a route of the company can reach that stop."""
        previous = self._previously_reachable(company)
        return bool((previous and stop in previous.stops) or stop in self.reachable(company).stops)

    def can_enter(self, company: str, hex: str, edge: int) -> bool:
        """Whether a route of the company can enter the hex over that edge, on the present track."""
        return self._search(company).can_enter(hex, edge, None)

    def could_run_along(self, company: str, hex: str, tracks: Iterable[tuple[int, int]]) -> bool:
        """Whether a route of the company could cross the hex on one of these tracks if they were there.

        `tracks`: pairs of edges. The route enters over one of them and leaves over the other.
        """
        search = self._search(company)
        return any(search.can_enter(hex, a, b) or search.can_enter(hex, b, a) for a, b in tracks)


_CACHE_SIZE = 512
_networks: OrderedDict[bytes, Network] = OrderedDict()
_encode = msgspec.msgpack.Encoder().encode


def network_of(
    components: Components,
    tiles: Mapping[str, tuple[str, int]],
    tokens: Mapping[str, Sequence[tuple[int, str]]],
    extra_slots: Mapping[Stop, int] | None = None,
    unusable_hexes: frozenset[str] = frozenset(),
) -> Network:
    """The network of a board, from the cache if it is there. `tiles` and `tokens` are those of the state.

    `extra_slots`: slots of a stop beyond those of its face, for tokens that take no slot of their own.
    `unusable_hexes`: hexes whose track no route may use.
    """
    more = extra_slots or {}
    key = _encode((id(components), tiles, tokens, [*more.items()], unusable_hexes))
    network = _networks.get(key)
    if network is None:
        latest = next(reversed(_networks.values()), None)
        network = _networks[key] = Network(components, tiles, tokens, more, unusable_hexes, latest)
        if len(_networks) > _CACHE_SIZE:
            _networks.popitem(last=False)
    else:
        _networks.move_to_end(key)
    return network


def clear_cache() -> None:
    """Drop all cached networks."""
    _networks.clear()
