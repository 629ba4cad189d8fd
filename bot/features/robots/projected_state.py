"""What a projection knows: cash, trains, prices and shares as plain values, and what companies will earn."""

from __future__ import annotations

from zlib import crc32

from bot.features.robots.board_facts import BoardFacts
from engine import BANK, IPO, Game, is_seat
from engine.core.components import TrainDefinition
from engine.core.state import OperatingTurn
from engine.finance.ownership import certificate_limit, share_percent

SOON = 3
"""Trains that the bank still sells before those that are said to rust soon."""
SCATTER = 0.2
"""By which part revenues, and what players make of a share, differ from what is expected."""
CASH_SCATTER = 400
"""Dollars, about the price of a train, by which the treasuries of companies that do not act differ from
sample to sample, and hands by half of that. A few dollars decide when a type of train begins; so no plan is
chosen for what they happen to bring."""


class Stock:
    """A company in a projection; see `engine.core.state.Company` for what it holds.

    lay_cost: dollars of the tile that it has to lay before its track grows.
    """

    __slots__ = (
        "at", "cash", "floated", "has_operated", "ipo_price", "lay_cost", "loans", "needed", "president",
        "share", "shares", "since", "sym", "trains",
    )  # fmt: skip

    def __init__(self, g: Game, sym: str) -> None:
        co = g.company(sym)
        self.sym, self.at, self.president = sym, co.cell or (0, 0), co.president
        self.cash = float(g.cash(sym) + g.title.flotation.awaited(g, sym))
        self.trains: list[str] = list(co.trains)
        self.shares: dict[str, int] = dict(co.shares)
        self.floated, self.has_operated, self.loans = co.floated, co.has_operated, co.loans
        self.ipo_price, self.share = co.par or 0, share_percent(g, sym)
        self.since, self.lay_cost = 0, 0
        self.needed = g.company_definition(sym).float_percent


class ProjectedState:
    """A position in plain values. `facts`: of its board, or of that of a position shortly before.

    `sample`: which of several futures is projected, with other luck of companies and other tastes of players.
    """

    def __init__(self, g: Game, facts: BoardFacts, sample: int = 0) -> None:
        self.g, self.facts = g, facts
        self.sample = sample
        self.luck: dict[tuple[str, str], float] = {}
        state, parts = g.state, g.components
        self.seats = list(state.active_seats)
        self.cash: dict[str, float] = {seat: float(g.cash(seat)) for seat in state.seats}
        self.bank = float(g.cash(BANK)) if parts.bank is not None else float("inf")
        self.depot = [(t, state.depot[t.name]) for t in parts.trains if state.depot[t.name] != 0]
        self.pool = list(state.pool_trains)
        self.phases = parts.phases
        self.phase = parts.phases.index(g.phase)
        self.companies = {
            c: Stock(g, c) for c, co in state.companies.items() if co.cell is not None and not co.closed
        }
        acting = {frame.company for frame in state.stack if isinstance(frame, OperatingTurn)}
        for stock in self.companies.values():
            if stock.floated:
                scatter = CASH_SCATTER * (stock.sym not in acting)
                stock.cash = max(stock.cash + scatter * self._drawn(f"{stock.sym} cash"), 0.0)
                stock.lay_cost = facts.o.lay_cost(stock.sym)
        for seat in self.seats:
            self.cash[seat] = max(self.cash[seat] + CASH_SCATTER / 2 * self._drawn(f"{seat} cash"), 0.0)
        self.unstarted = [c for c, co in state.companies.items() if co.cell is None and not co.closed]
        self.privates = [
            (owner, g.private_definition(p).revenue) for p, owner in g.owned_privates() if is_seat(owner)
        ]
        self.rounds, self.terms = 0, facts.o.dividend_terms
        self.broken = state.bank_broken
        self.interest = state.interest_per_loan or (parts.loans.rate_step if parts.loans else 0)
        self.limit = certificate_limit(g)
        self.pool_limit, self.percent_limit = parts.limits.pool_percent, parts.limits.player_percent

    def revenue(self, stock: Stock) -> float:
        trains = tuple(sorted(stock.trains))
        if stock.lay_cost > stock.cash:
            return self.chance(stock.sym) * self.facts.o.revenue(stock.sym, trains)
        return self.estimate(stock.sym, trains, self.rounds - stock.since)

    def estimate(self, sym: str, trains: tuple[str, ...], rounds: int) -> float:
        color = self.phases[self.phase].tile_colors[-1]
        return self.chance(sym) * self.facts.revenue(sym, trains, rounds, color)

    def chance(self, one: str, other: str = "") -> float:
        """A factor around 1 by which this sample differs; the same for the same names."""
        key = one, other
        if key not in self.luck:
            self.luck[key] = 1 + SCATTER * self._drawn(f"{one} {other}")
        return self.luck[key]

    def _drawn(self, name: str) -> float:
        """A number from -1 to 1, the same for the same name and sample; 0 in the first sample."""
        if not self.sample:
            return 0.0
        return 2 * crc32(f"{self.sample} {name}".encode()) / 2**32 - 1

    def rise(self, stock: Stock, revenue: float) -> int:
        """Dollars by which the price rises where the company pays so much."""
        price = self.facts.price(stock.at)
        if self.terms.rise_needs_price and revenue < price:
            return 0
        return self.facts.price(self.facts.moved(stock.at, "right")) - price

    def fill_treasury(self, stock: Stock) -> None:
        """Shares that are left in the initial offering as the company floats go where the title says."""
        if self.g.title.flotation.rest_to_treasury and (rest := stock.shares.pop(IPO, 0)):
            stock.shares[stock.sym] = stock.shares.get(stock.sym, 0) + rest

    def all_rust_soon(self, stock: Stock) -> bool:
        """Whether all trains of a company will soon rust."""
        return all(self._rusts_soon(name) for name in stock.trains)

    def _rusts_soon(self, name: str) -> bool:
        definition = self.g.train_definition(name)
        rust, left = definition.rusts_on or definition.obsolete_on, 0
        if rust is None:
            return False
        for train, count in self.depot:
            if train.name == rust:
                return True
            left += SOON if count is None else count
            if left > SOON:
                return False
        return False

    def next_train(self) -> TrainDefinition | None:
        return self.depot[0][0] if self.depot else None

    def started(self, sym: str, par: int) -> Stock:
        """A company that starts at a par price."""
        at = self.g.title.par_cell(par)
        assert at is not None
        stock = Stock(self.g, sym)
        stock.at, stock.ipo_price, stock.since = at, par, self.rounds
        self.companies[sym] = stock
        self.unstarted.remove(sym)
        return stock

    def rounds_left(self) -> float:
        if self.bank == float("inf"):
            return 3.0 + sum(count or 0 for _, count in self.depot) / 3
        if self.bank < 0:
            return 0.0
        flow = sum(self.revenue(stock) for stock in self.companies.values() if stock.floated) + 100
        return self.bank / flow

    def certificates(self, seat: str) -> int:
        count = sum(1 for owner, _ in self.privates if owner == seat)
        if not self.g.components.privates_count_as_certificates or self.phases[self.phase].closes_privates:
            count = 0
        for stock in self.companies.values():
            held = stock.shares.get(seat, 0)
            if held > 0 and not self.facts.is_exempt(stock.at):
                count += held // stock.share - (stock.president == seat)
        return count
