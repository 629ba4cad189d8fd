"""Running trains: the highest revenue there is has to be collected (1830 §20)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import msgspec

from engine.board.network import Network, Stop
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
from engine.core.actions import Action, RunTrains
from engine.core.components import Components, Node
from engine.core.events import TrainsRan
from engine.core.hooks import do_nothing
from engine.core.state import ConnectionRunTurn, OperatingTurn
from engine.game import Game, cached
from engine.mechanics import Option
from engine.operating.stations import home_node, printed_home

CLAIMABLE_REVENUES = range(0, 20_000, 10)
SEARCH_BUDGET = 400_000
"""Nodes of search for one set of trains."""


def stop_revenue(facts: Components, phase: str, node: Node) -> int:
    """Dollars that a stop brings in that phase: the figure of the latest phase named so far."""
    if isinstance(node.revenue, int):
        return node.revenue
    value = 0
    for each in facts.phases:
        value = node.revenue.get(each.name, value)
        if each.name == phase:
            break
    return value


def train_kind(g: Game, train: str) -> RunningTrain:
    return RunningTrain(
        train, g.train_definition(train).distance, g.components.own_station_bonus.get(train, 0)
    )


class _RouteQuery(NamedTuple):
    """What the best routes follow from."""

    network: Network
    company: str
    trains: tuple[RunningTrain, ...]
    phase: str
    terms: RevenueRules
    required_ends: RequiredConnection | None
    budget: int = SEARCH_BUDGET


@lru_cache(maxsize=4096)
def _best_routes(asked: _RouteQuery) -> BestRoutes:
    network, facts = asked.network, asked.network.facts
    values = {stop: stop_revenue(facts, asked.phase, network.node(stop)) for stop in network.stops}
    company, trains, terms = asked.company, asked.trains, asked.terms
    return best_routes(network, company, trains, values, terms, asked.budget, asked.required_ends)


def _route_query(
    g: Game, company: str, kinds: Iterable[RunningTrain], joined: RequiredConnection | None = None
) -> _RouteQuery:
    terms = g.title.revenue_rules(g, company)
    return _RouteQuery(g.network, company, tuple(kinds), g.state.phase, terms, joined)


def destination_stop(g: Game, company: str) -> Stop | None:
    """The stop that the company is to reach (1870 §11)."""
    hex = g.company_definition(company).destination
    return (hex, 0) if hex else None


def home_stop(g: Game, company: str) -> Stop:
    """The stop where the company began."""
    return printed_home(g, company).hex, home_node(g, company) or 0


def required_ends(g: Game, company: str) -> RequiredConnection | None:
    """The stops between which one train has to go: in a connection run (1870 §11.4.2)."""
    top, goal = g.top, destination_stop(g, company)
    runs = isinstance(top, ConnectionRunTurn) and top.company == company
    return (home_stop(g, company), goal) if runs and goal else None


def best_run(
    g: Game, company: str, trains: list[str] | None = None, budget: int = SEARCH_BUDGET
) -> BestRoutes:
    """The best routes of a company's trains (or of those named), with their revenue in dollars."""
    names = g.company(company).trains if trains is None else trains
    kinds = (train_kind(g, t) for t in sorted(names))
    return _best_routes(_route_query(g, company, kinds, required_ends(g, company))._replace(budget=budget))


@cached
def has_route(g: Game, company: str) -> bool:
    """Whether a train of the company could run anywhere (§20.2)."""
    network, terms = g.network, g.title.revenue_rules(g, company)
    for s in network.token_stops(company):
        area, worth = area_of(network, s, terms), _end_revenue(g, network, s, terms)
        for to, _, runs in chains_from(network, s):
            if area_of(network, to, terms) != area:
                passed = sum(terms.pass_through_bonus.get(run[0], 0) for run in runs[1:-1])
                if worth + _end_revenue(g, network, to, terms) + passed > 0:
                    return True
    return False


def _end_revenue(g: Game, network: Network, s: int, terms: RevenueRules) -> int:
    """Dollars of a stop at the end of a route."""
    value = stop_revenue(g.components, g.state.phase, network.nodes[s])
    return value + terms.end_bonus.get(network.stops[s], 0)


