"""Running trains: a company has to run for the highest revenue (1830 §20)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, islice
from typing import NamedTuple

import msgspec

from engine.board.network import Network
from engine.board.route_graph import RevenueRules, area_of, chains_from
from engine.board.route_notation import format_route, parse_route
from engine.board.routes import (
    BestRoutes,
    RequiredConnection,
    Route,
    RunningTrain,
    best_routes,
    refuse_routes,
    route_revenue,
)
from engine.board.tile_geometry import Stop
from engine.core.actions import Action, RunTrains
from engine.core.components import Components, Node
from engine.core.events import TrainsRan
from engine.core.state import ConnectionRunTurn, OperatingTurn
from engine.game import Game, cached
from engine.mechanics import Option, do_nothing
from engine.operating.stations import home_node, printed_home
from engine.operating.turn import Step

CLAIMABLE_REVENUES = range(0, 20_000, 10)
SEARCH_BUDGET = 400_000
"""Nodes that the route search may visit for one company's trains."""
OTHER_RUN_BUDGET, MAX_AVOIDED_STOPS = 5_000, 10
"""Nodes for each of the runs beside the best, and how many of the stops are left out in turn."""
ESTIMATE_BUDGET = 3_000
"""The same where an estimate is enough; it proves most best runs."""


def stop_revenue(components: Components, phase: str, node: Node) -> int:
    """Dollars that a stop is worth in that phase: the value of the latest phase printed up to it."""
    if isinstance(node.revenue, int):
        return node.revenue
    value = 0
    for each in components.phases:
        value = node.revenue.get(each.name, value)
        if each.name == phase:
            break
    return value


def running_train(g: Game, train: str) -> RunningTrain:
    """A type of train as the route search needs it."""
    return RunningTrain(
        train, g.train_definition(train).distance, g.components.own_station_bonus.get(train, 0)
    )


class _RouteQuery(NamedTuple):
    """Everything that the best routes depend on; the key of the cache."""

    network: Network
    company: str
    trains: tuple[RunningTrain, ...]
    phase: str
    rules: RevenueRules
    required_connection: RequiredConnection | None
    budget: int = SEARCH_BUDGET
    avoided: Stop | None = None
    """A stop that counts as worth nothing, so that routes go elsewhere if they can."""


@lru_cache(maxsize=4096)
def _cached_best_routes(query: _RouteQuery) -> BestRoutes:
    network, components = query.network, query.network.components
    values = {stop: stop_revenue(components, query.phase, network.node(stop)) for stop in network.stops}
    if query.avoided:
        values[query.avoided] = 0
    return best_routes(
        network, query.company, query.trains, values, query.rules, query.budget, query.required_connection
    )


def _route_query(
    g: Game, company: str, trains: Iterable[RunningTrain], connection: RequiredConnection | None = None
) -> _RouteQuery:
    rules = g.title.revenue_rules(g, company)
    return _RouteQuery(g.network, company, tuple(trains), g.state.phase, rules, connection)


def destination_stop(g: Game, company: str) -> Stop | None:
    """The company's destination (1870 §11), or None if it has none."""
    hex = g.company_definition(company).destination
    return (hex, 0) if hex else None


def home_stop(g: Game, company: str) -> Stop:
    """The city where the company has its home."""
    return printed_home(g, company).hex, home_node(g, company) or 0


def required_connection(g: Game, company: str) -> RequiredConnection | None:
    """In a connection run the two stops that one train has to join (1870 §11.4.2); otherwise None."""
    top, destination = g.top, destination_stop(g, company)
    in_connection_run = isinstance(top, ConnectionRunTurn) and top.company == company
    return (home_stop(g, company), destination) if in_connection_run and destination else None


def best_run(
    g: Game, company: str, trains: Sequence[str] | None = None, budget: int = SEARCH_BUDGET
) -> BestRoutes:
    """The best routes of a company's trains, with their revenue in dollars.

    `trains`: types to run instead of those that the company owns. `budget`: nodes of search.
    """
    names = g.company(company).trains if trains is None else trains
    running = (running_train(g, t) for t in sorted(names))
    query = _route_query(g, company, running, required_connection(g, company))
    return _cached_best_routes(query._replace(budget=budget))


