"""The search for the best route of one train.

Theory of operation
-------------------
The search runs on chains between stops (`engine.board.chains`): one integer holds the shared hexsides
and the stops that a route has used, so that "may this chain follow" is one bit operation.

Every route runs through a token. For each token in turn, with the tokens before it put out of bounds,
a first arm grows from it, and from each of its tips a second arm, begun by a chain that comes later
among the token's chains than the first arm's first. So each route is met once. A branch is cut when a
bound on what it can still earn does not exceed the best so far:

- the walk table, for trains of few stops: the most that a walk of k more stops can earn after a given
  chain when it forgets all but that chain, worked out for all k beforehand;
- the rest, for long trains: what the stops that the tips can still come to would earn together, as many
  of them as the train has left, with one end-stop (blocked city, off-board area) for each open tip.

Hexsides may have prices, and so may passing through stops; a route pays them out of what it earns. So
sets of routes are found (`engine.board.sets`). A toll is paid as a stop is left: the token, which is left
twice and passed once, gives one back.

Nodes of the search are counted against a budget instead of the clock, so that the answer is the same
on every machine; a search that is cut short gives the best that it found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from math import gcd
from operator import neg

import msgspec

from engine.board.chains import Graph, Terms
from engine.board.prices import PARTS, Prices

Way = tuple[int, int, int, int, int]
"""A link as a step: bits it uses with the area it comes to, stop, net gain, its way, its bits alone.

A link is two ways, 2 x id and 2 x id + 1.
"""

_LONG = 6
"""From how many stops to come the bound by the rest is worth its cost."""


_FEW = 100
"""Routes that are looked through one by one sooner than a whole list at once."""

FREE = Prices((), {}, 0)
"""No prices."""


class Exhausted(Exception):
    """The budget is spent."""


class Budget:
    """Nodes that may still be spent."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, nodes: int = 1) -> None:
        """Raises Exhausted where so many are not left."""
        self.left -= nodes
        if self.left < 0:
            raise Exhausted


class Path(msgspec.Struct, frozen=True, gc=False):
    """A route in the search: dollars, what is left of them once its hexsides are paid for (in parts of a
    dollar), the bits of its links, its token, the ways of its two arms."""

    revenue: int
    net: int
    bits: int
    token: int
    arms: tuple[tuple[int, ...], tuple[int, ...]]


