"""Routes: which are the best, which are legal, and what they earn (1830 §20.1, §20.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from engine.board.chains import NO_TERMS, Graph, Terms, area_of
from engine.board.faces import NODE
from engine.board.network import Network, Run, Stop
from engine.board.search import Budget, Exhausted, Path, Search
from engine.board.sets import PULL, Sets, joined_set

BUDGET = 1_500_000
"""Nodes of the search; the densest boards of played games take 10,000 for the trains that were run."""


Joining = tuple[Stop, Stop]
"""A stop with a token of the company, and another, between which one of its routes has to go."""


class TrainKind(msgspec.Struct, frozen=True, gc=False):
    """A train that is run: its name, and how many stops it may visit (None: any number).

    `own`: dollars more for each of the company's tokens that it visits (1817 §9.4).
    """

    name: str
    distance: int | None
    own: int = 0


class Route(msgspec.Struct, frozen=True, gc=False):
    """The route of one train.

    `runs`: its track as stretches (hex, end, end) in order, ends 0-5 being edges and 6 + n node n.
    It is written from the end that comes first on the map.
    """

    train: str
    stops: tuple[Stop, ...]
    runs: tuple[Run, ...]


class Best(msgspec.Struct, frozen=True, gc=False):
    """The best routes found: one for each train that has any, and the dollars they earn together.

    `bound`: no routes earn more than this.
    """

    routes: tuple[Route, ...]
    revenue: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether there are certainly no better routes."""
        return self.revenue == self.bound


def best(
    network: Network,
    company: str,
    trains: Sequence[TrainKind],
    values: Mapping[Stop, int] | Callable[[Stop], int],
    terms: Terms = NO_TERMS,
    budget: int = BUDGET,
    joining: Joining | None = None,
) -> Best:
    """The routes of a company that together earn the most (1830 §20.3).

    `values`: dollars by stop. `joining`: one route has to go from one of these stops to the
    other (1870 §11.4). Equal sets are told apart the same way on every machine.
    """
    worth = values if callable(values) else values.__getitem__
    if len({kind.own for kind in trains}) > 1:
        return _best_pair(network, company, trains, worth, terms, budget)
    graph = _graph(network, company, worth, terms, trains[0].own if trains else 0)
    distances = [kind.distance for kind in trains]
    if joining is None:
        paths, bound = Sets(graph, terms, budget).best(distances)
    else:
        home, goal = joining
        # The goal is worth so much that the best route through the home visits it if any can.
        drawn = Graph(network, company, lambda stop: worth(stop) + (PULL if stop == goal else 0), terms)
        pair = (network.number[home], network.number[goal])
        paths, bound = joined_set(graph, drawn, terms, budget, distances, pair)
    routes = tuple(
        _route(network, graph, kind.name, path)
        for kind, path in zip(trains, paths, strict=True)
        if path is not None
    )
    revenue = sum(path.revenue for path in paths if path)
    if not graph.whole or bound > revenue:
        most = _at_most(network, company, trains, worth, terms)
        bound = max(min(bound, most) if graph.whole else most, revenue)
    return Best(routes, revenue, bound)


