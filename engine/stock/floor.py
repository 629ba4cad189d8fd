"""A stock turn on a market that lends: sell, sell short, then buy or start a company; or act for one
of one's companies, which takes loans and buys its shares back (1817 §5)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from engine.actions import Action, Buy, LoanFor, Pass, RedeemFor, Sell, Short, StartCompany
from engine.auctions import left, raised
from engine.board.faces import face_at
from engine.events import MarkersChanged, PoolPaired, SharesMoved, TokenPlaced
from engine.game import Game
from engine.holdings import (
    certificate_limit,
    counted_certificates,
    for_sale_by,
    leave_pool,
    move_shares,
    percent_limit,
    shorts,
    unit,
)
from engine.loans import is_liquid, loan_words, refuse_loans, room, size_facts, take_loans
from engine.operating.stations import city_words, refuse_city
from engine.state import BANK, POOL, TREASURY, Auction, StockTurn
from engine.stock.turn import WHERE, end_turn, holder_of, stock_round
from engine.title import Aside, Option
from engine.trouble.crisis import refuse_sale, sell

SOURCES = (TREASURY, POOL)
CERTIFICATE = "certificate"


def refuse_buy(g: Game, seat: str, company: str, holder: str, count: int = 1) -> str | None:
    """Why the player may not buy so many shares from there, whoever offers them; or None (1817 §5.4)."""
    co = g.company(company)
    if co.president is None or co.size is None:
        return f"The {company} has no president, so its shares cannot be bought (§5.4)."
    if not is_liquid(g, company):
        return f"Shares of the {company} cannot be bought or sold while it is in acquisition (§5.4)."
    percent = count * unit(g, company)
    if count < 1 or for_sale_by(g, holder, company) < percent:
        there = for_sale_by(g, holder, company) // unit(g, company)
        return f"There are {there} shares of the {company} there."
    if g.held(seat, company) + percent > percent_limit(g, company):
        return f"Nobody may hold more than {percent_limit(g, company)} % of the {company} (§5.1)."
    cost = count * g.price(company)
    if cost > g.cash(seat):
        return f"That costs ${cost}, and {g.state.name(seat)} has ${g.cash(seat)}."
    gained = max(g.held(seat, company) + percent, 0) // unit(g, company) - max(
        g.held(seat, company), 0
    ) // unit(g, company)
    if gained and counted_certificates(g, seat) + gained > certificate_limit(g):
        return f"The limit is {certificate_limit(g)} certificates (§5.1)."
    return None


def buy(g: Game, seat: str, company: str, holder: str, count: int = 1) -> None:
    """Buy shares at the price; the treasury's are paid to the company (1817 §5.4)."""
    percent = count * unit(g, company)
    to = company if holder == company else BANK
    g.pay(seat, to, count * g.price(company), f"{percent} % of the {company}")
    if holder == POOL:
        leave_pool(g, company, count)
    move_shares(g, company, holder, seat, percent)


def over_limit(g: Game, seat: str) -> bool:
    return counted_certificates(g, seat) > certificate_limit(g)


