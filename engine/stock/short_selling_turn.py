"""A stock turn with loans and short sales (1817 §5).

A player sells, sells short, and then buys a share or starts a company. Or they use the turn for one of their
companies, which takes loans and buys its own shares back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

import msgspec

from engine.board.tile_geometry import face_at
from engine.core.actions import (
    Action,
    BuyShares,
    Pass,
    RedeemSharesForCompany,
    SellShares,
    SellShort,
    StartCompany,
    TakeLoansForCompany,
)
from engine.core.events import CoveredShortsChanged, SharesMoved, TokenPlaced, UnplacedTokensChanged
from engine.core.reasons import CashReason
from engine.core.state import BANK, POOL, TREASURY, Auction, StockTurn
from engine.finance.auctions import place_bid, without_bidder
from engine.finance.loans import (
    is_tradable,
    loan_label,
    loans_available,
    refuse_loans,
    size_definition,
    take_loans,
)
from engine.finance.ownership import (
    SOURCE_LABELS,
    certificate_limit,
    counted_certificates,
    excess_text,
    move_shares,
    percent_for_sale,
    percent_limit,
    release_covered_shorts,
    share_percent,
    short_count,
    source_holder,
    too_few_shares,
)
from engine.finance.share_sales import (
    refuse_sale_at_steady_price,
    sale_option,
    sell_at_steady_price,
    sellable_counts,
)
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.stations import city_label, refuse_city
from engine.stock.turn import current_stock_round, end_stock_turn, or_pass

SHARE_SOURCES = (TREASURY, POOL)
AUCTION_KIND: Final = "certificate"


def refuse_buy(g: Game, seat: str, company: str, holder: str, count: int = 1) -> str | None:
    """Why the player may not buy that many shares from that holder (1817 §5.4), or None."""
    co = g.company(company)
    if co.president is None or co.size is None:
        return f"The {company} has no president, so its shares cannot be bought{g.cite('1817 §5.4')}."
    if not is_tradable(g, company):
        return (
            f"Shares of the {company} cannot be bought or sold while it is in "
            f"acquisition{g.cite('1817 §5.4')}."
        )
    percent = count * share_percent(g, company)
    if count < 1 or percent_for_sale(g, holder, company) < percent:
        place = SOURCE_LABELS[POOL if holder == POOL else TREASURY].capitalize()
        return f"{too_few_shares(place, percent_for_sale(g, holder, company), company)}{g.cite('1817 §5.4')}."
    if g.percent_held(seat, company) + percent > percent_limit(g, company):
        return (
            f"Nobody may hold more than {percent_limit(g, company)} % of the {company}{g.cite('1817 §5.1')}."
        )
    cost = count * g.price(company)
    if cost > g.cash(seat):
        return f"That costs ${cost:,}, and {g.state.name(seat)} has ${g.cash(seat):,}{g.cite('1817 §5.4')}."
    gained = max(g.percent_held(seat, company) + percent, 0) // share_percent(g, company) - max(
        g.percent_held(seat, company), 0
    ) // share_percent(g, company)
    if gained and counted_certificates(g, seat) + gained > certificate_limit(g):
        return f"The limit is {certificate_limit(g)} certificates{g.cite('1817 §5.1')}."
    return None


def buy_shares(g: Game, seat: str, company: str, holder: str, count: int = 1) -> None:
    """Buy shares at the market price; those of the treasury are paid to the company (1817 §5.4)."""
    percent = count * share_percent(g, company)
    to = company if holder == company else BANK
    g.pay(seat, to, count * g.price(company), CashReason.SHARES, company)
    if holder == POOL:
        release_covered_shorts(g, company, count)
    move_shares(g, company, holder, seat, percent)


def is_over_certificate_limit(g: Game, seat: str) -> bool:
    return counted_certificates(g, seat) > certificate_limit(g)


@dataclass(frozen=True)
class ShortSellingTurnQuestion:
    """Asks a player what they do in their stock turn. A purchase ends the turn.

    `sales_first`: sales come before the short sale, and those that the certificate limit requires before
    anything else. `max_shorts`: (company size, shares that may be sold short), where that is not the printed
    number. `untradable_may_borrow`: a company in acquisition or liquidation may take loans.
    `shorts_stay_open`: shares sold short do not close shorts of the bank, as on 18xx.games: they may be
    bought until the next sale. `asks_without_home`: a player who can pay a bid for a company is asked even if
    no city is free for its home token, as on 18xx.games.
    """

    sales_first: bool = True
    max_shorts: tuple[tuple[int, int], ...] = ()
    untradable_may_borrow: bool = False
    shorts_stay_open: bool = False
    asks_without_home: bool = False

    def asked(self, g: Game, frame: StockTurn) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: StockTurn) -> str:
        if frame.acting_company:
            return f"act again for the {frame.acting_company}, or pass"
        if self._required_sales(g, frame):
            return "sell down to the certificate limit"
        return or_pass(g, frame, self._possible_actions(g, frame))

    def _possible_actions(self, g: Game, frame: StockTurn) -> Iterator[str]:
        """What the player could do in this turn, in words."""
        ways: dict[str, Iterator[Option]] = {
            "sell": self._sales(g, frame),
            "sell short": self._short_sales(g, frame),
            "buy": self._purchases(g, frame),
            "start a company": self._company_starts(g, frame),
            "act for a company": self._company_actions(g, frame),
        }
        yield from (way for way, options in ways.items() if next(options, None) is not None)

    @staticmethod
    def _has_acted(frame: StockTurn) -> bool:
        return bool(frame.bought or frame.sold or frame.sold_short or frame.acting_company)

    def advance(self, g: Game, frame: StockTurn) -> bool:
        if frame.seat not in g.state.active_seats:
            end_stock_turn(g, frame)
            return True
        if any(True for o in self.options(g, frame, frame.seat) if not isinstance(o.action, Pass)):
            return False
        if self.asks_without_home and self._could_bid(g, frame):
            return False
        end_stock_turn(g, frame)
        return True

    # -- options -----------------------------------------------------------------------

    def options(self, g: Game, frame: StockTurn, seat: str) -> Iterator[Option]:
        if not frame.acting_company:
            yield from self._purchases(g, frame)
            yield from self._company_starts(g, frame)
            yield from self._sales(g, frame)
            yield from self._short_sales(g, frame)
        yield from self._company_actions(g, frame)
        if self.refusal(g, frame, seat, Pass()) is None:
            yield Option(Pass(), "Done" if self._has_acted(frame) else "Pass")

    def _purchases(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        if frame.bought:
            return
        for company in g.state.market_order:
            for source in SHARE_SOURCES:
                if self.refusal(g, frame, frame.seat, deal := BuyShares(company, source)) is None:
                    where, percent = SOURCE_LABELS[source], share_percent(g, company)
                    yield Option(
                        deal, f"Buy {percent} % of the {company} from {where}, ${g.price(company):,}"
                    )

    def _company_starts(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        terms = g.components.ipo_bid
        if terms is None or frame.bought:
            return
        bids = affordable_bids(g, frame.seat, terms.min)
        homes = list(vacant_cities(g)) if bids else []
        if not homes:
            return
        for company, co in g.state.companies.items():
            if co.cell is None:
                for hex, node in homes:
                    start = StartCompany(company, hex, node, bids[0])
                    if self.refusal(g, frame, frame.seat, start) is None:
                        where = city_label(g, hex, node)
                        yield Option(start, f"Start the {company} in {where}", bids)

    @staticmethod
    def _could_bid(g: Game, frame: StockTurn) -> bool:
        """Whether the player could bid for a company if a city were free for its home token."""
        terms = g.components.ipo_bid
        if terms is None or frame.bought or frame.acting_company:
            return False
        if counted_certificates(g, frame.seat) >= certificate_limit(g):
            return False
        unstarted = any(co.cell is None for co in g.state.companies.values())
        return unstarted and bool(affordable_bids(g, frame.seat, terms.min))

    def _sales(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in g.state.market_order:
            for count in sellable_counts(g, frame.seat, company):
                if self.refusal(g, frame, frame.seat, SellShares(company, count)) is None:
                    yield sale_option(g, company, count, g.price(company))

    def _short_sales(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in g.state.market_order:
            if self.refusal(g, frame, frame.seat, short := SellShort(company)) is None:
                yield Option(short, f"Sell a share of the {company} short for ${g.price(company):,}")

    def _company_actions(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in g.state.market_order:
            if g.company(company).president != frame.seat:
                continue
            for count in range(1, loans_available(g, company) + 1):
                if self.refusal(g, frame, frame.seat, loan := TakeLoansForCompany(company, count)) is None:
                    yield Option(loan, f"For the {company}: {loan_label(g, company, count).lower()}")
            step = share_percent(g, company)
            for count in range(1, percent_for_sale(g, POOL, company) // step + 1):
                redeem = RedeemSharesForCompany(company, count)
                if self.refusal(g, frame, frame.seat, redeem) is None:
                    cost, percent = count * g.price(company), count * step
                    yield Option(redeem, f"For the {company}: buy back {percent} % for ${cost:,}")

    # -- objections --------------------------------------------------------------------

    def _required_sales(self, g: Game, frame: StockTurn) -> set[str]:
        """The companies of which a player above the certificate limit can sell shares (1817 §5.1)."""
        if not is_over_certificate_limit(g, frame.seat):
            return set()
        sales = (option.action for option in self._sales(g, frame))
        return {sale.company for sale in sales if isinstance(sale, SellShares)}

    def refusal(self, g: Game, frame: StockTurn, seat: str, action: Action) -> str | None:
        allowed = SellShares if self.sales_first else SellShares | SellShort
        if not isinstance(action, allowed) and (sellable := self._required_sales(g, frame)):
            excess = excess_text(g, frame.seat, sellable)
            return f"Sell down to the limit first: {excess}{g.cite('1817 §5.1')}."
        match action:
            case TakeLoansForCompany(company) | RedeemSharesForCompany(company):
                return self.refuse_company_action(g, frame, company, action)
            case SellShares() | SellShort() | BuyShares() | StartCompany() if frame.acting_company:
                return f"This turn is used for the {frame.acting_company}{g.cite('1817 §5')}."
            case SellShares(company, count):
                if frame.bought or (self.sales_first and frame.sold_short):
                    return f"Sales come first in a turn{g.cite('1817 §5')}."
                return refuse_sale_at_steady_price(g, seat, company, count)
            case SellShort(company):
                return self._refuse_short(g, frame, company)
            case BuyShares() | StartCompany() if frame.bought:
                return f"One certificate may be bought in a turn{g.cite('1817 §5.4')}."
            case BuyShares(company, source, count):
                return self._refuse_buy(g, frame, company, source, count)
            case StartCompany():
                return self._refuse_start(g, frame, action)
            case Pass():
                return None
        return (
            "In a stock round a player sells, sells short, buys, starts a company or acts for "
            f"one{g.cite('1817 §5')}."
        )

    def _refuse_short(self, g: Game, frame: StockTurn, company: str) -> str | None:
        co = g.company(company)
        if co.size is None or not is_tradable(g, company):
            return f"Shares of the {company} cannot be sold short now{g.cite('1817 §5.3')}."
        if frame.sold_short:
            return f"One share may be sold short in a turn{g.cite('1817 §5')}."
        if frame.bought:
            return f"Short sales come before the purchase{g.cite('1817 §5')}."
        if g.phase.forbids_short_sales:
            return f"Nothing is sold short in phase {g.phase.name}{g.cite('1817 §5.3')}."
        most = dict(self.max_shorts).get(co.size, size_definition(g, company).max_shorts)
        if most == 0:
            return f"Shares of a {co.size}-share company may not be sold short{g.cite('1817 §5.3')}."
        if company in current_stock_round(g).formed:
            return f"The {company} was formed in this stock round{g.cite('1817 §5.3')}."
        if g.percent_held(frame.seat, company) > 0:
            return f"A player who holds shares of the {company} may not sell it short{g.cite('1817 §5.3')}."
        if short_count(g, company) >= most:
            return f"{most} shares of the {company} are sold short, which is the limit{g.cite('1817 §5.3')}."
        return None

    def _refuse_buy(self, g: Game, frame: StockTurn, company: str, source: str, count: int) -> str | None:
        if source not in SHARE_SOURCES:
            return f"Certificates are bought from the treasury or the pool{g.cite('1817 §5.4')}."
        if count != 1:
            return f"One certificate may be bought in a turn{g.cite('1817 §5.4')}."
        if company in (*frame.sold, *current_stock_round(g).sold_by_seat.get(frame.seat, ())):
            seller = f"{g.state.name(frame.seat)} has sold shares of the {company} in this stock round"
            return f"{seller} and may not buy any{g.cite('1817 §5.4')}."
        return refuse_buy(g, frame.seat, company, source_holder(company, source))

    def _refuse_start(self, g: Game, frame: StockTurn, start: StartCompany) -> str | None:
        terms = g.components.ipo_bid
        if terms is None or g.company(start.company).cell is not None:
            return f"The {start.company} has been started already."
        if counted_certificates(g, frame.seat) >= certificate_limit(g):
            return f"The limit is {certificate_limit(g)} certificates{g.cite('1817 §5.1')}."
        if why := refuse_city(g, start.company, start.hex, start.node):
            return why
        if not terms.min <= start.amount <= terms.max or start.amount % terms.step:
            return (
                f"A bid is a multiple of ${terms.step:,} from ${terms.min:,} to "
                f"${terms.max:,}{g.cite('1817 §5.5')}."
            )
        return refuse_bid(g, frame.seat, start.amount)

    def refuse_company_action(
        self, g: Game, frame: StockTurn, company: str, action: TakeLoansForCompany | RedeemSharesForCompany
    ) -> str | None:
        if g.company(company).president != frame.seat:
            return f"{g.state.name(frame.seat)} is not president of the {company}{g.cite('1817 §5.6')}."
        if frame.bought or frame.sold or frame.sold_short:
            return f"A player uses the turn either for themselves or for one company{g.cite('1817 §5')}."
        if frame.acting_company not in (None, company):
            return f"This turn is used for the {frame.acting_company}{g.cite('1817 §5')}."
        borrows = self.untradable_may_borrow and isinstance(action, TakeLoansForCompany)
        if not borrows and not is_tradable(g, company):
            return f"The {company} is in liquidation or acquisition and may not act{g.cite('1817 §5.6')}."
        if isinstance(action, TakeLoansForCompany):
            if frame.redeemed:
                return f"Loans come before the purchase of shares{g.cite('1817 §5.6')}."
            return refuse_loans(g, company, action.count)
        there = max(percent_for_sale(g, POOL, company), 0)
        if action.count < 1 or there < action.count * share_percent(g, company):
            return f"{too_few_shares('The pool', there, company)}{g.cite('1817 §5.6')}."
        cost = action.count * g.price(company)
        if cost > g.cash(company):
            return f"That costs ${cost:,}, and the {company} has ${g.cash(company):,}{g.cite('1817 §5.6')}."
        return None

    # -- effects -----------------------------------------------------------------------

    def apply(self, g: Game, frame: StockTurn, seat: str, action: Action) -> None:
        match action:
            case SellShares(company, count):
                sell_at_steady_price(g, seat, company, count)
                g.change_top(frame, sold=(*frame.sold, company))
            case SellShort(company):
                if self.shorts_stay_open and g.percent_held(POOL, company) < 0:
                    g.emit(CoveredShortsChanged(company, 1))
                g.emit(SharesMoved(company, seat, POOL, share_percent(g, company)))
                g.pay(BANK, seat, g.price(company), CashReason.SHORT_SALE, company)
                g.change_top(frame, sold=(*frame.sold, company), sold_short=True)
            case BuyShares(company, source):
                buy_shares(g, seat, company, source_holder(company, source))
                g.change_top(frame, bought=company, source=source)
            case StartCompany(company, hex, node, amount):
                g.change_top(frame, bought=company)
                g.emit(UnplacedTokensChanged(company, 1))
                g.emit(TokenPlaced(company, hex, node))
                bidders = tuple(g.state.seats_from(seat))
                g.push(
                    place_bid(
                        g,
                        Auction(AUCTION_KIND, company, bidders, seat, home_hex=hex, home_node=node),
                        seat,
                        amount,
                    )
                )
            case TakeLoansForCompany(company, count):
                take_loans(g, company, count)
                g.change_top(frame, acting_company=company)
            case RedeemSharesForCompany(company, count):
                redeem_shares(g, company, count)
                g.change_top(frame, acting_company=company, redeemed=True)
            case _:
                end_stock_turn(g, frame)


def redeem_shares(g: Game, company: str, count: int) -> None:
    """Buy shares of the company out of the open market into its treasury (1817 §5.6)."""
    percent = count * share_percent(g, company)
    g.pay(company, BANK, count * g.price(company), CashReason.SHARES, company)
    release_covered_shorts(g, company, count)
    g.emit(SharesMoved(company, POOL, company, percent))


def vacant_cities(g: Game) -> Iterator[tuple[str, int]]:
    """The (hex, node) of every city with a vacant slot for a home token (1817 §5.5)."""
    for hex in g.components.map.hexes:
        for node, each in enumerate(face_at(g.components, g.state.tiles, hex).nodes):
            if each.kind == "city" and refuse_city(g, "", hex, node) is None:
                yield hex, node


def private_value_sums(g: Game, seat: str, without: Collection[str] = ()) -> set[int]:
    """Every sum of dollars that face values of the player's privates add up to, some left out."""
    sums = {0}
    for private in g.privates_of(seat):
        if private not in without:
            sums |= {s + g.private_definition(private).price for s in sums}
    return sums