class Search:
    """The search on one graph, at the cost of that budget.

    `pair`: only routes that begin at the first of these stops, and end where they come to the second.
    `grain`: what every route earns is a multiple of so many dollars.
    """

    def __init__(
        self, graph: Graph, terms: Terms, budget: Budget, pair: tuple[int, int] | None = None
    ) -> None:
        self.graph = graph
        self.tokens = graph.tokens if pair is None else [pair[0]]
        self.goal = None if pair is None else pair[1]
        self.budget = budget
        self.floor = 0
        self.found: Path | None = None
        self.other: Path | None = None
        self.terms = terms
        # What a stop could earn by its place in a route is earned in advance, and taken back in the end.
        self.extra = [terms.between_reds + more for more in graph.at_end]
        self.most = len(set(graph.area))
        # By area which areas lie beside it.
        self.beside: dict[int, int] = {}
        ends = set(graph.area[graph.passed :])
        for u in range(graph.passed):
            ends.discard(graph.area[u])
            for link in graph.links[u]:
                self.beside[graph.area[u]] = self.beside.get(graph.area[u], 0) | graph.area[link.to]
        self.ends = sorted(ends)
        self.through = sum(self.beside)
        # By way the stop that it comes to.
        self.stop = [0] * (2 * graph.count)
        for u, links in enumerate(graph.links):
            for link in links:
                self.stop[2 * link.id + (u > link.to)] = link.to
        gains = (link.gain for links in graph.links for link in links)
        self.grain = gcd(*graph.value, *graph.at_end, *gains, terms.between_reds) or 1
        self.price(FREE)

    def price(self, prices: Prices) -> None:
        """Let routes pay these prices. From then on floors and nets are in PARTS of a dollar; at FREE they
        are dollars."""
        graph, extra = self.graph, self.extra
        self.prices = prices
        self.parts = parts = 1 if prices is FREE else PARTS
        tolls = [prices.passes.get(u, 0) for u in range(len(graph.stops))]
        costs = dict.fromkeys((link.bits for links in graph.links for link in links), 0)
        if parts > 1:
            costs = {bits: self._cost(bits) for bits in costs}
        self.ways: list[list[Way]] = [
            [
                (
                    link.step,
                    link.to,
                    parts * (link.gain + extra[link.to]) - costs[link.bits] - tolls[u],
                    2 * link.id + (u > link.to),
                    link.bits,
                )
                for link in links
            ]
            for u, links in enumerate(graph.links)
        ]
        self.walks: list[list[int]] = [[0] * (2 * graph.count)]
        # By area the most that coming to a stop in it earns.
        self.worth = dict.fromkeys(graph.area, 0)
        for ways in self.ways:
            for _, to, gain, _, _ in ways:
                self.worth[graph.area[to]] = max(self.worth[graph.area[to]], gain)

    def passed(self, token: int, first: Sequence[int], second: Sequence[int]) -> list[int]:
        """The stops that a route with these arms passes through."""
        stop = self.stop
        return [
            *[stop[way] for way in first[:-1]],
            *([token] if first and second else ()),
            *[stop[way] for way in second[:-1]],
        ]

    def paid(self, bits: int, passed: Sequence[int]) -> int:
        """What a route over these hexsides and through these stops pays."""
        passes = self.prices.passes
        return self._cost(bits) + (sum([passes.get(u, 0) for u in passed]) if passes else 0)

    def _cost(self, bits: int) -> int:
        total, sides = 0, self.prices.sides
        while bits:
            bit = bits & -bits
            total += sides[bit.bit_length() - 1]
            bits ^= bit
        return total

    def _walk(self, more: int) -> list[int]:
        """By way the most that a walk of up to `more` stops can earn after it."""
        passed = self.graph.passed
        while len(self.walks) <= more:
            old = self.walks[-1]
            new = [0] * len(old)
            onward = [
                sorted(
                    ((gain + old[on], end, bits) for _, end, gain, on, bits in ways if gain + old[on] > 0),
                    reverse=True,
                )
                for ways in self.ways[:passed]
            ]
            for u, ways in enumerate(self.ways):
                for _, to, _, way, bits in ways:
                    if to < passed:
                        for most, end, more_bits in onward[to]:
                            if end != u and not more_bits & bits:
                                new[way] = most
                                break
            self.walks.append(new)
        return self.walks[more]

    def _rest(self, tips: int, used: int, open_ends: int, left: int) -> int:
        """The most that so many of the stops to which track still leads from the tips can earn."""
        free = ~used
        seen = 0
        worth, beside = self.worth, self.beside
        earned: list[int] = []
        todo = tips
        while todo:
            area = todo & -todo
            todo ^= area
            if not area & tips:
                earned.append(worth[area])
            new = beside.get(area, 0) & free & ~seen
            seen |= new
            todo |= new & self.through
        if open_ends:
            earned += sorted((worth[area] for area in self.ends if area & seen), reverse=True)[:open_ends]
        if len(earned) > left:
            earned.sort(reverse=True)
            del earned[left:]
        return sum(earned)

    def one(
        self,
        distance: int | None,
        closed: int,
        floor: int,
        sink: list[Path] | None = None,
        beside: Listed | None = None,
    ) -> Path | None:
        """The best route of a train whose net is more than `floor`, clear of the `closed` bits, or None.

        With a sink, all routes that net more than `floor` are put into it instead. With routes beside
        it, the net is that of two: the route and the best of these that is clear of it, or none, which
        is in `other` then. Raises Exhausted when the budget is spent; what was found by then is in `found`.
        """
        self.found = self.other = None
        self.floor = floor
        limit = min(self.most, distance or self.most)
        if limit >= 2:
            out = 0
            kept = [] if beside is None else self._kept(beside)
            for token in sorted(self.tokens, key=lambda token: -self._most(token, limit)):
                area = self.graph.area[token]
                if not area & out:
                    self._grow(token, limit, closed, out, sink, beside, kept)
                if self.graph.area.count(area) == 1:
                    # Where cities count as one, a route of another token may still visit the other.
                    out |= area
        return self.found

    def _most(self, token: int, limit: int) -> int:
        """About the most that a route through a token nets: the one that may net most is tried first."""
        arms = [
            max([gain + walk[way] for _, _, gain, way, _ in self.ways[token]], default=0)
            for walk in map(self._walk, range(limit - 1))
        ]
        both = max([0, *[one + other for one, other in zip([0, *arms], reversed(arms), strict=False)]])
        at_once = self.parts * (self.graph.value[token] + self.extra[token])
        return both + at_once + self.prices.passes.get(token, 0)

    def _grow(
        self,
        token: int,
        limit: int,
        closed: int,
        out: int,
        sink: list[Path] | None,
        beside: Listed | None,
        kept: Sequence[int],
    ) -> None:
        """Tries all routes through a token, clear of the tokens that are out of bounds. `kept`: by way the
        places of those routes beside it that it leaves free."""
        graph, ways = self.graph, self.ways
        some = any(self.extra)
        first: list[int] = []
        second: list[int] = []
        start = ways[token]
        parts, floor = self.parts, self.floor
        affordable, spent = self.budget.left, 0
        area = graph.area[token]
        open_token = token < graph.passed and self.goal is None
        passed, areas, goal, shared = graph.passed, graph.area, self.goal, graph.bits & ~closed
        walk = [self._walk(k) for k in range(limit)]
        # By stops left and place among the token's ways: the most that a second arm can earn.
        arm = [[0] * (len(start) + 1) for _ in range(limit)]
        for k in range(1, limit):
            for i in range(len(start) - 1, -1, -1):
                arm[k][i] = max(arm[k][i + 1], start[i][2] + walk[k - 1][start[i][3]])
        # By stops left, that place and way: the most that both arms can earn.
        both: dict[tuple[int, int, int], int] = {}
        nets = [0] if beside is None else [*beside.nets, 0]

        def record(used: int, net: int, free: int) -> None:
            nonlocal floor, spent
            if some:
                net -= parts * self._unearned(token, first, second)
                if net <= floor:
                    return
            bits = used & shared
            mine = dollars = net - nets[(free & -free).bit_length() - 1] if free else net
            if parts > 1:
                dollars = (mine + self.paid(bits, self.passed(token, first, second))) // parts
            path = Path(dollars, mine, bits, token, (tuple(first), tuple(second)))
            if sink is not None:
                spent += 1
                sink.append(path)
                return
            self.floor = floor = net
            self.found = path
            if beside is not None:
                self.other = beside.paths[(free & -free).bit_length() - 1] if free else None

        # What a route has netted so far counts what the best route beside it nets that is still free.

        def grow_second(used: int, net: int, left: int, among: Sequence[Way], free: int) -> None:
            nonlocal spent
            spent += 1
            if spent > affordable:
                raise Exhausted
            left -= 1
            further = walk[left]
            rest, beside_now = free, nets[(free & -free).bit_length() - 1]
            for step, to, gain, way, _ in among:
                if step & used:
                    continue
                now = net + gain
                if now + further[way] <= floor:
                    continue
                if kept:
                    rest = free & kept[way]
                    now += nets[(rest & -rest).bit_length() - 1] - beside_now
                second.append(way)
                if now > floor:
                    record(used | step, now, rest)
                if (
                    left
                    and to < passed
                    and now + further[way] > floor
                    and (left < _LONG or now + self._rest(areas[to], used | step, 1, left) > floor)
                ):
                    grow_second(used | step, now, left, ways[to], rest)
                second.pop()

        def grow_first(used: int, net: int, left: int, begun: int, among: Sequence[Way], free: int) -> None:
            nonlocal spent
            spent += 1
            if spent > affordable:
                raise Exhausted
            left -= 1
            rest, beside_now = free, nets[(free & -free).bit_length() - 1]
            for i, (step, to, gain, way, _) in enumerate(among):
                if step & used:
                    continue
                now = net + gain
                later = (begun if first else i) + 1
                on = to < passed and to != goal
                if now + arm[left][later] + (walk[left][way] if on else 0) <= floor:
                    continue
                if kept:
                    rest = free & kept[way]
                    now += nets[(rest & -rest).bit_length() - 1] - beside_now
                if on:
                    known = (left, later, way)
                    most = both.get(known)
                    if most is None:
                        most = both[known] = max(
                            [walk[k][way] + arm[left - k][later] for k in range(left + 1)]
                        )
                    if now + most <= floor:
                        continue
                elif now + arm[left][later] <= floor:
                    continue
                if left >= _LONG:
                    tips = (areas[to] if on else 0) | (area if open_token else 0)
                    if now + self._rest(tips, used | step, on + open_token, left) <= floor:
                        continue
                first.append(way)
                if now > floor:
                    record(used | step, now, rest)
                if left and on:
                    grow_first(used | step, now, left, later - 1, ways[to], rest)
                if left and open_token and now + arm[left][later] > floor:
                    grow_second(used | step, now, left, start[later:], rest)
                first.pop()

        free = 0
        net = parts * (graph.value[token] + self.extra[token]) + self.prices.passes.get(token, 0)
        if beside is not None:
            free = beside.free_of(closed)
            net += nets[(free & -free).bit_length() - 1]
        try:
            grow_first(closed | area | out, net, limit - 1, 0, start, free)
        finally:
            self.budget.left -= spent

    def _kept(self, beside: Listed) -> list[int]:
        """By way the places of those routes that it leaves free."""
        kept = [0] * (2 * self.graph.count)
        for ways in self.ways:
            for _, _, _, way, bits in ways:
                kept[way] = kept[way ^ 1] or beside.free_of(bits)
        return kept

    def _unearned(self, token: int, first: Sequence[int], second: Sequence[int]) -> int:
        """Of what was earned in advance, what the finished route does not earn."""
        at_end, red, stop = self.graph.at_end, self.graph.red, self.stop
        stops = [*[stop[way] for way in reversed(first)], token, *[stop[way] for way in second]]
        joined = red[stops[0]] and red[stops[-1]]
        return sum([at_end[u] for u in stops[1:-1]]) + (0 if joined else self.terms.between_reds * len(stops))


