"""The network of one company reduced to its stops and the chains of track between them.

A chain is track between two neighbouring stops. Which hexsides it uses matters only where another
chain uses them too, so hexsides are replaced by few bits: one for each set of chains that share a
hexside, and none for a set that lies within another. Two chains may be used together (by one route,
or by two trains of the company) exactly where their bits are apart. Of two chains between the same
stops that earn the same, one whose hexsides include the other's is dropped: whatever runs over it
could run over the other.

In a mesh of plain track there are chains without number. Then the shortest are kept, and it is said
that others were left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import msgspec

from engine.board.network import Network, RouteSegment, Stop, StopChains
from engine.board.tile_geometry import FIRST_NODE


class RevenueRules(msgspec.Struct, frozen=True, gc=False):
    """What a title adds to the earning of routes.

    `passing`: dollars for each time a route runs through a hex without stopping (1817 mines).
    `at_stops`: dollars more for a stop (1870 ports). `at_ends`: dollars for a stop at which a route
    begins or ends (1870 destinations). `between_reds`: dollars a stop for a route that joins two
    off-board areas (1851). `one_city`: hexes whose cities count as one, so that a route visits only
    one of them (1817 New York).
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
"""Stretches of track that are followed from one stop; boards of played games take a hundred."""

MAX_PARALLEL_CHAINS, FEW_PARALLEL_CHAINS, MANY_CHAINS = 40, 5, 1_000
"""Chains between two stops that are kept; of a company with MANY, so few."""