def other_runs(g: Game, company: str) -> list[tuple[RunTrains, int]]:
    """Runs beside the best, each with its dollars, the highest first.

    They are what the trains earn without one of the stops of the best routes, and what fewer of them earn.
    Trains that only change their routes are no other run.
    """
    best, names = best_run(g, company), sorted(g.company(company).trains)
    connection = required_connection(g, company)
    trains = [running_train(g, name) for name in names]
    fewer = dict.fromkeys(chain.from_iterable(combinations(trains, n) for n in range(len(trains) - 1, 0, -1)))
    query = _route_query(g, company, trains, connection)._replace(budget=OTHER_RUN_BUDGET)
    stops = dict.fromkeys(stop for route in best.routes for stop in route.stops)
    queries = [query._replace(avoided=stop) for stop in islice(stops, MAX_AVOIDED_STOPS)]
    queries += [query._replace(trains=each) for each in fewer if not connection]
    runs: dict[object, tuple[RunTrains, int]] = {}
    for found in (best, *map(_cached_best_routes, queries)):
        dollars = sum(company_route_revenue(g, company, route) for route in found.routes)
        track = frozenset(route.segments for route in found.routes)
        runs.setdefault((track, dollars), (RunTrains(format_routes(g, found)), dollars))
    _, *others = runs.values()
    return sorted((run for run in others if run[0].routes), key=lambda run: -run[1])


@cached
def has_route(g: Game, company: str) -> bool:
    """Whether a train of any length could run a route of the company that earns something (1830 §20.2)."""
    network, rules = g.network, g.title.revenue_rules(g, company)
    for start in network.token_stops(company):
        area, start_revenue = area_of(network, start, rules), _end_revenue(g, network, start, rules)
        for end, _, segments in chains_from(network, start):
            if area_of(network, end, rules) != area:
                passed = sum(rules.pass_through_bonus.get(segment[0], 0) for segment in segments[1:-1])
                if start_revenue + _end_revenue(g, network, end, rules) + passed > 0:
                    return True
    return False


def _end_revenue(g: Game, network: Network, stop: int, rules: RevenueRules) -> int:
    """Dollars of a stop (by its number in the network) at the end of a route."""
    value = stop_revenue(g.components, g.state.phase, network.nodes[stop])
    return value + rules.end_bonus.get(network.stops[stop], 0)


def format_routes(g: Game, best: BestRoutes) -> tuple[tuple[str, str], ...]:
    """Train and route in notation, for each route of the set."""
    return tuple((r.train, format_route(g.network, r)) for r in best.routes)


def run_revenue(g: Game, company: str, run: RunTrains) -> int:
    """Dollars that the routes of a run earn; those of the best routes where the run names none.

    Raises ValueError with a sentence that says why the company cannot run them.
    """
    if not run.routes:
        return best_run(g, company).revenue
    return _named_revenue(g, company, run, required_connection(g, company))


@cached
def _named_revenue(g: Game, company: str, run: RunTrains, connection: RequiredConnection | None) -> int:
    """Dollars that the named routes earn; kept with the network too, which lives longer than the position."""
    trains = g.company(company).trains
    if not trains:
        raise ValueError(f"The {company} has no train{g.cite('1830 §20.2')}.")
    query = _route_query(g, company, (running_train(g, t) for t in trains), connection)
    cache, key = g.network.cache, (query[1:], run.routes)
    revenue = cache.get(key)
    if revenue is None:
        revenue = cache[key] = _checked_revenue(g, query, run)
    assert isinstance(revenue, int)
    return revenue


