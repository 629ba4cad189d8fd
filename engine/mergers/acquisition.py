"""Companies that buy companies: liquidations, acquisitions and friendly sales (1817 §7.2).

All three are one kind of auction. They differ in who gets the money, and in whether the cash and loans
of the company go to the buyer. Presidents bid, and the winner names the company that pays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

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
from engine.core.words import counted
from engine.finance import market
from engine.finance.auctions import AuctionKind
from engine.finance.loans import (
    in_zone,
    is_tradable,
    loan_label,
    loan_terms,
    loans_available,
    loans_taken,
    may_repay,
    refuse_loans,
    repay_loans,
    repayment_label,
    size_definition,
    take_loans,
)
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.mechanics import AutomaticRules, Option
from engine.mergers.assets import ask_for_excess, combine_tokens, token_hexes, transfer_assets

AUCTION_KIND: Final = "sale"
BID_STEP = 10


def is_in_liquidation(g: Game, company: str) -> bool:
    """Whether the company's price token is in the liquidation zone of the market."""
    return in_zone(g, company, MarketZone.LIQUIDATION)


def min_bid(g: Game, company: str) -> int:
    """The least bid for a company in dollars (1817 §7.2.4): $10, or its market value in a friendly sale."""
    if not is_tradable(g, company):
        return BID_STEP
    value = g.price(company) * (g.company(company).size or 0)
    return -(-value // BID_STEP) * BID_STEP


def may_buy(g: Game, buyer: str, target: str) -> bool:
    """Whether the buyer may buy companies at all, and is not the target itself (1817 §7.2.4)."""
    return buyer != target and is_tradable(g, buyer) and g.company(buyer).president is not None


def treasury_share_value(g: Game, target: str) -> int:
    """Dollars that the buyer receives for the target's treasury shares in a friendly sale (1817 §7.2.4)."""
    if not is_tradable(g, target):
        return 0
    return g.percent_held(target, target) // share_percent(g, target) * g.price(target)


def buying_power(g: Game, buyer: str, target: str) -> int:
    """The most in dollars that the buyer could pay for the target, with cash and loans of both (1817 §7.2.4).

    -1 if it may not buy the target at all.
    """
    if not may_buy(g, buyer, target):
        return -1
    value, limit = loan_terms(g).value, size_definition(g, buyer).max_loans
    buyer_may_take = limit - g.company(buyer).loans - g.company(target).loans
    bank_has = loan_terms(g).count - loans_taken(g)
    loans = value * min(buyer_may_take, bank_has)
    return g.cash(buyer) + g.cash(target) + treasury_share_value(g, target) + loans


def possible_buyers(g: Game, seat: str, target: str, price: int) -> list[str]:
    """The player's companies that could pay that price for the target."""
    own = [c for c in g.operating_order() if g.company(c).president == seat]
    return [c for c in own if buying_power(g, c, target) >= price]


def anybody_could_buy(g: Game, target: str) -> bool:
    """Whether any company could pay the least bid for the target."""
    return any(buying_power(g, c, target) >= min_bid(g, target) for c in g.state.market_order)


def may_be_offered(g: Game, company: str) -> bool:
    """Whether the president may offer the company for sale, and some company could buy it (1817 §7.2.3).

    A company that has come into acquisition in this round may not be offered (1817 §7.2.4).
    """
    return (
        is_tradable(g, company) and g.company(company).president is not None and anybody_could_buy(g, company)
    )


def auction_company(g: Game, company: str) -> None:
    """Open the auction of a company; the player to the left of its president bids first (1817 §7.2.4)."""
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
class CompanyAuction(AuctionKind):
    """Companies up for auction.

    `defers_new_liquidations`: a company that comes into liquidation during its auction, because its president
    is bankrupt, is sold only in the next round, as on the site. `trains_to`: the owner of the trains of a
    company that nobody buys out of liquidation.
    """

    defers_new_liquidations: bool = False
    trains_to: str = CLOSED

    def details(self, g: Game, frame: Auction) -> str:
        """Why the company is for sale, and what its buyer gets."""
        company, co = frame.item, g.company(frame.item)
        why = "offered" if is_tradable(g, company) else market.space_label(g, market.token_space(g, company))
        tokens = sum(owner == company for placed in g.state.tokens.values() for _, owner in placed)
        loans = counted(co.loans, "loan")
        money = [] if is_in_liquidation(g, company) else [f"${g.cash(company):,}", loans]
        trains = f"trains {' '.join(co.trains)}" if co.trains else "no train"
        assets = [*money, trains, counted(tokens, "token"), *g.privates_of(company)]
        return f"{why}: {', '.join(assets)}"

    def bid_range(self, g: Game, frame: Auction, seat: str) -> range:
        """The president of the company for sale may only make the least bid (1817 §7.2.4)."""
        limits = self.limit_range(g, frame, seat)
        return limits[:1] if g.company(frame.item).president == seat else limits

    def limit_range(self, g: Game, frame: Auction, seat: str) -> range:
        """Bids up to what the richest of the player's companies could pay."""
        if self._is_deferred(g, frame):
            return range(0)
        low = frame.high_bid + BID_STEP if frame.high_bidder else min_bid(g, frame.item)
        high = max((buying_power(g, c, frame.item) for c in self._own_companies(g, seat)), default=-1)
        return range(low, high // BID_STEP * BID_STEP + 1, BID_STEP)

    def _is_deferred(self, g: Game, frame: Auction) -> bool:
        """Whether the company has come into liquidation during its auction."""
        base = g.state.stack[0]
        is_new = isinstance(base, MergerRound) and frame.item not in base.in_liquidation
        return self.defers_new_liquidations and is_new and is_in_liquidation(g, frame.item)

    @staticmethod
    def _own_companies(g: Game, seat: str) -> list[str]:
        return [c for c in g.state.market_order if g.company(c).president == seat]

    def bid_refusal(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        low = frame.high_bid + BID_STEP if frame.high_bidder else min_bid(g, frame.item)
        if amount % BID_STEP or amount < low:
            return f"A bid is a multiple of ${BID_STEP:,}, ${low:,} or more{g.cite('1817 §7.2.4')}."
        if amount not in self.limit_range(g, frame, seat):
            return f"None of {g.state.name(seat)}'s companies could pay ${amount:,}{g.cite('1817 §7.2.4')}."
        if g.company(frame.item).president == seat and amount > low:
            president = f"The president of the {frame.item}"
            return f"{president} bids at most ${BID_STEP:,} above the others{g.cite('1817 §7.2.4')}."
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
    """Remove everything that a company in liquidation has, because nobody buys it (1817 §7.2.4)."""
    for train in list(g.company(company).trains):
        g.emit(TrainMoved(train, company, trains_to, TrainReason.SCRAPPED))
    for private in g.privates_of(company):
        g.emit(PrivateMoved(private, CLOSED))
    for hex in token_hexes(g, company):
        g.emit(TokenRemoved(company, hex, None))
    if g.company(company).unplaced_tokens:
        g.emit(UnplacedTokensChanged(company, -g.company(company).unplaced_tokens))


@dataclass(frozen=True)
class BuyerChoiceQuestion:
    """Asks the winner of an auction which of their companies pays (1817 §7.2.4).

    `defers_excess`: tokens and trains above the limits are given up only before the next decision, as on the
    site. If the buyer has no decision about loans, the shareholders are paid and the next company comes up
    before that; in the book it is the other way round.
    """

    defers_excess: bool = False

    def asked(self, g: Game, frame: BuyerChoice) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: BuyerChoice) -> str:
        return f"name the company that buys the {frame.company} for ${frame.price:,}"

    def options(self, g: Game, frame: BuyerChoice, seat: str) -> Iterator[Option]:
        for company in possible_buyers(g, seat, frame.company, frame.price):
            yield Option(ChooseBuyer(company), f"The {company} buys the {frame.company} for ${frame.price:,}")

    def refusal(self, g: Game, frame: BuyerChoice, seat: str, action: Action) -> str | None:
        if not isinstance(action, ChooseBuyer):
            return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7.2.4')}."
        if action.company not in possible_buyers(g, seat, frame.company, frame.price):
            reason = f"is not yours or cannot pay ${frame.price:,}"
            return f"The {action.company} {reason}{g.cite('1817 §7.2.4')}."
        return None

    def apply(self, g: Game, frame: BuyerChoice, seat: str, action: Action) -> None:
        assert isinstance(action, ChooseBuyer)
        self._buy(g, frame, action.company)

    def advance(self, g: Game, frame: BuyerChoice) -> bool:
        buyers = possible_buyers(g, frame.seat, frame.company, frame.price)
        if len(buyers) != 1:
            return False
        self._buy(g, frame, buyers[0])
        return True

    def _buy(self, g: Game, frame: BuyerChoice, buyer: str) -> None:
        """Sell the treasury shares, move the assets, pay, repay excess loans (1817 §7.2.4, steps 6, 7)."""
        target, price = frame.company, frame.price
        from_liquidation = is_in_liquidation(g, target)
        g.pay(BANK, target, treasury_share_value(g, target), CashReason.TREASURY_SHARES, target)
        acquired_loans = g.company(target).loans
        transfer_assets(g, buyer, target)
        limit = size_definition(g, buyer).max_loans
        excess = max(g.company(buyer).loans - limit, 0)
        while g.cash(buyer) < price and g.company(buyer).loans < limit and loans_available(g, buyer):
            take_loans(g, buyer)
        g.pay(buyer, BANK, price, CashReason.COMPANY, target)
        while excess and g.cash(buyer) >= loan_terms(g).value:
            repay_loans(g, buyer, moves_price=False)
            excess, acquired_loans = excess - 1, acquired_loans - 1
        amount = price
        if from_liquidation:
            amount += frame.set_aside_cash - frame.set_aside_loans * loan_terms(g).value
        g.pop()
        if self.defers_excess:
            merger_round = g.top
            assert isinstance(merger_round, MergerRound)
            excess_tokens = combine_tokens(g, buyer, target)
            g.change_top(merger_round, excess_tokens=excess_tokens)
        g.push(ShareholderSettlement(target, amount, frame.set_aside_loans))
        g.push(TakeoverLoans(buyer, acquired_loans))
        if not self.defers_excess:
            ask_for_excess(g, buyer, target)


def max_takeover_repayment(g: Game, frame: TakeoverLoans) -> int:
    """How many of the acquired loans the buyer can repay."""
    return min(max(frame.acquired_loans, 0), g.cash(frame.company) // loan_terms(g).value)


@dataclass(frozen=True)
class TakeoverLoansQuestion:
    """Asks whether the buyer takes loans, and which of the acquired loans it repays (1817 §7.2.4).

    Each acquired loan that it keeps moves its price one space to the left. `loans_first`: it may repay loans
    only after it has passed on taking new ones, as on the site.
    """

    loans_first: bool = False

    def asked(self, g: Game, frame: TakeoverLoans) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: TakeoverLoans) -> str:
        can_repay = self._may_repay(frame) and max_takeover_repayment(g, frame) > 0
        verbs = ["repay"] * can_repay + ["take"] * (frame.stage == "loan")
        acquired = f" and {frame.acquired_loans} acquired loan" if frame.acquired_loans > 0 else ""
        plural = "s" * (frame.acquired_loans > 1)
        state = f"it has ${g.cash(frame.company):,}{acquired}{plural}"
        return f"{' or '.join(verbs)} loans for the {frame.company}, or pass ({state})"

    def _may_repay(self, frame: TakeoverLoans) -> bool:
        return frame.stage == "repay" or not self.loans_first

    def options(self, g: Game, frame: TakeoverLoans, seat: str) -> Iterator[Option]:
        most = max_takeover_repayment(g, frame) if self._may_repay(frame) else 0
        for count in range(1, most + 1):
            yield Option(RepayLoans(count), repayment_label(g, frame.company, count, moves_price=False))
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
                    return f"First take loans for the {frame.company}, or pass{g.cite('1817 §7.2.4')}."
                most = max_takeover_repayment(g, frame)
                if not 1 <= count <= most:
                    return f"The {frame.company} {may_repay(most)}{g.cite('1817 §7.2.4')}."
                return None
            case TakeLoans(count):
                if frame.stage != "loan":
                    return f"Loans are taken before acquired ones are repaid{g.cite('1817 §7.2.4')}."
                return refuse_loans(g, frame.company, count)
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7.2.4')}."

    def apply(self, g: Game, frame: TakeoverLoans, seat: str, action: Action) -> None:
        match action:
            case RepayLoans(count):
                repay_loans(g, frame.company, count, moves_price=False)
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
            repaying = frame.stage == "repay"
            if max_takeover_repayment(g, frame) if repaying else loans_available(g, frame.company):
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
class ShareholderSettlementRules(AutomaticRules):
    """Pays the shareholders of a company that is sold, collects from short positions, and closes it."""

    def advance(self, g: Game, frame: ShareholderSettlement) -> bool:
        g.pop()
        company = frame.company
        size, president = g.company(company).size, g.company(company).president
        assert size is not None
        if frame.amount < 0 and president:
            g.pay(president, BANK, -frame.amount, CashReason.LOAN_SHORTFALL, company)
        per_share = max(frame.amount, 0) // size
        if rest := g.cash(company):
            g.emit(CashMoved(company, BANK, rest, CashReason.REMAINDER))
        for holder, percent in sorted(g.company(company).shares.items()):
            if is_seat(holder):
                dollars = per_share * (abs(percent) * size // 100)
                if percent > 0:
                    g.pay(BANK, holder, dollars, CashReason.SHARE_SETTLEMENT, company)
                else:
                    g.pay(holder, BANK, dollars, CashReason.SHORT_SETTLEMENT, company)
        former = president or g.company(company).former_president
        g.emit(CompanyReturned(company))
        if former and any(g.cash(s) < 0 for s in g.state.active_seats):
            g.emit(CrisisStartSeatChanged(former))
        return True
