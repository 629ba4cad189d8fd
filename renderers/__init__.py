"""Pictures of a game as PNG files with alt text: map, market, sheet, and the rotations of a tile.

All caches are keyed by content, so the same position always gives the same bytes. Drawing takes processor
time (about 20 ms for a map), so a service draws in a process pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine import State, game_of
from renderers.canvas import encode_png
from renderers.map import LAYERS, Layer, draw_map
from renderers.market import draw_market
from renderers.rotation_preview import draw_rotations
from renderers.sheet import draw_sheet
from renderers.tables import companies_alt, draw_auction, draw_companies
from renderers.theme import PALETTES, PaletteName
from renderers.timing import RenderingMetric, measure_rendering
from renderers.views import (
    MapView,
    MarketView,
    RouteLeg,
    RouteSpec,
    SheetView,
    around,
    auction_view,
    clip_text,
    map_view,
    market_view,
    sheet_view,
)


class Picture(NamedTuple):
    """A PNG file, its description in at most 1024 characters, and its size in pixels."""

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
    palette: PaletteName = "light",
) -> Picture:
    """The map of a position.

    `size`: width and height in pixels; None: as large as the map needs within 1600 x 1200. `highlight`: the
    hexes that changed last. `routes`: (label, route) of each train that `company` runs; a route is in the
    players' notation (`F2-H4-H10`) or a sequence of legs. `crop`: draw only these hexes, as large as the
    picture allows. `layers`: the layers to draw.

    Raises KeyError for an unknown hex, ValueError for a route without track.
    """
    view = map_view(state, highlight=highlight, routes=routes, company=company, crop=crop)
    image = draw_map(view, size, layers, palette=PALETTES[palette])
    return Picture(encode_png(image), view.alt, image.width, image.height)


def market_png(state: State, *, highlight: Iterable[str] = (), palette: PaletteName = "light") -> Picture:
    """The stock market. `highlight`: the companies whose price changed last."""
    view = market_view(state, highlight=highlight)
    image = draw_market(view, PALETTES[palette])
    return Picture(encode_png(image), view.alt, image.width, image.height)


def sheet_png(
    state: State,
    *,
    viewer: str | None = None,
    revenues: Mapping[str, int] | None = None,
    palette: PaletteName = "light",
) -> Picture:
    """The sheet: players, companies, bank, phase, the trains in the depot and the tiles left.

    `viewer`: the seat that will see it; None: what the whole table may see. `revenues`: dollars of each
    company's last run.
    """
    view = sheet_view(state, viewer, revenues)
    image = draw_sheet(view, PALETTES[palette])
    return Picture(encode_png(image), view.alt, image.width, image.height)


def auction_png(state: State, *, palette: PaletteName = "light") -> Picture:
    """An auction: what is for sale, income, bids and their leader, and everybody's free money."""
    view = auction_view(state)
    image = draw_auction(view, PALETTES[palette])
    return Picture(encode_png(image), view.alt, image.width, image.height)


def companies_png(
    state: State,
    companies: Sequence[str],
    *,
    revenues: Mapping[str, int] | None = None,
    palette: PaletteName = "light",
) -> Picture:
    """Companies side by side, with what they have together. Raises ValueError for none."""
    if not companies:
        raise ValueError("no company is given")
    view = sheet_view(state, revenues=revenues)
    image = draw_companies(view, companies, PALETTES[palette])
    return Picture(encode_png(image), clip_text(companies_alt(view, companies)), image.width, image.height)


def tile_choice_png(
    state: State, coord: str, tile: str, rotations: Sequence[int], *, palette: PaletteName = "light"
) -> Picture:
    """The rotations (0-5) of a tile on a hex, side by side.

    Raises KeyError for an unknown hex or tile, and ValueError for no rotations.
    """
    if not rotations:
        raise ValueError(f"no rotations of tile {tile} on {coord} are given")
    hexes = game_of(state).components.map.hexes
    if coord not in hexes:
        raise KeyError(f"the map of {state.title} has no hex {coord}")
    crop = {coord, *hexes[coord].neighbors.values()}
    panels = [
        (rotation, map_view(state, highlight=[coord], crop=crop, preview={coord: (tile, rotation)}))
        for rotation in rotations
    ]
    image = draw_rotations(panels, PALETTES[palette])
    edges = ", ".join(f"rotation {rotation}: edges {_track_edges(view, coord)}" for rotation, view in panels)
    return Picture(
        encode_png(image), clip_text(f"Tile {tile} on {coord}. {edges}."), image.width, image.height
    )


def _track_edges(view: MapView, coord: str) -> str:
    here = view.hex_at(coord)
    edges = {(int(end[1:]) + here.rotation) % 6 for path in here.paths for end in path if end[0] == "e"}
    return " ".join(str(e) for e in sorted(edges))


__all__ = [
    "LAYERS",
    "PALETTES",
    "Layer",
    "MapView",
    "MarketView",
    "PaletteName",
    "Picture",
    "RenderingMetric",
    "RouteLeg",
    "RouteSpec",
    "SheetView",
    "around",
    "auction_png",
    "companies_png",
    "map_png",
    "map_view",
    "market_png",
    "market_view",
    "measure_rendering",
    "sheet_png",
    "sheet_view",
    "tile_choice_png",
]  # fmt: skip
