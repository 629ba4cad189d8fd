"""The search for the best set of routes, one for each train.

Theory of operation
-------------------
No two routes of a set use the same hexside. Let each shared hexside have a price, and let every route pay
for those that it uses. Then a set earns the net revenues of its routes and what they have paid. That is
never more than the most that each train can net on its own plus the prices of all hexsides. This upper bound
holds for any prices, and the search for one train computes it (`engine.board.route_search`). The same holds
for a price of passing through a stop, times the number of routes that can pass through it.

1. Without prices, the bound is what the trains would earn if each had the map to itself. A first set is
   found greedily. Often it reaches the bound.
2. Otherwise prices are found by column generation. The best fractions of the routes known so far give
   prices (`route_dual_prices`). At these prices the search looks for routes that net more than the
   known ones, until there are none. The bound falls from round to round, mostly to little more than the
   revenue of the best set.
3. The difference between the bound and the best set is the gap. Only a route that nets more than the best
   one of its train less the gap can be part of a better set. The same search lists these routes, and the
   lists are combined depth first, highest first. Which routes of a list are still compatible is computed
   for the whole list at once, with a bit for each route.

Short lists are combined faster than prices are found, so that is tried first. Of two trains, only the
routes of one are listed. The other is searched with these as partners: its net revenue includes that of
the best route of the list that is still compatible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from engine.board.route_dual_prices import DualPrices, LinearProgram
from engine.board.route_graph import RevenueRules, RouteGraph
from engine.board.route_search import (
    NO_PRICES,
    BudgetExhaustedError,
    CandidateRoute,
    NodeBudget,
    RouteList,
    RouteSearch,
)

LISTING_BUDGET = 100_000
"""Nodes that listing routes may cost before prices are found."""

GOAL_BONUS = 1_000_000
"""Dollars added to the value of a stop that a route has to visit."""

RouteSet = list[CandidateRoute | None]
"""For each train its route, or None."""


class RouteSetSearch:
    """The search for the best set of routes on one graph.

    `budget`: the nodes that remain. `reserve`: more nodes, a quarter of the budget, for finding a good set
    where the search for the best one has run out. `best_set`, `best_revenue`: the best set so far.
    `known_routes`: by distance of a train, the routes found so far by their hexsides. `bound`: dollars
    that no set exceeds.
    """

    def __init__(self, graph: RouteGraph, rules: RevenueRules, budget: int) -> None:
        self.budget = NodeBudget(budget)
        self.reserve = budget // 4
        self.search = RouteSearch(graph, rules, self.budget)
        self.hexside_count = graph.hexside_mask.bit_length()
        # By stop with an odd number of exits, how many routes may pass through it.
        self.max_passes: dict[int, int] = {}
        for u, links in enumerate(graph.links[: graph.passable_count]):
            exits = len({link.segments[0][2] for link in links})
            if exits > 1 and exits % 2:
                self.max_passes[u] = exits // 2
        self.max_revenue = sum(self.search.area_revenue.values())

    def find_best(self, distances: Sequence[int | None], blocked: int = 0) -> tuple[RouteSet, int]:
        """The best set of routes without `blocked` bits, and an upper bound on the revenue of any set.

        `distances`: the number of stops of each train (None: any).
        """
        order = sorted(range(len(distances)), key=lambda i: -_max_stops(distances[i]))
        self.distances = [distances[i] for i in order]
        self.counts = Counter(self.distances)
        self.blocked = blocked
        self.best_set: RouteSet = [None] * len(order)
        self.best_revenue = 0
        self.bound = self.max_revenue * len(order)
        self.known_routes: dict[int | None, dict[int, CandidateRoute]] = {
            distance: {} for distance in self.counts
        }
        self.search_results: dict[tuple[int | None, int, int], CandidateRoute | None] = {}
        if self.search.price_scale > 1:
            self.search.set_prices(NO_PRICES)
        try:
            self._search_all()
            self.bound = self.best_revenue
        except BudgetExhaustedError:
            if route := self.search.best:
                self._update_best([route if i == self.current_train else None for i in range(len(order))])
            greedy = self._greedy_within_reserve()
            self._update_best(greedy)
            self.budget.remaining = self.reserve
            with suppress(BudgetExhaustedError):
                for routes in (greedy, self.best_set):
                    self._improve(list(routes))
            self.budget.remaining, self.reserve = -1, 0
        return [self.best_set[order.index(i)] for i in range(len(order))], self.bound

    def _search_all(self) -> None:
        """Find the best set. Raises BudgetExhaustedError."""
        tops: dict[int | None, int] = {}
        route = None
        for distance in reversed(self.counts):
            # A longer train never earns less.
            route = (
                self._best_route(
                    self.distances.index(distance), self.blocked, route.net_revenue if route else 0
                )
                or route
            )
            self.search_results[distance, self.blocked, 0] = route
            tops[distance] = route.net_revenue if route else 0
        self._update_best([route, *[None] * (len(self.distances) - 1)])
        trains = range(len(self.distances))
        for order in (trains, trains[::-1]):
            if self._is_optimal(tops):
                return
            self._update_best(self._greedy(order))
        if not self._is_optimal(tops) and not self._try_short_lists(tops):
            self._search_with_prices()

    def _best_route(self, train: int, blocked: int, floor: int) -> CandidateRoute | None:
        """The best route of a train with a net revenue above `floor`, without `blocked` bits; or None."""
        self.current_train = train
        key = self.distances[train], blocked, floor
        if self.search.price_scale > 1:
            route = self.search.find_best(*key)
        elif key in self.search_results:
            return self.search_results[key]
        else:
            route = self.search_results[key] = self.search.find_best(*key)
        if route:
            stop_count = len(route.arms[0]) + len(route.arms[1]) + 1
            for distance, known in self.known_routes.items():
                if _max_stops(distance) >= stop_count and (
                    route.hexsides not in known or known[route.hexsides].revenue < route.revenue
                ):
                    known[route.hexsides] = route
        return route

    def _update_best(self, routes: RouteSet) -> None:
        if _total_revenue(routes) > self.best_revenue:
            self.best_set, self.best_revenue = routes, _total_revenue(routes)

    def _upper_bound(self, tops: Mapping[int | None, int]) -> int:
        """An upper bound on any set, in parts of a dollar. `tops`: the most that each type of train nets."""
        return self.search.prices.max_total + sum(count * tops[d] for d, count in self.counts.items())

    def _is_optimal(self, tops: Mapping[int | None, int]) -> bool:
        """Whether no set can earn more than the best so far."""
        self.bound = min(self.bound, self._upper_bound(tops) // self.search.price_scale)
        return self.bound < self.best_revenue + self.search.revenue_step

    def _greedy(self, order: Sequence[int]) -> RouteSet:
        """A set in which each train, in that order, gets the best route of what the earlier ones leave."""
        route_set: RouteSet = [None] * len(order)
        blocked = self.blocked
        for i in order:
            route = route_set[i] = self._best_route(i, blocked, 0)
            blocked |= route.hexsides if route else 0
        return route_set

    def _greedy_within_reserve(self) -> RouteSet:
        """A greedy set, longest train first, for which half of the reserve is shared equally."""
        route_set: RouteSet = []
        share = self.reserve // 2 // len(self.distances)
        blocked = self.blocked
        self.search.set_prices(NO_PRICES)
        for distance in self.distances:
            self.budget.remaining = share
            with suppress(BudgetExhaustedError):
                self.search.find_best(distance, blocked, 0)
            self.reserve -= share - max(self.budget.remaining, 0)
            route_set.append(route := self.search.best)
            blocked |= route.hexsides if route else 0
        return route_set

    def _improve(self, route_set: RouteSet) -> None:
        """Replace each route in turn by the best one that the others leave. Raises BudgetExhaustedError."""
        train = idle = 0
        while idle < len(route_set):
            own, blocked = route_set[train], self.blocked
            for i, route in enumerate(route_set):
                blocked |= route.hexsides if route and i != train else 0
            better = self.search.find_best(self.distances[train], blocked, own.revenue if own else 0)
            idle = 0 if better else idle + 1
            route_set[train] = better or own
            self._update_best(list(route_set))
            train = (train + 1) % len(route_set)

    # -- prices ------------------------------------------------------------------------

    def _search_with_prices(self) -> None:
        """Find prices, and with them the best set."""
        search, trains = self.search, range(len(self.distances))
        program = LinearProgram(self.hexside_count, self.max_passes, list(self.counts.values()))
        lowest: tuple[int, DualPrices, dict[int | None, int]] | None = None
        added: set[tuple[int, CandidateRoute]] = set()
        while self._add_new_routes(program, added) or not lowest:
            self.budget.spend(self.hexside_count * program.solve())
            prices = program.prices()
            search.set_prices(prices)
            tops = {distance: self._best_net_revenue(distance) for distance in self.counts}
            if self._is_optimal(tops):
                return
            if lowest is None or self._upper_bound(tops) < lowest[0]:
                lowest = self._upper_bound(tops), prices, tops
                self._update_best(self._greedy(trains))
        _, prices, tops = lowest
        search.set_prices(prices)
        self._combine({distance: RouteList(self._repriced(distance)) for distance in self.counts})
        if not self._is_optimal(tops):
            self._combine(self._list_candidates(tops))

    def _add_new_routes(self, program: LinearProgram, added: set[tuple[int, CandidateRoute]]) -> bool:
        """Add newly found routes to the linear program. Returns whether there were any."""
        old_count = len(added)
        for train_type, known in enumerate(self.known_routes.values()):
            for route in known.values():
                if (train_type, route) not in added:
                    added.add((train_type, route))
                    passed = self.search.passed_stops(route.token, *route.arms)
                    program.add_route(train_type, route.hexsides, passed, route.revenue)
        return len(added) > old_count

    def _best_net_revenue(self, distance: int | None) -> int:
        """The most that a train nets at the present prices. Its route is among the known ones afterwards."""
        best_known = max([0, *(route.net_revenue for route in self._repriced(distance))])
        route = self._best_route(self.distances.index(distance), self.blocked, best_known)
        return route.net_revenue if route else best_known

    def _repriced(self, distance: int | None) -> Iterator[CandidateRoute]:
        """The known routes with their net revenues at the present prices."""
        search = self.search
        for route in self.known_routes[distance].values():
            paid = search.price_of(route.hexsides, search.passed_stops(route.token, *route.arms))
            yield msgspec.structs.replace(route, net_revenue=search.price_scale * route.revenue - paid)

    # -- lists -------------------------------------------------------------------------

    def _try_short_lists(self, tops: Mapping[int | None, int]) -> bool:
        """Try to find the best set without prices at little cost. Returns whether that succeeded."""
        kept_back = max(self.budget.remaining - LISTING_BUDGET, 0)
        self.budget.remaining -= kept_back
        try:
            if len(self.distances) == 2:
                self._search_two_trains(tops)
            else:
                self._combine(self._list_candidates(tops))
        except BudgetExhaustedError:
            if not kept_back:
                raise
            self.budget.remaining = 0
            return False
        finally:
            self.budget.remaining += kept_back
        return True

    def _search_two_trains(self, tops: Mapping[int | None, int]) -> None:
        """Find the best routes of two trains.

        The routes of the shorter train that can be part of a better set are listed, and the other train is
        searched with them as partners. Of two equal trains, one falls short of its best route by half the
        gap at most.
        """
        longer, shorter = self.distances
        gap = self._upper_bound(tops) - self._least_improvement()
        shortfall = gap // 2 if longer == shorter else gap
        routes: list[CandidateRoute] = []
        self.search.find_best(shorter, self.blocked, tops[shorter] - shortfall - 1, routes)
        route = self.search.find_best(
            longer, self.blocked, self._least_improvement() - 1, partners=RouteList(routes)
        )
        self._update_best([route, self.search.best_partner])

    def _list_candidates(self, tops: Mapping[int | None, int]) -> dict[int | None, RouteList]:
        """All routes that can be part of a better set, by distance of their train."""
        lists: dict[int | None, RouteList] = {}
        gap = self._upper_bound(tops) - self._least_improvement()
        for distance, top in tops.items():
            routes: list[CandidateRoute] = []
            self.search.find_best(distance, self.blocked, top - gap - 1, routes)
            lists[distance] = RouteList(routes)
        return lists

    def _least_improvement(self) -> int:
        """The least that a better set than the best so far earns, in parts of a dollar."""
        return self.search.price_scale * (self.best_revenue + self.search.revenue_step)

    def _combine(self, lists: Mapping[int | None, RouteList]) -> None:
        """Try all sets from those lists that can be better than the best so far."""
        distances, spend, max_paid = self.distances, self.budget.spend, self.search.prices.max_total
        count = len(distances)
        # By train: how many of its type follow, itself included; and the most that the trains from it on net.
        same_type = [distances[k:].count(distances[k]) for k in range(count)]
        rest_bounds = [0] * (count + 1)
        for k in range(count - 1, -1, -1):
            route_list = lists[distances[k]]
            top = max(route_list.routes[0].net_revenue, 0) if route_list.routes else 0
            rest_bounds[k] = rest_bounds[k + 1] + top
        route_set: RouteSet = [None] * count

        def pack(k: int, used: int, net: int, revenue: int, start: int) -> None:
            """Choose routes for the trains from the k-th on, of its list from index `start`."""
            if revenue > self.best_revenue:
                self._update_best(list(route_set))
            if k == count:
                return
            route_list, alike = lists[distances[k]], same_type[k]
            spend(1 + len(route_list.routes) // 1000)
            others = max_paid + net + rest_bounds[k + alike]
            least_net = self._least_improvement() - others
            for index in route_list.iter_compatible(used, start, min(-(-least_net // alike), least_net)):
                route = route_list.routes[index]
                if (
                    route.net_revenue + max(route.net_revenue, 0) * (alike - 1)
                    < self._least_improvement() - others
                ):
                    break
                route_set[k] = route
                next_start = index + 1 if alike > 1 else 0
                pack(
                    k + 1, used | route.hexsides, net + route.net_revenue, revenue + route.revenue, next_start
                )
            route_set[k] = None
            if k + alike < count and others >= self._least_improvement():
                pack(k + alike, used, net, revenue, 0)

        pack(0, self.blocked, 0, 0, 0)


def best_connecting_set(
    graph: RouteGraph,
    goal_graph: RouteGraph,
    rules: RevenueRules,
    budget: int,
    distances: Sequence[int | None],
    pair: tuple[int, int],
) -> tuple[RouteSet, int]:
    """Like `RouteSetSearch.find_best`, for a set in which one route connects two stops.

    `pair`: the numbers of the stops in the network; the first has a token of the company. `goal_graph`:
    the graph with the second stop worth GOAL_BONUS more. For each distance of a train that could make the
    connection, the connecting routes are tried highest first, each with the best set of the other
    trains, until the rest cannot earn more. Without any connecting route the set is empty.
    """
    home, goal = (graph.stops.index(s) if s in graph.stops else -1 for s in pair)
    best: RouteSet = [None] * len(distances)
    bound = 0
    if home < 0 or goal < 0:
        return best, 0
    others_search = RouteSetSearch(graph, rules, budget)
    for distance in sorted(set(distances), key=_max_stops, reverse=True):
        train = distances.index(distance)
        others = [other for i, other in enumerate(distances) if i != train]
        _, others_best = others_search.find_best(others)
        search = RouteSearch(goal_graph, rules, NodeBudget(budget), (home, goal))
        try:
            first = search.find_best(distance, 0, GOAL_BONUS)
        except BudgetExhaustedError:
            first = search.best
            bound = max(bound, others_best + search.area_count * max(graph.values, default=0))
        if first is None:
            continue
        bound = max(bound, first.revenue - GOAL_BONUS + others_best) if search.budget.remaining < 0 else bound
        for route in _connecting_routes(
            search, others_search, distance, first, others, others_best, _total_revenue(best)
        ):
            if route.revenue + others_best <= _total_revenue(best):
                break
            rest, _ = others_search.find_best(others, route.hexsides)
            if route.revenue + _total_revenue(rest) > _total_revenue(best):
                best = [*rest[:train], route, *rest[train:]]
        if others_search.budget.remaining < 0 or search.budget.remaining < 0:
            bound = max(bound, first.revenue - GOAL_BONUS + others_best)
    return best, max(bound, _total_revenue(best))


def _connecting_routes(
    search: RouteSearch,
    others_search: RouteSetSearch,
    distance: int | None,
    first: CandidateRoute,
    others: Sequence[int | None],
    others_best: int,
    best_revenue: int,
) -> list[CandidateRoute]:
    """The connecting routes that can be part of a best set, highest first."""
    rest, _ = others_search.find_best(others, first.hexsides)
    best_revenue = max(best_revenue, first.revenue - GOAL_BONUS + _total_revenue(rest))
    routes = [first]
    if first.revenue - GOAL_BONUS + others_best > best_revenue:
        with suppress(BudgetExhaustedError):
            search.find_best(distance, 0, best_revenue - others_best + GOAL_BONUS, routes)
    actual = {
        (route.hexsides, route.token, route.arms): msgspec.structs.replace(
            route, revenue=route.revenue - GOAL_BONUS
        )
        for route in routes
    }
    return sorted(
        actual.values(), key=lambda route: (-route.revenue, route.hexsides, route.token, route.arms)
    )


def _max_stops(distance: int | None) -> int:
    return 1 << 30 if distance is None else distance


def _total_revenue(route_set: RouteSet) -> int:
    return sum(route.revenue for route in route_set if route)
