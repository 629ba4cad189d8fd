"""The ways one tile may lie on a hex: small maps side by side, each with its turn above it."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from renderers import theme
from renderers.board import board_picture
from renderers.canvas import Page, indexed
from renderers.views import BoardView

WIDTH = 1600
HEAD = 60
GAP = 12


def choice_picture(panels: Sequence[tuple[int, BoardView]]) -> Image.Image:
    """The views, each under `turn N`, in rows of at most three, 1600 pixels wide."""
    columns = min(3, max(2, len(panels)))
    rows = -(-len(panels) // columns)
    wide = (WIDTH - GAP * (columns + 1)) // columns
    high = round(wide * 0.92)
    page = Page((WIDTH, GAP + rows * (high + HEAD + GAP)), theme.PAGE)
    for i, (turn, view) in enumerate(panels):
        x, y = GAP + i % columns * (wide + GAP), GAP + i // columns * (high + HEAD + GAP)
        page.write((x + wide / 2, y + HEAD / 2), f"turn {turn}", 44, theme.INK)
        page.image.paste(board_picture(view, (wide, high), margin=0).convert("RGB"), (x, y + HEAD))
    return indexed(page.image, theme.palette(tuple(c.color for c in panels[0][1].companies)))
