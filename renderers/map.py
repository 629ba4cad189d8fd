"""The picture of the map: every hex is drawn by a list of layers, cached, and pasted.

Theory of operation. The picture of a hex depends only on its `HexView`, the size of hexes and the layers. It
is drawn once, converted to the palette and cached (`CACHED_HEXES`). A map is its background and one paste per
hex, so after a move only the changed hexes are drawn. Things across an edge (barriers, routes, joined areas)
are drawn by both hexes, half by each.

`label_layout` finds the positions of texts first; the layers only draw there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from PIL import Image

from renderers import hex_sprites, theme
from renderers.canvas import CAP_HEIGHT, Canvas, to_palette
from renderers.geometry import HexLayout
from renderers.hex_grid import Axes, Grid, HexMetrics, fit_grid
from renderers.label_layout import CACHED_HEXES, lay_out_labels
from renderers.layers import LAYERS, Layer, LayerContext
from renderers.legend import draw_legend, legend_height
from renderers.theme import Palette
from renderers.views import HexView, MapView

MAX_SIZES = ((1280, 960), (1000, 1200))
"""The pages, in pixels: landscape and portrait. A phone shows pictures 400 points or 1200 pixels wide."""
MARGIN = 30
PHONE_WIDTH, PHONE_DIGITS = 400, 5.2
"""A part of a map is lettered so that digits are so many pixels high where the picture is shown so wide."""
MAX_TEXT_SHARE = 1.6


@lru_cache(CACHED_HEXES)
def draw_hex(
    palette: Palette, view: HexView, metrics: HexMetrics, layers: tuple[Layer, ...], colors: tuple[str, ...]
) -> Image.Image:
    """The picture of one hex in the palette; the pixels outside the hex are masked when it is pasted."""
    w, h = metrics.half_size
    canvas = Canvas((2 * w, 2 * h), palette.sea)
    hex = LayerContext(
        canvas, palette, metrics, view, hex_sprites.face_layout(view, metrics), lay_out_labels(view, metrics)
    )
    for layer in layers:
        layer(hex)
    return to_palette(canvas.image, theme.png_palette(palette, colors))


def grid_for(view: MapView, size: tuple[int, int] | None = None, margin: int = MARGIN) -> Grid:
    """The grid of a view's hexes on a page of `size` pixels; for None cropped to them.

    Without a size it is as large as one of `MAX_SIZES` allows, so that a portrait map has the area of others.
    """
    coords = tuple(hex.coord for hex in view.hexes)
    return _grid_of(coords, view.layout, view.axes, view.is_crop, size, margin)


@lru_cache(64)
def _grid_of(
    coords: tuple[str, ...],
    layout: HexLayout,
    axes: Axes,
    is_crop: bool,
    size: tuple[int, int] | None,
    margin: int,
) -> Grid:
    if size:
        return fit_grid(coords, layout, axes, size, margin)
    grids = [fit_grid(coords, layout, axes, page, margin) for page in MAX_SIZES]
    grid = max(grids, key=lambda grid: grid.metrics.radius).cropped(coords, margin)
    if not is_crop:
        return grid
    readable = PHONE_DIGITS / CAP_HEIGHT * grid.size[0] / PHONE_WIDTH
    share = readable / (0.26 * grid.metrics.radius)
    metrics = replace(grid.metrics, text_share=round(min(max(share, 1.0), MAX_TEXT_SHARE), 2))
    return replace(grid, metrics=metrics)


def draw_map(
    view: MapView,
    size: tuple[int, int] | None = None,
    layers: tuple[Layer, ...] = LAYERS,
    margin: int = MARGIN,
    palette: Palette = theme.LIGHT,
) -> Image.Image:
    """The map as a picture in its palette, of `size` pixels; None: as large as it needs within a page."""
    grid = grid_for(view, size, margin)
    colors = tuple(c.color for c in view.companies)
    coords = tuple(h.coord for h in view.hexes)
    page = replace(grid, size=(grid.size[0], grid.size[1] + legend_height(view.routes, grid.size[0])))
    image = _map_background(palette, page, coords, colors, bool(margin), grid.size[1]).copy()
    mask = hex_sprites.hex_mask(grid.metrics)
    w, h = grid.metrics.half_size
    for hex_view in view.hexes:
        x, y = grid.center(hex_view.coord)
        image.paste(draw_hex(palette, hex_view, grid.metrics, layers, colors), (x - w, y - h), mask)
    if view.routes:
        legend = to_palette(
            draw_legend(palette, view.routes, grid.size[0]), theme.png_palette(palette, colors)
        )
        image.paste(legend, (0, grid.size[1]))
    return image


@lru_cache(16)
def _map_background(
    palette: Palette,
    page: Grid,
    coords: tuple[str, ...],
    colors: tuple[str, ...],
    framed: bool,
    height: int,
) -> Image.Image:
    """The page below the hexes; `framed`: with the letters and numbers of rows and columns.

    `height`: of the part with the map.
    """
    canvas = Canvas(page.size, palette.sea)
    if framed:
        size = 27
        width = page.size[0]
        for coord in coords:
            x, y = page.center(coord)
            letter = "".join(c for c in coord if not c.isdigit())
            number = coord[len(letter) :]
            across, down = (letter, number) if dict(page.axes)["x"] == "letter" else (number, letter)
            for point in ((x, 15), (x, height - 15)):
                canvas.write(point, across, size, palette.sea_text)
            for point in ((18, y), (width - 18, y)) if down.isalnum() else ():
                canvas.write(point, down, size, palette.sea_text)
    return to_palette(canvas.image, theme.png_palette(palette, colors))
