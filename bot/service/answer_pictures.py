"""The picture that goes with the answer to a question: of a position, or of the whole game."""

from __future__ import annotations

import engine
from bot.service.picture_workers import Pictures
from bot.service.queries import TableQueries
from bot.service.results import QueryAnswer
from renderers import CHART_KINDS, PaletteName, Picture


def picture_file_name(kind: str) -> str:
    """The name of the file of a picture: `map.png`, `animation.gif`."""
    return f"{kind}.{'gif' if kind == 'animation' else 'png'}"


async def draw_answer(
    pictures: Pictures,
    queries: TableQueries,
    table_id: int,
    answer: QueryAnswer,
    state: engine.State,
    palette: PaletteName = "light",
) -> Picture | None:
    """The picture of an answer; None where there is none, or it cannot be drawn. state: the position now."""
    kind = answer.picture
    if kind is None:
        return None
    if kind == "animation" or kind in CHART_KINDS:
        return await draw_of_game(pictures, *await queries.stored_game(table_id), kind, palette)
    return await pictures.draw(kind, answer.shown_state(state), palette)


async def draw_of_game(
    pictures: Pictures,
    start: engine.State,
    events: tuple[bytes, ...],
    kind: str,
    palette: PaletteName = "light",
) -> Picture | None:
    """A chart of a whole game, or its map as an animation, whose bytes are a GIF."""
    for chart in CHART_KINDS:
        if kind == chart:
            return await pictures.chart(start, events, chart, palette)
    drawn = await pictures.animation(start, events, palette)
    return drawn and Picture(drawn.gif, drawn.alt, drawn.width, drawn.height)
