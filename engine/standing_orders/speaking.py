"""When orders speak: after a move every order is asked, and what they say are moves of their owners.

Of orders of one owner beside each other, some take the place of others, and some never speak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from engine.core.actions import Decline, Pass, ProtectPrice
from engine.core.events import AnyEvent
from engine.core.state import MergerPoll, PriceProtection, RevenueClaim, State, Waterfall, copy_state
from engine.game import Game
from engine.kernel import RefusedError, apply, awaited_seats, game_of, refusal
from engine.language.forms import format_action
from engine.language.notation import AmbiguousError, UnreadableError, parse
from engine.standing_orders.auctions import auctioned_item, judge_bid, judge_buy_private
from engine.standing_orders.language import format_order
from engine.standing_orders.model import (
    WAITS,
    ArmedOrder,
    AutoBid,
    AutoBuy,
    AutoBuyPrivate,
    AutoDecline,
    AutoPass,
    AutoProtect,
    AutoRun,
    AutoTurn,
    Circumstances,
    Ended,
    EndedOrder,
    Judgement,
    Order,
    PlayedMove,
    Says,
)
from engine.standing_orders.stock import has_bid, judge_buy, judge_pass
from engine.standing_orders.stops import next_stock_round, round_index, trading_round
from engine.standing_orders.turns import PlanError, judge_run, judge_turn, plan_turn, position_of_turn
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


MAX_LINES = 400
"""Lines that orders say in one chain. If there are more, the next move goes on with them."""

_JUDGES: dict[type[Order], Callable[[Circumstances, Any], Judgement]] = {
    AutoPass: judge_pass,
    AutoBuy: judge_buy,
    AutoBuyPrivate: judge_buy_private,
    AutoBid: judge_bid,
    AutoRun: judge_run,
    AutoTurn: judge_turn,
    AutoDecline: judge_decline,
    AutoProtect: judge_protect,
}


class SpokenLine(NamedTuple):
    """A line that an order has said, in full, with its events and the position after it."""

    order_id: int
    seat: str
    line: str
    events: list[AnyEvent]
    state: State


@dataclass
class OrderRun:
    """What the orders of a table did after a move. armed: those that are left, with what they said."""

    state: State
    armed: list[ArmedOrder]
    spoken: list[SpokenLine] = field(default_factory=list)
    ended: list[EndedOrder] = field(default_factory=list)


def judge(armed: ArmedOrder, state: State) -> Judgement:
    """What an order says in a position, whatever the other orders of its owner are."""
    if state.game_over:
        return Ended("The game is over.", done=True)
    return _JUDGES[type(armed.order)](armed.at(state), armed.order)


def run_orders(state: State, armed: Sequence[ArmedOrder]) -> OrderRun:
    """Let orders speak until none has anything to say.

    armed: of every seat in the order of their owner; their moves lead up to the position. The state that is
    given does not change.
    """
    run = OrderRun(state, list(armed))
    while len(run.spoken) < MAX_LINES and _speak_once(run):
        pass
    return run


def _speak_once(run: OrderRun) -> bool:
    """Let the first order that has something to say say it; whether one has spoken or ended."""
    speakers: dict[str, tuple[ArmedOrder, str]] = {}
    ended = False
    for armed in tuple(run.armed):
        match judge(armed, run.state):
            case Ended(reason, done):
                _end(run, armed, reason, done)
                ended = True
                if not done:
                    return True
            case Says(line):
                speakers.setdefault(armed.seat, (armed, line))
    for seat in awaited_seats(game_of(run.state)):
        if seat in speakers:
            _say(run, *speakers[seat])
            return True
    return ended


def _say(run: OrderRun, armed: ArmedOrder, line: str) -> None:
    """Play a line that an order says; one that is refused ends the order."""
    g = game_of(copy_state(run.state))
    try:
        action = parse(g, armed.seat, line)
        full = format_action(g, action)
        transition = apply(g, armed.seat, action)
    except (UnreadableError, AmbiguousError, RefusedError) as error:
        _end(run, armed, f"`{line}` is not possible: {error}", done=False)
        return
    run.state = transition.state
    run.spoken.append(SpokenLine(armed.id, armed.seat, full, transition.events, transition.state))
    move = PlayedMove(armed.seat, full, transition.events, armed.id)
    run.armed = [each.with_move(move) for each in run.armed]


def _end(run: OrderRun, armed: ArmedOrder, reason: str, done: bool) -> None:
    """End an order; if it has not done what it was left for, also those that its owner has put after it."""
    after = run.armed[run.armed.index(armed) + 1 :]
    run.armed.remove(armed)
    run.ended.append(EndedOrder(armed.id, armed.seat, reason))
    for each in [] if done else after:
        if (each.seat, each.order.field) == (armed.seat, armed.order.field):
            run.armed.remove(each)
            run.ended.append(EndedOrder(each.id, each.seat, "An order of yours before it has ended."))


# -- for others ------------------------------------------------------------------------------


def order_preview(armed: ArmedOrder, state: State) -> str:
    """What an order would do now, as a sentence for its owner."""
    match judge(armed, state):
        case Says(line):
            return f"It would say `{line}` now."
        case Ended(reason):
            return f"It would end now: {reason}"
    if isinstance(armed.order, AutoTurn):
        return _preview_turn(armed, armed.order)
    if isinstance(armed.order, AutoRun):
        return _preview_run(armed, armed.order, state)
    awaited = "such a question" if isinstance(armed.order, AutoDecline | AutoProtect) else "your turn"
    return f"It would say nothing now; it waits for {awaited}."


def _preview_turn(armed: ArmedOrder, order: AutoTurn) -> str:
    planned = plan_turn(game_of(armed.start), armed.seat, order.company, order.lines)
    parts = [
        f"`{p.line}`" + (f" for ${p.revenue:,}" if p.revenue else f" for ${p.spent:,}" if p.spent else "")
        for p in planned
    ]
    return f"In the turn of the {order.company} it would say {', '.join(parts)}."


def _preview_run(armed: ArmedOrder, order: AutoRun, state: State) -> str:
    """What `auto run` would say if the company's turn came now."""
    try:
        g = position_of_turn(game_of(copy_state(state)), order.company)
    except PlanError as error:
        return f"It would say nothing now. {error}"
    trial = ArmedOrder(armed.id, armed.seat, order, copy_state(g.state))
    lines: list[str] = []
    while len(lines) < MAX_LINES and isinstance(judgement := judge(trial, g.state), Says):
        action = parse(g, armed.seat, judgement.line)
        lines.append(f"`{judgement.line}`" if judgement.line == "pass" else f"`{format_action(g, action)}`")
        g.events = []
        apply(g, armed.seat, action)
        trial = trial.with_move(PlayedMove(armed.seat, judgement.line, tuple(g.events), armed.id))
    if isinstance(judgement, Ended) and not lines:
        return f"In a turn of the {order.company} it would end now: {judgement.reason}"
    return f"In a turn of the {order.company} it would say {', '.join(lines) or 'nothing'}."


def declines_votes(line: str) -> bool:
    """Whether the line of an order says that its owner declines votes, which the service puts."""
    return line in (format_order(AutoDecline("votes")), format_order(AutoDecline("polls")))


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
