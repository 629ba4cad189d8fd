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

from engine.board.faces import NODE
from engine.board.network import Hops, Network, Run, Stop


class Terms(msgspec.Struct, frozen=True, gc=False):
    """What a title adds to the earning of routes.

    `passing`: dollars for each time a route runs through a hex without stopping (1817 mines).
    `at_stops`: dollars more for a stop (1870 ports). `at_ends`: dollars for a stop at which a route
    begins or ends (1870 destinations). `between_reds`: dollars a stop for a route that joins two
    off-board areas (1851). `one_city`: hexes whose cities count as one, so that a route visits only
    one of them (1817 New York).
    """

    passing: Mapping[str, int] = {}
    at_stops: Mapping[Stop, int] = {}
    at_ends: Mapping[Stop, int] = {}
    between_reds: int = 0
    one_city: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        by_place = (*self.passing.items(), *self.at_stops.items(), None, *self.at_ends.items())
        return hash((*by_place, self.between_reds, self.one_city))


NO_TERMS = Terms()


MOST_STEPS = 3_000
"""Stretches of track that are followed from one stop; boards of played games take a hundred."""

MOST_BESIDE, FEW_BESIDE, MANY = 40, 5, 1_000
"""Chains between two stops that are kept; of a company with MANY, so few."""


class Link(msgspec.Struct, frozen=True, gc=False):
    """A chain as the search sees it, in one direction.

    `bits`: hexsides shared with other chains; `step`: these and the area of the stop `to`; `gain`:
    dollars for what it passes and for that stop; `id`: the same in both directions.
    """

    id: int
    to: int
    bits: int
    step: int
    gain: int
    runs: tuple[Run, ...]


class _Raw(msgspec.Struct, gc=False):
    start: int
    to: int
    sides: int
    gain: int
    runs: tuple[Run, ...]


def hops_from(network: Network, s: int) -> tuple[tuple[int, int, tuple[Run, ...]], ...]:
    """All chains from a stop: the stop reached, the hexsides used (bits), the runs through hexes."""
    known = network.hops.get(s)
    if known is None:
        known = network.hops[s] = _hops(network, s)
    return known.hops


def _hops(network: Network, s: int) -> Hops:
    """The chains from a stop, short ones first."""
    ground, onward, first = network.ground, network.onward, network.first
    hex, n = network.stops[s]
    start = ground.number[hex]
    found: list[tuple[int, int, tuple[Run, ...]]] = []
    todo: list[tuple[int, int, tuple[Run, ...]]] = []
    over = 1 << start
    for _, end, side, on, node in onward[ground.place(hex, n)]:
        out = ((hex, NODE + n, end),)
        if node:
            found.append((first[start] + end - NODE, side, out))
        elif on >= 0:
            todo.append((on, side, out))
    for port, sides, runs in todo:
        h = port // 6
        here = ground.hexes[h]
        over |= 1 << h
        for _, end, side, on, node in onward[port]:
            if node:
                found.append((first[h] + end - NODE, sides, (*runs, (here, port % 6, end))))
            elif on >= 0 and not side & sides:
                todo.append((on, sides | side, (*runs, (here, port % 6, end))))
        if len(todo) > MOST_STEPS:
            return Hops(tuple(found), (1 << len(ground.hexes)) - 1, False)
    return Hops(tuple(found), over, True)


