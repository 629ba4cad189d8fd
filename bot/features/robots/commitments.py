"""What a seat has begun: money and certificates that are set aside until a company has floated.

A company that is started and does not float is the dearest fault of a stock round: its shares bring nothing,
and its president's money is bound. So a robot starts one only with the money for all its shares, and buys
them before anything else.
"""

from __future__ import annotations

from engine import IPO, Game
from engine.core.actions import Action, BuyShares, Par, Pass, SellShares
from engine.core.state import StockTurn
from engine.finance.ownership import share_percent, share_price


def keeps_plan(g: Game, seat: str, action: Action) -> bool:
    """Whether a move leaves what is needed to float the company that the seat has started, or starts here."""
    if isinstance(action, Par):
        share = share_percent(g, action.company)
        held = g.percent_held(seat, action.company)
        missing = g.company_definition(action.company).float_percent - held
        return missing * action.price // share <= g.cash(seat) and not unfloated(g, seat, action.company)
    begun, cash = unfloated(g, seat), g.cash(seat)
    if not begun:
        return True
    if isinstance(action, SellShares):
        return action.company not in begun
    if isinstance(action, BuyShares) and action.company not in begun:
        cost = (share_price(g, action.company, action.source) or 0) * action.count
        return cash - cost >= sum(float_cost(g, company) for company in begun)
    return not isinstance(action, Pass) or has_bought(g) or all(cash < (g.company(c).par or 0) for c in begun)


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
    sold = 100 - g.percent_held(IPO, company)
    missing = max(g.company_definition(company).float_percent - sold, 0)
    return missing * (g.company(company).par or 0) // share_percent(g, company)
