"""Routes: which are the best, which are legal, and what they earn (1830 §20.1, §20.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from engine.board.network import Network, RouteSegment, Stop
from engine.board.route_graph import PLAIN_REVENUE, RevenueRules, RouteGraph, area_of
from engine.board.route_search import BudgetExhaustedError, CandidateRoute, NodeBudget, RouteSearch
from engine.board.route_sets import GOAL_BONUS, RouteSetSearch, best_connecting_set
from engine.board.tile_geometry import FIRST_NODE

NODE_BUDGET = 1_500_000
"""Nodes of the search; the densest boards of played games take 10,000 for the trains that were run."""


RequiredConnection = tuple[Stop, Stop]
"""A stop with a token of the company, and another, between which one of its routes has to go."""


class RunningTrain(msgspec.Struct, frozen=True, gc=False):
    """A train that is run: its name, and how many stops it may visit (None: any number).

    `own`: dollars more for each of the company's tokens that it visits (1817 §9.4).
    """

    name: str
    distance: int | None
    token_bonus: int = 0


class Route(msgspec.Struct, frozen=True, gc=False):
    """The route of one train.

    `runs`: its track as stretches (hex, end, end) in order, ends 0-5 being edges and 6 + n node n.
    It is written from the end that comes first on the map.
    """

    train: str
    stops: tuple[Stop, ...]
    segments: tuple[RouteSegment, ...]


class BestRoutes(msgspec.Struct, frozen=True, gc=False):
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


def best_routes(
    network: Network,
    company: str,
    trains: Sequence[RunningTrain],
    values: Mapping[Stop, int] | Callable[[Stop], int],
    terms: RevenueRules = PLAIN_REVENUE,
    budget: int = NODE_BUDGET,
    joining: RequiredConnection | None = None,
) -> BestRoutes:
    """The routes of a company that together earn the most (1830 §20.3).

    `values`: dollars by stop. `joining`: one route has to go from one of these stops to the
    other (1870 §11.4). Equal sets are told apart the same way on every machine.
    """
    worth = values if callable(values) else values.__getitem__
    if len({kind.token_bonus for kind in trains}) > 1:
        return _best_of_two_trains(network, company, trains, worth, terms, budget)
    graph = _route_graph(network, company, worth, terms, trains[0].token_bonus if trains else 0)
    distances = [kind.distance for kind in trains]
    if joining is None:
        paths, bound = RouteSetSearch(graph, terms, budget).find_best(distances)
    else:
        home, goal = joining
        # The goal is worth so much that the best route through the home visits it if any can.
        drawn = RouteGraph(
            network, company, lambda stop: worth(stop) + (GOAL_BONUS if stop == goal else 0), terms
        )
        pair = (network.stop_number[home], network.stop_number[goal])
        paths, bound = best_connecting_set(graph, drawn, terms, budget, distances, pair)
    routes = tuple(
        _route_from_candidate(network, graph, kind.name, path)
        for kind, path in zip(trains, paths, strict=True)
        if path is not None
    )
    revenue = sum(path.revenue for path in paths if path)
    if not graph.complete or bound > revenue:
        most = _revenue_bound(network, company, trains, worth, terms)
        bound = max(min(bound, most) if graph.complete else most, revenue)
    return BestRoutes(routes, revenue, bound)


def _revenue_bound(
    network: Network,
    company: str,
    trains: Sequence[RunningTrain],
    worth: Callable[[Stop], int],
    terms: RevenueRules,
) -> int:
    """Dollars that no routes exceed, whatever track there is between the stops that are reached.

    A route uses two hexsides of a stop that it passes and one where it ends, and no hexside is used
    twice: so each stop is passed by as many routes as it has pairs of edges, and other visits are ends.
    """
    ends, own, faces = network.terminal_stops(company), set(network.token_stops(company)), network.faces
    best_own = max((kind.token_bonus for kind in trains), default=0)
    dollars: dict[str, int] = {}
    passes: dict[str, int] = {}
    visits: dict[str, int] = {}
    for stop in network.reachable(company).stops:
        s, area = network.stop_number[stop], area_of(network, network.stop_number[stop], terms)
        value = worth(stop) + terms.stop_bonus.get(stop, 0) + terms.end_bonus.get(stop, 0)
        value += terms.offboard_pair_bonus + best_own * (s in own)
        dollars[area] = max(dollars.get(area, 0), value)
        sides = len({end for _, end in faces[stop[0]].connections[FIRST_NODE + stop[1]]})
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
    return sum(figures[:stops]) + 3 * sum(terms.pass_through_bonus.values())


def _route_graph(
    network: Network, company: str, worth: Callable[[Stop], int], terms: RevenueRules, own: int
) -> RouteGraph:
    """The company's graph for trains that earn so much more at each of its tokens."""
    if not own:
        return RouteGraph(network, company, worth, terms)
    tokens = {network.stops[s] for s in network.token_stops(company)}
    return RouteGraph(network, company, lambda stop: worth(stop) + own * (stop in tokens), terms)


