"""How the hexes of a map lie on a page, and how large its texts are.

Theory of operation. A phone shows every picture equally wide, so a map is the easier to read the fewer
columns it has. The hexes are tried on a landscape and on a portrait page, and the larger ones are taken.
Where a part of a map falls into pieces that do not touch, such as the two networks of a company, the pieces
are also tried below and beside each other; that closes up the empty columns and rows between them. Each
piece has a frame of its own, and all hexes are of one size. The fewer pixels a hex has on a phone, the
larger its texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from engine import column_row
from renderers.canvas import CAP_HEIGHT
from renderers.geometry import HexLayout
from renderers.hex_grid import Axes, Grid, Piece, fit_grid, fit_metrics
from renderers.map.label_sizes import COORDINATE_SHARE

MAX_SIZES = ((1280, 960), (1000, 1200))
"""The pages, in pixels: landscape and portrait. A phone shows pictures 400 points or 1200 pixels wide."""
PHONE_WIDTH, PHONE_DIGITS = 400, 6.0
"""A part of a map is lettered so that digits are so many pixels high where the picture is shown so wide."""
MAX_TEXT_SHARE = 1.8
WORTH_DIVIDING = 1.15
"""Pieces are moved together where that makes hexes so much larger."""
MOST_PIECES = 4
TALLEST = 1.5
"""The height of a picture, as a share of its width, that is shown as wide as others."""


@lru_cache(64)
def arranged_grid(coords: tuple[str, ...], layout: HexLayout, axes: Axes, is_part: bool, margin: int) -> Grid:
    """The largest grid of these hexes within one of `MAX_SIZES`, on a page without empty space.

    `is_part`: of a map; then it may be divided, and its texts are sized for a phone.
    """
    grids = [fit_grid(coords, layout, axes, page, margin) for page in MAX_SIZES]
    grid = max(grids, key=_radius).cropped(coords, margin)
    if not is_part:
        return grid.with_metrics(replace(grid.metrics, has_footnotes=True))
    pieces = touching_pieces(coords, layout, axes)
    if 1 < len(pieces) <= MOST_PIECES:
        divided = max(
            (
                _divided(pieces, layout, axes, page, margin, below)
                for page in MAX_SIZES
                for below in (True, False)
            ),
            key=_size_on_phone,
        )
        if _size_on_phone(divided) >= WORTH_DIVIDING * _size_on_phone(grid):
            grid = divided
    readable = PHONE_DIGITS / CAP_HEIGHT * grid.size[0] / PHONE_WIDTH
    share = readable / (COORDINATE_SHARE * grid.metrics.radius)
    text_share = round(min(max(share, 1.0), MAX_TEXT_SHARE), 2)
    metrics = replace(grid.metrics, text_share=text_share, has_footnotes=True)
    return grid.with_metrics(metrics)


def _radius(grid: Grid) -> float:
    return grid.metrics.radius


def _size_on_phone(grid: Grid) -> float:
    """A tall picture is shown smaller."""
    return grid.metrics.radius / max(grid.size[0], grid.size[1] / TALLEST)


def touching_pieces(coords: Sequence[str], layout: HexLayout, axes: Axes) -> list[tuple[str, ...]]:
    """The hexes in pieces of hexes that touch each other, each in the given order; the northernmost first."""
    cells = {column_row(coord, axes): coord for coord in coords}
    steps = (
        ((2, 0), (1, 1), (1, -1), (-2, 0), (-1, 1), (-1, -1))
        if layout == "pointy"
        else ((0, 2), (1, 1), (-1, 1), (0, -2), (1, -1), (-1, -1))
    )
    left, pieces = set(cells), []
    for start in sorted(cells, key=lambda cell: (cell[1], cell[0])):
        if start not in left:
            continue
        piece, todo = set[str](), [start]
        while todo:
            column, row = cell = todo.pop()
            if cell in left:
                left.remove(cell)
                piece.add(cells[cell])
                todo += [(column + x, row + y) for x, y in steps]
        pieces.append(tuple(coord for coord in coords if coord in piece))
    return pieces


def _divided(
    pieces: Sequence[tuple[str, ...]],
    layout: HexLayout,
    axes: Axes,
    page: tuple[int, int],
    margin: int,
    below: bool,
) -> Grid:
    """The largest grid of the pieces below or beside each other, each in the middle of its row or column."""
    metrics = fit_metrics(pieces, layout, axes, page, margin, below)
    grids = [Grid(metrics, axes, (0, 0), (0, 0), (0, 0)).cropped(piece, margin) for piece in pieces]
    width = (max if below else sum)(grid.size[0] for grid in grids)
    height = (sum if below else max)(grid.size[1] for grid in grids)
    placed, along = [], 0
    for piece, grid in zip(pieces, grids, strict=True):
        corner = ((width - grid.size[0]) // 2, along) if below else (along, (height - grid.size[1]) // 2)
        placed.append(Piece(piece, corner, grid.size, grid.moved(*corner).origin))
        along += grid.size[1 if below else 0]
    return Grid(metrics, axes, (0, 0), (0, 0), (width, height), tuple(placed))
