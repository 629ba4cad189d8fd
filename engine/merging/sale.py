"""Companies sold to companies: liquidations, acquisitions and friendly sales (1817 §7.2).

What is for sale goes through one auction; what its kind decides is who gets the money, and whether
cash and loans go along. A bidder is a president: which of his companies pays is said at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine import market
from engine.actions import Action, Buyer, Loan, Pass, Repay
from engine.events import (
    CashMoved,
    CompanyReturned,
    CrisisFrom,
    LoansChanged,
    MarkersChanged,
    Passed,
    PrivateMoved,
    TokenTaken,
    TrainMoved,
)
from engine.game import Game
from engine.holdings import unit
from engine.loans import (
    in_zone,
    is_liquid,
    loan_words,
    repay_loans,
    repay_words,
    room,
    size_facts,
    take_loans,
    taken,
    terms_of,
)
from engine.merging.belongings import join_markers, settle_excess, take_assets
from engine.state import BANK, CLOSED, Auction, MergerRound, Purchase, Settlement, Takeover, is_seat
from engine.title import Option

KIND = "sale"
STEP = 10


def is_liquidation(g: Game, company: str) -> bool:
    return in_zone(g, company, "liquidation")


def least_bid(g: Game, company: str) -> int:
    """The least that may be bid for a company (§7.2.4): $10, in a friendly sale its market value."""
    if not is_liquid(g, company):
        return STEP
    value = g.price(company) * (g.company(company).size or 0)
    return -(-value // STEP) * STEP


def may_buy(g: Game, buyer: str, target: str) -> bool:
    """Whether that company could pay anything for the target at all (§7.2.4)."""
    return buyer != target and is_liquid(g, buyer) and g.company(buyer).president is not None


def treasury_money(g: Game, target: str) -> int:
    """Dollars that the shares in the treasury of a company bring in a friendly sale (§7.2.4)."""
    if not is_liquid(g, target):
        return 0
    return g.held(target, target) // unit(g, target) * g.price(target)


def power(g: Game, buyer: str, target: str) -> int:
    """Dollars at most that the company could pay for the target, with its cash and loans (§7.2.4)."""
    if not may_buy(g, buyer, target):
        return -1
    value, most = terms_of(g).value, size_facts(g, buyer).max_loans
    mine = g.company(buyer).loans
    free = most - mine - g.company(target).loans
    left = terms_of(g).count - taken(g)
    return g.cash(buyer) + g.cash(target) + treasury_money(g, target) + value * min(free, left)


def buyers(g: Game, seat: str, target: str, price: int) -> list[str]:
    """The player's companies that could pay that for the target."""
    mine = [c for c in g.operating_order() if g.company(c).president == seat]
    return [c for c in mine if power(g, c, target) >= price]


def anybody_could_buy(g: Game, target: str) -> bool:
    """Whether any company could pay the least for it."""
    return any(power(g, c, target) >= least_bid(g, target) for c in g.state.market)


def may_be_offered(g: Game, company: str) -> bool:
    """Whether its president may put the company up for a friendly sale that somebody could answer
    (§7.2.3): not in the round in which it has come to be gray (§7.2.4)."""
    return (
        is_liquid(g, company) and g.company(company).president is not None and anybody_could_buy(g, company)
    )


def put_up(g: Game, company: str) -> None:
    """Open the auction for a company, which begins at the left of its president (§7.2.4)."""
    seat = g.company(company).president or g.company(company).former or g.state.seats[0]
    order = g.state.seats_from(seat)
    bidders = (*order[1:], order[0]) if order[0] == seat else tuple(order)
    cash = loans = 0
    if is_liquidation(g, company):
        cash, loans = g.cash(company), g.company(company).loans
        if cash:
            g.emit(CashMoved(company, BANK, cash, "set aside for its loans"))
        if loans:
            g.emit(LoansChanged(company, -loans, "set aside"))
    g.open(Auction(KIND, company, tuple(bidders), seat, cash=cash, loans=loans))


