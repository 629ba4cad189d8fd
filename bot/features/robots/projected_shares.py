"""The stock rounds of a projection: what all players buy, sell and start by the same simple rules.

Each seat in turn floats what it has started, else buys the share that pays most for its price, or starts a
company that it can float alone. At the certificate limit it first sells the share that pays least. The round
ends when all have passed in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bot.features.robots.projected_state import ProjectedState, Stock
from engine import IPO, POOL
from engine.finance.ownership import share_percent

RUSTING = 0.5
"""How a share counts whose company has no train but those that will soon rust."""
SWAP = 1.3
"""How many times more a share has to pay than the one that is sold for it at the certificate limit."""
START_LIFE = 3
"""Operating rounds without which nobody starts a company."""
HASTE = 0.6
"""How a rise of the price by a space counts beside the dividend when shares are compared."""


class Offer(NamedTuple):
    """A share for sale. `pays`: what it pays a round for each dollar of `price`."""

    pays: float
    stock: Stock
    source: str
    price: int


class SharePlay:
    """Plays one stock round of a projection. `sold`: by seat the companies that it has sold in it."""

    def __init__(self, p: ProjectedState, sold: dict[str, set[str]]) -> None:
        self.p, self.sold = p, sold
        self.is_early = p.rounds_left() >= START_LIFE
        self.yields = {c: self._yield(stock) for c, stock in p.companies.items() if stock.floated}

    def play(self, order: Sequence[str], passes: int) -> None:
        """Play the turns of these seats, the first of which is next, until all have passed in a row."""
        p, turn = self.p, 0
        for seat in order:
            if p.cash[seat] < 0:
                self._pay_debt(seat)
        while passes < len(order):
            acted = self._turn(order[turn % len(order)])
            passes, turn = (0 if acted else passes + 1), turn + 1
        for stock in p.companies.values():
            if stock.floated and all(owner in p.cash or owner == stock.sym for owner in stock.shares):
                stock.at = p.facts.moved(stock.at, "up")

    def _turn(self, seat: str) -> bool:
        """Buy one share, or start a company; whether there was anything to do."""
        p, cash = self.p, self.p.cash[seat]
        room = p.limit - p.certificates(seat)
        for stock in p.companies.values():
            if stock.president == seat and not stock.floated and stock.shares.get(IPO, 0):
                if cash >= stock.ipo_price and room > 0:
                    self._take(seat, Offer(0.0, stock, IPO, stock.ipo_price))
                    return True
                return False
        if not self._for_sale() and not p.unstarted:
            return False
        if room > 0:
            if self._start(seat, room):
                return True
            best = self._best(seat, cash)
        else:
            best = self._swap(seat, cash)
        if best is None:
            return False
        self._take(seat, best)
        return True

    def _for_sale(self) -> bool:
        """Whether any share is for sale."""
        companies = self.p.companies.values()
        return any(
            IPO in stock.shares or POOL in stock.shares or stock.sym in stock.shares for stock in companies
        )

    def _best(self, seat: str, cash: float, least: float = 0.0) -> Offer | None:
        """The share that pays most for its price, of those that the seat may buy and can pay for."""
        p, best, most = self.p, None, least
        for company, expected in self.yields.items():
            if expected <= 0 or company in self.sold.get(seat, ()):
                continue
            stock = p.companies[company]
            shares = stock.shares
            source = IPO if IPO in shares else POOL if POOL in shares else company
            if source not in shares or shares.get(seat, 0) + stock.share > p.percent_limit:
                continue
            market = p.facts.price(stock.at)
            price = stock.ipo_price if source == IPO else market
            pays = expected * p.chance(seat, company) * market / max(price, 1)
            if pays > most and price <= cash and shares[source] >= stock.share:
                most, best = pays, Offer(pays, stock, source, price)
        return best

    def _swap(self, seat: str, cash: float) -> Offer | None:
        """Sell the share that pays least for one that pays more, at the certificate limit."""
        p = self.p
        held = [
            (self.yields.get(stock.sym, 0.0) * p.chance(seat, stock.sym), stock)
            for stock in p.companies.values()
            if stock.president != seat and self._may_sell(seat, stock)
        ]
        if not held:
            return None
        pays, worst = min(held, key=lambda each: each[0])
        best = self._best(seat, cash + p.facts.price(worst.at), SWAP * pays)
        if best is None or best.stock is worst:
            return None
        self._sell(seat, worst)
        return best

    def _may_sell(self, seat: str, stock: Stock) -> bool:
        held, p = stock.shares.get(seat, 0), self.p
        if held < stock.share or not stock.floated or stock.shares.get(POOL, 0) >= p.pool_limit:
            return False
        if stock.president != seat or held > 2 * stock.share:
            return True
        others = (percent for owner, percent in stock.shares.items() if owner in p.cash and owner != seat)
        return max(others, default=0) >= 2 * stock.share

    def _sell(self, seat: str, stock: Stock) -> None:
        p = self.p
        price = p.facts.price(stock.at)
        p.cash[seat] += price
        p.bank -= price
        stock.shares[seat] -= stock.share
        stock.shares[POOL] = stock.shares.get(POOL, 0) + stock.share
        stock.at = p.facts.moved(stock.at, "down")
        if not stock.shares[seat]:
            del stock.shares[seat]
        self.sold.setdefault(seat, set()).add(stock.sym)
        self._name_president(stock)

    def _name_president(self, stock: Stock) -> None:
        """The largest holder is president; of several with as much the president stays."""
        p = self.p
        first, most = stock.president, stock.shares.get(stock.president or "", 0)
        for owner, percent in stock.shares.items():
            if percent > most and owner in p.cash:
                first, most = owner, percent
        stock.president = first

    def _pay_debt(self, seat: str) -> None:
        """Sell the shares that pay least until the seat has no debt."""
        p = self.p
        for stock in sorted(p.companies.values(), key=lambda stock: self.yields.get(stock.sym, 0.0)):
            while p.cash[seat] < 0 and self._may_sell(seat, stock):
                self._sell(seat, stock)

    def _yield(self, stock: Stock) -> float:
        """What a share pays a round, with the rise of its price, for each dollar of its price."""
        p = self.p
        price = p.facts.price(stock.at)
        if price <= 0:
            return 0.0
        revenue = p.revenue(stock) if stock.trains else self._with_next_train(stock)
        if revenue <= 0:
            return 0.0
        if stock.trains and p.all_rust_soon(stock):
            revenue *= RUSTING
        return (revenue * stock.share / 100 + HASTE * p.rise(stock, revenue)) / price

    def _with_next_train(self, stock: Stock) -> float:
        """What the company will earn once it has bought the trains that it can pay for."""
        train = self.p.next_train()
        if train is None or stock.cash < train.price:
            return 0.0
        count = min(int(stock.cash // train.price), 2)
        return self.p.estimate(stock.sym, (train.name,) * count, self.p.rounds - stock.since + 2)

    def _take(self, seat: str, offer: Offer) -> None:
        p, stock, source = self.p, offer.stock, offer.source
        p.cash[seat] -= offer.price
        if source == stock.sym:
            stock.cash += offer.price
        else:
            p.bank += offer.price
        stock.shares[source] -= stock.share
        if not stock.shares[source]:
            del stock.shares[source]
        stock.shares[seat] = stock.shares.get(seat, 0) + stock.share
        self._name_president(stock)
        if not stock.floated and 100 - stock.shares.get(IPO, 0) >= stock.needed:
            stock.floated = True
            capital = p.g.title.flotation.capital(p.g, stock.sym, stock.ipo_price)
            p.fill_treasury(stock)
            stock.cash += capital
            p.bank -= capital
            self.yields[stock.sym] = self._yield(stock)

    def _start(self, seat: str, room: int) -> bool:
        """Start and float the first company that the seat can float alone, with a train for its capital."""
        p = self.p
        if not p.unstarted or p.g.components.loans or not self.is_early:
            return False
        sym, pars = p.unstarted[0], p.g.components.par_prices
        share = share_percent(p.g, sym)
        needed = p.g.company_definition(sym).float_percent
        par = max((each for each in pars if each * needed // share <= p.cash[seat]), default=0)
        train = p.next_train()
        capital = p.g.title.flotation.capital(p.g, sym, par)
        if not par or train is None or capital < train.price or room < needed // share - 1:
            return False
        stock = p.started(sym, par)
        stock.president, stock.floated, stock.cash = seat, True, float(capital)
        stock.shares = {seat: needed, IPO: 100 - needed}
        p.fill_treasury(stock)
        p.cash[seat] -= par * needed // share
        p.bank -= capital - par * needed // share
        self.yields[sym] = self._yield(stock)
        return True
