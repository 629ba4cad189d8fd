"""Privates dealt at random, one to each player, who pays for it (1851, Setting Up the Game).

The randomness comes from outside, as a number: each remainder by the number of orders is one order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.core.events import PriorityMoved
from engine.core.state import BANK, AnyFrame, PrivateAllotment
from engine.game import Game
from engine.mechanics import AutomaticRules
from engine.opening.waterfall import award_private


def permutation(items: Sequence[str], number: int) -> tuple[str, ...]:
    """The items in the order of that number, from 0; 0 keeps them as given."""
    remaining, order = list(items), []
    while remaining:
        number, index = divmod(number, len(remaining))
        order.append(remaining.pop(index))
    return tuple(order)


def deal_privates(g: Game, number: int) -> PrivateAllotment:
    """The deal of the privates in play, by a random number drawn elsewhere."""
    privates = [p for p, owner in g.state.private_owners.items() if owner == BANK]
    return PrivateAllotment(permutation(privates, number))


@dataclass(frozen=True)
class PrivateAllotmentRules(AutomaticRules):
    """Deals the privates, then waits until the company that came with one has its par price.

    `next_round` makes the round that follows; the player on the left of that company's president begins it.
    """

    next_round: Callable[[Game], AnyFrame]

    def advance(self, g: Game, frame: PrivateAllotment) -> bool:
        if any(owner == BANK for owner in g.state.private_owners.values()):
            for seat, private in zip(g.state.seats, frame.privates, strict=True):
                award_private(g, seat, private, g.private_definition(private).price)
            return True
        first = next(co.president for co in g.state.companies.values() if co.president)
        g.emit(PriorityMoved(g.state.left_of(first)))
        g.replace_top(self.next_round(g))
        return True
