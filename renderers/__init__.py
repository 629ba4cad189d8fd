"""Pictures of a game: map, market, sheet, and the ways a tile may lie, as PNG files with alt text.

Everything that is kept between pictures is kept by content, so the same position always gives
the same bytes. Pictures cost processor time (a map some 20 ms): a service draws them in a
process pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine import State, game_of
from renderers.canvas import encode_png
from renderers.map import LAYERS, Layer, draw_map
from renderers.market import draw_market
from renderers.rotation_preview import draw_rotations
from renderers.sheet import draw_sheet
from renderers.timing import RenderingMetric, measure_rendering
from renderers.views import (
    MapView,
    MarketView,
    RouteLeg,
    RouteSpec,
    SheetView,
    clip_text,
    map_view,
    market_view,
    sheet_view,
)


class Picture(NamedTuple):
    """A PNG file, what it shows in at most 1024 characters, and its size in pixels."""

    png: bytes
    alt: str
    width: int
    height: int


def map_png(
    state: State,
    *,
    size: tuple[int, int] | None = None,
    highlight: Iterable[str] = (),
    routes: Sequence[tuple[str, RouteSpec]] = (),
    company: str = "",
    crop: Iterable[str] | None = None,
    layers: tuple[Layer, ...] = LAYERS,
) -> Picture:
    """The map of a position.

    `size`: of the picture in pixels; for None what the board needs within 1600 x 1200.
    `highlight`: the hexes of the last change. `routes`: for each train its label and its course,
    as players write it (`F2-H4-H10`) or as stretches (hex, end, end); `company` runs them.
    `crop`: only these hexes, as large as the picture allows. `layers`: those to be painted.
    Raises KeyError for a hex that the map has not, ValueError for a course without track.
    """
    view = map_view(state, highlight=highlight, routes=routes, company=company, crop=crop)
    image = draw_map(view, size, layers)
    return Picture(encode_png(image), view.alt, image.width, image.height)


def market_png(state: State, *, highlight: Iterable[str] = ()) -> Picture:
    """The stock market; `highlight`: the companies whose price changed last."""
    view = market_view(state, highlight=highlight)
    image = draw_market(view)
    return Picture(encode_png(image), view.alt, image.width, image.height)


def sheet_png(state: State, *, viewer: str | None = None) -> Picture:
    """The sheet of players and companies, with bank, phase and the trains that are left."""
    view = sheet_view(state, viewer)
    image = draw_sheet(view)
    return Picture(encode_png(image), view.alt, image.width, image.height)


def tile_choice_png(state: State, coord: str, tile: str, turns: Sequence[int]) -> Picture:
    """The ways in which a tile may be turned on a hex, side by side, each named by its turn (0-5).

    Raises KeyError for an unknown hex or tile, and ValueError where no turn is given.
    """
    if not turns:
        raise ValueError(f"no turn of tile {tile} on {coord} is given")
    printed = game_of(state).components.map.hexes
    if coord not in printed:
        raise KeyError(f"{coord} is no hex of the map of {state.title}")
    crop = {coord, *printed[coord].neighbors.values()}
    panels = [
        (turn, map_view(state, highlight=[coord], crop=crop, preview={coord: (tile, turn)})) for turn in turns
    ]
    image = draw_rotations(panels)
    listed = ", ".join(f"turn {turn}: edges {_track_edges(view, coord)}" for turn, view in panels)
    return Picture(
        encode_png(image), clip_text(f"Tile {tile} on {coord}. {listed}."), image.width, image.height
    )


def _track_edges(view: MapView, coord: str) -> str:
    here = view.hex_at(coord)
    edges = {(int(end[1:]) + here.turns) % 6 for path in here.paths for end in path if end[0] == "e"}
    return " ".join(str(e) for e in sorted(edges))


__all__ = [
    "LAYERS",
    "Layer",
    "MapView",
    "MarketView",
    "Picture",
    "RenderingMetric",
    "RouteLeg",
    "RouteSpec",
    "SheetView",
    "map_png",
    "map_view",
    "market_png",
    "market_view",
    "measure_rendering",
    "sheet_png",
    "sheet_view",
    "tile_choice_png",
]  # fmt: skip
