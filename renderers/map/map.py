"""The picture of the map: every hex is drawn by a list of layers, cached, and pasted.

Theory of operation. The picture of a hex depends only on its `HexView`, the size of hexes and the layers. It
is drawn once, converted to the palette and cached (`CACHED_HEXES`). A map is its background and one paste per
hex, so after a move only the changed hexes are drawn. Things across an edge (barriers, routes, joined areas)
are drawn by both hexes, half by each.

`label_layout` finds the positions of texts first; the layers only draw there.

Below the map is its legend: a row for each train, with its stroke, its number and its label; then footnotes,
the notes that have no room on their hexes. A label that is too long for a row goes on in further rows, so
that every stop of a route can be read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from PIL import Image

from renderers import theme
from renderers.canvas import Canvas, SupersampledCanvas, filled_lines, to_palette
from renderers.files import png_palette
from renderers.geometry import dashed
from renderers.hex_grid import Grid, HexMetrics, Piece, fit_grid
from renderers.map import hex_sprites, route_sprites
from renderers.map.label_layout import CACHED_HEXES, lay_out_labels
from renderers.map.layers import LAYERS, Layer, LayerContext
from renderers.map.page_layout import arranged_grid
from renderers.theme import Palette
from renderers.views import HexView, MapView

FONT_SHARE = 0.026
"""The font size as a share of the picture's width: digits are 7 pixels high on a phone."""
SMALLEST_FONT = 16
BOTTOM = 12


class Legend(NamedTuple):
    """The labels of the routes, and the footnotes: `C18 →GMO`."""

    routes: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()


def legend_font(width: int) -> int:
    """The font size of a legend of that width, in pixels."""
    return max(SMALLEST_FONT, round(width * FONT_SHARE))


def row_height(width: int) -> int:
    return round(legend_font(width) * 1.5)


def legend_rows(routes: tuple[str, ...], width: int) -> list[list[str]]:
    """The label of each route in rows, broken after a stop or a space."""
    size = legend_font(width)
    room = width - _label_left(size) - size
    parts = (label.replace("-", "-\0").replace(" ", " \0").split("\0") for label in routes)
    return [filled_lines(each, "", size, room) for each in parts]


def footnote_rows(footnotes: tuple[str, ...], width: int) -> list[str]:
    """The footnotes in rows; none is broken."""
    size = legend_font(width)
    return filled_lines(footnotes, "  ·  ", size, width - 1.5 * size)


def legend_height(legend: Legend, width: int) -> int:
    """The height of a legend in pixels."""
    rows = sum(map(len, legend_rows(legend.routes, width))) + len(footnote_rows(legend.footnotes, width))
    return row_height(width) * rows + BOTTOM if rows else 0


def _label_left(size: int) -> int:
    return round(size * 5.75)


@lru_cache(16)
def draw_legend(palette: Palette, legend: Legend, width: int) -> Image.Image:
    """The legend as a picture of that width in pixels."""
    size, height, rows = legend_font(width), row_height(width), legend_rows(legend.routes, width)
    shape = SupersampledCanvas((width, legend_height(legend, width)), palette.sea)
    tops = [height * sum(map(len, rows[:i])) for i in range(len(rows))]
    for i, top in enumerate(tops):
        y = top + height / 2
        dash = [size * 1.5 * k for k in route_sprites.DASHES[i % len(route_sprites.DASHES)]]
        for stroke in dashed(((size * 0.75, y), (size * 3.75, y)), dash):
            shape.line(stroke, size * 0.375, palette.casing)
            shape.line(stroke, size * 0.28, route_sprites.route_color(palette, i))
    canvas = Canvas(shape.downsampled())
    ink = palette.text_on(palette.sea)
    for i, (top, lines) in enumerate(zip(tops, rows, strict=True)):
        number = route_sprites.route_number(i, route_sprites.route_color(palette, i), round(size * 1.12))
        canvas.paste(number, (size * 4.75, top + height / 2))
        for j, line in enumerate(lines):
            canvas.write((_label_left(size), top + height * (j + 0.5)), line, size, ink, align="l")
    below = sum(map(len, rows))
    for i, row in enumerate(footnote_rows(legend.footnotes, width), below):
        canvas.write((size * 0.75, height * (i + 0.5)), row, size, ink, align="l")
    return canvas.image


MARGIN = 30
FRAME_FONT_SIZE = 27
DIVIDER = 4
"""How thick the line between the pieces of a divided map is; on a phone at least one pixel."""
PANEL_TEXT_SHARE = 1.4
"""How large texts are on parts of a map that are side by side in one picture."""


class DrawnHex(NamedTuple):
    """The picture of a hex, and its notes that have no room there.

    The pixels outside the hex are masked when it is pasted.
    """

    image: Image.Image
    footnotes: tuple[str, ...]


