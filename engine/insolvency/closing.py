"""Companies that close because of their share price (1870 §5.1.1(7), §10.6.3)."""

from __future__ import annotations

from collections.abc import Callable

from engine.core.components import MarketZone
from engine.core.events import CompanyClosed, PrivateMoved, TrainMoved
from engine.core.reasons import CashReason, TrainReason
from engine.core.state import BANK, CLOSED, POOL, OperatingTurn
from engine.finance.ownership import market_zones
from engine.game import Game
from engine.operating.emergency_purchase import president_contribution


def close_in_closing_zone(*, privates_to_pool: bool) -> Callable[[Game, str], None]:
    """A rule that closes a company whose token has moved to the closing section of the market.

    `privates_to_pool`: the company's privates are for sale in the open market then; otherwise they close too.
    """

    def close_where_worthless(g: Game, company: str) -> None:
        if MarketZone.CLOSING not in market_zones(g, company):
            return
        _forfeit_train_cash(g, company)
        g.pay(company, BANK, g.cash(company), CashReason.CLOSING, company)
        for train in list(g.company(company).trains):
            g.emit(TrainMoved(train, company, POOL, TrainReason.COMPANY_CLOSED))
        for private in g.privates_of(company):
            g.emit(PrivateMoved(private, POOL if privates_to_pool else CLOSED))
        g.emit(CompanyClosed(company))

    return close_where_worthless


def _forfeit_train_cash(g: Game, company: str) -> None:
    """Take from a president who has closed the company by selling what they were adding to the price of its
    train (1870 §10.6.3)."""
    turn = next((f for f in g.state.stack if isinstance(f, OperatingTurn)), None)
    if turn is not None and turn.company == company and turn.step == "trains":
        president = g.president(company)
        g.pay(president, BANK, min(g.cash(president), president_contribution(g, company)), CashReason.FORFEIT)
