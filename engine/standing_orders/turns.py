"""`auto run` and `auto turn`: what is said in the turns of a company.

The first runs, pays and passes in every turn, until something is different. The second has lines for the next
turn, each said only if it leads to what was planned. What was planned is found by playing the lines in the
position in which the order was left, as if the company had its turn there. So it need not be stored, and a
replay finds the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from engine.core.actions import (
    Action,
    LayTile,
    Pass,
    PayDividend,
    PayHalfDividend,
    RunTrains,
    WithholdDividend,
)
from engine.core.events import AnyEvent, CashMoved, FramePushed, PhaseStarted, TrainsRan, TrainsRusted
from engine.core.reasons import CashReason
from engine.core.state import ConnectionRunTurn, MergerRound, OperatingRound, OperatingTurn, StockRound
from engine.game import Game
from engine.kernel import RefusedError, advance, apply, awaited_seats, options, refusal
from engine.language.forms import format_action
from engine.language.notation import AmbiguousError, UnreadableError, parse
from engine.operating.emergency_purchase import must_buy_train
from engine.operating.run import best_run
from engine.operating.trains import trains_for_sale
from engine.operating.turn import operating_turn_question
from engine.standing_orders.liquidation import loss_by_dividend, loss_by_passing, loss_without_more
from engine.standing_orders.model import (
    WAITS,
    AutoRun,
    AutoTurn,
    Circumstances,
    Ended,
    Judgement,
    PlayedMove,
    Says,
)
from engine.standing_orders.stops import lost_presidency

DIVIDENDS: dict[str, Action] = {
    "pay": PayDividend(),
    "withhold": WithholdDividend(),
    "half": PayHalfDividend(),
}


def judge_run(c: Circumstances, order: AutoRun) -> Judgement:
    """`auto run NYC`: run the best routes, pay, and pass the rest, without buying anything."""
    company, turn = order.company, c.g.top
    if reason := lost_presidency(c, company) or _change_of_trains(c, company):
        return Ended(reason)
    if not is_turn_of(c, company) or not isinstance(turn, OperatingTurn) or c.g.state.offers:
        return WAITS
    moves = moves_of_turn(c, company)
    if any(move.order_id is None and move.seat == c.seat for move in moves):
        return WAITS
    has_run = any(isinstance(event, TrainsRan) for move in moves for event in move.events)
    lays = order.unless_lay
    if not has_run and (reason := _fallen_revenue(c, company) or (_better_lay(c, company) if lays else None)):
        return Ended(reason)
    if lost := loss_by_passing(c.g, c.seat):
        return Ended(lost)
    if refusal(c.g, c.seat, RunTrains()) is None:
        step = operating_turn_question(c.g).steps_left(turn)[0]
        before_run = RunTrains not in step.handles and refusal(c.g, c.seat, Pass()) is None
        return Says(format_action(c.g, Pass() if before_run else RunTrains()))
    action = DIVIDENDS[order.dividend] if turn.revenue else Pass()
    if why := refusal(c.g, c.seat, action):
        return Ended(f"It cannot go on for the {company}: {why}")
    if turn.revenue and (lost := loss_by_dividend(c.g, c.seat, company, action)):
        return Ended(lost)
    return Says(format_action(c.g, action))


def is_turn_of(c: Circumstances, company: str) -> bool:
    """Whether the owner is asked about the company's turn, and not about something that interrupts it."""
    top = c.g.top
    if not isinstance(top, OperatingTurn) or isinstance(top, ConnectionRunTurn):
        return False
    return top.company == company and c.may_act


def moves_of_turn(c: Circumstances, company: str) -> list[PlayedMove]:
    """The moves since the company's turn that goes on has begun, or since the arming."""
    moves: list[PlayedMove] = []
    for move in c.moves:
        moves.append(move)
        if any(_begins_turn(event, company) for event in move.events):
            moves = []
    return moves


def _begins_turn(event: object, company: str) -> bool:
    if not isinstance(event, FramePushed) or not isinstance(event.frame, OperatingTurn):
        return False
    return event.frame.company == company and not isinstance(event.frame, ConnectionRunTurn)


def _change_of_trains(c: Circumstances, company: str) -> str | None:
    """What has happened to trains since the arming that the owner wants to decide about, or None."""
    for _, event in c.events():
        match event:
            case TrainsRusted(train) if train in c.start.company(company).trains:
                return f"The {train}-trains of the {company} have rusted."
            case PhaseStarted(phase):
                return f"Phase {phase} has begun."
    on_sale = [train for train in trains_for_sale(c.g) if train not in trains_for_sale(c.start)]
    return f"A {on_sale[0]}-train may be bought now." if on_sale else None


def _fallen_revenue(c: Circumstances, company: str) -> str | None:
    """That the best run earns less than the last one, as a sentence, or None."""
    ran = [e.revenue for _, e in c.events() if isinstance(e, TrainsRan) and e.company == company]
    before = ran[-1] if ran else best_run(c.start, company).revenue
    now = best_run(c.g, company).revenue
    return (
        f"The best run of the {company} would earn ${now:,} instead of ${before:,}." if now < before else None
    )


def _better_lay(c: Circumstances, company: str) -> str | None:
    """A lay after which the company's best run earns more, as a sentence, or None."""
    now = best_run(c.g, company).revenue
    for option in options(c.g, c.seat):
        if isinstance(option.action, LayTile):
            draft = c.g.draft()
            apply(draft, c.seat, option.action)
            if (better := best_run(draft, company).revenue) > now:
                lay = format_action(c.g, option.action)
                return (
                    f"With `{lay}` the best run of the {company} would earn ${better:,} instead of ${now:,}."
                )
    return None


