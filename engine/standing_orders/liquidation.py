"""What loses a company: liquidation (1817 §5.5, §6.8, §6.10, §7.1.1), a fall into the acquisition section,
where others may buy it (1817 §7.2.2), or closing (1870 §5.1.1(7)).

Its president is asked there: neither orders nor the end of a player's time pass.
"""

from __future__ import annotations

from engine.core.actions import Action, BuyShares, BuyTrain, Pass, RunTrains, TakeLoansForCompany
from engine.core.components import MarketZone
from engine.core.events import AnyEvent, FramePushed
from engine.core.state import (
    TREASURY,
    OperatingTurn,
    PostMergerLoans,
    PriceProtection,
    StockTurn,
)
from engine.finance.loans import in_zone, loans_available
from engine.game import Game
from engine.kernel import apply, options, refusal
from engine.operating.loans_and_interest import could_afford_train_with_loans
from engine.operating.turn import operating_turn_question

MAX_PASSES = 400
ON_MARKET, IN_ACQUISITION, LOST = range(3)


def loss(before: Game, after: Game, company: str) -> str | None:
    """`The WT would go into liquidation.`, where a company is lost between two positions; else None."""
    if (then := _standing(after, company)) <= _standing(before, company):
        return None
    if then == IN_ACQUISITION:
        return f"The {company} would go into acquisition."
    return f"The {company} would {'go into liquidation' if before.components.loans else 'close'}."


def _standing(g: Game, company: str) -> int:
    """ON_MARKET, IN_ACQUISITION or LOST: the worse, the higher."""
    if g.company(company).cell is None or in_zone(g, company, MarketZone.LIQUIDATION, MarketZone.CLOSING):
        return LOST
    return IN_ACQUISITION if in_zone(g, company, MarketZone.ACQUISITION) else ON_MARKET


def loss_by_passing(g: Game, seat: str) -> str | None:
    """`The WT would go into liquidation.`, where passing loses a company that the player presides over, and
    they could still do something about that: buy a train or a share, take a loan, or lay track for a route.
    None where there is none."""
    top = g.top
    if isinstance(top, PriceProtection):
        apply(after := g.draft(), seat, Pass())
        own = (company for company, co in g.state.companies.items() if co.president == seat)
        return next(filter(None, (loss(g, after, company) for company in own)), None)
    if g.components.loans is None:
        return None
    if isinstance(top, StockTurn):
        owing = {c for c, co in g.state.companies.items() if co.owed_tokens and co.president == seat}
        helped = (_helps_to_pay(option.action) for option in options(g, seat)) if owing else ()
        return next((f"The {c} would go into liquidation." for c in helped if c in owing), None)
    if isinstance(top, OperatingTurn):
        return loss_without_more(g, g, seat, top.company) if _can_be_saved(g, top) else None
    if isinstance(top, PostMergerLoans) and loans_available(g, top.company):
        return loss_without_more(g, g, seat, top.company)
    return None


def _helps_to_pay(action: Action) -> str | None:
    """The company that an action in a stock turn brings money."""
    match action:
        case TakeLoansForCompany(company):
            return company
        case BuyShares(company, source) if source == TREASURY:
            return company
    return None


def _can_be_saved(g: Game, turn: OperatingTurn) -> bool:
    """Whether a company can still buy a train, or lay track for a run of those that it has."""
    to_come = {kind for step in operating_turn_question(g).steps_left(turn) for kind in step.handles}
    if g.company(turn.company).trains:
        return RunTrains in to_come
    return BuyTrain in to_come and could_afford_train_with_loans(g, turn)


def loss_by_dividend(g: Game, seat: str, company: str, dividend: Action) -> str | None:
    """What `loss` says of that dividend, and of passing after it, in the company's turn."""
    apply(after := g.draft(), seat, dividend)
    return loss_without_more(g, after, seat, company)


def loss_without_more(before: Game, after: Game, seat: str, company: str) -> str | None:
    """What `loss` says of a line, by the positions before and after it, and of passing from there to the end
    of the company's turn. The interest comes before that (1817 §6.8)."""
    lost, position = loss(before, after, company), after.draft()
    for _ in range(MAX_PASSES if before.components.loans else 0):
        top = position.top
        goes_on = isinstance(top, OperatingTurn | PostMergerLoans) and top.company == company
        if lost or not goes_on or refusal(position, seat, Pass()) is not None:
            break
        events = apply(position, seat, Pass()).events
        lost = loss(before, position, company)
        if any(map(_begins_turn, events)):
            break
    return lost


def _begins_turn(event: AnyEvent) -> bool:
    return isinstance(event, FramePushed) and isinstance(event.frame, OperatingTurn)
