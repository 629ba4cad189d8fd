"""Where the money came from: every change of a player's worth, by its cause.

Theory of operation. The events of a game are applied one by one. An event changes the worth of players by
cash (`CashMoved`), by what their shares of one company are worth (shares or a price moved), or by a private
company. Each such change goes to exactly one cause, so the entries of a player sum to what they gained,
to the dollar. A purchase is two events, cash out and shares in; both go to the same cause, where only the
difference between price and worth remains. Differences of zero are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

import engine
from engine.core.events import (
    AnyEvent,
    CashMoved,
    CompanyClosed,
    CompanyReturned,
    FramePushed,
    FrameReplaced,
    ParSet,
    PlayerBankrupt,
    PriceMoved,
    PrivateMoved,
    SharesMoved,
    SharesRestructured,
)
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import CLOSED, POOL, GameOver
from engine.finance.ownership import share_percent
from engine.game_text import GameHistory


class Cause(StrEnum):
    """Why the worth of a player changed. The comment names the subject of an entry."""

    DIVIDENDS = "dividends"
    """The company."""
    INCOME = "private income"
    """The private."""
    RUNS = "prices after runs"
    """The company, whose price moved because it paid, withheld or did not run."""
    SALES = "price falls after sales"
    """The company; `by`: who sold."""
    SOLD_OUT = "prices of sold-out companies"
    UNSOLD = "price falls of companies with shares in the pool"
    ISSUES = "prices after a company issued shares"
    LOANS = "prices after loans"
    FLOATING = "prices at flotation"
    PURCHASES = "shares bought above or below their worth"
    GRANTS = "shares that came with a private or for one"
    PRIVATES = "privates bought above or below their face value"
    CLOSINGS = "privates that closed"
    FORCED = "forced purchases"
    """The company whose train its president paid for."""
    INTEREST = "interest paid for a company"
    SHORTS = "shares sold short"
    MERGERS = "mergers"
    LIQUIDATION = "liquidations"
    ACQUISITIONS = "companies sold"
    """A company that left play; what its holders got against what its shares were worth."""
    BANKRUPTCY = "bankruptcy"


class Entry(NamedTuple):
    """A change of a player's worth in dollars by one move.

    `at`: of the move, from 0. `subject`: see `Cause`. `by`: the seat whose sale it was.
    """

    at: int
    seat: str
    cause: Cause
    subject: str
    dollars: int
    by: str = ""


_PRICE_CAUSES = {
    PriceReason.CONNECTION_RUN: Cause.RUNS,
    PriceReason.DIVIDEND: Cause.RUNS,
    PriceReason.HALF_DIVIDEND: Cause.RUNS,
    PriceReason.NO_DIVIDEND: Cause.RUNS,
    PriceReason.WITHHELD: Cause.RUNS,
    PriceReason.SOLD: Cause.SALES,
    PriceReason.SOLD_OUT: Cause.SOLD_OUT,
    PriceReason.HELD_BY_PLAYERS: Cause.SOLD_OUT,
    PriceReason.SHARES_IN_POOL: Cause.UNSOLD,
    PriceReason.ISSUED: Cause.ISSUES,
    PriceReason.LOAN: Cause.LOANS,
    PriceReason.LOAN_REPAYMENT: Cause.LOANS,
    PriceReason.LOAN_TAKEN_OVER: Cause.LOANS,
    PriceReason.FLOATED: Cause.FLOATING,
    PriceReason.MERGED: Cause.MERGERS,
    PriceReason.INTEREST_UNPAID: Cause.LIQUIDATION,
    PriceReason.NO_PRESIDENT: Cause.LIQUIDATION,
    PriceReason.NO_TRAIN: Cause.LIQUIDATION,
    PriceReason.TOKENS_UNPAID: Cause.LIQUIDATION,
}

_CASH_CAUSES = {
    CashReason.DIVIDEND: Cause.DIVIDENDS,
    CashReason.PRIVATE: Cause.PRIVATES,
    CashReason.PRIVATE_INCOME: Cause.INCOME,
    CashReason.SHARES: Cause.PURCHASES,
    CashReason.PRESIDENT_CERTIFICATE: Cause.PURCHASES,
    CashReason.SHORT_SALE: Cause.PURCHASES,
    CashReason.TRAIN_CONTRIBUTION: Cause.FORCED,
    CashReason.FORFEIT: Cause.FORCED,
    CashReason.INTEREST: Cause.INTEREST,
    CashReason.COMPANY_CASH: Cause.INTEREST,
    CashReason.LOAN_SHORTFALL: Cause.ACQUISITIONS,
    CashReason.SHARE_SETTLEMENT: Cause.ACQUISITIONS,
    CashReason.SHORT_SETTLEMENT: Cause.SHORTS,
    CashReason.BANKRUPTCY: Cause.BANKRUPTCY,
}
"""The other reasons are for payments between companies and the bank."""

ShareEvent = PriceMoved | ParSet | SharesMoved | SharesRestructured | CompanyClosed | CompanyReturned

Change = tuple[str, Cause, str, int, str]
"""The seat, cause, subject, dollars, and whose sale it was."""


def money_entries(game: GameHistory) -> list[Entry]:
    """Every change of worth of the game, in order. The entries of a seat sum to its worth at the end less
    that at the start, as `engine.standings` gives them."""
    book = _Book(engine.copy_state(game.start))
    for index, move in enumerate(game.lines):
        book.apply_move(index, move.events)
    return book.entries


class _Book:
    """The position, and the entries so far. `sellers`: by company who has sold shares to the pool last."""

    def __init__(self, state: engine.State) -> None:
        self.game = engine.game_of(state)
        self.state = state
        self.entries: list[Entry] = []
        self.sellers: dict[str, str] = {}

    def apply_move(self, index: int, events: Sequence[AnyEvent]) -> None:
        """Apply the events of a move, and add its entries."""
        sums: dict[tuple[str, Cause, str, str], int] = defaultdict(int)
        move = _MoveFacts(events)
        for event in events:
            for seat, cause, subject, dollars, by in self._apply(event, move):
                sums[seat, cause, subject, by] += dollars
        for (seat, cause, subject, by), dollars in sums.items():
            if cause is Cause.PURCHASES and (seat, subject) not in move.paid:
                cause = Cause.GRANTS
            if dollars:
                self.entries.append(Entry(index, seat, cause, subject, dollars, by))

    def _apply(self, event: AnyEvent, move: _MoveFacts) -> Iterator[Change]:
        """Apply an event; the changes of worth that it makes."""
        if isinstance(event, CashMoved):
            event.apply(self.state)
            yield from self._cash_changes(event, move)
        elif isinstance(event, ShareEvent):
            yield from self._share_changes(event, move)
        elif isinstance(event, PrivateMoved):
            yield from self._private_changes(event, move)
        elif isinstance(event, FramePushed | FrameReplaced) and isinstance(event.frame, GameOver):
            before = engine.standings(self.state)
            event.apply(self.state)
            after = engine.standings(self.state)
            for seat in self.state.seats:
                yield seat, Cause.BANKRUPTCY, "", after[seat] - before[seat], ""
        else:
            event.apply(self.state)

    def _cash_changes(self, event: CashMoved, move: _MoveFacts) -> Iterator[Change]:
        for owner, dollars in ((event.source, -event.amount), (event.target, event.amount)):
            if not engine.is_seat(owner):
                continue
            cause, subject = _CASH_CAUSES[event.reason], event.subject
            if cause is Cause.PURCHASES and move.merged:
                cause, subject = Cause.MERGERS, move.merged
            elif cause is Cause.DIVIDENDS and dollars < 0:
                cause = Cause.SHORTS
            elif event.reason is CashReason.COMPANY_CASH:
                subject = event.source
            elif cause is Cause.FORCED:
                subject = event.target if event.target in self.state.companies else event.source
            yield owner, cause, subject, dollars, ""

    def _share_changes(self, event: ShareEvent, move: _MoveFacts) -> Iterator[Change]:
        company = event.company
        if isinstance(event, SharesMoved) and event.target == POOL and engine.is_seat(event.source):
            self.sellers[company] = event.source
        before, held = self._values(company), dict(self.state.companies[company].shares)
        event.apply(self.state)
        after = self._values(company)
        cause, subject = self._share_cause(event, move)
        by = self.sellers.get(company, "") if cause is Cause.SALES else ""
        for seat in sorted(before.keys() | after.keys()):
            dollars = after.get(seat, 0) - before.get(seat, 0)
            moves_price = not isinstance(event, SharesMoved | SharesRestructured)
            if moves_price and held.get(seat, 0) < 0:
                yield seat, Cause.SHORTS, company, dollars, ""
            elif isinstance(event, SharesMoved) and seat in move.bankrupt:
                yield seat, Cause.BANKRUPTCY, company, dollars, ""
            else:
                yield seat, cause, subject, dollars, by

    def _share_cause(self, event: ShareEvent, move: _MoveFacts) -> tuple[Cause, str]:
        match event:
            case PriceMoved(company, _, reason):
                return _PRICE_CAUSES[reason], company
            case SharesRestructured(company):
                return Cause.MERGERS, move.merged or company
            case CompanyClosed(company) | CompanyReturned(company):
                return Cause.ACQUISITIONS, company
            case _:
                return Cause.PURCHASES, event.company

    def _private_changes(self, event: PrivateMoved, move: _MoveFacts) -> Iterator[Change]:
        before = self.state.private_owners[event.private]
        event.apply(self.state)
        if self.game.components.privates_count_in_net_worth:
            price = self.game.private_definition(event.private).price
            for owner, dollars in ((before, -price), (event.owner, price)):
                if engine.is_seat(owner):
                    yield owner, _private_cause(event, owner, move), event.private, dollars, ""

    def _values(self, company: str) -> dict[str, int]:
        """What each seat's shares of a company are worth; below zero for those sold short."""
        shares = self.state.companies[company].shares
        price = self.game.price(company)
        if not price:
            return {}
        size = share_percent(self.game, company)
        return {owner: held * price // size for owner, held in shares.items() if engine.is_seat(owner)}


def _private_cause(event: PrivateMoved, owner: str, move: _MoveFacts) -> Cause:
    """Why the worth of a private goes to a player, or leaves them."""
    if owner in move.bankrupt:
        return Cause.BANKRUPTCY
    if event.owner != CLOSED:
        return Cause.PRIVATES
    return Cause.GRANTS if owner in move.receivers else Cause.CLOSINGS


class _MoveFacts:
    """What must be known of a whole move to name the cause of one of its events.

    `merged`: the company that two have become. `bankrupt`: players who are out. `paid`: (seat, company) of
    payments for shares. `receivers`: players who received shares.
    """

    def __init__(self, events: Iterable[AnyEvent]) -> None:
        restructured: list[str] = []
        self.bankrupt: set[str] = set()
        self.paid: set[tuple[str, str]] = set()
        self.receivers: set[str] = set()
        for event in events:
            if isinstance(event, SharesRestructured) and event.company not in restructured:
                restructured.append(event.company)
            elif isinstance(event, PlayerBankrupt):
                self.bankrupt.add(event.seat)
            elif isinstance(event, SharesMoved):
                self.receivers.add(event.target)
            elif isinstance(event, CashMoved) and _CASH_CAUSES.get(event.reason) is Cause.PURCHASES:
                self.paid |= {(event.source, event.subject), (event.target, event.subject)}
        self.merged = restructured[0] if len(restructured) > 1 else ""
