"""Par prices: high for a full treasury, but so that the seat can float the company alone.

Whether to start a company at all, in a stock round, is judged in `starts`.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.scored import Scored
from engine import Option
from engine.core.actions import Par
from engine.core.state import Auction
from engine.finance.ownership import share_percent

HOME_TO_COME = 0.7
"""Which part of its revenue a company probably earns whose home is still to be chosen."""


def par_price(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """The par price of a company that came with a private: the highest at which the seat can float it."""
    return [par_choice(o, option.action) for option in options if isinstance(option.action, Par)]


def par_choice(o: Forecast, par: Par, more_cash: int = 0) -> Scored:
    """A par price: high for a full treasury, but so that the seat can float the company alone.

    more_cash: dollars that the seat raises for it.
    """
    g, definition = o.g, o.g.company_definition(par.company)
    share = share_percent(g, par.company)
    held = 100 - g.percent_held("ipo", par.company)
    if g.company(par.company).par is None and not isinstance(g.top, Auction) and _is_granted(o, par.company):
        held = max(held, definition.shares[0])
    cost = max(definition.float_percent - held, 0) * par.price // share
    cash = g.cash(o.seat) + more_cash
    treasury = o.capital(par.company, par.price)
    revenue = o.new_company_revenue(par.company, treasury)
    if definition.home is None:
        revenue *= HOME_TO_COME
    shares = max(definition.float_percent // share, 1)
    gain = shares * (0.9 * revenue * share / 100 * max(o.horizon - 1, 0) + 5 * o.horizon)
    if cost > cash:
        gain = 0.35 * gain - 0.6 * (cost - cash)
        why = "others will have to buy shares with me"
    else:
        why = f"I can float the {par.company} alone, with ${treasury:,.0f} for trains"
    return Scored(par, gain + 0.2 * par.price, why)


def _is_granted(o: Forecast, company: str) -> bool:
    grants = [o.g.private_definition(p).grants for p in o.g.privates_of(o.seat)]
    return any(grant and grant.company == company and grant.president for grant in grants)
