"""How long a game took, and how fast its players answered, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import NamedTuple, Protocol

from bot.position.text_views import join_words
from bot.position.times import duration_text


class TimedMove(Protocol):
    """The part of a log row that the figures depend on."""

    @property
    def seat(self) -> int | None: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def order_id(self) -> int | None: ...


class GameFigures(NamedTuple):
    """days: from the first move to the last. waits: of the table for somebody. saved: waits that there would
    have been without orders. answers: by seat, the median answer."""

    days: float
    waits: int
    saved: int
    answers: dict[int, timedelta]


def game_figures(moves: Sequence[TimedMove]) -> GameFigures:
    """The figures of the moves that count, in order."""
    if not moves:
        return GameFigures(0.0, 0, 0, {})
    waits = changes = 0
    answers: dict[int, list[timedelta]] = {}
    by_hand = moves[0].seat
    for before, move in pairwise(moves):
        changes += move.seat != before.seat
        if move.order_id is not None or move.seat is None:
            continue
        if move.seat != by_hand:
            waits += 1
            answers.setdefault(move.seat, []).append(move.created_at - before.created_at)
        by_hand = move.seat
    medians = {
        seat: timedelta(seconds=median(time.total_seconds() for time in times))
        for seat, times in answers.items()
    }
    days = (moves[-1].created_at - moves[0].created_at) / timedelta(days=1)
    return GameFigures(days, waits, max(changes - waits, 0), medians)


def figures_sentence(figures: GameFigures, names: Sequence[str], *, shows_answers: bool) -> str:
    """The figures in words. shows_answers: the table has agreed to show how fast each player was."""
    days = max(round(figures.days), 1)
    length = f"The game took {days} day{'s' * (days > 1)} and waited {figures.waits} times"
    saved = f"; orders saved {figures.saved} waits" if figures.saved else ""
    text = f"{length}{saved}."
    if shows_answers and figures.answers:
        each = [f"{names[seat]} {duration_text(time)}" for seat, time in sorted(figures.answers.items())]
        text += f" Median answers: {join_words(each)}."
    return text
