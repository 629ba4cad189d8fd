"""`auto decline` and `auto protect`: answers to questions that are put beside one's turn."""

from __future__ import annotations

from engine.core.actions import Decline, Pass, ProtectPrice
from engine.core.state import MergerPoll, PriceProtection, RevenueClaim
from engine.kernel import refusal
from engine.language.forms import format_action
from engine.standing_orders.model import (
    WAITS,
    AutoDecline,
    AutoProtect,
    Circumstances,
    Ended,
    Judgement,
    Says,
)
from engine.stock.price_protection import block_cost


def judge_decline(c: Circumstances, order: AutoDecline) -> Judgement:
    """`auto decline deals`, `auto decline polls`; votes are put by the service (`declines_votes`)."""
    if order.questions == "deals":
        return _decline_deal(c)
    if order.questions == "polls" and isinstance(c.g.top, MergerPoll | RevenueClaim) and c.may_act:
        return Says("pass") if refusal(c.g, c.seat, Pass()) is None else WAITS
    return WAITS


def _decline_deal(c: Circumstances) -> Judgement:
    """Decline the first offer that was made since the arming."""
    for offer in c.g.state.offers:
        if offer.recipient == c.seat and offer.number > c.start.state.last_offer_number:
            several = sum(c.seat in (o.recipient, o.proposer) for o in c.g.state.offers) > 1
            action = Decline(offer.number if several else None)
            if refusal(c.g, c.seat, action) is None:
                return Says(format_action(c.g, action))
    return WAITS


def judge_protect(c: Circumstances, order: AutoProtect) -> Judgement:
    """`auto protect MP up to 300` (1870 §5.9). Where protection is not possible the owner is asked."""
    top = c.g.top
    if c.g.company(order.company).closed:
        return Ended(f"The {order.company} is closed.", done=True)
    if not isinstance(top, PriceProtection) or not c.may_act or not top.pending_sales:
        return WAITS
    sale = top.pending_sales[0]
    if sale.company != order.company or refusal(c.g, c.seat, ProtectPrice(order.company)):
        return WAITS
    protects = order.limit >= block_cost(c.g, sale)
    return Says(format_action(c.g, ProtectPrice(order.company) if protects else Decline()))
