"""The sale of privates in rising order, with bids on those still to come (1830 §7).

The cheapest unsold private is offered to one player after the other, who buys it, bids on a
later one, or passes. When it is sold, each next private that has bids is sold too: to its only
bidder, or in an auction among its bidders in which the lowest acts. Money that is bid is set
aside. A full round of passes makes the first private $5 cheaper, and pays income once that one
is sold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from engine.core.actions import Action, Bid, BuyPrivate, Par, Pass
from engine.core.events import (
    BidMade,
    Passed,
    PresidentNamed,
    PriorityMoved,
    PrivateMoved,
)
from engine.core.state import (
    BANK,
    IPO,
    AnyFrame,
    ParPriceChoice,
    Waterfall,
    WaterfallBidding,
)
from engine.finance.market import refuse_par_price, set_par_price
from engine.finance.ownership import move_shares, president_share_percent
from engine.game import Game
from engine.mechanics import Option
from engine.private_companies.income import pay_private_income

MIN_RAISE = 5


def offered_private(g: Game) -> str | None:
    """The private that is for sale at its price: the first unsold."""
    return next((p for p, owner in g.state.private_owners.items() if owner == BANK), None)


def asking_price(g: Game, frame: Waterfall) -> int:
    """Dollars for the private now offered."""
    private = offered_private(g)
    assert private is not None
    return max(g.private_definition(private).price - frame.discount, 0)


def cash_in_bids(frame: Waterfall, seat: str, *, but: str | None = None) -> int:
    """Dollars that the seat has set aside in bids."""
    return sum(bids.get(seat, 0) for private, bids in frame.bids.items() if private != but)


def min_bid(g: Game, bids: dict[str, int], private: str) -> int:
    """The least that may be bid: above face value and any bid by the raise (1830 §7.2)."""
    return max([g.private_definition(private).price, *bids.values()]) + MIN_RAISE


def award_private(g: Game, seat: str, private: str, price: int, why: str, *, par_later: bool = False) -> None:
    """Give a private and the share that comes with it to its buyer (1830 Table 1 notes 4, 5).

    `par_later`: the par price is set when those that follow and have one bid each are sold too.
    """
    g.pay(seat, BANK, price, why)
    g.emit(PrivateMoved(private, seat))
    if grant := g.private_definition(private).grants:
        if grant.sets_start_price:
            if par_later:
                sell_single_bid_privates(g)
            g.push(ParPriceChoice(grant.company, seat))
        else:
            move_shares(g, grant.company, IPO, seat, grant.percent)


def sell_single_bid_privates(g: Game) -> None:
    """Sell the next privates as long as each has one bid."""
    frame, private = g.top, offered_private(g)
    assert isinstance(frame, Waterfall)
    if private and len(bids := frame.bids.get(private, {})) == 1:
        ((seat, price),) = bids.items()
        left = {p: b for p, b in frame.bids.items() if p != private}
        g.replace_top(msgspec.structs.replace(frame, bids=left, consecutive_passes=0))
        award_private(g, seat, private, price, f"the {private}")
        sell_single_bid_privates(g)


@dataclass(frozen=True)
class WaterfallQuestion:
    """Asks the player whose turn it is.

    `after` makes the round that follows. `any_price`: the private offered is sold at whatever
    price is named, as the site does. `par_later`: see `take_over`.
    """

    next_round: Callable[[Game], AnyFrame]
    any_price: bool = False
    defer_par: bool = False

    def asked(self, g: Game, frame: Waterfall) -> tuple[str, ...]:
        return (frame.current_seat,) if offered_private(g) else ()

    def prompt(self, g: Game, frame: Waterfall) -> str:
        unsold = sum(owner == BANK for owner in g.state.private_owners.values())
        other = ", to bid on another private," if unsold > 1 else ""
        return f"to buy the {offered_private(g)} for ${asking_price(g, frame)}{other} or to pass"

    def options(self, g: Game, frame: Waterfall, seat: str) -> Iterator[Option]:
        private = offered_private(g)
        if private is None:
            return
        if self.refusal(g, frame, seat, buy := BuyPrivate(private)) is None:
            yield Option(buy, f"Buy the {private} for ${asking_price(g, frame)}")
        for other, owner in g.state.private_owners.items():
            if owner == BANK and other != private:
                low = min_bid(g, frame.bids.get(other, {}), other)
                if self.refusal(g, frame, seat, bid := Bid(other, low)) is None:
                    high = g.cash(seat) - cash_in_bids(frame, seat, but=other)
                    yield Option(bid, f"Bid for the {other}, ${low} or more", range(low, high + 1))
        yield Option(Pass(), "Pass")

    def refusal(self, g: Game, frame: Waterfall, seat: str, action: Action) -> str | None:
        private = offered_private(g)
        match action:
            case Pass():
                return None
            case BuyPrivate(wanted, named):
                if wanted != private:
                    return f"The {private} is the private now offered; others take bids{g.cite('1830 §7.1')}."
                free, price = g.cash(seat) - cash_in_bids(frame, seat), asking_price(g, frame)
                if named not in (None, price) and not (self.any_price and named and named > 0):
                    return f"The {private} is offered at ${price}{g.cite('1830 §7.1')}."
                price = named or price
                if price > free:
                    return (
                        f"The {private} costs ${price}, and ${free} is not set aside in "
                        f"bids{g.cite('1830 §7.2')}."
                    )
                return None
            case Bid(wanted, amount):
                if g.state.private_owners[wanted] != BANK:
                    return f"The {wanted} is sold."
                if wanted == private:
                    return (
                        f"The {private} is offered at ${asking_price(g, frame)}: buy it "
                        f"instead{g.cite('1830 §7.1')}."
                    )
                low = min_bid(g, frame.bids.get(wanted, {}), wanted)
                if amount < low:
                    return f"A bid on the {wanted} must be ${low} or more{g.cite('1830 §7.2')}."
                free = g.cash(seat) - cash_in_bids(frame, seat, but=wanted)
                if amount > free:
                    return (
                        f"${free} is free for a bid on the {wanted}; the rest is set aside in "
                        f"bids{g.cite('1830 §7.2')}."
                    )
                return None
        return (
            f"The privates are sold first: buy the one offered, bid on another, or pass{g.cite('1830 §7.1')}."
        )

    def apply(self, g: Game, frame: Waterfall, seat: str, action: Action) -> None:
        following = g.state.left_of(seat)
        match action:
            case Pass():
                g.emit(Passed(seat, "the privates"))
                g.replace_top(
                    msgspec.structs.replace(
                        frame, current_seat=following, consecutive_passes=frame.consecutive_passes + 1
                    )
                )
            case BuyPrivate(private, named):
                self._sell_offered(g, frame, seat, private, named or asking_price(g, frame))
            case Bid(private, amount):
                bids = {k: v for k, v in frame.bids.get(private, {}).items() if k != seat} | {seat: amount}
                g.emit(BidMade(seat, private, amount))
                g.replace_top(
                    msgspec.structs.replace(
                        frame, current_seat=following, consecutive_passes=0, bids=frame.bids | {private: bids}
                    )
                )

    def _sell_offered(self, g: Game, frame: Waterfall, seat: str, private: str, price: int) -> None:
        following = g.state.left_of(seat)
        g.replace_top(
            msgspec.structs.replace(frame, current_seat=following, consecutive_passes=0, discount=0)
        )
        g.emit(PriorityMoved(following))
        award_private(g, seat, private, price, f"the {private}", par_later=self.defer_par)

    def advance(self, g: Game, frame: Waterfall) -> bool:
        private = offered_private(g)
        if private is None:
            g.replace_top(self.next_round(g))
            return True
        if bids := frame.bids.get(private):
            left = {p: b for p, b in frame.bids.items() if p != private}
            g.replace_top(msgspec.structs.replace(frame, bids=left, consecutive_passes=0))
            g.push(WaterfallBidding(private, bids))
            return True
        if frame.consecutive_passes == len(g.state.players):
            return self._all_passed(g, frame)
        if asking_price(g, frame) == 0:
            # 1830 §7.3: at no price the first player it is offered to has to take it.
            self._sell_offered(g, frame, frame.current_seat, private, 0)
            return True
        return False

    def _all_passed(self, g: Game, frame: Waterfall) -> bool:
        if next(iter(g.state.private_owners.values())) == BANK:
            g.replace_top(
                msgspec.structs.replace(frame, consecutive_passes=0, discount=frame.discount + MIN_RAISE)
            )
        else:
            g.replace_top(msgspec.structs.replace(frame, consecutive_passes=0))
            pay_private_income(g)
        return True


@dataclass(frozen=True)
class WaterfallBiddersQuestion:
    """An auction among those with bids on a private: the lowest raises or leaves (1830 §7.2).

    `clockwise`: instead the next on the left of the highest does (1870 §5.7).
    """

    clockwise: bool = False
    defer_par: bool = False

    def asked(self, g: Game, frame: WaterfallBidding) -> tuple[str, ...]:
        if self.clockwise:
            highest = max(frame.bids, key=lambda seat: frame.bids[seat])
            return (next(seat for seat in g.state.seats_from(highest)[1:] if seat in frame.bids),)
        return (min(frame.bids, key=lambda seat: frame.bids[seat]),)

    def prompt(self, g: Game, frame: WaterfallBidding) -> str:
        return (
            f"to raise to ${max(frame.bids.values()) + MIN_RAISE} or more for the {frame.private}, or to pass"
        )

    def options(self, g: Game, frame: WaterfallBidding, seat: str) -> Iterator[Option]:
        low = max(frame.bids.values()) + MIN_RAISE
        bid = Bid(frame.private, low)
        if self.refusal(g, frame, seat, bid) is None:
            yield Option(
                bid,
                f"Bid for the {frame.private}, ${low} or more",
                range(low, self._free_cash(g, frame, seat) + 1),
            )
        yield Option(Pass(), f"Leave the auction for the {frame.private}")

    def refusal(self, g: Game, frame: WaterfallBidding, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case Bid(private, amount) if private == frame.private:
                low, free = max(frame.bids.values()) + MIN_RAISE, self._free_cash(g, frame, seat)
                if amount < low:
                    return f"A bid on the {private} must be ${low} or more{g.cite('1830 §7.2')}."
                if amount > free:
                    return f"${free} is free for a bid on the {private}{g.cite('1830 §7.2')}."
                return None
        return f"The {frame.private} is being auctioned: bid for it or pass{g.cite('1830 §7.2')}."

    def apply(self, g: Game, frame: WaterfallBidding, seat: str, action: Action) -> None:
        bids = {k: v for k, v in frame.bids.items() if k != seat}
        if isinstance(action, Bid):
            g.emit(BidMade(seat, frame.private, action.amount))
            bids[seat] = action.amount
        else:
            g.emit(Passed(seat, f"the auction for the {frame.private}"))
        g.replace_top(WaterfallBidding(frame.private, bids))

    def advance(self, g: Game, frame: WaterfallBidding) -> bool:
        if len(frame.bids) > 1:
            return False
        ((seat, price),) = frame.bids.items()
        g.pop()
        award_private(g, seat, frame.private, price, f"the {frame.private}", par_later=self.defer_par)
        return True

    @staticmethod
    def _free_cash(g: Game, frame: WaterfallBidding, seat: str) -> int:
        below = g.state.stack[-2]
        return g.cash(seat) - (cash_in_bids(below, seat) if isinstance(below, Waterfall) else 0)


@dataclass(frozen=True)
class ParPriceQuestion:
    """The par price of a company whose president's certificate came with a private (1830 §8.1)."""

    def asked(self, g: Game, frame: ParPriceChoice) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: ParPriceChoice) -> str:
        return f"to set the par price of the {frame.company}"

    def options(self, g: Game, frame: ParPriceChoice, seat: str) -> Iterator[Option]:
        for price in g.components.par_prices:
            yield Option(Par(frame.company, price), f"Par the {frame.company} at ${price}")

    def refusal(self, g: Game, frame: ParPriceChoice, seat: str, action: Action) -> str | None:
        match action:
            case Par(company, price) if company == frame.company:
                return refuse_par_price(g, price)
        return f"The par price of the {frame.company} has to be set first{g.cite('1830 §8.1')}."

    def apply(self, g: Game, frame: ParPriceChoice, seat: str, action: Action) -> None:
        assert isinstance(action, Par)
        g.pop()
        set_par_price(g, action.company, action.price)
        g.emit(PresidentNamed(action.company, seat))
        move_shares(g, action.company, IPO, seat, president_share_percent(g, action.company))

    def advance(self, g: Game, frame: ParPriceChoice) -> bool:
        return False
