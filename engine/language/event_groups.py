"""Events that follow each other and are told as one sentence: loans, a company's belongings, tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from engine.core.components import train_label
from engine.core.events import (
    AnyEvent,
    CashMoved,
    LoansChanged,
    PriceMoved,
    PrivateMoved,
    TokenRemoved,
    TrainMoved,
)
from engine.core.state import CLOSED
from engine.finance import market
from engine.game import Game

LOAN_REASONS = ("a loan", "a loan repaid")


class EventGroup(Protocol):
    """Events of one kind that follow each other and are told as one sentence."""

    def try_add(self, event: AnyEvent) -> bool:
        """Take in an event, if it is one more of them."""

    def sentence(self) -> str:
        """All of them."""


@dataclass
class LoanGroup:
    """Loans that a company takes or repays, with the money and where the price comes to."""

    g: Game
    company: str
    reason: str
    count: int = 0
    dollars: int = 0
    cell: tuple[int, int] | None = None

    def try_add(self, event: AnyEvent) -> bool:
        match event:
            case LoansChanged(self.company, count, self.reason):
                self.count += abs(count)
            case CashMoved(source, target, amount, why) if why in LOAN_REASONS and self.company in (
                source,
                target,
            ):
                self.dollars += amount
            case PriceMoved(self.company, cell, why) if why in LOAN_REASONS:
                self.cell = cell
            case _:
                return False
        return True

    def sentence(self) -> str:
        verb = {"taken": "takes", "repaid": "repays"}[self.reason]
        comes = f", and is {market.space_label(self.g, self.cell)}" if self.cell else ""
        loans = f"{self.count} loan{'s' * (self.count > 1)}"
        return f"the {self.company} {verb} {loans} for ${self.dollars}{comes}"


@dataclass
class TakeoverGroup:
    """What a company takes over from another."""

    source: str
    target: str
    items: list[str] = field(default_factory=list)

    def try_add(self, event: AnyEvent) -> bool:
        match event:
            case CashMoved(self.source, self.target, amount):
                self.items.append(f"${amount}")
            case LoansChanged(self.target, count, why) if why == f"of the {self.source}":
                self.items.append(f"{count} loan{'s' * (count > 1)}")
            case LoansChanged(self.source, count):
                return count < 0
            case TrainMoved(train, self.source, self.target):
                self.items.append(train_label(train))
            case PrivateMoved(private, self.target):
                self.items.append(f"the {private}")
            case _:
                return False
        return True

    def sentence(self) -> str:
        return f"the {self.target} takes over from the {self.source}: {', '.join(self.items)}"


@dataclass
class TokenRemovalGroup:
    """Tokens of a company that leave the map, or are replaced by those of another."""

    g: Game
    company: str
    replaced_by: str | None
    hexes: list[str] = field(default_factory=list)

    def try_add(self, event: AnyEvent) -> bool:
        if not (
            isinstance(event, TokenRemoved)
            and (event.company, event.replaced_by) == (self.company, self.replaced_by)
        ):
            return False
        self.hexes.append(hex_label(self.g, event.hex))
        return True

    def sentence(self) -> str:
        several = len(self.hexes) > 1
        whose = f"the token{'s' * several} of the {self.company} in {', '.join(self.hexes)}"
        if self.replaced_by is None:
            return f"{whose} leave{'s' * (not several)} the map"
        one = "those" if several else "one"
        return f"{whose} {'are' if several else 'is'} replaced by {one} of the {self.replaced_by}"


def hex_label(g: Game, hex: str) -> str:
    """A hex with its name."""
    name = g.components.map.hexes[hex].name
    return f"{hex} {name}" if name else hex


@dataclass
class PrivateClosingGroup:
    """Privates that are closed."""

    privates: list[str] = field(default_factory=list)

    def try_add(self, event: AnyEvent) -> bool:
        match event:
            case PrivateMoved(private, owner) if owner == CLOSED:
                self.privates.append(private)
                return True
        return False

    def sentence(self) -> str:
        *others, last = self.privates
        if not others:
            return f"the {last} is closed"
        return f"the {', '.join(others)} and {last} are closed"


@dataclass
class PriceMoveGroup:
    """Moves of a company's price, space by space, for one reason."""

    g: Game
    company: str
    reason: str
    cell: tuple[int, int] = (0, 0)

    def try_add(self, event: AnyEvent) -> bool:
        match event:
            case PriceMoved(self.company, cell, self.reason):
                self.cell = cell
                return True
        return False

    def sentence(self) -> str:
        return f"the {self.company} is {market.space_label(self.g, self.cell)} ({self.reason})"
