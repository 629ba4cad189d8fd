"""Routes: the best ones, whether they are legal, and their revenue (1830 §20.1, §20.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from engine.board.network import Network, RouteSegment
from engine.board.route_graph import PLAIN_REVENUE, RevenueRules, RouteGraph, area_of
from engine.board.route_search import BudgetExhaustedError, CandidateRoute, NodeBudget, RouteSearch
from engine.board.route_sets import GOAL_BONUS, RouteSetSearch, best_connecting_set
from engine.board.tile_geometry import FIRST_NODE, Stop
from engine.core.components import train_label

NODE_BUDGET = 1_500_000
"""Nodes of the search. The densest boards of played games take 10,000 for the trains that were run."""


RequiredConnection = tuple[Stop, Stop]
"""Two stops that one of the routes has to connect. The first has a token of the company."""


class RunningTrain(msgspec.Struct, frozen=True, gc=False):
    """A train that runs: its name, and how many stops it may visit (None: any number).

    `token_bonus`: dollars more for each token of its company that it visits (1817 §9.4).
    """

    name: str
    distance: int | None
    token_bonus: int = 0


class Route(msgspec.Struct, frozen=True, gc=False):
    """The route of one train.

    `segments`: its track in order, as (hex, end, end); ends 0-5 are edges, 6 + n is node n. A route starts
    at that of its two last stops which comes first on the map.
    """

    train: str
    stops: tuple[Stop, ...]
    segments: tuple[RouteSegment, ...]


class BestRoutes(msgspec.Struct, frozen=True, gc=False):
    """The best routes found, one for each train that has any, and their revenue in dollars.

    `bound`: dollars that no routes exceed.
    """

    routes: tuple[Route, ...]
    revenue: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether it is certain that there are no better routes."""
        return self.revenue == self.bound


def best_routes(
    network: Network,
    company: str,
    trains: Sequence[RunningTrain],
    values: Mapping[Stop, int] | Callable[[Stop], int],
    rules: RevenueRules = PLAIN_REVENUE,
    budget: int = NODE_BUDGET,
    required: RequiredConnection | None = None,
) -> BestRoutes:
    """The routes of a company that together earn the most (1830 §20.3).

    `values`: dollars by stop. `required`: one route has to connect these stops (1870 §11.4). Among equal
    sets the choice is the same on every machine.
    """
    stop_value = values if callable(values) else values.__getitem__
    if len({train.token_bonus for train in trains}) > 1:
        return _best_of_two_trains(network, company, trains, stop_value, rules, budget)
    graph = _route_graph(network, company, stop_value, rules, trains[0].token_bonus if trains else 0)
    distances = [train.distance for train in trains]
    if required is None:
        route_set, bound = RouteSetSearch(graph, rules, budget).find_best(distances)
    else:
        home, goal = required
        # The goal gets so high a value that the best route through the home visits it if any can.
        goal_graph = RouteGraph(
            network, company, lambda stop: stop_value(stop) + (GOAL_BONUS if stop == goal else 0), rules
        )
        pair = (network.stop_number[home], network.stop_number[goal])
        route_set, bound = best_connecting_set(graph, goal_graph, rules, budget, distances, pair)
    routes = tuple(
        _route_from_candidate(network, graph, train.name, route)
        for train, route in zip(trains, route_set, strict=True)
        if route is not None
    )
    revenue = sum(route.revenue for route in route_set if route)
    if not graph.complete or bound > revenue:
        revenue_bound = _revenue_bound(network, company, trains, stop_value, rules)
        bound = max(min(bound, revenue_bound) if graph.complete else revenue_bound, revenue)
    return BestRoutes(routes, revenue, bound)


