"""A player's turn of a stock round: sales, one purchase, done (1830 §4, §8, §10, §12).

Sales come before the purchase or after it; whether both, and where the further certificates of
a price in the brown zone may come from, differ between conventions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import msgspec

from engine.actions import Action, Buy, Par, Pass, Sell
from engine.events import Passed, PresidentNamed
from engine.game import Game
from engine.holdings import (
    BOUGHT_WITHOUT_LIMIT,
    certificate_limit,
    counted_certificates,
    counts,
    excess,
    move_shares,
    percent_limit,
    presidents_percent,
    sale_obstacle,
    unit,
    zones,
)
from engine.offers import lapse_offers
from engine.opening.waterfall import par_obstacle, set_par
from engine.state import BANK, IPO, POOL, TREASURY, Protection, Sale, StockRound, StockTurn
from engine.title import Option

SOURCES = (IPO, POOL)
WHERE = {IPO: "the initial offering", POOL: "the pool", TREASURY: "the treasury"}


def holder_of(company: str, source: str) -> str:
    """Who holds what a buyer finds in that place: a treasury is the company itself."""
    return company if source == TREASURY else source


def share_price(g: Game, company: str, source: str) -> int | None:
    """Dollars for one certificate from there: par from the bank, else the market's price (§8.2)."""
    return g.company(company).par if source == IPO else g.price(company)


def sell_shares(g: Game, seat: str, company: str, count: int, price: int | None = None) -> None:
    """Sell into the pool at the price before it falls a row for each share (§8.2.1, §15), or at the
    one that is given."""
    percent = count * unit(g, company)
    president = g.president(company)
    price = g.price(company) if price is None else price
    move_shares(g, company, seat, POOL, percent)
    g.pay(BANK, seat, price * count, f"{percent} % of the {company}")
    g.title.sold(g, Sale(company, count, president))


def payee(g: Game, company: str, source: str) -> str:
    """Who is paid for shares from there: the bank; the company for those it has reissued."""
    return company if source == IPO and g.company(company).reissued else BANK


class Act(Protocol):
    """Something that a player may do in his stock turn besides trading in shares."""

    def hears(self, action: Action) -> bool:
        """Whether an action is of this kind."""

    def options(self, g: Game, frame: StockTurn) -> Iterator[Option]: ...

    def refuse(self, g: Game, frame: StockTurn, action: Action) -> str | None: ...

    def take(self, g: Game, frame: StockTurn, action: Action) -> None: ...


def unbarred(g: Game, company: str, source: str, percent: int) -> str | None:
    """Nothing keeps shares of a company that has a price from being bought."""
    return None


