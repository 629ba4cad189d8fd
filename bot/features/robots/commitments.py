"""What a seat has begun: money and certificates that are set aside until a company has floated.

A company that is started and does not float is the dearest fault of a stock round: its shares bring nothing,
and its president's money is bound. So a robot starts one only with the money and the room for all its shares,
and buys them before anything else.
"""

from __future__ import annotations

from engine import IPO, Game
from engine.core.actions import Action, BuyShares, Par, Pass, SellShares
from engine.core.state import StockTurn
from engine.finance.ownership import certificate_room, share_percent, share_price


def keeps_plan(g: Game, seat: str, action: Action) -> bool:
    """Whether a move leaves what is needed to float the company that the seat has started, or starts here."""
    if isinstance(action, Par):
        return lacking(g, seat, action) == (0, 0) and not unfloated(g, seat, action.company)
    begun, cash = unfloated(g, seat), g.cash(seat)
    if not begun:
        return True
    if isinstance(action, SellShares):
        return action.company not in begun
    if isinstance(action, BuyShares) and action.company not in begun:
        cost = (share_price(g, action.company, action.source) or 0) * action.count
        room = certificate_room(g, seat) - action.count
        needed = sum(missing_percent(g, company) // share_percent(g, company) for company in begun)
        return cash - cost >= sum(float_cost(g, company) for company in begun) and room >= needed
    return not isinstance(action, Pass) or has_bought(g) or all(cash < (g.company(c).par or 0) for c in begun)


def lacking(g: Game, seat: str, par: Par) -> tuple[int, int]:
    """Dollars, and room for certificates, that the seat lacks to float a company alone that it starts."""
    share, definition = share_percent(g, par.company), g.company_definition(par.company)
    held = g.percent_held(seat, par.company)
    missing = definition.float_percent - held
    certificates = missing // share - (0 if held else definition.shares[0] // share - 1)
    short = max(missing * par.price // share - g.cash(seat), 0)
    return short, max(certificates - certificate_room(g, seat), 0)


def has_bought(g: Game) -> bool:
    """Whether the purchase of this stock turn has been made."""
    return isinstance(g.top, StockTurn) and bool(g.top.bought)


def unfloated(g: Game, seat: str, but: str = "") -> list[str]:
    """Companies of the seat that have started and not floated."""
    return [
        c for c, co in g.state.companies.items()
        if co.president == seat and not co.floated and co.par and c != but
    ]  # fmt: skip


def float_cost(g: Game, company: str) -> int:
    """Dollars for the shares that are still to be sold for the company to float."""
    return missing_percent(g, company) * (g.company(company).par or 0) // share_percent(g, company)


def missing_percent(g: Game, company: str) -> int:
    """The part of a company, in percent, that is still to be sold for it to float."""
    sold = 100 - g.percent_held(IPO, company)
    return max(g.company_definition(company).float_percent - sold, 0)
