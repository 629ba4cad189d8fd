"""A player's turn of a stock round: sales and one purchase (1830 §4, §8, §10, §12).

Sales come before the purchase or after it. Whether they may come before and after it, and where further
certificates of a company in the brown zone are bought, differs between conventions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import msgspec

from engine.core.actions import Action, BuyShares, Par, Pass, SellShares
from engine.core.events import Passed, PresidentNamed
from engine.core.reasons import CashReason
from engine.core.state import BANK, IPO, POOL, PriceProtection, StockRound, StockTurn
from engine.finance.market import refuse_par_price, set_par_price
from engine.finance.offers import answerable_offers, lapse_offers
from engine.finance.ownership import (
    SOURCE_LABELS,
    ZONES_WITH_MULTIPLE_PURCHASES,
    certificate_limit,
    certificate_room,
    companies_over_limit,
    counts_toward_limit,
    excess_text,
    market_zones,
    move_shares,
    percent_limit,
    president_share_percent,
    share_percent,
    share_price,
    source_holder,
    too_few_shares,
)
from engine.finance.share_sales import (
    held_companies,
    refuse_share_sale,
    sale_option,
    sell_shares,
    sellable_counts,
)
from engine.game import Game
from engine.mechanics import A_contra, Activity, Option, no_reason

SHARE_SOURCES = (IPO, POOL)


def purchase_payee(g: Game, company: str, source: str) -> str:
    """Who is paid for shares from the pool or the initial offering: the bank, or the company that has
    reissued them."""
    return company if source == IPO and g.company(company).reissued else BANK


class ExtraAction(Activity[Game, StockTurn, A_contra], Protocol[A_contra]):
    """What a player may do in a stock turn besides trading in shares. way: in words, `buy a private`."""

    way: ClassVar[str]


@dataclass(frozen=True)
class StockTurnQuestion:
    """Asks a player what they do in their stock turn.

    `also_blocks`: whether a player who cannot buy or sell has something else to do in the turn.
    `sale_timing`: sales come before the purchase, before or after it, or before and after it ("around").
    `sources`: where certificates are bought. `multiple_from_ipo`: further certificates in the brown zone may
    come from the initial offering too. `multiple_of_one_company`: they are of the company that was bought
    first, not of any company in that zone. `first_sale_round`: the first stock round with sales.
    `extra_actions`: what players may do besides trading in shares. `one_block_per_company`: all shares of a
    company that a player sells in a turn are sold in one block. `purchase_refusal`: a title's own objection
    to a purchase. `multiple_after_private`: a purchase in the brown zone may follow that of a private.
    `extra_actions_block`: a player is asked even if an extra action is all that they can do.
    `extra_actions_over_limit`: a player above a limit may take an extra action before they sell down to it.
    `sell_any_over_limit`: a player above a limit sells before anything else if they can sell any share, even
    one that does not count. `sells_at_first_price`: all that a player sells of one company in a turn brings
    the price before the first of these sales. `holds_back_reissue_money`: a company cannot spend what it
    receives for reissued shares before the stock round is over (1870 §5.10.7). `follows_file`: a player with
    a guaranteed turn is asked even if they can do nothing in it, as in the files of 18xx.games.
    """

    also_blocks: Callable[[Game, StockTurn], bool]

    sale_timing: Literal["before", "before or after", "around"] = "before or after"
    sources: tuple[str, ...] = SHARE_SOURCES
    multiple_from_ipo: bool = True
    multiple_of_one_company: bool = False
    first_sale_round: int = 2
    extra_actions: tuple[ExtraAction[Any], ...] = ()
    one_block_per_company: bool = False
    purchase_refusal: Callable[[Game, str, str, int], str | None] = no_reason
    multiple_after_private: bool = False
    extra_actions_block: bool = True
    extra_actions_over_limit: bool = False
    sell_any_over_limit: bool = False
    sells_at_first_price: bool = False
    holds_back_reissue_money: bool = True
    follows_file: bool = False

    def asked(self, g: Game, frame: StockTurn) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: StockTurn) -> str:
        if self.required_sales(g, frame):
            return "sell down to the limit"
        ways = [*self._ways(g, frame)]
        return or_pass(g, frame, ways or ["trade a private"] * self.also_blocks(g, frame))

    def _ways(self, g: Game, frame: StockTurn) -> Iterator[str]:
        """What the player may do, in words; of each kind only the first option is looked for."""
        if next(self._sales(g, frame), None):
            yield "sell"
        if next(self._purchases(g, frame, of_started=True), None):
            yield "buy more" if frame.bought else "buy"
        if next(self._purchases(g, frame, of_started=False), None):
            yield "par a company"
        yield from (act.way for act in self.extra_actions if next(self._options_of(act, g, frame), None))

    def advance(self, g: Game, frame: StockTurn) -> bool:
        """End a turn in which nothing more can be done, unless an offer can still be accepted."""
        if frame.for_company is None and answerable_offers(g):
            return False
        fresh = not (frame.bought or frame.sold or frame.for_company)
        guaranteed = frame.guaranteed and fresh
        if (guaranteed and self.follows_file) or not self.is_idle(g, frame):
            return False
        end_stock_turn(g, frame, unasked=fresh and not guaranteed)
        return True

    def is_idle(self, g: Game, frame: StockTurn) -> bool:
        """Whether nothing more can be done in the turn."""
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
            yield from self._options_of(act, g, frame)

    def _options_of(self, act: ExtraAction[Any], g: Game, frame: StockTurn) -> Iterator[Option]:
        for option in act.options(g, frame):
            if self.refusal(g, frame, frame.seat, option.action) is None:
                yield option

    def _purchases(self, g: Game, frame: StockTurn, *, of_started: bool | None = None) -> Iterator[Option]:
        """Pars and purchases of shares. of_started: only of companies that have a par price, or have none."""
        if frame.bought and not self._follows_private(frame):
            further = [frame.bought] if self.multiple_of_one_company else list(g.state.companies)
            if not any(_allows_multiple_purchases(g, company) for company in further):
                return
        for company, co in g.state.companies.items():
            if of_started is not None and of_started != (co.par is not None):
                continue
            if co.par is None:
                for price in sorted(g.components.par_prices):
                    if self.refusal(g, frame, frame.seat, par := Par(company, price)) is not None:
                        break  # a higher one costs more
                    cost = price * president_share_percent(g, company) // share_percent(g, company)
                    yield Option(par, f"Par the {company} at ${price:,}, for ${cost:,}")
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
                        buy, f"Buy {percent} % of the {company} from {SOURCE_LABELS[source]}, ${cost:,}"
                    )

    def _sales(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in held_companies(g, frame.seat):
            for count in sellable_counts(g, frame.seat, company):
                if self.refusal(g, frame, frame.seat, SellShares(company, count)) is None:
                    yield sale_option(g, company, count, _sale_price(g, frame, company))

    def required_sales(self, g: Game, frame: StockTurn) -> list[str]:
        """Companies above a limit of which the player has to sell shares first; none if they can sell none
        of those (1830 §10)."""
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
        if act and self.extra_actions_over_limit:
            return act.refusal(g, frame, action)
        if self.required_sales(g, frame):
            return f"Sell down to the limit first: {excess_text(g, frame.seat)}{g.cite('1830 §10')}."
        match action:
            case BuyShares(company, source, count):
                return self._refuse_purchase(g, frame, company, source, count)
            case Par(company, price):
                return self._refuse_par(g, frame, company, price)
        return act.refusal(g, frame, action) if act else None

    def _are_sales_open(self, g: Game) -> bool:
        round = current_stock_round(g)
        return round.number >= self.first_sale_round or not round.is_first

    def _refuse_sale(self, g: Game, frame: StockTurn, sale: SellShares) -> str | None:
        if not self._are_sales_open(g):
            return f"Nothing may be sold in the first stock round{g.cite('1830 §12.1')}."
        if not self._may_sell(frame):
            if self.sale_timing == "before":
                return f"Sales come before the purchase{g.cite('1830 §4')}."
            return f"Sales come before the purchase or after it, not both{g.cite('1830 §4')}."
        if self.one_block_per_company and sale.company in frame.sold:
            block = f"All shares of the {sale.company} that a player sells in a turn are sold in one block"
            return f"{block}{g.cite('1870 §5.3.3')}."
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
            first = f"The president's certificate of the {company} is bought first, at a par price"
            return f"{first}{g.cite('1830 §8')}."
        if count < 1:
            return "At least one certificate has to be bought."
        if why := self._refuse_multiple(g, frame, company, source, count):
            return why
        if why := self.purchase_refusal(g, company, source, count * step):
            return why
        if (held := g.percent_held(source_holder(company, source), company)) < count * step:
            return f"{too_few_shares(SOURCE_LABELS[source].capitalize(), held, company)}."
        cost = (share_price(g, company, source) or 0) * count
        return self._refuse_holding(g, frame.seat, company, count, count * step) or _refuse_cost(
            g, frame.seat, cost
        )

    def _refuse_multiple(
        self, g: Game, frame: StockTurn, company: str, source: str, count: int
    ) -> str | None:
        if company in (*frame.sold, *current_stock_round(g).sold_by_seat.get(frame.seat, ())):
            who = f"{g.state.name(frame.seat)} has sold shares of the {company} in this stock round"
            return f"{who} and may not buy any{g.cite('1830 §4')}."
        if not frame.bought and count == 1:
            return None
        if not _allows_multiple_purchases(g, company):
            brown = "One certificate may be bought in a turn, more only of companies in the brown zone"
            return f"{brown}{g.cite('1830 §4', '1830 §10')}."
        if (
            self.multiple_of_one_company
            and frame.bought not in (None, company)
            and not self._follows_private(frame)
        ):
            return f"Only shares of the {frame.bought} may be added in this turn{g.cite('1830 §10')}."
        if not self.multiple_from_ipo and (source == IPO or frame.source == IPO):
            return f"Further certificates in the brown zone come from the pool{g.cite('1830 §10')}."
        return None

    def _follows_private(self, frame: StockTurn) -> bool:
        return self.multiple_after_private and frame.bought is not None and frame.source not in (IPO, POOL)

    def _refuse_par(self, g: Game, frame: StockTurn, company: str, price: int) -> str | None:
        if g.company(company).closed:
            return f"The {company} is closed for good."
        if g.company(company).par is not None:
            return f"The {company} already has a par price."
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
        if counts_toward_limit(g, company) and certificates > certificate_room(g, seat):
            return f"The limit is {certificate_limit(g)} certificates{g.cite('1830 §10', '1830 Table 3')}."
        return None

    # -- effects -----------------------------------------------------------------------

    def apply(self, g: Game, frame: StockTurn, seat: str, action: Action) -> None:
        match action:
            case Pass():
                end_stock_turn(g, frame)
            case SellShares(company, count):
                price = _sale_price(g, frame, company)
                sell_shares(g, seat, company, count, price)
                turn = g.top
                assert isinstance(turn, StockTurn)
                prices = {**turn.sale_prices, company: price} if self.sells_at_first_price else {}
                g.change_top(turn, sold=(*frame.sold, company), sale_prices=prices)
            case Par(company, price):
                cost = price * president_share_percent(g, company) // share_percent(g, company)
                set_par_price(g, company, price)
                g.pay(seat, BANK, cost, CashReason.PRESIDENT_CERTIFICATE, company)
                g.emit(PresidentNamed(company, seat))
                move_shares(g, company, IPO, seat, president_share_percent(g, company))
                g.change_top(frame, bought=company, source=IPO, sales_closed=bool(frame.sold))
            case BuyShares(company, source, count):
                cost = (share_price(g, company, source) or 0) * count
                holder, percent = source_holder(company, source), count * share_percent(g, company)
                paid = company if holder == company else purchase_payee(g, company, source)
                g.pay(seat, paid, cost, CashReason.SHARES, company)
                move_shares(g, company, holder, seat, percent)
                held_back = cost if paid == company and self.holds_back_reissue_money else 0
                g.change_top(
                    frame,
                    bought=company,
                    source=source,
                    sales_closed=closes_sales(frame),
                    restricted_cash=frame.restricted_cash + held_back,
                )
            case _:
                next(a for a in self.extra_actions if isinstance(action, a.handles)).apply(g, frame, action)


def _sale_price(g: Game, frame: StockTurn, company: str) -> int:
    """Dollars that a share of the company brings in this turn."""
    return frame.sale_prices.get(company, g.price(company))


def closes_sales(frame: StockTurn) -> bool:
    """Whether a purchase of shares ends the sales of a turn that sells before or after its purchase.

    It does if it is the turn's second kind of action: a sale, a private, or shares. After all three a player
    may sell again.
    """
    return bool(frame.sold) != frame.private_bought


def _allows_multiple_purchases(g: Game, company: str) -> bool:
    """Whether several certificates of the company may be bought in one turn (1830 §10)."""
    return company in g.state.companies and not ZONES_WITH_MULTIPLE_PURCHASES.isdisjoint(
        market_zones(g, company)
    )


def or_pass(g: Game, frame: StockTurn, ways: Iterable[str]) -> str:
    """What a player may do, and whether the round is over if they do nothing: `sell, buy, or pass (which ends
    the round)`."""
    passed = current_stock_round(g).consecutive_passes + 1 == len(g.state.active_seats)
    acted = frame.bought or frame.sold or frame.sold_short or frame.for_company or frame.acting_company
    found = [f"{way}, " for way in ways]
    end = " (which ends the round)" if passed and not acted else ""
    return f"{''.join(found)}{'or ' if found else ''}pass{end}"


def end_stock_turn(g: Game, frame: StockTurn, formed: str | None = None, *, unasked: bool = False) -> None:
    """End the turn and record it in the stock round. A player who has done nothing has passed.

    `formed`: a company that was started in the turn. `unasked`: the player was not asked anything.
    """
    acted = bool(frame.bought or frame.sold or frame.for_company or frame.acting_company)
    if not acted:
        g.emit(Passed(frame.seat, "the stock turn"))
    g.pop()
    lapse_offers(g)
    stock_round = current_stock_round(g)
    after = msgspec.structs.replace(
        stock_round,
        current_seat=g.state.left_of(frame.seat),
        consecutive_passes=0 if acted else stock_round.consecutive_passes + 1,
        last_to_act=frame.seat if acted else stock_round.last_to_act,
        formed=(*stock_round.formed, formed) if formed else stock_round.formed,
        guaranteed_turns=stock_round.guaranteed_turns if unasked else (),
    )
    if frame.sold:
        sold = (*stock_round.sold_by_seat.get(frame.seat, ()), *frame.sold)
        after = msgspec.structs.replace(after, sold_by_seat=stock_round.sold_by_seat | {frame.seat: sold})
    if frame.restricted_cash and frame.bought:
        held = stock_round.restricted_cash.get(frame.bought, 0) + frame.restricted_cash
        after = msgspec.structs.replace(
            after, restricted_cash=stock_round.restricted_cash | {frame.bought: held}
        )
    if frame.for_company and frame.company_action == "redeem":
        after = msgspec.structs.replace(after, redeemed=(*stock_round.redeemed, frame.for_company))
    elif frame.for_company:
        after = msgspec.structs.replace(after, reissued=(*stock_round.reissued, frame.for_company))
    g.replace_top(after)
    if frame.pending_sales:
        g.push(PriceProtection(frame.seat, frame.pending_sales))


def _refuse_cost(g: Game, seat: str, cost: int) -> str | None:
    if cost > g.cash(seat):
        return f"That costs ${cost:,}, and {g.state.name(seat)} has ${g.cash(seat):,}."
    return None


def current_stock_round(g: Game) -> StockRound:
    """The current stock round. Raises AssertionError outside stock rounds."""
    frame = g.state.stack[0]
    assert isinstance(frame, StockRound)
    return frame


def required_sales(g: Game, turn: StockTurn) -> list[str]:
    """Companies of which the player has to sell shares before anything else, by the title's stock turns."""
    question = g.title.questions[StockTurn]
    assert isinstance(question, StockTurnQuestion)
    return question.required_sales(g, turn)
