"""`auto bid`: bids in the auctions of every title; `auto buy private`: purchases in the opening."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.actions import Bid, BidNothing, BidUpTo, BuyPrivate, Pass, RaiseBid
from engine.core.events import FramePushed
from engine.core.state import BANK, Auction, SeedMoneySale, State, Waterfall, WaterfallBidding
from engine.game import Game
from engine.kernel import RefusedError, game_of, options, refusal
from engine.language.forms import format_action
from engine.language.notation import AmbiguousError, UnreadableError, parse
from engine.mechanics import Option
from engine.opening.waterfall import asking_price, may_become_cheaper, offered_private
from engine.standing_orders.model import (
    WAITS,
    ArmedOrder,
    AutoBid,
    AutoBuyPrivate,
    Circumstances,
    Ended,
    Judgement,
    Says,
)


def judge_bid(c: Circumstances, order: AutoBid) -> Judgement:
    """`auto bid BO up to 260`: the least bid whenever the owner is asked and somebody else is the highest."""
    if reason := _over(c, order.item):
        return Ended(reason, done=True)
    if not c.may_act or isinstance(c.g.top, SeedMoneySale) or _is_highest(c.g, c.seat, order.item):
        return WAITS
    in_auction = auctioned_item(c.g) == order.item
    if order.is_nothing and not in_auction:
        return WAITS
    option = bid_option(c.g, c.seat, order.item)
    if option is None:
        if not in_auction:
            return WAITS
        return _leave(c, order, f"You cannot bid for the {order.item} any more.")
    least = option.amounts[0] if option.amounts else getattr(option.action, "amount", 0)
    if least > order.limit:
        above = f"The least bid for the {order.item} is ${least:,} now, above your ${order.limit:,}."
        return _leave(c, order, above) if in_auction else Ended(above)
    return Says(format_action(c.g, option.action))


def judge_buy_private(c: Circumstances, order: AutoBuyPrivate) -> Judgement:
    """`auto buy private DH up to 70`. It waits while the price is above the limit and may still fall."""
    if reason := _over(c, order.item):
        return Ended(reason, done=True)
    if not c.may_act or not isinstance(c.g.top, Waterfall) or offered_private(c.g) != order.item:
        return WAITS
    if (price := asking_price(c.g, c.g.top)) > order.limit:
        above = f"The {order.item} costs ${price:,}, more than your ${order.limit:,}."
        return WAITS if may_become_cheaper(c.g, order.item) else Ended(above)
    if why := refusal(c.g, c.seat, buy := BuyPrivate(order.item)):
        return Ended(f"The {order.item} cannot be bought: {why}")
    return Says(format_action(c.g, buy))


def _leave(c: Circumstances, order: AutoBid, reason: str) -> Judgement:
    """Above the limit: leave the auction if the owner wants that, else let them decide."""
    if order.then_pass and refusal(c.g, c.seat, Pass()) is None:
        return Says("pass")
    return Ended(reason)


def bid_option(g: Game, seat: str, item: str) -> Option | None:
    """The option to bid on that item, if the seat has it."""
    for option in options(g, seat):
        match option.action:
            case Bid(private) if private == item:
                return option
            case RaiseBid() if auctioned_item(g) == item:
                return option
    return None


def limit_as_order(state: State, seat: str, line: str) -> str | None:
    """`bid up to 85` and `bid nothing` in an auction as the order that says the same; None for other lines.

    Games of older versions have such limits in their positions, where the auction raises the bids itself.
    """
    g = game_of(state)
    if not isinstance(g.top, Auction) or seat not in g.top.bidders or seat in g.top.bid_limits:
        return None
    try:
        action = parse(g, seat, line)
    except (UnreadableError, AmbiguousError, RefusedError):
        return None
    match action:
        case BidUpTo(amount):
            return f"auto bid {g.top.item} up to {amount} then pass"
        case BidNothing():
            return f"auto bid {g.top.item} nothing"
    return None


def answered_in_advance(state: State, armed: Iterable[ArmedOrder]) -> set[str]:
    """The seats that have left an order for what is auctioned now; nothing is asked of them beforehand."""
    item = auctioned_item(game_of(state))
    return {each.seat for each in armed if isinstance(each.order, AutoBid) and each.order.item == item}


def auctioned_item(g: Game) -> str | None:
    """What is being auctioned between bidders now."""
    match g.top:
        case Auction(_, item):
            return item
        case WaterfallBidding(private):
            return private
    return None


def is_private_for_sale(g: Game, item: str) -> bool:
    """Whether a bid on the item is one on a private. A company may have the same symbol: the ME of 1817."""
    return g.state.private_owners.get(item) == BANK


def _is_highest(g: Game, seat: str, item: str) -> bool:
    """Whether the seat's bid on the item is the highest."""
    match g.top:
        case Waterfall(bids=bids) if bids.get(item):
            return max(bids[item], key=lambda bidder: bids[item][bidder]) == seat
        case Auction(high_bidder=bidder):
            return bidder == seat
    return False


def _over(c: Circumstances, item: str) -> str | None:
    """Who has the item, or that its auction is over, as a sentence; None while it may be bid on."""
    if is_private_for_sale(c.start, item):
        owner = c.g.state.private_owners[item]
        sold = f"The {item} is sold to {c.name(owner)}."
        return None if owner == BANK else sold if owner in c.g.state.cash else f"The {item} is out of play."
    in_auction = any(isinstance(f, Auction) and f.item == item for f in c.g.state.stack)
    if not in_auction and _auction_since(c, item):
        return f"The auction for the {item} is over."
    return None


def _auction_since(c: Circumstances, item: str) -> bool:
    """Whether the item was auctioned at the arming or since."""
    pushed = (event.frame for _, event in c.events() if isinstance(event, FramePushed))
    return any(isinstance(f, Auction) and f.item == item for f in (*c.start.state.stack, *pushed))
