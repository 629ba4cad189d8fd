"""Auctions among players: each player in turn bids more or leaves, and the last one wins.

An `AuctionKind` says what is auctioned and what may be bid for it; everything else is the same for all kinds.
A player may set a bid limit: their bid is then raised by the smallest step until that would exceed the limit,
and then they leave. Where bids in advance are allowed, players may set a limit, or decline to bid, before
their turn, so that an auction by mail does not have to go around the table. A pass out of turn declines, and
the table sees it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from engine.core.actions import Action, Bid, BidNothing, BidUpTo, Pass, RaiseBid
from engine.core.events import BidMade, Passed
from engine.core.state import Auction
from engine.game import Game
from engine.mechanics import Option


class AuctionKind(ABC):
    """One kind of thing that is auctioned. `bid_names_item`: whether the line of a bid names the item."""

    bid_names_item: ClassVar[bool] = False

    @abstractmethod
    def bid_range(self, g: Game, frame: Auction, seat: str) -> range:
        """The dollars that the player may bid now; the range's step is the step of bids."""

    def limit_range(self, g: Game, frame: Auction, seat: str) -> range:
        """The dollars that the player may set as a bid limit."""
        return self.bid_range(g, frame, seat)

    def asked_without_bid(self, g: Game, frame: Auction, seat: str) -> bool:
        """Whether the player is asked even though there is nothing that they may bid."""
        return False

    @abstractmethod
    def bid_refusal(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        """Why the player may not bid that many dollars, or None."""

    @abstractmethod
    def details(self, g: Game, frame: Auction) -> str:
        """What a bidder has to know about the item."""

    @abstractmethod
    def on_close(self, g: Game, frame: Auction) -> None:
        """What follows the auction. Its frame is off the stack; `high_bidder` is None if nobody has bid."""


@dataclass(frozen=True)
class AuctionQuestion:
    """Asks the next bidder what they bid.

    `kinds`: by the frame's `kind`. `bids_in_advance`: the other bidders may already say what they will do
    when their turn comes.
    """

    kinds: Mapping[str, AuctionKind]
    bids_in_advance: bool = False

    def asked(self, g: Game, frame: Auction) -> tuple[str, ...]:
        later = frame.bidders[1:] if self.bids_in_advance else ()
        return (*frame.bidders[:1], *(seat for seat in later if self._may_bid_in_advance(g, frame, seat)))

    def _may_bid_in_advance(self, g: Game, frame: Auction, seat: str) -> bool:
        """Whether a player whose turn is still to come could bid and has not said what they will do."""
        if seat == frame.high_bidder or seat in frame.bid_limits or seat not in g.state.active_seats:
            return False
        return bool(self.kinds[frame.kind].limit_range(g, frame, seat))

    def prompt(self, g: Game, frame: Auction) -> str:
        kind = self.kinds[frame.kind]
        bids = kind.bid_range(g, frame, frame.bidders[0])
        item = f"the {frame.item}"
        choices = (
            f"bid ${bids[0]:,} or more for {item}, or pass" if bids else f"pass in the auction for {item}"
        )
        details = [kind.details(g, frame)]
        if frame.high_bidder:
            details.append(f"{g.state.name(frame.high_bidder)} has bid ${frame.high_bid:,}")
        if len(self.asked(g, frame)) > 1:
            details.append(f"{g.state.name(frame.bidders[0])} is next; the others may answer in advance")
        return f"{choices} ({'; '.join(details)})"

    def options(self, g: Game, frame: Auction, seat: str) -> Iterator[Option]:
        kind, item = self.kinds[frame.kind], f"the {frame.item}"
        limits = kind.limit_range(g, frame, seat)
        if seat != frame.bidders[0]:
            yield Option(BidUpTo(limits[0]), f"Bid for {item} in your turn up to a secret limit", limits)
            yield Option(BidNothing(), f"Leave the auction for {item} in your turn")
            return
        if bids := kind.bid_range(g, frame, seat):
            single = f"Bid ${bids[0]:,} for {item}"
            several = f"Bid for {item}, ${bids[0]:,} or more"
            yield Option(self._bid(frame, bids[0]), several if len(bids) > 1 else single, bids)
            yield Option(BidUpTo(bids[0]), f"Bid for {item} up to a secret limit", limits)
        yield Option(Pass(), f"Leave the auction for {item}")

    def _bid(self, frame: Auction, amount: int) -> Action:
        return Bid(frame.item, amount) if self.kinds[frame.kind].bid_names_item else RaiseBid(amount)

    def refusal(self, g: Game, frame: Auction, seat: str, action: Action) -> str | None:
        kind = self.kinds[frame.kind]
        match action:
            case BidNothing() if self.bids_in_advance:
                return None
            case Pass():
                return None
            case Bid() | RaiseBid() if seat != frame.bidders[0]:
                first = g.state.name(frame.bidders[0])
                return f"{first} bids first. In advance you may bid up to an amount, or bid nothing."
            case Bid(lot, amount) if kind.bid_names_item and lot == frame.item:
                return kind.bid_refusal(g, frame, seat, amount)
            case RaiseBid(amount) if not kind.bid_names_item:
                return kind.bid_refusal(g, frame, seat, amount)
            case BidUpTo(amount):
                if amount in kind.limit_range(g, frame, seat):
                    return None
                return kind.bid_refusal(g, frame, seat, amount)
        return f"The {frame.item} is being auctioned: bid or pass."

    def apply(self, g: Game, frame: Auction, seat: str, action: Action) -> None:
        match action:
            case Bid(_, amount) | RaiseBid(amount):
                g.replace_top(place_bid(g, frame, seat, amount))
            case BidUpTo(amount):
                g.replace_top(with_limit(frame, seat, amount))
            case BidNothing():
                g.replace_top(with_limit(frame, seat, 0))
            case Pass() if seat != frame.bidders[0]:
                g.replace_top(with_limit(frame, seat, 0))
            case _:
                g.emit(Passed(seat, f"the auction for the {frame.item}"))
                g.replace_top(without_bidder(frame, seat))

    def advance(self, g: Game, frame: Auction) -> bool:
        if frame.bidders in ((), (frame.high_bidder,)):
            g.pop()
            self.kinds[frame.kind].on_close(g, frame)
            return True
        seat, kind = frame.bidders[0], self.kinds[frame.kind]
        bids = kind.bid_range(g, frame, seat) if seat in g.state.active_seats else range(0)
        if not bids and not (seat in g.state.active_seats and kind.asked_without_bid(g, frame, seat)):
            g.replace_top(without_bidder(frame, seat))
            return True
        if seat in frame.bid_limits:
            if bids and bids[0] <= frame.bid_limits[seat]:
                g.replace_top(place_bid(g, frame, seat, bids[0]))
            else:
                g.emit(Passed(seat, f"the auction for the {frame.item}"))
                g.replace_top(without_bidder(frame, seat))
            return True
        return False


def place_bid(g: Game, frame: Auction, seat: str, amount: int) -> Auction:
    """Record a bid. Returns the auction after it, in which the bidder comes last."""
    g.emit(BidMade(seat, frame.item, amount))
    bidders = (*(s for s in frame.bidders if s != seat), seat)
    return msgspec.structs.replace(frame, bidders=bidders, high_bid=amount, high_bidder=seat)


def with_limit(frame: Auction, seat: str, amount: int) -> Auction:
    """The auction in which the seat's bids are raised up to that many dollars."""
    return msgspec.structs.replace(frame, bid_limits=frame.bid_limits | {seat: amount})


def without_bidder(frame: Auction, seat: str) -> Auction:
    """The auction after the seat has left it."""
    return msgspec.structs.replace(frame, bidders=tuple(s for s in frame.bidders if s != seat))
