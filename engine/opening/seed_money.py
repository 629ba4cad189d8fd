"""The opening auction with seed money (1817 §4.2).

A player puts up a private with a bid that the seed money fills up to its face value; bids rise to
the face value at most. It ends when all pass in a row; what was not sold is out of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from engine.core.actions import Action, Bid, Pass
from engine.core.events import Passed, PriorityMoved, PrivateMoved
from engine.core.state import BANK, CLOSED, AnyFrame, Auction, SeedMoneySale
from engine.finance.auctions import place_bid
from engine.game import Game
from engine.mechanics import Option

BID_STEP = 5
AUCTION_KIND = "private"


def seed_money_frame(g: Game) -> SeedMoneySale:
    """The sale in which that frame is."""
    frame = g.state.stack[0]
    assert isinstance(frame, SeedMoneySale)
    return frame


@dataclass(frozen=True)
class SeedMoneyAuction:
    """Privates up for auction. `above_face`: bids may go above the face value, as on the site.

    `by_fives`: other bids than multiples of $5 are refused. Nothing else is offered in any case; a record
    of the site may have other dollars.
    """

    above_face_value: bool = False
    multiples_of_five: bool = True

    def bid_names_item(self) -> bool:
        return True

    def label(self, g: Game, frame: Auction) -> str:
        return f"the {frame.item}"

    def details(self, g: Game, frame: Auction) -> str:
        return f"face value ${g.private_definition(frame.item).price}"

    def bid_range(self, g: Game, frame: Auction, seat: str) -> range:
        least = frame.high_bid + BID_STEP
        most = self.max_bid(g, frame.item, seat)
        return range(least, most + 1, BID_STEP)

    limit_range = bid_range

    def asked_without_bid(self, g: Game, frame: Auction, seat: str) -> bool:
        return False

    def max_bid(self, g: Game, private: str, seat: str) -> int:
        return (
            g.cash(seat) if self.above_face_value else min(g.cash(seat), g.private_definition(private).price)
        )

    def min_first_bid(self, g: Game, private: str) -> int:
        """Dollars of a first bid: what the seed money leaves of the face value."""
        return max(g.private_definition(private).price - seed_money_frame(g).seed_money, 0)

    def bid_refusal(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        if amount < frame.high_bid + BID_STEP:
            return (
                f"A bid on the {frame.item} must be ${frame.high_bid + BID_STEP} or "
                f"more{g.cite('1817 §4.2')}."
            )
        return self.refuse_amount(g, frame.item, seat, amount)

    def refuse_amount(self, g: Game, private: str, seat: str, amount: int) -> str | None:
        if self.multiples_of_five and amount % BID_STEP:
            return f"Bids are multiples of ${BID_STEP}{g.cite('1817 §4.2')}."
        if amount > self.max_bid(g, private, seat):
            face = g.private_definition(private).price
            if amount > g.cash(seat):
                return f"{g.state.name(seat)} has ${g.cash(seat)}."
            return f"No bid on the {private} exceeds its face value, ${face}{g.cite('1817 §4.2')}."
        return None

    def on_close(self, g: Game, frame: Auction) -> None:
        assert frame.high_bidder is not None
        face = g.private_definition(frame.item).price
        base = seed_money_frame(g)
        g.pay(frame.high_bidder, BANK, frame.high_bid, f"the {frame.item}")
        g.emit(PrivateMoved(frame.item, frame.high_bidder))
        money = base.seed_money - max(face - frame.high_bid, 0)
        turn = g.state.left_of(frame.initiator)
        g.replace_top(
            msgspec.structs.replace(
                base,
                current_seat=turn,
                seed_money=money,
                consecutive_passes=0,
                last_initiator=frame.initiator,
            )
        )


@dataclass(frozen=True)
class SeedMoneyQuestion:
    """Asks the player whose turn it is which private he puts up. `after` makes what follows.

    `asks_all`: he is asked even where he can put up none, as on the site.
    """

    auction_kind: SeedMoneyAuction
    next_round: Callable[[Game], AnyFrame]
    ask_everyone: bool = False

    def asked(self, g: Game, frame: SeedMoneySale) -> tuple[str, ...]:
        return (frame.current_seat,)

    def prompt(self, g: Game, frame: SeedMoneySale) -> str:
        return f"to put a private up for auction with ${frame.seed_money} of seed money, or to pass"

    def options(self, g: Game, frame: SeedMoneySale, seat: str) -> Iterator[Option]:
        for private, owner in g.state.private_owners.items():
            if owner == BANK:
                least, most = (
                    self.auction_kind.min_first_bid(g, private),
                    self.auction_kind.max_bid(g, private, seat),
                )
                if least <= most:
                    face = g.private_definition(private).price
                    says = f"Put up the {private} (${face}) with a bid of ${least} or more"
                    yield Option(Bid(private, least), says, range(least, most + 1, BID_STEP))
        yield Option(Pass(), "Pass")

    def refusal(self, g: Game, frame: SeedMoneySale, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case Bid(private, amount):
                if g.state.private_owners[private] != BANK:
                    return f"The {private} is sold."
                if amount < (least := self.auction_kind.min_first_bid(g, private)):
                    seed_money = f"With ${frame.seed_money} of seed money"
                    return f"{seed_money} the least for the {private} is ${least}{g.cite('1817 §4.2')}."
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
