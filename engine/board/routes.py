"""The best routes of a company, and whether given ones are legal (1830 §20.1, §20.3).

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
the same search with that floor, and the lists are combined depth first, highest first, by their bits.

Nodes of the search are counted against a budget instead of the clock, so that the answer is the same
on every machine; `Best.proven` says whether the search was finished within it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import msgspec

from engine.board.chains import NO_TERMS, Graph, Run, Terms
from engine.board.faces import NODE
from engine.board.network import Network, Stop

BUDGET = 2_000_000


class TrainKind(msgspec.Struct, frozen=True):
    """A train that is run: its name, and how many stops it may visit (None: any number)."""

    name: str
    distance: int | None


class Route(msgspec.Struct, frozen=True):
    """The route of one train.

    `runs`: its track as stretches (hex, end, end) in order, ends 0-5 being edges and 6 + n node n.
    It is written from the end that comes first on the map.
    """

    train: str
    stops: tuple[Stop, ...]
    runs: tuple[Run, ...]


class Best(msgspec.Struct, frozen=True):
    """The best routes found: one for each train that has any, the dollars together, whether proven."""

    routes: tuple[Route, ...]
    revenue: int
    proven: bool


Way = tuple[int, int, int, int, int]
"""A link as a step: bits it uses with the area it comes to, stop, dollars, its way, its bits alone.

A link is two ways, 2 x id and 2 x id + 1.
"""

_LONG = 6
"""From how many stops to come the bound by the rest is worth its cost."""


class _Exhausted(Exception):
    """The budget is spent."""


class Path(msgspec.Struct, frozen=True):
    """A route in the search: dollars, the bits of its links, its token, the ways of its two arms."""

    revenue: int
    bits: int
    token: int
    arms: tuple[tuple[int, ...], tuple[int, ...]]


class _Search:
    """The search on one graph; `left` is what remains of the budget."""

    def __init__(self, graph: Graph, between_reds: int, budget: int) -> None:
        self.graph = graph
        self.left = budget
        self.bonus = between_reds
        self.ways: list[list[Way]] = [
            [(l.step, l.to, l.gain + between_reds, 2 * l.id + (u > l.to), l.bits) for l in links]
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
            self.worth[area] = max(self.worth.get(area, 0), graph.value[u] + between_reds)
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
        Raises _Exhausted when the budget is spent; what was found by then is in `found`.
        """
        graph, ways, bonus = self.graph, self.ways, self.bonus
        limit = min(self.most, distance or self.most)
        self.found: Path | None = None
        if limit < 2:
            return None
        walk = [self._walk(k) for k in range(limit)]
        first: list[int] = []
        second: list[int] = []
        out = 0

        def record(token: int, used: int, revenue: int) -> None:
            nonlocal floor
            if bonus:
                ends = {self._tip(token, first), self._tip(token, second)}
                if len(ends) < 2 or not all(graph.red[u] for u in ends):
                    revenue -= bonus * (len(first) + len(second) + 1)
            if revenue > floor:
                bits = used & graph.bits & ~closed
                path = Path(revenue, bits, token, (tuple(first), tuple(second)))
                if sink is not None:
                    sink.append(path)
                else:
                    floor = revenue
                    self.found = path

        for token in graph.tokens:
            area = graph.area[token]
            if area & out:
                continue
            start = ways[token]
            # By stops left and place among the token's ways: the most that a second arm can earn.
            arm = [[0] * (len(start) + 1) for _ in range(limit)]
            for k in range(1, limit):
                for i in range(len(start) - 1, -1, -1):
                    arm[k][i] = max(arm[k][i + 1], start[i][2] + walk[k - 1][start[i][3]])
            open_token = token < graph.passed

            def grow_second(u: int, used: int, revenue: int, left: int, among: list[Way]) -> None:
                self.left -= 1
                if self.left < 0:
                    raise _Exhausted
                left -= 1
                for step, to, gain, way, _ in among:
                    if step & used:
                        continue
                    now = revenue + gain
                    if now + walk[left][way] <= floor:
                        continue
                    second.append(way)
                    record(token, used | step, now)
                    if (
                        left
                        and to < graph.passed
                        and now + walk[left][way] > floor
                        and (left < _LONG or now + self._rest(graph.area[to], used | step, 1) > floor)
                    ):
                        grow_second(to, used | step, now, left, ways[to])
                    second.pop()

            def grow_first(u: int, used: int, revenue: int, left: int, i: int, among: list[Way]) -> None:
                self.left -= 1
                if self.left < 0:
                    raise _Exhausted
                left -= 1
                for j, (step, to, gain, way, _) in enumerate(among):
                    if step & used:
                        continue
                    now = revenue + gain
                    place = j if i < 0 else i
                    turn = place + 1
                    on = to < graph.passed
                    if on:
                        top = max(walk[k][way] + arm[left - k][turn] for k in range(left + 1))
                    else:
                        top = arm[left][turn]
                    if now + top <= floor:
                        continue
                    now_used = used | step
                    if left >= _LONG:
                        tips = (graph.area[to] if on else 0) | (area if open_token else 0)
                        if now + self._rest(tips, now_used, on + open_token) <= floor:
                            continue
                    first.append(way)
                    record(token, now_used, now)
                    if left:
                        if on:
                            grow_first(to, now_used, now, left, place, ways[to])
                        if open_token and now + arm[left][turn] > floor:
                            grow_second(token, now_used, now, left, start[turn:])
                    first.pop()

            grow_first(token, closed | area | out, graph.value[token] + bonus, limit - 1, -1, start)
            out |= area
        return self.found

    def _tip(self, token: int, arm: Sequence[int]) -> int:
        """The stop at which an arm ends."""
        u = token
        for way in arm:
            u = next(to for _, to, _, w, _ in self.ways[u] if w == way)
        return u

    def set_of(self, distances: Sequence[int | None]) -> tuple[list[Path | None], bool]:
        """The best set of routes, one for each train or None, and whether it is proven."""
        count = len(distances)
        best: list[Path | None] = [None] * count
        try:
            optimum = {d: self.one(d, 0, 0) for d in sorted(set(distances), key=_length, reverse=True)}
        except _Exhausted:
            if self.found and count:
                best[max(range(count), key=lambda i: _length(distances[i]))] = self.found
            return best, False
        tops = [path.revenue if (path := optimum[d]) else 0 for d in distances]
        if count == 1:
            return [optimum[distances[0]]], True
        try:
            for order in sorted(set(permutations(distances))):
                if _total(best) == sum(tops):
                    break
                tried = self._greedy(distances, order)
                if _total(tried) > _total(best):
                    best = tried
            if _total(best) < sum(tops):
                best = self._packed(distances, tops, best)
        except _Exhausted:
            return best, False
        return best, True

    def _greedy(self, distances: Sequence[int | None], order: Sequence[int | None]) -> list[Path | None]:
        """A set with each train in that order given its best of what is left, then mended."""
        chosen: list[Path | None] = [None] * len(distances)
        closed = 0
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
                others = 0
                for j, path in enumerate(chosen):
                    if path is not None and j != i:
                        others |= path.bits
                mine = chosen[i]
                better = self.one(distance, others, mine.revenue if mine else 0)
                if better is not None:
                    chosen[i] = better
                    mended = True
        return chosen

    def _packed(
        self, distances: Sequence[int | None], tops: Sequence[int], best: list[Path | None]
    ) -> list[Path | None]:
        """The best set, by listing all routes that can be part of a better one than `best`."""
        goal = _total(best)
        lists: dict[int | None, list[Path]] = {}
        gap = sum(tops) - goal
        for distance, top in dict(zip(distances, tops, strict=True)).items():
            sink: list[Path] = []
            self.one(distance, 0, max(top - gap, 0), sink)
            sink.sort(key=lambda path: (-path.revenue, path.bits, path.arms))
            seen: set[int] = set()
            lists[distance] = [p for p in sink if not (p.bits in seen or seen.add(p.bits))]  # type: ignore[func-returns-value]
        order = sorted(range(len(distances)), key=lambda i: (_length(distances[i]), i), reverse=True)
        rest = [0] * (len(order) + 1)
        for k in range(len(order) - 1, -1, -1):
            rest[k] = rest[k + 1] + tops[order[k]]
        chosen: list[Path | None] = [None] * len(distances)

        def pack(k: int, used: int, earned: int, start: int) -> None:
            nonlocal goal, best
            i = order[k]
            routes = lists[distances[i]]
            same = k + 1 < len(order) and distances[order[k + 1]] == distances[i]
            for at in range(start, len(routes)):
                path = routes[at]
                if earned + path.revenue + rest[k + 1] <= goal:
                    break
                if path.bits & used:
                    continue
                self.left -= 1
                if self.left < 0:
                    raise _Exhausted
                chosen[i] = path
                if k + 1 == len(order):
                    goal = earned + path.revenue
                    best = list(chosen)
                    break
                pack(k + 1, used | path.bits, earned + path.revenue, at + 1 if same else 0)
            chosen[i] = None
            if k + 1 < len(order) and earned + rest[k + 1] > goal:
                skip = start if not same else len(routes)
                pack(k + 1, used, earned, 0 if not same else skip)

        self.partial = best
        pack(0, 0, 0, 0)
        return best


