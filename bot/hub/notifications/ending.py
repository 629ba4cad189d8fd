"""The page of the end of a game: who has won, everybody's place, why it is over, and what features add.

It is made of the table when it is told and not when the game ends, so the last move waits for none of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import engine
from bot.hub.cache import TableCache
from bot.hub.changes import STANDINGS
from bot.hub.feature import AddToEnding, EndingPart, Page, PagePicture
from bot.hub.info import TableInfo
from bot.hub.log import TableLog
from bot.hub.notifications.messages import Notification
from bot.hub.seating import IMPORT_TRANSPORT
from bot.hub.table import LiveTable
from bot.position.controls import ReviewChart
from bot.position.text_views import over_sentence
from bot.position.times import duration_text
from engine.core.words import counted, dollars, join_words
from storage import LogRow


async def ending_page(
    cache: TableCache, endings: Sequence[AddToEnding], info: TableInfo, notification: Notification
) -> Page | None:
    """The end of a game, for everybody at the table; None where it goes on again, or never began."""
    table = await cache.get(info.id)
    if not table.begun or not info.is_over:
        return None
    parts = [await add(table) for add in endings]
    return Page(
        headline_of(table.state),
        [over_sentence(table.state) or _who_has_ended(table.log), *_figures(table)],
        [("", list(places_of(table.state))), *(each for part in parts for each in part.lists)],
        [control for part in parts for control in part.controls],
        decision_id=table.current_decision_id,
        pictures=_pictures(parts),
        files=[file for part in parts for file in part.files],
    )


def _figures(table: LiveTable) -> list[str]:
    """How long the game took here: when the moves of an imported game were made is not known."""
    moves = [table.log.row(seq) for seq in table.log.line_of_play.played]
    here = [row for row in moves if row.transport != IMPORT_TRANSPORT]
    if not here and moves:
        return []
    shows_answers = table.stored_info.pace.shows_answers
    told = figures_sentence(game_figures(here), table.state.players, shows_answers=shows_answers)
    return [told if here == moves else f"Since the import {told[:1].lower()}{told[1:]}"]


def _pictures(parts: Sequence[EndingPart]) -> list[PagePicture]:
    """The pictures of the parts; the chart of a review shows the worth by round too."""
    pictures = [picture for part in parts for picture in part.pictures]
    has_review = any(isinstance(picture, ReviewChart) for picture in pictures)
    return [picture for picture in pictures if not (has_review and picture == "worth")]


def headline_of(state: engine.State) -> str:
    """`Ann wins with $7,540.` `Ann leads with $900.` where the game was ended unfinished."""
    worth = engine.standings(state)
    most = max(worth.values())
    names = [state.name(seat) for seat, amount in worth.items() if amount == most]
    verb = "win" if state.game_over else "lead"
    return f"{join_words(names)} {verb}{'s' * (len(names) == 1)} with {dollars(most)}."


def places_of(state: engine.State) -> Iterator[str]:
    """`1. Ann $7,540`; players of equal worth have the same place."""
    worth = engine.standings(state)
    for seat, amount in worth.items():
        place = 1 + sum(other > amount for other in worth.values())
        yield f"{place}. {state.name(seat)} {dollars(amount)}"


def _who_has_ended(log: TableLog) -> str:
    """Who has ended an unfinished game, by the note of `record_end`, without the standings."""
    notes = (row.raw_line for row in reversed(log.rows) if (row.transport, row.line) == ("service", "end"))
    return next(notes, "").partition(STANDINGS)[0]


# -- how long it took, and how fast its players answered ----------------------------------------


class GameFigures(NamedTuple):
    """length: from the first move to the last. waits: of the table for somebody. saved: waits that there
    would have been without orders. answers: by seat, the median answer."""

    length: timedelta
    waits: int
    saved: int
    answers: dict[int, timedelta]


def game_figures(moves: Sequence[LogRow]) -> GameFigures:
    """The figures of the moves that count, in order."""
    if not moves:
        return GameFigures(timedelta(), 0, 0, {})
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
    return GameFigures(moves[-1].created_at - moves[0].created_at, waits, max(changes - waits, 0), medians)


def figures_sentence(figures: GameFigures, names: Sequence[str], *, shows_answers: bool) -> str:
    """The figures in words. shows_answers: the table has agreed to show how fast each player was."""
    length = f"The game took {duration_text(figures.length)} and waited {counted(figures.waits, 'time')}"
    saved = f"; orders saved {counted(figures.saved, 'wait')}" if figures.saved else ""
    text = f"{length}{saved}."
    if shows_answers and figures.answers:
        each = [f"{names[seat]} {duration_text(time)}" for seat, time in sorted(figures.answers.items())]
        text += f" Median answers: {join_words(each)}."
    return text
