"""The waterfall auction: privates are sold in rising order, with bids on the later ones (1830 §7).

The cheapest unsold private is offered to one player after the other, who buys it, bids on a later one, or
passes. After a sale, each next private that has bids is sold too: to its only bidder, or in an auction among
its bidders. Money in bids is set aside. When all players pass, the first private becomes $5 cheaper; once
that one is sold, privates pay income instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from engine.core.actions import Action, Bid, BuyPrivate, Par, Pass
from engine.core.events import BidMade, Passed, PresidentNamed, PriorityMoved, PrivateMoved
from engine.core.reasons import CashReason
from engine.core.state import BANK, IPO, AnyFrame, ParPriceChoice, StockRound, Waterfall, WaterfallBidding
from engine.finance.market import refuse_par_price, set_par_price
from engine.finance.offers import lapse_offers
from engine.finance.ownership import move_shares, president_share_percent
from engine.game import Game
from engine.mechanics import Option
from engine.private_companies.abilities import pay_private_income

MIN_RAISE = 5


def offered_private(g: Game) -> str | None:
    """The private on offer: the first unsold one."""
    return next((p for p, owner in g.state.private_owners.items() if owner == BANK), None)


def may_become_cheaper(g: Game, private: str) -> bool:
    """Whether passes of all players lower the price of a private: only the first one's (1830 §7.3)."""
    return private == next(iter(g.state.private_owners))


def asking_price(g: Game, frame: Waterfall) -> int:
    """Dollars for the private on offer."""
    private = offered_private(g)
    assert private is not None
    return max(g.private_definition(private).price - frame.discount, 0)


def min_bid(g: Game, bids: dict[str, int], private: str) -> int:
    """The least dollars that may be bid on a private: $5 above its face value and any bid (1830 §7.2)."""
    return max([g.private_definition(private).price, *bids.values()]) + MIN_RAISE


def award_private(g: Game, seat: str, private: str, price: int, *, defer_par: bool = False) -> None:
    """Sell a private, with the share that comes with it, to a player (1830 Table 1 notes 4, 5).

    `defer_par`: the next privates that have one bid each are sold before the par price is asked for.
    """
    g.pay(seat, BANK, price, CashReason.PRIVATE, private)
    g.emit(PrivateMoved(private, seat))
    if grant := g.private_definition(private).grants:
        if grant.sets_start_price:
            if defer_par:
                sell_single_bid_privates(g)
            g.push(ParPriceChoice(grant.company, seat))
        else:
            move_shares(g, grant.company, IPO, seat, grant.percent)


def sell_single_bid_privates(g: Game) -> None:
    """Sell the next privates for as long as each of them has exactly one bid."""
    frame, private = g.top, offered_private(g)
    assert isinstance(frame, Waterfall)
    if private and len(bids := frame.bids.get(private, {})) == 1:
        ((seat, price),) = bids.items()
        other_bids = {p: b for p, b in frame.bids.items() if p != private}
        g.change_top(frame, bids=other_bids, consecutive_passes=0)
        award_private(g, seat, private, price)
        sell_single_bid_privates(g)


