"""Privates dealt by lot, one to a player, who pays for it (1851, Setting Up the Game).

The lot is a number that was drawn outside: its remainder says which of all orders the deal has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.core.events import PriorityMoved
from engine.core.state import BANK, AnyFrame, PrivateAllotment
from engine.game import Game
from engine.mechanics import AutomaticRules
from engine.opening.waterfall import award_private


def permutation(things: Sequence[str], lot: int) -> tuple[str, ...]:
    """The things in the order that belongs to the lot; 0 and every multiple of their orders: as given."""
    left, order = list(things), []
    while left:
        lot, at = divmod(lot, len(left))
        order.append(left.pop(at))
    return tuple(order)


def deal_privates(g: Game, lot: int) -> PrivateAllotment:
    """The deal of the privates that are in play."""
    return PrivateAllotment(
        permutation([p for p, owner in g.state.private_owners.items() if owner == BANK], lot)
    )


@dataclass(frozen=True)
class PrivateAllotmentRules(AutomaticRules):
    """Deals, and goes on once the company that came with a private has its price.

    `after` makes the round that follows; the priority is to the left of that company's president.
    """

    next_round: Callable[[Game], AnyFrame]

    def advance(self, g: Game, frame: PrivateAllotment) -> bool:
        if any(owner == BANK for owner in g.state.private_owners.values()):
            for seat, private in zip(g.state.seats, frame.privates, strict=True):
                award_private(g, seat, private, g.private_definition(private).price, f"the {private}")
            return True
        first = next(co.president for co in g.state.companies.values() if co.president)
        g.emit(PriorityMoved(g.state.left_of(first)))
        g.replace_top(self.next_round(g))
        return True
