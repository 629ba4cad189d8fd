"""Loans in a company's turn: taking and repaying them, interest, and liquidation (1817 §6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from engine.core.actions import Action, RepayLoans, TakeLoans
from engine.core.components import MarketZone
from engine.core.events import UnpaidInterestChanged
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, OperatingTurn
from engine.finance.loans import (
    in_zone,
    interest_due,
    loan_label,
    loan_terms,
    loans_available,
    may_repay,
    put_into_liquidation,
    refuse_loans,
    repay_loans,
    repayment_label,
    take_loans,
)
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.trains import cheapest_train_price, is_obsolete
from engine.operating.turn import Step, turn_or_refusal


def pay_interest(g: Game, company: str) -> None:
    """Pay the company's interest (1817 §6.8).

    The company takes loans for it if it has to. If that is not enough, it goes into liquidation and the
    president pays the rest.
    """
    while interest_due(g, company) > g.cash(company) and loans_available(g, company):
        take_loans(g, company)
    due = interest_due(g, company)
    if due <= g.cash(company):
        g.pay(company, BANK, due, CashReason.INTEREST)
        return
    president = g.president(company)
    put_into_liquidation(g, company, PriceReason.INTEREST_UNPAID)
    g.pay(company, president, g.cash(company), CashReason.COMPANY_CASH)
    g.pay(president, BANK, due, CashReason.INTEREST, company)
    if g.cash(president) < 0:
        g.emit(UnpaidInterestChanged(company, due))


def pay_turn_interest(g: Game, turn: OperatingTurn) -> None:
    """Pay the interest of the company whose turn it is (1817 §6.8)."""
    if g.company(turn.company).loans:
        pay_interest(g, turn.company)


def liquidate_without_train(g: Game, turn: OperatingTurn) -> None:
    """Put a company that has no train at the end of its turn into liquidation (1817 §6.10)."""
    if not g.company(turn.company).trains and not in_zone(g, turn.company, MarketZone.LIQUIDATION):
        put_into_liquidation(g, turn.company, PriceReason.NO_TRAIN)


def turn_is_over(g: Game, turn: OperatingTurn) -> bool:
    """Whether the turn ends early: the company is in liquidation or has no president (1817 §6.8, §7.4)."""
    return in_zone(g, turn.company, MarketZone.LIQUIDATION) or g.company(turn.company).president is None


def could_afford_train_with_loans(g: Game, turn: OperatingTurn) -> bool:
    """Whether a company below the train limit could buy a train if it took all its loans (1817 §6.1)."""
    company = turn.company
    if len(g.company(company).trains) >= g.phase.train_limit:
        return False
    funds = g.cash(company) + loans_available(g, company) * loan_terms(g).value
    price = cheapest_train_price(g)
    others_have_trains = any(
        not is_obsolete(g, train)
        for other, co in g.state.companies.items()
        if other != company
        for train in co.trains
    ) or any(not is_obsolete(g, train) for train in g.state.orphaned_trains)
    return (price is not None and price <= funds) or (others_have_trains and funds > 0)


def may_operate(g: Game, company: str) -> bool:
    """Whether a company has a turn in an operating round (1817 §6)."""
    return g.company(company).floated and not in_zone(g, company, MarketZone.LIQUIDATION)


@dataclass(frozen=True)
class LoanRepaymentStep(Step[RepayLoans]):
    """Repay loans, after the interest is paid; then loans may be taken again (1817 §6.8, §6.9)."""

    name: str = "repay"
    handles: tuple[type[Action], ...] = (RepayLoans,)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        if in_zone(g, turn.company, MarketZone.LIQUIDATION):
            return False
        return self._max_repayment(g, turn) > 0 or loans_available(g, turn.company) > 0

    def _max_repayment(self, g: Game, turn: OperatingTurn) -> int:
        """How many loans the company can repay after it has paid its interest."""
        if turn.acted:
            return 0
        top = g.top
        is_earlier_step = isinstance(top, OperatingTurn) and top.step != self.name
        interest = interest_due(g, turn.company) if is_earlier_step else 0
        cash = max(g.cash(turn.company) - interest, 0)
        return min(g.company(turn.company).loans, cash // loan_terms(g).value)

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        can_repay, can_take = self._max_repayment(g, turn) > 0, loans_available(g, turn.company) > 0
        verbs = " or ".join(["repay"] * can_repay + ["take"] * can_take)
        return f"{verbs} loans for the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for count in range(1, self._max_repayment(g, turn) + 1):
            yield Option(RepayLoans(count), repayment_label(g, turn.company, count))

    def refusal(self, g: Game, turn: OperatingTurn, action: RepayLoans) -> str | None:
        if turn.acted:
            return f"Loans are repaid before new ones are taken{g.cite('1817 §6.9')}."
        most = self._max_repayment(g, turn)
        if not 1 <= action.count <= most:
            return f"The {turn.company} {may_repay(most)}{g.cite('1817 §6.9')}."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: RepayLoans) -> None:
        repay_loans(g, turn.company, action.count)


@dataclass(frozen=True)
class OutOfTurnLoans(OutOfTurn[Game, TakeLoans]):
    """Take loans at any time of the company's turn, except between interest and repayment (1817 §6.1)."""

    handles: ClassVar[tuple[type[Action], ...]] = (TakeLoans,)

    def applies(self, g: Game, action: Action) -> bool:
        return isinstance(g.top, OperatingTurn)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = g.top
        if isinstance(turn, OperatingTurn) and g.company(turn.company).president == seat:
            for count in range(1, loans_available(g, turn.company) + 1):
                if self.refusal(g, seat, loan := TakeLoans(count)) is None:
                    yield Option(loan, loan_label(g, turn.company, count))

    def refusal(self, g: Game, seat: str, action: TakeLoans) -> str | None:
        turn = turn_or_refusal(g, seat, f"A company takes loans in its turn{g.cite('1817 §6.1')}.")
        if isinstance(turn, str):
            return turn
        return refuse_loans(g, turn.company, action.count)

    def apply(self, g: Game, seat: str, action: TakeLoans) -> None:
        turn = g.top
        assert isinstance(turn, OperatingTurn)
        take_loans(g, turn.company, action.count)
        if turn.step == "repay":
            g.change_top(turn, acted=True)
