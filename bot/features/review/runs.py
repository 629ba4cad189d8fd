"""Routes and trains: what each run could have earned, which tiles and tokens changed best runs, and what each
train earned against what it cost. Routes are searched exactly (`engine.best_run`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import engine
from engine.core.events import (
    AnyEvent,
    CashMoved,
    CityTokenPlaced,
    CompanyReturned,
    FramePushed,
    MineOrBridgeBuilt,
    PhaseStarted,
    TileLaid,
    TokenPlaced,
    TrackEvent,
    TrainMoved,
    TrainsRan,
    TrainsRusted,
)
from engine.core.reasons import CashReason, TrainReason
from engine.core.state import ConnectionRunTurn, OperatingTurn
from engine.game_text import GameHistory
from engine.operating.run import ESTIMATE_BUDGET, best_run


class Run(NamedTuple):
    """A run: dollars that it earned, and the most that was possible, by which routes if that is more.

    `at`: of the move, from 0."""

    at: int
    company: str
    revenue: int
    best: int
    best_routes: tuple[tuple[str, str], ...]


def runs_of(game: GameHistory) -> list[Run]:
    """Every run of the game, in order.

    A revenue that was claimed or is that of a connection run counts as a run.
    """
    state, found = engine.copy_state(game.start), []
    for index, move in enumerate(game.lines):
        for event in move.events:
            if isinstance(event, TrainsRan):
                best = _best_revenue(engine.game_of(state), event.company)
                trains = engine.best_run(state, event.company) if event.revenue < best else []
                routes = tuple((train.train, train.route) for train in trains)
                found.append(Run(index, event.company, event.revenue, best, routes))
            event.apply(state)
    return found


OF_TRAINS = TrainMoved | TrainsRusted | PhaseStarted | CompanyReturned
OF_TRACK = TrackEvent | CityTokenPlaced | MineOrBridgeBuilt
Occasion = Literal["track", "trains"]
"""What changed a best run: tiles and tokens, or the trains of the company and a phase."""


class BestRunChange(NamedTuple):
    """The dollars of a company's best run before and after a move. `at`: of the move, from 0."""

    at: int
    company: str
    before: int
    after: int
    occasion: Occasion
    holdings: dict[str, int]
    """Percent of the company by seat, after the move."""

    @property
    def dollars(self) -> int:
        """Dollars by which it rose; below zero if it fell."""
        return self.after - self.before


def best_run_changes(game: GameHistory) -> list[BestRunChange]:
    """Every change of a best run by a tile, a token or a train, in order."""
    state, found = engine.copy_state(game.start), list[BestRunChange]()
    best = dict[str, int]()
    for index, move in enumerate(game.lines):
        engine.fold(move.events, state)
        occasion = _occasion(move.events)
        if occasion is None:
            continue
        for company, after in _best_runs(state, _companies_affected(state, move.events)).items():
            if after != (before := best.get(company, 0)):
                shares = state.companies[company].shares
                held = {seat: percent for seat, percent in shares.items() if engine.is_seat(seat)}
                found.append(BestRunChange(index, company, before, after, occasion, held))
                best[company] = after
    return found


def run_indices(game: GameHistory) -> dict[str, list[int]]:
    """By company the index of the run of each of its operating turns; where it ran nothing, of the move with
    which the turn began. Connection runs are no turns."""
    state, found = engine.copy_state(game.start), defaultdict[str, list[int]](list)
    for index, move in enumerate(game.lines):
        for event in move.events:
            frame = event.frame if isinstance(event, FramePushed) else state.stack[-1]
            if isinstance(frame, OperatingTurn) and not isinstance(frame, ConnectionRunTurn):
                if isinstance(event, FramePushed):
                    found[frame.company].append(index)
                elif isinstance(event, TrainsRan):
                    found[frame.company][-1:] = [index]
            event.apply(state)
    return found


def _occasion(events: Sequence[AnyEvent]) -> Occasion | None:
    if any(isinstance(event, OF_TRAINS) for event in events):
        return "trains"
    return "track" if any(isinstance(event, OF_TRACK) for event in events) else None


def _companies_affected(state: engine.State, events: Iterable[AnyEvent]) -> set[str]:
    """The companies whose best run may be another one; after a change on one hex, those that reach it."""
    found, network = set[str](), engine.game_of(state).network
    for event in events:
        match event:
            case TileLaid(_, hex) | TokenPlaced(_, hex):
                for company, co in state.companies.items():
                    reached = network.reachable(company) if co.trains else None
                    if reached and (hex in reached.edges or any(hex == stop for stop, _ in reached.stops)):
                        found.add(company)
            case TrainMoved(_, source, target):
                found |= {source, target} & state.companies.keys()
            case _ if isinstance(event, OF_TRACK | TrainsRusted | CompanyReturned):
                return set(state.companies)
    return found


