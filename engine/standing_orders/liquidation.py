"""What puts a company into liquidation (1817 §5.5, §6.8, §6.10, §7.1.1).

Its president is asked there: neither orders nor the end of a player's time pass.
"""

from __future__ import annotations

from engine.core.actions import Action, BuyShares, BuyTrain, Pass, TakeLoans, TakeLoansForCompany
from engine.core.events import AnyEvent, FramePushed, PriceMoved
from engine.core.reasons import PriceReason
from engine.core.state import TREASURY, OperatingTurn, PostMergerLoans, StockTurn, copy_state
from engine.game import Game
from engine.kernel import apply, game_of, options, refusal

LIQUIDATING = (PriceReason.NO_TRAIN, PriceReason.INTEREST_UNPAID, PriceReason.TOKENS_UNPAID)
MAX_PASSES = 400


def company_lost_by_passing(g: Game, seat: str) -> str | None:
    """A company that the player presides over and that passing puts into liquidation, where they could still
    do something about that: buy a train or a share, or take a loan. None where there is none."""
    if g.components.loans is None:
        return None
    if isinstance(g.top, StockTurn):
        owing = {c for c, co in g.state.companies.items() if co.owed_tokens and co.president == seat}
        helped = (_helps_to_pay(option.action) for option in options(g, seat)) if owing else ()
        return next((company for company in helped if company in owing), None)
    if not isinstance(g.top, OperatingTurn | PostMergerLoans):
        return None
    helps = any(isinstance(option.action, BuyTrain | TakeLoans) for option in options(g, seat))
    return g.top.company if helps and passing_liquidates(g, seat) else None


def _helps_to_pay(action: Action) -> str | None:
    """The company that an action in a stock turn brings money."""
    match action:
        case TakeLoansForCompany(company):
            return company
        case BuyShares(company, source) if source == TREASURY:
            return company
    return None


def liquidation_text(company: str) -> str:
    """Why an order leaves that to its owner."""
    return f"The {company} would go into liquidation."


def dividend_liquidates(g: Game, seat: str, dividend: Action) -> bool | None:
    """As `passing_liquidates`, after that dividend of the company whose turn it is."""
    if g.components.loans is None or not isinstance(g.top, OperatingTurn):
        return False
    after = apply(game_of(copy_state(g.state)), seat, dividend)
    return liquidates(after.events, g.top.company) or passing_liquidates(game_of(after.state), seat)


def passing_liquidates(g: Game, seat: str) -> bool | None:
    """Whether passing to the end of the company's turn puts it into liquidation, which comes before its
    president pays its interest (1817 §6.8); None where its president has something else to do first."""
    if not isinstance(g.top, OperatingTurn | PostMergerLoans):
        return False
    company, position = g.top.company, game_of(copy_state(g.state))
    for _ in range(MAX_PASSES):
        if refusal(position, seat, Pass()) is not None:
            return None
        after = apply(position, seat, Pass())
        if liquidates(after.events, company):
            return True
        position = game_of(after.state)
        if not isinstance(position.top, OperatingTurn) or any(map(_begins_turn, after.events)):
            return False
    return None


def _begins_turn(event: AnyEvent) -> bool:
    return isinstance(event, FramePushed) and isinstance(event.frame, OperatingTurn)


def liquidates(events: list[AnyEvent], company: str) -> bool:
    """Whether those events put the company into liquidation."""
    moves = (event for event in events if isinstance(event, PriceMoved))
    return any(move.company == company and move.reason in LIQUIDATING for move in moves)