SPENDING = {
    CashReason.TERRAIN,
    CashReason.TRACK,
    CashReason.TOKEN,
    CashReason.TOKENS,
    CashReason.TRAIN,
    CashReason.TRAIN_CONTRIBUTION,
    CashReason.PRIVATE,
}
"""What a company pays for in a line of its turn; interest and dividends follow from the run."""


class PlannedLine(NamedTuple):
    """A line of a plan in full, and what it led to: dollars of revenue, dollars spent.

    `loss`: how the company is lost by it, or by passing after it, as a sentence; None if it is not.
    `needs_train`: whether the company has to buy a train because of it.
    """

    line: str
    revenue: int
    spent: int
    loss: str | None
    needs_train: bool


class PlanError(Exception):
    """A line of a plan that is not possible where it was planned; the message is a sentence."""


def judge_turn(c: Circumstances, order: AutoTurn) -> Judgement:
    """`auto turn NYC: lay 57 H10; run best; pay`."""
    company, said = order.company, c.said
    if said == len(order.lines):
        return Ended(f"All of your turn of the {company} is said.", done=True)
    if reason := lost_presidency(c, company):
        return Ended(reason)
    in_turn = turn_in_progress(c.g, company)
    if not in_turn:
        was_asked = said or turn_in_progress(c.start, company) or _turn_began(c, company)
        return Ended(f"The turn of the {company} is over.", done=True) if was_asked else WAITS
    if any(move.order_id is None and move.seat == c.seat for move in moves_of_turn(c, company)):
        return Ended(f"You have acted for the {company} yourself.")
    if not c.may_act or getattr(c.g.top, "company", None) != company:
        return WAITS
    line = order.lines[said]
    planned = plan_turn(c.start, c.seat, company, order.lines)[said]
    try:
        now = _play(c.g.draft(), c.seat, line, company)
    except (UnreadableError, AmbiguousError, RefusedError) as error:
        return Ended(f"`{line}` is not possible: {error}")
    if now.revenue < planned.revenue:
        return Ended(f"`{line}` would earn ${now.revenue:,}, and ${planned.revenue:,} was planned.")
    if now.spent != planned.spent:
        return Ended(f"`{line}` would cost ${now.spent:,}, and ${planned.spent:,} was planned.")
    if now.loss and now.loss != planned.loss:
        return Ended(now.loss)
    if now.needs_train and not planned.needs_train:
        return Ended(f"After `{line}` the {company} would have to buy a train.")
    return Says(now.line)


def turn_in_progress(g: Game, company: str) -> bool:
    """Whether the company has its turn, perhaps interrupted."""
    turns = (
        f for f in g.state.stack if isinstance(f, OperatingTurn) and not isinstance(f, ConnectionRunTurn)
    )
    return any(turn.company == company for turn in turns)


def _turn_began(c: Circumstances, company: str) -> bool:
    pushed = (event.frame for _, event in c.events() if isinstance(event, FramePushed))
    return any(isinstance(f, OperatingTurn) and f.company == company for f in pushed)


def plan_turn(start: Game, seat: str, company: str, lines: Sequence[str]) -> list[PlannedLine]:
    """What the lines lead to in the company's turn, as if it began now. Raises PlanError."""
    g = position_of_turn(start, company)
    planned = []
    for line in lines:
        if seat not in awaited_seats(g) or not turn_in_progress(g, company):
            raise PlanError(f"The turn of the {company} is over before `{line}`.")
        try:
            planned.append(_play(g, seat, line, company))
        except (UnreadableError, AmbiguousError, RefusedError) as error:
            raise PlanError(f"`{line}` is not possible in that turn: {error}") from None
    return planned


def position_of_turn(start: Game, company: str) -> Game:
    """A draft in which the company has its turn: the one that goes on, or else one that begins now."""
    g = start.draft()
    if turn_in_progress(g, company):
        return g
    match g.state.stack[0]:
        case OperatingRound() as current:
            frame = msgspec.structs.replace(current, yet_to_operate=(company,), pending_sales=())
        case StockRound(number):
            frame = OperatingRound(number, 1, 1, (company,))
        case MergerRound(after, number, rounds):
            frame = OperatingRound(after, number, rounds, (company,))
        case _:
            raise PlanError(f"The {company} does not operate yet.")
    g.state.stack = [frame]
    g.state.offers = []
    g.title.flotation.pay_awaited(g)
    advance(g)
    if not turn_in_progress(g, company):
        raise PlanError(f"The {company} would have nothing to do in a turn now.")
    g.events = []
    return g


def _play(g: Game, seat: str, line: str, company: str) -> PlannedLine:
    """Play a line of a company's turn on a draft. Raises what `parse` raises."""
    action, before = parse(g, seat, line), g.draft()
    full, first = format_action(g, action), len(g.events)
    apply(g, seat, action)
    events: list[AnyEvent] = g.events[first:]
    lost = loss_without_more(before, g, seat, company)
    needs_train = must_buy_train(g, company) and not must_buy_train(before, company)
    return PlannedLine(full, _revenue(events), _spent(events), lost, needs_train)


def _revenue(events: Iterable[AnyEvent]) -> int:
    return sum(event.revenue for event in events if isinstance(event, TrainsRan))


def _spent(events: Iterable[AnyEvent]) -> int:
    return sum(e.amount for e in events if isinstance(e, CashMoved) and e.reason in SPENDING)
