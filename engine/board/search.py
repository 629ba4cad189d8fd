"""The search for the best routes.

Theory of operation
-------------------
The search runs on chains between stops (`engine.board.chains`): one integer holds the shared hexsides
and the stops that a route has used, so that "may this chain follow" is one bit operation.

One train. Every route runs through a token. For each token in turn, with the tokens before it put out
of bounds, a first arm grows from it, and from each of its tips a second arm, begun by a chain that
comes later among the token's chains than the first arm's first. So each route is met once. A branch is
cut when a bound on what it can still earn does not exceed the best so far:

- the walk table, for trains of few stops: the most that a walk of k more stops can earn after a given
  chain when it forgets all but that chain, worked out for all k beforehand;
- the rest, for long trains: what all stops that the tips can still come to would earn together, with
  one end-stop (blocked city, off-board area) for each open tip.

Several trains. The optimum of each train alone bounds what the set can earn. A first set is found
greedily, in all orders, and mended one train at a time. It leaves each train a gap: only routes that
earn more than the set less the optima of the others can be part of a better set. These are listed by
the same search with that floor, and the lists are combined depth first, highest first; which routes of
a list are still free is worked out for the whole list at once, with a bit for each route, but for the
last train, of whose list often only few earn enough.

Nodes of the search are counted against a budget instead of the clock, so that the answer is the same
on every machine; a search that is cut short gives the best that it found and a bound.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import permutations

import msgspec

from engine.board.chains import Graph, Terms

Way = tuple[int, int, int, int, int]
"""A link as a step: bits it uses with the area it comes to, stop, dollars, its way, its bits alone.

