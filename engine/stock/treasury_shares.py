"""Redemption and reissue: companies buy their own shares back, and sell them again (1870 §5.10, §5.11).

The president uses their stock turn for it. A company cannot spend what it receives for reissued shares before
the stock round is over. In 1851 a company issues or redeems shares at the end of its turn (Issue or Redeem
Stock).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from engine.core.actions import Action, IssueShares, RedeemShare, RedeemShares, ReissueShares
from engine.core.events import SharesReissued
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, IPO, POOL, Offer, OperatingTurn, StockRound, StockTurn
from engine.finance import market
from engine.finance.offers import DealHandler, make_offer
from engine.finance.ownership import (
    move_shares,
    next_president,
    president_share_percent,
    share_percent,
    too_few_shares,
)
from engine.game import Game
from engine.mechanics import Option
from engine.operating.turn import Step
from engine.stock.turn import current_stock_round

MIN_OUTSTANDING_PERCENT = 60
"""Percent that must stay with players or in the open market (1870 §5.10)."""


def held_back_cash(g: Game, company: str) -> int:
    """Dollars of a company's cash that it received for reissued shares in this stock round.

    It may not spend them before the round is over (1870 §5.10.7, §5.11).
    """
    current_round, turn = g.state.stack[0], g.top
    if not isinstance(current_round, StockRound):
        return 0
    in_turn = turn.restricted_cash if isinstance(turn, StockTurn) and turn.bought == company else 0
    return current_round.restricted_cash.get(company, 0) + in_turn


def spendable_cash(g: Game, company: str) -> int:
    """Dollars that a company may spend in this stock round."""
    return g.cash(company) - held_back_cash(g, company)


def reissue_par_price(g: Game, company: str) -> int:
    """The par price of reissued shares in dollars: nearest to three quarters of the market price, the higher
    of two that are equally near, and never below the old par price (1870 §5.11)."""
    goal = 3 * g.price(company)
    nearest = min(g.components.reissue_prices, key=lambda par: (abs(4 * par - goal), -par))
    return max(nearest, g.company(company).par or 0)


@dataclass(frozen=True)
class TreasuryShares:
    """Redemption and reissue in a stock turn.

    `reissue_after_trades`: a president may reissue after buying or selling shares of their own.
    `ordinary_share_only`: no player gives up a share while the president holds nothing but the president's
    certificate, unless somebody else holds as much. `one_reissue_per_round`: a company reissues once in a
    stock round.
    """

    reissue_after_trades: bool = False
    ordinary_share_only: bool = False
    one_reissue_per_round: bool = True

    handles: ClassVar[tuple[type[Action], ...]] = (RedeemShare, ReissueShares)
    way: ClassVar[str] = "act for a company"

    def options(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company, co in g.state.companies.items():
            if co.president != frame.seat:
                continue
            for source in (None, *(s for s in g.state.seats if s in co.shares)):
                if self.refusal(g, frame, redeem := RedeemShare(company, source)) is None:
                    where = g.state.name(source) if source else "the open market"
                    consent = "" if source in (None, frame.seat) else ", if they agree"
                    price = g.price(company)
                    yield Option(
                        redeem, f"The {company} redeems a share from {where} for ${price:,}{consent}"
                    )
            if self.refusal(g, frame, ReissueShares(company)) is None:
                percent, par = g.percent_held(company, company), reissue_par_price(g, company)
                yield Option(ReissueShares(company), f"The {company} reissues {percent} % at ${par:,}")

    def refusal(self, g: Game, frame: StockTurn, action: RedeemShare | ReissueShares) -> str | None:
        company = action.company
        if g.company(company).president != frame.seat:
            return f"Only the president acts for the {company}{g.cite('1870 §5.3')}."
        if (frame.bought or frame.sold) and not (
            self.reissue_after_trades and isinstance(action, ReissueShares)
        ):
            return f"A player who acts for a company does nothing else in that turn{g.cite('1870 §5.3')}."
        if isinstance(action, ReissueShares):
            return self._refuse_reissue(g, company)
        return self._refuse_redemption(g, company, action.source)

    def _refuse_redemption(self, g: Game, company: str, source: str | None) -> str | None:
        co, step = g.company(company), share_percent(g, company)
        if not co.has_operated:
            return f"The {company} has no money of its own before it has operated{g.cite('1870 §5.10')}."
        if company in current_stock_round(g).redeemed:
            return f"The {company} has redeemed a share in this stock round{g.cite('1870 §5.10')}."
        if g.percent_held(company, company) + step > g.components.limits.redeemed_shares * step:
            return (
                f"A company holds {g.components.limits.redeemed_shares} shares at most{g.cite('1870 §5.10')}."
            )
        out = 100 - co.shares.get(IPO, 0) - co.shares.get(company, 0)
        if out - step < MIN_OUTSTANDING_PERCENT:
            least = f"{MIN_OUTSTANDING_PERCENT} % of the {company}"
            return f"{least} have to stay with players or in the open market{g.cite('1870 §5.10')}."
        if spendable_cash(g, company) < g.price(company):
            cash = f"the {company} has ${spendable_cash(g, company):,} to spend"
            held_back = held_back_cash(g, company)
            rest = f", and ${held_back:,} for reissued shares after this stock round" if held_back else ""
            return f"A share costs ${g.price(company):,}; {cash}{rest}{g.cite('1870 §5.10')}."
        pool = co.shares.get(POOL, 0)
        if source is None:
            return (
                None
                if pool
                else f"The open market has no share of the {company}; name a player{g.cite('1870 §5.10')}."
            )
        if pool:
            return f"A share of the {company} in the open market is redeemed first{g.cite('1870 §5.10')}."
        return self._refuse_holder(g, company, source)

    def _refuse_holder(self, g: Game, company: str, source: str) -> str | None:
        step = share_percent(g, company)
        if g.percent_held(source, company) < step:
            return f"{g.state.name(source)} has no share of the {company}{g.cite('1870 §5.10')}."
        if self.ordinary_share_only and self._president_holds_only_certificate(g, company):
            return (
                f"The president of the {company} holds only the president's certificate, and nobody "
                f"else as much{g.cite('1870 §5.10')}."
            )
        if g.company(company).president == source and (
            g.percent_held(source, company) - step < president_share_percent(g, company)
            or next_president(g, company, losing=step)
        ):
            return f"A redemption must not change the presidency of the {company}{g.cite('1870 §5.10')}."
        return None

    def _president_holds_only_certificate(self, g: Game, company: str) -> bool:
        """Whether the president holds only the president's certificate, and nobody else holds as much."""
        least = president_share_percent(g, company)
        held = [g.percent_held(seat, company) for seat in g.state.seats]
        return max(held) == least and held.count(least) == 1

    def _refuse_reissue(self, g: Game, company: str) -> str | None:
        if not g.percent_held(company, company):
            return f"The {company} holds no shares to reissue{g.cite('1870 §5.11')}."
        if g.percent_held(IPO, company):
            return f"The initial offering of the {company} has to be sold out first{g.cite('1870 §5.11')}."
        if self.one_reissue_per_round and company in current_stock_round(g).reissued:
            return f"The {company} has reissued shares in this stock round{g.cite('1870 §5.11')}."
        return None

    def apply(self, g: Game, frame: StockTurn, action: RedeemShare | ReissueShares) -> None:
        company = action.company
        if isinstance(action, ReissueShares):
            g.change_top(frame, for_company=company, company_action="reissue")
            g.emit(SharesReissued(company, reissue_par_price(g, company)))
            move_shares(g, company, company, IPO, g.percent_held(company, company))
        elif action.source in (None, frame.seat):
            self._redeem(g, company, action.source or POOL)
        else:
            seller = action.source or POOL
            make_offer(g, frame.seat, seller, action, seller, company, g.price(company))

    def _redeem(self, g: Game, company: str, source: str) -> None:
        turn = g.top
        assert isinstance(turn, StockTurn)
        g.change_top(turn, for_company=company, company_action="redeem")
        step = share_percent(g, company)
        g.pay(company, BANK if source == POOL else source, g.price(company), CashReason.SHARES, company)
        move_shares(g, company, source, company, step)

    def deal_handler(self) -> DealHandler:
        """How a redemption from a player is checked, and carried out when they accept."""

        def refuse(g: Game, offer: Offer) -> str | None:
            turn = g.top
            if not isinstance(turn, StockTurn):
                return f"A share is redeemed in a stock turn of the president{g.cite('1870 §5.10')}."
            assert isinstance(offer.deal, RedeemShare)
            return self.refusal(g, turn, offer.deal)

        def take(g: Game, offer: Offer) -> None:
            self._redeem(g, offer.target, offer.source)

        return DealHandler(refuse, take)


