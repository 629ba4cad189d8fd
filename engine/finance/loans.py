"""Loans of companies: how many, what they cost, and where they move the price (1817 §1.2.5)."""

from __future__ import annotations

from typing import NamedTuple

from engine.core.components import LoanDefinition, MarketZone, SizeDefinition
from engine.core.events import InterestSet, LoansChanged
from engine.core.reasons import CashReason, LoanReason, PriceReason
from engine.core.state import BANK, Auction, BuyerChoice, OperatingRound, ShareholderSettlement
from engine.core.words import counted
from engine.finance import market
from engine.game import Game


def loan_terms(g: Game) -> LoanDefinition:
    """The bank's loans. Raises AssertionError in a title without any."""
    assert g.components.loans is not None
    return g.components.loans


def size_definition(g: Game, company: str) -> SizeDefinition:
    """The rules for companies with this company's number of shares.

    Raises AssertionError while the company has no number of shares.
    """
    size = g.company(company).size
    assert size is not None
    return g.components.company_sizes[size]


def in_zone(g: Game, company: str, *zones: MarketZone) -> bool:
    """Whether the company's price token is in one of these zones of the market."""
    at = g.company(company).cell
    return at is not None and any(zone in zones for zone in g.title.cell(at).zones)


def is_tradable(g: Game, company: str) -> bool:
    """Whether a company is on the market, and neither in liquidation nor in acquisition (1817 §1.2.2)."""
    return g.company(company).cell is not None and not in_zone(
        g, company, MarketZone.LIQUIDATION, MarketZone.ACQUISITION
    )


def loans_taken(g: Game) -> int:
    """How many loans are out of the bank.

    Loans set aside while a company is sold out of liquidation are not back in the bank (1817 §7.2.4).
    """
    set_aside = sum(
        f.set_aside_loans
        for f in g.state.stack
        if isinstance(f, Auction | BuyerChoice | ShareholderSettlement)
    )
    return set_aside + sum(co.loans for co in g.state.companies.values())


def loans_available(g: Game, company: str) -> int:
    """How many more loans the company may take."""
    if g.company(company).size is None:
        return 0
    below_limit = size_definition(g, company).max_loans - g.company(company).loans
    return max(min(below_limit, loan_terms(g).count - loans_taken(g)), 0)


def refuse_loans(g: Game, company: str, count: int) -> str | None:
    """Why the company may not take so many loans, or None."""
    if count < 1:
        return "Take at least one loan."
    if count > (available := loans_available(g, company)):
        more = counted(available, "more loan") if available else "no more loans"
        return f"The {company} may take {more}{g.cite('1817 §1.2.5')}."
    return None


def take_loans(g: Game, company: str, count: int = 1) -> None:
    """Take loans; each moves the company's price one space to the left (1817 §1.2.5)."""
    for _ in range(count):
        g.emit(LoansChanged(company, 1, LoanReason.TAKEN))
        g.pay(BANK, company, loan_terms(g).value, CashReason.LOAN)
        market.move_token(g, company, market.left(g, market.token_space(g, company)), PriceReason.LOAN)


def repay_loans(g: Game, company: str, count: int = 1, *, moves_price: bool = True) -> None:
    """Repay loans; each moves the company's price one space to the right, unless `moves_price` is false."""
    for _ in range(count):
        g.emit(LoansChanged(company, -1, LoanReason.REPAID))
        g.pay(company, BANK, loan_terms(g).value, CashReason.LOAN_REPAYMENT)
        if moves_price:
            market.move_token(
                g, company, market.right(g, market.token_space(g, company)), PriceReason.LOAN_REPAYMENT
            )


def loan_label(g: Game, company: str, count: int) -> str:
    """The option to take so many loans: the dollars, and the market space afterwards."""
    space = market.token_space(g, company)
    for _ in range(count):
        space = market.left(g, space)
    then = f"price to {market.space_name(g, space)}"
    return f"Take {counted(count, 'loan')}: ${count * loan_terms(g).value:,}, {then}"