A link is two ways, 2 x id and 2 x id + 1.
"""

_LONG = 6
"""From how many stops to come the bound by the rest is worth its cost."""


_FEW = 100
"""Routes that are looked through one by one sooner than a whole list at once."""

PULL = 1_000_000
"""Dollars that a stop is made to be worth where a route has to visit it."""


class Exhausted(Exception):
    """The budget is spent."""


class Path(msgspec.Struct, frozen=True, gc=False):
    """A route in the search: dollars, the bits of its links, its token, the ways of its two arms."""

    revenue: int
    bits: int
    token: int
    arms: tuple[tuple[int, ...], tuple[int, ...]]


class _Listed:
    """Routes for one kind of train, highest first, of those over the same bits one.

    `users`: by bit the places (as bits) of the routes that use it.
    """

    def __init__(self, paths: list[Path]) -> None:
        by_bits: dict[int, Path] = {}
        for path in sorted(paths, key=lambda path: (-path.revenue, path.bits, path.token, path.arms)):
            by_bits.setdefault(path.bits, path)
        self.paths = list(by_bits.values())
        self.falling = [-path.revenue for path in self.paths]
        self.all = (1 << len(self.paths)) - 1
        backwards = list(reversed(by_bits))
        self.users: dict[int, int] = {}
        self.union = _union(backwards)
        for bit in _bits(self.union):
            # Written in binary, since setting one bit of a long integer copies it.
            self.users[bit] = int("".join("1" if bits & bit else "0" for bits in backwards), 2)

    def first_clear_of(self, used: int, start: int, floor: int) -> Path | None:
        """The highest route from that place on that uses none of these bits and earns more than that."""
        end = bisect_left(self.falling, -floor)
        if end - start <= _FEW:
            return next((path for path in self.paths[start:end] if not path.bits & used), None)
        free = self.clear_of(used) >> start
        at = start + (free & -free).bit_length() - 1
        return self.paths[at] if free and at < end else None

    def clear_of(self, used: int) -> int:
        """The places of the routes that use none of these bits."""
        taken, users = 0, self.users
        used &= self.union
        while used:
            bit = used & -used
            taken |= users[bit]
            used ^= bit
        return self.all & ~taken


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def _union(masks: Sequence[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


class Search:
    """The search on one graph; `left` is what remains of the budget, `spare` a quarter of it beside
    that, for finding some set where the search for the best has failed.

    `pair`: only routes that begin at the first of these stops, and end where they come to the second.
    """

    def __init__(self, graph: Graph, terms: Terms, budget: int, pair: tuple[int, int] | None = None) -> None:
        self.graph = graph
        self.tokens = graph.tokens if pair is None else [pair[0]]
        self.goal = None if pair is None else pair[1]
        self.left = budget
        self.spare = budget // 4
        self.floor = 0
        self.found: Path | None = None
        self.tried: int | None = None
        self.terms = terms
        # What a stop could earn by its place in a route is earned in advance, and taken back in the end.
        self.extra = [terms.between_reds + more for more in graph.at_end]
        self.ways: list[list[Way]] = [
            [
                (link.step, link.to, link.gain + self.extra[link.to], 2 * link.id + (u > link.to), link.bits)
                for link in links
            ]
            for u, links in enumerate(graph.links)
        ]
        self.most = len(set(graph.area))
        self.walks: list[list[int]] = [[0] * (2 * graph.count)]
        # By area: which areas lie beside it, and the most that a stop in it earns.
        self.beside: dict[int, int] = {}
        self.worth: dict[int, int] = {}
        ends = set(graph.area[graph.passed :])
        for u, ways in enumerate(self.ways):
            area = graph.area[u]
            self.worth[area] = max(self.worth.get(area, 0), graph.value[u] + self.extra[u])
            if u < graph.passed:
                ends.discard(area)
                for step, *_ in ways:
                    self.beside[area] = self.beside.get(area, 0) | step & ~graph.bits
        self.ends = sorted(ends, key=lambda area: -self.worth[area])
        self.through = sum(self.beside)

    def _walk(self, more: int) -> list[int]:
        """By way the most that a walk of up to `more` stops can earn after it."""
        graph = self.graph
        while len(self.walks) <= more:
            old = self.walks[-1]
            new = [0] * (2 * graph.count)
            for u, ways in enumerate(self.ways):
                for _, to, _, way, bits in ways:
                    if to < graph.passed:
                        new[way] = max(
                            (
                                gain + old[on]
                                for _, end, gain, on, more_bits in self.ways[to]
                                if end != u and not more_bits & bits
                            ),
                            default=0,
                        )
            self.walks.append(new)
        return self.walks[more]

    def _rest(self, tips: int, used: int, open_ends: int) -> int:
        """The most that all stops to which track still leads from the tips can earn together."""
        free = ~used
        seen = 0
        earned = self.graph.passing
        todo = tips
        while todo:
            area = todo & -todo
            todo ^= area
            if not area & tips:
                earned += self.worth[area]
            new = self.beside.get(area, 0) & free & ~seen
            seen |= new
            todo |= new & self.through
        for area in self.ends:
            if not open_ends:
                break
            if area & seen:
                earned += self.worth[area]
                open_ends -= 1
        return earned

    def one(
        self, distance: int | None, closed: int, floor: int, sink: list[Path] | None = None
    ) -> Path | None:
        """The best route of a train that earns more than `floor` clear of the `closed` bits, or None.

        With a sink, all routes that earn more than `floor` are put into it instead.
        Raises Exhausted when the budget is spent; what was found by then is in `found`.
        """
        self.found = None
        self.tried = distance
        self.floor = floor
        limit = min(self.most, distance or self.most)
        if limit >= 2:
            out = 0
            for token in self.tokens:
                area = self.graph.area[token]
                if not area & out:
                    self._grow(token, limit, closed, out, sink)
                if self.graph.area.count(area) == 1:
                    # Where cities count as one, a route of another token may still visit the other.
                    out |= area
        return self.found

    def _grow(self, token: int, limit: int, closed: int, out: int, sink: list[Path] | None) -> None:
        """Tries all routes through a token, clear of the tokens that are out of bounds."""
        graph, ways = self.graph, self.ways
        some = any(self.extra)
        first: list[int] = []
        second: list[int] = []
        start = ways[token]
        area = graph.area[token]
        open_token = token < graph.passed and self.goal is None
        walk = [self._walk(k) for k in range(limit)]
        # By stops left and place among the token's ways: the most that a second arm can earn.
        arm = [[0] * (len(start) + 1) for _ in range(limit)]
        for k in range(1, limit):
            for i in range(len(start) - 1, -1, -1):
                arm[k][i] = max(arm[k][i + 1], start[i][2] + walk[k - 1][start[i][3]])

        def record(used: int, revenue: int) -> None:
            if some:
                revenue -= self._unearned(token, first, second)
            if revenue > self.floor:
                bits = used & graph.bits & ~closed
                path = Path(revenue, bits, token, (tuple(first), tuple(second)))
                if sink is not None:
                    self._spend()
                    sink.append(path)
                else:
                    self.floor = revenue
                    self.found = path

        def grow_second(used: int, revenue: int, left: int, among: Sequence[Way]) -> None:
            self._spend()
            left -= 1
            for step, to, gain, way, _ in among:
                now = revenue + gain
                if step & used or now + walk[left][way] <= self.floor:
                    continue
                second.append(way)
                record(used | step, now)
                if (
                    left
                    and to < graph.passed
                    and now + walk[left][way] > self.floor
                    and (left < _LONG or now + self._rest(graph.area[to], used | step, 1) > self.floor)
                ):
                    grow_second(used | step, now, left, ways[to])
                second.pop()

        def grow_first(used: int, revenue: int, left: int, begun: int, among: Sequence[Way]) -> None:
            self._spend()
            left -= 1
            for i, (step, to, gain, way, _) in enumerate(among):
                if step & used:
                    continue
                now = revenue + gain
                later = (begun if first else i) + 1
                on = to < graph.passed and to != self.goal
                most = arm[left][later]
                if on:
                    most = max(walk[k][way] + arm[left - k][later] for k in range(left + 1))
                if now + most <= self.floor:
                    continue
                if left >= _LONG:
                    tips = (graph.area[to] if on else 0) | (area if open_token else 0)
                    if now + self._rest(tips, used | step, on + open_token) <= self.floor:
                        continue
                first.append(way)
                record(used | step, now)
                if left and on:
                    grow_first(used | step, now, left, later - 1, ways[to])
                if left and open_token and now + arm[left][later] > self.floor:
                    grow_second(used | step, now, left, start[later:])
                first.pop()

        grow_first(closed | area | out, graph.value[token] + self.extra[token], limit - 1, 0, start)

    def _unearned(self, token: int, first: Sequence[int], second: Sequence[int]) -> int:
        """Of what was earned in advance, what the finished route does not earn."""
        at_end, red = self.graph.at_end, self.graph.red
        stops = [*reversed(self._visited(token, first)), token, *self._visited(token, second)]
        joined = red[stops[0]] and red[stops[-1]]
        return sum(at_end[u] for u in stops[1:-1]) + (0 if joined else self.terms.between_reds * len(stops))

    def _visited(self, token: int, arm: Sequence[int]) -> list[int]:
        """The stops of an arm after its token."""
        stops = []
        u = token
        for way in arm:
            u = next(to for _, to, _, w, _ in self.ways[u] if w == way)
            stops.append(u)
        return stops

    def set_of(self, distances: Sequence[int | None], closed: int = 0) -> tuple[list[Path | None], int]:
        """The best set of routes, one for each train or None, clear of the closed bits, and a bound on
        what any set earns."""
        self.closed = closed
        count = len(distances)
        self.best: list[Path | None] = [None] * count
        tops = [sum(self.worth.values()) + self.graph.passing] * count
        try:
            for distance in sorted(set(distances), key=_length, reverse=True):
                path = self.one(distance, closed, 0)
                tops = [
                    _revenue(path) if d == distance else top for d, top in zip(distances, tops, strict=True)
                ]
                self._better([path if i == distances.index(distance) else None for i in range(count)])
            for order in sorted(set(permutations(distances)), key=lambda order: [-_length(d) for d in order]):
                if _total(self.best) < sum(tops):
                    self._better(self._greedy(distances, order))
            if _total(self.best) < sum(tops):
                self._pack(distances, tops)
        except Exhausted:
            if self.found:
                self._better([self.found if i == distances.index(self.tried) else None for i in range(count)])
            self._better(self._hasty(distances))
            return self.best, sum(tops)
        return self.best, _total(self.best)

    def _better(self, paths: list[Path | None]) -> None:
        if _total(paths) > _total(self.best):
            self.best = paths

    def _greedy(self, distances: Sequence[int | None], order: Sequence[int | None]) -> list[Path | None]:
        """A set with each train in that order given its best of what is left, then mended."""
        chosen: list[Path | None] = [None] * len(distances)
        closed = self.closed
        for distance in order:
            i = next(i for i, d in enumerate(distances) if d == distance and chosen[i] is None)
            path = chosen[i] = self.one(distance, closed, 0)
            if path is None:
                continue
            closed |= path.bits
        mended = True
        while mended:
            mended = False
            for i, distance in enumerate(distances):
                others = self.closed
                for j, path in enumerate(chosen):
                    if path is not None and j != i:
                        others |= path.bits
                mine = chosen[i]
                better = self.one(distance, others, mine.revenue if mine else 0)
                if better is not None:
                    chosen[i] = better
                    mended = True
        return chosen

    def _hasty(self, distances: Sequence[int | None]) -> list[Path | None]:
        """A set for which each train in turn, the longest first, has got the best of what is left that is
        found with a share of what is spare; then nothing is spare."""
        chosen: list[Path | None] = [None] * len(distances)
        share, self.spare = self.spare // max(len(distances), 1), 0
        closed = self.closed
        for i in sorted(range(len(distances)), key=lambda i: -_length(distances[i])):
            self.left = share
            with suppress(Exhausted):
                self.one(distances[i], closed, 0)
            path = chosen[i] = self.found
            closed |= path.bits if path else 0
        self.left = -1
        return chosen

    def _pack(self, distances: Sequence[int | None], tops: Sequence[int]) -> None:
        """The best set, by listing all routes that can be part of a better one than the best so far."""
        gap = sum(tops) - _total(self.best)
        lists: dict[int | None, _Listed] = {}
        for distance, top in dict(zip(distances, tops, strict=True)).items():
            sink: list[Path] = []
            self.one(distance, self.closed, max(top - gap, 0), sink)
            lists[distance] = _Listed(sink)
        order = sorted(range(len(distances)), key=lambda i: (-_length(distances[i]), i))
        rest = [sum(tops[i] for i in order[k:]) for k in range(len(order) + 1)]
        chosen: list[Path | None] = [None] * len(distances)

        def last(i: int, listed: _Listed, used: int, earned: int, start: int) -> None:
            """The highest free route for the last train, if it earns what is missing or more."""
            self._spend(1 + len(listed.paths) // 1000)
            chosen[i] = listed.first_clear_of(used, start, _total(self.best) - earned)
            self._better(list(chosen))
            chosen[i] = None

        def pack(k: int, used: int, earned: int, start: int) -> None:
            """Trains from the k-th in order; of its kind the routes before `start` are others' turn."""
            if k == len(order):
                self._spend()
                self._better(list(chosen))
                return
            i = order[k]
            listed = lists[distances[i]]
            if k + 1 == len(order):
                last(i, listed, used, earned, start)
                return
            same = k + 1 < len(order) and distances[order[k + 1]] == distances[i]
            self._spend(1 + len(listed.paths) // 1000)
            free = listed.clear_of(used) >> start << start
            while free:
                at = (free & -free).bit_length() - 1
                path = listed.paths[at]
                if earned + path.revenue + rest[k + 1] <= _total(self.best):
                    break
                chosen[i] = path
                pack(k + 1, used | path.bits, earned + path.revenue, at + 1 if same else 0)
                free &= free - 1
            chosen[i] = None
            if earned + rest[k + 1] > _total(self.best):
                pack(k + 1, used, earned, len(listed.paths) if same else 0)

        pack(0, 0, 0, 0)

    def _spend(self, nodes: int = 1) -> None:
        self.left -= nodes
        if self.left < 0:
            raise Exhausted


def joined_set(
    graph: Graph,
    drawn: Graph,
    terms: Terms,
    budget: int,
    distances: Sequence[int | None],
    pair: tuple[int, int],
) -> tuple[list[Path | None], int]:
    """As `Search.set_of`, one route of the set going from the first stop of the pair to the second
    (numbers in the network).

    `drawn` is the graph with the second stop worth PULL more; the first has a token. For each length of
    train that could be the one, the routes that join the stops are taken highest first, each with the
    best of the other trains clear of it, until what is left cannot earn more. Without any such route the
    set is empty.
    """
    home, goal = (graph.stops.index(s) if s in graph.stops else -1 for s in pair)
    best: list[Path | None] = [None] * len(distances)
    bound = 0
    if home < 0 or goal < 0:
        return best, 0
    free = Search(graph, terms, budget)
    for distance in sorted(set(distances), key=_length, reverse=True):
        at = distances.index(distance)
        others = [d for i, d in enumerate(distances) if i != at]
        _, top = free.set_of(others)
        joiner = Search(drawn, terms, budget, (home, goal))
        try:
            first = joiner.one(distance, 0, PULL)
        except Exhausted:
            first = joiner.found
            bound = max(bound, top + joiner.most * max(graph.value, default=0))
        if first is None:
            continue
        bound = max(bound, first.revenue - PULL + top) if joiner.left < 0 else bound
        for path in _joining(joiner, free, distance, first, others, top, _total(best)):
            if path.revenue + top <= _total(best):
                break
            rest, _ = free.set_of(others, path.bits)
            if path.revenue + _total(rest) > _total(best):
                best = [*rest[:at], path, *rest[at:]]
        if free.left < 0 or joiner.left < 0:
            bound = max(bound, first.revenue - PULL + top)
    return best, max(bound, _total(best))


def _joining(
    joiner: Search,
    free: Search,
    distance: int | None,
    first: Path,
    others: Sequence[int | None],
    top: int,
    reached: int,
) -> list[Path]:
    """The joining routes that can be part of a best set, highest first."""
    rest, _ = free.set_of(others, first.bits)
    reached = max(reached, first.revenue - PULL + _total(rest))
    paths = [first]
    if first.revenue - PULL + top > reached:
        with suppress(Exhausted):
            joiner.one(distance, 0, reached - top + PULL, paths)
    plain = {(p.bits, p.token, p.arms): msgspec.structs.replace(p, revenue=p.revenue - PULL) for p in paths}
    return sorted(plain.values(), key=lambda path: (-path.revenue, path.bits, path.token, path.arms))


def _length(distance: int | None) -> int:
    return 1 << 30 if distance is None else distance


def _revenue(path: Path | None) -> int:
    return path.revenue if path else 0


def _total(paths: Sequence[Path | None]) -> int:
    return sum(path.revenue for path in paths if path)