def _best_of_two_trains(
    network: Network,
    company: str,
    trains: Sequence[RunningTrain],
    worth: Callable[[Stop], int],
    terms: RevenueRules,
    budget: int,
) -> BestRoutes:
    """The best routes of two trains that earn differently at the same stops: every route of the first
    that can be part of a better pair, highest first, with the best of the second that is clear of it.

    Of more than two trains, which no title has, the others stay idle and nothing is proven.
    """
    first, second = trains[:2]
    graphs = [_route_graph(network, company, worth, terms, kind.token_bonus) for kind in (first, second)]
    searches = [RouteSearch(graph, terms, NodeBudget(budget)) for graph in graphs]
    found: tuple[CandidateRoute | None, CandidateRoute | None] = (None, None)
    total = 0
    listed: list[CandidateRoute] = []
    try:
        tops = [search.find_best(kind.distance, 0, 0) for search, kind in zip(searches, trains, strict=False)]
        top = tops[1].revenue if tops[1] else 0
        for pair in ((tops[0], None), (None, tops[1])):
            earned = sum(path.revenue for path in pair if path)
            found, total = (pair, earned) if earned > total else (found, total)
        searches[0].find_best(first.distance, 0, max(total - top, 0), listed)
        for path in sorted(listed, key=lambda path: (-path.revenue, path.hexsides)):
            if path.revenue + top <= total:
                break
            other = searches[1].find_best(second.distance, path.hexsides, max(total - path.revenue, 0))
            earned = path.revenue + (other.revenue if other else 0)
            if earned > total:
                found, total = (path, other), earned
        bound = total if len(trains) == 2 and all(graph.complete for graph in graphs) else total + 1
    except BudgetExhaustedError:
        bound = total + 1
    if bound > total:
        bound = _revenue_bound(network, company, trains, worth, terms)
    routes = tuple(
        _route_from_candidate(network, graph, kind.name, path)
        for graph, kind, path in zip(graphs, trains, found, strict=False)
        if path is not None
    )
    return BestRoutes(routes, total, bound)


def route_revenue(
    network: Network,
    route: Route,
    values: Mapping[Stop, int] | Callable[[Stop], int],
    terms: RevenueRules = PLAIN_REVENUE,
) -> int:
    """What a route earns, in dollars (1830 §20.3)."""
    worth = values if callable(values) else values.__getitem__
    earned = sum(worth(stop) + terms.stop_bonus.get(stop, 0) for stop in route.stops)
    earned += sum(terms.end_bonus.get(stop, 0) for stop in (route.stops[0], route.stops[-1]))
    earned += sum(
        terms.pass_through_bonus.get(hex, 0) for hex, come, go in route.segments if come < FIRST_NODE > go
    )
    if all(network.node(stop).kind == "offboard" for stop in (route.stops[0], route.stops[-1])):
        earned += terms.offboard_pair_bonus * len(route.stops)
    return earned


def refuse_routes(
    network: Network,
    company: str,
    trains: Sequence[RunningTrain],
    routes: Sequence[Route],
    terms: RevenueRules = PLAIN_REVENUE,
) -> str | None:
    """Why the company may not run these routes with these trains, in a sentence; None if it may."""
    idle = list(trains)
    used: dict[int, int] = {}
    for i, route in enumerate(routes):
        kind = next((kind for kind in idle if kind.name == route.train), None)
        if kind is None:
            return f"{company} has no {route.train}-train left for {_stop_names(route)}"
        idle.remove(kind)
        if why := _refuse_track(network, route) or _refuse_route(network, company, kind, route, terms):
            return why
        over = _hexsides_used(network, route)
        if len({side for side, _ in over}) < len(over):
            return f"{_stop_names(route)} runs over the same track twice"
        for side, edge in over:
            other = used.setdefault(side, i)
            if other != i:
                where = f"over edge {edge[1]} of" if edge[1] < FIRST_NODE else "between the cities of"
                both = f"{_stop_names(routes[other])} and {_stop_names(route)}"
                return f"{both} both use the track {where} {edge[0]}"
    return None


