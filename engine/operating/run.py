"""Running trains: the highest revenue there is has to be collected (1830 §20)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from engine.actions import Action, Run
from engine.board.chains import Terms
from engine.board.network import Network, Stop
from engine.board.routes import Best, Joining, Route, TrainKind, best, check
from engine.board.routes import revenue as route_revenue
from engine.board.spelling import read_route, spell_route
from engine.events import Ran
from engine.facts import Facts, Node
from engine.game import Game
from engine.operating.stations import home_node
from engine.state import ConnectionTurn, OperatingTurn
from engine.title import NO_EARNINGS, Earnings, Option

CLAIMABLE = range(0, 20_000, 10)
BUDGET = 400_000
"""Nodes of search for one set of trains."""


def stop_value(facts: Facts, phase: str, node: Node) -> int:
    """Dollars that a stop brings in that phase: the figure of the latest phase named so far."""
    if isinstance(node.revenue, int):
        return node.revenue
    value = 0
    for each in facts.phases:
        value = node.revenue.get(each.name, value)
        if each.name == phase:
            break
    return value


def train_kind(g: Game, train: str) -> TrainKind:
    return TrainKind(train, g.train_facts(train).distance)


@lru_cache(maxsize=4096)
def _best(
    network: Network,
    company: str,
    trains: tuple[TrainKind, ...],
    phase: str,
    earnings: Earnings,
    joining: Joining | None,
) -> Best:
    values = _values(network, phase, earnings)
    terms = Terms(at_ends=dict(earnings.at_ends))
    return best(network, company, trains, values, terms, budget=BUDGET, joining=joining)


def _values(network: Network, phase: str, earnings: Earnings) -> dict[Stop, int]:
    """Dollars by stop, what it brings the company in particular included."""
    values = {stop: stop_value(network.facts, phase, network.node(stop)) for stop in network.stops}
    for stop, dollars in earnings.at_stops:
        values[stop] += dollars
    return values


def destination(g: Game, company: str) -> Stop | None:
    """The stop that the company is to reach (1870 §11)."""
    hex = g.company_facts(company).destination
    return (hex, 0) if hex else None


def home(g: Game, company: str) -> Stop:
    """The stop where the company began."""
    return g.company_facts(company).home.hex, home_node(g, company) or 0


def joining(g: Game, company: str) -> Joining | None:
    """The stops between which one train has to go: in a connection run (1870 §11.4.2)."""
    top, goal = g.top, destination(g, company)
    runs = isinstance(top, ConnectionTurn) and top.company == company
    return (home(g, company), goal) if runs and goal else None


def best_run(g: Game, company: str, trains: list[str] | None = None) -> Best:
    """The best routes of a company's trains (or of those named), with their revenue in dollars."""
    names = g.company(company).trains if trains is None else trains
    kinds = tuple(train_kind(g, t) for t in sorted(names))
    return _best(g.network, company, kinds, g.state.phase, g.title.earnings(g, company), joining(g, company))


def route_value(g: Game, company: str, route: Route) -> int:
    """Dollars that a route brings the company now."""
    earnings = g.title.earnings(g, company)
    values = _values(g.network, g.state.phase, earnings)
    return route_revenue(g.network, route, values, Terms(at_ends=dict(earnings.at_ends)))


def has_route(g: Game, company: str) -> bool:
    """Whether a train of the company could run anywhere (§20.2)."""
    kinds = (TrainKind("", 2),)
    return bool(_best(g.network, company, kinds, g.state.phase, NO_EARNINGS, None).routes)


def spelled(g: Game, found: Best) -> tuple[tuple[str, str], ...]:
    return tuple((r.train, spell_route(g.network, r)) for r in found.routes)


@dataclass(frozen=True)
class RunStep:
    """Run the trains.

    `best_only`: nothing below the best revenue is accepted. `claims`: a revenue may be claimed
    that nobody checks.
    """

    best_only: bool = True
    claims: bool = False
    name: str = "run"
    hears: tuple[type[Action], ...] = (Run,)

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        return not turn.acted and bool(g.company(turn.company).trains) and has_route(g, turn.company)

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"The {turn.company} has to run its trains: run best (§20.3)."

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to run the trains of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        found = best_run(g, turn.company)
        surely = "" if found.proven else " (not proven)"
        yield Option(Run(spelled(g, found)), f"Run best: ${found.revenue}{surely}")

    def revenue(self, g: Game, company: str, run: Run) -> int:
        """Dollars of routes that were said. Raises ValueError with what is wrong with them."""
        if not run.routes:
            return best_run(g, company).revenue
        if not g.company(company).trains:
            raise ValueError(f"The {company} has no train (§20.2).")
        trains = [train_kind(g, t) for t in g.company(company).trains]
        routes = []
        for train, text in run.routes:
            if train not in g.company(company).trains:
                raise ValueError(f"The {company} has no {train}-train (§20.1).")
            routes.append(msgspec.structs.replace(read_route(g.network, company, text), train=train))
        if why := check(g.network, company, trains, routes):
            raise ValueError(why)
        pair = joining(g, company)
        if pair and not any({route.stops[0], route.stops[-1]} == set(pair) for route in routes):
            raise ValueError(f"One train has to run between {pair[0][0]} and {pair[1][0]} (§11.4).")
        return sum(route_value(g, company, route) for route in routes)

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, Run)
        if turn.acted:
            return f"The {turn.company} has run (§17)."
        if action.claimed is not None:
            if not self.claims:
                return "Revenue is what the routes bring; it cannot be claimed (§20.3)."
            return None if action.claimed in CLAIMABLE else "A claimed revenue is a multiple of $10."
        try:
            revenue = self.revenue(g, turn.company, action)
        except ValueError as wrong:
            return str(wrong)
        if not revenue and not self.waits(g, turn):
            return f"The {turn.company} has no train and route to run (§20.2)."
        if self.best_only and revenue < (most := best_run(g, turn.company).revenue):
            return f"Those routes bring ${revenue}; the highest revenue is ${most} and has to be run (§20.3)."
        return None

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, Run)
        revenue = action.claimed
        if revenue is None:
            revenue = self.revenue(g, turn.company, action)
        routes = action.routes or spelled(g, best_run(g, turn.company))
        g.emit(Ran(turn.company, routes, revenue))
        g.change(msgspec.structs.replace(turn, step=self.name, acted=True, revenue=revenue))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """There is nothing to run, or it has run."""