def most_sellable(g: Game, seat: str, company: str) -> range:
    """The counts of shares that the player could sell in one block."""
    step = unit(g, company)
    return range(1, g.held(seat, company) // step + 1)


def held_companies(g: Game, seat: str) -> list[str]:
    return [c for c, co in g.state.companies.items() if seat in co.shares]


@dataclass(frozen=True)
class Trading:
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

    also: Callable[[Game, StockTurn], bool]

    sales: Literal["before", "before or after", "around"] = "before or after"
    sources: tuple[str, ...] = SOURCES
    extra_from_ipo: bool = True
    extra_of_one: bool = False
    first_sale_round: int = 2
    acts: tuple[Act, ...] = ()
    blocks: bool = False
    barred: Callable[[Game, str, str, int], str | None] = unbarred
    brown_after_private: bool = False
    acts_wait: bool = True
    over_sells_any: bool = False

    def asked(self, g: Game, frame: StockTurn) -> tuple[str, ...]:
        return (frame.seat,)

    def needs(self, g: Game, frame: StockTurn) -> str:
        if self.must_sell(g, frame):
            return "to sell down to the limit"
        if frame.bought:
            return "to sell, or be done" if self._may_sell(frame) else "to buy more, or be done"
        if stock_round(g).number < self.first_sale_round:
            return "to buy or pass"
        return "to buy, sell, or be done" if frame.sold else "to buy, sell, or pass"

    def settle(self, g: Game, frame: StockTurn) -> bool:
        """Pass over a turn in which nothing (more) can be done and no offer is open."""
        if g.state.offers and frame.for_company is None:
            return False
        fresh = not (frame.bought or frame.sold or frame.for_company)
        if (frame.tempted and fresh) or not self.idle(g, frame):
            return False
        end_turn(g, frame, unasked=fresh)
        return True

    def idle(self, g: Game, frame: StockTurn) -> bool:
        """Whether nothing (more) can be done in the turn."""
        if frame.for_company is not None:
            return True
        return not (
            next(self._sales(g, frame), None)
            or next(self._purchases(g, frame), None)
            or (self.acts_wait and not (frame.bought or frame.sold) and next(self._acts(g, frame), None))
            or self.also(g, frame)
        )

    # -- options -----------------------------------------------------------------------

    def options(self, g: Game, frame: StockTurn, seat: str) -> Iterator[Option]:
        yield from self._purchases(g, frame)
        yield from self._sales(g, frame)
        yield from self._acts(g, frame)
        if self.refuse(g, frame, seat, Pass()) is None:
            yield Option(Pass(), "Done" if frame.bought or frame.sold else "Pass")

    def _acts(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for act in self.acts:
            for option in act.options(g, frame):
                if self.refuse(g, frame, frame.seat, option.action) is None:
                    yield option

    def _purchases(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        if frame.bought and not self._follows_private(frame):
            further = [frame.bought] if self.extra_of_one else list(g.state.companies)
            if not any(_is_brown(g, company) for company in further):
                return
        for company, co in g.state.companies.items():
            if co.par is None:
                for price in g.facts.par_prices:
                    if self.refuse(g, frame, frame.seat, par := Par(company, price)) is None:
                        cost = price * presidents_percent(g, company) // unit(g, company)
                        yield Option(par, f"Par the {company} at ${price}, for ${cost}")
                continue
            for source in self.sources:
                for count in range(1, g.held(holder_of(company, source), company) // unit(g, company) + 1):
                    buy = Buy(company, source, count)
                    if self.refuse(g, frame, frame.seat, buy) is not None:
                        break
                    cost = count * (share_price(g, company, source) or 0)
                    percent = count * unit(g, company)
                    yield Option(buy, f"Buy {percent} % of the {company} from {WHERE[source]}, ${cost}")

    def _sales(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in held_companies(g, frame.seat):
            for count in most_sellable(g, frame.seat, company):
                if self.refuse(g, frame, frame.seat, sell := Sell(company, count)) is None:
                    dollars = g.price(company) * count
                    yield Option(sell, f"Sell {count * unit(g, company)} % of the {company} for ${dollars}")

    def must_sell(self, g: Game, frame: StockTurn) -> list[str]:
        """What is above a limit, where any of it can be sold: who cannot sell stays above it (§10)."""
        over = excess(g, frame.seat)
        sellable = (o.action for o in self._sales(g, frame)) if over else ()
        if any(isinstance(sale, Sell) and (self.over_sells_any or sale.company in over) for sale in sellable):
            return over
        return []

    # -- objections --------------------------------------------------------------------

    def refuse(self, g: Game, frame: StockTurn, seat: str, action: Action) -> str | None:
        if isinstance(action, Sell):
            return self._refuse_sale(g, frame, action)
        act = next((a for a in self.acts if a.hears(action)), None)
        if act is None and not isinstance(action, Pass | Buy | Par):
            return "In a stock round a player buys, sells or passes (§4)."
        if over := self.must_sell(g, frame):
            return f"Sell down to the limit first: {', '.join(over)} (§10)."
        match action:
            case Buy(company, source, count):
                return self._refuse_purchase(g, frame, company, source, count)
            case Par(company, price):
                return self._refuse_par(g, frame, company, price)
        return act.refuse(g, frame, action) if act else None

    def _refuse_sale(self, g: Game, frame: StockTurn, sale: Sell) -> str | None:
        rounds = stock_round(g)
        if rounds.number < self.first_sale_round:
            return "Nothing may be sold in the first stock round (§12.1)."
        if not self._may_sell(frame):
            if self.sales == "before":
                return "Sales come before the purchase (§4)."
            return "Sales come before the purchase or after it, not both (§4)."
        if self.blocks and sale.company in frame.sold:
            return f"All that is sold of the {sale.company} in a turn is sold in one block (§5.3.3)."
        if sale.count < 1:
            return "At least one share has to be sold."
        return sale_obstacle(g, frame.seat, sale.company, sale.count * unit(g, sale.company))

    def _may_sell(self, frame: StockTurn) -> bool:
        match self.sales:
            case "before":
                return not frame.bought
            case "around":
                return True
        return not frame.sold_first

    def _refuse_purchase(
        self, g: Game, frame: StockTurn, company: str, source: str, count: int
    ) -> str | None:
        co, step = g.company(company), unit(g, company)
        if source not in self.sources:
            return f"Certificates are bought from {' or '.join(WHERE[s] for s in self.sources)} (§15)."
        if co.closed:
            return f"The {company} is closed for good."
        if co.par is None:
            return f"The first certificate of the {company} to be bought is the president's: par it (§8)."
        if count < 1:
            return "At least one certificate has to be bought."
        if why := self._refuse_more(g, frame, company, source, count):
            return why
        if why := self.barred(g, company, source, count * step):
            return why
        if (held := g.held(holder_of(company, source), company)) < count * step:
            return f"{WHERE[source].capitalize()} holds {held} % of the {company}."
        cost = (share_price(g, company, source) or 0) * count
        return self._refuse_holding(g, frame.seat, company, count, count * step) or _refuse_cost(
            g, frame.seat, cost
        )

    def _refuse_more(self, g: Game, frame: StockTurn, company: str, source: str, count: int) -> str | None:
        if company in (*frame.sold, *stock_round(g).sold.get(frame.seat, ())):
            return f"Who has sold the {company} may not buy it in the same stock round (§4)."
        if not frame.bought and count == 1:
            return None
        if not _is_brown(g, company):
            return "One certificate may be bought in a turn, more only in the brown zone (§4, §10)."
        if self.extra_of_one and frame.bought not in (None, company) and not self._follows_private(frame):
            return f"The turn's purchase was of the {frame.bought} (§10)."
        if not self.extra_from_ipo and (source == IPO or frame.source == IPO):
            return "Further certificates in the brown zone come from the pool (§10)."
        return None

    def _follows_private(self, frame: StockTurn) -> bool:
        return self.brown_after_private and frame.bought is not None and frame.source not in (IPO, POOL)

    def _refuse_par(self, g: Game, frame: StockTurn, company: str, price: int) -> str | None:
        if g.company(company).closed:
            return f"The {company} is closed for good."
        if g.company(company).par is not None:
            return f"The {company} has a par price."
        if frame.bought:
            return "One certificate may be bought in a turn (§4)."
        percent = presidents_percent(g, company)
        if why := par_obstacle(g, price) or self.barred(g, company, IPO, percent):
            return why
        cost = price * percent // unit(g, company)
        return self._refuse_holding(g, frame.seat, company, 1, percent) or _refuse_cost(g, frame.seat, cost)

    def _refuse_holding(
        self, g: Game, seat: str, company: str, certificates: int, percent: int
    ) -> str | None:
        limit = percent_limit(g, company)
        if g.held(seat, company) + percent > limit:
            return f"Nobody may hold more than {limit} % of the {company} (§10)."
        room = certificate_limit(g) - counted_certificates(g, seat)
        if counts(g, company) and certificates > room:
            return f"The limit is {certificate_limit(g)} certificates (§10, Table 3)."
        return None

    # -- effects -----------------------------------------------------------------------

    def take(self, g: Game, frame: StockTurn, seat: str, action: Action) -> None:
        match action:
            case Pass():
                end_turn(g, frame)
            case Sell(company, count):
                sell_shares(g, seat, company, count)
                turn = g.top
                assert isinstance(turn, StockTurn)
                g.change(msgspec.structs.replace(turn, sold=(*frame.sold, company)))
            case Par(company, price):
                cost = price * presidents_percent(g, company) // unit(g, company)
                set_par(g, company, price)
                g.pay(seat, BANK, cost, f"the president's certificate of the {company}")
                g.emit(PresidentNamed(company, seat))
                move_shares(g, company, IPO, seat, presidents_percent(g, company))
                g.change(
                    msgspec.structs.replace(frame, bought=company, source=IPO, sold_first=bool(frame.sold))
                )
            case Buy(company, source, count):
                cost = (share_price(g, company, source) or 0) * count
                holder, percent = holder_of(company, source), count * unit(g, company)
                paid = company if holder == company else payee(g, company, source)
                g.pay(seat, paid, cost, f"{percent} % of the {company}")
                move_shares(g, company, holder, seat, percent)
                g.change(
                    msgspec.structs.replace(
                        frame,
                        bought=company,
                        source=source,
                        sold_first=bool(frame.sold) or frame.sold_first or self._follows_private(frame),
                        held=frame.held + (cost if paid == company else 0),
                    )
                )
            case _:
                next(a for a in self.acts if a.hears(action)).take(g, frame, action)


def _is_brown(g: Game, company: str) -> bool:
    """Whether any number of its certificates may be bought in one turn (§10)."""
    return company in g.state.companies and not BOUGHT_WITHOUT_LIMIT.isdisjoint(zones(g, company))


def end_turn(g: Game, frame: StockTurn, formed: str | None = None, *, unasked: bool = False) -> None:
    """Close the turn and tell the round what it was: a deal, a company `formed` in it, or a pass, which
    may be one that he was not asked about."""
    dealt = bool(frame.bought or frame.sold or frame.for_company or frame.acting)
    if not dealt:
        g.emit(Passed(frame.seat, "the stock turn"))
    g.close()
    lapse_offers(g)
    span = stock_round(g)
    after = msgspec.structs.replace(
        span,
        turn=g.state.left_of(frame.seat),
        passes=0 if dealt else span.passes + 1,
        last=frame.seat if dealt else span.last,
        formed=(*span.formed, formed) if formed else span.formed,
        tempted=span.tempted if unasked else (),
    )
    if frame.sold:
        mine = (*span.sold.get(frame.seat, ()), *frame.sold)
        after = msgspec.structs.replace(after, sold=span.sold | {frame.seat: mine})
    if frame.held and frame.bought:
        held = span.held.get(frame.bought, 0) + frame.held
        after = msgspec.structs.replace(after, held=span.held | {frame.bought: held})
    if frame.for_company and frame.act == "redeem":
        after = msgspec.structs.replace(after, redeemed=(*span.redeemed, frame.for_company))
    elif frame.for_company:
        after = msgspec.structs.replace(after, reissued=(*span.reissued, frame.for_company))
    g.change(after)
    if frame.sales:
        g.open(Protection(frame.seat, frame.sales))


def _refuse_cost(g: Game, seat: str, cost: int) -> str | None:
    if cost > g.cash(seat):
        return f"That costs ${cost}, and {g.state.name(seat)} has ${g.cash(seat)}."
    return None


def stock_round(g: Game) -> StockRound:
    """The stock round that is going on. Raises AssertionError outside one."""
    frame = g.state.stack[0]
    assert isinstance(frame, StockRound)
    return frame
