"""Cash crises: players who owe more than they have, and their bankruptcies (1817 §7.4, §8).

What is due is paid at once, so a player's cash is negative for as long as their crisis lasts. They sell
shares until it is not, or go bankrupt. The game looks for a crisis before it asks anything else. If several
players are in need, on which the book is silent, the president of the company whose turn it is comes first,
then the others clockwise. No private can be bought from the open market, so those of a bankrupt player close.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.core.actions import Action, DeclareBankruptcy, SellShares
from engine.core.components import MarketZone
from engine.core.events import (
    CashMoved,
    CrisisStartSeatChanged,
    PlayerBankrupt,
    PresidencyVacated,
    PrivateMoved,
    SharesMoved,
    UnpaidInterestChanged,
    UnplacedTokensChanged,
)
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, CLOSED, POOL, CashCrisis, CompanyStart, ExcessTokens, GameOver
from engine.core.words import join_words
from engine.finance.loans import in_zone, put_into_liquidation, size_definition
from engine.finance.offers import lapse_offers
from engine.finance.ownership import close_covered_shorts, next_president, share_percent
from engine.finance.share_sales import refuse_sale_at_steady_price, sale_option, sell_at_steady_price
from engine.game import Game
from engine.mechanics import Option, never


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
    names = join_words([g.state.name(s) for s in g.state.active_seats])
    g.push(GameOver(f"All but {names} are bankrupt." if names else "All players are bankrupt."))
    return True


@dataclass(frozen=True)
class CashCrisisQuestion:
    """Asks a player in a cash crisis which shares they sell.

    `one_share_at_a_time`: as the book has it; otherwise they sell no more than is needed. `cash_to_company`:
    what a bankrupt player had left goes to the company whose interest they could not pay. `keeps_privates`:
    their privates stay with them, where nobody can use them. `bankrupt_without_sales`: a player who cannot
    raise enough goes bankrupt without selling anything. `next_interruption`: what is looked for right after,
    on 18xx.games the next player in need.
    """

    one_share_at_a_time: bool = True
    cash_to_company: bool = True
    keeps_privates: bool = False
    bankrupt_without_sales: bool = False
    next_interruption: Callable[[Game], bool] = never

    def asked(self, g: Game, frame: CashCrisis) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: CashCrisis) -> str:
        owed = f"${-g.cash(frame.seat):,}"
        if (
            self.refusal(g, frame, frame.seat, DeclareBankruptcy()) is None
            and next(self._sales(g, frame), None) is None
        ):
            return f"declare bankruptcy, because {owed} are owed and no share may be sold"
        return f"sell shares, because {owed} are owed"

    def options(self, g: Game, frame: CashCrisis, seat: str) -> Iterator[Option]:
        yield from self._sales(g, frame)
        if self.refusal(g, frame, seat, DeclareBankruptcy()) is None:
            yield Option(DeclareBankruptcy(), "Declare bankruptcy: the others play on")

    def _sales(self, g: Game, frame: CashCrisis) -> Iterator[Option]:
        for company, co in g.state.companies.items():
            for count in range(1, max(co.shares.get(frame.seat, 0), 0) // share_percent(g, company) + 1):
                if self.refusal(g, frame, frame.seat, SellShares(company, count)) is None:
                    yield sale_option(g, company, count, g.price(company))

    def refusal(self, g: Game, frame: CashCrisis, seat: str, action: Action) -> str | None:
        match action:
            case SellShares(company, count):
                return self._refuse_sale(g, seat, company, count)
            case DeclareBankruptcy():
                if self.bankrupt_without_sales and self._liquidity(g, frame) >= -g.cash(seat):
                    return f"The money can be raised by selling{g.cite('1817 §7.4')}."
                if not self.bankrupt_without_sales and next(self._sales(g, frame), None):
                    return f"Sell first all that may be sold{g.cite('1817 §7.4')}."
                return None
        return (
            f"{g.state.name(seat)} owes ${-g.cash(seat):,} and has to sell shares first{g.cite('1817 §7.4')}."
        )

    def _liquidity(self, g: Game, frame: CashCrisis) -> int:
        """Dollars that the player could raise."""
        total = 0
        for company, co in g.state.companies.items():
            counts = range(1, max(co.shares.get(frame.seat, 0), 0) // share_percent(g, company) + 1)
            able = [n for n in counts if self._refuse_holding(g, frame.seat, company, n) is None]
            total += g.price(company) * max(able, default=0)
        return total

    def _refuse_holding(self, g: Game, seat: str, company: str, count: int) -> str | None:
        """Why that many shares may not be sold, however much money is needed, or None."""
        if why := refuse_sale_at_steady_price(g, seat, company, count):
            return why
        if g.company(company).president == seat and next_president(
            g, company, losing=count * share_percent(g, company)
        ):
            return f"No presidency may change in a cash crisis: the {company}'s would{g.cite('1817 §7.4')}."
        return None

    def _refuse_sale(self, g: Game, seat: str, company: str, count: int) -> str | None:
        if why := self._refuse_holding(g, seat, company, count):
            return why
        if self.one_share_at_a_time and count > 1:
            return f"In a cash crisis one share is sold at a time{g.cite('1817 §7.4')}."
        if g.price(company) * (count - 1) >= -g.cash(seat):
            return f"Only ${-g.cash(seat):,} is needed, and fewer shares bring that{g.cite('1817 §7.4')}."
        return None

    def apply(self, g: Game, frame: CashCrisis, seat: str, action: Action) -> None:
        if isinstance(action, SellShares):
            sell_at_steady_price(g, seat, action.company, action.count)
            return
        g.pop()
        remove_bankrupt_player(
            g, frame, cash_to_company=self.cash_to_company, keeps_privates=self.keeps_privates
        )
        self.next_interruption(g)

    def advance(self, g: Game, frame: CashCrisis) -> bool:
        if g.cash(frame.seat) >= 0:
            g.pop()
            for company, co in g.state.companies.items():
                if co.unpaid_interest and co.president == frame.seat:
                    g.emit(UnpaidInterestChanged(company, 0))
            self.next_interruption(g)
            return True
        return False


def open_cash_crisis(g: Game) -> bool:
    """Open a cash crisis for the first player in need, clockwise from the acting player (1817 §7.4)."""
    if g.state.game_over or isinstance(g.top, CashCrisis | CompanyStart | ExcessTokens):
        return False
    needy = [s for s in g.state.active_seats if g.cash(s) < 0]
    if not needy:
        if g.state.crisis_start_seat:
            g.emit(CrisisStartSeatChanged(None))
        return False
    if g.state.crisis_start_seat is None:
        g.emit(CrisisStartSeatChanged(_acting_player(g)))
    first = next(s for s in g.state.seats_from(g.state.crisis_start_seat or _acting_player(g)) if s in needy)
    g.push(CashCrisis(first))
    return True


def _acting_player(g: Game) -> str:
    """The player whose turn, or whose company's turn, it is."""
    for frame in reversed(g.state.stack):
        company = getattr(frame, "company", None)
        if company and (president := g.company(company).president):
            return president
        if seat := getattr(frame, "seat", None):
            return str(seat)
    return g.state.priority


def pay_for_owed_tokens(g: Game) -> bool:
    """Pay for the station tokens that a company owes, once it can pay for all of them (1817 §5.5)."""
    for company, co in g.state.companies.items():
        if co.owed_tokens and not isinstance(g.top, CompanyStart):
            cost = co.owed_tokens * size_definition(g, company).station_cost
            if g.cash(company) >= cost and not in_zone(g, company, MarketZone.LIQUIDATION):
                count = co.owed_tokens
                g.pay(company, BANK, cost, CashReason.TOKENS)
                g.emit(UnplacedTokensChanged(company, count, -count))
                return True
    return False


def handle_interruptions(
    g: Game, excess_tokens: Callable[[Game], bool] = never, excess_trains: Callable[[Game], bool] = never
) -> bool:
    """Do what comes before the game goes on. True if something did.

    `excess_tokens`, `excess_trains`: ask for those above the limits, where that has waited until now.
    """
    return (
        end_by_bankruptcy(g)
        or excess_tokens(g)
        or open_cash_crisis(g)
        or pay_for_owed_tokens(g)
        or excess_trains(g)
    )
