"""What becomes of the revenue, and the price that follows it (1830 §20.3, §8.2; 1851, Pay Dividends)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec

from engine.core.actions import Action, PayDividend, PayHalfDividend, WithholdDividend
from engine.core.events import DividendDeclared, PriceMoved
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, IPO, POOL, OperatingTurn, is_seat
from engine.finance import market
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.mechanics import Option


def pay_dividend(
    g: Game, company: str, dollars: int, *, of_pool: bool = True, of_offering: bool = False
) -> None:
    """Pay so many dollars on all shares (§20.3).

    The company gets what its treasury's bring, and the pool's and those of the initial offering
    where they do not bring nothing (`of_pool`, `of_offering`).
    """
    paying = {company, *([POOL] if of_pool else []), *([IPO] if of_offering else [])}
    per_share = dollars * share_percent(g, company) // 100
    for holder, percent in sorted(g.company(company).shares.items()):
        if is_seat(holder) or holder in paying:
            to = holder if is_seat(holder) else company
            g.pay(BANK, to, per_share * percent // share_percent(g, company), CashReason.DIVIDEND, company)


def half_rounded_up(revenue: int, step: int) -> int:
    """Half of the revenue, rounded up to a multiple of so many dollars."""
    return -(-revenue // (2 * step)) * step


@dataclass(frozen=True)
class DividendStep:
    """Pay or withhold; without revenue the price falls as if withheld (§8.2.4).

    `half_to`: half may be paid too, rounded up to a multiple of so many dollars (0: it may not).
    `of_pool`, `of_offering`: see `pay_out`. `raised_at_price`: the price rises only by dividends that
    are as high. `half_moves`: what half does to the price where it may rise: a space to the right,
    nothing, or the token goes under those that lie in its space (1870 §5.8.4).
    """

    half_rounding: int = 0
    pays_pool_shares: bool = True
    pays_ipo_shares: bool = False
    half_price_move: Literal["right", "not", "under"] = "right"
    rise_needs_price: bool = False
    name: str = "dividend"
    handles: tuple[type[Action], ...] = (PayDividend, WithholdDividend, PayHalfDividend)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.revenue > 0

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"Say what becomes of the revenue: {self._choices()} (§20.3)."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"to {self._choices()} the ${turn.revenue} of the {turn.company}"

    def _choices(self) -> str:
        return "pay, halve or withhold" if self.half_rounding else "pay or withhold"

    def _amount_paid(self, turn: OperatingTurn, action: Action) -> int:
        """Dollars paid out."""
        match action:
            case PayDividend():
                return turn.revenue
            case PayHalfDividend():
                return half_rounded_up(turn.revenue, self.half_rounding)
        return 0

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for action, verb in ((PayDividend(), "Pay"), (PayHalfDividend(), "Half: pay")):
            if self.refusal(g, turn, action) is None:
                paid = self._amount_paid(turn, action)
                rest = f" and keep ${turn.revenue - paid}" if isinstance(action, PayHalfDividend) else ""
                per_share = paid * share_percent(g, turn.company) // 100
                yield Option(action, f"{verb} ${paid}{rest}: ${per_share} a share")
        yield Option(WithholdDividend(), f"Withhold ${turn.revenue}")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if not turn.revenue:
            return f"The {turn.company} has earned nothing to pay or withhold (§20.3)."
        if isinstance(action, PayHalfDividend) and not self.half_rounding:
            return "Revenue is paid or withheld as a whole (§20.3)."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, revenue = turn.company, turn.revenue
        paid, at = self._amount_paid(turn, action), market.token_space(g, company)
        kind = {PayDividend: "pay", PayHalfDividend: "half", WithholdDividend: "withhold"}[type(action)]
        g.emit(DividendDeclared(company, kind, revenue))
        g.pay(BANK, company, revenue - paid, CashReason.REVENUE)
        pay_dividend(g, company, paid, of_pool=self.pays_pool_shares, of_offering=self.pays_ipo_shares)
        if not paid:
            market.move_token(g, company, market.left(g, at), PriceReason.WITHHELD)
        elif isinstance(action, PayHalfDividend) and self.half_price_move != "right":
            if self.half_price_move == "under":
                g.emit(PriceMoved(company, at, PriceReason.HALF_DIVIDEND))
        elif not self.rise_needs_price or paid * share_percent(g, company) // 100 * 10 >= g.price(company):
            market.move_token(g, company, market.right(g, at), PriceReason.DIVIDEND)
        g.replace_top(msgspec.structs.replace(turn, acted=True, revenue=0))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        if not turn.acted:
            g.emit(DividendDeclared(turn.company, "none", 0))
            market.move_token(
                g, turn.company, market.left(g, market.token_space(g, turn.company)), PriceReason.NO_DIVIDEND
            )
