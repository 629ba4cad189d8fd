"""Running trains: the highest revenue there is has to be collected (1830 §20)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import msgspec

from engine.actions import Action, Run
from engine.board.chains import Terms, area_of, hops_from
from engine.board.network import Network, Stop
from engine.board.routes import Best, Joining, Route, TrainKind, best, check, revenue
from engine.board.spelling import read_route, spell_route
from engine.events import Ran
from engine.facts import Facts, Node
from engine.game import Game, derived
from engine.operating.stations import home_node, printed_home
from engine.state import ConnectionTurn, OperatingTurn
from engine.title import Option

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
    return TrainKind(train, g.train_facts(train).distance, g.facts.own_station_bonus.get(train, 0))


class _Asked(NamedTuple):
    """What the best routes follow from."""

    network: Network
    company: str
    trains: tuple[TrainKind, ...]
    phase: str
    terms: Terms
    joining: Joining | None
    budget: int = BUDGET


@lru_cache(maxsize=4096)
def _best(asked: _Asked) -> Best:
    network, facts = asked.network, asked.network.facts
    values = {stop: stop_value(facts, asked.phase, network.node(stop)) for stop in network.stops}
    company, trains, terms = asked.company, asked.trains, asked.terms
    return best(network, company, trains, values, terms, asked.budget, asked.joining)


def _asked(g: Game, company: str, kinds: Iterable[TrainKind], joined: Joining | None = None) -> _Asked:
    terms = g.title.terms(g, company)
    return _Asked(g.network, company, tuple(kinds), g.state.phase, terms, joined)


def destination(g: Game, company: str) -> Stop | None:
    """The stop that the company is to reach (1870 §11)."""
    hex = g.company_facts(company).destination
    return (hex, 0) if hex else None


def home(g: Game, company: str) -> Stop:
    """The stop where the company began."""
    return printed_home(g, company).hex, home_node(g, company) or 0


def joining(g: Game, company: str) -> Joining | None:
    """The stops between which one train has to go: in a connection run (1870 §11.4.2)."""
    top, goal = g.top, destination(g, company)
    runs = isinstance(top, ConnectionTurn) and top.company == company
    return (home(g, company), goal) if runs and goal else None


def best_run(g: Game, company: str, trains: list[str] | None = None, budget: int = BUDGET) -> Best:
    """The best routes of a company's trains (or of those named), with their revenue in dollars."""
    names = g.company(company).trains if trains is None else trains
    kinds = (train_kind(g, t) for t in sorted(names))
    return _best(_asked(g, company, kinds, joining(g, company))._replace(budget=budget))


@derived
def has_route(g: Game, company: str) -> bool:
    """Whether a train of the company could run anywhere (§20.2)."""
    network, terms = g.network, g.title.terms(g, company)
    for s in network.own(company):
        area, worth = area_of(network, s, terms), _worth(g, network, s, terms)
        for to, _, runs in hops_from(network, s):
            if area_of(network, to, terms) != area:
                passed = sum(terms.passing.get(run[0], 0) for run in runs[1:-1])
                if worth + _worth(g, network, to, terms) + passed > 0:
                    return True
    return False


def _worth(g: Game, network: Network, s: int, terms: Terms) -> int:
    """Dollars of a stop at the end of a route."""
    value = stop_value(g.facts, g.state.phase, network.nodes[s])
    return value + terms.at_ends.get(network.stops[s], 0)


def spelled(g: Game, found: Best) -> tuple[tuple[str, str], ...]:
    return tuple((r.train, spell_route(g.network, r)) for r in found.routes)


def earned(g: Game, company: str, run: Run) -> int:
    """Dollars of routes that were said. Raises ValueError with what is wrong with them."""
    if not run.routes:
        return best_run(g, company).revenue
    return _brought(g, company, run, joining(g, company))


