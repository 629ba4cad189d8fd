"""Conversions and mergers, and the share deals and loans that follow them (1817 §7.1, §7.3)."""

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
    """Whether the company may still convert or merge in this round (§7.1)."""
    span = current_merger_round(g)
    return (
        g.company(company).president is not None
        and is_tradable(g, company)
        and company not in span.converted_or_merged
        and company not in span.in_acquisition
        and next_size(g, company) is not None
    )


def highest_cell_up_to(g: Game, dollars: int) -> tuple[int, int]:
    """The space of the highest price that is not above so many dollars."""
    cells = [
        (cell.price, (r, c))
        for r, row in enumerate(g.components.market.rows)
        for c, cell in enumerate(row)
        if cell is not None and 0 < cell.price <= dollars
    ]
    return max(cells)[1]


def merged_cell(g: Game, company: str, other: str) -> tuple[int, int]:
    """Where the token of two companies that merge comes to: the sum of two prices where two shares
    become one, their average otherwise (§7.1.2, §7.1.3)."""
    total = g.price(company) + g.price(other)
    return highest_cell_up_to(g, total if g.company(company).size == 2 else total // 2)


def merged_shares(g: Game, company: str, other: str) -> dict[str, int]:
    """Percent by holder after a merger; the treasuries are the company's that is named first."""
    mine, theirs = g.company(company).shares, g.company(other).shares
    size = next_size(g, company)
    assert size is not None
    # The two shares of a 2-share company become one, others one each.
    per_share = 100 if g.company(company).size == 2 else share_percent(g, company)
    found: dict[str, int] = {}
    for shares, sym in ((mine, company), (theirs, other)):
        for holder, percent in shares.items():
            to = company if holder == sym else holder
            found[to] = found.get(to, 0) + percent * 100 // (per_share * size)
    rest = 100 - sum(found.values())
    found[company] = found.get(company, 0) + rest
    return {h: p for h, p in found.items() if p}


def refuse_merger(g: Game, company: str, merge: Merge, *, least_holder: bool = True) -> str | None:
    """Why the company may not merge with that one, whatever its president thinks; or None (§7.1)."""
    other = merge.company
    if other == company:
        return f"The {company} cannot merge with itself."
    if not may_convert_or_merge(g, company) or not may_convert_or_merge(g, other):
        which = other if may_convert_or_merge(g, company) else company
        return f"The {which} cannot merge in this round (§7.1)."
    if g.company(other).size != g.company(company).size:
        return "Only companies with the same number of shares merge (§7.1)."
    if merge.survivor not in (None, company, other):
        return f"What remains is the {company} or the {other} (§7.1.2)."
    shares = merged_shares(g, company, other)
    if g.company(company).size == 2:
        seat = g.president(company)
        if g.president(other) != seat:
            price = g.title.cell(merged_cell(g, company, other)).price
            if price > g.cash(seat):
                who = g.state.name(seat)
                return f"{who} would have to buy a share for ${price}, and has ${g.cash(seat)} (§7.1.2)."
        return None
    size = next_size(g, company)
    assert size is not None
    if not any(is_seat(h) and p >= 200 // size for h, p in shares.items()):
        return "Nobody would hold enough for the president's certificate (§7.1.3)."
    return None


def convert_company(g: Game, company: str) -> None:
    """Give the company more shares: each is a smaller part of it, the new ones are its own (§7.1.1)."""
    size, old = next_size(g, company), g.company(company)
    assert size is not None and old.size is not None
    ratio = {h: p * old.size // size for h, p in old.shares.items()}
    ratio[company] = ratio.get(company, 0) + 100 - sum(ratio.values())
    g.emit(SharesRestructured(company, size, ratio))
    begin_share_trade(g, company, (company,), converted=company)


def begin_share_trade(g: Game, company: str, merged: tuple[str, ...], converted: str | None = None) -> None:
    """What follows a conversion or merger: share deals, then loans (§7.1.4)."""
    span = current_merger_round(g)
    lapse_offers(g)
    g.pop()
    g.replace_top(
        msgspec.structs.replace(
            span,
            converted_or_merged=(*span.converted_or_merged, *merged),
            willing_presidents=None,
            last_converted=converted,
        )
    )
    g.push(PostMergerLoans(company))
    g.push(PostMergerTrade(company, tuple(g.state.seats_from(g.president(company)))))


@dataclass(frozen=True)
class MergerConventions:
    """How two companies become one.

    `stays`: a token that comes to the space in which it stands keeps its place there, as on the site.
    `nearest`: of several with the most shares, of whom none has presided over what remains, it is the first
    at the left of who has; not the president of what goes. `closes_first`: what goes is out of play before
    markers and trains above the limits are given up.
    """

    keeps_stack_position: bool = False
    nearest_presides: bool = False
    closes_before_excess: bool = False


def merge_companies(g: Game, company: str, other: str, survivor: str, fusion: MergerConventions) -> None:
    """Merge two companies, begun by the first; one of them survives (§7.1.2, §7.1.3).

    Of two with five shares the president with more presides, the first of them where they have as many;
    but who holds more than either controls the company (§1), though he has presided over neither.
    """
    gone = other if survivor == company else company
    first, second = g.president(company), g.president(other)
    cell, shares = merged_cell(g, company, other), merged_shares(g, survivor, gone)
    size, small = next_size(g, company), g.company(company).size == 2
    assert size is not None
    g.emit(SharesRestructured(survivor, size, shares))
    if not (fusion.keeps_stack_position and g.company(survivor).cell == cell):
        g.emit(PriceMoved(survivor, cell, PriceReason.MERGED))
    best = max(p for h, p in shares.items() if is_seat(h))
    next_best = () if fusion.nearest_presides else (second,)
    largest = [s for s in (first, *next_best, *g.state.seats_from(first)) if shares.get(s, 0) == best]
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
        holdings = g.company(survivor).shares
        moved = {survivor: holdings[survivor] - percent, first: holdings[first] + percent}
        g.emit(SharesRestructured(survivor, size, holdings | moved))
    if not fusion.closes_before_excess:
        ask_for_excess(g, survivor, gone, and_then=ShareholderSettlement(gone, 0))
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
    """Asks a president whether his company converts, merges, or is offered for sale.

    `initiator_survives`: of two that merge the one whose turn it is remains, as on the site. `looks_once`:
    whether anybody could buy it is looked at as its turn begins, not again after a bankruptcy in it.
    """

    initiator_survives: bool = False
    checks_buyers_once: bool = False
    conventions: MergerConventions = MergerConventions()

    def asked(self, g: Game, frame: MergerTurn) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: MergerTurn) -> str:
        if frame.stage == "offer":
            return f"to offer the {frame.company} for sale, or to pass"
        return f"to convert or merge the {frame.company}, or to pass"

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
                    said = Merge(other, survivor)
                    if self.refusal(g, frame, seat, said) is None:
                        mine = g.company(other).president == seat
                        consent = "" if mine else f", if {g.state.name(g.president(other))} agrees"
                        at = market.space_label(g, merged_cell(g, frame.company, other))
                        stays = f"the {survivor or frame.company} remains, {at}"
                        yield Option(said, f"Merge the {frame.company} with the {other}; {stays}{consent}")
        yield Option(Pass(), f"The {frame.company} does nothing")

    def refusal(self, g: Game, frame: MergerTurn, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case OfferCompanyForSale(company) if frame.stage == "offer":
                return (
                    None if company == frame.company else f"It is the turn of the {frame.company} (§7.2.3)."
                )
            case Convert() if frame.stage == "convert":
                if not may_convert_or_merge(g, frame.company):
                    return f"The {frame.company} cannot convert in this round (§7.1)."
                return None
            case Merge() if frame.stage == "convert":
                return self._refuse_merge(g, frame.company, seat, action)
        what = "offer it for sale" if frame.stage == "offer" else "convert or merge it"
        return f"It is the turn of the {frame.company}: {what}, or pass (§7)."

    def _refuse_merge(self, g: Game, company: str, seat: str, action: Merge) -> str | None:
        if action.survivor == company:
            return f"The {company} remains where nothing else is said: merge {action.company} (§7.1.2)."
        if self.initiator_survives and action.survivor is not None:
            return f"The {company} remains (§7.1.2)."
        if any(o.deal == action and o.source == company for o in g.state.offers):
            return "That is offered."
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
                span = current_merger_round(g)
                g.pop()
                g.replace_top(msgspec.structs.replace(span, willing_presidents=None))
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
            idle = not (self.checks_buyers_once or may_be_offered(g, frame.company))
        else:
            idle = not may_convert_or_merge(g, frame.company)
        if idle:
            g.pop()
            lapse_offers(g)
        return idle


def merger_deal(fusion: MergerConventions) -> DealHandler:
    """How an offer to merge is judged and carried out on acceptance."""

    def refuse(g: Game, offer: Offer) -> str | None:
        if not isinstance(g.top, MergerTurn) or g.top.company != offer.source:
            return f"A merger is agreed in the turn of the {offer.source} (§7.1)."
        assert isinstance(offer.deal, Merge)
        return refuse_merger(g, offer.source, offer.deal)

    def take(g: Game, offer: Offer) -> None:
        assert isinstance(offer.deal, Merge)
        merge_companies(g, offer.source, offer.target, offer.deal.survivor or offer.source, fusion)

    return DealHandler(refuse, take)


@dataclass(frozen=True)
class ShareTradeQuestion:
    """Asks the president, then every other player once, for share deals (§7.1.4).

    `new_president_goes_on`: who becomes president by his purchase may buy more, and who could do nothing
    when his turn came is asked once he can. `together`: those whose turn is still to come are asked too,
    and may pass beforehand.
    """

    new_president_continues: bool = False
    asks_together: bool = False

    def asked(self, g: Game, frame: PostMergerTrade) -> tuple[str, ...]:
        later = frame.seats[1:] if self.asks_together else ()
        return (*frame.seats[:1], *(seat for seat in later if self._can_trade(g, frame, seat)))

    def prompt(self, g: Game, frame: PostMergerTrade) -> str:
        ways = {BuyPostMergerShares: "buy", SellPostMergerShares: "sell"}
        able = dict.fromkeys(ways[type(o.action)] for o in self._trades(g, frame, frame.seats[0]))
        several = len(self.asked(g, frame)) > 1
        order = f": {g.state.name(frame.seats[0])} now, the others may pass beforehand" if several else ""
        return f"to {' or '.join(able)} shares of the {frame.company}, or to pass{order}"

    def options(self, g: Game, frame: PostMergerTrade, seat: str) -> Iterator[Option]:
        if seat == frame.seats[0]:
            yield from self._trades(g, frame, seat)
        yield Option(Pass(), f"No more of the {frame.company}")

    def _trades(self, g: Game, frame: PostMergerTrade, seat: str) -> Iterator[Option]:
        company = frame.company
        for count in range(1, max(g.percent_held(company, company), 0) // share_percent(g, company) + 1):
            if self._refuse_trade(g, frame, seat, said := BuyPostMergerShares(count)) is None:
                yield Option(
                    said,
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
            return f"It is the turn of {g.state.name(frame.seats[0])}; beforehand you may pass (§7.1.4)."
        return self._refuse_trade(g, frame, seat, action)

    def _refuse_trade(self, g: Game, frame: PostMergerTrade, seat: str, action: Action) -> str | None:
        """Why the player could not do that in his turn, or None."""
        company = frame.company
        presides = g.company(company).president == seat
        match action:
            case BuyPostMergerShares(count):
                if count != 1 and not presides:
                    return "Who is not president buys one share (§7.1.4)."
                return refuse_buy(g, seat, company, company, count)
            case SellPostMergerShares(count):
                if presides:
                    return "The president does not sell now (§7.1.4)."
                return refuse_sale_at_steady_price(g, seat, company, count)
        return f"Shares of the {company} are bought and sold now (§7.1.4)."

    def apply(self, g: Game, frame: PostMergerTrade, seat: str, action: Action) -> None:
        company = frame.company
        presides = g.company(company).president == seat
        match action:
            case BuyPostMergerShares(count):
                buy_shares(g, seat, company, company, count)
                goes_on = presides or (self.new_president_continues and g.company(company).president == seat)
                if goes_on:
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
        waits = self.new_president_continues and any(self._can_trade(g, frame, other) for other in others)
        g.replace_top(PostMergerTrade(frame.company, (*others, seat) if waits else others))
        return True

    def _can_trade(self, g: Game, frame: PostMergerTrade, seat: str) -> bool:
        return seat in g.state.active_seats and next(self._trades(g, frame, seat), None) is not None


def tokens_to_buy(g: Game, company: str, size: int) -> int:
    """How many markers a company has to buy that converts to so many shares: as many as go up to eight
    (§7.1.1)."""
    sizes = sorted(g.components.company_sizes)
    before = g.components.company_sizes[sizes[sizes.index(size) - 1]]
    wanted = g.components.company_sizes[size].stations - before.stations
    have = len(token_hexes(g, company)) + g.company(company).unplaced_tokens
    return max(min(wanted, g.components.max_stations - have), 0)


@dataclass(frozen=True)
class BorrowingQuestion:
    """Loans after a conversion or merger; then a company that has converted buys its markers (§7.1.1).

    Its president need not take loans, also where it is liquidated without them: they are his choice.
    """

    def asked(self, g: Game, frame: PostMergerLoans) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: PostMergerLoans) -> str:
        size = g.company(frame.company).size
        assert size is not None
        has = f"it has ${g.cash(frame.company)}{token_cost_label(g, size, self._tokens_to_buy(g, frame))}"
        return f"to take loans for the {frame.company}, or be done ({has})"

    @staticmethod
    def _tokens_to_buy(g: Game, frame: PostMergerLoans) -> int:
        """How many markers the company has to buy in the end."""
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
        return f"The {frame.company} may take loans now, or is done (§7.1)."

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
