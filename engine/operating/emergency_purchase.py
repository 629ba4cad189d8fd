"""Forced sales of shares by a president who has to pay for a train, and their bankruptcy (1830 §24, §25)."""

from __future__ import annotations

from engine.core.events import CashMoved
from engine.core.reasons import CashReason
from engine.core.state import BANK, GameOver
from engine.finance.offers import lapse_offers
from engine.finance.ownership import (
    certificate_count,
    next_president,
    percent_limit,
    president_share_percent,
    share_percent,
)
from engine.finance.share_sales import held_companies, refuse_share_sale, sell_shares, sellable_counts
from engine.game import Game


def refuse_forced_sale(
    g: Game,
    seat: str,
    buyer: str,
    company: str,
    count: int,
    short: int | None,
    *,
    whole: bool = False,
    price: int | None = None,
) -> str | None:
    """Why the president may not sell that many shares to help the `buyer`, or None.

    The usual rules of sales hold, the buyer's presidency must not change (1830 §24.3), and no more shares may
    be sold than the money needs. `short`: dollars still missing (None: any number may be sold). `whole`: what
    is needed is counted in certificates, so it is two shares for a president who holds only the president's
    certificate. `price`: dollars per share (None: the price now).
    """
    if count < 1:
        return "At least one share has to be sold."
    percent = count * share_percent(g, company)
    if why := refuse_share_sale(g, seat, company, percent):
        return why
    if company == buyer and next_president(g, company, losing=percent):
        return f"The sale must not change the presidency of the {buyer}{g.cite('1830 §24.3')}."
    spare = 1
    if whole and g.company(company).president == seat and certificate_count(g, seat, company) == 1:
        spare = president_share_percent(g, company) // share_percent(g, company)
    each = g.price(company) if price is None else price
    enough = short is not None and each * (count - spare) >= short
    if enough and count > shares_over_limit(g, seat, company):
        return f"Only ${max(short or 0, 0)} are needed, and fewer shares bring that{g.cite('1830 §24.3')}."
    return None


def shares_over_limit(g: Game, seat: str, company: str) -> int:
    """How many shares the player holds above the percent limit, in a title that lets them keep those: if they
    sell any, they sell at least so many (1870 §10.6.2)."""
    if g.title.must_sell_excess:
        return 0
    return max(g.percent_held(seat, company) - percent_limit(g, company), 0) // share_percent(g, company)


def liquidity(g: Game, company: str, sold: tuple[str, ...] = ()) -> int:
    """Dollars that the president could raise by forced sales at the present prices (1830 §24).

    `sold`: companies whose shares may not be sold again in this turn.
    """
    seat = g.president(company)
    total = 0
    for other in held_companies(g, seat):
        if other in sold:
            continue
        counts = [
            n
            for n in sellable_counts(g, seat, other)
            if refuse_forced_sale(g, seat, company, other, n, None) is None
        ]
        total += g.price(other) * max(counts, default=0)
    return total


def declare_bankruptcy(
    g: Game, seat: str, buyer: str, *, sell_all: bool, loses_cash: bool, sold: tuple[str, ...] = ()
) -> None:
    """End the game by the bankruptcy of a president who cannot pay (1830 §24.6, §25).

    `sell_all`: their shares are sold first, except those of companies of which they have `sold` some
    already. `loses_cash`: their cash goes to the bank.
    """
    if sell_all:
        for company in (c for c in held_companies(g, seat) if c not in sold):
            counts = [
                n
                for n in sellable_counts(g, seat, company)
                if refuse_forced_sale(g, seat, buyer, company, n, None) is None
            ]
            if counts:
                sell_shares(g, seat, company, max(counts))
    if loses_cash and g.cash(seat):
        g.emit(CashMoved(seat, BANK, g.cash(seat), CashReason.BANKRUPTCY))
    lapse_offers(g)
    g.push(GameOver(f"{g.state.name(seat)} is bankrupt.", seat))
