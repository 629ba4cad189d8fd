"""The opening auctions of privates with seed money (1817 §4.2).

A player puts up a private with a first bid; the seed money pays the rest of its face value. Bids rise to the
face value at most. The sale ends when all players pass in a row, and unsold privates leave the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from engine.core.actions import Action, Bid, Pass
from engine.core.events import Passed, PriorityMoved, PrivateMoved
from engine.core.reasons import CashReason
from engine.core.state import BANK, CLOSED, AnyFrame, Auction, SeedMoneySale
from engine.finance.auctions import AuctionKind, place_bid
from engine.game import Game
from engine.mechanics import Option

BID_STEP = 5
AUCTION_KIND: Final = "private"


def current_seed_money_sale(g: Game) -> SeedMoneySale:
    """The sale of privates that is going on."""
    frame = g.state.stack[0]
    assert isinstance(frame, SeedMoneySale)
    return frame


@dataclass(frozen=True)
class SeedMoneyAuction(AuctionKind):
    """Privates up for auction.

    `above_face_value`: bids may exceed the face value, as on 18xx.games. `multiples_of_five`: bids that are
    no multiples of $5 are refused. They are never offered, but games of 18xx.games may have them.
    """

    above_face_value: bool = False
    multiples_of_five: bool = True

    bid_names_item = True

    def details(self, g: Game, frame: Auction) -> str:
        left = current_seed_money_sale(g).seed_money
        return f"face value ${g.private_definition(frame.item).price:,}, ${left:,} of seed money"

    def bid_range(self, g: Game, frame: Auction, seat: str) -> range:
        return range(frame.high_bid + BID_STEP, self.max_bid(g, frame.item, seat) + 1, BID_STEP)

    def max_bid(self, g: Game, private: str, seat: str) -> int:
        """The most dollars that the player may bid on the private."""
        cash = g.cash(seat)
        return cash if self.above_face_value else min(cash, g.private_definition(private).price)

    def min_first_bid(self, g: Game, private: str) -> int:
        """The least dollars of a first bid: the face value less the seed money."""
        return max(g.private_definition(private).price - current_seed_money_sale(g).seed_money, 0)

    def bid_refusal(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        if amount < frame.high_bid + BID_STEP:
            return (
                f"A bid on the {frame.item} must be ${frame.high_bid + BID_STEP:,} or "
                f"more{g.cite('1817 §4.2')}."
            )
        return self.refuse_amount(g, frame.item, seat, amount)

    def refuse_amount(self, g: Game, private: str, seat: str, amount: int) -> str | None:
        """Why the player may not bid that many dollars, whatever others have bid, or None."""
        if self.multiples_of_five and amount % BID_STEP:
            return f"Bids are multiples of ${BID_STEP:,}{g.cite('1817 §4.2')}."
        if amount > self.max_bid(g, private, seat):
            face = g.private_definition(private).price
            if amount > g.cash(seat):
                return f"{g.state.name(seat)} has ${g.cash(seat):,}."
            return f"No bid on the {private} exceeds its face value, ${face:,}{g.cite('1817 §4.2')}."
        return None

    def on_close(self, g: Game, frame: Auction) -> None:
        assert frame.high_bidder is not None
        face = g.private_definition(frame.item).price
        sale = current_seed_money_sale(g)
        g.pay(frame.high_bidder, BANK, frame.high_bid, CashReason.PRIVATE, frame.item)
        g.emit(PrivateMoved(frame.item, frame.high_bidder))
        g.change_top(
            sale,
            current_seat=g.state.left_of(frame.initiator),
            seed_money=sale.seed_money - max(face - frame.high_bid, 0),
            consecutive_passes=0,
            last_initiator=frame.initiator,
        )


@dataclass(frozen=True)
class SeedMoneyQuestion:
    """Asks the player whose turn it is which private they put up.

    `next_round` makes the frame that follows the sale. `ask_everyone`: players are asked even if they cannot
    put up any private, as on 18xx.games.
    """

    auction_kind: SeedMoneyAuction
    next_round: Callable[[Game], AnyFrame]
    ask_everyone: bool = False

    def asked(self, g: Game, frame: SeedMoneySale) -> tuple[str, ...]:
        return (frame.current_seat,)

    def prompt(self, g: Game, frame: SeedMoneySale) -> str:
        return f"put a private up for auction with ${frame.seed_money:,} of seed money, or pass"

    def options(self, g: Game, frame: SeedMoneySale, seat: str) -> Iterator[Option]:
        for private, owner in g.state.private_owners.items():
            if owner == BANK:
                low = self.auction_kind.min_first_bid(g, private)
                high = self.auction_kind.max_bid(g, private, seat)
                if low <= high:
                    face = g.private_definition(private).price
                    label = f"Put up the {private} (${face:,}) with a bid of ${low:,} or more"
                    yield Option(Bid(private, low), label, range(low, high + 1, BID_STEP))
        yield Option(Pass(), "Pass")

    def refusal(self, g: Game, frame: SeedMoneySale, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case Bid(private, amount):
                if g.state.private_owners[private] != BANK:
                    return f"The {private} is sold already."
                if amount < (low := self.auction_kind.min_first_bid(g, private)):
                    bid = f"A first bid on the {private} must be ${low:,} or more"
                    return (
                        f"{bid}, because ${frame.seed_money:,} of seed money are left{g.cite('1817 §4.2')}."
                    )
                return self.auction_kind.refuse_amount(g, private, seat, amount)
        return f"The privates are auctioned first: put one up, or pass{g.cite('1817 §4.2')}."

    def apply(self, g: Game, frame: SeedMoneySale, seat: str, action: Action) -> None:
        if isinstance(action, Bid):
            auction = Auction(AUCTION_KIND, action.private, tuple(g.state.seats_from(seat)), seat)
            g.push(place_bid(g, auction, seat, action.amount))
            return
        g.emit(Passed(seat, "the privates"))
        g.replace_top(self._passed(g, frame))

    def _passed(self, g: Game, frame: SeedMoneySale) -> SeedMoneySale:
        return msgspec.structs.replace(
            frame,
            current_seat=g.state.left_of(frame.current_seat),
            consecutive_passes=frame.consecutive_passes + 1,
        )

    def advance(self, g: Game, frame: SeedMoneySale) -> bool:
        unsold = [p for p, owner in g.state.private_owners.items() if owner == BANK]
        if unsold and frame.consecutive_passes < len(g.state.active_seats):
            if self.ask_everyone or any(
                isinstance(o.action, Bid) for o in self.options(g, frame, frame.current_seat)
            ):
                return False
            g.replace_top(self._passed(g, frame))
            return True
        for private in unsold:
            g.emit(PrivateMoved(private, CLOSED))
        if frame.last_initiator:
            g.emit(PriorityMoved(g.state.left_of(frame.last_initiator)))
        g.replace_top(self.next_round(g))
        return True
