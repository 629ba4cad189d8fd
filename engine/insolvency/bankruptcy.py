"""Bankruptcies that the game survives, and the one that ends it (1817 §7.4, §8)."""

from __future__ import annotations

from engine.core.events import (
    CashMoved,
    PlayerBankrupt,
    PresidencyVacated,
    PrivateMoved,
    SharesMoved,
    UnpaidInterestChanged,
)
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, CLOSED, POOL, CashCrisis, GameOver
from engine.finance.loans import put_into_liquidation
from engine.finance.offers import lapse_offers
from engine.finance.ownership import close_covered_shorts
from engine.game import Game


def remove_bankrupt_player(
    g: Game, frame: CashCrisis, *, cash_to_company: bool, keeps_privates: bool = False
) -> None:
    """Take a bankrupt player out of the game (1817 §7.4)."""
    seat, left = frame.seat, g.cash(frame.seat)
    if left:
        g.emit(CashMoved(BANK, seat, -left, CashReason.BANKRUPTCY))
    for company, co in g.state.companies.items():
        if co.unpaid_interest and co.president == seat:
            if cash_to_company:
                g.pay(BANK, company, max(co.unpaid_interest + left, 0), CashReason.PRESIDENT_CASH)
            g.emit(UnpaidInterestChanged(company, 0))
    for private in g.privates_of(seat):
        if not keeps_privates:
            g.emit(PrivateMoved(private, CLOSED))
    g.emit(PlayerBankrupt(seat))
    for company in g.operating_order():
        co = g.company(company)
        if seat in co.shares:
            g.emit(SharesMoved(company, seat, POOL, co.shares[seat]))
        if co.president == seat:
            g.emit(PresidencyVacated(company))
            put_into_liquidation(g, company, PriceReason.NO_PRESIDENT)
    close_covered_shorts(g, *g.state.companies)
    lapse_offers(g)


def end_by_bankruptcy(g: Game) -> bool:
    """End the game where all players but one are bankrupt (1817 §8)."""
    if g.state.game_over or len(g.state.active_seats) > 1:
        return False
    names = " and ".join(g.state.name(s) for s in g.state.active_seats)
    g.push(GameOver(f"All but {names} are bankrupt." if names else "All players are bankrupt."))
    return True
