"""`auto pass` and `auto buy`: orders for stock rounds, and passes in the opening and in merger rounds."""

from __future__ import annotations

from engine.core.actions import BuyShares, Pass
from engine.core.events import BidMade, SharesMoved
from engine.core.state import (
    IPO,
    Auction,
    MergerPoll,
    MergerTurn,
    PostMergerTrade,
    SeedMoneySale,
    StockTurn,
    Waterfall,
    WaterfallBidding,
)
from engine.finance.ownership import share_percent, share_price
from engine.kernel import options, refusal
from engine.language.forms import format_action
from engine.standing_orders.liquidation import loss_by_passing
from engine.standing_orders.model import (
    WAITS,
    AutoBuy,
    AutoPass,
    Circumstances,
    Ended,
    Judgement,
    Says,
    StopCondition,
)
from engine.standing_orders.stops import (
    RoundIndex,
    holding_was_sold,
    lost_presidency,
    next_stock_round,
    presidency_in_reach,
    round_index,
    stop_reason,
    trading_round,
)

PASSABLE = (StockTurn, Auction, MergerPoll, MergerTurn, PostMergerTrade, SeedMoneySale, Waterfall)
"""The questions that `auto pass` answers. It is silent where passing gives up something its owner has bid on,
or decides about a company's money."""


def judge_pass(c: Circumstances, order: AutoPass) -> Judgement:
    """`auto pass`, `auto pass once`."""
    if order.once:
        if c.said:
            return Ended("It has passed.", done=True)
        return Ended(reason) if (reason := stop_reason(c, order.unless)) else _pass_now(c)
    return _pass_in_round(c, trading_round(c.start), order.unless)


def _pass_in_round(c: Circumstances, index: RoundIndex, unless: tuple[StopCondition, ...]) -> Judgement:
    if round_index(c.g) > index:
        return Ended("The round is over.", done=True)
    if reason := stop_reason(c, unless) or holding_was_sold(c) or presidency_in_reach(c):
        return Ended(reason)
    if c.may_act and isinstance(c.g.top, Waterfall) and _all_have_passed(c):
        return Ended(
            "Everybody has passed since you did, so the privates have paid or become cheaper.", done=True
        )
    return _pass_now(c) if round_index(c.g) == index else WAITS


def _pass_now(c: Circumstances) -> Judgement:
    top = c.g.top
    if not (c.may_act and isinstance(top, PASSABLE)) or c.g.state.offers:
        return WAITS
    if isinstance(top, StockTurn) and not _is_fresh(top):
        return WAITS
    if isinstance(top, Auction) and has_bid(c, top.item):
        return WAITS
    if why := refusal(c.g, c.seat, Pass()):
        return Ended(f"You cannot pass now: {why}")
    if lost := loss_by_passing(c.g, c.seat):
        return Ended(lost)
    return Says("pass")


def _all_have_passed(c: Circumstances) -> bool:
    """Whether the order has passed in the opening and nobody has bought or bid since.

    The opening goes round until somebody does (1830 §7.3): without this, players who all leave `auto pass`
    would have passed until the bank is empty.
    """
    said = [index for index, move in enumerate(c.moves) if move.order_id == c.id]
    return bool(said) and all(move.line == "pass" for move in c.moves[said[-1] :])


def _is_fresh(turn: StockTurn) -> bool:
    """Whether nothing was done in a stock turn."""
    return not (turn.bought or turn.sold or turn.sold_short or turn.for_company or turn.acting_company)


def has_bid(c: Circumstances, item: str) -> bool:
    """Whether the owner has bid on what is auctioned since the arming, or opened its auction."""
    if isinstance(c.g.top, Auction) and c.g.top.initiator == c.seat:
        return True
    return isinstance(c.g.top, WaterfallBidding) or any(
        isinstance(event, BidMade) and (event.seat, event.item) == (c.seat, item) for _, event in c.events()
    )


def judge_buy(c: Circumstances, order: AutoBuy) -> Judgement:
    """`auto buy NYC until floated`, `auto buy 3 NYC`."""
    top = c.g.top
    if _own_purchase_is_open(c, order):
        return Says("pass") if refusal(c.g, c.seat, Pass()) is None else WAITS
    if round_index(c.g) > (index := next_stock_round(c.start)):
        return Ended("The stock round is over.", done=True)
    if _is_done(c, order):
        if order.then_pass:
            return _pass_in_round(c, index, order.unless)
        return Ended(_done_text(order), done=True)
    if reason := lost_presidency(c, order.company) or stop_reason(c, order.unless):
        return Ended(reason)
    if not (isinstance(top, StockTurn) and c.may_act and _is_fresh(top)) or c.g.state.offers:
        return WAITS
    return _buy_now(c, order)


def _own_purchase_is_open(c: Circumstances, order: AutoBuy) -> bool:
    """Whether the turn goes on after a purchase that the order has made, because the owner could still sell
    or buy more."""
    top = c.g.top
    if not (isinstance(top, StockTurn) and c.may_act and top.bought == order.company and c.moves):
        return False
    return next((m for m in reversed(c.moves) if m.seat == c.seat), c.moves[-1]).order_id == c.id


def _is_done(c: Circumstances, order: AutoBuy) -> bool:
    if order.until_floated:
        return c.g.company(order.company).floated
    bought = sum(
        event.percent
        for move, event in c.events()
        if isinstance(event, SharesMoved)
        and (event.company, event.target) == (order.company, c.seat)
        and move.seat == c.seat
        and move.line.startswith("buy ")
    )
    return bought >= (order.count or 1) * share_percent(c.g, order.company)


def _done_text(order: AutoBuy) -> str:
    if order.until_floated:
        return f"The {order.company} has floated."
    return f"It has bought what you asked for of the {order.company}."


def _buy_now(c: Circumstances, order: AutoBuy) -> Judgement:
    """Buy where a share costs least; from the initial offering where two places are equal."""
    company = order.company
    offered = [
        (share_price(c.g, company, option.action.source) or 0, option.action.source != IPO, option.action)
        for option in options(c.g, c.seat)
        if isinstance(option.action, BuyShares)
        and (option.action.company, option.action.count) == (company, 1)
        and order.source in (None, option.action.source)
    ]
    if not offered:
        wanted = BuyShares(company, order.source or IPO)
        why = refusal(c.g, c.seat, wanted) or ""
        return Ended(f"The {company} cannot be bought: {why}")
    price, _, buy = min(offered, key=lambda item: item[:2])
    if order.limit is not None and price > order.limit:
        return Ended(f"A share of the {company} costs ${price:,}, more than your ${order.limit:,}.")
    return Says(format_action(c.g, buy))
