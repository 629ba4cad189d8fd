"""Which company to start in a stock round, and the shares that are sold for it.

A start is judged by what it brings over the best shares that the same money would buy. So it stands before
these if it brings more, and the money that it lacks is raised from the shares that are missed least, in the
turn in which the company is started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bot.features.robots.commitments import lacking
from bot.features.robots.forecast import Forecast
from bot.features.robots.par_prices import par_choice
from bot.features.robots.scored import Scored, best
from engine import Option
from engine.core.actions import BuyShares, Par, SellShares
from engine.finance.ownership import certificate_room, counts_toward_limit, share_percent, share_price

START_MARGIN = 20.0
"""Dollars by which a company has to bring more than the shares that are sold for it."""
SALE_COST = 0.03
"""Which part of its price another share of the same company loses by each that is sold before it."""


class Raised(NamedTuple):
    """Money that a seat can raise: dollars, what it loses by it, and the sale to begin with."""

    dollars: int
    loss: float
    sale: SellShares


def with_starts(o: Forecast, judged: list[Scored], options: Sequence[Option]) -> list[Scored]:
    """The judged moves with the companies that may be started, and sales that pay for a start."""
    pars = [option.action for option in options if isinstance(option.action, Par)]
    if not pars:
        return judged
    shares = max([0.0, *(each.value for each in judged if isinstance(each.action, BuyShares))])
    starts, sales = [], []
    for par in pars:
        start = start_worth(o, par, options)
        raised = _raised(o, *lacking(o.g, o.seat, par), options)
        if raised is None:
            start = start._replace(value=start.value + shares * (start.value > 0))
        elif (worth := start_worth(o, par, options, raised.dollars).value - raised.loss) > START_MARGIN:
            reason = f"the {par.company} will bring more than my shares of the {raised.sale.company}"
            sales.append(Scored(raised.sale, worth + shares, reason))
        starts.append(start)
    found = [*judged, *starts]
    return [best([each, *(sale for sale in sales if sale.action == each.action)]) for each in found]


def start_worth(o: Forecast, par: Par, options: Sequence[Option], more_cash: int = 0) -> Scored:
    """Start a company: not beside one that still has to float, without the money for its train, or where
    shares of others bring more for the same money.

    more_cash: dollars that the seat raises for it.
    """
    judged = par_choice(o, par, more_cash=more_cash)
    worth = judged.value
    if any(not o.g.company(c).floated for c in o.own_companies()):
        worth = -50.0
    share = share_percent(o.g, par.company)
    price = par.price * o.g.company_definition(par.company).float_percent // share
    worth -= need_after(o, price) + _gain_elsewhere(o, price, options)
    train = o.next_train()
    if train and o.capital(par.company, par.price) < train.price:
        worth -= 300
    if o.rounds_left < 4:
        worth -= 300
    return judged._replace(value=worth)


def need_after(o: Forecast, cost: float) -> float:
    """What a purchase costs beyond its price where the seat may have to pay for a train, or for loans."""
    missing = o.shortage if o.g.components.must_own_train else o.debt
    need = sum(missing(c) for c in o.own_companies() if o.g.company(c).floated)
    if not need:
        return 0.0
    funds = o.g.cash(o.seat) - cost + 0.75 * o.sellable_worth() + 0.5 * cost
    return 0.5 * min(max(need - funds, 0), cost)


def _gain_elsewhere(o: Forecast, dollars: float, options: Sequence[Option]) -> float:
    """What so many dollars bring in the best shares on offer of companies that have floated, as far as there
    is room."""
    g, total, best = o.g, 0.0, []
    room = certificate_room(g, o.seat)
    for option in options:
        buy = option.action
        if isinstance(buy, BuyShares) and buy.count == 1 and g.company(buy.company).floated:
            price = share_price(g, buy.company, buy.source) or 1
            best.append((o.share_gain(buy.company, price) / price, buy.company, buy.source, price))
    for rate, company, source, price in sorted(best, reverse=True):
        for _ in range(g.percent_held(source, company) // share_percent(g, company)):
            if dollars >= price and rate > 0 and room > 0:
                dollars, room = dollars - price, room - counts_toward_limit(g, company)
                total += rate * price
    return total


def _raised(o: Forecast, dollars: int, room: int, options: Sequence[Option]) -> Raised | None:
    """So many dollars, and room for so many certificates, by the sale of shares of companies of others that
    bring least; None if nothing is lacking or these shares are not enough."""
    g, sales = o.g, []
    for option in options:
        sale = option.action
        if isinstance(sale, SellShares) and g.company(sale.company).president != o.seat:
            price = g.price(sale.company)
            sales.append((max(o.share_gain(sale.company, price), 0.0), price, sale))
    sales.sort(key=lambda each: (each[0] / each[1], each[2].company, each[2].count))
    raised, loss, first = 0, 0.0, None
    for gain, price, sale in sales:
        if raised < dollars or room > 0:
            raised += price
            room -= counts_toward_limit(g, sale.company)
            loss += gain + SALE_COST * price * sale.count
            first = sale if first is None or first.company == sale.company else first
    return Raised(raised, loss, first) if first and raised >= dollars and room <= 0 else None
