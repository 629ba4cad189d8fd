"""A position of 1817 as a model of a round reckons it: cash, loans, prices, shares and presidents.

It is read from a snapshot of the site's form, and compared with later ones. It knows printed numbers only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tests.site_18xx.site_turns_1817 import LEFTMOST, PRICES, Snapshot

FACES = {"MINC": 30, "OBC": 40, "ME": 40, "PSM": 40, "CM": 60, "MINM": 60, "TS": 80, "UBC": 80}
FACES |= {"MAIL": 90, "MAJC": 90, "MAJM": 120}
MAIL = {"MINM": 10, "MAIL": 15, "MAJM": 20}
"""Dollars for a mail contract at the start of an operating round."""
LIQUIDATION = 0
FIRST_WHITE = PRICES.index(40)
"""The first space that is not gray."""
MARKER_COST, MOST_MARKERS = 50, 8
MARKERS = {2: 1, 5: 2, 10: 4}
"""Station markers of a new company, by size."""


@dataclass
class Company:
    """A company in play. `held`: percent by player, short ones below zero. `due`: unpaid markers."""

    cash: int
    space: int
    loans: int
    size: int
    own: int
    pool: int
    president: str | None
    privates: set[str]
    trains: list[str]
    held: Counter[str]
    markers: int = 0
    due: int = 0

    @property
    def price(self) -> int:
        return PRICES[self.space]

    @property
    def percent(self) -> int:
        """Percent of one share."""
        return 100 // self.size

    def move(self, spaces: int) -> None:
        if self.space != LIQUIDATION:
            self.space = min(max(self.space + spaces, LEFTMOST), len(PRICES) - 1)

    def borrow(self) -> None:
        self.cash += 100
        self.loans += 1
        self.move(-1)

    def repay(self) -> None:
        self.cash -= 100
        self.loans -= 1
        self.move(1)

    def worth(self, percent: int) -> int:
        """Dollars of so many percent at the price of now."""
        return self.price * percent // self.percent

    def pay_markers(self) -> None:
        """Markers are paid for as soon as the treasury has the price of all that are due (§5.5)."""
        if self.due and self.cash >= MARKER_COST * self.due:
            self.cash -= MARKER_COST * self.due
            self.markers += self.due
            self.due = 0

    def settle_presidency(self, seats: list[str]) -> None:
        """The player with most shares, two at least, presides; among equals the next to the left (§5.2.1)."""
        old = self.president
        if old is None:
            return
        at = seats.index(old)
        around = [*seats[at:], *seats[:at]]
        most = max(self.held[seat] for seat in around)
        if self.held[old] < most and most >= 2 * self.percent:
            self.president = next(seat for seat in around if self.held[seat] == most)


class Position:
    """All that a round may change. `seats`: all players in order. `players`: those in the game."""

    def __init__(self, snapshot: Snapshot, bankrupt: Collection[str]) -> None:
        self.seats = list(snapshot["players"])
        self.players = [seat for seat in self.seats if seat not in bankrupt]
        self.phase: str = snapshot["phase"]
        self.cash = Counter({seat: held["cash"] for seat, held in snapshot["players"].items()})
        self.privates = {seat: set(held["privates"]) for seat, held in snapshot["players"].items()}
        self.companies: dict[str, Company] = {}
        for symbol, at in snapshot["companies"].items():
            held = {s: p["shares"].get(symbol, 0) for s, p in snapshot["players"].items()}
            dollars, loans = at["aside"]
            self.companies[symbol] = Company(
                at["cash"] + dollars, at["cell"][1], at["loans"] + loans, at["size"], at["own"], at["pool"],
                at["president"] if at["president"] in self.seats else None,
                set(at["privates"]), list(at["trains"]), Counter(held), at["markers"], at["due"],
            )  # fmt: skip

    def certificates(self, seat: str) -> int:
        """How many certificates a player has; the president's is one, whatever it is worth (§5.1)."""
        return sum(
            company.held[seat] // company.percent - (company.president == seat)
            for company in self.companies.values()
            if company.held[seat] > 0
        )

    def differences(self, snapshot: Snapshot) -> Iterator[str]:
        """What the snapshot shows that is not reckoned."""
        for seat, held in snapshot["players"].items():
            if held["cash"] != self.cash[seat]:
                yield f"player {seat} has ${held['cash']}, not ${self.cash[seat]}"
            if set(held["privates"]) != self.privates[seat]:
                yield f"player {seat} has {held['privates']}, not {self.privates[seat]}"
        if self.companies.keys() != snapshot["companies"].keys():
            yield f"companies are {sorted(snapshot['companies'])}, not {sorted(self.companies)}"
            return
        for symbol, at in snapshot["companies"].items():
            company = self.companies[symbol]
            held = {s: p["shares"].get(symbol, 0) for s, p in snapshot["players"].items()}
            president = at["president"] if at["president"] in self.seats else None
            set_aside = company.space == LIQUIDATION  # its cash and loans may be on the charter no more
            pairs = (
                ("cash", at["cash"], at["cash"] if set_aside else company.cash),
                ("space", at["cell"][1], company.space),
                ("loans", at["loans"], at["loans"] if set_aside else company.loans),
                ("size", at["size"], company.size),
                ("own", at["own"], company.own),
                ("pool", at["pool"], company.pool),
                ("president", president, company.president),
                ("privates", set(at["privates"]), company.privates),
                ("shares", held, {seat: company.held[seat] for seat in self.seats}),
            )
            for name, found, reckoned in pairs:
                if found != reckoned:
                    yield f"{name} of the {symbol}: {found}, not {reckoned}"

    def begin_operating(self) -> None:
        """Mail contracts are paid to companies with a train (§6). A train station has done its work."""
        for company in self.companies.values():
            company.privates.discard("TS")
            if company.trains:
                company.cash += sum(MAIL.get(private, 0) for private in company.privates)

    def begin_stock(self) -> None:
        """The bank closes short positions in the open market from the treasuries (§7.4, §1.2.2)."""
        for company in self.companies.values():
            percent = min(company.own, -company.pool)
            if percent > 0 and company.space >= FIRST_WHITE:
                company.own -= percent
                company.pool += percent
                company.cash += company.worth(percent)

    def pay_off(self, company: Company, dollars: int) -> None:
        """A liquidated company's loans are paid back; the president pays what is missing (§7.2.4, 8)."""
        surplus = dollars - 100 * company.loans
        if surplus >= 0:
            self.share_out(company, surplus)
        elif company.president is not None:
            self.cash[company.president] += surplus

    def share_out(self, company: Company, dollars: int) -> None:
        """Shareholders get their part of a company that is gone; those who are short pay it (§7.2.4, 9)."""
        for seat, percent in company.held.items():
            self.cash[seat] += dollars // company.size * (percent // company.percent)