def _refuse_route(
    network: Network, company: str, kind: RunningTrain, route: Route, terms: RevenueRules
) -> str | None:
    """Why a company may not run that stretch of track with that train (1830 §20.1)."""
    stops, numbers = route.stops, [network.stop_number[stop] for stop in route.stops]
    if kind.distance is not None and len(stops) > kind.distance:
        limit = f"a {kind.name}-train visits at most {kind.distance} stops"
        return f"{limit}, and {_stop_names(route)} has {len(stops)}"
    if not any(company in network.tokens.get(stop, ()) for stop in stops):
        return f"{_stop_names(route)} visits no token of the {company}"
    seen: set[str] = set()
    for stop, number in zip(stops, numbers, strict=True):
        area = area_of(network, number, terms)
        if area in seen:
            return (
                f"{_stop_names(route)} visits {network.components.map.hexes[stop[0]].name or stop[0]} twice"
            )
        seen.add(area)
    ends = network.terminal_stops(company)
    for stop, number in zip(stops[1:-1], numbers[1:-1], strict=True):
        if ends[number]:
            why = (
                "it is off the board"
                if network.node(stop).kind == "offboard"
                else "others hold all its places"
            )
            return f"{_stop_names(route)} cannot go on past {stop[0]}: {why}"
    return None


def _refuse_track(network: Network, route: Route) -> str | None:
    """Why that is no continuous track between two or more stops."""
    at = None
    for hex, come, go in route.segments:
        face = network.faces.get(hex)
        if (
            face is None
            or come >= len(face.connections)
            or go not in [end for _, end in face.connections[come]]
        ):
            return f"there is no such track in {hex}"
        if at not in (None, (hex, come)):
            return f"the track of {_stop_names(route)} is not continuous in {hex}"
        if go < FIRST_NODE:
            across = network.map_index.across[6 * network.map_index.hex_number[hex] + go]
            at = (network.map_index.hexes[across // 6], across % 6) if across >= 0 else ("", 0)
        else:
            at = (hex, go)
    if len(route.stops) < 2 or make_route(network, route.train, route.segments) != route:
        return "a route joins two or more stops"
    return None


def _hexsides_used(network: Network, route: Route) -> list[tuple[int, tuple[str, int]]]:
    """The hexsides that a route runs over, each with the hex and edge by which it leaves."""
    ground = network.map_index
    over = []
    for hex, come, go in route.segments:
        if go < FIRST_NODE:
            over.append((ground.hexside[6 * ground.hex_number[hex] + go], (hex, go)))
        elif come >= FIRST_NODE:
            over.append((ground.inner_track[hex], (hex, go)))
    return over


def _stop_names(route: Route) -> str:
    return "-".join(hex for hex, _ in route.stops)


def _route_from_candidate(network: Network, graph: RouteGraph, train: str, path: CandidateRoute) -> Route:
    arms: list[tuple[RouteSegment, ...]] = []
    for arm in path.arms:
        u = path.token
        runs: tuple[RouteSegment, ...] = ()
        for way in arm:
            link = next(link for link in graph.links[u] if link.id == way // 2)
            runs += link.segments
            u = link.to
        arms.append(runs)
    back = tuple((hex, there, here) for hex, here, there in reversed(arms[0]))
    return make_route(network, train, back + arms[1])


def make_route(network: Network, train: str, runs: tuple[RouteSegment, ...]) -> Route:
    """The route over that track, written from the end that comes first on the map."""
    stops = [(runs[0][0], runs[0][1] - FIRST_NODE)]
    stops += [(hex, end - FIRST_NODE) for hex, _, end in runs if end >= FIRST_NODE]
    if network.stop_number[stops[-1]] < network.stop_number[stops[0]]:
        stops.reverse()
        runs = tuple((hex, there, here) for hex, here, there in reversed(runs))
    return Route(train, tuple(stops), runs)
