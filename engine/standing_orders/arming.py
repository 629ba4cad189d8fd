"""What can be left as an order: the one predicate that says why an order could never say anything."""

from __future__ import annotations

from engine.core.state import BANK, Auction, OperatingTurn, PriceProtection, Waterfall, WaterfallBidding
from engine.game import Game
from engine.opening.waterfall import may_become_cheaper, min_bid
from engine.operating.turn import OperatingTurnQuestion
from engine.standing_orders.auctions import auctioned_item, bid_option, is_private_for_sale
from engine.standing_orders.model import (
    AutoBid,
    AutoBuy,
    AutoBuyPrivate,
    AutoDecline,
    AutoPass,
    AutoProtect,
    AutoRun,
    AutoTurn,
    Order,
)
from engine.standing_orders.stops import refuse_condition
from engine.standing_orders.turns import DIVIDENDS

MAX_SHARES = 10
"""The most shares of one order to buy."""


def refuse_order(g: Game, seat: str, order: Order) -> str | None:
    """Why an order of the seat is not possible now or later, as a sentence, or None."""
    if g.state.game_over:
        return "The game is over."
    if seat in g.state.bankrupt_seats:
        return "You are out of the game."
    for condition in order.unless if isinstance(order, AutoPass | AutoBuy) else ():
        if reason := refuse_condition(g, condition):
            return reason
    match order:
        case AutoBuy():
            return _refuse_buy(g, order)
        case AutoBuyPrivate(item, limit):
            return _refuse_buy_private(g, item, limit)
        case AutoBid():
            return _refuse_bid(g, seat, order)
        case AutoRun(company, dividend):
            return _refuse_company(g, seat, company) or _refuse_dividend(g, dividend)
        case AutoTurn(company):
            return _refuse_company(g, seat, company)
        case AutoDecline():
            return None
        case AutoProtect(company):
            if PriceProtection not in g.title.questions:
                return "There is no price protection in this game."
            if g.company(company).president != seat:
                return f"Only its president protects the price of the {company}{g.cite('1870 §5.9')}."
    return None


def _refuse_buy(g: Game, order: AutoBuy) -> str | None:
    co = g.company(order.company)
    if co.closed:
        return f"The {order.company} is closed."
    if co.par is None and co.president is None:
        how = "its president's certificate is bought with `par`"
        if Auction in g.title.questions:
            how = "it is auctioned with `start`"
        return f"The {order.company} has not started; {how}."
    if order.until_floated and co.floated:
        return f"The {order.company} has floated; say how many shares: `auto buy 2 {order.company}`."
    if not order.until_floated and not 1 <= (order.count or 0) <= MAX_SHARES:
        return f"Between 1 and {MAX_SHARES} shares can be bought by an order."
    return None


def _refuse_buy_private(g: Game, item: str, limit: int) -> str | None:
    if Waterfall not in g.title.questions or g.state.private_owners.get(item) != BANK:
        return f"The {item} is not for sale."
    if not may_become_cheaper(g, item) and limit < (price := g.private_definition(item).price):
        return f"The {item} costs ${price:,}."
    return None


def _refuse_bid(g: Game, seat: str, order: AutoBid) -> str | None:
    is_auctioned = auctioned_item(g) == order.item
    if is_private_for_sale(g, order.item):
        if not {Waterfall, WaterfallBidding, Auction} & set(g.title.questions):
            return "Nothing is auctioned in this game."
    elif not is_auctioned and order.item in g.state.private_owners:
        return f"The {order.item} is not for sale."
    elif not is_auctioned:
        return f"The {order.item} is not being auctioned."
    option = bid_option(g, seat, order.item)
    steps = option.amounts if option and option.amounts else range(order.limit, order.limit + 1)
    if order.limit > steps[0] and (rest := (order.limit - steps[0]) % steps.step):
        below = f"auto bid {order.item} up to {order.limit - rest}"
        return f"Bids go by ${steps.step:,}; `{below}` is the step below ${order.limit:,}."
    least = None if order.is_nothing else _least_bid(g, seat, order.item)
    if least is not None and order.limit < least:
        return f"The least bid for the {order.item} is ${least:,}."
    return None


def _least_bid(g: Game, seat: str, item: str) -> int | None:
    """The least dollars that the seat may bid for the item now or later; None where that is not known yet."""
    if isinstance(g.top, Waterfall):
        return min_bid(g, g.top.bids.get(item, {}), item)
    option = bid_option(g, seat, item)
    return option.amounts[0] if option and option.amounts else None


def _refuse_company(g: Game, seat: str, company: str) -> str | None:
    president = g.company(company).president
    if president == seat:
        return None
    if president is None:
        return f"The {company} has no president."
    return f"{g.state.name(president)} is president of the {company}, so only they can order its turns."


def _refuse_dividend(g: Game, dividend: str) -> str | None:
    turns = g.title.questions[OperatingTurn]
    assert isinstance(turns, OperatingTurnQuestion)
    kinds = {kind for step in turns.steps for kind in step.handles}
    if type(DIVIDENDS[dividend]) in kinds and (dividend != "half" or _allows_half(turns)):
        return None
    return "Half a dividend cannot be paid in this game."


def _allows_half(turns: OperatingTurnQuestion) -> bool:
    return any(getattr(step, "half_rounding", 0) for step in turns.steps)
