"""Dividends: revenue is paid, halved or withheld, and the price moves (1830 §8.2, §20.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from engine.core.actions import Action, PayDividend, PayHalfDividend, WithholdDividend
from engine.core.components import MarketZone
from engine.core.events import DividendDeclared, DividendKind, PriceMoved
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, IPO, POOL, OperatingTurn, is_seat
from engine.finance import market
from engine.finance.loans import in_zone, size_definition
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.mechanics import Option, do_nothing
from engine.operating.turn import Step

ACQUISITION_PRICE = 40
"""Price in dollars that a dividend of a company in acquisition is compared with (1817 §6.6)."""


DIVIDEND_KINDS: dict[type[Action], DividendKind] = {
    PayDividend: "pay",
    PayHalfDividend: "half",
    WithholdDividend: "withhold",
}


def pay_dividend(g: Game, company: str, dollars: int, *, pool: bool = True, ipo: bool = False) -> None:
    """Pay a dividend of so many dollars on all shares together (1830 §20.3).

    The company receives the dividend of the shares in its treasury. `pool`, `ipo`: it also receives that of
    the shares in the pool, and in the initial offering; otherwise the bank keeps it.
    """
    paid_to_company = {company, *([POOL] if pool else []), *([IPO] if ipo else [])}
    per_share = dollars * share_percent(g, company) // 100
    for holder, percent in sorted(g.company(company).shares.items()):
        if is_seat(holder) or holder in paid_to_company:
            to = holder if is_seat(holder) else company
            g.pay(BANK, to, per_share * percent // share_percent(g, company), CashReason.DIVIDEND, company)


def half_rounded_up(revenue: int, step: int) -> int:
    """Half of the revenue, rounded up to a multiple of `step` dollars."""
    return -(-revenue // (2 * step)) * step


def pay_shareholders(g: Game, company: str, dollars: int) -> None:
    """Pay so many dollars on all shares together: players and the treasury receive their part, and players
    with a short position pay theirs to the bank (1817 §6.6)."""
    for holder, percent in sorted(g.company(company).shares.items()):
        amount = dollars * percent // 100 if percent > 0 else -(dollars * -percent // 100)
        if is_seat(holder) and percent < 0:
            g.pay(holder, BANK, -amount, CashReason.DIVIDEND, company)
        elif is_seat(holder) or holder == company:
            g.pay(BANK, holder, amount, CashReason.DIVIDEND, company)


class RevenueStep(Step[Action]):
    """A step that decides about the revenue of a run. `choices`: what may become of it, in words."""

    @property
    def choices(self) -> str:
        return "pay, halve or withhold"

    def cite(self, g: Game) -> str:
        """The section that asks for the decision."""
        return g.cite("1830 §20.3")

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.revenue > 0

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"Decide about the revenue: {self.choices}{self.cite(g)}."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"{self.choices} the ${turn.revenue:,} of the {turn.company}"

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if turn.revenue:
            return None
        return f"The {turn.company} has no revenue to pay or withhold{self.cite(g)}."


def lower_without_dividend(g: Game, company: str) -> None:
    """What follows a turn without revenue: the price falls as if it were withheld (1830 §8.2.4)."""
    g.emit(DividendDeclared(company, "none", 0))
    market.move_token(g, company, market.left(g, market.token_space(g, company)), PriceReason.NO_DIVIDEND)


@dataclass(frozen=True)
class DividendStep(RevenueStep):
    """Pay or withhold the revenue. Without revenue the price falls as if it were withheld (1830 §8.2.4).

    `half_rounding`: half may be paid too, rounded up to a multiple of so many dollars (0: it may not).
    `pays_pool_shares`, `pays_ipo_shares`: see `pay_dividend`. `half_price_move`: what half a dividend does
    to the price: a space to the right, nothing, or the token goes under the others in its space
    (1870 §5.8.4). `rise_needs_price`: the price rises only if the dividend of a share is as high as
    the price.
    """

    half_rounding: int = 0
    pays_pool_shares: bool = True
    pays_ipo_shares: bool = False
    half_price_move: Literal["right", "not", "under"] = "right"
    rise_needs_price: bool = False
    name: str = "dividend"
    handles: tuple[type[Action], ...] = (PayDividend, WithholdDividend, PayHalfDividend)

    @property
    def choices(self) -> str:
        return "pay, halve or withhold" if self.half_rounding else "pay or withhold"

    def _amount_paid(self, turn: OperatingTurn, action: Action) -> int:
        """Dollars that the action pays on all shares together."""
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
                rest = f" and keep ${turn.revenue - paid:,}" if isinstance(action, PayHalfDividend) else ""
                per_share = paid * share_percent(g, turn.company) // 100
                yield Option(action, f"{verb} ${paid:,}{rest}: ${per_share:,} a share")
        yield Option(WithholdDividend(), f"Withhold ${turn.revenue:,}")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if turn.revenue and isinstance(action, PayHalfDividend) and not self.half_rounding:
            return f"Revenue is paid or withheld as a whole{g.cite('1830 §20.3')}."
        return super().refusal(g, turn, action)

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, revenue = turn.company, turn.revenue
        paid, at = self._amount_paid(turn, action), market.token_space(g, company)
        g.emit(DividendDeclared(company, DIVIDEND_KINDS[type(action)], revenue))
        g.pay(BANK, company, revenue - paid, CashReason.REVENUE)
        pay_dividend(g, company, paid, pool=self.pays_pool_shares, ipo=self.pays_ipo_shares)
        if not paid:
            market.move_token(g, company, market.left(g, at), PriceReason.WITHHELD)
        elif isinstance(action, PayHalfDividend) and self.half_price_move != "right":
            if self.half_price_move == "under":
                g.emit(PriceMoved(company, at, PriceReason.HALF_DIVIDEND))
        elif self.raises_price(g, company, paid):
            market.move_token(g, company, market.right(g, at), PriceReason.DIVIDEND)
        g.change_top(turn, acted=True, revenue=0)

    def raises_price(self, g: Game, company: str, paid: int) -> bool:
        """Whether a whole dividend of so many dollars on all shares together raises the price."""
        per_share = paid * share_percent(g, company) // 100
        return paid > 0 and (not self.rise_needs_price or per_share * 10 >= g.price(company))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        if not turn.acted:
            lower_without_dividend(g, turn.company)


@dataclass(frozen=True)
class DoubleJumpDividendStep(RevenueStep):
    """Pay the revenue, half of it, or withhold it (1817 §6.6).

    The price rises by one space if the revenue paid is at least the price, and by two if it is at least
    twice the price. `after_dividend`: called after the dividend, with the turn.
    """

    after_dividend: Callable[[Game, OperatingTurn], None] = do_nothing
    name: str = "dividend"
    handles: tuple[type[Action], ...] = (PayDividend, WithholdDividend, PayHalfDividend)

    def cite(self, g: Game) -> str:
        return g.cite("1817 §6.6")

    def _amount_paid(self, g: Game, turn: OperatingTurn, action: Action) -> int:
        """Dollars that the action pays on all shares together."""
        match action:
            case PayDividend():
                return turn.revenue
            case PayHalfDividend():
                multiple = size_definition(g, turn.company).half_dividend_multiple
                return turn.revenue - turn.revenue // 2 // multiple * multiple
        return 0

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for action, verb in ((PayDividend(), "Pay"), (PayHalfDividend(), "Half: pay")):
            paid = self._amount_paid(g, turn, action)
            rest = f" and keep ${turn.revenue - paid:,}" if isinstance(action, PayHalfDividend) else ""
            per_share = f"{paid * share_percent(g, turn.company) / 100:,.2f}".removesuffix(".00")
            yield Option(action, f"{verb} ${paid:,}{rest}: ${per_share} a share")
        yield Option(WithholdDividend(), f"Withhold ${turn.revenue:,}")

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, paid = turn.company, self._amount_paid(g, turn, action)
        g.emit(DividendDeclared(company, DIVIDEND_KINDS[type(action)], turn.revenue))
        g.pay(BANK, company, turn.revenue - paid, CashReason.REVENUE)
        at = market.token_space(g, company)
        pay_shareholders(g, company, paid)
        price = ACQUISITION_PRICE if in_zone(g, company, MarketZone.ACQUISITION) else g.price(company)
        if not paid:
            market.move_token(g, company, market.left(g, at), PriceReason.WITHHELD)
        for times in (1, 2):
            if paid >= times * price:
                market.move_token(
                    g, company, market.right(g, market.token_space(g, company)), PriceReason.DIVIDEND
                )
        g.change_top(turn, acted=True, revenue=0)
        self.after_dividend(g, turn)

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        if not turn.acted:
            lower_without_dividend(g, turn.company)
            self.after_dividend(g, turn)