@dataclass(frozen=True)
class WaterfallQuestion:
    """Asks the player whose turn it is to buy the private on offer, bid on another, or pass.

    `next_round` makes the round that follows the sale. `any_price`: the private on offer is sold at whatever
    price the buyer names, as on 18xx.games. `defer_par`: see `award_private`. `unsold_ends_round`: a stock
    round in which a private finds no buyer is over, and the next one is not the first (1830 §7.3).
    """

    next_round: Callable[[Game], AnyFrame]
    any_price: bool = False
    defer_par: bool = False
    unsold_ends_round: bool = False

    def asked(self, g: Game, frame: Waterfall) -> tuple[str, ...]:
        return (frame.current_seat,) if offered_private(g) else ()

    def prompt(self, g: Game, frame: Waterfall) -> str:
        unsold = sum(owner == BANK for owner in g.state.private_owners.values())
        other = ", bid on another private" if unsold > 1 else ""
        return f"buy the {offered_private(g)} for ${asking_price(g, frame):,}{other}, or pass"

    def options(self, g: Game, frame: Waterfall, seat: str) -> Iterator[Option]:
        private = offered_private(g)
        if private is None:
            return
        if self.refusal(g, frame, seat, buy := BuyPrivate(private)) is None:
            yield Option(buy, f"Buy the {private} for ${asking_price(g, frame):,}")
        for other, owner in g.state.private_owners.items():
            if owner == BANK and other != private:
                low = min_bid(g, frame.bids.get(other, {}), other)
                if self.refusal(g, frame, seat, bid := Bid(other, low)) is None:
                    high = g.cash(seat) - frame.cash_in_bids(seat, excluding=other)
                    yield Option(bid, f"Bid for the {other}, ${low:,} or more", range(low, high + 1))
        yield Option(Pass(), "Pass")

    def refusal(self, g: Game, frame: Waterfall, seat: str, action: Action) -> str | None:
        offered = offered_private(g)
        match action:
            case Pass():
                return None
            case BuyPrivate(private, named):
                if private != offered:
                    return f"The {offered} is on offer now; bid on other privates{g.cite('1830 §7.1')}."
                free, price = g.cash(seat) - frame.cash_in_bids(seat), asking_price(g, frame)
                if named not in (None, price) and not (self.any_price and named and named > 0):
                    return f"The {offered} costs ${price:,}{g.cite('1830 §7.1')}."
                price = named or price
                if price > free:
                    who = f"{g.state.name(seat)} has ${free:,} that is not set aside in bids"
                    return f"The {offered} costs ${price:,}, and {who}{g.cite('1830 §7.2')}."
                return None
            case Bid(private, amount):
                if g.state.private_owners[private] != BANK:
                    return f"The {private} is sold already."
                if private == offered:
                    price = asking_price(g, frame)
                    return f"The {offered} is on offer for ${price:,}: buy it instead{g.cite('1830 §7.1')}."
                low = min_bid(g, frame.bids.get(private, {}), private)
                if amount < low:
                    return f"A bid on the {private} must be ${low:,} or more{g.cite('1830 §7.2')}."
                free = g.cash(seat) - frame.cash_in_bids(seat, excluding=private)
                if amount > free:
                    who = f"{g.state.name(seat)} has ${free:,} for a bid on the {private}"
                    aside = "; the rest is set aside in other bids" if free < g.cash(seat) else ""
                    return f"{who}{aside}{g.cite('1830 §7.2')}."
                return None
        return (
            f"The privates are sold first: buy the {offered}, bid on another, or pass{g.cite('1830 §7.1')}."
        )

    def apply(self, g: Game, frame: Waterfall, seat: str, action: Action) -> None:
        following = g.state.left_of(seat)
        match action:
            case Pass():
                g.emit(Passed(seat, "the privates"))
                g.change_top(frame, current_seat=following, consecutive_passes=frame.consecutive_passes + 1)
            case BuyPrivate(private, named):
                self._sell_offered(g, frame, seat, private, named or asking_price(g, frame))
            case Bid(private, amount):
                bids = {k: v for k, v in frame.bids.get(private, {}).items() if k != seat} | {seat: amount}
                g.emit(BidMade(seat, private, amount))
                g.change_top(
                    frame, current_seat=following, consecutive_passes=0, bids=frame.bids | {private: bids}
                )
        lapse_offers(g)

    def _sell_offered(self, g: Game, frame: Waterfall, seat: str, private: str, price: int) -> None:
        following = g.state.left_of(seat)
        g.change_top(frame, current_seat=following, consecutive_passes=0, discount=0)
        g.emit(PriorityMoved(following))
        award_private(g, seat, private, price, defer_par=self.defer_par)

    def advance(self, g: Game, frame: Waterfall) -> bool:
        private = offered_private(g)
        if private is None:
            following = self.next_round(g)
            if isinstance(following, StockRound):
                following = msgspec.structs.replace(following, follows_unsold=frame.follows_unsold)
            g.replace_top(following)
            return True
        if bids := frame.bids.get(private):
            other_bids = {p: b for p, b in frame.bids.items() if p != private}
            g.change_top(frame, bids=other_bids, consecutive_passes=0)
            g.push(WaterfallBidding(private, bids))
            return True
        if frame.consecutive_passes == len(g.state.players):
            return self._all_passed(g, frame)
        if asking_price(g, frame) == 0:
            # A private that has become free has to be taken by the first player who is asked (1830 §7.3).
            self._sell_offered(g, frame, frame.current_seat, private, 0)
            return True
        return False

    def _all_passed(self, g: Game, frame: Waterfall) -> bool:
        again = msgspec.structs.replace(
            frame, consecutive_passes=0, follows_unsold=frame.follows_unsold or self.unsold_ends_round
        )
        if next(iter(g.state.private_owners.values())) == BANK:
            g.change_top(again, discount=frame.discount + MIN_RAISE)
        else:
            g.replace_top(again)
            pay_private_income(g)
        return True


@dataclass(frozen=True)
class WaterfallBiddersQuestion:
    """Asks the bidders of a private: the lowest one raises or leaves (1830 §7.2).

    `clockwise`: the next bidder on the left of the highest one does so instead (1870 §5.7). `defer_par`: see
    `award_private`.
    """

    clockwise: bool = False
    defer_par: bool = False

    def asked(self, g: Game, frame: WaterfallBidding) -> tuple[str, ...]:
        if self.clockwise:
            highest = max(frame.bids, key=lambda seat: frame.bids[seat])
            return (next(seat for seat in g.state.seats_from(highest)[1:] if seat in frame.bids),)
        return (min(frame.bids, key=lambda seat: frame.bids[seat]),)

    def prompt(self, g: Game, frame: WaterfallBidding) -> str:
        return f"bid ${max(frame.bids.values()) + MIN_RAISE:,} or more for the {frame.private}, or pass"

    def options(self, g: Game, frame: WaterfallBidding, seat: str) -> Iterator[Option]:
        low = max(frame.bids.values()) + MIN_RAISE
        bid = Bid(frame.private, low)
        if self.refusal(g, frame, seat, bid) is None:
            yield Option(
                bid,
                f"Bid for the {frame.private}, ${low:,} or more",
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
                    return f"A bid on the {private} must be ${low:,} or more{g.cite('1830 §7.2')}."
                if amount > free:
                    return (
                        f"{g.state.name(seat)} has ${free:,} for a bid on the {private}{g.cite('1830 §7.2')}."
                    )
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
        award_private(g, seat, frame.private, price, defer_par=self.defer_par)
        return True

    @staticmethod
    def _free_cash(g: Game, frame: WaterfallBidding, seat: str) -> int:
        below = g.state.stack[-2]
        return g.cash(seat) - (below.cash_in_bids(seat) if isinstance(below, Waterfall) else 0)


@dataclass(frozen=True)
class ParPriceQuestion:
    """Asks for the par price of a company whose president's certificate came with a private (1830 §8.1)."""

    def asked(self, g: Game, frame: ParPriceChoice) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: ParPriceChoice) -> str:
        return f"set the par price of the {frame.company}"

    def options(self, g: Game, frame: ParPriceChoice, seat: str) -> Iterator[Option]:
        for price in g.components.par_prices:
            yield Option(Par(frame.company, price), f"Par the {frame.company} at ${price:,}")

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
