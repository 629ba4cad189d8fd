"""The question `review` at a table, and its part of an ending.

A review takes seconds of processor time, so it is made in a thread, and the last ones are kept: the parts
of one review are asked for one after the other.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache, partial

import msgspec

import engine
from bot.features.review import texts
from bot.features.review.review import Review
from bot.features.review.second_opinion import Ranking, second_opinion
from bot.hub.command import Command, Form, Query, QueryRequest
from bot.hub.feature import EndingPart
from bot.hub.request import QueryAnswer
from bot.hub.table import LiveTable
from bot.position.controls import ReviewChart
from bot.position.pending import engine_seat
from engine.core.words import join_words
from engine.game_text import GameHistory, HistoryLine
from storage import LogRow

PAST_PARTS = ("money", "turns")
STUDY_PARTS = ("routes", "trains", "robot")
PARTS = PAST_PARTS + STUDY_PARTS
NOT_YET = (
    "The routes, the trains and the robot's opinion come when the game is over. `review money` and "
    "`review turns` look back at any time."
)

Row = tuple[int, str, str]
"""The number of a move in the log, its seat, and its line."""


def commands(ranking: Ranking) -> list[Command]:
    """The question. ranking: the robot's, for its opinion."""
    form = Form(f"review [{'|'.join(PARTS)}]", "what decided the game", "review turns")
    return [Query("review", (form,), partial(_answer, ranking))]


async def _answer(ranking: Ranking, query: QueryRequest) -> QueryAnswer:
    """The answer to `review [PART]`. Raises ValueError with a sentence."""
    part = review_part(query.argument)
    if part in STUDY_PARTS and not _may_study(query.table):
        raise ValueError(NOT_YET)
    review = await _review_of_table(query.table)
    text = await asyncio.to_thread(part_text, review, part, ranking)
    answer = QueryAnswer("review", text)
    if part != "money":
        return answer
    return msgspec.structs.replace(answer, picture="review", review=chart_of(review))


async def add_to_ending(table: LiveTable) -> EndingPart:
    """Where the money came from, without who has won, which every ending says; the last sentence says what
    else can be asked."""
    review = await _review_of_table(table)
    sentences, chart = await asyncio.to_thread(lambda: (review.sentences[1:], chart_of(review)))
    return EndingPart([("Review", [*sentences, more_parts(review)])], pictures=[chart])


def _may_study(table: LiveTable) -> bool:
    """Whether a review says what would have been better: the game is over or for practice."""
    return table.stored_info.is_over or table.stored_info.hints


async def _review_of_table(table: LiveTable) -> Review:
    """The review of a game, with the numbers of its moves in the log."""
    start, events = table.log.stored_game()
    rows = tuple(_row(table.log.row(seq)) for seq in table.log.line_of_play.played)
    return await asyncio.to_thread(_review, engine.encode_state(start), events, rows, _may_study(table))


def _row(row: LogRow) -> Row:
    """A move as the whole table may see it."""
    line = "" if engine.is_secret(row.line) else row.line
    return row.seq, engine_seat(row.seat or 0), line


def review_part(name: str) -> str:
    """The part of that name; the money without a name. Raises ValueError."""
    wanted = name.casefold().strip() or PARTS[0]
    for part in PARTS:
        if part.startswith(wanted):
            return part
    raise ValueError(f"A review has no part {name}; it has {join_words(PARTS)}.")


def part_text(review: Review, part: str, ranking: Ranking) -> str:
    """A part of a review as text."""
    match part:
        case "turns":
            return texts.turns_text(review)
        case "routes":
            return texts.routes_text(review)
        case "trains":
            return texts.trains_text(review)
        case "robot":
            return texts.robot_text(review, second_opinion(review.game, review.places, ranking))
        case _:
            return "\n".join([*review.sentences, more_parts(review)])


def review_of_history(history: GameHistory) -> tuple[str, ReviewChart]:
    """Where the money came from, and the turning points; and what their picture shows."""
    review = Review(history)
    return "\n".join([*review.sentences, "", texts.turns_text(review)]), chart_of(review)


def more_parts(review: Review) -> str:
    """What else can be asked: `More: review turns (the numbers in the review's chart), review routes, …`."""
    parts = PARTS[1:] if review.may_study else PAST_PARTS[1:]
    named = [f"`review {part}`" for part in parts]
    named[0] += " (the numbers in the review's chart)" * bool(review.marks)
    return f"More: {join_words(named)}."


def chart_of(review: Review) -> ReviewChart:
    """What the picture of a review shows."""
    return ReviewChart(tuple(review.marks), review.bars)


@lru_cache(maxsize=2)
def _review(start: bytes, events: tuple[bytes, ...], rows: tuple[Row, ...], is_study: bool) -> Review:
    """The review of a game, or the one that was just made of it. is_study: it is over or for practice."""
    lines = tuple(
        HistoryLine(seat, line, engine.decode_events(raw))
        for (_, seat, line), raw in zip(rows, events, strict=True)
    )
    numbers = [number for number, _, _ in rows]
    return Review(GameHistory(engine.decode_state(start), lines), numbers, is_study=is_study)
