"""The hexes of a map on a page: their size in pixels and where each lies.

Half a hex and half a row are whole numbers of pixels, so every hex has the same pixels and its picture can be
pasted anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

from renderers.geometry import APOTHEM, HexLayout, Point

Axes = tuple[tuple[str, str], ...]


def column_row(coord: str, axes: Axes) -> tuple[int, int]:
    """The column and row of a coordinate such as `H10`; letters count from A = 0."""
    cut = next(i for i, c in enumerate(coord) if c.isdigit())
    letter = 0
    for c in coord[:cut]:
        letter = letter * 26 + ord(c.upper()) - ord("A") + 1
    letter, number = letter - 1, int(coord[cut:])
    return (letter, number) if dict(axes)["x"] == "letter" else (number, letter)


@dataclass(frozen=True)
class HexMetrics:
    """The size of hexes: pixels from one column to the next, and from one row to the next.

    `text_share`: how large texts are, as a share of their usual size in such hexes.
    """

    layout: HexLayout
    column: int
    row: int
    text_share: float = 1.0

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


@dataclass(frozen=True)
class Grid:
    """Hexes on a page of `size` pixels; `origin` is the pixel of the hex at column and row `first_cell`."""

    metrics: HexMetrics
    axes: Axes
    origin: tuple[int, int]
    first_cell: tuple[int, int]
    size: tuple[int, int]

    def center(self, coord: str) -> tuple[int, int]:
        """The pixel at the center of a hex."""
        column, row = column_row(coord, self.axes)
        return (
            self.origin[0] + (column - self.first_cell[0]) * self.metrics.column,
            self.origin[1] + (row - self.first_cell[1]) * self.metrics.row,
        )

    def cropped(self, coords: Iterable[str], margin: int) -> Grid:
        """The same grid on a page that leaves `margin` pixels around these hexes."""
        across, down = zip(*map(self.center, coords), strict=True)
        w, h = self.metrics.half_size
        left, top = min(across) - w - margin, min(down) - h - margin
        return replace(
            self,
            origin=(self.origin[0] - left, self.origin[1] - top),
            size=(max(across) + w + margin - left, max(down) + h + margin - top),
        )

    def to_pixels(self, coord: str, point: Point) -> tuple[int, int]:
        """The pixel of a point of a hex, given in units."""
        x, y = self.center(coord)
        sx, sy = self.metrics.scale
        return round(x + point[0] * sx), round(y + point[1] * sy)


def fit_grid(
    coords: Iterable[str],
    layout: HexLayout,
    axes: Axes,
    size: tuple[int, int],
    margin: int,
    largest: int = 180,
) -> Grid:
    """The largest grid of these hexes on a page of `size` pixels, with `margin` pixels on each side."""
    cells = [column_row(c, axes) for c in coords]
    columns, rows = [c for c, _ in cells], [r for _, r in cells]
    width, height = max(columns) - min(columns), max(rows) - min(rows)
    ux, uy = (APOTHEM, 1.5) if layout == "pointy" else (1.5, APOTHEM)
    ox, oy = (2 * APOTHEM, 2.0) if layout == "pointy" else (2.0, 2 * APOTHEM)
    unit = min(
        (size[0] - 2 * margin - 4) / (width * ux + ox),
        (size[1] - 2 * margin - 4) / (height * uy + oy),
        largest,
    )
    column, row = max(1, int(unit * ux)), max(1, int(unit * uy))
    origin = (size[0] - width * column) // 2, (size[1] - height * row) // 2
    return Grid(HexMetrics(layout, column, row), axes, origin, (min(columns), min(rows)), size)
