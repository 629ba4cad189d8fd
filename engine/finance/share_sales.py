"""Sales of shares into the pool: what a player may sell, and for how much (1830 §12, §13; 1817 §5.2)."""

from __future__ import annotations

from engine.core.actions import SellShares
from engine.core.reasons import CashReason
from engine.core.state import BANK, POOL, OperatingTurn, PendingSale, StockRound
from engine.finance.loans import is_tradable
from engine.finance.ownership import (
    close_covered_shorts,
    move_shares,
    next_president,
    percent_limit,
    president_share_percent,
    share_percent,
    too_few_shares,
)
from engine.game import Game
from engine.mechanics import Option


def refuse_sale_before_first_turn(g: Game, company: str) -> str | None:
    """Why no shares may be sold of a company that has not completed a turn (1851, Selling Stock), or None."""
    first = any(isinstance(f, OperatingTurn) and f.company == company and f.is_first for f in g.state.stack)
    if first or not g.company(company).has_operated:
        return f"The {company} has not completed a turn of an operating round{g.cite('1830 §12.1')}."
    return None


def sale_option(g: Game, company: str, count: int, price: int) -> Option:
    """The sale of so many shares, as it is offered. price: dollars that a share brings."""
    percent, dollars = count * share_percent(g, company), count * price
    return Option(SellShares(company, count), f"Sell {percent} % of the {company} for ${dollars:,}")


def refuse_share_sale(g: Game, seat: str, company: str, percent: int) -> str | None:
    """Why the player may not sell that many percent into the pool (1830 §12, §13), or None."""
    held = g.percent_held(seat, company)
    if percent > held:
        return f"{too_few_shares(g.state.name(seat), held, company)}{g.cite('1830 §12')}."
    if g.company(company).cell is None:
        return f"The {company} has no price yet, so its shares cannot be sold{g.cite('1830 §8.1')}."
    if not g.title.must_sell_excess and held > (most := percent_limit(g, company)) and held - percent > most:
        return (
            f"A holder of more than {most} % of the {company} has to sell down to {most} "
            f"%{g.cite('1870 §5.9')}."
        )
    for objection in g.title.sale_objections:
        if why := objection(g, company):
            return why
    limit, pool = g.components.limits.pool_percent, g.percent_held(POOL, company)
    if pool + percent > limit:
        return (
            f"The pool may hold at most {limit} % of the {company}, and holds {pool} %{g.cite('1830 §12.2')}."
        )
    if g.company(company).president == seat and held - percent < president_share_percent(g, company):
        heir = next_president(g, company, losing=percent)
        if heir is None or g.percent_held(heir, company) < president_share_percent(g, company):
            return (
                f"Nobody else holds enough of the {company} to take the president's "
                f"certificate{g.cite('1830 §13')}."
            )
    return None


def sell_shares(g: Game, seat: str, company: str, count: int, price: int | None = None) -> None:
    """Sell shares into the pool, at the price before it falls (1830 §8.2.1, §15) or at the given one."""
    percent = count * share_percent(g, company)
    president = g.president(company)
    price = g.price(company) if price is None else price
    move_shares(g, company, seat, POOL, percent)
    g.pay(BANK, seat, price * count, CashReason.SHARES, company)
    g.title.after_sale(g, PendingSale(company, count, president))


def sellable_counts(g: Game, holder: str, company: str) -> range:
    """How many shares the holder could give away at once, limits aside; none where they are short."""
    return range(1, g.percent_held(holder, company) // share_percent(g, company) + 1)


def held_companies(g: Game, seat: str) -> list[str]:
    """Companies of which the player holds shares, or has sold some short."""
    return [c for c, co in g.state.companies.items() if seat in co.shares]


def refuse_sale_at_steady_price(g: Game, seat: str, company: str, count: int) -> str | None:
    """Why the player may not sell that many shares where sales do not move the price (1817 §5.2), or None."""
    co = g.company(company)
    if count < 1:
        return "At least one share has to be sold."
    if g.percent_held(seat, company) <= 0:
        return f"{g.state.name(seat)} holds no share of the {company}."
    if co.size is not None and share_percent(g, company) * 2 == 100:
        return f"Shares of a 2-share company may not be sold{g.cite('1817 §5.2')}."
    if not is_tradable(g, company):
        return (
            f"Shares of the {company} cannot be bought or sold while it is in "
            f"acquisition{g.cite('1817 §5.2')}."
        )
    current_round = g.state.stack[0]
    if isinstance(current_round, StockRound) and company in current_round.formed:
        return f"The {company} was formed in this stock round{g.cite('1817 §5.2')}."
    return refuse_share_sale(g, seat, company, count * share_percent(g, company))


def sell_at_steady_price(g: Game, seat: str, company: str, count: int) -> None:
    """Sell shares into the open market; the price does not move (1817 §5.2)."""
    percent = count * share_percent(g, company)
    move_shares(g, company, seat, POOL, percent)
    close_covered_shorts(g, *g.state.companies)
    g.pay(BANK, seat, g.price(company) * count, CashReason.SHARES, company)