def _length(distance: int | None) -> int:
    return 1 << 30 if distance is None else distance


def _total(paths: Sequence[Path | None]) -> int:
    return sum(path.revenue for path in paths if path)


def best(
    network: Network,
    company: str,
    trains: Sequence[TrainKind],
    values: Mapping[Stop, int] | Callable[[Stop], int],
    terms: Terms = NO_TERMS,
    budget: int = BUDGET,
) -> Best:
    """The routes of a company that together earn the most (1830 §20.3).

    `values`: dollars by stop. Equal sets are told apart the same way on every machine.
    """
    worth = values if callable(values) else values.__getitem__
    graph = Graph(network, company, worth, terms)
    search = _Search(graph, terms.between_reds, budget)
    paths, proven = search.set_of([kind.distance for kind in trains])
    routes = tuple(
        _route(network, graph, kind.name, path)
        for kind, path in zip(trains, paths, strict=True)
        if path is not None
    )
    return Best(routes, _total(paths), proven)


def _route(network: Network, graph: Graph, train: str, path: Path) -> Route:
    arms: list[tuple[Run, ...]] = []
    for arm in path.arms:
        u, runs = path.token, ()
        for way in arm:
            link = next(l for l in graph.links[u] if l.id == way // 2)
            runs += link.runs
            u = link.to
        arms.append(runs)
    back = tuple((hex, there, here) for hex, here, there in reversed(arms[0]))
    return route_of(network, train, back + arms[1])


def route_of(network: Network, train: str, runs: tuple[Run, ...]) -> Route:
    """The route over that track, written from the end that comes first on the map."""
    stops = [(runs[0][0], runs[0][1] - NODE)]
    stops += [(hex, end - NODE) for hex, _, end in runs if end >= NODE]
    if network.number[stops[-1]] < network.number[stops[0]]:
        stops.reverse()
        runs = tuple((hex, there, here) for hex, here, there in reversed(runs))
    return Route(train, tuple(stops), runs)
