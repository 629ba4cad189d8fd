"""The ways one tile may lie on a hex: small maps side by side, each with its turn above it."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from renderers import theme
from renderers.canvas import Canvas, to_palette
from renderers.map import draw_map
from renderers.views import MapView

WIDTH = 1600
HEADING_HEIGHT = 60
GAP = 12


def draw_rotations(panels: Sequence[tuple[int, MapView]]) -> Image.Image:
    """The views, each under `turn N`, in rows of at most three, 1600 pixels wide."""
    columns = min(3, max(2, len(panels)))
    rows = -(-len(panels) // columns)
    wide = (WIDTH - GAP * (columns + 1)) // columns
    high = round(wide * 0.92)
    page = Canvas((WIDTH, GAP + rows * (high + HEADING_HEIGHT + GAP)), theme.PAGE)
    for i, (turn, view) in enumerate(panels):
        x, y = GAP + i % columns * (wide + GAP), GAP + i // columns * (high + HEADING_HEIGHT + GAP)
        page.write((x + wide / 2, y + HEADING_HEIGHT / 2), f"turn {turn}", 44, theme.INK)
        page.image.paste(draw_map(view, (wide, high), margin=0).convert("RGB"), (x, y + HEADING_HEIGHT))
    return to_palette(page.image, theme.palette(tuple(c.color for c in panels[0][1].companies)))
