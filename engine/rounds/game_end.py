"""Ends of the game other than a broken bank, and final scores (1830 §25, §23.3)."""

from __future__ import annotations

from collections.abc import Callable

from engine.core.state import IPO, POOL, is_seat
from engine.finance.ownership import net_worth, president_share_percent, share_percent
from engine.game import Game

LAST_STOCK_ROUND_ON_SITE = 100
"""18xx.games ends a game after this stock round; it has no rule for a stalemate."""


def final_scores(g: Game, bankrupt: str | None, *, with_privates: bool) -> dict[str, int]:
    """Net worth in dollars by seat. `with_privates`: a bankrupt player's privates count as well."""
    worth = {seat: net_worth(g, seat) for seat in g.state.seats}
    if bankrupt and not with_privates:
        worth[bankrupt] -= sum(g.private_definition(p).price for p in g.privates_of(bankrupt))
    return worth


def end_at_price(price: int) -> Callable[[Game], str | None]:
    """A rule that ends the game once a company's price has reached that many dollars (1870 §16.1)."""

    def reached(g: Game) -> str | None:
        for company in g.state.market_order:
            if g.price(company) >= price:
                return f"The {company} has reached ${price}."
        return None

    return reached


def end_by_stalemate(g: Game) -> str | None:
    """Why the game is over by a stalemate (1870 §13.3), or None: no company operates, no private pays a
    player, and all players together cannot float a company."""
    if any(is_seat(owner) or owner == POOL for owner in g.state.private_owners.values()):
        return None
    if not any(co.closed for co in g.state.companies.values()):
        return None
    if any(co.floated for co in g.state.companies.values()):
        return None
    cash = [g.cash(seat) for seat in g.state.seats]
    for company, co in g.state.companies.items():
        if co.closed:
            continue
        share, price = share_percent(g, company), co.par or min(g.components.par_prices)
        missing = g.company_definition(company).float_percent - (100 - co.shares.get(IPO, 0))
        first = price * president_share_percent(g, company) // share if co.par is None else price
        if max(cash) >= first and sum(cash) >= price * missing // share:
            return None
    return "A stalemate: no company operates and none can be started; nobody wins."
