"""`auto run`: run, pay and pass in every turn of a company, until something is different."""

from __future__ import annotations

from engine.core.actions import (
    Action,
    LayTile,
    Pass,
    PayDividend,
    PayHalfDividend,
    RunTrains,
    WithholdDividend,
)
from engine.core.events import FramePushed, PhaseStarted, TrainsRan, TrainsRusted
from engine.core.state import ConnectionRunTurn, OperatingTurn
from engine.kernel import apply, options, refusal
from engine.language.forms import format_action
from engine.operating.run import best_run
from engine.operating.trains import trains_for_sale
from engine.operating.turn import operating_turn_question
from engine.standing_orders.model import WAITS, AutoRun, Circumstances, Ended, Judgement, PlayedMove, Says
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
    if refusal(c.g, c.seat, RunTrains()) is None:
        before_run = RunTrains not in _handled_now(c, turn) and refusal(c.g, c.seat, Pass()) is None
        return Says(format_action(c.g, Pass() if before_run else RunTrains()))
    action = DIVIDENDS[order.dividend] if turn.revenue else Pass()
    if why := refusal(c.g, c.seat, action):
        return Ended(f"It cannot go on for the {company}: {why}")
    return Says(format_action(c.g, action))


def _handled_now(c: Circumstances, turn: OperatingTurn) -> tuple[type[Action], ...]:
    """The kinds of action of the step that the turn is at."""
    return next(step.handles for step in operating_turn_question(c.g).steps if step.name == turn.step)


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
    return f"The best run of the {company} would earn ${now} instead of ${before}." if now < before else None


def _better_lay(c: Circumstances, company: str) -> str | None:
    """A lay after which the company's best run earns more, as a sentence, or None."""
    now = best_run(c.g, company).revenue
    for option in options(c.g, c.seat):
        if isinstance(option.action, LayTile):
            draft = c.g.draft()
            apply(draft, c.seat, option.action)
            if (better := best_run(draft, company).revenue) > now:
                lay = format_action(c.g, option.action)
                return f"With `{lay}` the best run of the {company} would earn ${better} instead of ${now}."
    return None
