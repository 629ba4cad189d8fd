"""The ending of a game, for every transport: who has won, records, charts, its animated map.

It is made when it is told and not when the game ends, so the last move waits for none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import NamedTuple

import engine
from bot.features.history.feature import game_records, records_text
from bot.hub.queries import TableQueries
from bot.pictures.views import NamedPicture
from bot.pictures.wanted import draw_of_game
from bot.pictures.workers import Pictures
from bot.position.sentences import dollars
from bot.position.text_views import join_words
from renderers import CHART_KINDS


class Ending(NamedTuple):
    """How a game ended: who has won, each player's place and worth, and the records."""

    headline: str
    places: tuple[str, ...]
    records: tuple[str, ...]


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


async def make_ending(queries: TableQueries, table_id: int, state: engine.State) -> Ending:
    """The ending of a game whose last position is `state`."""
    start, events = await queries.stored_game(table_id)
    records = await asyncio.to_thread(game_records, start, events)
    return Ending(
        headline_of(state),
        tuple(places_of(state)),
        tuple(records_text(records)),
    )


async def ending_pictures(
    pictures: Pictures, queries: TableQueries, table_id: int, state: engine.State
) -> list[NamedPicture]:
    """The final sheet, the charts, and the animated map; those that cannot be drawn are left out."""
    start, events = await queries.stored_game(table_id)
    revenues = await queries.last_revenues(table_id)
    kinds = ("sheet", *CHART_KINDS, "animation")
    drawn = await asyncio.gather(
        pictures.sheet(state, revenues=revenues),
        *(draw_of_game(pictures, start, events, kind) for kind in CHART_KINDS),
        draw_of_game(pictures, start, events, "animation"),
    )
    return [NamedPicture(kind, each) for kind, each in zip(kinds, drawn, strict=True) if each is not None]
