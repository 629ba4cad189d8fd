"""Companies sold to companies: liquidations, acquisitions and friendly sales (1817 §7.2).

What is for sale goes through one auction; what its kind decides is who gets the money, and whether
cash and loans go along. A bidder is a president: which of his companies pays is said at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine.core.actions import Action, ChooseBuyer, Pass, RepayLoans, TakeLoans
from engine.core.components import MarketZone
from engine.core.events import (
    CashMoved,
    CompanyReturned,
    CrisisStartSeatChanged,
    LoansChanged,
    Passed,
    PrivateMoved,
    TokenRemoved,
    TrainMoved,
    UnplacedTokensChanged,
)
from engine.core.reasons import CashReason, LoanReason, PriceReason, TrainReason
from engine.core.state import (
    BANK,
    CLOSED,
    Auction,
    BuyerChoice,
    MergerRound,
    ShareholderSettlement,
    TakeoverLoans,
    is_seat,
)
from engine.finance import market
from engine.finance.loans import (
    in_zone,
    is_tradable,
    loan_label,
    loan_terms,
    loans_available,
    loans_taken,
    repay_loans,
    repayment_label,
    size_definition,
    take_loans,
)
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.mechanics import Option
from engine.mergers.assets import ask_for_excess, combine_tokens, transfer_assets

AUCTION_KIND = "sale"
BID_STEP = 10


def is_in_liquidation(g: Game, company: str) -> bool:
    return in_zone(g, company, MarketZone.LIQUIDATION)


def min_bid(g: Game, company: str) -> int:
    """The least that may be bid for a company (§7.2.4): $10, in a friendly sale its market value."""
    if not is_tradable(g, company):
        return BID_STEP
    value = g.price(company) * (g.company(company).size or 0)
    return -(-value // BID_STEP) * BID_STEP


def may_buy(g: Game, buyer: str, target: str) -> bool:
    """Whether that company could pay anything for the target at all (§7.2.4)."""
    return buyer != target and is_tradable(g, buyer) and g.company(buyer).president is not None


def treasury_share_value(g: Game, target: str) -> int:
    """Dollars that the shares in the treasury of a company bring in a friendly sale (§7.2.4)."""
    if not is_tradable(g, target):
        return 0
    return g.percent_held(target, target) // share_percent(g, target) * g.price(target)


def buying_power(g: Game, buyer: str, target: str) -> int:
    """Dollars at most that the company could pay for the target, with its cash and loans (§7.2.4)."""
    if not may_buy(g, buyer, target):
        return -1
    value, most = loan_terms(g).value, size_definition(g, buyer).max_loans
    mine = g.company(buyer).loans
    free = most - mine - g.company(target).loans
    left = loan_terms(g).count - loans_taken(g)
    return g.cash(buyer) + g.cash(target) + treasury_share_value(g, target) + value * min(free, left)


def possible_buyers(g: Game, seat: str, target: str, price: int) -> list[str]:
    """The player's companies that could pay that for the target."""
    mine = [c for c in g.operating_order() if g.company(c).president == seat]
    return [c for c in mine if buying_power(g, c, target) >= price]


def anybody_could_buy(g: Game, target: str) -> bool:
    """Whether any company could pay the least for it."""
    return any(buying_power(g, c, target) >= min_bid(g, target) for c in g.state.market_order)


def may_be_offered(g: Game, company: str) -> bool:
    """Whether its president may put the company up for a friendly sale that somebody could answer
    (§7.2.3): not in the round in which it has come to be gray (§7.2.4)."""
    return (
        is_tradable(g, company) and g.company(company).president is not None and anybody_could_buy(g, company)
    )


def auction_company(g: Game, company: str) -> None:
    """Open the auction for a company, which begins at the left of its president (§7.2.4)."""
    seat = g.company(company).president or g.company(company).former_president or g.state.seats[0]
    order = g.state.seats_from(seat)
    bidders = (*order[1:], order[0]) if order[0] == seat else tuple(order)
    cash = loans = 0
    if is_in_liquidation(g, company):
        cash, loans = g.cash(company), g.company(company).loans
        if cash:
            g.emit(CashMoved(company, BANK, cash, CashReason.SET_ASIDE))
        if loans:
            g.emit(LoansChanged(company, -loans, LoanReason.SET_ASIDE))
    g.push(Auction(AUCTION_KIND, company, tuple(bidders), seat, set_aside_cash=cash, set_aside_loans=loans))


