"""The review in the ending of a game, for every transport: one picture, and the sentences."""

from __future__ import annotations

import asyncio

import engine
from bot.features.review.feature import chart_of, more_parts, review_of
from bot.hub.queries import TableQueries
from bot.hub.result import ReviewChart
from bot.pictures.views import NamedPicture
from bot.pictures.workers import Pictures


async def ending_review(queries: TableQueries, table_id: int) -> tuple[str, ...]:
    """Where the money came from, without who has won, which every ending says; the last sentence says what
    else can be asked."""
    start, events = await queries.stored_game(table_id)
    return await asyncio.to_thread(_sentences, start, events)


async def review_pictures(pictures: Pictures, queries: TableQueries, table_id: int) -> list[NamedPicture]:
    """The picture of the review; none if it cannot be drawn."""
    start, events = await queries.stored_game(table_id)
    chart = await asyncio.to_thread(_chart, start, events)
    drawn = await pictures.review(start, events, chart)
    return [NamedPicture("review", drawn)] if drawn else []


def _sentences(start: engine.State, events: tuple[bytes, ...]) -> tuple[str, ...]:
    review = review_of(start, events, is_study=True)
    return *review.sentences[1:], more_parts(review)


def _chart(start: engine.State, events: tuple[bytes, ...]) -> ReviewChart:
    return chart_of(review_of(start, events, is_study=True))