class Graph:
    """What the search for routes runs on: stops renumbered from 0, those that are passed first.

    `stops`: numbers in the network; `value` in dollars; `at_end`: dollars more at the end of a route;
    `passed`: how many of them a route may go on from; `area`: a bit above the bits of links, the same
    for stops of which a route visits only one; `links`: by stop; `tokens`: the company's own stops;
    `red`: whether a stop is off the board; `passing`: no route earns more by passing hexes. `whole`: no
    chain was left out.
    """

    def __init__(
        self, network: Network, company: str, worth: Callable[[Stop], int], terms: Terms = NO_TERMS
    ) -> None:
        ends = network.ends(company)
        own = sorted(network.own(company))
        found = [s for s in own if not ends[s]]
        outer = [s for s in own if ends[s]]
        seen = set(own)
        raws: list[_Raw] = []
        areas_of = {s: area_of(network, s, terms) for s in own}
        self.whole = True
        passing = terms.passing
        todo = own
        while todo:
            ahead: list[int] = []
            for s in todo:
                best: dict[int, list[_Raw]] = {}
                for to, sides, runs in hops_from(network, s):
                    if to not in areas_of:
                        areas_of[to] = area_of(network, to, terms)
                    if areas_of[to] == areas_of[s]:
                        continue
                    gain = sum(passing.get(run[0], 0) for run in runs[1:-1]) if passing else 0
                    best.setdefault(to, []).append(_Raw(s, to, sides, gain, runs))
                    if to not in seen:
                        seen.add(to)
                        (outer if ends[to] else found).append(to)
                        if not ends[to]:
                            ahead.append(to)
                self.whole &= network.hops[s].whole
                for to, many in best.items():
                    if s < to or (ends[to] and to not in own):
                        few = _undominated(many)
                        self.whole &= len(few) < MOST_BESIDE
                        raws += few
            todo = sorted(ahead)
        if len(raws) > MANY:
            raws = self._thinned(raws)
        order = sorted(found) + sorted(outer)
        place = {s: i for i, s in enumerate(order)}
        raws.sort(key=lambda raw: (place[raw.start], place[raw.to], raw.runs))
        self.stops = order
        self.passed = len(found)
        self.tokens = [place[s] for s in own]
        self.value = [worth(stop) + terms.at_stops.get(stop, 0) for stop in (network.stops[s] for s in order)]
        self.at_end = [terms.at_ends.get(network.stops[s], 0) for s in order]
        self.red = [network.nodes[s].kind == "offboard" for s in order]
        bits = _shared(raws)
        width = max((b.bit_length() for b in bits), default=0)
        areas: dict[str, int] = {}
        for s in order:
            areas.setdefault(areas_of[s], 1 << width + len(areas))
        self.area = [areas[areas_of[s]] for s in order]
        self.bits = (1 << width) - 1
        self.passing = 3 * sum(passing.values())
        self.links: list[list[Link]] = [[] for _ in order]
        for i, (raw, mask) in enumerate(zip(raws, bits, strict=True)):
            a, b = place[raw.start], place[raw.to]
            back = tuple((hex, there, here) for hex, here, there in reversed(raw.runs))
            self.links[a].append(Link(i, b, mask, mask | self.area[b], raw.gain + self.value[b], raw.runs))
            self.links[b].append(Link(i, a, mask, mask | self.area[a], raw.gain + self.value[a], back))
        for links in self.links:
            links.sort(key=lambda link: (-link.gain, link.id))
        self.count = len(raws)

    def _thinned(self, raws: list[_Raw]) -> list[_Raw]:
        """Of the chains between two stops the few shortest."""
        kept: list[_Raw] = []
        beside: Counter[tuple[int, int]] = Counter()
        for raw in sorted(raws, key=lambda raw: (raw.sides.bit_count(), -raw.gain, raw.runs)):
            beside[raw.start, raw.to] += 1
            if beside[raw.start, raw.to] <= FEW_BESIDE:
                kept.append(raw)
        self.whole &= len(kept) == len(raws)
        return kept


def area_of(network: Network, s: int, terms: Terms = NO_TERMS) -> str:
    """What a route visits only once: the stop, or the off-board area or city that it is part of."""
    hex, n = network.stops[s]
    group = network.nodes[s].group
    return f"group {group}" if group else hex if hex in terms.one_city else f"{hex}.{n}"


def _undominated(many: list[_Raw]) -> list[_Raw]:
    """Of chains between the same stops, those that no other replaces."""
    many.sort(key=lambda raw: (raw.sides.bit_count(), -raw.gain, raw.runs))
    kept: list[_Raw] = []
    for raw in many:
        if not any(old.sides & ~raw.sides == 0 and old.gain >= raw.gain for old in kept):
            kept.append(raw)
            if len(kept) == MOST_BESIDE:
                break
    return kept


def _shared(raws: list[_Raw]) -> list[int]:
    """For each chain the bits that stand for its hexsides."""
    users: dict[int, int] = {}
    for i, raw in enumerate(raws):
        sides = raw.sides
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
