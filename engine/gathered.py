"""Events that follow each other and are told as one sentence: loans, a company's belongings, tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from engine import market
from engine.events import AnyEvent, CashMoved, LoansChanged, PriceMoved, PrivateMoved, TokenTaken, TrainMoved
from engine.facts import a_train
from engine.game import Game
from engine.state import CLOSED

LOANS = ("a loan", "a loan repaid")


class Gathered(Protocol):
    """Events of one kind that follow each other and are told as one sentence."""

    def takes(self, event: AnyEvent) -> bool:
        """Take in an event, if it is one more of them."""

    def sentence(self) -> str:
        """All of them."""


@dataclass
class Borrowed:
    """Loans that a company takes or repays, with the money and where the price comes to."""

    g: Game
    company: str
    why: str
    count: int = 0
    dollars: int = 0
    cell: tuple[int, int] | None = None

    def takes(self, event: AnyEvent) -> bool:
        match event:
            case LoansChanged(self.company, count, self.why):
                self.count += abs(count)
            case CashMoved(source, target, amount, why) if why in LOANS and self.company in (source, target):
                self.dollars += amount
            case PriceMoved(self.company, cell, why) if why in LOANS:
                self.cell = cell
            case _:
                return False
        return True

    def sentence(self) -> str:
        verb = {"taken": "takes", "repaid": "repays"}[self.why]
        comes = f", and is {market.space_words(self.g, self.cell)}" if self.cell else ""
        loans = f"{self.count} loan{'s' * (self.count > 1)}"
        return f"the {self.company} {verb} {loans} for ${self.dollars}{comes}"


@dataclass
class Taken:
    """What a company takes over from another."""

    source: str
    target: str
    things: list[str] = field(default_factory=list)

    def takes(self, event: AnyEvent) -> bool:
        match event:
            case CashMoved(self.source, self.target, amount):
                self.things.append(f"${amount}")
            case LoansChanged(self.target, count, why) if why == f"of the {self.source}":
                self.things.append(f"{count} loan{'s' * (count > 1)}")
            case LoansChanged(self.source, count):
                return count < 0
            case TrainMoved(train, self.source, self.target):
                self.things.append(a_train(train))
            case PrivateMoved(private, self.target):
                self.things.append(f"the {private}")
            case _:
                return False
        return True

    def sentence(self) -> str:
        return f"the {self.target} takes over from the {self.source}: {', '.join(self.things)}"


@dataclass
class Cleared:
    """Tokens of a company that leave the map, or are replaced by those of another."""

    g: Game
    company: str
    by: str | None
    places: list[str] = field(default_factory=list)

    def takes(self, event: AnyEvent) -> bool:
        if not (isinstance(event, TokenTaken) and (event.company, event.by) == (self.company, self.by)):
            return False
        self.places.append(hex_words(self.g, event.hex))
        return True

    def sentence(self) -> str:
        several = len(self.places) > 1
        whose = f"the token{'s' * several} of the {self.company} in {', '.join(self.places)}"
        if self.by is None:
            return f"{whose} leave{'s' * (not several)} the map"
        one = "those" if several else "one"
        return f"{whose} {'are' if several else 'is'} replaced by {one} of the {self.by}"


def hex_words(g: Game, hex: str) -> str:
    """A hex with its name."""
    name = g.facts.map.hexes[hex].name
    return f"{hex} {name}" if name else hex


@dataclass
class Closed:
    """Privates that are closed."""

    privates: list[str] = field(default_factory=list)

    def takes(self, event: AnyEvent) -> bool:
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
class Moved:
    """Moves of a company's price, space by space, for one reason."""

    g: Game
    company: str
    why: str
    cell: tuple[int, int] = (0, 0)

    def takes(self, event: AnyEvent) -> bool:
        match event:
            case PriceMoved(self.company, cell, self.why):
                self.cell = cell
                return True
        return False

    def sentence(self) -> str:
        return f"the {self.company} is {market.space_words(self.g, self.cell)} ({self.why})"