class Listed:
    """Routes for one kind of train, highest net first, of those over the same bits the one that earns most.

    `nets`: what they net; `users`: by bit the places (as bits) of the routes that use it.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        by_bits: dict[int, Path] = {}
        for path in paths:
            other = by_bits.get(path.bits)
            if other is None or path.revenue > other.revenue:
                by_bits[path.bits] = path
        self.paths = sorted(by_bits.values(), key=lambda path: -path.net)
        self.nets = [path.net for path in self.paths]
        self.bits = [path.bits for path in self.paths]
        self.all = (1 << len(self.paths)) - 1
        width = max((bits.bit_length() for bits in by_bits), default=0)
        # All bits of all routes as one text, of which each bit's are every so many-th letter.
        text = "".join([f"{bits:0{width}b}" for bits in reversed(self.bits)])
        self.users = [int(text[width - bit - 1 :: width], 2) for bit in range(width)]
        self.union = (1 << width) - 1

    def users_of(self, bits: int) -> int:
        """The places of the routes that use one of these bits."""
        found, users = 0, self.users
        bits &= self.union
        while bits:
            bit = bits & -bits
            found |= users[bit.bit_length() - 1]
            bits ^= bit
        return found

    def free_of(self, bits: int) -> int:
        """The places of the routes that use none of these bits."""
        return self.all & ~self.users_of(bits)

    def clear_of(self, bits: int, start: int, least: int) -> Iterator[int]:
        """From that place on the places of routes that use none of these bits and net that or more."""
        end = bisect_right(self.nets, -least, key=neg)
        if end - start <= _FEW:
            yield from [at for at in range(start, end) if not self.bits[at] & bits]
            return
        free = self.free_of(bits) >> start
        at = start
        while free:
            skip = (free & -free).bit_length()
            at += skip
            free >>= skip
            if at > end:
                return
            yield at - 1
