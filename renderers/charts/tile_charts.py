"""Pictures of tiles: the ways of a lay side by side, the upgrades of a tile, the tiles that are left.

They are grids of panels, each a small picture under its caption.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image

from renderers.canvas import Canvas, fit_font_size, to_palette
from renderers.files import png_palette
from renderers.geometry import HexLayout
from renderers.hex_grid import HexMetrics
from renderers.map.hex_sprites import hex_mask
from renderers.map.layers import BOARD_LAYERS, TEXT_LAYERS, coordinates
from renderers.map.map import draw_hex, draw_map
from renderers.theme import Palette
from renderers.views import HexView, MapView

WIDTH = 960
HEADING_HEIGHT = 48
GAP = 10
CAPTION_SIZE = 36
WAYS_PER_SHEET = 12
WAY_COLUMNS = 3
TILE_COLUMNS = 4, 6
"""The least and the most tiles in a row."""
TILE_LAYERS = tuple(layer for layer in (*BOARD_LAYERS, *TEXT_LAYERS) if layer is not coordinates)


class Panel(NamedTuple):
    """A small picture under its caption."""

    caption: str
    image: Image.Image


def draw_ways(ways: Sequence[tuple[str, MapView]], palette: Palette) -> Image.Image:
    """The ways of a lay, (caption, map around the hex) each, three in a row."""
    columns = min(WAY_COLUMNS, max(2, len(ways)))
    width = (WIDTH - GAP * (columns + 1)) // columns
    size = width, round(width * 0.92)
    panels = [
        Panel(caption, draw_map(view, size, margin=0, palette=palette).convert("RGB"))
        for caption, view in ways
    ]
    image = _draw_grid("", panels, columns, palette)
    return to_palette(image, png_palette(palette, tuple(c.color for c in ways[0][1].companies)))


def draw_tiles(
    heading: str,
    groups: Sequence[tuple[str, Sequence[tuple[HexView, str]]]],
    layout: HexLayout,
    palette: Palette,
) -> Image.Image:
    """Tiles in groups, each group under its heading; (tile, caption) each.

    Few tiles are drawn larger than many.
    """
    least, most = TILE_COLUMNS
    columns = min(most, max(least, *(len(tiles) for _, tiles in groups), least))
    unit = (WIDTH - GAP * (columns + 1)) / columns / 2.02
    metrics = (
        HexMetrics("pointy", int(unit * 0.866), int(unit * 1.5))
        if layout == "pointy"
        else HexMetrics("flat", int(unit * 1.5), int(unit * 0.866))
    )
    parts = [
        _draw_grid(
            title,
            [Panel(caption, _tile(palette, tile, metrics)) for tile, caption in tiles],
            columns,
            palette,
        )
        for title, tiles in groups
    ]
    height = HEADING_HEIGHT + 20 + sum(part.height for part in parts)
    canvas = Canvas.empty((WIDTH, height), palette.page)
    size = fit_font_size(heading, CAPTION_SIZE, WIDTH - 4 * GAP)
    canvas.write((2 * GAP, 10 + HEADING_HEIGHT / 2), heading, size, palette.ink, align="l")
    y = HEADING_HEIGHT + 10
    for part in parts:
        canvas.image.paste(part, (0, y))
        y += part.height
    return to_palette(canvas.image, png_palette(palette, ()))


def _tile(palette: Palette, tile: HexView, metrics: HexMetrics) -> Image.Image:
    picture = draw_hex(palette, tile, metrics, TILE_LAYERS, ()).image.convert("RGB")
    page = Image.new("RGB", picture.size, palette.page)
    page.paste(picture, (0, 0), hex_mask(metrics))
    return page


def _draw_grid(heading: str, panels: Sequence[Panel], columns: int, palette: Palette) -> Image.Image:
    """Panels of the same size in rows."""
    rows = -(-len(panels) // columns)
    width = (WIDTH - GAP * (columns + 1)) // columns
    height = max((panel.image.height for panel in panels), default=0) + HEADING_HEIGHT
    top = GAP + (HEADING_HEIGHT if heading else 0)
    canvas = Canvas.empty((WIDTH, top + rows * (height + GAP)), palette.page)
    if heading:
        canvas.write((2 * GAP, GAP + HEADING_HEIGHT / 2), heading, 32, palette.muted, align="l")
    for i, panel in enumerate(panels):
        x, y = GAP + i % columns * (width + GAP), top + i // columns * (height + GAP)
        size = fit_font_size(panel.caption, CAPTION_SIZE, width, minimum=16)
        canvas.write((x + width / 2, y + HEADING_HEIGHT / 2), panel.caption, size, palette.ink)
        canvas.image.paste(panel.image, (x + (width - panel.image.width) // 2, y + HEADING_HEIGHT))
    return canvas.image