def spell_routes(g: Game, found: BestRoutes) -> tuple[tuple[str, str], ...]:
    return tuple((r.train, format_route(g.network, r)) for r in found.routes)


def run_revenue(g: Game, company: str, run: RunTrains) -> int:
    """Dollars of routes that were said. Raises ValueError with what is wrong with them."""
    if not run.routes:
        return best_run(g, company).revenue
    return _named_revenue(g, company, run, required_ends(g, company))


@cached
def _named_revenue(g: Game, company: str, run: RunTrains, pair: RequiredConnection | None) -> int:
    trains = g.company(company).trains
    if not trains:
        raise ValueError(f"The {company} has no train (§20.2).")
    kinds, memo = (train_kind(g, t) for t in trains), g.network.cache
    asked = _route_query(g, company, kinds, pair)
    known = memo.get(mark := (asked[1:], run.routes))
    if known is None:
        known = memo[mark] = _checked_revenue(g, asked, run)
    assert isinstance(known, int)
    return known


def _checked_revenue(g: Game, asked: _RouteQuery, run: RunTrains) -> int:
    network, company, trains, _, terms, pair, _ = asked
    names = {kind.name for kind in trains}
    routes = []
    for train, text in run.routes:
        if train not in names:
            raise ValueError(f"The {company} has no {train}-train (§20.1).")
        routes.append(parse_route(network, company, text, train))
    if why := refuse_routes(network, company, trains, routes, terms):
        raise ValueError(why)
    if pair and not any({route.stops[0], route.stops[-1]} == set(pair) for route in routes):
        raise ValueError(f"One train has to run between {pair[0][0]} and {pair[1][0]} (§11.4).")
    return sum(company_route_revenue(g, company, route) for route in routes)


def company_route_revenue(g: Game, company: str, route: Route) -> int:
    """Dollars that a route brings the company now, with the train that it names."""

    def value(stop: Stop) -> int:
        return stop_revenue(g.components, g.state.phase, g.network.node(stop))

    tokens = sum(company in g.network.tokens.get(stop, ()) for stop in route.stops)
    own = g.components.own_station_bonus.get(route.train, 0) * tokens
    return route_revenue(g.network, route, value, g.title.revenue_rules(g, company)) + own


@dataclass(frozen=True)
class RunStep:
    """Run the trains.

    `best_only`: nothing below the best revenue is accepted. `claims`: a revenue may be claimed
    that nobody checks. `after`: what follows an announced run.
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
        """Whether track leads from a token to another stop, be it of the same city: the site asks then."""
        return any(
            company not in g.network.tokens.get(stop, ()) for stop in g.network.reachable(company).stops
        )

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"The {turn.company} has to run its trains: run best (§20.3)."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"to run the trains of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        found = best_run(g, turn.company)
        surely = "" if found.proven else " (not proven)"
        yield Option(RunTrains(spell_routes(g, found)), f"Run best: ${found.revenue}{surely}")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, RunTrains)
        if turn.acted:
            return f"The {turn.company} has run (§17)."
        if action.claimed is not None:
            if not self.allows_claims:
                return "Revenue is what the routes bring; it cannot be claimed (§20.3)."
            return None if action.claimed in CLAIMABLE_REVENUES else "A claimed revenue is a multiple of $10."
        try:
            dollars = run_revenue(g, turn.company, action)
        except ValueError as wrong:
            said = str(wrong)
            return said if "§" in said else f"{said[:1].upper()}{said[1:]} (§20.1)."
        if not dollars and not self.is_blocking(g, turn):
            return f"The {turn.company} has no train and route to run (§20.2)."
        if self.best_only and dollars < (most := best_run(g, turn.company).revenue):
            return f"Those routes bring ${dollars}; the highest revenue is ${most} and has to be run (§20.3)."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, RunTrains)
        dollars = run_revenue(g, turn.company, action) if action.claimed is None else action.claimed
        routes = action.routes or spell_routes(g, best_run(g, turn.company))
        g.emit(TrainsRan(turn.company, routes, dollars))
        turn = msgspec.structs.replace(turn, step=self.name, acted=True, revenue=dollars)
        g.replace_top(turn)
        self.after_run(g, turn)

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """There is nothing to run, or it has run."""
