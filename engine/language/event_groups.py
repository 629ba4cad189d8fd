"""Events that follow each other and make one sentence: loans, assets taken over, tokens, closed privates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from engine.core.components import train_label
from engine.core.events import (
    AnyEvent,
    CashMoved,
    LoansChanged,
    OfferEnded,
    PriceMoved,
    PrivateMoved,
    TokenRemoved,
    TrainMoved,
)
from engine.core.reasons import CashReason, LoanReason, PriceReason
from engine.core.state import CLOSED
from engine.core.words import counted, join_words
from engine.finance import market
from engine.game import Game

_LOAN_CASH = (CashReason.LOAN, CashReason.LOAN_REPAYMENT)
_LOAN_PRICE = (PriceReason.LOAN, PriceReason.LOAN_REPAYMENT)

_PRICE_MOVES = {
    PriceReason.CONNECTION_RUN: "connected",
    PriceReason.DIVIDEND: "paid",
    PriceReason.HALF_DIVIDEND: "half paid",
    PriceReason.HELD_BY_PLAYERS: "all held by players",
    PriceReason.INTEREST_UNPAID: "its interest is not paid",
    PriceReason.LOAN: "a loan",
    PriceReason.LOAN_REPAYMENT: "a loan repaid",
    PriceReason.LOAN_TAKEN_OVER: "a loan taken over",
    PriceReason.NO_PRESIDENT: "without a president",
    PriceReason.NO_TRAIN: "without a train",
    PriceReason.SHARES_IN_POOL: "shares in the pool",
    PriceReason.TOKENS_UNPAID: "its station tokens are not paid",
}
"""The reasons of price moves in words, where these are not the names of the reasons."""


class EventGroup(Protocol):
    """Events of one kind that follow each other and make one sentence."""

    def try_add(self, event: AnyEvent) -> bool:
        """Add the event if it belongs to the group; whether it does."""

    def sentence(self) -> str:
        """The sentence of all of them."""


@dataclass
class LoanGroup:
    """Loans that a company takes or repays, in dollars, and the market cell that its price comes to."""

    g: Game
    company: str
    reason: LoanReason
    count: int = 0
    dollars: int = 0
    cell: tuple[int, int] | None = None

    def try_add(self, event: AnyEvent) -> bool:
        match event:
            case LoansChanged(self.company, count, self.reason):
                self.count += abs(count)
            case CashMoved(source, target, amount, reason) if reason in _LOAN_CASH and self.company in (
                source,
                target,
            ):
                self.dollars += amount
            case PriceMoved(self.company, cell, reason) if reason in _LOAN_PRICE:
                self.cell = cell
            case _:
                return False
        return True

    def sentence(self) -> str:
        verb = "takes" if self.reason is LoanReason.TAKEN else "repays"
        price = f", and is {market.space_label(self.g, self.cell)}" if self.cell else ""
        return f"the {self.company} {verb} {counted(self.count, 'loan')} for ${self.dollars:,}{price}"


@dataclass
class TakeoverGroup:
    """What a company takes over from another: `items` in words, trains, and `privates` in words."""

    source: str
    target: str
    items: list[str] = field(default_factory=list)
    trains: list[str] = field(default_factory=list)
    privates: list[str] = field(default_factory=list)

    def try_add(self, event: AnyEvent) -> bool:
        match event:
            case CashMoved(self.source, self.target, amount):
                self.items.append(f"${amount:,}")
            case LoansChanged(self.target, count, LoanReason.TAKEN_OVER, self.source):
                self.items.append(counted(count, "loan"))
            case LoansChanged(self.source, count):
                return count < 0
            case TrainMoved(train, self.source, self.target):
                self.trains.append(train)
            case PrivateMoved(private, self.target):
                self.privates.append(f"the {private}")
            case _:
                return False
        return True

    def sentence(self) -> str:
        trains = [train_label(train) for train in self.trains[:1]]
        if len(self.trains) > 1:
            trains = [f"trains {' '.join(self.trains)}"]
        taken = join_words([*self.items, *trains, *self.privates])
        return f"the {self.target} takes over from the {self.source}: {taken}"


@dataclass
class TokenRemovalGroup:
    """Tokens of a company that leave the map, or are replaced by those of another company."""

    g: Game
    company: str
    replaced_by: str | None
    hexes: list[str] = field(default_factory=list)

    def try_add(self, event: AnyEvent) -> bool:
        if not isinstance(event, TokenRemoved):
            return False
        if (event.company, event.replaced_by) != (self.company, self.replaced_by):
            return False
        self.hexes.append(hex_label(self.g, event.hex))
        return True

    def sentence(self) -> str:
        several = len(self.hexes) > 1
        tokens = f"the token{'s' * several} of the {self.company} in {join_words(self.hexes)}"
        if self.replaced_by is None:
            return f"{tokens} leave{'s' * (not several)} the map"
        others = "those" if several else "one"
        return f"{tokens} {'are' if several else 'is'} replaced by {others} of the {self.replaced_by}"


@dataclass
class PrivateClosingGroup:
    """Private companies that are closed."""

    privates: list[str] = field(default_factory=list)

    def try_add(self, event: AnyEvent) -> bool:
        match event:
            case PrivateMoved(private, owner) if owner == CLOSED:
                self.privates.append(private)
                return True
        return False

    def sentence(self) -> str:
        return f"the {join_words(self.privates)} {'are' if len(self.privates) > 1 else 'is'} closed"


@dataclass
class LapsedOffersGroup:
    """Offers that end with the turn in which they were made."""

    count: int = 0

    def try_add(self, event: AnyEvent) -> bool:
        is_lapse = isinstance(event, OfferEnded) and event.outcome == "lapsed"
        self.count += is_lapse
        return is_lapse

    def sentence(self) -> str:
        return "the offers end with the turn" if self.count > 1 else "the offer ends with the turn"


@dataclass
class PriceMoveGroup:
    """Moves of a company's price, space by space, for one reason; `cell` is where it comes to."""

    g: Game
    company: str
    reason: PriceReason
    cell: tuple[int, int] = (0, 0)

    def try_add(self, event: AnyEvent) -> bool:
        match event:
            case PriceMoved(self.company, cell, self.reason):
                self.cell = cell
                return True
        return False

    def sentence(self) -> str:
        why = _PRICE_MOVES.get(self.reason) or self.reason.replace("_", " ")
        return f"the {self.company} is {market.space_label(self.g, self.cell)} ({why})"


def hex_label(g: Game, hex: str) -> str:
    """A hex with its name, if it has one: `H10 Pittsburgh`."""
    name = g.components.map.hexes[hex].name
    return f"{hex} {name}" if name else hex
