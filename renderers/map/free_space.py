"""The free space of a hex, in which texts are placed.

Theory of operation. The pixels of a hex's picture are one whole number with a bit for each pixel that is
used, row after row, so what counts as covered is exactly what is drawn. Right of each row and below the last
one there is a margin of used pixels. Or-ed with itself shifted by 1, 2, 4 … pixels and rows, the number is
dilated by the width and height of a box: then it has a bit for each place where the box would cover anything,
for the whole hex at once. Candidates are tried in their order; then the free place nearest to the first
candidate is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import lru_cache

from PIL import Image, ImageDraw

from renderers.geometry import Line, Point, line_outline, outline
from renderers.hex_grid import HexMetrics

Shape = tuple[tuple[float, float, float, float], ...]
"""Boxes in pixels: (x, y, width, height), where x and y are from the shape's center to the box's."""

USABLE_SHARE = 0.955
"""How far the space reaches from the center towards the edges of the hex."""
STEP = 6
"""The distance of the places that are compared where none is free, in pixels."""


class FreeSpace:
    """The free pixels of a hex; places are offsets from its center, in pixels."""

    def __init__(self, metrics: HexMetrics) -> None:
        self.metrics = metrics
        self.width, self.height = (2 * size for size in metrics.half_size)
        self.stride = _stride(metrics)
        self._used = _outside(metrics)
        self._image = Image.new("1", (self.stride, self.height))
        self._draw = ImageDraw.Draw(self._image)

    def block_line(self, line: Line, width: float) -> None:
        """Use up the pixels of a line; its points and width are in units."""
        points = [self.metrics.to_pixels(p) for p in line_outline(line, width)]
        self._draw.polygon(points, fill=1)

    def block_polygon(self, points: Iterable[Point]) -> None:
        """Use up the pixels of a polygon, given in units."""
        self._draw.polygon([self.metrics.to_pixels(p) for p in points], fill=1)

    def block_disc(self, center: Point, radius: float) -> None:
        """Use up the pixels of a disc; its center is in units, its radius in pixels."""
        x, y = self.metrics.to_pixels(center)
        self._draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=1)

    def finish_obstacles(self) -> None:
        """Everything has been drawn by `block_…`; from here on texts are placed."""
        self._used |= _bits(self._image)

    def copy(self) -> FreeSpace:
        """The same space with the same obstacles, for other texts."""
        return copy(self)

    def find(self, shape: Shape, candidates: Sequence[Point], gap: int = 1) -> tuple[int, int] | None:
        """A place where a shape is free: the first such candidate (in units), or the nearest to the first.

        `gap`: the free pixels around it.
        """
        sx, sy = self.metrics.scale
        free = ~self._blocked_centers(_boxes(shape, gap)) & _inside(self.metrics)
        if not free:
            return None
        for ux, uy in candidates:
            x, y = round(ux * sx), round(uy * sy)
            if free >> self._bit(x, y) & 1:
                return x, y
        return self._nearest(free, (round(candidates[0][0] * sx), round(candidates[0][1] * sy)))

    def find_least_covered(self, shape: Shape, candidates: Sequence[Point]) -> tuple[int, int]:
        """The place where a shape covers the fewest used pixels."""
        sx, sy = self.metrics.scale
        wanted = [(round(ux * sx), round(uy * sy)) for ux, uy in candidates]
        return min((*wanted, *_grid(self.metrics)), key=lambda at: self.covered(shape, at))

    def covered(self, shape: Shape, at: tuple[int, int]) -> int:
        """How many used pixels a shape covers."""
        pixels = 0
        for left, top, width, height in _boxes(shape, 0):
            x, y = left + at[0] + self.width // 2, top + at[1] + self.height // 2
            if x < 0 or y < 0 or x + width > self.width or y + height > self.height:
                return self.width * self.height
            pixels += (self._used & self._box(width, height) << y * self.stride + x).bit_count()
        return pixels

    def occupy(self, shape: Shape, at: tuple[int, int]) -> None:
        """Use up the boxes of a shape."""
        for left, top, width, height in _boxes(shape, 0):
            corner = self._bit(left + at[0], top + at[1])
            box = self._box(width, height)
            self._used |= box << corner if corner >= 0 else box >> -corner

    def _bit(self, x: int, y: int) -> int:
        """The bit of a place."""
        return (y + self.height // 2) * self.stride + x + self.width // 2

    def _box(self, width: int, height: int) -> int:
        """The bits of a box in the upper left corner."""
        return _repeated((1 << width) - 1, height, self.stride)

    def _blocked_centers(self, boxes: Iterable[Box]) -> int:
        """A bit for each place of a shape's center where the shape would cover something."""
        result = 0
        for left, top, width, height in boxes:
            corners = _dilated(_dilated(self._used, width, 1), height, self.stride)
            shift = -(left + top * self.stride)
            result |= corners << shift | (1 << shift) - 1 if shift >= 0 else corners >> -shift
        return result

    def _nearest(self, free: int, first: tuple[int, int]) -> tuple[int, int]:
        x0, y0 = first[0] + self.width // 2, first[1] + self.height // 2
        best, least = first, self.width**2 + self.height**2
        for y in sorted(range(self.height), key=lambda y: abs(y - y0)):
            down = (y - y0) ** 2
            if down >= least:
                break
            row = free >> y * self.stride & (1 << self.width) - 1
            right, left = row >> x0, row & (1 << x0) - 1
            steps = [(right & -right).bit_length() - 1] if right else []
            steps += [left.bit_length() - 1 - x0] if left else []
            for step in steps:
                if step * step + down < least:
                    best, least = (first[0] + step, y - self.height // 2), step * step + down
        return best


Box = tuple[int, int, int, int]
"""Left, top, width and height in pixels; left and top are from the shape's center."""


def _boxes(shape: Shape, gap: int) -> Iterator[Box]:
    for x, y, width, height in shape:
        # As pictures are pasted around their center (`Canvas.paste`).
        w, h = round(width), round(height)
        yield round(x) - w // 2 - gap, round(y) - h // 2 - gap, w + 2 * gap, h + 2 * gap


def _dilated(bits: int, count: int, step: int) -> int:
    """A bit wherever one of `count` bits, `step` apart, is set."""
    reach = 1
    while 2 * reach <= count:
        bits |= bits >> reach * step
        reach *= 2
    return bits | bits >> (count - reach) * step


@lru_cache(512)
def _repeated(row: int, count: int, stride: int) -> int:
    """The bits of a row in so many rows."""
    return sum(row << i * stride for i in range(count))


def _stride(metrics: HexMetrics) -> int:
    """The pixels from one row to the next: so many that no text reaches over the margin."""
    return -(-metrics.half_size[0] // 2) * 8


@lru_cache(16)
def _outside(metrics: HexMetrics) -> int:
    """The pixels that are not inside the hex."""
    image = Image.new("1", (_stride(metrics), 4 * metrics.half_size[1]), 1)
    points = [metrics.to_pixels(p) for p in outline(metrics.layout, USABLE_SHARE)]
    ImageDraw.Draw(image).polygon(points, fill=0)
    return _bits(image)


@lru_cache(16)
def _inside(metrics: HexMetrics) -> int:
    """The pixels of the hex's picture."""
    w, h = metrics.half_size
    return _repeated((1 << 2 * w) - 1, 2 * h, _stride(metrics))


def _bits(image: Image.Image) -> int:
    """The pixels of a picture in black and white, whose width is a multiple of 8, row after row."""
    return int.from_bytes(image.tobytes("raw", "1;R"), "little")


@lru_cache(16)
def _grid(metrics: HexMetrics) -> tuple[tuple[int, int], ...]:
    """Places of the hex, `STEP` pixels apart."""
    w, h = metrics.half_size
    return tuple((x, y) for x in range(-w, w, STEP) for y in range(-h, h, STEP))
