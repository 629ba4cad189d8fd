"""What is said for a player whose time is up and whose orders say nothing."""

from __future__ import annotations

from collections.abc import Mapping

from engine.core.actions import Decline, Pass, PayDividend, RunTrains, WithholdDividend
from engine.core.state import OperatingTurn, State
from engine.game import Game
from engine.kernel import awaited_seats, game_of, refusal
from engine.language.forms import format_action
from engine.standing_orders.liquidation import loss_by_dividend, loss_by_passing
from engine.standing_orders.turns import DIVIDENDS


def line_when_time_is_up(
    state: State, seat: str, last_dividends: Mapping[str, str] | None = None
) -> str | None:
    """The line that is said, None where the table waits: a pass or a decline, if that is legal; where trains
    have to run, the best routes; and the dividend of last time.

    It never sells, buys or goes bankrupt, and never passes or pays where that would take a company from its
    owner. A player who is asked to bid in an acquisition (1817 §7.2) or to protect a price (1870 §5.9)
    passes: that costs them nothing, and the price falls because somebody else has sold; unless their company
    closes by that.

    last_dividends: by company `pay`, `half` or `withhold`; a company without one pays.
    """
    g = game_of(state)
    if seat not in awaited_seats(g):
        return None
    asked_by_question = seat in g.title.questions[type(g.top)].asked(g, g.top)
    if asked_by_question and refusal(g, seat, Pass()) is None:
        return None if loss_by_passing(g, seat) else format_action(g, Pass())
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
    possible = [d for d in (as_last_time, WithholdDividend(), PayDividend()) if refusal(g, seat, d) is None]
    harmless = (d for d in possible if loss_by_dividend(g, seat, turn.company, d) is None)
    withheld = WithholdDividend() if WithholdDividend() in possible else None
    said = next(harmless, withheld)  # the company keeps its money where it is lost in any case
    return format_action(g, said) if said else None
