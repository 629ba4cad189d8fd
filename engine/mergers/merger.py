"""Mergers of two companies of one size: their price, shares and president (1817 §7.1.2, §7.1.3)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.actions import Merge
from engine.core.events import PresidencyVacated, PresidentNamed, PriceMoved, SharesRestructured
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import Discard, ExcessTokens, MergerTurn, Offer, ShareholderSettlement, is_seat
from engine.finance.offers import DealHandler
from engine.finance.ownership import close_covered_shorts, share_percent
from engine.game import Game
from engine.mergers.assets import ask_for_excess, combine_tokens, transfer_assets
from engine.mergers.conversion import begin_share_trade, may_convert_or_merge, next_size


def highest_cell_up_to(g: Game, dollars: int) -> tuple[int, int]:
    """The market space (row, column) with the highest price that is not above so many dollars."""
    cells = [
        (cell.price, (r, c))
        for r, row in enumerate(g.components.market.rows)
        for c, cell in enumerate(row)
        if cell is not None and 0 < cell.price <= dollars
    ]
    return max(cells)[1]


def merged_cell(g: Game, company: str, other: str) -> tuple[int, int]:
    """The market space (row, column) of two companies after their merger.

    Its price is the sum of both prices for 2-share companies, and their average otherwise
    (1817 §7.1.2, §7.1.3), or the next lower one.
    """
    total = g.price(company) + g.price(other)
    return highest_cell_up_to(g, total if g.company(company).size == 2 else total // 2)


def merged_shares(g: Game, company: str, other: str) -> dict[str, int]:
    """Percent by holder after a merger; both treasuries go to the company that is named first."""
    own, others = g.company(company).shares, g.company(other).shares
    size = next_size(g, company)
    assert size is not None
    # The two shares of a 2-share company become one share; other shares become one each.
    per_share = 100 if g.company(company).size == 2 else share_percent(g, company)
    merged: dict[str, int] = {}
    for shares, sym in ((own, company), (others, other)):
        for holder, percent in shares.items():
            to = company if holder == sym else holder
            merged[to] = merged.get(to, 0) + percent * 100 // (per_share * size)
    rest = 100 - sum(merged.values())
    merged[company] = merged.get(company, 0) + rest
    return {h: p for h, p in merged.items() if p}


def refuse_merger(g: Game, company: str, merge: Merge) -> str | None:
    """Why the two companies may not merge, whether or not their presidents agree (1817 §7.1); or None."""
    other = merge.company
    if other == company:
        return f"The {company} cannot merge with itself."
    if not may_convert_or_merge(g, company) or not may_convert_or_merge(g, other):
        which = other if may_convert_or_merge(g, company) else company
        return f"The {which} cannot merge in this round{g.cite('1817 §7.1')}."
    if g.company(other).size != g.company(company).size:
        return f"Only companies with the same number of shares merge{g.cite('1817 §7.1')}."
    if merge.survivor not in (None, company, other):
        return f"What remains is the {company} or the {other}{g.cite('1817 §7.1.2')}."
    shares = merged_shares(g, company, other)
    if g.company(company).size == 2:
        seat = g.president(company)
        if g.president(other) != seat:
            price = g.title.cell(merged_cell(g, company, other)).price
            if price > g.cash(seat):
                cash = f"has ${g.cash(seat):,}"
                name = g.state.name(seat)
                return f"{name} would have to buy a share for ${price:,}, and {cash}{g.cite('1817 §7.1.2')}."
        return None
    size = next_size(g, company)
    assert size is not None
    if not any(is_seat(h) and p >= 200 // size for h, p in shares.items()):
        return f"Nobody would hold enough shares for the president's certificate{g.cite('1817 §7.1.3')}."
    return None


@dataclass(frozen=True)
class MergerConventions:
    """The rules of a merger in which the site differs from the book.

    `keeps_stack_position`: a price token that stays in its space keeps its place in the stack.
    `nearest_presides`: if several players have the most shares and none was president of the initiating
    company, the first to the left of that president presides, and the other company's president has no
    precedence. `closes_before_excess`: the company that goes leaves play before tokens and trains above the
    limits are given up.
    """

    keeps_stack_position: bool = False
    nearest_presides: bool = False
    closes_before_excess: bool = False


BY_THE_BOOK = MergerConventions()


def merge_companies(g: Game, company: str, other: str, survivor: str, conventions: MergerConventions) -> None:
    """Merge two companies; the first has begun it, and `survivor` is one of them (1817 §7.1.2, §7.1.3).

    Of two 5-share companies' presidents the one with more shares presides, the first in a tie. But a player
    who holds more than either controls the company (1817 §1), even without having been president.
    """
    gone = other if survivor == company else company
    first, second = g.president(company), g.president(other)
    cell, shares = merged_cell(g, company, other), merged_shares(g, survivor, gone)
    size, small = next_size(g, company), g.company(company).size == 2
    assert size is not None
    g.emit(SharesRestructured(survivor, size, shares))
    if not (conventions.keeps_stack_position and g.company(survivor).cell == cell):
        g.emit(PriceMoved(survivor, cell, PriceReason.MERGED))
    most = max(p for h, p in shares.items() if is_seat(h))
    other_president = () if conventions.nearest_presides else (second,)
    candidates = (first, *other_president, *g.state.seats_from(first))
    largest = [s for s in candidates if shares.get(s, 0) == most]
    president = first if small else largest[0]
    g.emit(PresidentNamed(survivor, president))
    transfer_assets(g, survivor, gone)
    begin_share_trade(g, survivor, (company, other))
    g.emit(PresidencyVacated(gone))
    g.emit(SharesRestructured(gone, size, {gone: 100}))
    if small and first != second:
        price = g.price(survivor)
        percent = share_percent(g, survivor)
        g.pay(first, survivor, price, CashReason.SHARES, survivor)
        current = g.company(survivor).shares
        moved = {survivor: current[survivor] - percent, first: current[first] + percent}
        g.emit(SharesRestructured(survivor, size, current | moved))
    if not conventions.closes_before_excess:
        ask_for_excess(g, survivor, gone, ShareholderSettlement(gone, 0))
        return
    close_covered_shorts(g, survivor)
    excess = combine_tokens(g, survivor, gone)
    for _ in range(len(g.company(survivor).trains) - g.phase.train_limit):
        g.push(Discard(survivor))
    if excess:
        g.push(ExcessTokens(*excess))
    g.push(ShareholderSettlement(gone, 0))


def merger_deal_handler(conventions: MergerConventions) -> DealHandler:
    """How an accepted offer to merge is judged and carried out."""

    def refusal(g: Game, offer: Offer) -> str | None:
        if not isinstance(g.top, MergerTurn) or g.top.company != offer.source:
            return f"A merger is agreed in the turn of the {offer.source}{g.cite('1817 §7.1')}."
        assert isinstance(offer.deal, Merge)
        return refuse_merger(g, offer.source, offer.deal)

    def apply(g: Game, offer: Offer) -> None:
        assert isinstance(offer.deal, Merge)
        survivor = offer.deal.survivor or offer.source
        merge_companies(g, offer.source, offer.target, survivor, conventions)

    return DealHandler(refusal, apply)
