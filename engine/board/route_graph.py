"""The route graph: the network of one company reduced to its stops and the chains of track between them.

A chain is track between two neighbouring stops. The hexsides it uses matter only where other chains use
them too. So hexsides are replaced by a few bits: one for each set of chains that share a hexside, except
for a set that lies within another. Two chains may be used together (by one route, or by two trains of
the company) exactly if they have no bit in common. Of two chains between the same stops with the same
revenue, one whose hexsides include the other's is dropped: a train that runs over it could run over
the other.

A mesh of plain track has chains without number. Then only the shortest are kept, and the graph says that
it is not complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import msgspec

from engine.board.network import Network, RouteSegment, StopChains
from engine.board.tile_geometry import FIRST_NODE, Stop


class RevenueRules(msgspec.Struct, frozen=True, gc=False):
    """What a title adds to the revenue of routes.

    `pass_through_bonus`: by hex, dollars for each time a route crosses it without a stop (1817 mines).
    `stop_bonus`: by stop, dollars more (1870 ports). `end_bonus`: by stop, dollars more for a route that
    begins or ends there (1870 destinations). `offboard_pair_bonus`: dollars more for each stop of a route
    that connects two off-board areas (1851). `single_city_hexes`: hexes whose cities count as one, so
    that a route visits only one of them (1817 New York).
    """

    pass_through_bonus: Mapping[str, int] = {}
    stop_bonus: Mapping[Stop, int] = {}
    end_bonus: Mapping[Stop, int] = {}
    offboard_pair_bonus: int = 0
    single_city_hexes: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        by_place = (*self.pass_through_bonus.items(), *self.stop_bonus.items(), None, *self.end_bonus.items())
        return hash((*by_place, self.offboard_pair_bonus, self.single_city_hexes))


PLAIN_REVENUE = RevenueRules()


MAX_STEPS_PER_STOP = 3_000
"""Arcs that are followed from one stop. Boards of played games take about a hundred."""

MAX_PARALLEL_CHAINS, FEW_PARALLEL_CHAINS, MANY_CHAINS = 40, 5, 1_000
"""How many chains between two stops are kept: in general, and where a company has MANY_CHAINS in all."""


class Link(msgspec.Struct, frozen=True, gc=False):
    """A chain in one direction, as the route search uses it.

    `id`: the same in both directions. `to`: the stop it leads to. `hexsides`: the bits of hexsides shared
    with other chains. `used`: these, and the bit of the area of `to`. `revenue`: dollars for what it
    passes through and for that stop.
    """

    id: int
    to: int
    hexsides: int
    used: int
    revenue: int
    segments: tuple[RouteSegment, ...]


class _Chain(msgspec.Struct, gc=False):
    start: int
    to: int
    hexsides: int
    revenue: int
    segments: tuple[RouteSegment, ...]


def chains_from(network: Network, s: int) -> tuple[tuple[int, int, tuple[RouteSegment, ...]], ...]:
    """All chains from a stop: the stop reached, the hexsides used (bits), the segments."""
    stop_chains = network.chains.get(s)
    if stop_chains is None:
        stop_chains = network.chains[s] = _find_chains(network, s)
    return stop_chains.chains


def _find_chains(network: Network, s: int) -> StopChains:
    """Find the chains from a stop, short ones first."""
    map_index, arcs, first_stop = network.map_index, network.arcs, network.first_stop
    hex, n = network.stops[s]
    start = map_index.hex_number[hex]
    chains: list[tuple[int, int, tuple[RouteSegment, ...]]] = []
    todo: list[tuple[int, int, tuple[RouteSegment, ...]]] = []
    hexes = 1 << start
    for _, end, hexside, target, node_bit in arcs[map_index.node_vertex(hex, n)]:
        first_segment = ((hex, FIRST_NODE + n, end),)
        if node_bit:
            chains.append((first_stop[start] + end - FIRST_NODE, hexside, first_segment))
        elif target >= 0:
            todo.append((target, hexside, first_segment))
    for entry, hexsides, segments in todo:
        h = entry // 6
        hex_here = map_index.hexes[h]
        hexes |= 1 << h
        for _, end, hexside, target, node_bit in arcs[entry]:
            if node_bit:
                chains.append(
                    (first_stop[h] + end - FIRST_NODE, hexsides, (*segments, (hex_here, entry % 6, end)))
                )
            elif target >= 0 and not hexside & hexsides:
                todo.append((target, hexsides | hexside, (*segments, (hex_here, entry % 6, end))))
        if len(todo) > MAX_STEPS_PER_STOP:
            return StopChains(tuple(chains), (1 << len(map_index.hexes)) - 1, False)
    return StopChains(tuple(chains), hexes, True)


class RouteGraph:
    """The graph on which best routes are searched. Its stops are numbered from 0, passable ones first.

    `stops`: their numbers in the network. `values`: dollars by stop. `end_bonuses`: dollars more for the
    end of a route, by stop. `passable_count`: how many of the stops a route may pass through. `areas`: by
    stop a bit above those of hexsides, the same for stops of which a route visits only one. `links`: by
    stop the links that leave it, highest revenue first. `link_count`: how many chains there are. `tokens`:
    the stops with a token of the company. `is_offboard`: by stop. `hexside_mask`: the bits of all
    hexsides. `complete`: no chain was left out.
    """

    def __init__(
        self,
        network: Network,
        company: str,
        stop_value: Callable[[Stop], int],
        rules: RevenueRules = PLAIN_REVENUE,
    ) -> None:
        terminals = network.terminal_stops(company)
        token_stops = sorted(network.token_stops(company))
        passable = [s for s in token_stops if not terminals[s]]
        not_passable = [s for s in token_stops if terminals[s]]
        seen = set(token_stops)
        chains: list[_Chain] = []
        areas_of = {s: area_of(network, s, rules) for s in token_stops}
        self.complete = True
        pass_through = rules.pass_through_bonus
        todo = token_stops
        while todo:
            next_stops: list[int] = []
            for s in todo:
                by_target: dict[int, list[_Chain]] = {}
                for to, hexsides, segments in chains_from(network, s):
                    if to not in areas_of:
                        areas_of[to] = area_of(network, to, rules)
                    if areas_of[to] == areas_of[s]:
                        continue
                    revenue = (
                        sum(pass_through.get(segment[0], 0) for segment in segments[1:-1])
                        if pass_through
                        else 0
                    )
                    by_target.setdefault(to, []).append(_Chain(s, to, hexsides, revenue, segments))
                    if to not in seen:
                        seen.add(to)
                        (not_passable if terminals[to] else passable).append(to)
                        if not terminals[to]:
                            next_stops.append(to)
                self.complete &= network.chains[s].complete
                for to, parallel in by_target.items():
                    if s < to or (terminals[to] and to not in token_stops):
                        kept = _undominated(parallel)
                        self.complete &= len(kept) < MAX_PARALLEL_CHAINS
                        chains += kept
            todo = sorted(next_stops)
        if len(chains) > MANY_CHAINS:
            chains = self._shortest(chains)
        order = sorted(passable) + sorted(not_passable)
        number = {s: i for i, s in enumerate(order)}
        chains.sort(key=lambda chain: (number[chain.start], number[chain.to], chain.segments))
        self.stops = order
        self.passable_count = len(passable)
        self.tokens = [number[s] for s in token_stops]
        self.values = [
            stop_value(stop) + rules.stop_bonus.get(stop, 0) for stop in (network.stops[s] for s in order)
        ]
        self.end_bonuses = [rules.end_bonus.get(network.stops[s], 0) for s in order]
        self.is_offboard = [network.nodes[s].kind == "offboard" for s in order]
        shared = _shared_hexsides(chains)
        width = max((b.bit_length() for b in shared), default=0)
        areas: dict[str, int] = {}
        for s in order:
            areas.setdefault(areas_of[s], 1 << width + len(areas))
        self.areas = [areas[areas_of[s]] for s in order]
        self.hexside_mask = (1 << width) - 1
        self.links: list[list[Link]] = [[] for _ in order]
        for i, (chain, mask) in enumerate(zip(chains, shared, strict=True)):
            a, b = number[chain.start], number[chain.to]
            reversed_segments = tuple((hex, end, start) for hex, start, end in reversed(chain.segments))
            self.links[a].append(
                Link(i, b, mask, mask | self.areas[b], chain.revenue + self.values[b], chain.segments)
            )
            self.links[b].append(
                Link(i, a, mask, mask | self.areas[a], chain.revenue + self.values[a], reversed_segments)
            )
        for links in self.links:
            links.sort(key=lambda link: (-link.revenue, link.id))
        self.link_count = len(chains)

    def _shortest(self, chains: list[_Chain]) -> list[_Chain]:
        """The few shortest chains between each pair of stops."""
        kept: list[_Chain] = []
        parallel: Counter[tuple[int, int]] = Counter()
        for chain in sorted(
            chains, key=lambda chain: (chain.hexsides.bit_count(), -chain.revenue, chain.segments)
        ):
            parallel[chain.start, chain.to] += 1
            if parallel[chain.start, chain.to] <= FEW_PARALLEL_CHAINS:
                kept.append(chain)
        self.complete &= len(kept) == len(chains)
        return kept


def area_of(network: Network, s: int, rules: RevenueRules = PLAIN_REVENUE) -> str:
    """The name of what a route visits only once: the stop, or the off-board area or city it belongs to."""
    hex, n = network.stops[s]
    group = network.nodes[s].group
    return f"group {group}" if group else hex if hex in rules.single_city_hexes else f"{hex}.{n}"


def _undominated(parallel: list[_Chain]) -> list[_Chain]:
    """Of the chains between the same stops, those that no other chain can replace."""
    parallel.sort(key=lambda chain: (chain.hexsides.bit_count(), -chain.revenue, chain.segments))
    kept: list[_Chain] = []
    for chain in parallel:
        if not any(
            other.hexsides & ~chain.hexsides == 0 and other.revenue >= chain.revenue for other in kept
        ):
            kept.append(chain)
            if len(kept) == MAX_PARALLEL_CHAINS:
                break
    return kept


def _shared_hexsides(chains: list[_Chain]) -> list[int]:
    """For each chain the bits that stand for its shared hexsides."""
    users: dict[int, int] = {}
    for i, chain in enumerate(chains):
        hexsides = chain.hexsides
        while hexsides:
            hexside = hexsides & -hexsides
            users[hexside] = users.get(hexside, 0) | 1 << i
            hexsides ^= hexside
    sets = sorted(set(users.values()), key=lambda set_: (-set_.bit_count(), set_))
    kept: list[int] = []
    for set_ in sets:
        if not any(set_ & ~other == 0 for other in kept):
            kept.append(set_)
    masks = [0] * len(chains)
    for bit, set_ in enumerate(kept):
        while set_:
            lowest = set_ & -set_
            masks[lowest.bit_length() - 1] |= 1 << bit
            set_ ^= lowest
    return masks