class Link(msgspec.Struct, frozen=True, gc=False):
    """A chain as the search sees it, in one direction.

    `bits`: hexsides shared with other chains; `step`: these and the area of the stop `to`; `gain`:
    dollars for what it passes and for that stop; `id`: the same in both directions.
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
    """All chains from a stop: the stop reached, the hexsides used (bits), the runs through hexes."""
    known = network.chains.get(s)
    if known is None:
        known = network.chains[s] = _find_chains(network, s)
    return known.chains


def _find_chains(network: Network, s: int) -> StopChains:
    """The chains from a stop, short ones first."""
    ground, onward, first = network.map_index, network.arcs, network.first_stop
    hex, n = network.stops[s]
    start = ground.hex_number[hex]
    found: list[tuple[int, int, tuple[RouteSegment, ...]]] = []
    todo: list[tuple[int, int, tuple[RouteSegment, ...]]] = []
    over = 1 << start
    for _, end, side, on, node in onward[ground.node_vertex(hex, n)]:
        out = ((hex, FIRST_NODE + n, end),)
        if node:
            found.append((first[start] + end - FIRST_NODE, side, out))
        elif on >= 0:
            todo.append((on, side, out))
    for port, sides, runs in todo:
        h = port // 6
        here = ground.hexes[h]
        over |= 1 << h
        for _, end, side, on, node in onward[port]:
            if node:
                found.append((first[h] + end - FIRST_NODE, sides, (*runs, (here, port % 6, end))))
            elif on >= 0 and not side & sides:
                todo.append((on, sides | side, (*runs, (here, port % 6, end))))
        if len(todo) > MAX_STEPS_PER_STOP:
            return StopChains(tuple(found), (1 << len(ground.hexes)) - 1, False)
    return StopChains(tuple(found), over, True)


class RouteGraph:
    """What the search for routes runs on: stops renumbered from 0, those that are passed first.

    `stops`: numbers in the network; `value` in dollars; `at_end`: dollars more at the end of a route;
    `passed`: how many of them a route may go on from; `area`: a bit above the bits of links, the same
    for stops of which a route visits only one; `links`: by stop; `tokens`: the company's own stops;
    `red`: whether a stop is off the board; `passing`: no route earns more by passing hexes. `whole`: no
    chain was left out.
    """

    def __init__(
        self,
        network: Network,
        company: str,
        worth: Callable[[Stop], int],
        terms: RevenueRules = PLAIN_REVENUE,
    ) -> None:
        ends = network.terminal_stops(company)
        own = sorted(network.token_stops(company))
        found = [s for s in own if not ends[s]]
        outer = [s for s in own if ends[s]]
        seen = set(own)
        raws: list[_Chain] = []
        areas_of = {s: area_of(network, s, terms) for s in own}
        self.complete = True
        passing = terms.pass_through_bonus
        todo = own
        while todo:
            ahead: list[int] = []
            for s in todo:
                best: dict[int, list[_Chain]] = {}
                for to, sides, runs in chains_from(network, s):
                    if to not in areas_of:
                        areas_of[to] = area_of(network, to, terms)
                    if areas_of[to] == areas_of[s]:
                        continue
                    gain = sum(passing.get(run[0], 0) for run in runs[1:-1]) if passing else 0
                    best.setdefault(to, []).append(_Chain(s, to, sides, gain, runs))
                    if to not in seen:
                        seen.add(to)
                        (outer if ends[to] else found).append(to)
                        if not ends[to]:
                            ahead.append(to)
                self.complete &= network.chains[s].complete
                for to, many in best.items():
                    if s < to or (ends[to] and to not in own):
                        few = _undominated(many)
                        self.complete &= len(few) < MAX_PARALLEL_CHAINS
                        raws += few
            todo = sorted(ahead)
        if len(raws) > MANY_CHAINS:
            raws = self._shortest(raws)
        order = sorted(found) + sorted(outer)
        place = {s: i for i, s in enumerate(order)}
        raws.sort(key=lambda raw: (place[raw.start], place[raw.to], raw.segments))
        self.stops = order
        self.passable_count = len(found)
        self.tokens = [place[s] for s in own]
        self.values = [
            worth(stop) + terms.stop_bonus.get(stop, 0) for stop in (network.stops[s] for s in order)
        ]
        self.end_bonuses = [terms.end_bonus.get(network.stops[s], 0) for s in order]
        self.is_offboard = [network.nodes[s].kind == "offboard" for s in order]
        bits = _shared_hexsides(raws)
        width = max((b.bit_length() for b in bits), default=0)
        areas: dict[str, int] = {}
        for s in order:
            areas.setdefault(areas_of[s], 1 << width + len(areas))
        self.areas = [areas[areas_of[s]] for s in order]
        self.hexside_mask = (1 << width) - 1
        self.max_pass_through = 3 * sum(passing.values())
        self.links: list[list[Link]] = [[] for _ in order]
        for i, (raw, mask) in enumerate(zip(raws, bits, strict=True)):
            a, b = place[raw.start], place[raw.to]
            back = tuple((hex, there, here) for hex, here, there in reversed(raw.segments))
            self.links[a].append(
                Link(i, b, mask, mask | self.areas[b], raw.revenue + self.values[b], raw.segments)
            )
            self.links[b].append(Link(i, a, mask, mask | self.areas[a], raw.revenue + self.values[a], back))
        for links in self.links:
            links.sort(key=lambda link: (-link.revenue, link.id))
        self.link_count = len(raws)

    def _shortest(self, raws: list[_Chain]) -> list[_Chain]:
        """Of the chains between two stops the few shortest."""
        kept: list[_Chain] = []
        beside: Counter[tuple[int, int]] = Counter()
        for raw in sorted(raws, key=lambda raw: (raw.hexsides.bit_count(), -raw.revenue, raw.segments)):
            beside[raw.start, raw.to] += 1
            if beside[raw.start, raw.to] <= FEW_PARALLEL_CHAINS:
                kept.append(raw)
        self.complete &= len(kept) == len(raws)
        return kept


def area_of(network: Network, s: int, terms: RevenueRules = PLAIN_REVENUE) -> str:
    """What a route visits only once: the stop, or the off-board area or city that it is part of."""
    hex, n = network.stops[s]
    group = network.nodes[s].group
    return f"group {group}" if group else hex if hex in terms.single_city_hexes else f"{hex}.{n}"


def _undominated(many: list[_Chain]) -> list[_Chain]:
    """Of chains between the same stops, those that no other replaces."""
    many.sort(key=lambda raw: (raw.hexsides.bit_count(), -raw.revenue, raw.segments))
    kept: list[_Chain] = []
    for raw in many:
        if not any(old.hexsides & ~raw.hexsides == 0 and old.revenue >= raw.revenue for old in kept):
            kept.append(raw)
            if len(kept) == MAX_PARALLEL_CHAINS:
                break
    return kept


def _shared_hexsides(raws: list[_Chain]) -> list[int]:
    """For each chain the bits that stand for its hexsides."""
    users: dict[int, int] = {}
    for i, raw in enumerate(raws):
        sides = raw.hexsides
        while sides:
            side = sides & -sides
            users[side] = users.get(side, 0) | 1 << i
            sides ^= side
    sets = sorted(set(users.values()), key=lambda set_: (-set_.bit_count(), set_))
    kept: list[int] = []
    for set_ in sets:
        if not any(set_ & ~other == 0 for other in kept):
            kept.append(set_)
    masks = [0] * len(raws)
    for bit, set_ in enumerate(kept):
        while set_:
            low = set_ & -set_
            masks[low.bit_length() - 1] |= 1 << bit
            set_ ^= low
    return masks
