"""The rotations of a tile on a hex: small maps side by side, each under its number."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from renderers import theme
from renderers.canvas import Canvas, to_palette
from renderers.map import draw_map
from renderers.theme import Palette
from renderers.views import MapView

WIDTH = 1600
HEADING_HEIGHT = 60
GAP = 12


def draw_rotations(panels: Sequence[tuple[int, MapView]], palette: Palette = theme.LIGHT) -> Image.Image:
    """One panel per (rotation, view), in rows of at most three, 1600 pixels wide."""
    columns = min(3, max(2, len(panels)))
    rows = -(-len(panels) // columns)
    width = (WIDTH - GAP * (columns + 1)) // columns
    height = round(width * 0.92)
    canvas = Canvas((WIDTH, GAP + rows * (height + HEADING_HEIGHT + GAP)), palette.page)
    for i, (rotation, view) in enumerate(panels):
        x, y = GAP + i % columns * (width + GAP), GAP + i // columns * (height + HEADING_HEIGHT + GAP)
        canvas.write((x + width / 2, y + HEADING_HEIGHT / 2), f"rotation {rotation}", 44, palette.ink)
        canvas.image.paste(
            draw_map(view, (width, height), margin=0, palette=palette).convert("RGB"), (x, y + HEADING_HEIGHT)
        )
    return to_palette(
        canvas.image, theme.png_palette(palette, tuple(c.color for c in panels[0][1].companies))
    )