@dataclass(frozen=True)
class ShareIssueStep(Step[IssueShares | RedeemShares]):
    """Issue shares or redeem some, once in a turn. A company issues none in its first turn."""

    name: str = "issue"
    handles: tuple[type[Action], ...] = (IssueShares, RedeemShares)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return not turn.acted and next(self.options(g, turn), None) is not None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"issue or redeem shares of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        company, step = turn.company, share_percent(g, turn.company)
        for kind, source, verb in ((IssueShares, company, "Issue"), (RedeemShares, POOL, "Redeem")):
            for count in range(1, g.percent_held(source, company) // step + 1):
                if self.refusal(g, turn, action := kind(count)) is None:
                    dollars = count * g.price(company)
                    yield Option(action, f"{verb} {count * step} % of the {company} for ${dollars:,}")

    def refusal(self, g: Game, turn: OperatingTurn, action: IssueShares | RedeemShares) -> str | None:
        company, count = turn.company, action.count
        if turn.acted:
            done = "has already issued or redeemed shares in this turn"
            return f"The {company} {done}{g.cite('1851 Issue or Redeem Stock')}."
        if count < 1:
            return "Name at least one share."
        issues = isinstance(action, IssueShares)
        if issues and turn.is_first:
            return f"The {company} issues no shares in its first turn{g.cite('1851 Issue or Redeem Stock')}."
        source, target, limit = (company, POOL, "pool") if issues else (POOL, company, "treasury")
        percent, source_name = count * share_percent(g, company), "treasury" if issues else "pool"
        if percent > g.percent_held(source, company):
            few = too_few_shares(f"The {source_name}", g.percent_held(source, company), company)
            return f"{few}{g.cite('1851 Issue or Redeem Stock')}."
        limits = g.components.limits
        most = limits.pool_percent if issues else limits.treasury_percent
        if g.percent_held(target, company) + percent > most:
            allowed = f"at most {most} % of the {company}"
            return f"The {limit} may hold {allowed}{g.cite('1851 Issue or Redeem Stock')}."
        if not issues and count * g.price(company) > g.cash(company):
            return f"That costs ${count * g.price(company):,}, and the {company} has ${g.cash(company):,}."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: IssueShares | RedeemShares) -> None:
        company, count = turn.company, action.count
        percent, dollars = count * share_percent(g, company), count * g.price(company)
        g.change_top(turn, acted=True)
        if isinstance(action, IssueShares):
            move_shares(g, company, company, POOL, percent)
            g.pay(BANK, company, dollars, CashReason.SHARES, company)
            market.move_token(
                g, company, market.down(g, market.token_space(g, company), count), PriceReason.ISSUED
            )
        else:
            g.pay(company, BANK, dollars, CashReason.SHARES, company)
            move_shares(g, company, POOL, company, percent)
