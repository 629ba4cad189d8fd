"""The opening auction with seed money (1817 §4.2).

A player puts up a private with a bid that the seed money fills up to its face value; bids rise to
the face value at most. It ends when all pass in a row; what was not sold is out of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from engine.actions import Action, Bid, Pass
from engine.auctions import raised
from engine.events import Passed, PriorityMoved, PrivateMoved
from engine.game import Game
from engine.state import BANK, CLOSED, AnyFrame, Auction, Subsidy
from engine.title import Option

STEP = 5
KIND = "private"


def subsidy(g: Game) -> Subsidy:
    """The sale in which that frame is."""
    frame = g.state.stack[0]
    assert isinstance(frame, Subsidy)
    return frame


@dataclass(frozen=True)
class SubsidizedLots:
    """Privates up for auction. `above_face`: bids may go above the face value, as on the site.

    `by_fives`: other bids than multiples of $5 are refused. Nothing else is offered in any case; a record
    of the site may have other dollars.
    """

    above_face: bool = False
    by_fives: bool = True

    def says_lot(self) -> bool:
        return True

    def words(self, g: Game, frame: Auction) -> str:
        return f"the {frame.lot}"

    def about(self, g: Game, frame: Auction) -> str:
        return f"face value ${g.private_facts(frame.lot).price}"

    def amounts(self, g: Game, frame: Auction, seat: str) -> range:
        least = frame.high + STEP
        most = self.most(g, frame.lot, seat)
        return range(least, most + 1, STEP)

    reach = amounts

    def stays(self, g: Game, frame: Auction, seat: str) -> bool:
        return False

    def most(self, g: Game, private: str, seat: str) -> int:
        return g.cash(seat) if self.above_face else min(g.cash(seat), g.private_facts(private).price)

    def least(self, g: Game, private: str) -> int:
        """Dollars of a first bid: what the seed money leaves of the face value."""
        return max(g.private_facts(private).price - subsidy(g).money, 0)

    def refuse(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        if amount < frame.high + STEP:
            return f"A bid on the {frame.lot} must be ${frame.high + STEP} or more (§4.2)."
        return self.refuse_amount(g, frame.lot, seat, amount)

    def refuse_amount(self, g: Game, private: str, seat: str, amount: int) -> str | None:
        if self.by_fives and amount % STEP:
            return f"Bids are multiples of ${STEP} (§4.2)."
        if amount > self.most(g, private, seat):
            face = g.private_facts(private).price
            if amount > g.cash(seat):
                return f"{g.state.name(seat)} has ${g.cash(seat)}."
            return f"No bid on the {private} exceeds its face value, ${face} (§4.2)."
        return None

    def sold(self, g: Game, frame: Auction) -> None:
        assert frame.leader is not None
        face = g.private_facts(frame.lot).price
        base = subsidy(g)
        g.pay(frame.leader, BANK, frame.high, f"the {frame.lot}")
        g.emit(PrivateMoved(frame.lot, frame.leader))
        money = base.money - max(face - frame.high, 0)
        turn = g.state.left_of(frame.starter)
        g.change(msgspec.structs.replace(base, turn=turn, money=money, passes=0, last=frame.starter))


@dataclass(frozen=True)
class SubsidizedSale:
    """Asks the player whose turn it is which private he puts up. `after` makes what follows.

    `asks_all`: he is asked even where he can put up none, as on the site.
    """

    lots: SubsidizedLots
    after: Callable[[Game], AnyFrame]
    asks_all: bool = False

    def asked(self, g: Game, frame: Subsidy) -> tuple[str, ...]:
        return (frame.turn,)

    def needs(self, g: Game, frame: Subsidy) -> str:
        return f"to put a private up for auction with ${frame.money} of seed money, or to pass"

    def options(self, g: Game, frame: Subsidy, seat: str) -> Iterator[Option]:
        for private, owner in g.state.privates.items():
            if owner == BANK:
                least, most = self.lots.least(g, private), self.lots.most(g, private, seat)
                if least <= most:
                    face = g.private_facts(private).price
                    says = f"Put up the {private} (${face}) with a bid of ${least} or more"
                    yield Option(Bid(private, least), says, range(least, most + 1, STEP))
        yield Option(Pass(), "Pass")

    def refuse(self, g: Game, frame: Subsidy, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case Bid(private, amount):
                if g.state.privates[private] != BANK:
                    return f"The {private} is sold."
                if amount < (least := self.lots.least(g, private)):
                    return (
                        f"With ${frame.money} of seed money the least for the {private} is ${least} (§4.2)."
                    )
                return self.lots.refuse_amount(g, private, seat, amount)
        return "The privates are auctioned first: put one up, or pass (§4.2)."

    def take(self, g: Game, frame: Subsidy, seat: str, action: Action) -> None:
        if isinstance(action, Bid):
            auction = Auction(KIND, action.private, tuple(g.state.seats_from(seat)), seat)
            g.open(raised(g, auction, seat, action.amount))
            return
        g.emit(Passed(seat, "the privates"))
        g.change(self._passed(g, frame))

    def _passed(self, g: Game, frame: Subsidy) -> Subsidy:
        return msgspec.structs.replace(frame, turn=g.state.left_of(frame.turn), passes=frame.passes + 1)

    def settle(self, g: Game, frame: Subsidy) -> bool:
        unsold = [p for p, owner in g.state.privates.items() if owner == BANK]
        if unsold and frame.passes < len(g.state.active):
            if self.asks_all or any(isinstance(o.action, Bid) for o in self.options(g, frame, frame.turn)):
                return False
            g.change(self._passed(g, frame))
            return True
        for private in unsold:
            g.emit(PrivateMoved(private, CLOSED))
        if frame.last:
            g.emit(PriorityMoved(g.state.left_of(frame.last)))
        g.change(self.after(g))
        return True