@derived
def _brought(g: Game, company: str, run: Run, pair: Joining | None) -> int:
    trains = g.company(company).trains
    if not trains:
        raise ValueError(f"The {company} has no train (§20.2).")
    kinds, memo = (train_kind(g, t) for t in trains), g.network.memo
    asked = _asked(g, company, kinds, pair)
    known = memo.get(mark := (asked[1:], run.routes))
    if known is None:
        known = memo[mark] = _earned(g, asked, run)
    assert isinstance(known, int)
    return known


def _earned(g: Game, asked: _Asked, run: Run) -> int:
    network, company, trains, _, terms, pair, _ = asked
    names = {kind.name for kind in trains}
    routes = []
    for train, text in run.routes:
        if train not in names:
            raise ValueError(f"The {company} has no {train}-train (§20.1).")
        routes.append(read_route(network, company, text, train))
    if why := check(network, company, trains, routes, terms):
        raise ValueError(why)
    if pair and not any({route.stops[0], route.stops[-1]} == set(pair) for route in routes):
        raise ValueError(f"One train has to run between {pair[0][0]} and {pair[1][0]} (§11.4).")
    return sum(route_value(g, company, route) for route in routes)


def route_value(g: Game, company: str, route: Route) -> int:
    """Dollars that a route brings the company now, with the train that it names."""

    def value(stop: Stop) -> int:
        return stop_value(g.facts, g.state.phase, g.network.node(stop))

    tokens = sum(company in g.network.tokens.get(stop, ()) for stop in route.stops)
    own = g.facts.own_station_bonus.get(route.train, 0) * tokens
    return revenue(g.network, route, value, g.title.terms(g, company)) + own


@dataclass(frozen=True)
class RunStep:
    """Run the trains.

    `best_only`: nothing below the best revenue is accepted. `claims`: a revenue may be claimed
    that nobody checks. `after`: what follows an announced run.
    """

    best_only: bool = True
    claims: bool = False
    after: Callable[[Game, OperatingTurn], None] = lambda g, turn: None
    name: str = "run"
    hears: tuple[type[Action], ...] = (Run,)

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        if turn.acted or not g.company(turn.company).trains:
            return False
        return has_route(g, turn.company) or (self.claims and self._leads_on(g, turn.company))

    @staticmethod
    def _leads_on(g: Game, company: str) -> bool:
        """Whether track leads from a token to another stop, be it of the same city: the site asks then."""
        return any(company not in g.network.tokens.get(stop, ()) for stop in g.network.reach(company).stops)

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"The {turn.company} has to run its trains: run best (§20.3)."

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to run the trains of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        found = best_run(g, turn.company)
        surely = "" if found.proven else " (not proven)"
        yield Option(Run(spelled(g, found)), f"Run best: ${found.revenue}{surely}")

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, Run)
        if turn.acted:
            return f"The {turn.company} has run (§17)."
        if action.claimed is not None:
            if not self.claims:
                return "Revenue is what the routes bring; it cannot be claimed (§20.3)."
            return None if action.claimed in CLAIMABLE else "A claimed revenue is a multiple of $10."
        try:
            dollars = earned(g, turn.company, action)
        except ValueError as wrong:
            said = str(wrong)
            return said if "§" in said else f"{said[:1].upper()}{said[1:]} (§20.1)."
        if not dollars and not self.waits(g, turn):
            return f"The {turn.company} has no train and route to run (§20.2)."
        if self.best_only and dollars < (most := best_run(g, turn.company).revenue):
            return f"Those routes bring ${dollars}; the highest revenue is ${most} and has to be run (§20.3)."
        return None

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, Run)
        dollars = earned(g, turn.company, action) if action.claimed is None else action.claimed
        routes = action.routes or spelled(g, best_run(g, turn.company))
        g.emit(Ran(turn.company, routes, dollars))
        turn = msgspec.structs.replace(turn, step=self.name, acted=True, revenue=dollars)
        g.change(turn)
        self.after(g, turn)

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """There is nothing to run, or it has run."""
