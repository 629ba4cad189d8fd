"""Loans of companies: how many, what they cost, and where they move the price (1817 §1.2.5)."""

from __future__ import annotations

from typing import NamedTuple

from engine.core.components import LoanDefinition, MarketZone, SizeDefinition
from engine.core.events import InterestSet, LoansChanged
from engine.core.reasons import CashReason, LoanReason, PriceReason
from engine.core.state import (
    BANK,
    Auction,
    BuyerChoice,
    OperatingRound,
    ShareholderSettlement,
)
from engine.finance import market
from engine.game import Game


def loan_terms(g: Game) -> LoanDefinition:
    """The bank's loans. Raises AssertionError in a title without any."""
    assert g.components.loans is not None
    return g.components.loans


def size_definition(g: Game, company: str) -> SizeDefinition:
    """What a company of its number of shares has. Raises AssertionError before it has one."""
    size = g.company(company).size
    assert size is not None
    return g.components.company_sizes[size]


def in_zone(g: Game, company: str, *zones: MarketZone) -> bool:
    """Whether the company's token stands in one of these zones of the market."""
    at = g.company(company).cell
    return at is not None and any(zone in zones for zone in g.title.cell(at).zones)


def is_tradable(g: Game, company: str) -> bool:
    """Whether a company is in play and neither in liquidation nor in acquisition (§1.2.2)."""
    return g.company(company).cell is not None and not in_zone(
        g, company, MarketZone.LIQUIDATION, MarketZone.ACQUISITION
    )


def loans_taken(g: Game) -> int:
    """How many loans all companies have together; those set aside while a company in liquidation is sold
    are not back in the bank (§7.2.4)."""
    aside = sum(
        f.set_aside_loans
        for f in g.state.stack
        if isinstance(f, Auction | BuyerChoice | ShareholderSettlement)
    )
    return aside + sum(co.loans for co in g.state.companies.values())


def loans_available(g: Game, company: str) -> int:
    """How many loans more the company may take."""
    if g.company(company).size is None:
        return 0
    most = size_definition(g, company).max_loans - g.company(company).loans
    return max(min(most, loan_terms(g).count - loans_taken(g)), 0)


def refuse_loans(g: Game, company: str, count: int) -> str | None:
    """Why the company may not take so many loans, or None."""
    if count < 1:
        return "At least one loan has to be taken."
    if count > loans_available(g, company):
        return f"The {company} may take {loans_available(g, company)} more loans (§1.2.5)."
    return None


def take_loans(g: Game, company: str, count: int = 1) -> None:
    """Take loans, each of which moves the price a space to the left (§1.2.5)."""
    for _ in range(count):
        g.emit(LoansChanged(company, 1, LoanReason.TAKEN))
        g.pay(BANK, company, loan_terms(g).value, CashReason.LOAN)
        market.move_token(g, company, market.left(g, market.token_space(g, company)), PriceReason.LOAN)


def repay_loans(g: Game, company: str, count: int = 1, *, moving: bool = True) -> None:
    """Repay loans, each of which moves the price a space to the right unless it is not `moving`."""
    for _ in range(count):
        g.emit(LoansChanged(company, -1, LoanReason.REPAID))
        g.pay(company, BANK, loan_terms(g).value, CashReason.LOAN_REPAYMENT)
        if moving:
            market.move_token(
                g, company, market.right(g, market.token_space(g, company)), PriceReason.LOAN_REPAYMENT
            )


def loan_label(g: Game, company: str, count: int) -> str:
    """Taking so many loans, with the money and where the price comes to."""
    at = market.token_space(g, company)
    for _ in range(count):
        at = market.left(g, at)
    return f"Take {_loan_count(count)}: ${count * loan_terms(g).value}, then {market.space_label(g, at)}"


def repayment_label(g: Game, company: str, count: int, *, moving: bool = True) -> str:
    """Repaying so many loans, with the money and where the price comes to."""
    at = market.token_space(g, company)
    for _ in range(count if moving else 0):
        at = market.right(g, at)
    then = f", then {market.space_label(g, at)}" if moving else ""
    return f"Repay {_loan_count(count)}: ${count * loan_terms(g).value}{then}"


def token_cost_label(g: Game, size: int, count: int) -> str:
    """What so many station markers cost a company of that size, where there are any to pay."""
    cost = count * g.components.company_sizes[size].station_cost
    return f"; {count} marker{'s' * (count > 1)} to pay, ${cost}" if count else ""


def _loan_count(count: int) -> str:
    return f"{count} loan{'s' * (count > 1)}"


def interest_rate(g: Game) -> int:
    """The dollars that a loan costs with as many taken as there are now (§1.2.5)."""
    terms = loan_terms(g)
    rows = -(-loans_taken(g) // terms.step)
    return terms.rate_step * max(rows, 1)


class LoanStatus(NamedTuple):
    """The bank's loans: how many companies have `taken` of the `most` that there are, dollars of each.

    `rates`: what each costs, by every `step` of loans taken. `rate`: as many as are taken now; `fixed`: what
    each costs in the operating round that is going on.
    """

    taken: int
    limit: int
    value: int
    loans_per_step: int
    rates: tuple[int, ...]
    rate: int
    round_rate: int | None

    def __str__(self) -> str:
        """`interest $30 a loan, 29 of 70 loans taken`."""
        now = self.rate if self.round_rate is None else self.round_rate
        later = f" in this round, ${self.rate} after it" if now != self.rate else ""
        return f"interest ${now} a loan{later}, {self.taken} of {self.limit} loans taken"


def loan_status(g: Game) -> LoanStatus | None:
    """The bank's loans as they stand; None in a title without any."""
    terms = g.components.loans
    if terms is None:
        return None
    rates = tuple(terms.rate_step * (i + 1) for i in range(-(-terms.count // terms.step)))
    fixed = g.state.interest_per_loan if isinstance(g.state.stack[0], OperatingRound) else None
    return LoanStatus(loans_taken(g), terms.count, terms.value, terms.step, rates, interest_rate(g), fixed)


def set_interest(g: Game) -> None:
    """Fix the interest for the operating round that begins (§6)."""
    if interest_rate(g) != g.state.interest_per_loan:
        g.emit(InterestSet(interest_rate(g)))


def interest_due(g: Game, company: str) -> int:
    return g.company(company).loans * g.state.interest_per_loan


def put_into_liquidation(g: Game, company: str, reason: PriceReason) -> None:
    """Put the company's token into the liquidation space (§6.8, §6.10)."""
    row, column = next(
        (r, c)
        for r, cells in enumerate(g.components.market.rows)
        for c, cell in enumerate(cells)
        if cell is not None and MarketZone.LIQUIDATION in cell.zones
    )
    if g.company(company).cell is not None:
        market.move_token(g, company, (row, column), reason)