@dataclass(frozen=True)
class CompanyAuction:
    """Companies up for auction.

    `fresh_waits`: one that comes into liquidation while it is up, by the bankruptcy of its president, is
    sold in the next round only, as on the site. `trains_to`: where the trains of one go that the bank
    liquidates.
    """

    defers_new_liquidations: bool = False
    trains_to: str = CLOSED

    def bid_names_item(self) -> bool:
        return False

    def label(self, g: Game, frame: Auction) -> str:
        return f"the {frame.item}"

    def details(self, g: Game, frame: Auction) -> str:
        """Why it is for sale, and what comes along."""
        company, co = frame.item, g.company(frame.item)
        why = "offered" if is_tradable(g, company) else market.space_label(g, market.token_space(g, company))
        markers = sum(owner == company for here in g.state.tokens.values() for _, owner in here)
        loans = f"{co.loans} loan{'s' * (co.loans != 1)}"
        goes = [] if is_in_liquidation(g, company) else [f"${g.cash(company)}", loans]
        trains = f"trains {' '.join(co.trains)}" if co.trains else "no train"
        with_ = [*goes, trains, f"{markers} marker{'s' * (markers != 1)}", *g.privates_of(company)]
        return f"{why}: {', '.join(with_)}"

    def bid_range(self, g: Game, frame: Auction, seat: str) -> range:
        """The president of what is for sale bids the least that he may, or nothing (§7.2.4)."""
        reach = self.limit_range(g, frame, seat)
        return reach[:1] if g.company(frame.item).president == seat else reach

    def limit_range(self, g: Game, frame: Auction, seat: str) -> range:
        """Up to what the richest of his companies could pay."""
        if self._is_deferred(g, frame):
            return range(0)
        low = frame.high_bid + BID_STEP if frame.high_bidder else min_bid(g, frame.item)
        high = max((buying_power(g, c, frame.item) for c in self._own_companies(g, seat)), default=-1)
        return range(low, high // BID_STEP * BID_STEP + 1, BID_STEP)

    def asked_without_bid(self, g: Game, frame: Auction, seat: str) -> bool:
        return False

    def _is_deferred(self, g: Game, frame: Auction) -> bool:
        """Whether the company has come into liquidation while it is up."""
        span = g.state.stack[0]
        fresh = isinstance(span, MergerRound) and frame.item not in span.in_liquidation
        return self.defers_new_liquidations and fresh and is_in_liquidation(g, frame.item)

    @staticmethod
    def _own_companies(g: Game, seat: str) -> list[str]:
        return [c for c in g.state.market_order if g.company(c).president == seat]

    def bid_refusal(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        low = frame.high_bid + BID_STEP if frame.high_bidder else min_bid(g, frame.item)
        if amount % BID_STEP or amount < low:
            return f"A bid is a multiple of ${BID_STEP}, ${low} or more (§7.2.4)."
        if amount not in self.limit_range(g, frame, seat):
            return f"None of {g.state.name(seat)}'s companies could pay ${amount} (§7.2.4)."
        if g.company(frame.item).president == seat and amount > low:
            return (
                f"The president of the {frame.item} bids no more than ${BID_STEP} above the others (§7.2.4)."
            )
        return None

    def on_close(self, g: Game, frame: Auction) -> None:
        company = frame.item
        if frame.high_bidder is None:
            if is_in_liquidation(g, company) and not self._is_deferred(g, frame):
                scrap_company(g, company, self.trains_to)
                amount = frame.set_aside_cash - frame.set_aside_loans * loan_terms(g).value
                g.push(ShareholderSettlement(company, amount, frame.set_aside_loans))
            return
        g.push(
            BuyerChoice(
                company, frame.high_bidder, frame.high_bid, frame.set_aside_cash, frame.set_aside_loans
            )
        )


def scrap_company(g: Game, company: str, trains_to: str) -> None:
    """Nobody but the bank bids for a company in liquidation: what it has leaves the game (§7.2.4)."""
    for train in list(g.company(company).trains):
        g.emit(TrainMoved(train, company, trains_to, TrainReason.SCRAPPED))
    for private in g.privates_of(company):
        g.emit(PrivateMoved(private, CLOSED))
    for hex in [h for h, here in g.state.tokens.items() if any(c == company for _, c in here)]:
        g.emit(TokenRemoved(company, hex, None))
    if g.company(company).unplaced_tokens:
        g.emit(UnplacedTokensChanged(company, -g.company(company).unplaced_tokens))


@dataclass(frozen=True)
class PurchaseQuestion:
    """Asks the winner which of his companies pays (§7.2.4).

    `excess_waits`: markers and trains above the limits are given up when something is asked again, as on the
    site; where the buyer is asked nothing about loans, the holders are settled with before that, and the next
    company is up. The book has it the other way.
    """

    defers_excess: bool = False

    def asked(self, g: Game, frame: BuyerChoice) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: BuyerChoice) -> str:
        return f"to name the company that buys the {frame.company} for ${frame.price}"

    def options(self, g: Game, frame: BuyerChoice, seat: str) -> Iterator[Option]:
        for company in possible_buyers(g, seat, frame.company, frame.price):
            yield Option(ChooseBuyer(company), f"The {company} buys the {frame.company} for ${frame.price}")

    def refusal(self, g: Game, frame: BuyerChoice, seat: str, action: Action) -> str | None:
        if not isinstance(action, ChooseBuyer):
            return f"Say which company buys the {frame.company} (§7.2.4)."
        if action.company not in possible_buyers(g, seat, frame.company, frame.price):
            return f"The {action.company} is not yours or could not pay ${frame.price} (§7.2.4)."
        return None

    def apply(self, g: Game, frame: BuyerChoice, seat: str, action: Action) -> None:
        assert isinstance(action, ChooseBuyer)
        self._buy(g, frame, action.company)

    def advance(self, g: Game, frame: BuyerChoice) -> bool:
        able = possible_buyers(g, frame.seat, frame.company, frame.price)
        if len(able) != 1:
            return False
        self._buy(g, frame, able[0])
        return True

    def _buy(self, g: Game, frame: BuyerChoice, buyer: str) -> None:
        """Treasury shares, assets, the price, and the loans that must be repaid (§7.2.4, steps 6, 7)."""
        target, price = frame.company, frame.price
        liquidated = is_in_liquidation(g, target)
        g.pay(BANK, target, treasury_share_value(g, target), CashReason.TREASURY_SHARES, target)
        inherited = g.company(target).loans
        transfer_assets(g, buyer, target)
        most = size_definition(g, buyer).max_loans
        forced = max(g.company(buyer).loans - most, 0)
        while g.cash(buyer) < price and g.company(buyer).loans < most and loans_available(g, buyer):
            take_loans(g, buyer)
        g.pay(buyer, BANK, price, CashReason.COMPANY, target)
        while forced and g.cash(buyer) >= loan_terms(g).value:
            repay_loans(g, buyer, moving=False)
            forced, inherited = forced - 1, inherited - 1
        takeover = TakeoverLoans(buyer, inherited)
        amount = (
            price
            if not liquidated
            else price + frame.set_aside_cash - frame.set_aside_loans * loan_terms(g).value
        )
        g.pop()
        if self.defers_excess:
            span = g.top
            assert isinstance(span, MergerRound)
            g.replace_top(msgspec.structs.replace(span, excess_tokens=combine_tokens(g, buyer, target)))
        g.push(ShareholderSettlement(target, amount, frame.set_aside_loans))
        g.push(takeover)
        if not self.defers_excess:
            ask_for_excess(g, buyer, target)


def max_takeover_repayment(g: Game, frame: TakeoverLoans) -> int:
    """How many of the loans that came along the buyer can repay."""
    return min(max(frame.acquired_loans, 0), g.cash(frame.company) // loan_terms(g).value)


@dataclass(frozen=True)
class TakeoverQuestion:
    """Asks the buyer what becomes of the loans that came along, and whether it takes others (§7.2.4).

    Each that is kept moves the price a space to the left. `loans_first`: none is repaid before others are
    declined, as on the site.
    """

    loans_first: bool = False

    def asked(self, g: Game, frame: TakeoverLoans) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: TakeoverLoans) -> str:
        repays = self._may_repay(frame) and max_takeover_repayment(g, frame) > 0
        able = ["repay"] * repays + ["take"] * (frame.stage == "loan")
        came = f"; {frame.acquired_loans} came along" if frame.acquired_loans > 0 else ""
        has = f"it has ${g.cash(frame.company)}{came}"
        return f"to {' or '.join(able)} loans for the {frame.company}, or be done ({has})"

    def _may_repay(self, frame: TakeoverLoans) -> bool:
        return frame.stage == "repay" or not self.loans_first

    def options(self, g: Game, frame: TakeoverLoans, seat: str) -> Iterator[Option]:
        most = max_takeover_repayment(g, frame) if self._may_repay(frame) else 0
        for count in range(1, most + 1):
            yield Option(RepayLoans(count), repayment_label(g, frame.company, count, moving=False))
        if frame.stage == "loan":
            for count in range(1, loans_available(g, frame.company) + 1):
                yield Option(TakeLoans(count), loan_label(g, frame.company, count))
        yield Option(Pass(), "No more loans" if frame.stage == "loan" else "Keep the rest")

    def refusal(self, g: Game, frame: TakeoverLoans, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case RepayLoans(count):
                if not self._may_repay(frame):
                    return f"First the {frame.company} takes loans, or passes (§7.2.4)."
                most = max_takeover_repayment(g, frame)
                if not 1 <= count <= most:
                    return f"The {frame.company} can repay {most} of the loans (§7.2.4)."
                return None
            case TakeLoans(count):
                if frame.stage != "loan":
                    return "Loans are taken before others are repaid (§7.2.4)."
                if not 1 <= count <= loans_available(g, frame.company):
                    available = loans_available(g, frame.company)
                    return f"The {frame.company} may take {available} more loans (§1.2.5)."
                return None
        return f"The {frame.company} may repay or take loans now, or is done (§7.2.4)."

    def apply(self, g: Game, frame: TakeoverLoans, seat: str, action: Action) -> None:
        match action:
            case RepayLoans(count):
                repay_loans(g, frame.company, count, moving=False)
                g.replace_top(TakeoverLoans(frame.company, frame.acquired_loans - count, "repay"))
            case TakeLoans(count):
                take_loans(g, frame.company, count)
            case _:
                g.emit(Passed(frame.company, "loans"))
                if frame.stage == "loan":
                    g.replace_top(TakeoverLoans(frame.company, frame.acquired_loans, "repay"))
                else:
                    self._finish(g, frame)

    def advance(self, g: Game, frame: TakeoverLoans) -> bool:
        if g.company(frame.company).president:
            if (
                max_takeover_repayment(g, frame)
                if frame.stage == "repay"
                else loans_available(g, frame.company)
            ):
                return False
            if frame.stage == "loan":
                g.replace_top(TakeoverLoans(frame.company, frame.acquired_loans, "repay"))
                return True
        self._finish(g, frame)
        return True

    def _finish(self, g: Game, frame: TakeoverLoans) -> None:
        g.pop()
        for _ in range(max(frame.acquired_loans, 0)):
            to = market.left(g, market.token_space(g, frame.company))
            market.move_token(g, frame.company, to, PriceReason.LOAN_TAKEN_OVER)


@dataclass(frozen=True)
class SettlementRules:
    """Pays the holders of a company that is sold, takes from those who are short, and closes it."""

    def asked(self, g: Game, frame: ShareholderSettlement) -> tuple[str, ...]:
        return ()

    def prompt(self, g: Game, frame: ShareholderSettlement) -> str:
        return ""

    def options(self, g: Game, frame: ShareholderSettlement, seat: str) -> Iterator[Option]:
        yield from ()

    def refusal(self, g: Game, frame: ShareholderSettlement, seat: str, action: Action) -> str | None:
        return "Nothing is asked."

    def apply(self, g: Game, frame: ShareholderSettlement, seat: str, action: Action) -> None:
        raise AssertionError("nothing is asked")

    def advance(self, g: Game, frame: ShareholderSettlement) -> bool:
        g.pop()
        company = frame.company
        size, president = g.company(company).size, g.company(company).president
        assert size is not None
        if frame.amount < 0 and president:
            g.pay(president, BANK, -frame.amount, CashReason.LOAN_SHORTFALL, company)
        each = max(frame.amount, 0) // size
        if rest := g.cash(company):
            g.emit(CashMoved(company, BANK, rest, CashReason.REMAINDER))
        for holder, percent in sorted(g.company(company).shares.items()):
            if is_seat(holder):
                dollars = each * (percent * size // 100) if percent > 0 else each * (-percent * size // 100)
                if percent > 0:
                    g.pay(BANK, holder, dollars, CashReason.SHARE_SETTLEMENT, company)
                else:
                    g.pay(holder, BANK, dollars, CashReason.SHORT_SETTLEMENT, company)
        former = president or g.company(company).former_president
        g.emit(CompanyReturned(company))
        if former and any(g.cash(s) < 0 for s in g.state.active_seats):
            g.emit(CrisisStartSeatChanged(former))
        return True
