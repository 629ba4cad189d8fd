"""The search for the best route of one train.

Theory of operation
-------------------
The search runs on the links of a route graph (`engine.board.route_graph`). One integer holds the shared
hexsides and the areas that a route has used, so that "may this link follow" is one bit operation.

Every route runs through a token. For each token in turn, with the tokens before it excluded, a first arm
grows from it. From each tip of the first arm, a second arm grows from the token; it begins with a link that
comes later among the token's links than the first link of the first arm. So each route is met once. A
branch is cut when an upper bound on its revenue does not exceed the best so far. There are two bounds:

- The walk bound, for trains of few stops: the most that a walk of k more stops can earn after a given link
  if it forgets all links but that one. It is computed for all k beforehand.
- The rest bound, for long trains: the revenue of the stops that the tips can still reach, as many as
  the train has left, with one terminal stop (blocked city, off-board area) for each open tip.

Hexsides may have prices, and so may passing through stops. A route pays them out of its revenue; this is
how sets of routes are found (`engine.board.route_sets`). The price of passing is paid as a route leaves
a stop. The token is left twice but passed once, so one payment is returned.

Nodes of the search are counted against a budget instead of a clock, so that the answer is the same on
every machine. A search that is cut short returns the best route that it has found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from math import gcd
from operator import neg

import msgspec

from engine.board.route_dual_prices import PRICE_SCALE, DualPrices
from engine.board.route_graph import RevenueRules, RouteGraph

DirectedLink = tuple[int, int, int, int, int]
"""A link in one direction: all bits it uses, the stop it leads to, its net revenue, its number, and the bits
of its hexsides alone. The two directions of a link have the numbers 2 x id and 2 x id + 1."""

_REST_BOUND_STOPS = 6
"""The number of stops left from which the rest bound is worth its cost."""

_LINEAR_SCAN_LIMIT = 100
"""Up to so many routes are looked through one by one, more of them all at once."""

NO_PRICES = DualPrices((), {}, 0)
"""Prices that cost nothing. With them net revenues are in dollars."""


class BudgetExhaustedError(Exception):
    """The budget of a search is spent."""


class NodeBudget:
    """How many nodes a search may still visit."""

    def __init__(self, remaining: int) -> None:
        self.remaining = remaining

    def spend(self, nodes: int = 1) -> None:
        """Raise BudgetExhaustedError where fewer than that remain."""
        self.remaining -= nodes
        if self.remaining < 0:
            raise BudgetExhaustedError


class CandidateRoute(msgspec.Struct, frozen=True, gc=False):
    """A route in the search.

    `revenue`: in dollars. `net_revenue`: what remains after paying prices, in parts of a dollar.
    `hexsides`: bits. `token`: the stop from which both arms grow. `arms`: the numbers of their links.
    """

    revenue: int
    net_revenue: int
    hexsides: int
    token: int
    arms: tuple[tuple[int, ...], tuple[int, ...]]


class RouteSearch:
    """The search for routes on one graph.

    `pair`: only routes that begin at the first of these stops and end at the second. `best`: the best
    route of the latest search. `best_partner`: see `find_best`. `revenue_step`: the revenue of every route
    is a multiple of these dollars. `price_scale`: how many parts of a dollar net revenues count.
    `target_stop`: by number of a link, the stop it leads to.
    """

    def __init__(
        self, graph: RouteGraph, rules: RevenueRules, budget: NodeBudget, pair: tuple[int, int] | None = None
    ) -> None:
        self.graph = graph
        self.tokens = graph.tokens if pair is None else [pair[0]]
        self.goal = None if pair is None else pair[1]
        self.budget = budget
        self.floor = 0
        self.best: CandidateRoute | None = None
        self.best_partner: CandidateRoute | None = None
        self.rules = rules
        # Bonuses that depend on the place of a stop are granted in advance, and corrected at the end.
        self.advance_bonuses = [rules.offboard_pair_bonus + bonus for bonus in graph.end_bonuses]
        self.area_count = len(set(graph.areas))
        # By area, the areas that links lead to.
        self.adjacent_areas: dict[int, int] = {}
        end_areas = set(graph.areas[graph.passable_count :])
        for u in range(graph.passable_count):
            end_areas.discard(graph.areas[u])
            for link in graph.links[u]:
                self.adjacent_areas[graph.areas[u]] = (
                    self.adjacent_areas.get(graph.areas[u], 0) | graph.areas[link.to]
                )
        self.end_areas = sorted(end_areas)
        self.passable_areas = sum(self.adjacent_areas)
        self.target_stop = [0] * (2 * graph.link_count)
        for u, links in enumerate(graph.links):
            for link in links:
                self.target_stop[2 * link.id + (u > link.to)] = link.to
        gains = (link.revenue for links in graph.links for link in links)
        self.revenue_step = gcd(*graph.values, *graph.end_bonuses, *gains, rules.offboard_pair_bonus) or 1
        self.set_prices(NO_PRICES)

    def set_prices(self, prices: DualPrices) -> None:
        """Make routes pay these prices.

        Floors and net revenues are in parts of a dollar from then on (PRICE_SCALE), with NO_PRICES in
        dollars.
        """
        graph, bonuses = self.graph, self.advance_bonuses
        self.prices = prices
        self.price_scale = scale = 1 if prices is NO_PRICES else PRICE_SCALE
        tolls = [prices.passes.get(u, 0) for u in range(len(graph.stops))]
        costs = dict.fromkeys((link.hexsides for links in graph.links for link in links), 0)
        if scale > 1:
            costs = {hexsides: self._hexside_price(hexsides) for hexsides in costs}
        self.directed_links: list[list[DirectedLink]] = [
            [
                (
                    link.used,
                    link.to,
                    scale * (link.revenue + bonuses[link.to]) - costs[link.hexsides] - tolls[u],
                    2 * link.id + (u > link.to),
                    link.hexsides,
                )
                for link in links
            ]
            for u, links in enumerate(graph.links)
        ]
        self.walk_bounds: list[list[int]] = [[0] * (2 * graph.link_count)]
        # By area, the most that a link to one of its stops earns.
        self.area_revenue = dict.fromkeys(graph.areas, 0)
        for outgoing in self.directed_links:
            for _, to, revenue, _, _ in outgoing:
                self.area_revenue[graph.areas[to]] = max(self.area_revenue[graph.areas[to]], revenue)

    def passed_stops(self, token: int, first: Sequence[int], second: Sequence[int]) -> list[int]:
        """The stops that a route with these arms passes through."""
        target_stop = self.target_stop
        return [
            *[target_stop[link] for link in first[:-1]],
            *([token] if first and second else ()),
            *[target_stop[link] for link in second[:-1]],
        ]

    def price_of(self, hexsides: int, passed: Sequence[int]) -> int:
        """What a route over these hexsides that passes through these stops pays."""
        passes = self.prices.passes
        return self._hexside_price(hexsides) + (sum([passes.get(u, 0) for u in passed]) if passes else 0)

    def _hexside_price(self, bits: int) -> int:
        total, prices = 0, self.prices.hexsides
        while bits:
            bit = bits & -bits
            total += prices[bit.bit_length() - 1]
            bits ^= bit
        return total

    def _walk_bound(self, more: int) -> list[int]:
        """By number of a link, the most that a walk of up to `more` stops can earn after it."""
        passable_count = self.graph.passable_count
        while len(self.walk_bounds) <= more:
            previous = self.walk_bounds[-1]
            new = [0] * len(previous)
            continuations = [
                sorted(
                    (
                        (revenue + previous[number], end, hexsides)
                        for _, end, revenue, number, hexsides in outgoing
                        if revenue + previous[number] > 0
                    ),
                    reverse=True,
                )
                for outgoing in self.directed_links[:passable_count]
            ]
            for u, outgoing in enumerate(self.directed_links):
                for _, to, _, number, hexsides in outgoing:
                    if to < passable_count:
                        for bound, end, next_hexsides in continuations[to]:
                            if end != u and not next_hexsides & hexsides:
                                new[number] = bound
                                break
            self.walk_bounds.append(new)
        return self.walk_bounds[more]

    def _rest_bound(self, tips: int, used: int, open_ends: int, left: int) -> int:
        """The most that the stops still reachable from the tips can earn, `left` of them in all."""
        unused = ~used
        seen = 0
        revenue, adjacent = self.area_revenue, self.adjacent_areas
        revenues: list[int] = []
        todo = tips
        while todo:
            area = todo & -todo
            todo ^= area
            if not area & tips:
                revenues.append(revenue[area])
            new = adjacent.get(area, 0) & unused & ~seen
            seen |= new
            todo |= new & self.passable_areas
        if open_ends:
            revenues += sorted((revenue[area] for area in self.end_areas if area & seen), reverse=True)[
                :open_ends
            ]
        if len(revenues) > left:
            revenues.sort(reverse=True)
            del revenues[left:]
        return sum(revenues)

    def find_best(
        self,
        distance: int | None,
        blocked: int,
        floor: int,
        collected: list[CandidateRoute] | None = None,
        partners: RouteList | None = None,
    ) -> CandidateRoute | None:
        """The best route of a train with a net revenue above `floor`, without `blocked` bits; or None.

        `collected`: all routes above `floor` are appended to it instead. `partners`: the net revenue is
        that of two routes, the one and the best of these that is compatible with it, if any; that one
        is in `best_partner` then. Raises BudgetExhaustedError when the budget is spent; the best route
        found by then is in `best`.
        """
        self.best = self.best_partner = None
        self.floor = floor
        limit = min(self.area_count, distance or self.area_count)
        if limit >= 2:
            excluded = 0
            compatible = [] if partners is None else self._compatible_partners(partners)
            for token in sorted(self.tokens, key=lambda token: -self._token_bound(token, limit)):
                area = self.graph.areas[token]
                if not area & excluded:
                    self._search_through(token, limit, blocked, excluded, collected, partners, compatible)
                if self.graph.areas.count(area) == 1:
                    # Where cities count as one, a route from another token may still visit this one.
                    excluded |= area
        return self.best

    def _token_bound(self, token: int, limit: int) -> int:
        """A rough bound on routes through a token. The tokens are tried in the order of these bounds."""
        arms = [
            max([revenue + bounds[link] for _, _, revenue, link, _ in self.directed_links[token]], default=0)
            for bounds in map(self._walk_bound, range(limit - 1))
        ]
        both = max([0, *[one + other for one, other in zip([0, *arms], reversed(arms), strict=False)]])
        at_token = self.price_scale * (self.graph.values[token] + self.advance_bonuses[token])
        return both + at_token + self.prices.passes.get(token, 0)

    def _search_through(
        self,
        token: int,
        limit: int,
        blocked: int,
        excluded: int,
        collected: list[CandidateRoute] | None,
        partners: RouteList | None,
        compatible: Sequence[int],
    ) -> None:
        """Try all routes through a token, without the areas of `excluded` tokens.

        `compatible`: by number of a link, the partners (bits by index) that do not use its hexsides.
        """
        graph, links = self.graph, self.directed_links
        has_bonuses = any(self.advance_bonuses)
        first_arm: list[int] = []
        second_arm: list[int] = []
        token_links = links[token]
        scale, floor = self.price_scale, self.floor
        nodes_left, spent = self.budget.remaining, 0
        area = graph.areas[token]
        open_token = token < graph.passable_count and self.goal is None
        passable_count, areas, goal, hexside_mask = (
            graph.passable_count,
            graph.areas,
            self.goal,
            graph.hexside_mask & ~blocked,
        )
        walk_bounds = [self._walk_bound(k) for k in range(limit)]
        # By stops left and index among the token's links: the most that a second arm can earn.
        arm_bounds = [[0] * (len(token_links) + 1) for _ in range(limit)]
        for k in range(1, limit):
            for i in range(len(token_links) - 1, -1, -1):
                arm_bounds[k][i] = max(
                    arm_bounds[k][i + 1], token_links[i][2] + walk_bounds[k - 1][token_links[i][3]]
                )
        # By stops left, that index and the last link: the most that both arms can earn.
        both_bounds: dict[tuple[int, int, int], int] = {}
        partner_revenues = [0] if partners is None else [*partners.net_revenues, 0]

        def record(used: int, net: int, free: int) -> None:
            nonlocal floor, spent
            if has_bonuses:
                net -= scale * self._unearned_bonus(token, first_arm, second_arm)
                if net <= floor:
                    return
            hexsides = used & hexside_mask
            own_net = revenue = net - partner_revenues[(free & -free).bit_length() - 1] if free else net
            if scale > 1:
                revenue = (
                    own_net + self.price_of(hexsides, self.passed_stops(token, first_arm, second_arm))
                ) // scale
            route = CandidateRoute(revenue, own_net, hexsides, token, (tuple(first_arm), tuple(second_arm)))
            if collected is not None:
                spent += 1
                collected.append(route)
                return
            self.floor = floor = net
            self.best = route
            if partners is not None:
                self.best_partner = partners.routes[(free & -free).bit_length() - 1] if free else None

        # The net revenue of a growing route includes that of the best partner that is still compatible.

        def grow_second(
            used: int, net: int, stops_left: int, outgoing: Sequence[DirectedLink], free: int
        ) -> None:
            nonlocal spent
            spent += 1
            if spent > nodes_left:
                raise BudgetExhaustedError
            stops_left -= 1
            bounds = walk_bounds[stops_left]
            still_free, partner_now = free, partner_revenues[(free & -free).bit_length() - 1]
            for bits, to, link_net, link, _ in outgoing:
                if bits & used:
                    continue
                new_net = net + link_net
                if new_net + bounds[link] <= floor:
                    continue
                if compatible:
                    still_free = free & compatible[link]
                    new_net += partner_revenues[(still_free & -still_free).bit_length() - 1] - partner_now
                second_arm.append(link)
                if new_net > floor:
                    record(used | bits, new_net, still_free)
                if (
                    stops_left
                    and to < passable_count
                    and new_net + bounds[link] > floor
                    and (
                        stops_left < _REST_BOUND_STOPS
                        or new_net + self._rest_bound(areas[to], used | bits, 1, stops_left) > floor
                    )
                ):
                    grow_second(used | bits, new_net, stops_left, links[to], still_free)
                second_arm.pop()

        def grow_first(
            used: int,
            net: int,
            stops_left: int,
            first_index: int,
            outgoing: Sequence[DirectedLink],
            free: int,
        ) -> None:
            nonlocal spent
            spent += 1
            if spent > nodes_left:
                raise BudgetExhaustedError
            stops_left -= 1
            still_free, partner_now = free, partner_revenues[(free & -free).bit_length() - 1]
            for i, (bits, to, link_net, link, _) in enumerate(outgoing):
                if bits & used:
                    continue
                new_net = net + link_net
                next_index = (first_index if first_arm else i) + 1
                continues = to < passable_count and to != goal
                if (
                    new_net
                    + arm_bounds[stops_left][next_index]
                    + (walk_bounds[stops_left][link] if continues else 0)
                    <= floor
                ):
                    continue
                if compatible:
                    still_free = free & compatible[link]
                    new_net += partner_revenues[(still_free & -still_free).bit_length() - 1] - partner_now
                if continues:
                    key = (stops_left, next_index, link)
                    bound = both_bounds.get(key)
                    if bound is None:
                        bound = both_bounds[key] = max(
                            [
                                walk_bounds[k][link] + arm_bounds[stops_left - k][next_index]
                                for k in range(stops_left + 1)
                            ]
                        )
                    if new_net + bound <= floor:
                        continue
                elif new_net + arm_bounds[stops_left][next_index] <= floor:
                    continue
                if stops_left >= _REST_BOUND_STOPS:
                    tips = (areas[to] if continues else 0) | (area if open_token else 0)
                    if (
                        new_net + self._rest_bound(tips, used | bits, continues + open_token, stops_left)
                        <= floor
                    ):
                        continue
                first_arm.append(link)
                if new_net > floor:
                    record(used | bits, new_net, still_free)
                if stops_left and continues:
                    grow_first(used | bits, new_net, stops_left, next_index - 1, links[to], still_free)
                if stops_left and open_token and new_net + arm_bounds[stops_left][next_index] > floor:
                    grow_second(used | bits, new_net, stops_left, token_links[next_index:], still_free)
                first_arm.pop()

        free = 0
        net = scale * (graph.values[token] + self.advance_bonuses[token]) + self.prices.passes.get(token, 0)
        if partners is not None:
            free = partners.compatible(blocked)
            net += partner_revenues[(free & -free).bit_length() - 1]
        try:
            grow_first(blocked | area | excluded, net, limit - 1, 0, token_links, free)
        finally:
            self.budget.remaining -= spent

    def _compatible_partners(self, partners: RouteList) -> list[int]:
        """By number of a link, the partners (bits by index) that do not use its hexsides."""
        compatible = [0] * (2 * self.graph.link_count)
        for outgoing in self.directed_links:
            for _, _, _, link, hexsides in outgoing:
                compatible[link] = compatible[link ^ 1] or partners.compatible(hexsides)
        return compatible

    def _unearned_bonus(self, token: int, first_arm: Sequence[int], second_arm: Sequence[int]) -> int:
        """Dollars of bonuses that were granted in advance and that the finished route does not earn."""
        end_bonuses, is_offboard, target_stop = (
            self.graph.end_bonuses,
            self.graph.is_offboard,
            self.target_stop,
        )
        stops = [
            *[target_stop[link] for link in reversed(first_arm)],
            token,
            *[target_stop[link] for link in second_arm],
        ]
        offboard_pair = is_offboard[stops[0]] and is_offboard[stops[-1]]
        return sum([end_bonuses[u] for u in stops[1:-1]]) + (
            0 if offboard_pair else self.rules.offboard_pair_bonus * len(stops)
        )


class RouteList:
    """Routes for one type of train, highest net revenue first.

    Of several routes over the same hexsides only the one with the most revenue is kept. Sets of routes are
    integers with bit i for the route of index i. `routes_using`: by bit of a hexside the routes using it.
    """

    def __init__(self, routes: Iterable[CandidateRoute]) -> None:
        by_hexsides: dict[int, CandidateRoute] = {}
        for route in routes:
            other = by_hexsides.get(route.hexsides)
            if other is None or route.revenue > other.revenue:
                by_hexsides[route.hexsides] = route
        self.routes = sorted(by_hexsides.values(), key=lambda route: -route.net_revenue)
        self.net_revenues = [route.net_revenue for route in self.routes]
        self.hexsides = [route.hexsides for route in self.routes]
        self.all_routes = (1 << len(self.routes)) - 1
        width = max((hexsides.bit_length() for hexsides in by_hexsides), default=0)
        # A text of all bits of all routes; the bits of one hexside are every `width`-th letter of it.
        text = "".join([f"{hexsides:0{width}b}" for hexsides in reversed(self.hexsides)])
        self.routes_using = [int(text[width - bit - 1 :: width], 2) for bit in range(width)]
        self.all_hexsides = (1 << width) - 1

    def conflicting(self, hexsides: int) -> int:
        """The routes that use one of these hexsides, as bits by index."""
        conflicts, routes_using = 0, self.routes_using
        hexsides &= self.all_hexsides
        while hexsides:
            bit = hexsides & -hexsides
            conflicts |= routes_using[bit.bit_length() - 1]
            hexsides ^= bit
        return conflicts

    def compatible(self, hexsides: int) -> int:
        """The routes that use none of these hexsides, as bits by index."""
        return self.all_routes & ~self.conflicting(hexsides)

    def iter_compatible(self, hexsides: int, start: int, least_net: int) -> Iterator[int]:
        """Indexes from `start` of routes that use none of these hexsides and net `least_net` or more."""
        end = bisect_right(self.net_revenues, -least_net, key=neg)
        if end - start <= _LINEAR_SCAN_LIMIT:
            yield from [index for index in range(start, end) if not self.hexsides[index] & hexsides]
            return
        free = self.compatible(hexsides) >> start
        index = start
        while free:
            skip = (free & -free).bit_length()
            index += skip
            free >>= skip
            if index > end:
                return
            yield index - 1
