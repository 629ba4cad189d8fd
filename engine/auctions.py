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

from engine.actions import Action, Bid, BidNothing, BidUpTo, Pass, Raise
from engine.events import BidMade, Passed
from engine.game import Game
from engine.state import Auction
from engine.title import Option


class Lots(Protocol):
    """One kind of thing that is auctioned."""

    def amounts(self, g: Game, frame: Auction, seat: str) -> range:
        """What that player may bid now, without a gap but for its step."""

    def reach(self, g: Game, frame: Auction, seat: str) -> range:
        """How far he could go in the end, from what he may bid now."""

    def stays(self, g: Game, frame: Auction, seat: str) -> bool:
        """Whether he is asked though there is nothing that he may bid."""

    def refuse(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        """Why he may not bid so much, or None."""

    def words(self, g: Game, frame: Auction) -> str:
        """The lot as a person would say it."""

    def about(self, g: Game, frame: Auction) -> str:
        """What a bidder has to know of the lot."""

    def sold(self, g: Game, frame: Auction) -> None:
        """What follows once it is over; the frame is closed. `leader` may be None."""

    def says_lot(self) -> bool:
        """Whether a bid names its lot."""


@dataclass(frozen=True)
class Auctions:
    """Asks the next bidder; `together`: and the others what they will do when their turn comes."""

    lots: Mapping[str, Lots]
    together: bool = False

    def asked(self, g: Game, frame: Auction) -> tuple[str, ...]:
        later = frame.bidders[1:] if self.together else ()
        return (*frame.bidders[:1], *(seat for seat in later if self._is_open(g, frame, seat)))

    def _is_open(self, g: Game, frame: Auction, seat: str) -> bool:
        """Whether somebody whose turn is still to come has not said what he will do, and could bid."""
        said = seat == frame.leader or seat in frame.limits or seat not in g.state.active
        return not said and bool(self.lots[frame.kind].reach(g, frame, seat))

    def needs(self, g: Game, frame: Auction) -> str:
        lots = self.lots[frame.kind]
        amounts = lots.amounts(g, frame, frame.bidders[0])
        leads = f"; {g.state.name(frame.leader)} has bid ${frame.high}" if frame.leader else ""
        several = len(self.asked(g, frame)) > 1
        order = f": {g.state.name(frame.bidders[0])} now, the others beforehand" if several else ""
        what = f"{lots.words(g, frame)} ({lots.about(g, frame)}{leads})"
        bid = f"to bid ${amounts[0]} or more for {what}, or to pass" if amounts else f"to leave {what}"
        return bid + order

    def options(self, g: Game, frame: Auction, seat: str) -> Iterator[Option]:
        lots = self.lots[frame.kind]
        amounts = lots.amounts(g, frame, seat)
        what = lots.words(g, frame)
        if seat != frame.bidders[0]:
            reach = lots.reach(g, frame, seat)
            yield Option(BidUpTo(reach[0]), f"Bid for {what} in your turn up to a secret limit", reach)
            yield Option(BidNothing(), f"Leave the auction for {what} in your turn")
            return
        if amounts:
            only = f"Bid ${amounts[0]} for {what}"
            more = f"Bid for {what}, ${amounts[0]} or more"
            yield Option(self._bid(frame, amounts[0]), more if len(amounts) > 1 else only, amounts)
            reach = lots.reach(g, frame, seat)
            yield Option(BidUpTo(amounts[0]), f"Bid for {what} up to a secret limit", reach)
        yield Option(Pass(), f"Leave the auction for {lots.words(g, frame)}")

    def _bid(self, frame: Auction, amount: int) -> Action:
        return Bid(frame.lot, amount) if self.lots[frame.kind].says_lot() else Raise(amount)

    def refuse(self, g: Game, frame: Auction, seat: str, action: Action) -> str | None:
        lots = self.lots[frame.kind]
        match action:
            case BidNothing() if self.together:
                return None
            case Pass():
                return None
            case Bid() | Raise() if seat != frame.bidders[0]:
                first = g.state.name(frame.bidders[0])
                return f"{first} bids first; beforehand you bid up to an amount, or bid nothing."
            case Bid(lot, amount) if lots.says_lot() and lot == frame.lot:
                return lots.refuse(g, frame, seat, amount)
            case Raise(amount) if not lots.says_lot():
                return lots.refuse(g, frame, seat, amount)
            case BidUpTo(amount):
                if amount in lots.reach(g, frame, seat):
                    return None
                return lots.refuse(g, frame, seat, amount)
        return (
            f"{lots.words(g, frame)[:1].upper()}{lots.words(g, frame)[1:]} is being auctioned: bid or pass."
        )

    def take(self, g: Game, frame: Auction, seat: str, action: Action) -> None:
        match action:
            case Bid(_, amount) | Raise(amount):
                g.change(raised(g, frame, seat, amount))
            case BidUpTo(amount):
                g.change(limited(frame, seat, amount))
            case BidNothing():
                g.change(limited(frame, seat, 0))
            case Pass() if seat != frame.bidders[0]:
                g.change(limited(frame, seat, 0))
            case _:
                g.emit(Passed(seat, f"the auction for {self.lots[frame.kind].words(g, frame)}"))
                g.change(left(frame, seat))

    def settle(self, g: Game, frame: Auction) -> bool:
        if frame.bidders in ((), (frame.leader,)):
            g.close()
            self.lots[frame.kind].sold(g, frame)
            return True
        seat, lots = frame.bidders[0], self.lots[frame.kind]
        amounts = lots.amounts(g, frame, seat) if seat in g.state.active else range(0)
        if not amounts and not (seat in g.state.active and lots.stays(g, frame, seat)):
            g.change(left(frame, seat))
            return True
        if seat in frame.limits:
            if amounts and amounts[0] <= frame.limits[seat]:
                g.change(raised(g, frame, seat, amounts[0]))
            else:
                g.emit(Passed(seat, f"the auction for {lots.words(g, frame)}"))
                g.change(left(frame, seat))
            return True
        return False


def raised(g: Game, frame: Auction, seat: str, amount: int) -> Auction:
    """The auction with that bid; the seat comes last now."""
    g.emit(BidMade(seat, frame.lot, amount))
    bidders = (*(s for s in frame.bidders if s != seat), seat)
    return msgspec.structs.replace(frame, bidders=bidders, high=amount, leader=seat)


def limited(frame: Auction, seat: str, amount: int) -> Auction:
    """The auction in which that seat goes so far and no further."""
    return msgspec.structs.replace(frame, limits=frame.limits | {seat: amount})


def left(frame: Auction, seat: str) -> Auction:
    """The auction without that seat."""
    return msgspec.structs.replace(frame, bidders=tuple(s for s in frame.bidders if s != seat))
