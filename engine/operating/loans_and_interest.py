"""What a turn is about where companies borrow: loans at any time, dividends that short sellers owe,
interest, repayment, and liquidation (1817 §6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from engine.core.actions import (
    Action,
    PayDividend,
    PayHalfDividend,
    RepayLoans,
    TakeLoans,
    WithholdDividend,
)
from engine.core.components import MailContractAbility, MarketZone
from engine.core.events import (
    DividendDeclared,
    TrainMoved,
    TrainsWithdrawn,
    UnpaidInterestChanged,
)
from engine.core.hooks import do_nothing
from engine.core.reasons import CashReason, PriceReason, TrainReason
from engine.core.state import (
    BANK,
    CLOSED,
    MergerRound,
    OperatingRound,
    OperatingTurn,
    is_seat,
)
from engine.finance import market
from engine.finance.loans import (
    in_zone,
    interest_due,
    loan_label,
    loan_terms,
    loans_available,
    put_into_liquidation,
    refuse_loans,
    repay_loans,
    repayment_label,
    size_definition,
    take_loans,
)
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.trains import (
    ask_for_discards,
    cheapest_train_price,
    is_obsolete,
    start_phase,
)
from engine.operating.turn import turn_or_refusal

ACQUISITION_PRICE = 40
"""Dollars for which a company in acquisition counts when it pays a dividend (§6.6)."""


def pay_shareholders(g: Game, company: str, dollars: int) -> None:
    """Pay so many dollars on all shares: players and the treasury receive, who is short pays (§6.6)."""
    for holder, percent in sorted(g.company(company).shares.items()):
        share = dollars * percent // 100 if percent > 0 else -(dollars * -percent // 100)
        if is_seat(holder) and percent < 0:
            g.pay(holder, BANK, -share, CashReason.DIVIDEND, company)
        elif is_seat(holder) or holder == company:
            g.pay(BANK, holder, share, CashReason.DIVIDEND, company)


@dataclass(frozen=True)
class DoubleJumpDividendStep:
    """Pay, half or withhold; the price rises by one or two spaces (§6.6). `then`: what follows at once."""

    after_dividend: Callable[[Game, OperatingTurn], None] = do_nothing
    name: str = "dividend"
    handles: tuple[type[Action], ...] = (PayDividend, WithholdDividend, PayHalfDividend)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.revenue > 0

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return "Say what becomes of the revenue: pay, half or withhold (§6.6)."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"to pay, halve or withhold the ${turn.revenue} of the {turn.company}"

    def _amount_paid(self, g: Game, turn: OperatingTurn, action: Action) -> int:
        """Dollars paid out on all shares."""
        match action:
            case PayDividend():
                return turn.revenue
            case PayHalfDividend():
                grain = size_definition(g, turn.company).half_dividend_multiple
                return turn.revenue - turn.revenue // 2 // grain * grain
        return 0

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for action, verb in ((PayDividend(), "Pay"), (PayHalfDividend(), "Half: pay")):
            paid = self._amount_paid(g, turn, action)
            rest = f" and keep ${turn.revenue - paid}" if isinstance(action, PayHalfDividend) else ""
            each = paid * share_percent(g, turn.company) / 100
            yield Option(action, f"{verb} ${paid}{rest}: ${each:g} a share")
        yield Option(WithholdDividend(), f"Withhold ${turn.revenue}")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return None if turn.revenue else f"The {turn.company} has earned nothing to pay or withhold (§6.6)."

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, paid = turn.company, self._amount_paid(g, turn, action)
        kind = {PayDividend: "pay", PayHalfDividend: "half", WithholdDividend: "withhold"}[type(action)]
        g.emit(DividendDeclared(company, kind, turn.revenue))
        g.pay(BANK, company, turn.revenue - paid, CashReason.REVENUE)
        at = market.token_space(g, company)
        pay_shareholders(g, company, paid)
        worth = ACQUISITION_PRICE if in_zone(g, company, MarketZone.ACQUISITION) else g.price(company)
        if not paid:
            market.move_token(g, company, market.left(g, at), PriceReason.WITHHELD)
        for times in (1, 2):
            if paid >= times * worth:
                market.move_token(
                    g, company, market.right(g, market.token_space(g, company)), PriceReason.DIVIDEND
                )
        g.replace_top(msgspec.structs.replace(turn, acted=True, revenue=0))
        self.after_dividend(g, turn)

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        if not turn.acted:
            g.emit(DividendDeclared(turn.company, "none", 0))
            market.move_token(
                g, turn.company, market.left(g, market.token_space(g, turn.company)), PriceReason.NO_DIVIDEND
            )
            self.after_dividend(g, turn)


def pay_interest(g: Game, company: str) -> None:
    """Pay the interest, by more loans if need be; what is left is the president's (§6.8)."""
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


@dataclass(frozen=True)
class AutomaticStep:
    """A step in which nobody decides anything: `does` is done as it is passed over."""

    name: str
    effect: Callable[[Game, OperatingTurn], None]
    handles: tuple[type[Action], ...] = ()

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return False

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return ""

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        yield from ()

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return "Nothing is asked."

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        raise AssertionError("nothing is asked")

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        self.effect(g, turn)


def pay_turn_interest(g: Game, turn: OperatingTurn) -> None:
    """Pay the interest of the company whose turn it is (§6.8)."""
    if g.company(turn.company).loans:
        pay_interest(g, turn.company)