def _best_runs(state: engine.State, companies: Iterable[str]) -> dict[str, int]:
    """Dollars of each company's best ordinary run, also where a connection run is on."""
    stack, state.stack = state.stack, state.stack[:1]
    try:
        g = engine.game_of(state)
        return {
            company: _best_revenue(g, company) if co.trains and co.cell else 0
            for company, co in state.companies.items()
            if company in companies
        }
    finally:
        state.stack = stack


def _best_revenue(g: engine.Game, company: str) -> int:
    """Dollars of a company's best run: by a search as short as a robot's, where that proves it, so that its
    opinion finds it in the cache."""
    estimate = best_run(g, company, budget=ESTIMATE_BUDGET)
    return (estimate if estimate.proven else best_run(g, company)).revenue


# -- trains ------------------------------------------------------------------------------------


class TrainAccount(NamedTuple):
    """A train from its purchase at the bank or the pool on, through all companies that owned it.

    `owners`: in order. `cost`: dollars that the first paid; `earned`: by all of them, in so many `runs`.
    `bought`, `gone`: indices of moves; `gone` is None for a train in the game at the end. `end`: why it went.
    """

    owners: tuple[str, ...]
    train: str
    cost: int
    bought: int
    earned: int
    runs: int
    gone: int | None
    end: str

    @property
    def net(self) -> int:
        """Dollars that it earned above what it cost."""
        return self.earned - self.cost


class _Owned:
    """A train that a company has, while the game is gone through."""

    def __init__(self, company: str, train: str, cost: int, bought: int) -> None:
        self.owners, self.train, self.cost, self.bought = [company], train, cost, bought
        self.earned = self.runs = 0

    def is_of(self, company: str, train: str) -> bool:
        """Whether it is a train of that type and of that company."""
        return (self.owners[-1], self.train) == (company, train)

    def account(self, gone: int | None = None, end: str = "") -> TrainAccount:
        """What is known of it."""
        owners = tuple(self.owners)
        return TrainAccount(owners, self.train, self.cost, self.bought, self.earned, self.runs, gone, end)


def train_accounts(game: GameHistory) -> list[TrainAccount]:
    """Every train that a company has bought, in order of purchase.

    Of equal trains of one company the oldest is taken to run the best of their routes, and to be sold first.
    """
    state, owned, accounts = engine.copy_state(game.start), list[_Owned](), list[TrainAccount]()
    for index, move in enumerate(game.lines):
        for at, event in enumerate(move.events):
            match event:
                case TrainsRan():
                    _credit(state, event, owned)
                case TrainsRusted(train):
                    accounts += [each.account(index, "rusted") for each in owned if each.train == train]
                    owned = [each for each in owned if each.train != train]
                case TrainMoved(train, source, target, reason):
                    mine = next((each for each in owned if each.is_of(source, train)), None)
                    if target in state.companies and mine is not None:
                        mine.owners.append(target)
                    elif target in state.companies:
                        owned.append(_Owned(target, train, _price_paid(move.events[:at], event), index))
                    elif mine is not None:
                        accounts.append(mine.account(index, reason.replace("_", " ")))
                        owned.remove(mine)
            event.apply(state)
    accounts += [train.account() for train in owned]
    return sorted(accounts, key=lambda account: account.bought)


def _price_paid(before: Sequence[AnyEvent], event: TrainMoved) -> int:
    """Dollars that the company paid for a train, in the events of the move before it."""
    if event.reason is not TrainReason.BOUGHT:
        return 0
    paid = [
        e.amount
        for e in before
        if isinstance(e, CashMoved) and e.reason is CashReason.TRAIN and e.source == event.target
    ]
    return paid[-1] if paid else 0


def _credit(state: engine.State, run: TrainsRan, owned: Sequence[_Owned]) -> None:
    """Credit the trains of a company with what their routes earned."""
    routes = sorted(engine.train_runs(state, run.company, run.routes), key=lambda each: -each.revenue)
    ran = set[int]()
    for route in routes:
        for train in owned:
            if train.is_of(run.company, route.train) and id(train) not in ran:
                train.earned += route.revenue
                train.runs += 1
                ran.add(id(train))
                break
