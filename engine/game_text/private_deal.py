"""The deal of privates in a title that deals them out: told in set-up words, and made as they say."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from engine.core.state import CLOSED, PrivateAllotment, State, is_seat
from engine.game_text.word_reader import InvalidLine
from engine.kernel import new_game
from engine.opening.allotment import permutation


def deal_lines(start: State) -> list[str]:
    """The set-up words for how a game began beyond its title, players and options: its deal, if any."""
    if not isinstance(start.stack[0], PrivateAllotment):
        return []
    return [
        f"private {p} {start.name(owner)}" for p, owner in start.private_owners.items() if owner != CLOSED
    ]


def start_with_deal(start: State, owners: Mapping[str, str]) -> State:
    """The game at its first question with privates dealt so, the others in the printed order.

    Raises Wrong for what cannot be dealt.
    """
    in_play = [p for p, owner in start.private_owners.items() if owner != CLOSED]
    order: list[str | None] = [None] * len(start.players)
    for private, owner in owners.items():
        if private not in in_play:
            raise InvalidLine(f"The {private} is not in play with {len(start.players)} players.", private)
        if not is_seat(owner):
            raise InvalidLine(f"The {private} is dealt to a player.", private)
        if (other := order[start.seats.index(owner)]) is not None:
            raise InvalidLine(f"{start.name(owner)} is dealt one private, and has the {other}.", private)
        order[start.seats.index(owner)] = private
    rest = (p for p in in_play if p not in order)
    wanted = tuple(private or next(rest) for private in order)
    lot = next(lot for lot in count() if permutation(in_play, lot) == wanted)
    return new_game(start.title, start.players, start.options, lot).state