def _checked_revenue(g: Game, query: _RouteQuery, run: RunTrains) -> int:
    network, company, connection = query.network, query.company, query.required_connection
    names = {train.name for train in query.trains}
    routes = []
    for train, text in run.routes:
        if train not in names:
            raise ValueError(f"The {company} has no {train}-train{g.cite('1830 §20.1')}.")
        try:
            routes.append(parse_route(network, company, text, train))
        except ValueError as error:
            raise ValueError(_route_refusal(g, str(error))) from error
    if reason := refuse_routes(network, company, query.trains, routes, query.rules):
        raise ValueError(_route_refusal(g, reason))
    if connection and not any({route.stops[0], route.stops[-1]} == set(connection) for route in routes):
        home, destination = connection[0][0], connection[1][0]
        raise ValueError(f"One train has to run between {home} and {destination}{g.cite('1870 §11.4')}.")
    return sum(company_route_revenue(g, company, route) for route in routes)


def _route_refusal(g: Game, reason: str) -> str:
    """What `engine.board` says against a route, as a sentence with its citation."""
    return f"{reason[:1].upper()}{reason[1:]}{g.cite('1830 §20.1')}."


def company_route_revenue(g: Game, company: str, route: Route) -> int:
    """Dollars that a route earns for the company now, run by the train that it names."""

    def value(stop: Stop) -> int:
        return stop_revenue(g.components, g.state.phase, g.network.node(stop))

    tokens = sum(company in g.network.tokens.get(stop, ()) for stop in route.stops)
    token_bonus = g.components.own_station_bonus.get(route.train, 0) * tokens
    return route_revenue(g.network, route, value, g.title.revenue_rules(g, company)) + token_bonus


@dataclass(frozen=True)
class RunStep(Step[RunTrains]):
    """Run the trains (1830 §20).

    `best_only`: less than the best revenue is refused. `allows_claims`: the president may claim a revenue
    that nobody checks. `after_run`: called after the run, with the turn.
    """

    best_only: bool = True
    allows_claims: bool = False
    after_run: Callable[[Game, OperatingTurn], None] = do_nothing
    name: str = "run"
    handles: tuple[type[Action], ...] = (RunTrains,)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        if turn.acted or not g.company(turn.company).trains:
            return False
        return has_route(g, turn.company) or (
            self.allows_claims and self._reaches_another_stop(g, turn.company)
        )

    @staticmethod
    def _reaches_another_stop(g: Game, company: str) -> bool:
        """Whether track leads from a token to another stop, even in the same hex: then the site asks."""
        return any(
            company not in g.network.tokens.get(stop, ()) for stop in g.network.reachable(company).stops
        )

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"The {turn.company} has to run its trains: run best{g.cite('1830 §20.3')}."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"run the trains of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        best = best_run(g, turn.company)
        proof = "" if best.proven else " (not proven)"
        yield Option(RunTrains(format_routes(g, best)), f"Run best: ${best.revenue:,}{proof}")

    def refusal(self, g: Game, turn: OperatingTurn, action: RunTrains) -> str | None:
        if turn.acted:
            return f"The {turn.company} has already run its trains{g.cite('1830 §17')}."
        if action.claimed_revenue is not None:
            if not self.allows_claims:
                return f"Revenue is what the routes earn; it cannot be claimed{g.cite('1830 §20.3')}."
            return (
                None
                if action.claimed_revenue in CLAIMABLE_REVENUES
                else "A claimed revenue is a multiple of $10."
            )
        try:
            dollars = run_revenue(g, turn.company, action)
        except ValueError as error:
            return str(error)
        if not dollars and not self.is_blocking(g, turn):
            return f"The {turn.company} has no train and no route to run{g.cite('1830 §20.2')}."
        if self.best_only and dollars < (best := best_run(g, turn.company).revenue):
            required = f"the {turn.company} has to run for ${best:,}, the highest revenue"
            return f"Those routes earn ${dollars:,}; {required}{g.cite('1830 §20.3')}."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: RunTrains) -> None:
        dollars = (
            run_revenue(g, turn.company, action) if action.claimed_revenue is None else action.claimed_revenue
        )
        routes = action.routes or format_routes(g, best_run(g, turn.company))
        g.emit(TrainsRan(turn.company, routes, dollars))
        turn = msgspec.structs.replace(turn, step=self.name, acted=True, revenue=dollars)
        g.replace_top(turn)
        self.after_run(g, turn)
