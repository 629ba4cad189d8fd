"""What becomes of the revenue, and the price that follows it (1830 §20.3, §8.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine import market
from engine.actions import Action, Half, Pay, Withhold
from engine.events import Declared, PriceMoved
from engine.game import Game
from engine.holdings import unit
from engine.state import BANK, IPO, POOL, OperatingTurn, is_seat
from engine.title import Option


def pay_out(g: Game, company: str, revenue: int, to_company: tuple[str, ...] = (POOL,)) -> None:
    """Pay so many dollars on all shares: those `to_company` hold to it, others of no player nothing.

    The company gets the pool's (§20.3), or those of the initial offering and its own (1870 §9.1).
    """
    per_share = revenue * unit(g, company) // 100
    for holder, percent in sorted(g.company(company).shares.items()):
        if is_seat(holder) or holder in to_company or (holder == company and IPO in to_company):
            to = holder if is_seat(holder) else company
            g.pay(BANK, to, per_share * percent // unit(g, company), f"dividend of the {company}")


def larger_half(revenue: int) -> int:
    """The dollars of a half dividend, which is rounded in favour of the holders (1870 §9.1.2)."""
    return -(-revenue // 20) * 10


@dataclass(frozen=True)
class DividendStep:
    """Pay or withhold; without revenue the price falls as if withheld (§8.2.4).

    `to_company`: see `pay_out`. `half_sinks`: where half is paid the token goes under those that lie
    in its space (1870 §5.8.4). `half` is paid where the step hears it.
    """

    name: str = "dividend"
    hears: tuple[type[Action], ...] = (Pay, Withhold)
    to_company: tuple[str, ...] = (POOL,)
    half_sinks: bool = False

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.revenue > 0

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        half = ", half" if Half in self.hears else ""
        return f"Say what becomes of the revenue: pay{half} or withhold (§20.3)."

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to pay or withhold the ${turn.revenue} of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        per_share = turn.revenue * unit(g, turn.company) // 100
        yield Option(Pay(), f"Pay ${turn.revenue}: ${per_share} a share")
        if Half in self.hears:
            paid = larger_half(turn.revenue)
            yield Option(Half(), f"Pay ${paid} and keep ${turn.revenue - paid}")
        yield Option(Withhold(), f"Withhold ${turn.revenue}")

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return None if turn.revenue else f"The {turn.company} has earned nothing to pay or withhold (§20.3)."

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, revenue = turn.company, turn.revenue
        at = market.place(g, company)
        if isinstance(action, Pay):
            g.emit(Declared(company, "pay", revenue))
            pay_out(g, company, revenue, self.to_company)
            market.move(g, company, market.right(g, at), "paid")
        elif isinstance(action, Half):
            paid = larger_half(revenue)
            g.emit(Declared(company, "half", revenue))
            g.pay(BANK, company, revenue - paid, "revenue")
            pay_out(g, company, paid, self.to_company)
            if self.half_sinks:
                g.emit(PriceMoved(company, at, "half paid"))
        else:
            g.emit(Declared(company, "withhold", revenue))
            g.pay(BANK, company, revenue, "revenue")
            market.move(g, company, market.left(g, at), "withheld")
        g.change(msgspec.structs.replace(turn, acted=True, revenue=0))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        if not turn.acted:
            g.emit(Declared(turn.company, "none", 0))
            market.move(g, turn.company, market.left(g, market.place(g, turn.company)), "no dividend")
