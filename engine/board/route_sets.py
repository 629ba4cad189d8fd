"""The search for the best set of routes, one for each train.

Theory of operation
-------------------
No two routes of a set use the same hexside. Let each shared hexside have a price, and let every route
pay for those that it uses. Then a set earns what its routes net, and what they have paid; that is never
more than the most that each train can net on its own, and the prices of all hexsides. This bound holds
for any prices, and the search for one train finds it (`engine.board.route_search`). The same is true of a
toll on passing through a stop, times how many routes can pass through it.

1. At no prices, the bound is what the trains would earn each on a map of its own. A first set is found
   greedily; often it earns as much.
2. Otherwise prices are found in turns: the best fractions of the routes met so far give prices
   (`engine.board.dual_prices`), at which the search looks for routes that net more than those; until there
   are none. The bound falls from turn to turn, mostly to little more than the best set earns.
3. What the bound exceeds the best set by leaves each train a gap: only routes that net more than its
   best one less the gap can be part of a better set. These are listed by the same search with that
   floor, and the lists are combined depth first, highest first; which routes of a list are still free
   is worked out for the whole list at once, with a bit for each route.

Short lists are sooner gone through than prices are found, so that is tried first. Of two trains only
the routes of one are listed: the other is searched beside them, and what it may still net counts the
best route of the list that it leaves free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from engine.board.dual_prices import DualPrices, LinearProgram
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
"""Nodes that the lists may cost before prices are found."""

GOAL_BONUS = 1_000_000
"""Dollars that a stop is made to be worth where a route has to visit it."""

RouteSet = list[CandidateRoute | None]
"""A route or none for each train."""


class RouteSetSearch:
    """The search for sets on one graph; `budget` is what remains, `spare` a quarter of it beside that,
    for finding some set where the search for the best has failed."""

    def __init__(self, graph: RouteGraph, terms: RevenueRules, budget: int) -> None:
        self.budget = NodeBudget(budget)
        self.reserve = budget // 4
        self.search = RouteSearch(graph, terms, self.budget)
        self.hexside_count = graph.hexside_mask.bit_length()
        # By stop with an odd number of exits how many routes may pass through it.
        self.max_passes: dict[int, int] = {}
        for u, links in enumerate(graph.links[: graph.passable_count]):
            exits = len({link.segments[0][2] for link in links})
            if exits > 1 and exits % 2:
                self.max_passes[u] = exits // 2
        self.max_revenue = sum(self.search.area_revenue.values())

    def find_best(self, distances: Sequence[int | None], closed: int = 0) -> tuple[RouteSet, int]:
        """The best set of routes, clear of the closed bits, and a bound on what any set earns."""
        order = sorted(range(len(distances)), key=lambda i: -_max_stops(distances[i]))
        self.distances = [distances[i] for i in order]
        self.counts = Counter(self.distances)
        self.blocked = closed
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
            if path := self.search.best:
                self._update_best([path if i == self.current_train else None for i in range(len(order))])
            hasty = self._greedy_within_reserve()
            self._update_best(hasty)
            self.budget.remaining = self.reserve
            with suppress(BudgetExhaustedError):
                for paths in (hasty, self.best_set):
                    self._improve(list(paths))
            self.budget.remaining, self.reserve = -1, 0
        return [self.best_set[order.index(i)] for i in range(len(order))], self.bound

    def _search_all(self) -> None:
        """Find the best set. Raises Exhausted."""
        tops: dict[int | None, int] = {}
        path = None
        for distance in reversed(self.counts):
            # No longer train earns less.
            path = (
                self._best_route(
                    self.distances.index(distance), self.blocked, path.net_revenue if path else 0
                )
                or path
            )
            self.search_results[distance, self.blocked, 0] = path
            tops[distance] = path.net_revenue if path else 0
        self._update_best([path, *[None] * (len(self.distances) - 1)])
        trains = range(len(self.distances))
        for order in (trains, trains[::-1]):
            if self._is_optimal(tops):
                return
            self._update_best(self._greedy(order))
        if not self._is_optimal(tops) and not self._try_short_lists(tops):
            self._search_with_prices()

    def _best_route(self, train: int, closed: int, floor: int) -> CandidateRoute | None:
        """The best route of a train that nets more than that, clear of those bits; it has been met then."""
        self.current_train = train
        asked = self.distances[train], closed, floor
        if self.search.price_scale > 1:
            path = self.search.find_best(*asked)
        elif asked in self.search_results:
            return self.search_results[asked]
        else:
            path = self.search_results[asked] = self.search.find_best(*asked)
        if path:
            stops = len(path.arms[0]) + len(path.arms[1]) + 1
            for distance, met in self.known_routes.items():
                if _max_stops(distance) >= stops and (
                    path.hexsides not in met or met[path.hexsides].revenue < path.revenue
                ):
                    met[path.hexsides] = path
        return path

    def _update_best(self, paths: RouteSet) -> None:
        if _total_revenue(paths) > self.best_revenue:
            self.best_set, self.best_revenue = paths, _total_revenue(paths)

    def _upper_bound(self, tops: Mapping[int | None, int]) -> int:
        """The most that any set earns, in parts, where the trains net no more than that at the prices."""
        return self.search.prices.max_total + sum(count * tops[d] for d, count in self.counts.items())

    def _is_optimal(self, tops: Mapping[int | None, int]) -> bool:
        """Whether then no set earns more than the best so far."""
        self.bound = min(self.bound, self._upper_bound(tops) // self.search.price_scale)
        return self.bound < self.best_revenue + self.search.revenue_step

    def _greedy(self, order: Sequence[int]) -> RouteSet:
        """A set with each train in that order given its best of what is left."""
        chosen: RouteSet = [None] * len(order)
        closed = self.blocked
        for i in order:
            path = chosen[i] = self._best_route(i, closed, 0)
            closed |= path.hexsides if path else 0
        return chosen

    def _greedy_within_reserve(self) -> RouteSet:
        """A set for which each train in turn, the longest first, has got the best of what is left that is
        found with a share of half of what is spare."""
        chosen: RouteSet = []
        share = self.reserve // 2 // len(self.distances)
        closed = self.blocked
        self.search.set_prices(NO_PRICES)
        for distance in self.distances:
            self.budget.remaining = share
            with suppress(BudgetExhaustedError):
                self.search.find_best(distance, closed, 0)
            self.reserve -= share - max(self.budget.remaining, 0)
            chosen.append(path := self.search.best)
            closed |= path.hexsides if path else 0
        return chosen

    def _improve(self, chosen: RouteSet) -> None:
        """Give each train of a set in turn the best of what the others leave. Raises Exhausted."""
        train = idle = 0
        while idle < len(chosen):
            mine, others = chosen[train], self.blocked
            for i, path in enumerate(chosen):
                others |= path.hexsides if path and i != train else 0
            better = self.search.find_best(self.distances[train], others, mine.revenue if mine else 0)
            idle = 0 if better else idle + 1
            chosen[train] = better or mine
            self._update_best(list(chosen))
            train = (train + 1) % len(chosen)

    # -- prices ------------------------------------------------------------------------

    def _search_with_prices(self) -> None:
        """Find prices, and with them the best set."""
        search, trains = self.search, range(len(self.distances))
        programme = LinearProgram(self.hexside_count, self.max_passes, list(self.counts.values()))
        lowest: tuple[int, DualPrices, dict[int | None, int]] | None = None
        known: set[tuple[int, CandidateRoute]] = set()
        while self._add_new_routes(programme, known) or not lowest:
            self.budget.spend(self.hexside_count * programme.solve())
            prices = programme.prices()
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

    def _add_new_routes(self, programme: LinearProgram, known: set[tuple[int, CandidateRoute]]) -> bool:
        """Whether there are routes that the programme did not know."""
        before = len(known)
        for kind, met in enumerate(self.known_routes.values()):
            for path in met.values():
                if (kind, path) not in known:
                    known.add((kind, path))
                    passed = self.search.passed_stops(path.token, *path.arms)
                    programme.add_route(kind, path.hexsides, passed, path.revenue)
        return len(known) > before

    def _best_net_revenue(self, distance: int | None) -> int:
        """The most that a train nets at the prices; the route that does has been met then."""
        known = max([0, *(path.net_revenue for path in self._repriced(distance))])
        path = self._best_route(self.distances.index(distance), self.blocked, known)
        return path.net_revenue if path else known

    def _repriced(self, distance: int | None) -> Iterator[CandidateRoute]:
        """The routes that were met, at the prices as they are now."""
        search = self.search
        for path in self.known_routes[distance].values():
            paid = search.price_of(path.hexsides, search.passed_stops(path.token, *path.arms))
            yield msgspec.structs.replace(path, net_revenue=search.price_scale * path.revenue - paid)

    # -- lists -------------------------------------------------------------------------

    def _try_short_lists(self, tops: Mapping[int | None, int]) -> bool:
        """Whether the best set is found without prices at hardly any cost."""
        kept = max(self.budget.remaining - LISTING_BUDGET, 0)
        self.budget.remaining -= kept
        try:
            if len(self.distances) == 2:
                self._search_two_trains(tops)
            else:
                self._combine(self._list_candidates(tops))
        except BudgetExhaustedError:
            if not kept:
                raise
            self.budget.remaining = 0
            return False
        finally:
            self.budget.remaining += kept
        return True

    def _search_two_trains(self, tops: Mapping[int | None, int]) -> None:
        """Find the best routes of two trains: those of the shorter one that can be part of a better set are
        listed, and the other finds its way beside them. Of two alike one falls short of the top by no more
        than half of what both may."""
        longer, shorter = self.distances
        gap = self._upper_bound(tops) - self._least_improvement()
        short = gap // 2 if longer == shorter else gap
        sink: list[CandidateRoute] = []
        self.search.find_best(shorter, self.blocked, tops[shorter] - short - 1, sink)
        path = self.search.find_best(
            longer, self.blocked, self._least_improvement() - 1, beside=RouteList(sink)
        )
        self._update_best([path, self.search.best_partner])

    def _list_candidates(self, tops: Mapping[int | None, int]) -> dict[int | None, RouteList]:
        """All routes that can be part of a better set than the best so far."""
        lists: dict[int | None, RouteList] = {}
        gap = self._upper_bound(tops) - self._least_improvement()
        for distance, top in tops.items():
            sink: list[CandidateRoute] = []
            self.search.find_best(distance, self.blocked, top - gap - 1, sink)
            lists[distance] = RouteList(sink)
        return lists

    def _least_improvement(self) -> int:
        """What a better set than the best so far earns at least, in parts."""
        return self.search.price_scale * (self.best_revenue + self.search.revenue_step)

    def _combine(self, lists: Mapping[int | None, RouteList]) -> None:
        """Try all sets from those lists that may be better than the best so far."""
        distances, spend, paid = self.distances, self.budget.spend, self.search.prices.max_total
        count = len(distances)
        # By train how many of its kind there are from it on, and what those of later kinds net at most.
        same = [distances[k:].count(distances[k]) for k in range(count)]
        rest = [0] * (count + 1)
        for k in range(count - 1, -1, -1):
            listed = lists[distances[k]]
            top = max(listed.routes[0].net_revenue, 0) if listed.routes else 0
            rest[k] = rest[k + 1] + top
        chosen: RouteSet = [None] * count

        def pack(k: int, used: int, net: int, dollars: int, start: int) -> None:
            """Trains from the k-th on; of its kind the routes before `start` are others' turn."""
            if dollars > self.best_revenue:
                self._update_best(list(chosen))
            if k == count:
                return
            listed, alike = lists[distances[k]], same[k]
            spend(1 + len(listed.routes) // 1000)
            others = paid + net + rest[k + alike]
            least = self._least_improvement() - others
            for at in listed.iter_compatible(used, start, min(-(-least // alike), least)):
                path = listed.routes[at]
                if (
                    path.net_revenue + max(path.net_revenue, 0) * (alike - 1)
                    < self._least_improvement() - others
                ):
                    break
                chosen[k] = path
                later = at + 1 if alike > 1 else 0
                pack(k + 1, used | path.hexsides, net + path.net_revenue, dollars + path.revenue, later)
            chosen[k] = None
            if k + alike < count and others >= self._least_improvement():
                pack(k + alike, used, net, dollars, 0)

        pack(0, self.blocked, 0, 0, 0)


def best_connecting_set(
    graph: RouteGraph,
    drawn: RouteGraph,
    terms: RevenueRules,
    budget: int,
    distances: Sequence[int | None],
    pair: tuple[int, int],
) -> tuple[RouteSet, int]:
    """As `Sets.best`, one route of the set going from the first stop of the pair to the second
    (numbers in the network).

    `drawn` is the graph with the second stop worth PULL more; the first has a token. For each length of
    train that could be the one, the routes that join the stops are taken highest first, each with the
    best of the other trains clear of it, until what is left cannot earn more. Without any such route the
    set is empty.
    """
    home, goal = (graph.stops.index(s) if s in graph.stops else -1 for s in pair)
    best: RouteSet = [None] * len(distances)
    bound = 0
    if home < 0 or goal < 0:
        return best, 0
    free = RouteSetSearch(graph, terms, budget)
    for distance in sorted(set(distances), key=_max_stops, reverse=True):
        at = distances.index(distance)
        others = [d for i, d in enumerate(distances) if i != at]
        _, top = free.find_best(others)
        joiner = RouteSearch(drawn, terms, NodeBudget(budget), (home, goal))
        try:
            first = joiner.find_best(distance, 0, GOAL_BONUS)
        except BudgetExhaustedError:
            first = joiner.best
            bound = max(bound, top + joiner.area_count * max(graph.values, default=0))
        if first is None:
            continue
        bound = max(bound, first.revenue - GOAL_BONUS + top) if joiner.budget.remaining < 0 else bound
        for path in _connecting_routes(joiner, free, distance, first, others, top, _total_revenue(best)):
            if path.revenue + top <= _total_revenue(best):
                break
            rest, _ = free.find_best(others, path.hexsides)
            if path.revenue + _total_revenue(rest) > _total_revenue(best):
                best = [*rest[:at], path, *rest[at:]]
        if free.budget.remaining < 0 or joiner.budget.remaining < 0:
            bound = max(bound, first.revenue - GOAL_BONUS + top)
    return best, max(bound, _total_revenue(best))


def _connecting_routes(
    joiner: RouteSearch,
    free: RouteSetSearch,
    distance: int | None,
    first: CandidateRoute,
    others: Sequence[int | None],
    top: int,
    reached: int,
) -> list[CandidateRoute]:
    """The joining routes that can be part of a best set, highest first."""
    rest, _ = free.find_best(others, first.hexsides)
    reached = max(reached, first.revenue - GOAL_BONUS + _total_revenue(rest))
    paths = [first]
    if first.revenue - GOAL_BONUS + top > reached:
        with suppress(BudgetExhaustedError):
            joiner.find_best(distance, 0, reached - top + GOAL_BONUS, paths)
    plain = {
        (p.hexsides, p.token, p.arms): msgspec.structs.replace(p, revenue=p.revenue - GOAL_BONUS)
        for p in paths
    }
    return sorted(plain.values(), key=lambda path: (-path.revenue, path.hexsides, path.token, path.arms))


def _max_stops(distance: int | None) -> int:
    return 1 << 30 if distance is None else distance


def _total_revenue(paths: RouteSet) -> int:
    return sum(path.revenue for path in paths if path)
