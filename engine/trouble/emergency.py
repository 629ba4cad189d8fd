"""Sales in a forced purchase, and what comes after them (1830 §24, §25)."""

from __future__ import annotations

from engine.events import CashMoved
from engine.game import Game
from engine.holdings import certificates, percent_limit, presidents_percent, sale_obstacle, successor, unit
from engine.offers import lapse_offers
from engine.state import BANK, GameOver
from engine.stock.turn import held_companies, most_sellable, sell_shares


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
    percent = count * unit(g, company)
    if why := sale_obstacle(g, seat, company, percent):
        return why
    if company == buyer and successor(g, company, losing=percent):
        return f"The sale must not cost him the presidency of the {buyer} (§24.3)."
    spare = 1
    if whole and g.company(company).president == seat and certificates(g, seat, company) == 1:
        spare = presidents_percent(g, company) // unit(g, company)
    each = g.price(company) if price is None else price
    enough = short is not None and each * (count - spare) >= short
    if enough and count > down_to_limit(g, seat, company):
        return f"${max(short or 0, 0)} are needed; fewer shares bring that (§24.3)."
    return None


def down_to_limit(g: Game, seat: str, company: str) -> int:
    """How many shares must be sold at least where any is, of a company held above the percent limit
    by a player who may keep them otherwise (1870 §10.6.2)."""
    if g.title.excess_sold:
        return 0
    return max(g.held(seat, company) - percent_limit(g, company), 0) // unit(g, company)


def declare_bankrupt(
    g: Game, seat: str, buyer: str, *, sell_all: bool, loses_cash: bool, sold: tuple[str, ...] = ()
) -> None:
    """End the game by a president who cannot pay (§24.6, §25); his cash may be lost.

    `sell_all`: his shares are sold, but for those of companies that he has `sold` already.
    """
    if sell_all:
        for company in (c for c in held_companies(g, seat) if c not in sold):
            counts = [
                n
                for n in most_sellable(g, seat, company)
                if refuse_forced_sale(g, seat, buyer, company, n, None) is None
            ]
            if counts:
                sell_shares(g, seat, company, max(counts))
    if loses_cash and g.cash(seat):
        g.emit(CashMoved(seat, BANK, g.cash(seat), "bankruptcy"))
    lapse_offers(g)
    g.open(GameOver(f"{g.state.name(seat)} is bankrupt.", seat))