def _revenue_bound(
    network: Network,
    company: str,
    trains: Sequence[RunningTrain],
    stop_value: Callable[[Stop], int],
    rules: RevenueRules,
) -> int:
    """Dollars that no routes exceed, whatever track there is between the reachable stops.

    A route uses two hexsides of a stop that it passes through and one of a stop where it ends, and no
    hexside is used twice. So each stop is passed by as many routes as it has pairs of edges; other visits
    are ends of routes.
    """
    terminals, token_stops, faces = (
        network.terminal_stops(company),
        set(network.token_stops(company)),
        network.faces,
    )
    best_token_bonus = max((train.token_bonus for train in trains), default=0)
    values: dict[str, int] = {}
    passes: dict[str, int] = {}
    visits: dict[str, int] = {}
    for stop in network.reachable(company).stops:
        s, area = network.stop_number[stop], area_of(network, network.stop_number[stop], rules)
        value = stop_value(stop) + rules.stop_bonus.get(stop, 0) + rules.end_bonus.get(stop, 0)
        value += rules.offboard_pair_bonus + best_token_bonus * (s in token_stops)
        values[area] = max(values.get(area, 0), value)
        hexsides = len({end for _, end in faces[stop[0]].connections[FIRST_NODE + stop[1]]})
        visits[area] = visits.get(area, 0) + hexsides
        passes[area] = passes.get(area, 0) + (0 if terminals[s] else hexsides // 2)
    passing_values: list[int] = []
    ending_values: list[int] = []
    for area, value in values.items():
        visit_count = min(visits[area], len(trains))
        pass_count = min(passes[area], visit_count)
        passing_values += [value] * pass_count
        ending_values += [value] * (visit_count - pass_count)
    highest = sorted([*passing_values, *sorted(ending_values)[-2 * len(trains) :]], reverse=True)
    stops = sum(train.distance or len(highest) for train in trains)
    return sum(highest[:stops]) + 3 * sum(rules.pass_through_bonus.values())


def _route_graph(
    network: Network, company: str, stop_value: Callable[[Stop], int], rules: RevenueRules, token_bonus: int
) -> RouteGraph:
    """The company's route graph, for trains with that bonus at each of its tokens."""
    if not token_bonus:
        return RouteGraph(network, company, stop_value, rules)
    tokens = {network.stops[s] for s in network.token_stops(company)}
    return RouteGraph(network, company, lambda stop: stop_value(stop) + token_bonus * (stop in tokens), rules)


def _best_of_two_trains(
    network: Network,
    company: str,
    trains: Sequence[RunningTrain],
    stop_value: Callable[[Stop], int],
    rules: RevenueRules,
    budget: int,
) -> BestRoutes:
    """The best routes of two trains with different token bonuses.

    Every route of the first train that can be part of a better pair is tried, highest first, with the
    best compatible route of the second. Of more than two trains, which no title has, the others stay
    idle and nothing is proven.
    """
    first, second = trains[:2]
    graphs = [
        _route_graph(network, company, stop_value, rules, train.token_bonus) for train in (first, second)
    ]
    searches = [RouteSearch(graph, rules, NodeBudget(budget)) for graph in graphs]
    best_pair: tuple[CandidateRoute | None, CandidateRoute | None] = (None, None)
    total = 0
    candidates: list[CandidateRoute] = []
    try:
        single_best = [
            search.find_best(train.distance, 0, 0) for search, train in zip(searches, trains, strict=False)
        ]
        second_best = single_best[1].revenue if single_best[1] else 0
        for pair in ((single_best[0], None), (None, single_best[1])):
            revenue = sum(route.revenue for route in pair if route)
            best_pair, total = (pair, revenue) if revenue > total else (best_pair, total)
        searches[0].find_best(first.distance, 0, max(total - second_best, 0), candidates)
        for route in sorted(candidates, key=lambda route: (-route.revenue, route.hexsides)):
            if route.revenue + second_best <= total:
                break
            other = searches[1].find_best(second.distance, route.hexsides, max(total - route.revenue, 0))
            revenue = route.revenue + (other.revenue if other else 0)
            if revenue > total:
                best_pair, total = (route, other), revenue
        bound = total if len(trains) == 2 and all(graph.complete for graph in graphs) else total + 1
    except BudgetExhaustedError:
        bound = total + 1
    if bound > total:
        bound = _revenue_bound(network, company, trains, stop_value, rules)
    routes = tuple(
        _route_from_candidate(network, graph, train.name, route)
        for graph, train, route in zip(graphs, trains, best_pair, strict=False)
        if route is not None
    )
    return BestRoutes(routes, total, bound)


def route_revenue(
    network: Network,
    route: Route,
    values: Mapping[Stop, int] | Callable[[Stop], int],
    rules: RevenueRules = PLAIN_REVENUE,
) -> int:
    """The revenue of a route in dollars (1830 §20.3)."""
    stop_value = values if callable(values) else values.__getitem__
    revenue = sum(stop_value(stop) + rules.stop_bonus.get(stop, 0) for stop in route.stops)
    revenue += sum(rules.end_bonus.get(stop, 0) for stop in (route.stops[0], route.stops[-1]))
    revenue += sum(
        rules.pass_through_bonus.get(hex, 0) for hex, start, end in route.segments if start < FIRST_NODE > end
    )
    if all(network.node(stop).kind == "offboard" for stop in (route.stops[0], route.stops[-1])):
        revenue += rules.offboard_pair_bonus * len(route.stops)
    return revenue


def refuse_routes(
    network: Network,
    company: str,
    trains: Sequence[RunningTrain],
    routes: Sequence[Route],
    rules: RevenueRules = PLAIN_REVENUE,
) -> str | None:
    """The reason why the company may not run these routes with these trains, or None."""
    idle_trains = list(trains)
    used: dict[int, int] = {}
    for i, route in enumerate(routes):
        train = next((train for train in idle_trains if train.name == route.train), None)
        if train is None:
            return f"The {company} has no {route.train}-train left for {_stop_names(route)}"
        idle_trains.remove(train)
        if reason := _refuse_track(network, route) or _refuse_route(network, company, train, route, rules):
            return reason
        hexsides = _hexsides_used(network, route)
        if len({hexside for hexside, _ in hexsides}) < len(hexsides):
            return f"{_stop_names(route)} runs over the same track twice"
        for hexside, edge in hexsides:
            other = used.setdefault(hexside, i)
            if other != i:
                where = f"over edge {edge[1]} of" if edge[1] < FIRST_NODE else "between the cities of"
                both = f"{_stop_names(routes[other])} and {_stop_names(route)}"
                return f"{both} both use the track {where} {edge[0]}"
    return None


def _refuse_route(
    network: Network, company: str, train: RunningTrain, route: Route, rules: RevenueRules
) -> str | None:
    """The reason why the company may not run that route with that train, or None (1830 §20.1)."""
    stops, numbers = route.stops, [network.stop_number[stop] for stop in route.stops]
    if train.distance is not None and len(stops) > train.distance:
        limit = f"{train_label(train.name)} visits at most {train.distance} stops"
        return f"{limit}, and {_stop_names(route)} has {len(stops)}"
    if not any(company in network.tokens.get(stop, ()) for stop in stops):
        return f"{_stop_names(route)} visits no token of the {company}"
    seen: set[str] = set()
    for stop, number in zip(stops, numbers, strict=True):
        area = area_of(network, number, rules)
        if area in seen:
            return (
                f"{_stop_names(route)} visits {network.components.map.hexes[stop[0]].name or stop[0]} twice"
            )
        seen.add(area)
    terminals = network.terminal_stops(company)
    for stop, number in zip(stops[1:-1], numbers[1:-1], strict=True):
        if terminals[number]:
            reason = (
                "it is off the board"
                if network.node(stop).kind == "offboard"
                else "others hold all its slots"
            )
            return f"{_stop_names(route)} cannot pass {stop[0]}: {reason}"
    return None


def _refuse_track(network: Network, route: Route) -> str | None:
    """The reason why the route is not continuous track between two or more stops, or None."""
    position = None
    for hex, start, end in route.segments:
        face = network.faces.get(hex)
        if (
            face is None
            or start >= len(face.connections)
            or end not in [end for _, end in face.connections[start]]
        ):
            return f"there is no such track in {hex}"
        if position not in (None, (hex, start)):
            return f"the track of {_stop_names(route)} is not continuous in {hex}"
        if end < FIRST_NODE:
            across = network.map_index.across[6 * network.map_index.hex_number[hex] + end]
            position = (network.map_index.hexes[across // 6], across % 6) if across >= 0 else ("", 0)
        else:
            position = (hex, end)
    if len(route.stops) < 2 or make_route(network, route.train, route.segments) != route:
        return "a route connects two or more stops"
    return None


def _hexsides_used(network: Network, route: Route) -> list[tuple[int, tuple[str, int]]]:
    """The hexsides that a route uses, each with the hex and edge over which it leaves."""
    map_index = network.map_index
    hexsides = []
    for hex, start, end in route.segments:
        if end < FIRST_NODE:
            hexsides.append((map_index.hexside[6 * map_index.hex_number[hex] + end], (hex, end)))
        elif start >= FIRST_NODE:
            hexsides.append((map_index.inner_track[hex], (hex, end)))
    return hexsides


def _stop_names(route: Route) -> str:
    return "-".join(hex for hex, _ in route.stops)


def _route_from_candidate(
    network: Network, graph: RouteGraph, train: str, candidate: CandidateRoute
) -> Route:
    arms: list[tuple[RouteSegment, ...]] = []
    for arm in candidate.arms:
        u = candidate.token
        segments: tuple[RouteSegment, ...] = ()
        for number in arm:
            link = next(link for link in graph.links[u] if link.id == number // 2)
            segments += link.segments
            u = link.to
        arms.append(segments)
    reversed_segments = tuple((hex, end, start) for hex, start, end in reversed(arms[0]))
    return make_route(network, train, reversed_segments + arms[1])


def make_route(network: Network, train: str, segments: tuple[RouteSegment, ...]) -> Route:
    """The route on that track, in the direction that starts with the stop that comes first on the map."""
    stops = [(segments[0][0], segments[0][1] - FIRST_NODE)]
    stops += [(hex, end - FIRST_NODE) for hex, _, end in segments if end >= FIRST_NODE]
    if network.stop_number[stops[-1]] < network.stop_number[stops[0]]:
        stops.reverse()
        segments = tuple((hex, last_end, start) for hex, start, last_end in reversed(segments))
    return Route(train, tuple(stops), segments)
