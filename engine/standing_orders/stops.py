"""What ends orders: the conditions that owners add, and what puts their own affairs at risk."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.components import MarketZone
from engine.core.events import AnyEvent, CompanyFloated, ParSet, PresidentNamed, PriceMoved, SharesMoved
from engine.core.state import POOL, TREASURY, MergerRound, OperatingRound, StockRound, StockTurn, is_seat
from engine.finance.ownership import (
    ZONES_WITH_MULTIPLE_PURCHASES,
    market_zones,
    percent_limit,
    share_percent,
    source_holder,
)
from engine.game import Game
from engine.standing_orders.model import Circumstances, StopCondition
from engine.stock.turn import StockTurnQuestion

RoundIndex = tuple[int, int, int]
"""A place in the sequence of rounds, see `round_index`."""


def stop_reason(c: Circumstances, conditions: Iterable[StopCondition]) -> str | None:
    """The condition that has come true since the arming, as a sentence, or None."""
    for condition in conditions:
        for move, event in c.events():
            if _is_met(c.g, condition, event, move.seat != c.seat):
                return f"{condition_text(condition, has_happened=True)}."
    return None


def _is_met(g: Game, condition: StopCondition, event: AnyEvent, by_other: bool) -> bool:
    match event:
        case PriceMoved(company, cell) | ParSet(company, _, cell) if company == condition.company:
            price = g.title.cell(cell).price
            below, above = condition.kind == "below", condition.kind == "above"
            started = condition.kind == "starts" and isinstance(event, ParSet)
            return started or (below and price < condition.dollars) or (above and price > condition.dollars)
        case CompanyFloated(company):
            return condition.kind == "floats" and company == condition.company
        case ParSet() if condition.kind == "par":
            return by_other
        case SharesMoved(company, source, target) if condition.company in ("", company) and by_other:
            if is_seat(source) and not is_seat(target):
                return condition.kind in ("sold", "sale")
            return condition.kind == "bought" and is_seat(target)
    return False


def refuse_condition(g: Game, condition: StopCondition) -> str | None:
    """Why a condition cannot end an order any more, as a sentence, or None: it has come true already."""
    if not condition.company:
        return None
    co = g.company(condition.company)
    price = g.price(condition.company)
    already = {
        "below": co.cell is not None and price < condition.dollars,
        "above": co.cell is not None and price > condition.dollars,
        "floats": co.floated,
        "starts": co.par is not None or co.president is not None,
    }
    if co.closed or already.get(condition.kind):
        done = f"The {condition.company} is closed" if co.closed else condition_text(condition, True)
        return f"{done} already; name something that has not happened yet."
    return None


def condition_text(condition: StopCondition, has_happened: bool = False) -> str:
    """A condition as it is written; has_happened: the beginning of a sentence that says that it is true."""
    company = condition.company
    if not has_happened:
        sign = {"below": "<", "above": ">"}.get(condition.kind)
        return (
            f"price {company} {sign} {condition.dollars}" if sign else f"{company} {condition.kind}".strip()
        )
    return {
        "below": f"The price of the {company} is below ${condition.dollars:,}",
        "above": f"The price of the {company} is above ${condition.dollars:,}",
        "floats": f"The {company} has floated",
        "starts": f"The {company} has started",
        "sold": f"Shares of the {company} were sold",
        "bought": f"Shares of the {company} were bought",
        "par": "A company has started",
        "sale": "Shares were sold",
    }[condition.kind]


def holding_was_sold(c: Circumstances) -> str | None:
    """Says who, since the arming, has sold or shorted shares of a company that the owner has a part in."""
    for _, event in c.events():
        match event:
            case SharesMoved(company, source, target) if source != c.seat and is_seat(source):
                held = any(c.seat in g.company(company).shares for g in (c.g, c.start))
                if held and not is_seat(target):
                    return f"{c.name(source)} has sold shares of the {company}, of which you hold some."
    return None


def presidency_in_reach(c: Circumstances) -> str | None:
    """Whose next purchase could cost the owner a presidency, where that was not so at the arming."""
    new = sorted(_overtakers(c.g, c.seat) - _overtakers(c.start, c.seat))
    if not new:
        return None
    company, other = new[0]
    return f"{c.name(other)} could become president of the {company} with the next purchase."


def _overtakers(g: Game, seat: str) -> set[tuple[str, str]]:
    """Companies of which the seat is president, with each player who could become it by one purchase."""
    found = set()
    for company, co in g.state.companies.items():
        if co.president != seat or co.cell is None:
            continue
        room, most = _largest_purchase(g, company), percent_limit(g, company)
        for other in g.state.active_seats:
            reach = min(g.percent_held(other, company) + room, most)
            if other != seat and g.percent_held(seat, company) < reach:
                found.add((company, other))
    return found


def _largest_purchase(g: Game, company: str) -> int:
    """The most percent of a company that can be bought in one turn."""
    step = share_percent(g, company)
    turns = g.title.questions[StockTurn]
    sources = turns.sources if isinstance(turns, StockTurnQuestion) else (POOL, TREASURY)
    holders = {source_holder(company, source) for source in sources}
    available = sum(max(g.percent_held(holder, company), 0) for holder in holders)
    zones: tuple[MarketZone, ...] = market_zones(g, company)
    several = not ZONES_WITH_MULTIPLE_PURCHASES.isdisjoint(zones)
    return available if several else min(step, available)


def lost_presidency(c: Circumstances, company: str) -> str | None:
    """Says who has replaced the president of the company since the arming; None if nobody has."""
    before = c.start.company(company).president
    for _, event in c.events():
        match event:
            case PresidentNamed(named, seat) if named == company and seat not in (before, c.seat):
                return f"{c.name(seat)} has become president of the {company}."
    return None


def round_index(g: Game) -> RoundIndex:
    """Where the game is in the sequence of rounds; it grows from round to round.

    The number of the stock round, of the operating round after it or 0, and 1 in the merger round after that
    or 0. The opening is before all of them, the end of the game after all.
    """
    match g.state.stack[0]:
        case StockRound(number):
            return number, 0, 0
        case OperatingRound(after, number):
            return after, number, 0
        case MergerRound(after, number):
            return after, number, 1
    return (10**6, 0, 0) if g.state.game_over else (0, 0, 0)


def trading_round(start: Game) -> RoundIndex:
    """The round in which an order passes: the one in which it was left, or after an operating round the next
    stock round."""
    return next_stock_round(start) if isinstance(start.state.stack[0], OperatingRound) else round_index(start)


def next_stock_round(start: Game) -> RoundIndex:
    """The stock round in which an order was left, or else the next one."""
    index = round_index(start)
    return index if isinstance(start.state.stack[0], StockRound) else (index[0] + 1, 0, 0)
