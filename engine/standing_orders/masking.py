"""Orders of one owner beside each other: which takes the place of which, and which never speaks."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.state import State, Waterfall
from engine.game import Game
from engine.kernel import game_of
from engine.standing_orders.auctions import auctioned_item
from engine.standing_orders.model import (
    ArmedOrder,
    AutoBid,
    AutoBuy,
    AutoBuyPrivate,
    AutoDecline,
    AutoPass,
    AutoRun,
    AutoTurn,
    Order,
)
from engine.standing_orders.stock import has_bid
from engine.standing_orders.stops import next_stock_round, round_index, trading_round


def replaces(order: Order, older: Order) -> bool:
    """Whether an order takes the place of an older one of the same owner: the same verb on the same company
    or private, or in the same round."""
    return type(order) is type(older) and order.subject == older.subject


def masking_order(armed: ArmedOrder, earlier: Sequence[ArmedOrder], state: State) -> ArmedOrder | None:
    """The order of the same owner because of which an order never speaks, or None.

    earlier: those that are asked before it. state: the position now.
    """
    return next((each for each in earlier if each.seat == armed.seat and _masks(each, armed, state)), None)


def _masks(first: ArmedOrder, then: ArmedOrder, state: State) -> bool:
    start, later_start = game_of(first.start), game_of(then.start)
    match first.order, then.order:
        case AutoPass(once=False), AutoBuy():
            return trading_round(start) == next_stock_round(later_start)
        case AutoPass(once=False), AutoBuyPrivate() | AutoBid():
            return trading_round(start) == round_index(game_of(state)) and not _bids_anyway(
                first, then, state
            )
        case AutoBuy(then_pass=True), AutoBuy():
            return next_stock_round(start) == next_stock_round(later_start)
        case (AutoRun(company), AutoTurn(other)) if company == other:
            return True
        case AutoDecline("polls"), AutoDecline("votes"):
            return True
    return False


def _bids_anyway(first: ArmedOrder, then: ArmedOrder, state: State) -> bool:
    """Whether a bid is made although `auto pass` comes first: it passes in no auction that its owner has a
    bid in."""
    if not isinstance(then.order, AutoBid):
        return False
    g: Game = game_of(state)
    if isinstance(g.top, Waterfall):
        return then.seat in g.top.bids.get(then.order.item, {})
    return auctioned_item(g) != then.order.item or has_bid(first.at(state), then.order.item)