def affordable_bids(g: Game, seat: str, low: int) -> range:
    """Bids of `low` dollars or more for a president's certificate that the player could pay: the first
    range of them without a gap. They pay in cash and with any of their privates."""
    terms = g.components.ipo_bid
    assert terms is not None
    step, bids = terms.step, range(low, low, terms.step)
    for paid in sorted(private_value_sums(g, seat)):  # the dollars paid with privates; the rest is cash
        first = low + max(-((low - paid) // step), 0) * step
        end = min(paid + g.cash(seat), terms.max) + 1
        if not bids:
            bids = range(first, end, step)
        elif first - step < bids.stop:
            bids = range(bids.start, max(bids.stop, end), step)
    return bids


def refuse_bid(g: Game, seat: str, amount: int) -> str | None:
    """Why the player cannot bid that many dollars for a president's certificate (1817 §5.5), or None."""
    if not any(0 <= amount - paid <= g.cash(seat) for paid in private_value_sums(g, seat)):
        who = g.state.name(seat)
        return (
            f"{who} cannot pay exactly ${amount:,} with privates and ${g.cash(seat):,} in "
            f"cash{g.cite('1817 §5.5')}."
        )
    return None


@dataclass(frozen=True)
class BidderCompanyActions(OutOfTurn[Game, TakeLoansForCompany | RedeemSharesForCompany]):
    """Loans and redemptions of a company during an auction of a certificate, as 18xx.games allows them.

    The next bidder may act for one of their companies. They leave the auction once the company can do no
    more. The winner is not asked for privates then; and if they were asked for the size, the player who has
    started the auction has another turn.
    """

    handles: ClassVar[tuple[type[Action], ...]] = (TakeLoansForCompany, RedeemSharesForCompany)

    stock_turn: ShortSellingTurnQuestion

    def applies(self, g: Game, action: Action) -> bool:
        return isinstance(g.top, Auction)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        yield from ()

    def refusal(self, g: Game, seat: str, action: TakeLoansForCompany | RedeemSharesForCompany) -> str | None:
        top = g.top
        if not isinstance(top, Auction) or top.kind != AUCTION_KIND or top.bidders[:1] != (seat,):
            return "Only the next bidder may act for a company."
        return self.stock_turn.refuse_company_action(g, StockTurn(seat), action.company, action)

    def apply(self, g: Game, seat: str, action: TakeLoansForCompany | RedeemSharesForCompany) -> None:
        company, redeemed = action.company, isinstance(action, RedeemSharesForCompany)
        if redeemed:
            redeem_shares(g, company, action.count)
        else:
            take_loans(g, company, action.count)
        turn = StockTurn(seat, acting_company=company, redeemed=redeemed)
        more = (TakeLoansForCompany(company, 1), RedeemSharesForCompany(company, 1))
        top = g.top
        assert isinstance(top, Auction)
        auction = msgspec.structs.replace(top, acting_company=company)
        done = all(self.stock_turn.refuse_company_action(g, turn, company, act) for act in more)
        g.replace_top(without_bidder(auction, seat) if done else auction)