@dataclass(frozen=True)
class Companies:
    """Companies up for auction.

    `fresh_waits`: one that comes into liquidation while it is up, by the bankruptcy of its president, is
    sold in the next round only, as on the site. `trains_to`: where the trains of one go that the bank
    liquidates.
    """

    fresh_waits: bool = False
    trains_to: str = CLOSED

    def says_lot(self) -> bool:
        return False

    def words(self, g: Game, frame: Auction) -> str:
        return f"the {frame.lot}"

    def about(self, g: Game, frame: Auction) -> str:
        """Why it is for sale, and what comes along."""
        company, co = frame.lot, g.company(frame.lot)
        why = "offered" if is_liquid(g, company) else market.space_words(g, market.place(g, company))
        markers = sum(owner == company for here in g.state.tokens.values() for _, owner in here)
        loans = f"{co.loans} loan{'s' * (co.loans != 1)}"
        goes = [] if is_liquidation(g, company) else [f"${g.cash(company)}", loans]
        trains = f"trains {' '.join(co.trains)}" if co.trains else "no train"
        with_ = [*goes, trains, f"{markers} marker{'s' * (markers != 1)}", *g.privates_of(company)]
        return f"{why}: {', '.join(with_)}"

    def amounts(self, g: Game, frame: Auction, seat: str) -> range:
        """The president of what is for sale bids the least that he may, or nothing (§7.2.4)."""
        reach = self.reach(g, frame, seat)
        return reach[:1] if g.company(frame.lot).president == seat else reach

    def reach(self, g: Game, frame: Auction, seat: str) -> range:
        """Up to what the richest of his companies could pay."""
        if self._waits(g, frame):
            return range(0)
        low = frame.high + STEP if frame.leader else least_bid(g, frame.lot)
        high = max((power(g, c, frame.lot) for c in self._mine(g, seat)), default=-1)
        return range(low, high // STEP * STEP + 1, STEP)

    def stays(self, g: Game, frame: Auction, seat: str) -> bool:
        return False

    def _waits(self, g: Game, frame: Auction) -> bool:
        """Whether the company has come into liquidation while it is up."""
        span = g.state.stack[0]
        fresh = isinstance(span, MergerRound) and frame.lot not in span.red
        return self.fresh_waits and fresh and is_liquidation(g, frame.lot)

    @staticmethod
    def _mine(g: Game, seat: str) -> list[str]:
        return [c for c in g.state.market if g.company(c).president == seat]

    def refuse(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        low = frame.high + STEP if frame.leader else least_bid(g, frame.lot)
        if amount % STEP or amount < low:
            return f"A bid is a multiple of ${STEP}, ${low} or more (§7.2.4)."
        if amount not in self.reach(g, frame, seat):
            return f"None of {g.state.name(seat)}'s companies could pay ${amount} (§7.2.4)."
        if g.company(frame.lot).president == seat and amount > low:
            return f"The president of the {frame.lot} bids no more than ${STEP} above the others (§7.2.4)."
        return None

    def sold(self, g: Game, frame: Auction) -> None:
        company = frame.lot
        if frame.leader is None:
            if is_liquidation(g, company) and not self._waits(g, frame):
                scrap(g, company, self.trains_to)
                amount = frame.cash - frame.loans * terms_of(g).value
                g.open(Settlement(company, amount, frame.loans))
            return
        g.open(Purchase(company, frame.leader, frame.high, frame.cash, frame.loans))


def scrap(g: Game, company: str, trains_to: str) -> None:
    """Nobody but the bank bids for a company in liquidation: what it has leaves the game (§7.2.4)."""
    for train in list(g.company(company).trains):
        g.emit(TrainMoved(train, company, trains_to, "out of the game"))
    for private in g.privates_of(company):
        g.emit(PrivateMoved(private, CLOSED))
    for hex in [h for h, here in g.state.tokens.items() if any(c == company for _, c in here)]:
        g.emit(TokenTaken(company, hex, None))
    if g.company(company).markers:
        g.emit(MarkersChanged(company, -g.company(company).markers))


@dataclass(frozen=True)
class Purchases:
    """Asks the winner which of his companies pays (§7.2.4).

    `excess_waits`: markers and trains above the limits are given up when something is asked again, as on the
    site; where the buyer is asked nothing about loans, the holders are settled with before that, and the next
    company is up. The book has it the other way.
    """

    excess_waits: bool = False

    def asked(self, g: Game, frame: Purchase) -> tuple[str, ...]:
        return (frame.seat,)

    def needs(self, g: Game, frame: Purchase) -> str:
        return f"to name the company that buys the {frame.company} for ${frame.price}"

    def options(self, g: Game, frame: Purchase, seat: str) -> Iterator[Option]:
        for company in buyers(g, seat, frame.company, frame.price):
            yield Option(Buyer(company), f"The {company} buys the {frame.company} for ${frame.price}")

    def refuse(self, g: Game, frame: Purchase, seat: str, action: Action) -> str | None:
        if not isinstance(action, Buyer):
            return f"Say which company buys the {frame.company} (§7.2.4)."
        if action.company not in buyers(g, seat, frame.company, frame.price):
            return f"The {action.company} is not yours or could not pay ${frame.price} (§7.2.4)."
        return None

    def take(self, g: Game, frame: Purchase, seat: str, action: Action) -> None:
        assert isinstance(action, Buyer)
        self._buy(g, frame, action.company)

    def settle(self, g: Game, frame: Purchase) -> bool:
        able = buyers(g, frame.seat, frame.company, frame.price)
        if len(able) != 1:
            return False
        self._buy(g, frame, able[0])
        return True

    def _buy(self, g: Game, frame: Purchase, buyer: str) -> None:
        """Treasury shares, assets, the price, and the loans that must be repaid (§7.2.4, steps 6, 7)."""
        target, price = frame.company, frame.price
        liquidated = is_liquidation(g, target)
        g.pay(BANK, target, treasury_money(g, target), f"the treasury shares of the {target}")
        inherited = g.company(target).loans
        take_assets(g, buyer, target)
        most = size_facts(g, buyer).max_loans
        forced = max(g.company(buyer).loans - most, 0)
        while g.cash(buyer) < price and g.company(buyer).loans < most and room(g, buyer):
            take_loans(g, buyer)
        g.pay(buyer, BANK, price, f"the {target}")
        while forced and g.cash(buyer) >= terms_of(g).value:
            repay_loans(g, buyer, moving=False)
            forced, inherited = forced - 1, inherited - 1
        takeover = Takeover(buyer, inherited)
        amount = price if not liquidated else price + frame.cash - frame.loans * terms_of(g).value
        g.close()
        if self.excess_waits:
            span = g.top
            assert isinstance(span, MergerRound)
            g.change(msgspec.structs.replace(span, excess=join_markers(g, buyer, target)))
        g.open(Settlement(target, amount, frame.loans))
        g.open(takeover)
        if not self.excess_waits:
            settle_excess(g, buyer, target)


def takeover_most(g: Game, frame: Takeover) -> int:
    """How many of the loans that came along the buyer can repay."""
    return min(max(frame.inherited, 0), g.cash(frame.company) // terms_of(g).value)


@dataclass(frozen=True)
class Takeovers:
    """Asks the buyer what becomes of the loans that came along, and whether it takes others (§7.2.4).

    Each that is kept moves the price a space to the left. `loans_first`: none is repaid before others are
    declined, as on the site.
    """

    loans_first: bool = False

    def asked(self, g: Game, frame: Takeover) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def needs(self, g: Game, frame: Takeover) -> str:
        repays = self._repays(frame) and takeover_most(g, frame) > 0
        able = ["repay"] * repays + ["take"] * (frame.stage == "loan")
        came = f"; {frame.inherited} came along" if frame.inherited > 0 else ""
        has = f"it has ${g.cash(frame.company)}{came}"
        return f"to {' or '.join(able)} loans for the {frame.company}, or be done ({has})"

    def _repays(self, frame: Takeover) -> bool:
        return frame.stage == "repay" or not self.loans_first

    def options(self, g: Game, frame: Takeover, seat: str) -> Iterator[Option]:
        most = takeover_most(g, frame) if self._repays(frame) else 0
        for count in range(1, most + 1):
            yield Option(Repay(count), repay_words(g, frame.company, count, moving=False))
        if frame.stage == "loan":
            for count in range(1, room(g, frame.company) + 1):
                yield Option(Loan(count), loan_words(g, frame.company, count))
        yield Option(Pass(), "No more loans" if frame.stage == "loan" else "Keep the rest")

    def refuse(self, g: Game, frame: Takeover, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case Repay(count):
                if not self._repays(frame):
                    return f"First the {frame.company} takes loans, or passes (§7.2.4)."
                most = takeover_most(g, frame)
                if not 1 <= count <= most:
                    return f"The {frame.company} can repay {most} of the loans (§7.2.4)."
                return None
            case Loan(count):
                if frame.stage != "loan":
                    return "Loans are taken before others are repaid (§7.2.4)."
                if not 1 <= count <= room(g, frame.company):
                    return f"The {frame.company} may take {room(g, frame.company)} more loans (§1.2.5)."
                return None
        return f"The {frame.company} may repay or take loans now, or is done (§7.2.4)."

    def take(self, g: Game, frame: Takeover, seat: str, action: Action) -> None:
        match action:
            case Repay(count):
                repay_loans(g, frame.company, count, moving=False)
                g.change(Takeover(frame.company, frame.inherited - count, "repay"))
            case Loan(count):
                take_loans(g, frame.company, count)
            case _:
                g.emit(Passed(frame.company, "loans"))
                if frame.stage == "loan":
                    g.change(Takeover(frame.company, frame.inherited, "repay"))
                else:
                    self._finish(g, frame)

    def settle(self, g: Game, frame: Takeover) -> bool:
        if g.company(frame.company).president:
            if takeover_most(g, frame) if frame.stage == "repay" else room(g, frame.company):
                return False
            if frame.stage == "loan":
                g.change(Takeover(frame.company, frame.inherited, "repay"))
                return True
        self._finish(g, frame)
        return True

    def _finish(self, g: Game, frame: Takeover) -> None:
        g.close()
        for _ in range(max(frame.inherited, 0)):
            to = market.left(g, market.place(g, frame.company))
            market.move(g, frame.company, to, "a loan taken over")


@dataclass(frozen=True)
class Settlements:
    """Pays the holders of a company that is sold, takes from those who are short, and closes it."""

    def asked(self, g: Game, frame: Settlement) -> tuple[str, ...]:
        return ()

    def needs(self, g: Game, frame: Settlement) -> str:
        return ""

    def options(self, g: Game, frame: Settlement, seat: str) -> Iterator[Option]:
        yield from ()

    def refuse(self, g: Game, frame: Settlement, seat: str, action: Action) -> str | None:
        return "Nothing is asked."

    def take(self, g: Game, frame: Settlement, seat: str, action: Action) -> None:
        raise AssertionError("nothing is asked")

    def settle(self, g: Game, frame: Settlement) -> bool:
        g.close()
        company = frame.company
        size, president = g.company(company).size, g.company(company).president
        assert size is not None
        if frame.amount < 0 and president:
            g.pay(president, BANK, -frame.amount, f"loans of the {company}")
        each = max(frame.amount, 0) // size
        if rest := g.cash(company):
            g.emit(CashMoved(company, BANK, rest, "what is left"))
        for holder, percent in sorted(g.company(company).shares.items()):
            if is_seat(holder):
                dollars = each * (percent * size // 100) if percent > 0 else each * (-percent * size // 100)
                if percent > 0:
                    g.pay(BANK, holder, dollars, f"shares of the {company}")
                else:
                    g.pay(holder, BANK, dollars, f"shares of the {company} sold short")
        former = president or g.company(company).former
        g.emit(CompanyReturned(company))
        if former and any(g.cash(s) < 0 for s in g.state.active):
            g.emit(CrisisFrom(former))
        return True
