"""Conversions and mergers, and the share trades and loans that follow them (1817 §7.1, §7.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine.core.actions import (
    Action,
    BuyPostMergerShares,
    Convert,
    Merge,
    OfferCompanyForSale,
    Pass,
    SellPostMergerShares,
    TakeLoans,
)
from engine.core.events import (
    Passed,
    PresidencyVacated,
    PresidentNamed,
    PriceMoved,
    SharesRestructured,
    UnplacedTokensChanged,
)
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import (
    BANK,
    Discard,
    ExcessTokens,
    MergerRound,
    MergerTurn,
    Offer,
    PostMergerLoans,
    PostMergerTrade,
    ShareholderSettlement,
    is_seat,
)
from engine.finance import market
from engine.finance.loans import (
    is_tradable,
    loan_label,
    loans_available,
    put_into_liquidation,
    refuse_loans,
    size_definition,
    take_loans,
    token_cost_label,
)
from engine.finance.offers import DealHandler, lapse_offers, make_offer
from engine.finance.ownership import close_covered_shorts, share_percent
from engine.finance.share_sales import refuse_sale_at_steady_price, sell_at_steady_price
from engine.game import Game
from engine.mechanics import Option
from engine.mergers.acquisition import auction_company, may_be_offered
from engine.mergers.assets import (
    ask_for_excess,
    combine_tokens,
    token_hexes,
    transfer_assets,
)
from engine.stock.short_selling import buy_shares, refuse_buy


def next_size(g: Game, company: str) -> int | None:
    """The number of shares that the company would have after converting or merging."""
    size = g.company(company).size
    larger = [s for s in sorted(g.components.company_sizes) if size is not None and s > size]
    return larger[0] if larger else None


def current_merger_round(g: Game) -> MergerRound:
    """The merger round that is going on. Raises AssertionError outside one."""
    frame = g.state.stack[0]
    assert isinstance(frame, MergerRound)
    return frame


def may_convert_or_merge(g: Game, company: str) -> bool:
    """Whether the company may still convert or merge in this round (1817 §7.1)."""
    merger_round = current_merger_round(g)
    return (
        g.company(company).president is not None
        and is_tradable(g, company)
        and company not in merger_round.converted_or_merged
        and company not in merger_round.in_acquisition
        and next_size(g, company) is not None
    )


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
                cash = f"has ${g.cash(seat)}"
                name = g.state.name(seat)
                return f"{name} would have to buy a share for ${price}, and {cash}{g.cite('1817 §7.1.2')}."
        return None
    size = next_size(g, company)
    assert size is not None
    if not any(is_seat(h) and p >= 200 // size for h, p in shares.items()):
        return f"Nobody would hold enough shares for the president's certificate{g.cite('1817 §7.1.3')}."
    return None


def convert_company(g: Game, company: str) -> None:
    """Convert the company to the next number of shares; the new shares go to its treasury (1817 §7.1.1)."""
    size, old = next_size(g, company), g.company(company)
    assert size is not None and old.size is not None
    shares = {h: p * old.size // size for h, p in old.shares.items()}
    shares[company] = shares.get(company, 0) + 100 - sum(shares.values())
    g.emit(SharesRestructured(company, size, shares))
    begin_share_trade(g, company, (company,), converted=company)


def begin_share_trade(g: Game, company: str, merged: tuple[str, ...], converted: str | None = None) -> None:
    """Begin what follows a conversion or merger: share trades, then loans (1817 §7.1.4).

    `merged`: the companies that may not act again in this round; `converted`: the one that has converted.
    """
    merger_round = current_merger_round(g)
    lapse_offers(g)
    g.pop()
    g.replace_top(
        msgspec.structs.replace(
            merger_round,
            converted_or_merged=(*merger_round.converted_or_merged, *merged),
            willing_presidents=None,
            last_converted=converted,
        )
    )
    g.push(PostMergerLoans(company))
    g.push(PostMergerTrade(company, tuple(g.state.seats_from(g.president(company)))))


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


@dataclass(frozen=True)
class MergerTurnQuestion:
    """Asks a president whether their company converts, merges, or is offered for sale (1817 §7.1, §7.2.3).

    `initiator_survives`: the company whose turn it is survives a merger, as on the site.
    `checks_buyers_once`: whether anybody could buy the company is checked only when its turn begins, not
    again after a bankruptcy in the turn. `conventions`: see there.
    """

    initiator_survives: bool = False
    checks_buyers_once: bool = False
    conventions: MergerConventions = MergerConventions()

    def asked(self, g: Game, frame: MergerTurn) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: MergerTurn) -> str:
        if frame.stage == "offer":
            return f"offer the {frame.company} for sale, or pass"
        return f"convert or merge the {frame.company}, or pass"

    def options(self, g: Game, frame: MergerTurn, seat: str) -> Iterator[Option]:
        if frame.stage == "offer":
            price = g.price(frame.company) * (g.company(frame.company).size or 0)
            yield Option(
                OfferCompanyForSale(frame.company), f"Offer the {frame.company} for sale at ${price} or more"
            )
        else:
            if self.refusal(g, frame, seat, Convert()) is None:
                size = next_size(g, frame.company)
                assert size is not None
                cost = token_cost_label(g, size, tokens_to_buy(g, frame.company, size))
                yield Option(Convert(), f"Convert the {frame.company} to {size} shares{cost}")
            for other in g.operating_order():
                for survivor in (None, other):
                    merger = Merge(other, survivor)
                    if self.refusal(g, frame, seat, merger) is None:
                        same = g.company(other).president == seat
                        consent = "" if same else f", if {g.state.name(g.president(other))} agrees"
                        space = market.space_label(g, merged_cell(g, frame.company, other))
                        result = f"the {survivor or frame.company} survives, {space}"
                        yield Option(merger, f"Merge the {frame.company} with the {other}; {result}{consent}")
        yield Option(Pass(), f"The {frame.company} does nothing")

    def refusal(self, g: Game, frame: MergerTurn, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case OfferCompanyForSale(company) if frame.stage == "offer":
                if company == frame.company:
                    return None
                return f"It is the turn of the {frame.company}{g.cite('1817 §7.2.3')}."
            case Convert() if frame.stage == "convert":
                if not may_convert_or_merge(g, frame.company):
                    return f"The {frame.company} cannot convert in this round{g.cite('1817 §7.1')}."
                return None
            case Merge() if frame.stage == "convert":
                return self._refuse_merge(g, frame.company, seat, action)
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7')}."

    def _refuse_merge(self, g: Game, company: str, seat: str, action: Merge) -> str | None:
        survivor = action.survivor or company
        if self.initiator_survives and survivor != company:
            return f"The {company} survives the merger{g.cite('1817 §7.1.2')}."
        if any(_is_same_merger(o, company, action.company, survivor) for o in g.state.offers):
            return "That merger is already offered."
        return refuse_merger(g, company, action)

    def apply(self, g: Game, frame: MergerTurn, seat: str, action: Action) -> None:
        match action:
            case Convert():
                convert_company(g, frame.company)
            case Merge(other, survivor):
                if g.president(other) == seat:
                    merge_companies(g, frame.company, other, survivor or frame.company, self.conventions)
                else:
                    make_offer(g, seat, g.president(other), action, frame.company, other, 0)
            case OfferCompanyForSale(company):
                merger_round = current_merger_round(g)
                g.pop()
                g.replace_top(msgspec.structs.replace(merger_round, willing_presidents=None))
                auction_company(g, company)
            case _:
                g.emit(Passed(frame.company, "a sale" if frame.stage == "offer" else "growth"))
                g.pop()
                lapse_offers(g)

    def advance(self, g: Game, frame: MergerTurn) -> bool:
        if g.company(frame.company).president is None:
            g.pop()
            return True
        if frame.stage == "offer":
            is_idle = not (self.checks_buyers_once or may_be_offered(g, frame.company))
        else:
            is_idle = not may_convert_or_merge(g, frame.company)
        if is_idle:
            g.pop()
            lapse_offers(g)
        return is_idle


def _is_same_merger(offer: Offer, company: str, other: str, survivor: str) -> bool:
    """Whether an open offer is that merger, the survivor named or not."""
    deal = offer.deal
    if not isinstance(deal, Merge) or (offer.source, deal.company) != (company, other):
        return False
    return (deal.survivor or company) == survivor


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


@dataclass(frozen=True)
class PostMergerTradeQuestion:
    """Asks the president, then every other player once, whether they buy or sell shares (1817 §7.1.4).

    `new_president_continues`: a player who becomes president by a purchase may buy more, and a player who
    could do nothing in their turn is asked again once they can. `asks_together`: the later players are asked
    too, and may pass in advance.
    """

    new_president_continues: bool = False
    asks_together: bool = False

    def asked(self, g: Game, frame: PostMergerTrade) -> tuple[str, ...]:
        later = frame.seats[1:] if self.asks_together else ()
        return (*frame.seats[:1], *(seat for seat in later if self._can_trade(g, frame, seat)))

    def prompt(self, g: Game, frame: PostMergerTrade) -> str:
        verbs = {BuyPostMergerShares: "buy", SellPostMergerShares: "sell"}
        possible = dict.fromkeys(verbs[type(o.action)] for o in self._trades(g, frame, frame.seats[0]))
        several = len(self.asked(g, frame)) > 1
        order = f": {g.state.name(frame.seats[0])} now, the others may pass in advance" if several else ""
        return f"{' or '.join(possible)} shares of the {frame.company}, or pass{order}"

    def options(self, g: Game, frame: PostMergerTrade, seat: str) -> Iterator[Option]:
        if seat == frame.seats[0]:
            yield from self._trades(g, frame, seat)
        yield Option(Pass(), f"No more shares of the {frame.company}")

    def _trades(self, g: Game, frame: PostMergerTrade, seat: str) -> Iterator[Option]:
        company = frame.company
        for count in range(1, max(g.percent_held(company, company), 0) // share_percent(g, company) + 1):
            if self._refuse_trade(g, frame, seat, purchase := BuyPostMergerShares(count)) is None:
                yield Option(
                    purchase,
                    f"Buy {count * share_percent(g, company)} % of the {company} "
                    f"for ${count * g.price(company)}",
                )
        for count in range(1, max(g.percent_held(seat, company), 0) // share_percent(g, company) + 1):
            if self._refuse_trade(g, frame, seat, sale := SellPostMergerShares(count)) is None:
                yield Option(
                    sale,
                    f"Sell {count * share_percent(g, company)} % of the {company} "
                    f"for ${count * g.price(company)}",
                )

    def refusal(self, g: Game, frame: PostMergerTrade, seat: str, action: Action) -> str | None:
        if isinstance(action, Pass):
            return None
        if seat != frame.seats[0]:
            first = f"{g.state.name(frame.seats[0])} acts first"
            return f"{first}; you may only pass in advance{g.cite('1817 §7.1.4')}."
        return self._refuse_trade(g, frame, seat, action)

    def _refuse_trade(self, g: Game, frame: PostMergerTrade, seat: str, action: Action) -> str | None:
        """Why the player could not do that in their turn, or None."""
        company = frame.company
        presides = g.company(company).president == seat
        match action:
            case BuyPostMergerShares(count):
                if count != 1 and not presides:
                    return f"Only the president may buy more than one share{g.cite('1817 §7.1.4')}."
                return refuse_buy(g, seat, company, company, count)
            case SellPostMergerShares(count):
                if presides:
                    return f"The president may not sell shares now{g.cite('1817 §7.1.4')}."
                return refuse_sale_at_steady_price(g, seat, company, count)
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7.1.4')}."

    def apply(self, g: Game, frame: PostMergerTrade, seat: str, action: Action) -> None:
        company = frame.company
        presides = g.company(company).president == seat
        match action:
            case BuyPostMergerShares(count):
                buy_shares(g, seat, company, company, count)
                is_new_president = self.new_president_continues and g.company(company).president == seat
                if presides or is_new_president:
                    g.replace_top(msgspec.structs.replace(frame, acted=True))
                    return
            case SellPostMergerShares(count):
                sell_at_steady_price(g, seat, company, count)
            case _:
                g.emit(Passed(seat, f"shares of the {company}"))
        g.replace_top(PostMergerTrade(company, tuple(s for s in frame.seats if s != seat)))

    def advance(self, g: Game, frame: PostMergerTrade) -> bool:
        if not frame.seats or not is_tradable(g, frame.company):
            g.pop()
            return True
        seat, others = frame.seats[0], frame.seats[1:]
        if self._can_trade(g, frame, seat):
            return False
        asked_again = self.new_president_continues and any(self._can_trade(g, frame, s) for s in others)
        g.replace_top(PostMergerTrade(frame.company, (*others, seat) if asked_again else others))
        return True

    def _can_trade(self, g: Game, frame: PostMergerTrade, seat: str) -> bool:
        return seat in g.state.active_seats and next(self._trades(g, frame, seat), None) is not None


def tokens_to_buy(g: Game, company: str, size: int) -> int:
    """How many tokens a company buys when it converts to that number of shares, up to eight (1817 §7.1.1)."""
    sizes = sorted(g.components.company_sizes)
    before = g.components.company_sizes[sizes[sizes.index(size) - 1]]
    additional = g.components.company_sizes[size].stations - before.stations
    owned = len(token_hexes(g, company)) + g.company(company).unplaced_tokens
    return max(min(additional, g.components.max_stations - owned), 0)


@dataclass(frozen=True)
class PostMergerLoansQuestion:
    """Asks for loans after a conversion or merger; then a converted company buys its tokens (1817 §7.1.1).

    The president need not take loans, even if the company goes into liquidation without them.
    """

    def asked(self, g: Game, frame: PostMergerLoans) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: PostMergerLoans) -> str:
        size = g.company(frame.company).size
        assert size is not None
        cash = f"it has ${g.cash(frame.company)}{token_cost_label(g, size, self._tokens_to_buy(g, frame))}"
        return f"take loans for the {frame.company}, or pass ({cash})"

    @staticmethod
    def _tokens_to_buy(g: Game, frame: PostMergerLoans) -> int:
        """How many tokens the company has to buy after the loans."""
        size = g.company(frame.company).size
        if current_merger_round(g).last_converted != frame.company or size is None:
            return 0
        return tokens_to_buy(g, frame.company, size)

    def options(self, g: Game, frame: PostMergerLoans, seat: str) -> Iterator[Option]:
        for count in range(1, loans_available(g, frame.company) + 1):
            yield Option(TakeLoans(count), loan_label(g, frame.company, count))
        yield Option(Pass(), "No more loans")

    def refusal(self, g: Game, frame: PostMergerLoans, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case TakeLoans(count):
                return refuse_loans(g, frame.company, count)
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7.1')}."

    def apply(self, g: Game, frame: PostMergerLoans, seat: str, action: Action) -> None:
        if isinstance(action, TakeLoans):
            take_loans(g, frame.company, action.count)
        else:
            self._finish(g, frame)

    def advance(self, g: Game, frame: PostMergerLoans) -> bool:
        if g.company(frame.company).president is not None and loans_available(g, frame.company):
            return False
        self._finish(g, frame)
        return True

    def _finish(self, g: Game, frame: PostMergerLoans) -> None:
        company = frame.company
        g.pop()
        count = self._tokens_to_buy(g, frame)
        cost = count * size_definition(g, company).station_cost
        if cost > g.cash(company):
            put_into_liquidation(g, company, PriceReason.TOKENS_UNPAID)
        elif count:
            g.pay(company, BANK, cost, CashReason.TOKENS)
            g.emit(UnplacedTokensChanged(company, count))
