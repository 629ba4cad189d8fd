"""What is said for a player whose time is up and whose orders say nothing."""

from __future__ import annotations

from collections.abc import Mapping

from engine.core.actions import BuyTrain, Decline, Pass, RunTrains, TakeLoans, WithholdDividend
from engine.core.events import AnyEvent, FramePushed, PriceMoved
from engine.core.reasons import PriceReason
from engine.core.state import OperatingTurn, State, copy_state
from engine.game import Game
from engine.kernel import apply, awaited_seats, game_of, options, refusal
from engine.language.forms import format_action
from engine.standing_orders.turns import DIVIDENDS

LIQUIDATING = (PriceReason.NO_TRAIN, PriceReason.INTEREST_UNPAID, PriceReason.TOKENS_UNPAID)
MAX_PASSES = 400


def line_when_time_is_up(
    state: State, seat: str, last_dividends: Mapping[str, str] | None = None
) -> str | None:
    """The line that is said, None where the table waits: a pass or a decline, if that is legal; where trains
    have to run, the best routes; and the dividend of last time.

    It never sells, buys or goes bankrupt, and never passes or pays where that would take a company from its
    owner. A player who is asked to bid in an acquisition (1817 §7.2) or to protect a price (1870 §5.9)
    passes: that costs them nothing, and the price falls because somebody else has sold.

    last_dividends: by company `pay`, `half` or `withhold`; a company without one pays.
    """
    g = game_of(state)
    if seat not in awaited_seats(g):
        return None
    asked_by_question = seat in g.title.questions[type(g.top)].asked(g, g.top)
    if asked_by_question and refusal(g, seat, Pass()) is None:
        return None if _loses_company(g, seat) else format_action(g, Pass())
    for offer in g.state.offers:
        if offer.recipient == seat and refusal(g, seat, decline := Decline(offer.number)) is None:
            return format_action(g, decline)
    if not asked_by_question:
        return None
    if refusal(g, seat, Decline()) is None:
        return format_action(g, Decline())
    if isinstance(g.top, OperatingTurn):
        return _line_of_turn(g, g.top, seat, last_dividends or {})
    return None


def _line_of_turn(g: Game, turn: OperatingTurn, seat: str, last_dividends: Mapping[str, str]) -> str | None:
    """What may not be passed in a company's turn: its run, and what becomes of the revenue."""
    if not turn.revenue:
        return format_action(g, RunTrains()) if refusal(g, seat, RunTrains()) is None else None
    as_last_time = DIVIDENDS[last_dividends.get(turn.company, "pay")]
    for dividend in (as_last_time, WithholdDividend()):
        if refusal(g, seat, dividend) is None:
            after = apply(game_of(copy_state(g.state)), seat, dividend)
            harms = _liquidates(after.events, turn.company) or _is_harmed(game_of(after.state), seat)
            if harms is False or (harms is None and isinstance(dividend, WithholdDividend)):
                return format_action(g, dividend)
    return None


def _loses_company(g: Game, seat: str) -> bool:
    """Whether passing to the end of a company's turn puts it into liquidation, and its president could still
    do something about that: buy a train, or take a loan for one (1817 §6.10)."""
    if not any(isinstance(option.action, BuyTrain | TakeLoans) for option in options(g, seat)):
        return False
    return _is_harmed(g, seat) is True


def _is_harmed(g: Game, seat: str) -> bool | None:
    """Whether passing to the end of the company's turn puts it into liquidation, which comes before its
    president pays its interest (1817 §6.8); None where its president has something else to do first."""
    if not isinstance(g.top, OperatingTurn):
        return False
    company, position = g.top.company, game_of(copy_state(g.state))
    for _ in range(MAX_PASSES):
        if refusal(position, seat, Pass()) is not None:
            return None
        after = apply(position, seat, Pass())
        if _liquidates(after.events, company):
            return True
        position = game_of(after.state)
        if not isinstance(position.top, OperatingTurn) or any(map(_begins_turn, after.events)):
            return False
    return None


def _begins_turn(event: AnyEvent) -> bool:
    return isinstance(event, FramePushed) and isinstance(event.frame, OperatingTurn)


def _liquidates(events: list[AnyEvent], company: str) -> bool:
    moves = (event for event in events if isinstance(event, PriceMoved))
    return any(move.company == company and move.reason in LIQUIDATING for move in moves)