def liquidate_without_train(g: Game, turn: OperatingTurn) -> None:
    """A company without a train at the end of its turn is liquidated (§6.10)."""
    if not g.company(turn.company).trains and not in_zone(g, turn.company, MarketZone.LIQUIDATION):
        put_into_liquidation(g, turn.company, PriceReason.NO_TRAIN)


def scrap_obsolete_trains(g: Game, turn: OperatingTurn) -> None:
    """Obsolete trains leave after running (§2, §6.5)."""
    for train in list(g.company(turn.company).trains):
        if is_obsolete(g, train):
            g.emit(TrainMoved(train, turn.company, CLOSED, TrainReason.OBSOLETE))


def turn_is_over(g: Game, turn: OperatingTurn) -> bool:
    """Whether the company has come to be liquidated, or lost its president, in its own turn (§6.8, §7.4)."""
    return in_zone(g, turn.company, MarketZone.LIQUIDATION) or g.company(turn.company).president is None


def could_afford_train_with_loans(g: Game, turn: OperatingTurn) -> bool:
    """Whether a company with room for a train could have one with all the loans that are open to it (§6.1):
    from the bank, or from whoever has one."""
    company = turn.company
    if len(g.company(company).trains) >= g.phase.train_limit:
        return False
    power = g.cash(company) + loans_available(g, company) * loan_terms(g).value
    least = cheapest_train_price(g)
    others = any(
        not is_obsolete(g, train)
        for other, co in g.state.companies.items()
        if other != company
        for train in co.trains
    ) or any(not is_obsolete(g, train) for train in g.state.orphaned_trains)
    return (least is not None and least <= power) or (others and power > 0)


def pay_mail_contracts(g: Game) -> None:
    """The income of mail contracts, to companies with a train (§6)."""
    for private, owner in list(g.owned_privates()):
        ability = g.private_definition(private).ability
        if isinstance(ability, MailContractAbility) and not is_seat(owner) and g.company(owner).trains:
            g.pay(BANK, owner, ability.income, CashReason.PRIVATE_INCOME, private)


def may_operate(g: Game, company: str) -> bool:
    """Whether a company has a turn in an operating round (§6)."""
    return g.company(company).floated and not in_zone(g, company, MarketZone.LIQUIDATION)


@dataclass(frozen=True)
class LoanRepaymentStep:
    """Interest is paid, then loans may be repaid, then taken again (§6.8, §6.9)."""

    name: str = "repay"
    handles: tuple[type[Action], ...] = (RepayLoans,)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        if in_zone(g, turn.company, MarketZone.LIQUIDATION):
            return False
        return self._max_repayment(g, turn) > 0 or loans_available(g, turn.company) > 0

    def _max_repayment(self, g: Game, turn: OperatingTurn) -> int:
        """How many loans can be repaid, once the interest is."""
        if turn.acted:
            return 0
        now = g.top
        due = interest_due(g, turn.company) if isinstance(now, OperatingTurn) and now.step != self.name else 0
        money = max(g.cash(turn.company) - due, 0)
        return min(g.company(turn.company).loans, money // loan_terms(g).value)

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        repays, takes = self._max_repayment(g, turn) > 0, loans_available(g, turn.company) > 0
        what = " or ".join(["repay"] * repays + ["take"] * takes)
        return f"to {what} loans for the {turn.company}, or be done"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for count in range(1, self._max_repayment(g, turn) + 1):
            yield Option(RepayLoans(count), repayment_label(g, turn.company, count))

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, RepayLoans)
        if turn.acted:
            return "Loans are repaid before others are taken (§6.9)."
        if not 1 <= action.count <= self._max_repayment(g, turn):
            return f"The {turn.company} can repay {self._max_repayment(g, turn)} loans (§6.9)."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, RepayLoans)
        repay_loans(g, turn.company, action.count)

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """No loan is repaid."""


@dataclass(frozen=True)
class OutOfTurnLoans(OutOfTurn):
    """Loans that a company takes at any time of its turn but between interest and repayment (§6.1)."""

    handles: ClassVar[tuple[type[Action], ...]] = (TakeLoans,)

    def applies(self, g: Game, action: Action) -> bool:
        return isinstance(g.top, OperatingTurn)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = g.top
        if isinstance(turn, OperatingTurn) and g.company(turn.company).president == seat:
            for count in range(1, loans_available(g, turn.company) + 1):
                if self.refusal(g, seat, loan := TakeLoans(count)) is None:
                    yield Option(loan, loan_label(g, turn.company, count))

    def refusal(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, TakeLoans)
        turn = turn_or_refusal(g, seat, "Loans are taken in a company's turn (§6.1).")
        if isinstance(turn, str):
            return turn
        return refuse_loans(g, turn.company, action.count)

    def apply(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, TakeLoans)
        turn = g.top
        assert isinstance(turn, OperatingTurn)
        take_loans(g, turn.company, action.count)
        if turn.step == "repay":
            g.replace_top(msgspec.structs.replace(turn, acted=True))


def export_train(g: Game) -> None:
    """The next train leaves the game, which may start a phase; the first kind goes whole (§6.11)."""
    train = next((t.name for t in g.components.trains if g.state.depot[t.name] != 0), None)
    if train is None:
        return
    base = g.state.stack[0]
    first = isinstance(base, OperatingRound | MergerRound) and (base.stock_round, base.number) == (1, 1)
    g.emit(TrainMoved(train, BANK, CLOSED, TrainReason.EXPORTED))
    if start_phase(g, train):
        ask_for_discards(g, by_price=False)
    if first and train == g.components.trains[0].name and g.state.depot[train] != 0:
        g.emit(TrainsWithdrawn(train))
