"""Auctions among players: each in turn bids more or leaves, and the last one wins.

What is auctioned, and what may be bid for it, is a `Lots` for each kind of lot; all else is the same.
A player may leave how far he would go: his bid is then raised by the least for him until it would
be more than that, and he leaves. Where all are asked together the others may say so, or that they
will bid nothing (a pass before one's turn is that, said openly), before their turn comes: so an
auction need not go around the table by mail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import msgspec

from engine.core.actions import Action, Bid, BidNothing, BidUpTo, Pass, RaiseBid
from engine.core.events import BidMade, Passed
from engine.core.state import Auction
from engine.game import Game
from engine.mechanics import Option


class AuctionKind(Protocol):
    """One kind of thing that is auctioned."""

    def bid_range(self, g: Game, frame: Auction, seat: str) -> range:
        """What that player may bid now, without a gap but for its step."""

    def limit_range(self, g: Game, frame: Auction, seat: str) -> range:
        """How far he could go in the end, from what he may bid now."""

    def asked_without_bid(self, g: Game, frame: Auction, seat: str) -> bool:
        """Whether he is asked though there is nothing that he may bid."""

    def bid_refusal(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        """Why he may not bid so much, or None."""

    def label(self, g: Game, frame: Auction) -> str:
        """The lot as a person would say it."""

    def details(self, g: Game, frame: Auction) -> str:
        """What a bidder has to know of the lot."""

    def on_close(self, g: Game, frame: Auction) -> None:
        """What follows once it is over; the frame is closed. `leader` may be None."""

    def bid_names_item(self) -> bool:
        """Whether a bid names its lot."""


@dataclass(frozen=True)
class AuctionQuestion:
    """Asks the next bidder; `together`: and the others what they will do when their turn comes."""

    kinds: Mapping[str, AuctionKind]
    bids_in_advance: bool = False

    def asked(self, g: Game, frame: Auction) -> tuple[str, ...]:
        later = frame.bidders[1:] if self.bids_in_advance else ()
        return (*frame.bidders[:1], *(seat for seat in later if self._may_bid_in_advance(g, frame, seat)))

    def _may_bid_in_advance(self, g: Game, frame: Auction, seat: str) -> bool:
        """Whether somebody whose turn is still to come has not said what he will do, and could bid."""
        said = seat == frame.high_bidder or seat in frame.bid_limits or seat not in g.state.active_seats
        return not said and bool(self.kinds[frame.kind].limit_range(g, frame, seat))

    def prompt(self, g: Game, frame: Auction) -> str:
        lots = self.kinds[frame.kind]
        amounts = lots.bid_range(g, frame, frame.bidders[0])
        leads = f"; {g.state.name(frame.high_bidder)} has bid ${frame.high_bid}" if frame.high_bidder else ""
        several = len(self.asked(g, frame)) > 1
        order = f": {g.state.name(frame.bidders[0])} now, the others beforehand" if several else ""
        what = f"{lots.label(g, frame)} ({lots.details(g, frame)}{leads})"
        bid = f"to bid ${amounts[0]} or more for {what}, or to pass" if amounts else f"to leave {what}"
        return bid + order

    def options(self, g: Game, frame: Auction, seat: str) -> Iterator[Option]:
        lots = self.kinds[frame.kind]
        amounts = lots.bid_range(g, frame, seat)
        what = lots.label(g, frame)
        if seat != frame.bidders[0]:
            reach = lots.limit_range(g, frame, seat)
            yield Option(BidUpTo(reach[0]), f"Bid for {what} in your turn up to a secret limit", reach)
            yield Option(BidNothing(), f"Leave the auction for {what} in your turn")
            return
        if amounts:
            only = f"Bid ${amounts[0]} for {what}"
            more = f"Bid for {what}, ${amounts[0]} or more"
            yield Option(self._bid(frame, amounts[0]), more if len(amounts) > 1 else only, amounts)
            reach = lots.limit_range(g, frame, seat)
            yield Option(BidUpTo(amounts[0]), f"Bid for {what} up to a secret limit", reach)
        yield Option(Pass(), f"Leave the auction for {lots.label(g, frame)}")

    def _bid(self, frame: Auction, amount: int) -> Action:
        return Bid(frame.item, amount) if self.kinds[frame.kind].bid_names_item() else RaiseBid(amount)

    def refusal(self, g: Game, frame: Auction, seat: str, action: Action) -> str | None:
        lots = self.kinds[frame.kind]
        match action:
            case BidNothing() if self.bids_in_advance:
                return None
            case Pass():
                return None
            case Bid() | RaiseBid() if seat != frame.bidders[0]:
                first = g.state.name(frame.bidders[0])
                return f"{first} bids first; beforehand you bid up to an amount, or bid nothing."
            case Bid(lot, amount) if lots.bid_names_item() and lot == frame.item:
                return lots.bid_refusal(g, frame, seat, amount)
            case RaiseBid(amount) if not lots.bid_names_item():
                return lots.bid_refusal(g, frame, seat, amount)
            case BidUpTo(amount):
                if amount in lots.limit_range(g, frame, seat):
                    return None
                return lots.bid_refusal(g, frame, seat, amount)
        return (
            f"{lots.label(g, frame)[:1].upper()}{lots.label(g, frame)[1:]} is being auctioned: bid or pass."
        )

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
                g.emit(Passed(seat, f"the auction for {self.kinds[frame.kind].label(g, frame)}"))
                g.replace_top(without_bidder(frame, seat))

    def advance(self, g: Game, frame: Auction) -> bool:
        if frame.bidders in ((), (frame.high_bidder,)):
            g.pop()
            self.kinds[frame.kind].on_close(g, frame)
            return True
        seat, lots = frame.bidders[0], self.kinds[frame.kind]
        amounts = lots.bid_range(g, frame, seat) if seat in g.state.active_seats else range(0)
        if not amounts and not (seat in g.state.active_seats and lots.asked_without_bid(g, frame, seat)):
            g.replace_top(without_bidder(frame, seat))
            return True
        if seat in frame.bid_limits:
            if amounts and amounts[0] <= frame.bid_limits[seat]:
                g.replace_top(place_bid(g, frame, seat, amounts[0]))
            else:
                g.emit(Passed(seat, f"the auction for {lots.label(g, frame)}"))
                g.replace_top(without_bidder(frame, seat))
            return True
        return False


def place_bid(g: Game, frame: Auction, seat: str, amount: int) -> Auction:
    """The auction with that bid; the seat comes last now."""
    g.emit(BidMade(seat, frame.item, amount))
    bidders = (*(s for s in frame.bidders if s != seat), seat)
    return msgspec.structs.replace(frame, bidders=bidders, high_bid=amount, high_bidder=seat)


def with_limit(frame: Auction, seat: str, amount: int) -> Auction:
    """The auction in which that seat goes so far and no further."""
    return msgspec.structs.replace(frame, bid_limits=frame.bid_limits | {seat: amount})


def without_bidder(frame: Auction, seat: str) -> Auction:
    """The auction without that seat."""
    return msgspec.structs.replace(frame, bidders=tuple(s for s in frame.bidders if s != seat))