@dataclass(frozen=True)
class TradingFloor:
    """Asks a player in his stock turn.

    The purchase ends a turn. `in_order`: sales come before the short sale, and before anything else
    those that the certificate limit asks for. `most_shorts`: how many
    shares may be sold short, by size of company, where that is not the facts' number.
    `fallen_borrow`: a company in acquisition or liquidation may take loans. `shorts_stay`: what is sold
    short does not close what the bank is short of, as on the site: it may be bought until the next sale.
    """

    in_order: bool = True
    most_shorts: tuple[tuple[int, int], ...] = ()
    fallen_borrow: bool = False
    shorts_stay: bool = False

    def asked(self, g: Game, frame: StockTurn) -> tuple[str, ...]:
        return (frame.seat,)

    def needs(self, g: Game, frame: StockTurn) -> str:
        if frame.acting:
            return f"to go on for the {frame.acting}, or be done"
        if self._must_sell(g, frame):
            return "to sell down to the limit"
        done = "be done" if self._did(frame) else "pass"
        ways = [f"{way}, " for way in self._possible(g, frame)]
        return f"to {''.join(ways)}{'or ' if ways else ''}{done}"

    def _possible(self, g: Game, frame: StockTurn) -> Iterator[str]:
        """What the player could do in this turn, in words."""
        ways: dict[str, Iterator[Option]] = {
            "sell": self._sales(g, frame),
            "sell short": self._short_sales(g, frame),
            "buy": self._purchases(g, frame),
            "start a company": self._starts(g, frame),
            "act for a company": self._for_companies(g, frame),
        }
        yield from (way for way, options in ways.items() if next(options, None) is not None)

    @staticmethod
    def _did(frame: StockTurn) -> bool:
        return bool(frame.bought or frame.sold or frame.shorted or frame.acting)

    def settle(self, g: Game, frame: StockTurn) -> bool:
        if frame.seat not in g.state.active:
            end_turn(g, frame)
            return True
        if any(True for o in self.options(g, frame, frame.seat) if not isinstance(o.action, Pass)):
            return False
        end_turn(g, frame)
        return True

    # -- options -----------------------------------------------------------------------

    def options(self, g: Game, frame: StockTurn, seat: str) -> Iterator[Option]:
        if not frame.acting:
            yield from self._purchases(g, frame)
            yield from self._starts(g, frame)
            yield from self._sales(g, frame)
            yield from self._short_sales(g, frame)
        yield from self._for_companies(g, frame)
        if self.refuse(g, frame, seat, Pass()) is None:
            yield Option(Pass(), "Done" if self._did(frame) else "Pass")

    def _purchases(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        if frame.bought:
            return
        for company in g.state.market:
            for source in SOURCES:
                if self.refuse(g, frame, frame.seat, deal := Buy(company, source)) is None:
                    where, percent = WHERE[source], unit(g, company)
                    yield Option(deal, f"Buy {percent} % of the {company} from {where}, ${g.price(company)}")

    def _starts(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        terms = g.facts.ipo_bid
        if terms is None or frame.bought:
            return
        bids = payable_range(g, frame.seat, terms.min)
        homes = list(open_cities(g)) if bids else []
        if not homes:
            return
        for company, co in g.state.companies.items():
            if co.cell is None:
                for hex, node in homes:
                    start = StartCompany(company, hex, node, bids[0])
                    if self.refuse(g, frame, frame.seat, start) is None:
                        where = city_words(g, hex, node)
                        yield Option(start, f"Start the {company} in {where}", bids)

    def _sales(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in g.state.market:
            for count in range(1, max(g.held(frame.seat, company), 0) // unit(g, company) + 1):
                if self.refuse(g, frame, frame.seat, sale := Sell(company, count)) is None:
                    dollars = g.price(company) * count
                    yield Option(sale, f"Sell {count * unit(g, company)} % of the {company} for ${dollars}")

    def _short_sales(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in g.state.market:
            if self.refuse(g, frame, frame.seat, short := Short(company)) is None:
                yield Option(short, f"Sell a share of the {company} short for ${g.price(company)}")

    def _for_companies(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for company in g.state.market:
            if g.company(company).president != frame.seat:
                continue
            for count in range(1, room(g, company) + 1):
                if self.refuse(g, frame, frame.seat, loan := LoanFor(company, count)) is None:
                    yield Option(loan, f"For the {company}: {loan_words(g, company, count).lower()}")
            for count in range(1, max(for_sale_by(g, POOL, company), 0) // unit(g, company) + 1):
                if self.refuse(g, frame, frame.seat, redeem := RedeemFor(company, count)) is None:
                    cost = count * g.price(company)
                    percent = count * unit(g, company)
                    yield Option(redeem, f"For the {company}: buy back {percent} % for ${cost}")

    # -- objections --------------------------------------------------------------------

    def _must_sell(self, g: Game, frame: StockTurn) -> bool:
        """Whether he is above the certificate limit and has shares that he can sell (§5.1)."""
        return over_limit(g, frame.seat) and next(self._sales(g, frame), None) is not None

    def refuse(self, g: Game, frame: StockTurn, seat: str, action: Action) -> str | None:
        allowed = Sell if self.in_order else Sell | Short
        if not isinstance(action, allowed) and self._must_sell(g, frame):
            return "Sell down to the certificate limit first (§5.1)."
        match action:
            case LoanFor(company) | RedeemFor(company):
                return self.refuse_for(g, frame, company, action)
            case Sell() | Short() | Buy() | StartCompany() if frame.acting:
                return f"This turn is used for the {frame.acting} (§5)."
            case Sell(company, count):
                if frame.bought or (self.in_order and frame.shorted):
                    return "Sales come first in a turn (§5)."
                return refuse_sale(g, seat, company, count)
            case Short(company):
                return self._refuse_short(g, frame, company)
            case Buy() | StartCompany() if frame.bought:
                return "One certificate may be bought in a turn (§5.4)."
            case Buy(company, source, count):
                return self._refuse_buy(g, frame, company, source, count)
            case StartCompany():
                return self._refuse_start(g, frame, action)
            case Pass():
                return None
        return "In a stock round a player sells, sells short, buys, starts a company or acts for one (§5)."

    def _refuse_short(self, g: Game, frame: StockTurn, company: str) -> str | None:
        co = g.company(company)
        if co.size is None or not is_liquid(g, company):
            return f"Shares of the {company} cannot be sold short now (§5.3)."
        if frame.shorted:
            return "One share may be sold short in a turn (§5)."
        if frame.bought:
            return "Short sales come before the purchase (§5)."
        if "no_short_sales" in g.phase.notes:
            return f"Nothing is sold short in phase {g.phase.name} (§5.3)."
        most = dict(self.most_shorts).get(co.size, size_facts(g, company).max_shorts)
        if most == 0:
            return f"Shares of a {co.size}-share company may not be sold short (§5.3)."
        if company in stock_round(g).formed:
            return f"The {company} was formed in this stock round (§5.3)."
        if g.held(frame.seat, company) > 0:
            return f"Who holds shares of the {company} may not sell it short (§5.3)."
        if shorts(g, company) >= most:
            return f"{most} shares of the {company} are sold short, which is the limit (§5.3)."
        return None

    def _refuse_buy(self, g: Game, frame: StockTurn, company: str, source: str, count: int) -> str | None:
        if source not in SOURCES:
            return "Certificates are bought from the treasury or the pool (§5.4)."
        if count != 1:
            return "One certificate may be bought in a turn (§5.4)."
        if company in (*frame.sold, *stock_round(g).sold.get(frame.seat, ())):
            return f"Who has sold the {company} may not buy it in the same stock round (§5.4)."
        return refuse_buy(g, frame.seat, company, holder_of(company, source))

    def _refuse_start(self, g: Game, frame: StockTurn, start: StartCompany) -> str | None:
        terms = g.facts.ipo_bid
        if terms is None or g.company(start.company).cell is not None:
            return f"The {start.company} is in play."
        if counted_certificates(g, frame.seat) >= certificate_limit(g):
            return f"The limit is {certificate_limit(g)} certificates (§5.1)."
        if why := refuse_city(g, start.company, start.hex, start.node):
            return why
        if not terms.min <= start.amount <= terms.max or start.amount % terms.step:
            return f"A bid is a multiple of ${terms.step} from ${terms.min} to ${terms.max} (§5.5)."
        return refuse_bid(g, frame.seat, start.amount)

    def refuse_for(self, g: Game, frame: StockTurn, company: str, action: LoanFor | RedeemFor) -> str | None:
        if g.company(company).president != frame.seat:
            return f"{g.state.name(frame.seat)} is not president of the {company} (§5.6)."
        if frame.bought or frame.sold or frame.shorted:
            return "A turn is used for oneself or for one company (§5)."
        if frame.acting not in (None, company):
            return f"This turn is used for the {frame.acting} (§5)."
        borrows = self.fallen_borrow and isinstance(action, LoanFor)
        if not borrows and not is_liquid(g, company):
            return f"The {company} is in liquidation or acquisition and may not act (§5.6)."
        if isinstance(action, LoanFor):
            if frame.redeemed:
                return "Loans come before the purchase of shares (§5.6)."
            return refuse_loans(g, company, action.count)
        there = max(for_sale_by(g, POOL, company), 0)
        if action.count < 1 or there < action.count * unit(g, company):
            return f"The pool holds {there} % of the {company} (§5.6)."
        cost = action.count * g.price(company)
        if cost > g.cash(company):
            return f"That costs ${cost}, and the {company} has ${g.cash(company)} (§5.6)."
        return None

    # -- effects -----------------------------------------------------------------------

    def take(self, g: Game, frame: StockTurn, seat: str, action: Action) -> None:
        match action:
            case Sell(company, count):
                sell(g, seat, company, count)
                g.change(msgspec.structs.replace(frame, sold=(*frame.sold, company)))
            case Short(company):
                if self.shorts_stay and g.held(POOL, company) < 0:
                    g.emit(PoolPaired(company, 1))
                g.emit(SharesMoved(company, seat, POOL, unit(g, company)))
                g.pay(BANK, seat, g.price(company), f"a share of the {company} sold short")
                g.change(msgspec.structs.replace(frame, sold=(*frame.sold, company), shorted=True))
            case Buy(company, source):
                buy(g, seat, company, holder_of(company, source))
                g.change(msgspec.structs.replace(frame, bought=company, source=source))
            case StartCompany(company, hex, node, amount):
                g.change(msgspec.structs.replace(frame, bought=company))
                g.emit(MarkersChanged(company, 1))
                g.emit(TokenPlaced(company, hex, node))
                bidders = tuple(g.state.seats_from(seat))
                g.open(
                    raised(g, Auction(CERTIFICATE, company, bidders, seat, hex=hex, node=node), seat, amount)
                )
            case LoanFor(company, count):
                take_loans(g, company, count)
                g.change(msgspec.structs.replace(frame, acting=company))
            case RedeemFor(company, count):
                redeem(g, company, count)
                g.change(msgspec.structs.replace(frame, acting=company, redeemed=True))
            case _:
                end_turn(g, frame)


def redeem(g: Game, company: str, count: int) -> None:
    """Buy shares of the company out of the open market into its treasury (1817 §5.6)."""
    percent = count * unit(g, company)
    g.pay(company, BANK, count * g.price(company), f"{percent} % of the {company}")
    leave_pool(g, company, count)
    g.emit(SharesMoved(company, POOL, company, percent))


def open_cities(g: Game) -> Iterator[tuple[str, int]]:
    """Every city with a vacant place, Toronto without any (1817 §5.5)."""
    for hex in g.facts.map.hexes:
        for node, each in enumerate(face_at(g.facts, g.state.tiles, hex).nodes):
            if each.kind == "city" and refuse_city(g, "", hex, node) is None:
                yield hex, node


def payable(g: Game, seat: str, without: Collection[str] = ()) -> set[int]:
    """The sums of face values of the privates that the player could put in, some left out."""
    sums = {0}
    for private in g.privates_of(seat):
        if private not in without:
            sums |= {s + g.private_facts(private).price for s in sums}
    return sums


def payable_range(g: Game, seat: str, low: int) -> range:
    """The lowest bids for a president's certificate, from so many dollars, that the player could pay,
    up to the first that he could not."""
    terms = g.facts.ipo_bid
    assert terms is not None
    step, found = terms.step, range(low, low, terms.step)
    for paid in sorted(payable(g, seat)):  # so much in privates, and the rest in cash
        first = low + max(-((low - paid) // step), 0) * step
        end = min(paid + g.cash(seat), terms.max) + 1
        if not found:
            found = range(first, end, step)
        elif first - step < found.stop:
            found = range(found.start, max(found.stop, end), step)
    return found


def refuse_bid(g: Game, seat: str, amount: int) -> str | None:
    """Why the player cannot bid that for a president's certificate (§5.5), or None."""
    if not any(0 <= amount - paid <= g.cash(seat) for paid in payable(g, seat)):
        who = g.state.name(seat)
        return f"${amount} cannot be made of {who}'s cash, ${g.cash(seat)}, and his privates (§5.5)."
    return None


@dataclass(frozen=True)
class ActsOfBidders(Aside):
    """Loans and redemptions that the site lets the next bidder for a certificate do for a company; with
    the last that it can do he leaves the auction. Who wins it is asked for no privates then, and if he was
    asked for the size, whoever has put the company up has another turn."""

    hears: ClassVar[tuple[type[Action], ...]] = (LoanFor, RedeemFor)

    floor: TradingFloor

    def applies(self, g: Game, action: Action) -> bool:
        return isinstance(g.top, Auction)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        yield from ()

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, LoanFor | RedeemFor)
        top = g.top
        if not isinstance(top, Auction) or top.kind != CERTIFICATE or top.bidders[:1] != (seat,):
            return "The next bidder only may act for a company."
        return self.floor.refuse_for(g, StockTurn(seat), action.company, action)

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, LoanFor | RedeemFor)
        company, redeemed = action.company, isinstance(action, RedeemFor)
        if redeemed:
            redeem(g, company, action.count)
        else:
            take_loans(g, company, action.count)
        turn = StockTurn(seat, acting=company, redeemed=redeemed)
        more = (LoanFor(company, 1), RedeemFor(company, 1))
        top = g.top
        assert isinstance(top, Auction)
        auction = msgspec.structs.replace(top, acting=company)
        done = all(self.floor.refuse_for(g, turn, company, act) for act in more)
        g.change(left(auction, seat) if done else auction)
