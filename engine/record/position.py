"""Positions from set-up lines: what was said, what was left unsaid, and what cannot be.

The lines are read into a `Said` first, whatever their order; then the board is built in the order
in which one thing rests on another: phase, holdings, trains, tiles, tokens, privates, money, round.
Each part fills in what was not said and refuses what no game can lead to. At last the frames of the
round are put on the stack and settle as in any game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.kernel import game_of
from engine.record.text import Malformed, Placed
from engine.record.words import Words, Wrong
from engine.state import BANK, State, copied

LATER_ROUND = 2
"""The stock round that a position is in: not the first."""


@dataclass
class Said:
    """What the lines say, by what it is about."""

    cash: dict[str, int] = field(default_factory=dict)
    shares: dict[tuple[str, str], int] = field(default_factory=dict)
    presidents: dict[str, str] = field(default_factory=dict)
    privates: dict[str, str] = field(default_factory=dict)
    prices: dict[str, tuple[int, int]] = field(default_factory=dict)
    pars: dict[str, int] = field(default_factory=dict)
    trains: dict[str, list[str]] = field(default_factory=dict)
    depot: list[tuple[str | None, int | None]] = field(default_factory=list)
    tiles: dict[str, tuple[str, int]] = field(default_factory=dict)
    tokens: dict[str, list[tuple[str, int | None]]] = field(default_factory=dict)
    markers: dict[str, int] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)
    market: list[str] = field(default_factory=list)
    phase: str | None = None
    priority: str | None = None
    left: int | None = None
    round: tuple[str, str, int] | None = None
    lines: dict[str, int] = field(default_factory=dict)


def place(start: State, setup: Sequence[Placed]) -> State:
    """The position that the set-up lines describe, in the game that begins with `start`.

    Raises Malformed, with the line, for what cannot be read or cannot be.
    """
    if not setup:
        return start
    said, g = Said(), game_of(copied(start))
    for number, text in setup:
        try:
            _read(said, Words(g, text), number)
        except Wrong as wrong:
            raise Malformed(number, str(wrong)) from None
    try:
        if set(said.lines) <= {BANK, *start.seats}:
            _place_money(g, said)
            return g.state
        _build(g, said)
    except Wrong as wrong:
        raise Malformed(said.lines.get(wrong.about, setup[-1].line), str(wrong)) from None
    return g.state


# -- reading ---------------------------------------------------------------------------------


def _read(said: Said, words: Words, number: int) -> None:
    word = words.anything("a word")
    reader = READERS.get(word.casefold())
    if reader is None:
        raise Wrong(f"{word!r} places nothing; there is {', '.join(READERS)}.")
    about = reader(said, words)
    words.end()
    for each in about:
        said.lines[each] = number


def _once[K, V](known: dict[K, V], key: K, value: V, text: str) -> None:  # type: ignore[valid-type]
    ...
