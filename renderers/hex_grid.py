"""The hexes of a map on a page: their size in pixels and where each lies.

Half a hex and half a row are whole numbers of pixels, so every hex has the same pixels and its picture can be
pasted anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import NamedTuple

from engine import column_row
from renderers.geometry import APOTHEM, HexLayout, Point

Axes = tuple[tuple[str, str], ...]
LARGEST = 180
"""The largest radius of a hex, in pixels."""


@dataclass(frozen=True)
class HexMetrics:
    """The size of hexes: pixels from one column to the next, and from one row to the next.

    `text_share`: how large texts are, as a share of their usual size in such hexes. `has_footnotes`: a note
    that finds no room on its hex is written below the map.
    """

    layout: HexLayout
    column: int
    row: int
    text_share: float = 1.0
    has_footnotes: bool = False

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Pixels per unit along x and along y."""
        if self.layout == "pointy":
            return self.column / APOTHEM, self.row / 1.5
        return self.column / 1.5, self.row / APOTHEM

    @cached_property
    def radius(self) -> float:
        """Pixels per unit, on average."""
        return sum(self.scale) / 2

    @cached_property
    def half_size(self) -> tuple[int, int]:
        """Half the width and half the height of a hex's picture, in pixels."""
        sx, sy = self.scale
        x, y = (APOTHEM, 1.0) if self.layout == "pointy" else (1.0, APOTHEM)
        return ceil(sx * x - 1e-9) + 1, ceil(sy * y - 1e-9) + 1

    def to_pixels(self, point: Point) -> Point:
        """A point in units as a pixel of the hex's picture."""
        return self.half_size[0] + point[0] * self.scale[0], self.half_size[1] + point[1] * self.scale[1]


class Piece(NamedTuple):
    """Hexes that lie together on a page, apart from others: their corner, size and origin, in pixels.

    `origin` is the pixel of column 0 and row 0.
    """

    coords: tuple[str, ...]
    corner: tuple[int, int]
    size: tuple[int, int]
    origin: tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """Hexes on a page of `size` pixels; `origin` is the pixel of the hex at column and row `first_cell`.

    `pieces`: those that a divided map is in; none where it is whole.
    """

    metrics: HexMetrics
    axes: Axes
    origin: tuple[int, int]
    first_cell: tuple[int, int]
    size: tuple[int, int]
    pieces: tuple[Piece, ...] = ()

    def center(self, coord: str) -> tuple[int, int]:
        """The pixel at the center of a hex."""
        column, row = column_row(coord, self.axes)
        origin, (first_column, first_row) = self.origin, self.first_cell
        for piece in self.pieces:
            if coord in piece.coords:
                origin = piece.origin
        return (
            origin[0] + (column - first_column) * self.metrics.column,
            origin[1] + (row - first_row) * self.metrics.row,
        )

    def cropped(self, coords: Iterable[str], margin: int) -> Grid:
        """The same grid on a page that leaves `margin` pixels around these hexes."""
        across, down = zip(*map(self.center, coords), strict=True)
        w, h = self.metrics.half_size
        left, top = min(across) - w - margin, min(down) - h - margin
        size = (max(across) + w + margin - left, max(down) + h + margin - top)
        return replace(self.moved(-left, -top), size=size)

    def moved(self, x: int, y: int) -> Grid:
        """The same grid with its hexes so many pixels farther right and down."""
        return replace(self, origin=(self.origin[0] + x, self.origin[1] + y))

    def with_metrics(self, metrics: HexMetrics) -> Grid:
        """The same grid with texts of other sizes."""
        return replace(self, metrics=metrics)

    def to_pixels(self, coord: str, point: Point) -> tuple[int, int]:
        """The pixel of a point of a hex, given in units."""
        x, y = self.center(coord)
        sx, sy = self.metrics.scale
        return round(x + point[0] * sx), round(y + point[1] * sy)


def fit_grid(
    coords: Iterable[str], layout: HexLayout, axes: Axes, size: tuple[int, int], margin: int
) -> Grid:
    """The largest grid of these hexes on a page of `size` pixels, with `margin` pixels on each side."""
    coords = tuple(coords)
    metrics = fit_metrics([coords], layout, axes, size, margin)
    column, row, width, height = _extent(coords, axes)
    origin = (size[0] - width * metrics.column) // 2, (size[1] - height * metrics.row) // 2
    return Grid(metrics, axes, origin, (column, row), size)


def fit_metrics(
    pieces: Sequence[Sequence[str]],
    layout: HexLayout,
    axes: Axes,
    size: tuple[int, int],
    margin: int,
    below: bool = True,
) -> HexMetrics:
    """The largest hexes with which pieces, below or beside each other, fit on a page of `size` pixels.

    Each piece has `margin` pixels on each side.
    """
    extents = [_extent(piece, axes) for piece in pieces]
    ux, uy = (APOTHEM, 1.5) if layout == "pointy" else (1.5, APOTHEM)
    ox, oy = (2 * APOTHEM, 2.0) if layout == "pointy" else (2.0, 2 * APOTHEM)
    widths, heights = [e[2] * ux + ox for e in extents], [e[3] * uy + oy for e in extents]
    across, down = (1, len(pieces)) if below else (len(pieces), 1)
    unit = min(
        (size[0] - across * (2 * margin + 4)) / (max(widths) if below else sum(widths)),
        (size[1] - down * (2 * margin + 4)) / (sum(heights) if below else max(heights)),
        LARGEST,
    )
    return HexMetrics(layout, max(1, int(unit * ux)), max(1, int(unit * uy)))


def _extent(coords: Iterable[str], axes: Axes) -> tuple[int, int, int, int]:
    """The first column and row, and how far it is from there to the last ones."""
    columns, rows = zip(*(column_row(coord, axes) for coord in coords), strict=True)
    return min(columns), min(rows), max(columns) - min(columns), max(rows) - min(rows)
