"""A player's turn of a stock round: sales, one purchase, done (1830 §4, §8, §10, §12).

Sales come before the purchase or after it; whether both, and where the further certificates of
a price in the brown zone may come from, differ between conventions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec

from engine.core.actions import Action, BuyShares, Par, Pass, SellShares
from engine.core.events import Passed, PresidentNamed
from engine.core.hooks import no_reason
from engine.core.state import (
    BANK,
    IPO,
    POOL,
    PriceProtection,
    StockRound,
    StockTurn,
)
from engine.finance.market import refuse_par_price, set_par_price
from engine.finance.offers import lapse_offers
from engine.finance.ownership import (
    SOURCE_LABELS,
    ZONES_WITH_MULTIPLE_PURCHASES,
    certificate_limit,
    companies_over_limit,
    counted_certificates,
    counts_toward_limit,
    market_zones,
    move_shares,
    percent_limit,
    president_share_percent,
    share_percent,
    share_price,
    source_holder,
)
from engine.finance.share_sales import held_companies, refuse_share_sale, sell_shares, sellable_counts
from engine.game import Game
from engine.mechanics import Activity, Option

SHARE_SOURCES = (IPO, POOL)


def purchase_payee(g: Game, company: str, source: str) -> str:
    """Who is paid for shares from there: the bank; the company for those it has reissued."""
    return company if source == IPO and g.company(company).reissued else BANK


@dataclass(frozen=True)
class StockTurnQuestion:
    """Asks a player in his stock turn.

    `sales`: whether they come before the purchase, before it or after it, or both. `extra_from_ipo`:
    further certificates in the brown zone come from the initial offering too. `extra_of_one`: they
    are of the company that was bought first, not of any in that zone. `first_sale_round`: the stock
    round from which sales are allowed. `sources`: where certificates are bought.
    `also`: whether a player with nothing to buy or sell has something else to do in his turn.
    `acts`: what he may do besides. `blocks`: all that he sells of a company goes in one block.
    `barred`: what keeps him from buying, beside the rules for all. `brown_after_private`: a purchase in
    the brown zone may follow that of a private, and ends the sales. `acts_wait`: he is asked where he
    could do nothing but act so. `over_sells_any`: who is over a limit sells before anything else where he
    can sell any share, be it one that does not count.
    """

    also_blocks: Callable[[Game, StockTurn], bool]

    sale_timing: Literal["before", "before or after", "around"] = "before or after"
    sources: tuple[str, ...] = SHARE_SOURCES
    multiple_from_ipo: bool = True
    multiple_of_one_company: bool = False
    first_sale_round: int = 2
    extra_actions: tuple[Activity[StockTurn], ...] = ()
    one_block_per_company: bool = False
    purchase_refusal: Callable[[Game, str, str, int], str | None] = no_reason
    multiple_after_private: bool = False
    extra_actions_block: bool = True
    sell_any_over_limit: bool = False

    def asked(self, g: Game, frame: StockTurn) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: StockTurn) -> str:
        if self.required_sales(g, frame):
            return "to sell down to the limit"
        if frame.bought:
            return "to sell, or be done" if self._may_sell(frame) else "to buy more, or be done"
        if current_stock_round(g).number < self.first_sale_round:
            return "to buy or pass"
        return "to buy, sell, or be done" if frame.sold else "to buy, sell, or pass"

    def advance(self, g: Game, frame: StockTurn) -> bool:
        """Pass over a turn in which nothing (more) can be done and no offer is open."""
        if g.state.offers and frame.for_company is None:
            return False
        fresh = not (frame.bought or frame.sold or frame.for_company)
        if (frame.guaranteed and fresh) or not self.is_idle(g, frame):
            return False
        end_stock_turn(g, frame, unasked=fresh)
        return True

    def is_idle(self, g: Game, frame: StockTurn) -> bool:
        """Whether nothing (more) can be done in the turn."""
        if frame.for_company is not None:
            return True
        return not (
            next(self._sales(g, frame), None)
            or next(self._purchases(g, frame), None)
            or (
                self.extra_actions_block
                and not (frame.bought or frame.sold)
                and next(self._extra_options(g, frame), None)
            )
            or self.also_blocks(g, frame)
        )

    # -- options -----------------------------------------------------------------------

    def options(self, g: Game, frame: StockTurn, seat: str) -> Iterator[Option]:
        yield from self._purchases(g, frame)
        yield from self._sales(g, frame)
        yield from self._extra_options(g, frame)
        if self.refusal(g, frame, seat, Pass()) is None:
            yield Option(Pass(), "Done" if frame.bought or frame.sold else "Pass")

    def _extra_options(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for act in self.extra_actions:
            for option in act.options(g, frame):
                if self.refusal(g, frame, frame.seat, option.action) is None:
                    yield option

    def _purchases(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        if frame.bought and not self._follows_private(frame):
            further = [frame.bought] if self.multiple_of_one_company else list(g.state.companies)
            if not any(_allows_multiple_purchases(g, company) for company in further):
                return
        for company, co in g.state.companies.items():
            if co.par is None:
                for price in g.components.par_prices:
                    if self.refusal(g, frame, frame.seat, par := Par(company, price)) is None:
                        cost = price * president_share_percent(g, company) // share_percent(g, company)
                        yield Option(par, f"Par the {company} at ${price}, for ${cost}")
                continue
            for source in self.sources:
                for count in range(
                    1,
                    g.percent_held(source_holder(company, source), company) // share_percent(g, company) + 1,
                ):
                    buy = BuyShares(company, source, count)
                    if self.refusal(g, frame, frame.seat, buy) is not None:
                        break
                    cost = count * (share_price(g, company, source) or 0)
                    percent = count * share_percent(g, company)
                    yield Option(
                        buy, f"Buy {percent} % of the {company} from {SOURCE_LABELS[source]}, ${cost}"
                    )

    def _sales(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in held_companies(g, frame.seat):
            for count in sellable_counts(g, frame.seat, company):
                if self.refusal(g, frame, frame.seat, sell := SellShares(company, count)) is None:
                    dollars = g.price(company) * count
                    yield Option(
                        sell, f"Sell {count * share_percent(g, company)} % of the {company} for ${dollars}"
                    )

    def required_sales(self, g: Game, frame: StockTurn) -> list[str]:
        """What is above a limit, where any of it can be sold: who cannot sell stays above it (1830 §10)."""
        over = companies_over_limit(g, frame.seat)
        sellable = (o.action for o in self._sales(g, frame)) if over else ()
        if any(
            isinstance(sale, SellShares) and (self.sell_any_over_limit or sale.company in over)
            for sale in sellable
        ):
            return over
        return []

    # -- objections --------------------------------------------------------------------

    def refusal(self, g: Game, frame: StockTurn, seat: str, action: Action) -> str | None:
        if isinstance(action, SellShares):
            return self._refuse_sale(g, frame, action)
        act = next((a for a in self.extra_actions if isinstance(action, a.handles)), None)
        if act is None and not isinstance(action, Pass | BuyShares | Par):
            return f"In a stock round a player buys, sells or passes{g.cite('1830 §4')}."
        if over := self.required_sales(g, frame):
            return f"Sell down to the limit first: {', '.join(over)}{g.cite('1830 §10')}."
        match action:
            case BuyShares(company, source, count):
                return self._refuse_purchase(g, frame, company, source, count)
            case Par(company, price):
                return self._refuse_par(g, frame, company, price)
        return act.refusal(g, frame, action) if act else None

    def _refuse_sale(self, g: Game, frame: StockTurn, sale: SellShares) -> str | None:
        rounds = current_stock_round(g)
        if rounds.number < self.first_sale_round:
            return f"Nothing may be sold in the first stock round{g.cite('1830 §12.1')}."
        if not self._may_sell(frame):
            if self.sale_timing == "before":
                return f"Sales come before the purchase{g.cite('1830 §4')}."
            return f"Sales come before the purchase or after it, not both{g.cite('1830 §4')}."
        if self.one_block_per_company and sale.company in frame.sold:
            return (
                f"All that is sold of the {sale.company} in a turn is sold in one "
                f"block{g.cite('1870 §5.3.3')}."
            )
        if sale.count < 1:
            return "At least one share has to be sold."
        return refuse_share_sale(g, frame.seat, sale.company, sale.count * share_percent(g, sale.company))

    def _may_sell(self, frame: StockTurn) -> bool:
        match self.sale_timing:
            case "before":
                return not frame.bought
            case "around":
                return True
        return not frame.sales_closed

    def _refuse_purchase(
        self, g: Game, frame: StockTurn, company: str, source: str, count: int
    ) -> str | None:
        co, step = g.company(company), share_percent(g, company)
        if source not in self.sources:
            return (
                "Certificates are bought from "
                f"{' or '.join(SOURCE_LABELS[s] for s in self.sources)}{g.cite('1830 §15')}."
            )
        if co.closed:
            return f"The {company} is closed for good."
        if co.par is None:
            return (
                f"The first certificate of the {company} to be bought is the president's: par "
                f"it{g.cite('1830 §8')}."
            )
        if count < 1:
            return "At least one certificate has to be bought."
        if why := self._refuse_multiple(g, frame, company, source, count):
            return why
        if why := self.purchase_refusal(g, company, source, count * step):
            return why
        if (held := g.percent_held(source_holder(company, source), company)) < count * step:
            return f"{SOURCE_LABELS[source].capitalize()} holds {held} % of the {company}."
        cost = (share_price(g, company, source) or 0) * count
        return self._refuse_holding(g, frame.seat, company, count, count * step) or _refuse_cost(
            g, frame.seat, cost
        )

    def _refuse_multiple(
        self, g: Game, frame: StockTurn, company: str, source: str, count: int
    ) -> str | None:
        if company in (*frame.sold, *current_stock_round(g).sold_by_seat.get(frame.seat, ())):
            return f"Who has sold the {company} may not buy it in the same stock round{g.cite('1830 §4')}."
        if not frame.bought and count == 1:
            return None
        if not _allows_multiple_purchases(g, company):
            return (
                "One certificate may be bought in a turn, more only in the brown "
                f"zone{g.cite('1830 §4', '1830 §10')}."
            )
        if (
            self.multiple_of_one_company
            and frame.bought not in (None, company)
            and not self._follows_private(frame)
        ):
            return f"The turn's purchase was of the {frame.bought}{g.cite('1830 §10')}."
        if not self.multiple_from_ipo and (source == IPO or frame.source == IPO):
            return f"Further certificates in the brown zone come from the pool{g.cite('1830 §10')}."
        return None

    def _follows_private(self, frame: StockTurn) -> bool:
        return self.multiple_after_private and frame.bought is not None and frame.source not in (IPO, POOL)

    def _refuse_par(self, g: Game, frame: StockTurn, company: str, price: int) -> str | None:
        if g.company(company).closed:
            return f"The {company} is closed for good."
        if g.company(company).par is not None:
            return f"The {company} has a par price."
        if frame.bought:
            return f"One certificate may be bought in a turn{g.cite('1830 §4')}."
        percent = president_share_percent(g, company)
        if why := refuse_par_price(g, price) or self.purchase_refusal(g, company, IPO, percent):
            return why
        cost = price * percent // share_percent(g, company)
        return self._refuse_holding(g, frame.seat, company, 1, percent) or _refuse_cost(g, frame.seat, cost)

    def _refuse_holding(
        self, g: Game, seat: str, company: str, certificates: int, percent: int
    ) -> str | None:
        limit = percent_limit(g, company)
        if g.percent_held(seat, company) + percent > limit:
            return f"Nobody may hold more than {limit} % of the {company}{g.cite('1830 §10')}."
        room = certificate_limit(g) - counted_certificates(g, seat)
        if counts_toward_limit(g, company) and certificates > room:
            return f"The limit is {certificate_limit(g)} certificates{g.cite('1830 §10', '1830 Table 3')}."
        return None

    # -- effects -----------------------------------------------------------------------

    def apply(self, g: Game, frame: StockTurn, seat: str, action: Action) -> None:
        match action:
            case Pass():
                end_stock_turn(g, frame)
            case SellShares(company, count):
                sell_shares(g, seat, company, count)
                turn = g.top
                assert isinstance(turn, StockTurn)
                g.replace_top(msgspec.structs.replace(turn, sold=(*frame.sold, company)))
            case Par(company, price):
                cost = price * president_share_percent(g, company) // share_percent(g, company)
                set_par_price(g, company, price)
                g.pay(seat, BANK, cost, f"the president's certificate of the {company}")
                g.emit(PresidentNamed(company, seat))
                move_shares(g, company, IPO, seat, president_share_percent(g, company))
                g.replace_top(
                    msgspec.structs.replace(frame, bought=company, source=IPO, sales_closed=bool(frame.sold))
                )
            case BuyShares(company, source, count):
                cost = (share_price(g, company, source) or 0) * count
                holder, percent = source_holder(company, source), count * share_percent(g, company)
                paid = company if holder == company else purchase_payee(g, company, source)
                g.pay(seat, paid, cost, f"{percent} % of the {company}")
                move_shares(g, company, holder, seat, percent)
                g.replace_top(
                    msgspec.structs.replace(
                        frame,
                        bought=company,
                        source=source,
                        sales_closed=bool(frame.sold) or frame.sales_closed or self._follows_private(frame),
                        restricted_cash=frame.restricted_cash + (cost if paid == company else 0),
                    )
                )
            case _:
                next(a for a in self.extra_actions if isinstance(action, a.handles)).apply(g, frame, action)


def _allows_multiple_purchases(g: Game, company: str) -> bool:
    """Whether any number of its certificates may be bought in one turn (1830 §10)."""
    return company in g.state.companies and not ZONES_WITH_MULTIPLE_PURCHASES.isdisjoint(
        market_zones(g, company)
    )


def end_stock_turn(g: Game, frame: StockTurn, formed: str | None = None, *, unasked: bool = False) -> None:
    """Close the turn and tell the round what it was: a deal, a company `formed` in it, or a pass, which
    may be one that he was not asked about."""
    dealt = bool(frame.bought or frame.sold or frame.for_company or frame.acting_company)
    if not dealt:
        g.emit(Passed(frame.seat, "the stock turn"))
    g.pop()
    lapse_offers(g)
    span = current_stock_round(g)
    after = msgspec.structs.replace(
        span,
        current_seat=g.state.left_of(frame.seat),
        consecutive_passes=0 if dealt else span.consecutive_passes + 1,
        last_to_act=frame.seat if dealt else span.last_to_act,
        formed=(*span.formed, formed) if formed else span.formed,
        guaranteed_turns=span.guaranteed_turns if unasked else (),
    )
    if frame.sold:
        mine = (*span.sold_by_seat.get(frame.seat, ()), *frame.sold)
        after = msgspec.structs.replace(after, sold_by_seat=span.sold_by_seat | {frame.seat: mine})
    if frame.restricted_cash and frame.bought:
        held = span.restricted_cash.get(frame.bought, 0) + frame.restricted_cash
        after = msgspec.structs.replace(after, restricted_cash=span.restricted_cash | {frame.bought: held})
    if frame.for_company and frame.company_action == "redeem":
        after = msgspec.structs.replace(after, redeemed=(*span.redeemed, frame.for_company))
    elif frame.for_company:
        after = msgspec.structs.replace(after, reissued=(*span.reissued, frame.for_company))
    g.replace_top(after)
    if frame.pending_sales:
        g.push(PriceProtection(frame.seat, frame.pending_sales))


def _refuse_cost(g: Game, seat: str, cost: int) -> str | None:
    if cost > g.cash(seat):
        return f"That costs ${cost}, and {g.state.name(seat)} has ${g.cash(seat)}."
    return None


def current_stock_round(g: Game) -> StockRound:
    """The stock round that is going on. Raises AssertionError outside one."""
    frame = g.state.stack[0]
    assert isinstance(frame, StockRound)
    return frame
