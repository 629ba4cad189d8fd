"""Sales in a forced purchase, and what comes after them (1830 §24, §25)."""

from __future__ import annotations

from engine.core.events import CashMoved
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
    """Why the president may not sell that to help the `buyer`, `short` of so many dollars; or None.

    The usual rules hold, the buyer's presidency stays (§24.3), and no share is sold more than the
    money needs: the book lets him sell only where that is necessary. `whole`: what is needed is
    reckoned by certificates, so of a president who holds nothing but his that is two shares. `price`:
    dollars that a share brings (None: its price now).
    """
    if count < 1:
        return "At least one share has to be sold."
    percent = count * share_percent(g, company)
    if why := refuse_share_sale(g, seat, company, percent):
        return why
    if company == buyer and next_president(g, company, losing=percent):
        return f"The sale must not cost him the presidency of the {buyer} (§24.3)."
    spare = 1
    if whole and g.company(company).president == seat and certificate_count(g, seat, company) == 1:
        spare = president_share_percent(g, company) // share_percent(g, company)
    each = g.price(company) if price is None else price
    enough = short is not None and each * (count - spare) >= short
    if enough and count > shares_over_limit(g, seat, company):
        return f"${max(short or 0, 0)} are needed; fewer shares bring that (§24.3)."
    return None


def shares_over_limit(g: Game, seat: str, company: str) -> int:
    """How many shares must be sold at least where any is, of a company held above the percent limit
    by a player who may keep them otherwise (1870 §10.6.2)."""
    if g.title.must_sell_excess:
        return 0
    return max(g.percent_held(seat, company) - percent_limit(g, company), 0) // share_percent(g, company)


def declare_bankruptcy(
    g: Game, seat: str, buyer: str, *, sell_all: bool, loses_cash: bool, sold: tuple[str, ...] = ()
) -> None:
    """End the game by a president who cannot pay (§24.6, §25); his cash may be lost.

    `sell_all`: his shares are sold, but for those of companies that he has `sold` already.
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
        g.emit(CashMoved(seat, BANK, g.cash(seat), "bankruptcy"))
    lapse_offers(g)
    g.push(GameOver(f"{g.state.name(seat)} is bankrupt.", seat))
