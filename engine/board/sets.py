"""The search for the best set of routes, one for each train.

Theory of operation
-------------------
No two routes of a set use the same hexside. Let each shared hexside have a price, and let every route
pay for those that it uses. Then a set earns what its routes net, and what they have paid; that is never
more than the most that each train can net on its own, and the prices of all hexsides. This bound holds
for any prices, and the search for one train finds it (`engine.board.search`). The same is true of a toll
on passing through a stop, times how many routes can pass through it.

1. At no prices, the bound is what the trains would earn each on a map of its own. A first set is found
   greedily; often it earns as much.
2. Otherwise prices are found in turns: the best fractions of the routes met so far give prices
   (`engine.board.prices`), at which the search looks for routes that net more than those; until there
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

from engine.board.chains import Graph, Terms
from engine.board.prices import Prices, Programme
from engine.board.search import FREE, Budget, Exhausted, Listed, Path, Search

SHORT = 100_000
"""Nodes that the lists may cost before prices are found."""

PULL = 1_000_000
"""Dollars that a stop is made to be worth where a route has to visit it."""

Chosen = list[Path | None]
"""A route or none for each train."""


class Sets:
    """The search for sets on one graph; `budget` is what remains, `spare` a quarter of it beside that,
    for finding some set where the search for the best has failed."""

    def __init__(self, graph: Graph, terms: Terms, budget: int) -> None:
        self.budget = Budget(budget)
        self.spare = budget // 4
        self.search = Search(graph, terms, self.budget)
        self.width = graph.bits.bit_length()
        # By stop with an odd number of exits how many routes may pass through it.
        self.passes: dict[int, int] = {}
        for u, links in enumerate(graph.links[: graph.passed]):
            exits = len({link.runs[0][2] for link in links})
            if exits > 1 and exits % 2:
                self.passes[u] = exits // 2
        self.worth = sum(self.search.worth.values())

    def best(self, distances: Sequence[int | None], closed: int = 0) -> tuple[Chosen, int]:
        """The best set of routes, clear of the closed bits, and a bound on what any set earns."""
        order = sorted(range(len(distances)), key=lambda i: -_length(distances[i]))
        self.distances = [distances[i] for i in order]
        self.counts = Counter(self.distances)
        self.closed = closed
        self.chosen: Chosen = [None] * len(order)
        self.earned = 0
        self.bound = self.worth * len(order)
        self.met: dict[int | None, dict[int, Path]] = {distance: {} for distance in self.counts}
        self.answers: dict[tuple[int | None, int, int], Path | None] = {}
        if self.search.parts > 1:
            self.search.price(FREE)
        try:
            self._find()
            self.bound = self.earned
        except Exhausted:
            if path := self.search.found:
                self._better([path if i == self.tried else None for i in range(len(order))])
            hasty = self._hasty()
            self._better(hasty)
            self.budget.left = self.spare
            with suppress(Exhausted):
                for paths in (hasty, self.chosen):
                    self._mend(list(paths))
            self.budget.left, self.spare = -1, 0
        return [self.chosen[order.index(i)] for i in range(len(order))], self.bound

    def _find(self) -> None:
        """Find the best set. Raises Exhausted."""
        tops: dict[int | None, int] = {}
        path = None
        for distance in reversed(self.counts):
            # No longer train earns less.
            path = self._one(self.distances.index(distance), self.closed, path.net if path else 0) or path
            self.answers[distance, self.closed, 0] = path
            tops[distance] = path.net if path else 0
        self._better([path, *[None] * (len(self.distances) - 1)])
        trains = range(len(self.distances))
        for order in (trains, trains[::-1]):
            if self._proven(tops):
                return
            self._better(self._greedy(order))
        if not self._proven(tops) and not self._hardly(tops):
            self._priced()

    def _one(self, train: int, closed: int, floor: int) -> Path | None:
        """The best route of a train that nets more than that, clear of those bits; it has been met then."""
        self.tried = train
        asked = self.distances[train], closed, floor
        if self.search.parts > 1:
            path = self.search.one(*asked)
        elif asked in self.answers:
            return self.answers[asked]
        else:
            path = self.answers[asked] = self.search.one(*asked)
        if path:
            stops = len(path.arms[0]) + len(path.arms[1]) + 1
            for distance, met in self.met.items():
                if _length(distance) >= stops and (
                    path.bits not in met or met[path.bits].revenue < path.revenue
                ):
                    met[path.bits] = path
        return path

    def _better(self, paths: Chosen) -> None:
        if _total(paths) > self.earned:
            self.chosen, self.earned = paths, _total(paths)

    def _most(self, tops: Mapping[int | None, int]) -> int:
        """The most that any set earns, in parts, where the trains net no more than that at the prices."""
        return self.search.prices.most + sum(count * tops[d] for d, count in self.counts.items())

    def _proven(self, tops: Mapping[int | None, int]) -> bool:
        """Whether then no set earns more than the best so far."""
        self.bound = min(self.bound, self._most(tops) // self.search.parts)
        return self.bound < self.earned + self.search.grain

    def _greedy(self, order: Sequence[int]) -> Chosen:
        """A set with each train in that order given its best of what is left."""
        chosen: Chosen = [None] * len(order)
        closed = self.closed
        for i in order:
            path = chosen[i] = self._one(i, closed, 0)
            closed |= path.bits if path else 0
        return chosen

    def _hasty(self) -> Chosen:
        """A set for which each train in turn, the longest first, has got the best of what is left that is
        found with a share of half of what is spare."""
        chosen: Chosen = []
        share = self.spare // 2 // len(self.distances)
        closed = self.closed
        self.search.price(FREE)
        for distance in self.distances:
            self.budget.left = share
            with suppress(Exhausted):
                self.search.one(distance, closed, 0)
            self.spare -= share - max(self.budget.left, 0)
            chosen.append(path := self.search.found)
            closed |= path.bits if path else 0
        return chosen

    def _mend(self, chosen: Chosen) -> None:
        """Give each train of a set in turn the best of what the others leave. Raises Exhausted."""
        train = idle = 0
        while idle < len(chosen):
            mine, others = chosen[train], self.closed
            for i, path in enumerate(chosen):
                others |= path.bits if path and i != train else 0
            better = self.search.one(self.distances[train], others, mine.revenue if mine else 0)
            idle = 0 if better else idle + 1
            chosen[train] = better or mine
            self._better(list(chosen))
            train = (train + 1) % len(chosen)

    # -- prices ------------------------------------------------------------------------

    def _priced(self) -> None:
        """Find prices, and with them the best set."""
        search, trains = self.search, range(len(self.distances))
        programme = Programme(self.width, self.passes, list(self.counts.values()))
        lowest: tuple[int, Prices, dict[int | None, int]] | None = None
        known: set[tuple[int, Path]] = set()
        while self._told(programme, known) or not lowest:
            self.budget.spend(self.width * programme.solve())
            prices = programme.prices()
            search.price(prices)
            tops = {distance: self._top(distance) for distance in self.counts}
            if self._proven(tops):
                return
            if lowest is None or self._most(tops) < lowest[0]:
                lowest = self._most(tops), prices, tops
                self._better(self._greedy(trains))
        _, prices, tops = lowest
        search.price(prices)
        self._combine({distance: Listed(self._as_priced(distance)) for distance in self.counts})
        if not self._proven(tops):
            self._combine(self._lists(tops))

    def _told(self, programme: Programme, known: set[tuple[int, Path]]) -> bool:
        """Whether there are routes that the programme did not know."""
        before = len(known)
        for kind, met in enumerate(self.met.values()):
            for path in met.values():
                if (kind, path) not in known:
                    known.add((kind, path))
                    passed = self.search.passed(path.token, *path.arms)
                    programme.add(kind, path.bits, passed, path.revenue)
        return len(known) > before

    def _top(self, distance: int | None) -> int:
        """The most that a train nets at the prices; the route that does has been met then."""
        known = max([0, *(path.net for path in self._as_priced(distance))])
        path = self._one(self.distances.index(distance), self.closed, known)
        return path.net if path else known

    def _as_priced(self, distance: int | None) -> Iterator[Path]:
        """The routes that were met, at the prices as they are now."""
        search = self.search
        for path in self.met[distance].values():
            paid = search.paid(path.bits, search.passed(path.token, *path.arms))
            yield msgspec.structs.replace(path, net=search.parts * path.revenue - paid)

    # -- lists -------------------------------------------------------------------------

    def _hardly(self, tops: Mapping[int | None, int]) -> bool:
        """Whether the best set is found without prices at hardly any cost."""
        kept = max(self.budget.left - SHORT, 0)
        self.budget.left -= kept
        try:
            if len(self.distances) == 2:
                self._pair(tops)
            else:
                self._combine(self._lists(tops))
        except Exhausted:
            if not kept:
                raise
            self.budget.left = 0
            return False
        finally:
            self.budget.left += kept
        return True

    def _pair(self, tops: Mapping[int | None, int]) -> None:
        """Find the best routes of two trains: those of the shorter one that can be part of a better set are
        listed, and the other finds its way beside them. Of two alike one falls short of the top by no more
        than half of what both may."""
        longer, shorter = self.distances
        gap = self._most(tops) - self._least()
        short = gap // 2 if longer == shorter else gap
        sink: list[Path] = []
        self.search.one(shorter, self.closed, tops[shorter] - short - 1, sink)
        path = self.search.one(longer, self.closed, self._least() - 1, beside=Listed(sink))
        self._better([path, self.search.other])

    def _lists(self, tops: Mapping[int | None, int]) -> dict[int | None, Listed]:
        """All routes that can be part of a better set than the best so far."""
        lists: dict[int | None, Listed] = {}
        gap = self._most(tops) - self._least()
        for distance, top in tops.items():
            sink: list[Path] = []
            self.search.one(distance, self.closed, top - gap - 1, sink)
            lists[distance] = Listed(sink)
        return lists

    def _least(self) -> int:
        """What a better set than the best so far earns at least, in parts."""
        return self.search.parts * (self.earned + self.search.grain)

    def _combine(self, lists: Mapping[int | None, Listed]) -> None:
        """Try all sets from those lists that may be better than the best so far."""
        distances, spend, paid = self.distances, self.budget.spend, self.search.prices.most
        count = len(distances)
        # By train how many of its kind there are from it on, and what those of later kinds net at most.
        same = [distances[k:].count(distances[k]) for k in range(count)]
        rest = [0] * (count + 1)
        for k in range(count - 1, -1, -1):
            listed = lists[distances[k]]
            top = max(listed.paths[0].net, 0) if listed.paths else 0
            rest[k] = rest[k + 1] + top
        chosen: Chosen = [None] * count

        def pack(k: int, used: int, net: int, dollars: int, start: int) -> None:
            """Trains from the k-th on; of its kind the routes before `start` are others' turn."""
            if dollars > self.earned:
                self._better(list(chosen))
            if k == count:
                return
            listed, alike = lists[distances[k]], same[k]
            spend(1 + len(listed.paths) // 1000)
            others = paid + net + rest[k + alike]
            least = self._least() - others
            for at in listed.clear_of(used, start, min(-(-least // alike), least)):
                path = listed.paths[at]
                if path.net + max(path.net, 0) * (alike - 1) < self._least() - others:
                    break
                chosen[k] = path
                later = at + 1 if alike > 1 else 0
                pack(k + 1, used | path.bits, net + path.net, dollars + path.revenue, later)
            chosen[k] = None
            if k + alike < count and others >= self._least():
                pack(k + alike, used, net, dollars, 0)

        pack(0, self.closed, 0, 0, 0)


def joined_set(
    graph: Graph,
    drawn: Graph,
    terms: Terms,
    budget: int,
    distances: Sequence[int | None],
    pair: tuple[int, int],
) -> tuple[Chosen, int]:
    """As `Sets.best`, one route of the set going from the first stop of the pair to the second
    (numbers in the network).

    `drawn` is the graph with the second stop worth PULL more; the first has a token. For each length of
    train that could be the one, the routes that join the stops are taken highest first, each with the
    best of the other trains clear of it, until what is left cannot earn more. Without any such route the
    set is empty.
    """
    home, goal = (graph.stops.index(s) if s in graph.stops else -1 for s in pair)
    best: Chosen = [None] * len(distances)
    bound = 0
    if home < 0 or goal < 0:
        return best, 0
    free = Sets(graph, terms, budget)
    for distance in sorted(set(distances), key=_length, reverse=True):
        at = distances.index(distance)
        others = [d for i, d in enumerate(distances) if i != at]
        _, top = free.best(others)
        joiner = Search(drawn, terms, Budget(budget), (home, goal))
        try:
            first = joiner.one(distance, 0, PULL)
        except Exhausted:
            first = joiner.found
            bound = max(bound, top + joiner.most * max(graph.value, default=0))
        if first is None:
            continue
        bound = max(bound, first.revenue - PULL + top) if joiner.budget.left < 0 else bound
        for path in _joining(joiner, free, distance, first, others, top, _total(best)):
            if path.revenue + top <= _total(best):
                break
            rest, _ = free.best(others, path.bits)
            if path.revenue + _total(rest) > _total(best):
                best = [*rest[:at], path, *rest[at:]]
        if free.budget.left < 0 or joiner.budget.left < 0:
            bound = max(bound, first.revenue - PULL + top)
    return best, max(bound, _total(best))


def _joining(
    joiner: Search,
    free: Sets,
    distance: int | None,
    first: Path,
    others: Sequence[int | None],
    top: int,
    reached: int,
) -> list[Path]:
    """The joining routes that can be part of a best set, highest first."""
    rest, _ = free.best(others, first.bits)
    reached = max(reached, first.revenue - PULL + _total(rest))
    paths = [first]
    if first.revenue - PULL + top > reached:
        with suppress(Exhausted):
            joiner.one(distance, 0, reached - top + PULL, paths)
    plain = {(p.bits, p.token, p.arms): msgspec.structs.replace(p, revenue=p.revenue - PULL) for p in paths}
    return sorted(plain.values(), key=lambda path: (-path.revenue, path.bits, path.token, path.arms))


def _length(distance: int | None) -> int:
    return 1 << 30 if distance is None else distance


def _total(paths: Chosen) -> int:
    return sum(path.revenue for path in paths if path)
