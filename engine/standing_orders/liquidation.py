"""What puts a company into liquidation (1817 §5.5, §6.8, §6.10, §7.1.1), or closes it (1870 §5.1.1(7)).

Its president is asked there: neither orders nor the end of a player's time pass.
"""

from __future__ import annotations

from engine.core.actions import Action, BuyShares, BuyTrain, Pass, TakeLoans, TakeLoansForCompany
from engine.core.events import AnyEvent, CompanyClosed, FramePushed, PriceMoved
from engine.core.reasons import PriceReason
from engine.core.state import (
    TREASURY,
    OperatingTurn,
    PostMergerLoans,
    PriceProtection,
    StockTurn,
    copy_state,
)
from engine.game import Game
from engine.kernel import apply, game_of, options, refusal

LIQUIDATING = (PriceReason.NO_TRAIN, PriceReason.INTEREST_UNPAID, PriceReason.TOKENS_UNPAID)
MAX_PASSES = 400


def company_lost_by_passing(g: Game, seat: str) -> str | None:
    """A company that the player presides over and that passing puts into liquidation or closes, where they
    could still do something about that: buy a train or a share, or take a loan. None where there is none."""
    if isinstance(g.top, PriceProtection):
        events = apply(game_of(copy_state(g.state)), seat, Pass()).events
        closed = (event.company for event in events if isinstance(event, CompanyClosed))
        return next((company for company in closed if g.company(company).president == seat), None)
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


def loss_text(g: Game, company: str) -> str:
    """Why an order leaves it to its owner what becomes of a company."""
    return f"The {company} would {'go into liquidation' if g.components.loans else 'close'}."


def dividend_loses_company(g: Game, seat: str, dividend: Action) -> bool | None:
    """Whether that dividend closes the company whose turn it is, or passing then puts it into liquidation.

    None where its president has something else to do first.
    """
    if not isinstance(g.top, OperatingTurn):
        return False
    after = apply(game_of(copy_state(g.state)), seat, dividend)
    if loses(after.events, g.top.company):
        return True
    return passing_liquidates(game_of(after.state), seat) if g.components.loans else False


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
        if loses(after.events, company):
            return True
        position = game_of(after.state)
        if not isinstance(position.top, OperatingTurn) or any(map(_begins_turn, after.events)):
            return False
    return None


def _begins_turn(event: AnyEvent) -> bool:
    return isinstance(event, FramePushed) and isinstance(event.frame, OperatingTurn)


def loses(events: list[AnyEvent], company: str) -> bool:
    """Whether those events put the company into liquidation, or close it."""
    moves = (event for event in events if isinstance(event, PriceMoved))
    liquidated = any(move.company == company and move.reason in LIQUIDATING for move in moves)
    return liquidated or CompanyClosed(company) in events
