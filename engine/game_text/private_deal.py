"""The deal of the private companies in a title that deals them out (1851): to and from set-up words."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from engine.core.state import CLOSED, PrivateAllotment, State, is_seat
from engine.game_text.word_reader import InvalidLineError
from engine.kernel import new_game
from engine.opening.allotment import permutation


def deal_lines(start: State) -> list[str]:
    """The set-up words of the deal with which a game started; empty in a title without a deal."""
    if not isinstance(start.stack[0], PrivateAllotment):
        return []
    return [
        f"private {p} {start.name(owner)}" for p, owner in start.private_owners.items() if owner != CLOSED
    ]


def start_with_deal(start: State, owners: Mapping[str, str]) -> State:
    """The game at its first question with the privates dealt to these owners.

    `owners`: seats by private; the other players get the remaining privates in printed order. Raises
    InvalidLineError for a deal that is impossible.
    """
    in_play = [p for p, owner in start.private_owners.items() if owner != CLOSED]
    order: list[str | None] = [None] * len(start.players)
    for private, owner in owners.items():
        if private not in in_play:
            raise InvalidLineError(
                f"The {private} is not in play with {len(start.players)} players.", private
            )
        if not is_seat(owner):
            raise InvalidLineError(f"Only a player can be dealt the {private}.", private)
        if (other := order[start.seats.index(owner)]) is not None:
            raise InvalidLineError(
                f"{start.name(owner)} is dealt one private only, and already has the {other}.", private
            )
        order[start.seats.index(owner)] = private
    rest = (p for p in in_play if p not in order)
    deal = tuple(private or next(rest) for private in order)
    seed = next(seed for seed in count() if permutation(in_play, seed) == deal)
    return new_game(start.title, start.players, start.options, seed).state
