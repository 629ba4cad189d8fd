"""A judged option: what it is worth to the player, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from engine import Action, Option

ActionT = TypeVar("ActionT", bound=Action)
AMOUNT_FIELDS = ("amount", "price")
BANKRUPTCY = -100_000.0
"""Worth of going bankrupt: there is no other way."""
OFFER_UNASKED = -200_000.0
"""Worth of an offer that nobody has asked for. Less than bankruptcy: it could be made for ever."""


class Scored(NamedTuple):
    """An action with its value in dollars against doing nothing, and the reason as part of a sentence.

    `bar`: the part of the value that is no worth, and only keeps the action behind others; below zero.
    """

    action: Action
    value: float
    reason: str
    bar: float = 0.0

    @property
    def worth(self) -> float:
        """Dollars that it is thought to bring."""
        return self.value - self.bar


def of_kind(options: Sequence[Option], kind: type[ActionT]) -> Iterator[ActionT]:
    """The actions of one kind among the options."""
    return (option.action for option in options if isinstance(option.action, kind))


def with_dollars(option: Option, dollars: float) -> Action | None:
    """The option's action for at most so many dollars; None if its least amount is more."""
    amounts = option.amounts
    if amounts is None:
        return option.action
    most = min(int(dollars), amounts[-1])
    if most < amounts[0]:
        return None
    most -= (most - amounts[0]) % amounts.step
    field = next(f for f in AMOUNT_FIELDS if f in option.action.__struct_fields__)
    return msgspec.structs.replace(option.action, **{field: most})


def best(judged: list[Scored]) -> Scored:
    """The first of the judged actions with the highest value."""
    return max(judged, key=lambda each: each.value)
