"""The track of a position as a network.

Theory of operation
-------------------
Track is walked from port to port: a port is a hex entered by an edge (`faces.Ground`). A route runs
over each hexside and visits each stop at most once; since every piece of track touches a hexside that
it shares with whatever else meets it there, "no track twice, no reversing, no two tracks over one
hexside" is the single rule that no hexside is used twice. Only track between two nodes inside one
hex would escape it: no tile has any, and what is printed on a map counts as one more hexside.

Networks are kept outside the state, by the content of the board. One position differs from that
before it in a hex or two, so a network is made out of the one used last: what concerns none of the
hexes that have changed is taken over, the searches for what companies reach among it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from engine.board.connectivity import ConnectivitySearch, ReachableTrack
from engine.board.tile_geometry import (
    FIRST_NODE,
    Arc,
    MapIndex,
    RotatedFace,
    map_index_of,
    rotated_face,
)
from engine.core.components import Components, Node

Stop = tuple[str, int]
"""A hex and the number of a node that is a stop."""

RouteSegment = tuple[str, int, int]
"""One stretch of a route inside a hex: the hex, the end it comes from, the end it goes to."""


class StopChains(msgspec.Struct, frozen=True, gc=False):
    """Chains of track from a stop to its neighbours: the stop reached, hexsides used (bits), runs.

    `over`: the hexes (bits) that decide about them. `whole`: there are no others.
    """

    chains: tuple[tuple[int, int, tuple[RouteSegment, ...]], ...]
    hexes: int
    complete: bool


class Network:
    """The track of one position. Made by `network_of`; never changed.

    `faces`: what lies in each hex. `stops`: all nodes, in the order of the map, and `nodes` what is
    printed of them; a stop's number is its place here. `tokens`: by stop the companies in it.
    `undecided`: by company the hex of a home token whose city is still to be chosen (node -1).
    `hops`, `memo`: what `chains` and others have found out about it.
    """

    def __init__(
        self,
        facts: Components,
        tiles: Mapping[str, tuple[str, int]],
        tokens: Mapping[str, Sequence[tuple[int, str]]],
        extra: Mapping[Stop, int],
        closed: frozenset[str] = frozenset(),
        near: Network | None = None,
    ) -> None:
        ground = map_index_of(facts)
        self.facts: Components = facts
        self.map_index: MapIndex = ground
        self._tiles_and_closed = dict(tiles), closed
        self.faces: dict[str, RotatedFace]
        self._searches: dict[str, ConnectivitySearch] = {}
        self._changed_hexes: dict[str, int] = {}
        self._frontiers: dict[str, set[int] | None] = {}
        self.chains: dict[int, StopChains] = {}
        if near is not None and near.map_index is ground:
            self._derive_from(near)
        else:
            self.faces = dict(ground.printed_faces)
            self.faces.update((hex, self._face(hex)) for hex in (*tiles, *closed))
            self._build_arcs()
        self.tokens: dict[Stop, tuple[str, ...]] = {}
        self.undecided_homes: dict[str, str] = {}
        for hex, here in tokens.items():
            for place, company in here:
                if place < 0:
                    self.undecided_homes[company] = hex
                    continue
                stop = (hex, place)
                self.tokens[stop] = (*self.tokens.get(stop, ()), company)
        self._full_cities = [
            stop
            for stop, there in self.tokens.items()
            if 0 < self.node(stop).slots + extra.get(stop, 0) <= len(there)
        ]
        self._terminals: dict[str, list[bool]] = {}
        self.cache: dict[object, object] = {}

    def _face(self, hex: str) -> RotatedFace:
        """What lies in a hex."""
        tiles, closed = self._tiles_and_closed
        laid = tiles.get(hex)
        if hex in closed:
            return self.map_index.closed_face(hex, laid)
        return rotated_face(*laid) if laid else self.map_index.printed_faces[hex]

    def _build_arcs(self) -> None:
        """Say of every place where track leads from it."""
        ground = self.map_index
        self.arcs: list[tuple[Arc, ...]] = [()] * len(ground.vertex_hex)
        for h, face in enumerate(self.faces.values()):
            self._set_arcs(h, face)
        self._number_stops()

    def _set_arcs(self, h: int, face: RotatedFace) -> None:
        ground = self.map_index
        steps = ground.arcs(h, face)
        self.arcs[6 * h : 6 * h + FIRST_NODE] = steps[:FIRST_NODE]
        node = ground.entry_count + ground.nodes_per_hex * h
        self.arcs[node : node + ground.nodes_per_hex] = steps[FIRST_NODE:]

    def _number_stops(self) -> None:
        """Number the stops."""
        self.stops: list[Stop] = []
        self.nodes: list[Node] = []
        self.first_stop: dict[int, int] = {}
        for h, (hex, face) in enumerate(self.faces.items()):
            if face.nodes:
                self.first_stop[h] = len(self.stops)
                self.stops += [(hex, n) for n in range(len(face.nodes))]
                self.nodes += face.nodes
        self.stop_number: dict[Stop, int] = {stop: s for s, stop in enumerate(self.stops)}

    def _derive_from(self, near: Network) -> None:
        """Take over what another network of the map has, and what stands of that."""
        old, number = near.faces, self.map_index.hex_number
        (tiles, closed), (before, shut) = self._tiles_and_closed, near._tiles_and_closed
        other = {hex for hex, laid in tiles.items() if before.get(hex) != laid} | (closed ^ shut)
        other.update(hex for hex in before if hex not in tiles)
        self.faces = dict(old)
        self.faces.update((hex, self._face(hex)) for hex in other)
        changed = [number[hex] for hex in other]
        self.arcs, self.nodes = near.arcs, near.nodes
        self.stops, self.stop_number, self.first_stop = near.stops, near.stop_number, near.first_stop
        self._searches, self._changed_hexes, self.chains = (
            dict(near._searches),
            dict(near._changed_hexes),
            near.chains,
        )
        if not changed:
            return
        since = sum(1 << h for h in changed)
        self._changed_hexes = {company: before | since for company, before in near._changed_hexes.items()}
        self.arcs = list(near.arcs)
        hexes, renumbered = self.map_index.hexes, False
        for h in changed:
            face = self.faces[hexes[h]]
            self._set_arcs(h, face)
            renumbered |= len(face.nodes) != len(old[hexes[h]].nodes)
        if renumbered:
            self._number_stops()
            self.chains = {}
            return
        self.nodes = list(near.nodes)
        for h in changed:
            nodes = self.faces[hexes[h]].nodes
            if nodes:
                self.nodes[self.first_stop[h] : self.first_stop[h] + len(nodes)] = nodes
        self.chains = {s: found for s, found in near.chains.items() if not found.hexes & since}

    def node(self, stop: Stop) -> Node:
        """The node of a stop. Raises KeyError where there is none."""
        return self.nodes[self.stop_number[stop]]

    def token_stops(self, company: str) -> list[int]:
        """The numbers of the stops with a token of that company."""
        return [self.stop_number[stop] for stop, there in self.tokens.items() if company in there]

    def terminal_stops(self, company: str) -> list[bool]:
        """By number of the stop, whether every route of the company ends there: off-board areas, and
        cities all of whose places are taken by others (1830 §19, §20.1)."""
        ends = self._terminals.get(company)
        if ends is None:
            ends = self._terminals[company] = [node.kind == "offboard" for node in self.nodes]
            for stop in self._full_cities:
                if company not in self.tokens[stop]:
                    ends[self.stop_number[stop]] = True
        return ends

    def token_and_terminal_vertices(self, company: str) -> tuple[frozenset[int], frozenset[int]]:
        """The places of the company's tokens, and of the nodes at which its routes end."""
        place, tokens = self.map_index.node_vertex, self.tokens
        own = frozenset([place(*stop) for stop, there in tokens.items() if company in there])
        full = [place(*stop) for stop in self._full_cities if company not in tokens[stop]]
        return own, self.map_index.offboard_vertices.union(full)

    def reachable(self, company: str) -> ReachableTrack:
        """What the company can reach."""
        return self._search(company).reachable

    def _search(self, company: str) -> ConnectivitySearch:
        found = self._searches.get(company)
        if found is None or found.faces is not self.faces:
            fresh = None if found is None else self._frontier(company, found)
            found = self._searches[company] = ConnectivitySearch(self, company, found, fresh)
            self._changed_hexes[company] = 0
        return found

    def _frontier(self, company: str, found: ConnectivitySearch) -> set[int] | None:
        """Where the company's search on a network before goes on here (`Search.onward_on`), reckoned once."""
        if company not in self._frontiers:
            self._frontiers[company] = found.frontier_on(self, company, self._changed_hexes.get(company, 0))
        return self._frontiers[company]

    def _previously_reachable(self, company: str) -> ReachableTrack | None:
        """What the company reached on a network before, if that was found out and it reaches it still."""
        found = self._searches.get(company)
        if found is None:
            return None
        still = found.faces is self.faces or self._frontier(company, found) is not None
        return found.reachable if still else None

    def reaches_edge(self, company: str, hex: str, edges: int) -> bool:
        """Whether the company's track arrives at one of these edges (bits 0-5) of a hex."""
        known = self._previously_reachable(company)
        return bool((known and known.edges_of(hex) & edges) or self.reachable(company).edges_of(hex) & edges)

    def reachable_stops(self, company: str) -> Iterator[Stop]:
        """The stops to which routes of the company can come, in no order; those first that are known."""
        known = self._previously_reachable(company)
        before = known.stops if known else frozenset()
        yield from before
        yield from self.reachable(company).stops - before

    def reaches_stop(self, company: str, stop: Stop) -> bool:
        """Whether a route of the company can come to that stop."""
        known = self._previously_reachable(company)
        return bool((known and stop in known.stops) or stop in self.reachable(company).stops)

    def can_enter(self, company: str, hex: str, edge: int) -> bool:
        """Whether a route of the company can come into the hex over that edge, as track leads now."""
        return self._search(company).can_enter(hex, edge, None)

    def could_run_along(self, company: str, hex: str, tracks: Iterable[tuple[int, int]]) -> bool:
        """Whether a route of the company that comes into the hex could go on along one of these
        tracks, pairs of edges, if it were there: in over one edge, out over the other."""
        search = self._search(company)
        return any(search.can_enter(hex, a, b) or search.can_enter(hex, b, a) for a, b in tracks)


_CACHE_SIZE = 512
_networks: OrderedDict[bytes, Network] = OrderedDict()
_encode = msgspec.msgpack.Encoder().encode


def network_of(
    facts: Components,
    tiles: Mapping[str, tuple[str, int]],
    tokens: Mapping[str, Sequence[tuple[int, str]]],
    extra: Mapping[Stop, int] | None = None,
    shut: frozenset[str] = frozenset(),
) -> Network:
    """The network of a board: `tiles` and `tokens` as in the state.

    `extra`: places of a city beyond those of its face (a token that takes no place of its own).
    `shut`: hexes whose track no route may use.
    """
    more = extra or {}
    key = _encode((id(facts), tiles, tokens, [*more.items()], shut))
    network = _networks.get(key)
    if network is None:
        near = next(reversed(_networks.values()), None)
        network = _networks[key] = Network(facts, tiles, tokens, more, shut, near)
        if len(_networks) > _CACHE_SIZE:
            _networks.popitem(last=False)
    else:
        _networks.move_to_end(key)
    return network


def clear_cache() -> None:
    """Drop the networks that are kept."""
    _networks.clear()