def _at_most(
    network: Network,
    company: str,
    trains: Sequence[TrainKind],
    worth: Callable[[Stop], int],
    terms: Terms,
) -> int:
    """Dollars that no routes exceed, whatever track there is between the stops that are reached.

    A route uses two hexsides of a stop that it passes and one where it ends, and no hexside is used
    twice: so each stop is passed by as many routes as it has pairs of edges, and other visits are ends.
    """
    ends, own, faces = network.ends(company), set(network.own(company)), network.faces
    best_own = max((kind.own for kind in trains), default=0)
    dollars: dict[str, int] = {}
    passes: dict[str, int] = {}
    visits: dict[str, int] = {}
    for stop in network.reach(company).stops:
        s, area = network.number[stop], area_of(network, network.number[stop], terms)
        value = worth(stop) + terms.at_stops.get(stop, 0) + terms.at_ends.get(stop, 0)
        value += terms.between_reds + best_own * (s in own)
        dollars[area] = max(dollars.get(area, 0), value)
        sides = len({end for _, end in faces[stop[0]].onward[NODE + stop[1]]})
        visits[area] = visits.get(area, 0) + sides
        passes[area] = passes.get(area, 0) + (0 if ends[s] else sides // 2)
    passed: list[int] = []
    ended: list[int] = []
    for area, value in dollars.items():
        times = min(visits[area], len(trains))
        passing = min(passes[area], times)
        passed += [value] * passing
        ended += [value] * (times - passing)
    figures = sorted([*passed, *sorted(ended)[-2 * len(trains) :]], reverse=True)
    stops = sum(kind.distance or len(figures) for kind in trains)
    return sum(figures[:stops]) + 3 * sum(terms.passing.values())


def _graph(network: Network, company: str, worth: Callable[[Stop], int], terms: Terms, own: int) -> Graph:
    """The company's graph for trains that earn so much more at each of its tokens."""
    if not own:
        return Graph(network, company, worth, terms)
    tokens = {network.stops[s] for s in network.own(company)}
    return Graph(network, company, lambda stop: worth(stop) + own * (stop in tokens), terms)


def _best_pair(
    network: Network,
    company: str,
    trains: Sequence[TrainKind],
    worth: Callable[[Stop], int],
    terms: Terms,
    budget: int,
) -> Best:
    """The best routes of two trains that earn differently at the same stops: every route of the first
    that can be part of a better pair, highest first, with the best of the second that is clear of it.

    Of more than two trains, which no title has, the others stay idle and nothing is proven.
    """
    first, second = trains[:2]
    graphs = [_graph(network, company, worth, terms, kind.own) for kind in (first, second)]
    searches = [Search(graph, terms, Budget(budget)) for graph in graphs]
    found: tuple[Path | None, Path | None] = (None, None)
    total = 0
    listed: list[Path] = []
    try:
        tops = [search.one(kind.distance, 0, 0) for search, kind in zip(searches, trains, strict=False)]
        top = tops[1].revenue if tops[1] else 0
        for pair in ((tops[0], None), (None, tops[1])):
            earned = sum(path.revenue for path in pair if path)
            found, total = (pair, earned) if earned > total else (found, total)
        searches[0].one(first.distance, 0, max(total - top, 0), listed)
        for path in sorted(listed, key=lambda path: (-path.revenue, path.bits)):
            if path.revenue + top <= total:
                break
            other = searches[1].one(second.distance, path.bits, max(total - path.revenue, 0))
            earned = path.revenue + (other.revenue if other else 0)
            if earned > total:
                found, total = (path, other), earned
        bound = total if len(trains) == 2 and all(graph.whole for graph in graphs) else total + 1
    except Exhausted:
        bound = total + 1
    if bound > total:
        bound = _at_most(network, company, trains, worth, terms)
    routes = tuple(
        _route(network, graph, kind.name, path)
        for graph, kind, path in zip(graphs, trains, found, strict=False)
        if path is not None
    )
    return Best(routes, total, bound)


def revenue(
    network: Network,
    route: Route,
    values: Mapping[Stop, int] | Callable[[Stop], int],
    terms: Terms = NO_TERMS,
) -> int:
    """What a route earns, in dollars (1830 §20.3)."""
    worth = values if callable(values) else values.__getitem__
    earned = sum(worth(stop) + terms.at_stops.get(stop, 0) for stop in route.stops)
    earned += sum(terms.at_ends.get(stop, 0) for stop in (route.stops[0], route.stops[-1]))
    earned += sum(terms.passing.get(hex, 0) for hex, come, go in route.runs if come < NODE > go)
    if all(network.node(stop).kind == "offboard" for stop in (route.stops[0], route.stops[-1])):
        earned += terms.between_reds * len(route.stops)
    return earned


def check(
    network: Network,
    company: str,
    trains: Sequence[TrainKind],
    routes: Sequence[Route],
    terms: Terms = NO_TERMS,
) -> str | None:
    """Why the company may not run these routes with these trains, in a sentence; None if it may."""
    idle = list(trains)
    used: dict[int, int] = {}
    for i, route in enumerate(routes):
        kind = next((kind for kind in idle if kind.name == route.train), None)
        if kind is None:
            return f"{company} has no {route.train}-train left for {_stops(route)}"
        idle.remove(kind)
        if why := _broken(network, route) or _illegal(network, company, kind, route, terms):
            return why
        over = _sides(network, route)
        if len({side for side, _ in over}) < len(over):
            return f"{_stops(route)} runs over the same track twice"
        for side, edge in over:
            other = used.setdefault(side, i)
            if other != i:
                where = f"over edge {edge[1]} of" if edge[1] < NODE else "between the cities of"
                return f"{_stops(routes[other])} and {_stops(route)} both use the track {where} {edge[0]}"
    return None


def _illegal(network: Network, company: str, kind: TrainKind, route: Route, terms: Terms) -> str | None:
    """Why a company may not run that stretch of track with that train (1830 §20.1)."""
    stops, numbers = route.stops, [network.number[stop] for stop in route.stops]
    if kind.distance is not None and len(stops) > kind.distance:
        return (
            f"a {kind.name}-train visits at most {kind.distance} stops, and {_stops(route)} has {len(stops)}"
        )
    if not any(company in network.tokens.get(stop, ()) for stop in stops):
        return f"{_stops(route)} visits no token of the {company}"
    seen: set[str] = set()
    for stop, number in zip(stops, numbers, strict=True):
        area = area_of(network, number, terms)
        if area in seen:
            return f"{_stops(route)} visits {network.facts.map.hexes[stop[0]].name or stop[0]} twice"
        seen.add(area)
    ends = network.ends(company)
    for stop, number in zip(stops[1:-1], numbers[1:-1], strict=True):
        if ends[number]:
            why = (
                "it is off the board"
                if network.node(stop).kind == "offboard"
                else "others hold all its places"
            )
            return f"{_stops(route)} cannot go on past {stop[0]}: {why}"
    return None


def _broken(network: Network, route: Route) -> str | None:
    """Why that is no continuous track between two or more stops."""
    at = None
    for hex, come, go in route.runs:
        face = network.faces.get(hex)
        if face is None or come >= len(face.onward) or go not in [end for _, end in face.onward[come]]:
            return f"there is no such track in {hex}"
        if at not in (None, (hex, come)):
            return f"the track of {_stops(route)} is not continuous in {hex}"
        if go < NODE:
            across = network.ground.across[6 * network.ground.number[hex] + go]
            at = (network.ground.hexes[across // 6], across % 6) if across >= 0 else ("", 0)
        else:
            at = (hex, go)
    if len(route.stops) < 2 or route_of(network, route.train, route.runs) != route:
        return "a route joins two or more stops"
    return None


def _sides(network: Network, route: Route) -> list[tuple[int, tuple[str, int]]]:
    """The hexsides that a route runs over, each with the hex and edge by which it leaves."""
    ground = network.ground
    over = []
    for hex, come, go in route.runs:
        if go < NODE:
            over.append((ground.side[6 * ground.number[hex] + go], (hex, go)))
        elif come >= NODE:
            over.append((ground.inner[hex], (hex, go)))
    return over


def _stops(route: Route) -> str:
    return "-".join(hex for hex, _ in route.stops)


def _route(network: Network, graph: Graph, train: str, path: Path) -> Route:
    arms: list[tuple[Run, ...]] = []
    for arm in path.arms:
        u = path.token
        runs: tuple[Run, ...] = ()
        for way in arm:
            link = next(link for link in graph.links[u] if link.id == way // 2)
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