@lru_cache(CACHED_HEXES)
def draw_hex(
    palette: Palette, view: HexView, metrics: HexMetrics, layers: tuple[Layer, ...], colors: tuple[str, ...]
) -> DrawnHex:
    """The picture of one hex in the palette."""
    w, h = metrics.half_size
    canvas = Canvas.empty((2 * w, 2 * h), palette.sea)
    hex = LayerContext(
        canvas, palette, metrics, view, hex_sprites.face_layout(view, metrics), lay_out_labels(view, metrics)
    )
    for layer in layers:
        layer(hex)
    return DrawnHex(to_palette(canvas.image, png_palette(palette, colors)), hex.labels.footnotes)


def grid_for(view: MapView, size: tuple[int, int] | None = None, margin: int = MARGIN) -> Grid:
    """The grid of a view's hexes on a page of `size` pixels; for None cropped to them.

    Without a size it is as large as one of `MAX_SIZES` allows, so that a portrait map has the area of others.
    """
    coords = tuple(hex.coord for hex in view.hexes)
    if size:
        grid = fit_grid(coords, view.layout, view.axes, size, margin)
        share = PANEL_TEXT_SHARE if view.is_crop else 1.0
        return grid.with_metrics(replace(grid.metrics, text_share=share))
    return arranged_grid(coords, view.layout, view.axes, view.is_crop, margin)


def draw_map(
    view: MapView,
    size: tuple[int, int] | None = None,
    margin: int = MARGIN,
    palette: Palette = theme.LIGHT,
) -> Image.Image:
    """The map as a picture in its palette, of `size` pixels; None: as large as it needs within a page."""
    grid = grid_for(view, size, margin)
    colors = tuple(c.color for c in view.companies)
    coords = tuple(h.coord for h in view.hexes)
    drawn = [draw_hex(palette, hex, grid.metrics, LAYERS, colors) for hex in view.hexes]
    footnotes = (
        f"{coord} {', '.join(each.footnotes)}"
        for coord, each in zip(coords, drawn, strict=True)
        if each.footnotes
    )
    legend = Legend(view.routes, tuple(footnotes))
    page = replace(grid, size=(grid.size[0], grid.size[1] + legend_height(legend, grid.size[0])))
    image = _map_background(palette, page, coords, colors, bool(margin), grid.size[1]).copy()
    mask = hex_sprites.hex_mask(grid.metrics)
    w, h = grid.metrics.half_size
    for coord, each in zip(coords, drawn, strict=True):
        x, y = grid.center(coord)
        image.paste(each.image, (x - w, y - h), mask)
    if page.size != grid.size:
        rows = draw_legend(palette, legend, grid.size[0])
        image.paste(to_palette(rows, png_palette(palette, colors)), (0, grid.size[1]))
    return image


@lru_cache(16)
def _map_background(
    palette: Palette, page: Grid, coords: tuple[str, ...], colors: tuple[str, ...], framed: bool, height: int
) -> Image.Image:
    """The page below the hexes; `framed`: with the letters and numbers of rows and columns.

    `height`: of the part with the map.
    """
    canvas = Canvas.empty(page.size, palette.sea)
    if framed:
        for piece in page.pieces or (Piece(coords, (0, 0), (page.size[0], height), page.origin),):
            _draw_frame(canvas, palette, page, piece)
    for before, after in pairwise(page.pieces):
        _draw_divider(canvas, palette, page.size[0], height, before, after)
    return to_palette(canvas.image, png_palette(palette, colors))


def _draw_divider(
    canvas: Canvas, palette: Palette, width: int, height: int, before: Piece, after: Piece
) -> None:
    """Draw a line between two pieces of a map, so that they do not look like neighbours."""
    x, y = after.corner
    if before.corner[1] + before.size[1] == y:
        canvas.rectangle(0, y - DIVIDER / 2, width, y + DIVIDER / 2, palette.sea_text)
    else:
        canvas.rectangle(x - DIVIDER / 2, 0, x + DIVIDER / 2, height, palette.sea_text)


def _draw_frame(canvas: Canvas, palette: Palette, page: Grid, piece: Piece) -> None:
    """Write the letters and numbers of rows and columns around a piece of the map."""
    left, top = piece.corner
    right, bottom = left + piece.size[0], top + piece.size[1]
    for coord in piece.coords:
        x, y = page.center(coord)
        letter = "".join(c for c in coord if not c.isdigit())
        number = coord[len(letter) :]
        across, down = (letter, number) if dict(page.axes)["x"] == "letter" else (number, letter)
        for point in ((x, top + 15), (x, bottom - 15)):
            canvas.write(point, across, FRAME_FONT_SIZE, palette.sea_text)
        for point in ((left + 18, y), (right - 18, y)) if down.isalnum() else ():
            canvas.write(point, down, FRAME_FONT_SIZE, palette.sea_text)
