"""What becomes of the revenue, and the price that follows it (1830 §20.3, §8.2; 1851, Pay Dividends)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec

from engine import market
from engine.actions import Action, Half, Pay, Withhold
from engine.events import Declared, PriceMoved
from engine.game import Game
from engine.holdings import unit
from engine.state import BANK, IPO, POOL, OperatingTurn, is_seat
from engine.title import Option


def pay_out(g: Game, company: str, dollars: int, *, of_pool: bool = True, of_offering: bool = False) -> None:
    """Pay so many dollars on all shares (§20.3).

    The company gets what its treasury's bring, and the pool's and those of the initial offering
    where they do not bring nothing (`of_pool`, `of_offering`).
    """
    paying = {company, *([POOL] if of_pool else []), *([IPO] if of_offering else [])}
    per_share = dollars * unit(g, company) // 100
    for holder, percent in sorted(g.company(company).shares.items()):
        if is_seat(holder) or holder in paying:
            to = holder if is_seat(holder) else company
            g.pay(BANK, to, per_share * percent // unit(g, company), f"dividend of the {company}")


def larger_half(revenue: int, step: int) -> int:
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

    half_to: int = 0
    of_pool: bool = True
    of_offering: bool = False
    half_moves: Literal["right", "not", "under"] = "right"
    raised_at_price: bool = False
    name: str = "dividend"
    hears: tuple[type[Action], ...] = (Pay, Withhold, Half)

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.revenue > 0

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"Say what becomes of the revenue: {self._choices()} (§20.3)."

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to {self._choices()} the ${turn.revenue} of the {turn.company}"

    def _choices(self) -> str:
        return "pay, halve or withhold" if self.half_to else "pay or withhold"

    def _paid(self, turn: OperatingTurn, action: Action) -> int:
        """Dollars paid out."""
        match action:
            case Pay():
                return turn.revenue
            case Half():
                return larger_half(turn.revenue, self.half_to)
        return 0

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for action, verb in ((Pay(), "Pay"), (Half(), "Half: pay")):
            if self.refuse(g, turn, action) is None:
                paid = self._paid(turn, action)
                rest = f" and keep ${turn.revenue - paid}" if isinstance(action, Half) else ""
                per_share = paid * unit(g, turn.company) // 100
                yield Option(action, f"{verb} ${paid}{rest}: ${per_share} a share")
        yield Option(Withhold(), f"Withhold ${turn.revenue}")

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if not turn.revenue:
            return f"The {turn.company} has earned nothing to pay or withhold (§20.3)."
        if isinstance(action, Half) and not self.half_to:
            return "Revenue is paid or withheld as a whole (§20.3)."
        return None

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, revenue = turn.company, turn.revenue
        paid, at = self._paid(turn, action), market.place(g, company)
        kind = {Pay: "pay", Half: "half", Withhold: "withhold"}[type(action)]
        g.emit(Declared(company, kind, revenue))
        g.pay(BANK, company, revenue - paid, "revenue")
        pay_out(g, company, paid, of_pool=self.of_pool, of_offering=self.of_offering)
        if not paid:
            market.move(g, company, market.left(g, at), "withheld")
        elif isinstance(action, Half) and self.half_moves != "right":
            if self.half_moves == "under":
                g.emit(PriceMoved(company, at, "half paid"))
        elif not self.raised_at_price or paid * unit(g, company) // 100 * 10 >= g.price(company):
            market.move(g, company, market.right(g, at), "paid")
        g.change(msgspec.structs.replace(turn, acted=True, revenue=0))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        if not turn.acted:
            g.emit(Declared(turn.company, "none", 0))
            market.move(g, turn.company, market.left(g, market.place(g, turn.company)), "no dividend")