def may_repay(most: int) -> str:
    """How many loans a company can repay, to follow its name."""
    if most < 1:
        return "cannot repay a loan now"
    return f"can repay at most {most} {'loan' if most == 1 else 'loans'} now"


def repayment_label(g: Game, company: str, count: int, *, moves_price: bool = True) -> str:
    """The option to repay so many loans: the dollars, and the market space afterwards."""
    space = market.token_space(g, company)
    for _ in range(count if moves_price else 0):
        space = market.right(g, space)
    then = f", price to {market.space_name(g, space)}" if moves_price else ""
    return f"Repay {counted(count, 'loan')}: ${count * loan_terms(g).value:,}{then}"


def token_cost_label(g: Game, size: int, count: int) -> str:
    """`; 2 tokens to pay, $100`: the cost of station tokens for a company of that size, or nothing."""
    cost = count * g.components.company_sizes[size].station_cost
    return f"; {counted(count, 'token')} to pay, ${cost:,}" if count else ""


def interest_rate(g: Game) -> int:
    """Dollars of interest on each loan, by the number of loans taken now (1817 §1.2.5)."""
    terms = loan_terms(g)
    steps = -(-loans_taken(g) // terms.step)
    return terms.rate_step * max(steps, 1)


class LoanStatus(NamedTuple):
    """The bank's loans: how many of the `limit` are `taken`, and the `value` of each in dollars.

    `rates`: dollars of interest on a loan, for every `loans_per_step` loans taken. `rate`: for the number
    taken now. `round_rate`: in the current operating round; None outside one.
    """

    taken: int
    limit: int
    value: int
    loans_per_step: int
    rates: tuple[int, ...]
    rate: int
    round_rate: int | None

    @property
    def current_rate(self) -> int:
        """Dollars of interest on a loan now."""
        return self.rate if self.round_rate is None else self.round_rate

    def __str__(self) -> str:
        """`interest $30 a loan ($35 above 30 loans), 29 of 70 loans taken`."""
        current = self.current_rate
        later = f" in this round, ${self.rate:,} after it" if current != self.rate else ""
        step = self.rates.index(self.rate) + 1
        higher = [f" (${rate:,} above {step * self.loans_per_step} loans)" for rate in self.rates[step:]][:1]
        return (
            f"interest ${current:,} a loan{later}{''.join(higher)}, {self.taken} of {self.limit} loans taken"
        )


def loan_status(g: Game) -> LoanStatus | None:
    """The status of the bank's loans; None in a title without loans."""
    terms = g.components.loans
    if terms is None:
        return None
    rates = tuple(terms.rate_step * (i + 1) for i in range(-(-terms.count // terms.step)))
    fixed = g.state.interest_per_loan if isinstance(g.state.stack[0], OperatingRound) else None
    return LoanStatus(loans_taken(g), terms.count, terms.value, terms.step, rates, interest_rate(g), fixed)


def set_interest(g: Game) -> None:
    """Fix the interest for the operating round that begins (1817 §6)."""
    if interest_rate(g) != g.state.interest_per_loan:
        g.emit(InterestSet(interest_rate(g)))


def interest_due(g: Game, company: str) -> int:
    """Dollars of interest that the company pays in the current operating round."""
    return g.company(company).loans * g.state.interest_per_loan


def put_into_liquidation(g: Game, company: str, reason: PriceReason) -> None:
    """Move the company's price token into the liquidation space (1817 §6.8, §6.10)."""
    row, column = next(
        (r, c)
        for r, cells in enumerate(g.components.market.rows)
        for c, cell in enumerate(cells)
        if cell is not None and MarketZone.LIQUIDATION in cell.zones
    )
    if g.company(company).cell is not None:
        market.move_token(g, company, (row, column), reason)
