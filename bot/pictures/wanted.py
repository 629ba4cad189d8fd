"""The pictures of an answer and of a page, the same by Discord, mail and terminal."""

from __future__ import annotations

from collections.abc import Awaitable

import engine
from bot.hub.feature import Page, PagePicture
from bot.hub.queries import TableQueries
from bot.hub.request import QueryAnswer, ReviewChart
from bot.hub.table import TableView
from bot.pictures.views import (
    Drawing,
    NamedPicture,
    draw_all,
    map_of_run,
    question_pictures,
    tried_pictures,
)
from bot.pictures.workers import Pictures
from bot.position.boards import find_company, routes_order
from renderers import CHART_KINDS, Picture

PICTURES_SAY_ALL = ("status", "sheet", "map", "market", "chart", "animation")
"""Questions whose answer needs no text beside its picture."""


async def turn_pictures(
    queries: TableQueries, pictures: Pictures, view: TableView, since: int = 0
) -> tuple[NamedPicture, ...]:
    """The pictures of the question that is asked now; since: what has changed since then is marked."""
    assert view.state is not None
    try:
        before = await queries.state_at(view.table.id, since) if since else None
    except ValueError:
        before = None
    turn = view.state.stack[-1]
    if isinstance(turn, engine.OperatingTurn) and turn.step == "dividend":
        ran = await queries.run_since(view.table.id, company=turn.company)
    else:
        ran = await queries.run_since(view.table.id, since) if since else None
    revenues = await queries.last_revenues(view.table.id)
    return await question_pictures(pictures, view.state, before, revenues=revenues, ran=ran)


async def answer_pictures(
    queries: TableQueries, pictures: Pictures, view: TableView, answer: QueryAnswer
) -> tuple[NamedPicture, ...]:
    """The pictures of an answer: of a tile, where it may lie and its upgrades; of a run, its routes.

    A picture that cannot be drawn is left out.
    """
    if view.state is None:
        return ()
    state = answer.shown_state(view.state)
    match answer.query:
        case "turn" if not state.game_over:
            return await turn_pictures(queries, pictures, view)
        case "plan" if answer.encoded_state is not None:
            return await tried_pictures(pictures, state, view.state, answer.ran)
        case "tiles":
            return await draw_all(_tiles(pictures, state, answer.argument))
        case "bids" if engine.topic(state) == "auction":
            return await draw_all([("auction", pictures.auction(state))])
        case "routes":
            return await draw_all(await _routes(queries, pictures, view, answer.argument))
        case "trains":
            revenues = await queries.last_revenues(view.table.id)
            return await draw_all([("sheet", pictures.sheet(state, revenues=revenues))])
    wanted = answer.review or answer.picture
    return await draw_all([await _drawing(queries, pictures, view, wanted, state)] if wanted else [])


async def page_pictures(
    queries: TableQueries, pictures: Pictures, view: TableView, page: Page
) -> tuple[NamedPicture, ...]:
    """The pictures of a page about a game that has begun, without those that cannot be drawn."""
    assert view.state is not None
    return await draw_all(
        [await _drawing(queries, pictures, view, each, view.state) for each in page.pictures]
    )


async def _drawing(
    queries: TableQueries, pictures: Pictures, view: TableView, wanted: PagePicture, state: engine.State
) -> Drawing:
    """A picture of a position of a game, or of the whole game."""
    if isinstance(wanted, ReviewChart):
        return "review", pictures.review(*await queries.stored_game(view.table.id), wanted)
    if wanted == "animation" or wanted in CHART_KINDS:
        return wanted, draw_of_game(pictures, *await queries.stored_game(view.table.id), wanted)
    if wanted == "sheet" and state is view.state:
        return wanted, pictures.sheet(state, revenues=await queries.last_revenues(view.table.id))
    return wanted, pictures.draw(wanted, state)


async def _routes(queries: TableQueries, pictures: Pictures, view: TableView, company: str) -> list[Drawing]:
    """The last run of a company; where none is named, of the company that is first in the text."""
    state = view.state
    assert state is not None
    named = [find_company(state, company)] if company else await _order_of_runs(queries, view)
    for sym in filter(None, named):
        ran = await queries.run_since(view.table.id, company=sym)
        if ran and (shown := map_of_run(pictures, state, ran)):
            return [shown]
    return []


async def _order_of_runs(queries: TableQueries, view: TableView) -> list[str]:
    """The companies in the order in which their runs are told."""
    assert view.state is not None
    return routes_order(view.state, list(await queries.last_runs(view.table.id)))


def _tiles(pictures: Pictures, state: engine.State, tile: str) -> list[Drawing]:
    """Where a tile may lie, and its upgrades; without a tile, all that are left."""
    name = tile.removeprefix("#")
    if not name:
        return [("tiles", pictures.tiles_left(state))]
    drawings: list[Awaitable[Picture | None]] = [
        pictures.tile_places(state, name),
        pictures.upgrades(state, name),
    ]
    return [("tiles", drawing) for drawing in drawings]


async def draw_of_game(
    pictures: Pictures, start: engine.State, events: tuple[bytes, ...], kind: str
) -> Picture | None:
    """A chart of a whole game, or its map as an animation, whose bytes are a GIF."""
    for chart in CHART_KINDS:
        if kind == chart:
            return await pictures.chart(start, events, chart)
    drawn = await pictures.animation(start, events)
    return drawn and Picture(drawn.gif, drawn.alt, drawn.width, drawn.height)


def picture_file_name(kind: str, number: int = 0, picture: Picture | None = None) -> str:
    """The name of the file of a picture: `map.png`, `animation.gif`; `map-2.webp` with a number."""
    suffix = f"-{number}" if number else ""
    file_type = "webp" if picture and picture.png[8:12] == b"WEBP" else "png"
    return f"{kind.replace(' ', '-')}{suffix}.{'gif' if kind == 'animation' else file_type}"
