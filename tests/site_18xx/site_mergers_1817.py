"""A model of the merger and acquisition rounds in a file of 1817: conversions, mergers, sales of companies.

Theory of operation. As in `site_stock_1817.py` the model begins with the position at the start of a round and
reckons each action. A file does not say when an auction is over, since a player who cannot bid is dropped,
nor which of a player's companies pays where only one can. So the position tells when a company is gone, and a
sale is right if it is so for the buyer that was named, or for one of the bidder's companies. The position
also tells when a company that has converted gets its markers; what they cost follows from the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.site_18xx.site_position_1817 import (
    FIRST_WHITE,
    LIQUIDATION,
    MARKER_COST,
    MOST_MARKERS,
    Company,
    Position,
)
from tests.site_18xx.site_stock_1817 import trade
from tests.site_18xx.site_turns_1817 import PRICES, Snapshot

Action = dict[str, Any]


@dataclass
class Sale:
    """A company with a bid on it. `loans`: what its buyer borrows or pays back before it is over."""

    target: str
    bidder: str = ""
    price: int = 0
    buyer: str | None = None
    loans: list[Action] = field(default_factory=list)

    def note(self, action: Action) -> None:
        if action["type"] == "bid":
            self.bidder, self.price = str(action["entity"]), action["price"]
        elif action["type"] == "merge":
            self.buyer = action["corporation"]
        elif action["entity_type"] == "corporation":
            self.buyer = action["entity"]
            if action["type"] in ("take_loan", "payoff_loan"):
                self.loans.append(action)


class MergerRound:
    """One merger and acquisition round as far as it has been reckoned."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self._sale: Sale | None = None
        self._due: dict[str, int] = {}

    @property
    def unsettled(self) -> bool:
        """Whether a sale is going on, whose steps are reckoned together."""
        return self._sale is not None

    def play(self, action: Action, after: Snapshot | None) -> None:
        """`after`: the position after it, for what the file does not say."""
        if action["type"] == "bid" and (self._sale is None or self._sale.target != action["corporation"]):
            self._sale = Sale(action["corporation"])
        if self._sale:
            self._sale.note(action)
        elif action["type"] == "convert":
            self._convert(action["entity"])
        elif action["type"] == "merge":
            self._merge(action["entity"], action["corporation"])
        else:
            trade(self.position, action, after)
        if after is not None:
            self._pay_markers(action, after)
            self._settle(after)

    def end(self, next_round: str) -> None:
        if next_round.startswith("operating"):
            self.position.begin_operating()
        elif next_round:
            self.position.begin_stock()

    # -- conversions and mergers -------------------------------------------------------------

    def _convert(self, symbol: str) -> None:
        """Shares are added to the treasury; the markers are paid for in the end (§7.1.1)."""
        company = self.position.companies[symbol]
        wanted = 1 if company.size == 2 else 2
        self._due[symbol] = min(wanted, MOST_MARKERS - company.markers)
        if company.size == 2:
            company.size, company.own = 5, 60
            company.held[company.president or ""] = 40
            return
        company.size, company.own, company.pool = 10, company.own // 2 + 50, company.pool // 2
        for seat in self.position.seats:
            company.held[seat] //= 2

    def _pay_markers(self, action: Action, after: Snapshot) -> None:
        for symbol, due in list(self._due.items()):
            company = self.position.companies[symbol]
            over = (action["type"], action["entity"]) == ("pass", symbol)
            if not over and after["companies"][symbol]["markers"] == company.markers:
                continue
            del self._due[symbol]
            if company.cash >= MARKER_COST * due:
                company.cash -= MARKER_COST * due
                company.markers += due
            else:
                company.space = LIQUIDATION

    def _merge(self, symbol: str, other: str) -> None:
        """The other company's charter joins that of the first (§7.1.2, §7.1.3)."""
        seats, company = self.position.seats, self.position.companies[symbol]
        gone = self.position.companies.pop(other)
        worth = company.price + gone.price
        _join(company, gone)
        if company.size == 2:
            company.size, company.own = 5, 60
            company.space = _space(worth)
            company.held[company.president or ""] = 40
            if gone.president != company.president:
                company.held[gone.president or ""] = 20
                company.own = 40
                self.position.cash[company.president or ""] -= company.price
                company.cash += company.price
            return
        company.size, company.space = 10, _space(worth // 2)
        company.own = (company.own + gone.own) // 2
        company.pool = (company.pool + gone.pool) // 2
        for seat in seats:
            company.held[seat] = (company.held[seat] + gone.held[seat]) // 2
        company.settle_presidency(seats)

    # -- sales -------------------------------------------------------------------------------

    def _settle(self, after: Snapshot) -> None:
        """Companies that are gone have been sold, or left to the bank."""
        gone = [symbol for symbol in self.position.companies if symbol not in after["companies"]]
        if self._sale and self._sale.target in gone:
            gone.remove(self._sale.target)
            outcomes = list(self._outcomes(self._sale))
            good = [one for one in outcomes if not any(one.differences(after))]
            self.position = (good or outcomes or [self.position])[0]
            self._sale = None
        for symbol in gone:
            company = self.position.companies.pop(symbol)
            if company.space == LIQUIDATION:
                self.position.pay_off(company, company.cash)

    def _outcomes(self, sale: Sale) -> Iterator[Position]:
        """The position after the sale, for each company that may be the buyer."""
        buyers = [sale.buyer] if sale.buyer else list(self.position.companies)
        for symbol in buyers:
            buyer = self.position.companies[symbol]
            if buyer.president == sale.bidder and buyer.space >= FIRST_WHITE and symbol != sale.target:
                position = deepcopy(self.position)
                _sell(position, sale, position.companies[symbol])
                yield position


def _sell(position: Position, sale: Sale, buyer: Company) -> None:
    """Steps 6 to 9 of §7.2.4. Each loan that is taken over and kept costs a space."""
    target = position.companies.pop(sale.target)
    if target.space == LIQUIDATION:
        aside, loans = target.cash, target.loans
        target.cash = target.loans = 0
    elif target.space >= FIRST_WHITE:
        target.cash += target.worth(target.own)
    taken_over = target.loans
    _join(buyer, target)
    buyer.cash -= sale.price
    while buyer.cash < 0:
        buyer.borrow()
    kept = taken_over
    while buyer.loans > buyer.size:
        buyer.cash, buyer.loans, kept = buyer.cash - 100, buyer.loans - 1, kept - 1
    for action in sale.loans:
        if action["type"] == "take_loan":
            buyer.borrow()
        else:
            buyer.cash, buyer.loans, kept = buyer.cash - 100, buyer.loans - 1, kept - 1
    buyer.move(-kept)
    if target.space == LIQUIDATION:
        target.loans = loans
        position.pay_off(target, aside + sale.price)
    else:
        position.share_out(target, sale.price)


def _join(company: Company, gone: Company) -> None:
    company.cash += gone.cash
    company.loans += gone.loans
    company.privates |= gone.privates
    company.trains += gone.trains
    company.markers = min(company.markers + gone.markers, MOST_MARKERS)


def _space(dollars: int) -> int:
    return max(at for at, price in enumerate(PRICES) if price <= dollars)
