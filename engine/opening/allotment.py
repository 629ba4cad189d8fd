"""Privates dealt by lot, one to a player, who pays for it (1851, Setting Up the Game).

The lot is a number that was drawn outside: its remainder says which of all orders the deal has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.events import PriorityMoved
from engine.game import Game
from engine.opening.waterfall import take_over
from engine.rounds import Unasked
from engine.state import BANK, Allotment, AnyFrame


def dealt(things: Sequence[str], lot: int) -> tuple[str, ...]:
    """The things in the order that belongs to the lot; 0 and every multiple of their orders: as given."""
    left, order = list(things), []
    while left:
        lot, at = divmod(lot, len(left))
        order.append(left.pop(at))
    return tuple(order)


def allotment(g: Game, lot: int) -> Allotment:
    """The deal of the privates that are in play."""
    return Allotment(dealt([p for p, owner in g.state.privates.items() if owner == BANK], lot))


@dataclass(frozen=True)
class Allotting(Unasked):
    """Deals, and goes on once the company that came with a private has its price.

    `after` makes the round that follows; the priority is to the left of that company's president.
    """

    after: Callable[[Game], AnyFrame]

    def settle(self, g: Game, frame: Allotment) -> bool:
        if any(owner == BANK for owner in g.state.privates.values()):
            for seat, private in zip(g.state.seats, frame.privates, strict=True):
                take_over(g, seat, private, g.private_facts(private).price, f"the {private}")
            return True
        first = next(co.president for co in g.state.companies.values() if co.president)
        g.emit(PriorityMoved(g.state.left_of(first)))
        g.change(self.after(g))
        return True
