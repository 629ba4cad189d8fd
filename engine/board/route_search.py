"""The search for the best route of one train.

Theory of operation
-------------------
The search runs on chains between stops (`engine.board.route_graph`): one integer holds the shared hexsides
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
sets of routes are found (`engine.board.route_sets`). A toll is paid as a stop is left: the token, which is
left twice and passed once, gives one back.

Nodes of the search are counted against a budget instead of the clock, so that the answer is the same
on every machine; a search that is cut short gives the best that it found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from math import gcd
from operator import neg

import msgspec

from engine.board.dual_prices import PRICE_SCALE, DualPrices
from engine.board.route_graph import RevenueRules, RouteGraph

DirectedLink = tuple[int, int, int, int, int]
"""A link as a step: bits it uses with the area it comes to, stop, net gain, its way, its bits alone.

A link is two ways, 2 x id and 2 x id + 1.
"""

_REST_BOUND_STOPS = 6
"""From how many stops to come the bound by the rest is worth its cost."""


_LINEAR_SCAN_LIMIT = 100
"""Routes that are looked through one by one sooner than a whole list at once."""

NO_PRICES = DualPrices((), {}, 0)
"""No prices."""


class BudgetExhaustedError(Exception):
    """The budget is spent."""


class NodeBudget:
    """Nodes that may still be spent."""

    def __init__(self, left: int) -> None:
        self.remaining = left

    def spend(self, nodes: int = 1) -> None:
        """Raises Exhausted where so many are not left."""
        self.remaining -= nodes
        if self.remaining < 0:
            raise BudgetExhaustedError


class CandidateRoute(msgspec.Struct, frozen=True, gc=False):
    """A route in the search: dollars, what is left of them once its hexsides are paid for (in parts of a
    dollar), the bits of its links, its token, the ways of its two arms."""

    revenue: int
    net_revenue: int
    hexsides: int
    token: int
    arms: tuple[tuple[int, ...], tuple[int, ...]]


class RouteSearch:
    """The search on one graph, at the cost of that budget.

    `pair`: only routes that begin at the first of these stops, and end where they come to the second.
    `grain`: what every route earns is a multiple of so many dollars.
    """

    def __init__(
        self, graph: RouteGraph, terms: RevenueRules, budget: NodeBudget, pair: tuple[int, int] | None = None
    ) -> None:
        self.graph = graph
        self.tokens = graph.tokens if pair is None else [pair[0]]
        self.goal = None if pair is None else pair[1]
        self.budget = budget
        self.floor = 0
        self.best: CandidateRoute | None = None
        self.best_partner: CandidateRoute | None = None
        self.rules = terms
        # What a stop could earn by its place in a route is earned in advance, and taken back in the end.
        self.advance_bonuses = [terms.offboard_pair_bonus + more for more in graph.end_bonuses]
        self.area_count = len(set(graph.areas))
        # By area which areas lie beside it.
        self.adjacent_areas: dict[int, int] = {}
        ends = set(graph.areas[graph.passable_count :])
        for u in range(graph.passable_count):
            ends.discard(graph.areas[u])
            for link in graph.links[u]:
                self.adjacent_areas[graph.areas[u]] = (
                    self.adjacent_areas.get(graph.areas[u], 0) | graph.areas[link.to]
                )
        self.end_areas = sorted(ends)
        self.passable_areas = sum(self.adjacent_areas)
        # By way the stop that it comes to.
        self.target_stop = [0] * (2 * graph.link_count)
        for u, links in enumerate(graph.links):
            for link in links:
                self.target_stop[2 * link.id + (u > link.to)] = link.to
        gains = (link.revenue for links in graph.links for link in links)
        self.revenue_step = gcd(*graph.values, *graph.end_bonuses, *gains, terms.offboard_pair_bonus) or 1
        self.set_prices(NO_PRICES)

    def set_prices(self, prices: DualPrices) -> None:
        """Let routes pay these prices. From then on floors and nets are in PARTS of a dollar; at FREE they
        are dollars."""
        graph, extra = self.graph, self.advance_bonuses
        self.prices = prices
        self.price_scale = parts = 1 if prices is NO_PRICES else PRICE_SCALE
        tolls = [prices.passes.get(u, 0) for u in range(len(graph.stops))]
        costs = dict.fromkeys((link.hexsides for links in graph.links for link in links), 0)
        if parts > 1:
            costs = {bits: self._hexside_price(bits) for bits in costs}
        self.directed_links: list[list[DirectedLink]] = [
            [
                (
                    link.used,
                    link.to,
                    parts * (link.revenue + extra[link.to]) - costs[link.hexsides] - tolls[u],
                    2 * link.id + (u > link.to),
                    link.hexsides,
                )
                for link in links
            ]
            for u, links in enumerate(graph.links)
        ]
        self.walk_bounds: list[list[int]] = [[0] * (2 * graph.link_count)]
        # By area the most that coming to a stop in it earns.
        self.area_revenue = dict.fromkeys(graph.areas, 0)
        for ways in self.directed_links:
            for _, to, gain, _, _ in ways:
                self.area_revenue[graph.areas[to]] = max(self.area_revenue[graph.areas[to]], gain)

    def passed_stops(self, token: int, first: Sequence[int], second: Sequence[int]) -> list[int]:
        """The stops that a route with these arms passes through."""
        stop = self.target_stop
        return [
            *[stop[way] for way in first[:-1]],
            *([token] if first and second else ()),
            *[stop[way] for way in second[:-1]],
        ]

    def price_of(self, bits: int, passed: Sequence[int]) -> int:
        """What a route over these hexsides and through these stops pays."""
        passes = self.prices.passes
        return self._hexside_price(bits) + (sum([passes.get(u, 0) for u in passed]) if passes else 0)

    def _hexside_price(self, bits: int) -> int:
        total, sides = 0, self.prices.hexsides
        while bits:
            bit = bits & -bits
            total += sides[bit.bit_length() - 1]
            bits ^= bit
        return total

    def _walk_bound(self, more: int) -> list[int]:
        """By way the most that a walk of up to `more` stops can earn after it."""
        passed = self.graph.passable_count
        while len(self.walk_bounds) <= more:
            old = self.walk_bounds[-1]
            new = [0] * len(old)
            onward = [
                sorted(
                    ((gain + old[on], end, bits) for _, end, gain, on, bits in ways if gain + old[on] > 0),
                    reverse=True,
                )
                for ways in self.directed_links[:passed]
            ]
            for u, ways in enumerate(self.directed_links):
                for _, to, _, way, bits in ways:
                    if to < passed:
                        for most, end, more_bits in onward[to]:
                            if end != u and not more_bits & bits:
                                new[way] = most
                                break
            self.walk_bounds.append(new)
        return self.walk_bounds[more]

    def _rest_bound(self, tips: int, used: int, open_ends: int, left: int) -> int:
        """The most that so many of the stops to which track still leads from the tips can earn."""
        free = ~used
        seen = 0
        worth, beside = self.area_revenue, self.adjacent_areas
        earned: list[int] = []
        todo = tips
        while todo:
            area = todo & -todo
            todo ^= area
            if not area & tips:
                earned.append(worth[area])
            new = beside.get(area, 0) & free & ~seen
            seen |= new
            todo |= new & self.passable_areas
        if open_ends:
            earned += sorted((worth[area] for area in self.end_areas if area & seen), reverse=True)[
                :open_ends
            ]
        if len(earned) > left:
            earned.sort(reverse=True)
            del earned[left:]
        return sum(earned)

    def find_best(
        self,
        distance: int | None,
        closed: int,
        floor: int,
        sink: list[CandidateRoute] | None = None,
        beside: RouteList | None = None,
    ) -> CandidateRoute | None:
        """The best route of a train whose net is more than `floor`, clear of the `closed` bits, or None.

        With a sink, all routes that net more than `floor` are put into it instead. With routes beside
        it, the net is that of two: the route and the best of these that is clear of it, or none, which
        is in `other` then. Raises Exhausted when the budget is spent; what was found by then is in `found`.
        """
        self.best = self.best_partner = None
        self.floor = floor
        limit = min(self.area_count, distance or self.area_count)
        if limit >= 2:
            out = 0
            kept = [] if beside is None else self._compatible_partners(beside)
            for token in sorted(self.tokens, key=lambda token: -self._token_bound(token, limit)):
                area = self.graph.areas[token]
                if not area & out:
                    self._search_through(token, limit, closed, out, sink, beside, kept)
                if self.graph.areas.count(area) == 1:
                    # Where cities count as one, a route of another token may still visit the other.
                    out |= area
        return self.best

    def _token_bound(self, token: int, limit: int) -> int:
        """About the most that a route through a token nets: the one that may net most is tried first."""
        arms = [
            max([gain + walk[way] for _, _, gain, way, _ in self.directed_links[token]], default=0)
            for walk in map(self._walk_bound, range(limit - 1))
        ]
        both = max([0, *[one + other for one, other in zip([0, *arms], reversed(arms), strict=False)]])
        at_once = self.price_scale * (self.graph.values[token] + self.advance_bonuses[token])
        return both + at_once + self.prices.passes.get(token, 0)

    def _search_through(
        self,
        token: int,
        limit: int,
        closed: int,
        out: int,
        sink: list[CandidateRoute] | None,
        beside: RouteList | None,
        kept: Sequence[int],
    ) -> None:
        """Tries all routes through a token, clear of the tokens that are out of bounds. `kept`: by way the
        places of those routes beside it that it leaves free."""
        graph, ways = self.graph, self.directed_links
        some = any(self.advance_bonuses)
        first: list[int] = []
        second: list[int] = []
        start = ways[token]
        parts, floor = self.price_scale, self.floor
        affordable, spent = self.budget.remaining, 0
        area = graph.areas[token]
        open_token = token < graph.passable_count and self.goal is None
        passed, areas, goal, shared = (
            graph.passable_count,
            graph.areas,
            self.goal,
            graph.hexside_mask & ~closed,
        )
        walk = [self._walk_bound(k) for k in range(limit)]
        # By stops left and place among the token's ways: the most that a second arm can earn.
        arm = [[0] * (len(start) + 1) for _ in range(limit)]
        for k in range(1, limit):
            for i in range(len(start) - 1, -1, -1):
                arm[k][i] = max(arm[k][i + 1], start[i][2] + walk[k - 1][start[i][3]])
        # By stops left, that place and way: the most that both arms can earn.
        both: dict[tuple[int, int, int], int] = {}
        nets = [0] if beside is None else [*beside.net_revenues, 0]

        def record(used: int, net: int, free: int) -> None:
            nonlocal floor, spent
            if some:
                net -= parts * self._unearned_bonus(token, first, second)
                if net <= floor:
                    return
            bits = used & shared
            mine = dollars = net - nets[(free & -free).bit_length() - 1] if free else net
            if parts > 1:
                dollars = (mine + self.price_of(bits, self.passed_stops(token, first, second))) // parts
            path = CandidateRoute(dollars, mine, bits, token, (tuple(first), tuple(second)))
            if sink is not None:
                spent += 1
                sink.append(path)
                return
            self.floor = floor = net
            self.best = path
            if beside is not None:
                self.best_partner = beside.routes[(free & -free).bit_length() - 1] if free else None

        # What a route has netted so far counts what the best route beside it nets that is still free.

        def grow_second(used: int, net: int, left: int, among: Sequence[DirectedLink], free: int) -> None:
            nonlocal spent
            spent += 1
            if spent > affordable:
                raise BudgetExhaustedError
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
                    and (
                        left < _REST_BOUND_STOPS
                        or now + self._rest_bound(areas[to], used | step, 1, left) > floor
                    )
                ):
                    grow_second(used | step, now, left, ways[to], rest)
                second.pop()

        def grow_first(
            used: int, net: int, left: int, begun: int, among: Sequence[DirectedLink], free: int
        ) -> None:
            nonlocal spent
            spent += 1
            if spent > affordable:
                raise BudgetExhaustedError
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
                if left >= _REST_BOUND_STOPS:
                    tips = (areas[to] if on else 0) | (area if open_token else 0)
                    if now + self._rest_bound(tips, used | step, on + open_token, left) <= floor:
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
        net = parts * (graph.values[token] + self.advance_bonuses[token]) + self.prices.passes.get(token, 0)
        if beside is not None:
            free = beside.compatible(closed)
            net += nets[(free & -free).bit_length() - 1]
        try:
            grow_first(closed | area | out, net, limit - 1, 0, start, free)
        finally:
            self.budget.remaining -= spent

    def _compatible_partners(self, beside: RouteList) -> list[int]:
        """By way the places of those routes that it leaves free."""
        kept = [0] * (2 * self.graph.link_count)
        for ways in self.directed_links:
            for _, _, _, way, bits in ways:
                kept[way] = kept[way ^ 1] or beside.compatible(bits)
        return kept

    def _unearned_bonus(self, token: int, first: Sequence[int], second: Sequence[int]) -> int:
        """Of what was earned in advance, what the finished route does not earn."""
        at_end, red, stop = self.graph.end_bonuses, self.graph.is_offboard, self.target_stop
        stops = [*[stop[way] for way in reversed(first)], token, *[stop[way] for way in second]]
        joined = red[stops[0]] and red[stops[-1]]
        return sum([at_end[u] for u in stops[1:-1]]) + (
            0 if joined else self.rules.offboard_pair_bonus * len(stops)
        )


class RouteList:
    """Routes for one kind of train, highest net first, of those over the same bits the one that earns most.

    `nets`: what they net; `users`: by bit the places (as bits) of the routes that use it.
    """

    def __init__(self, paths: Iterable[CandidateRoute]) -> None:
        by_bits: dict[int, CandidateRoute] = {}
        for path in paths:
            other = by_bits.get(path.hexsides)
            if other is None or path.revenue > other.revenue:
                by_bits[path.hexsides] = path
        self.routes = sorted(by_bits.values(), key=lambda path: -path.net_revenue)
        self.net_revenues = [path.net_revenue for path in self.routes]
        self.hexsides = [path.hexsides for path in self.routes]
        self.all_routes = (1 << len(self.routes)) - 1
        width = max((bits.bit_length() for bits in by_bits), default=0)
        # All bits of all routes as one text, of which each bit's are every so many-th letter.
        text = "".join([f"{bits:0{width}b}" for bits in reversed(self.hexsides)])
        self.routes_using = [int(text[width - bit - 1 :: width], 2) for bit in range(width)]
        self.all_hexsides = (1 << width) - 1

    def conflicting(self, bits: int) -> int:
        """The places of the routes that use one of these bits."""
        found, users = 0, self.routes_using
        bits &= self.all_hexsides
        while bits:
            bit = bits & -bits
            found |= users[bit.bit_length() - 1]
            bits ^= bit
        return found

    def compatible(self, bits: int) -> int:
        """The places of the routes that use none of these bits."""
        return self.all_routes & ~self.conflicting(bits)

    def iter_compatible(self, bits: int, start: int, least: int) -> Iterator[int]:
        """From that place on the places of routes that use none of these bits and net that or more."""
        end = bisect_right(self.net_revenues, -least, key=neg)
        if end - start <= _LINEAR_SCAN_LIMIT:
            yield from [at for at in range(start, end) if not self.hexsides[at] & bits]
            return
        free = self.compatible(bits) >> start
        at = start
        while free:
            skip = (free & -free).bit_length()
            at += skip
            free >>= skip
            if at > end:
                return
            yield at - 1
