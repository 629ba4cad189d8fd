"""Places texts on a hex one after the other, each in free space, as large as there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from renderers.geometry import Point, label_points
from renderers.map.free_space import FreeSpace, Shape
from renderers.map.label_sizes import CROWDED_SHARES, FontSizes
from renderers.map.value_boxes import ValueBox
from renderers.views import HexView, Structure


@dataclass(frozen=True)
class PlacedText:
    """A text: the offset of its center from the hex's center, and its font size.

    `is_tight`: its plate has no margin.
    """

    text: str
    offset: tuple[int, int]
    font_size: int
    is_tight: bool = False


@dataclass(frozen=True)
class PlacedTerrain:
    """A terrain: the offset of its center, its font size, and whether sign and cost are side by side."""

    offset: tuple[int, int]
    font_size: int
    is_wide: bool


@dataclass(frozen=True)
class LabelLayout:
    """The positions of a hex's texts.

    `coordinate`: None where it would take the room of a number. `terrain`: its kind and cost in dollars, and
    the place. `footnotes`: notes and costs of terrain that have no room on the hex. `crowded`: how many
    pixels of track or of other texts are covered. `small`: how many numbers have shrunk much. `least`: the
    font size of the one that has shrunk most, as a share of its full size.
    """

    coordinate: PlacedText | None
    values: tuple[ValueBox, ...] = ()
    revenues: tuple[PlacedText, ...] = ()
    name: tuple[PlacedText, ...] = ()
    label: PlacedText | None = None
    grade: PlacedText | None = None
    terrain: tuple[tuple[tuple[str, int], PlacedTerrain], ...] = ()
    blocked: tuple[PlacedText, ...] = ()
    number: PlacedText | None = None
    notes: tuple[PlacedText, ...] = ()
    structures: tuple[tuple[Structure, PlacedText], ...] = ()
    footnotes: tuple[str, ...] = ()
    crowded: int = 0
    small: int = 0
    least: float = 1.0


GOOD_SHARE = 0.88
"""Numbers of this share of their full size need no other layout."""
SMALL_SHARE = 0.7
"""For numbers that are smaller than this share of their full size, coordinates and notes make room."""
Measure = Callable[[int], tuple[int, int]]
"""The width and height of a text with its plate, by its font size."""


class TextPlacer:
    """The free space of one hex, the sizes of its texts, and what has been placed so far.

    `share`: of the full font sizes. `crowded`, `small` and `least` are those of `LabelLayout`.
    """

    def __init__(self, view: HexView, space: FreeSpace, share: float = 1.0) -> None:
        self.view, self.metrics = view, space.metrics
        self.sizes = FontSizes.for_metrics(space.metrics, share)
        self.points = label_points(space.metrics.layout)
        self.space = space.copy()
        self.crowded = self.small = 0
        self.least = share
        self._share = share

    def number(self, text: str, full_size: int, measures: Sequence[Measure]) -> PlacedText:
        """Place a text that somebody has to be able to read."""
        placed = self.text(text, full_size, measures)
        self.count(placed.font_size / full_size)
        return placed

    def count(self, share: float) -> None:
        """A number has been placed with this share of its full size."""
        self.least = min(self.least, self._share * share)
        self.small += self._share * share < SMALL_SHARE

    def text(
        self, text: str, full_size: int, measures: Sequence[Measure], candidates: Sequence[Point] = ()
    ) -> PlacedText:
        """Place a text with the size that `measures` give, smaller where it has no room."""
        points = candidates or self.points
        if placed := self.text_if_room(text, full_size, measures, CROWDED_SHARES, points):
            return placed
        size = round(full_size * CROWDED_SHARES[-1])
        shape: Shape = ((0.0, 0.0, *measures[-1](size)),)
        return PlacedText(text, self.occupy(shape, None, points), size, len(measures) > 1)

    def text_if_room(
        self,
        text: str,
        full_size: int,
        measures: Sequence[Measure],
        shares: Sequence[float],
        candidates: Sequence[Point] = (),
    ) -> PlacedText | None:
        """Place a text with one of these shares of its size, the first for which there is room.

        The second measure, of a tight plate, is tried where the first one has no room at nearly full size.
        """
        points = candidates or self.points
        for share in shares:
            size = round(full_size * share)
            for is_tight, measure in enumerate(measures[:1] if share > GOOD_SHARE else measures):
                shape: Shape = ((0.0, 0.0, *measure(size)),)
                if offset := self.space.find(shape, points, gap=0 if is_tight else 1):
                    self.space.occupy(shape, offset)
                    return PlacedText(text, offset, size, bool(is_tight))
        return None

    def occupy(
        self, shape: Shape, offset: tuple[int, int] | None, candidates: Sequence[Point]
    ) -> tuple[int, int]:
        """Use up a place; None: one without a gap, or where the least is covered."""
        if offset is None:
            offset = self.space.find(shape, candidates, gap=0)
        if offset is None:
            offset = self.space.find_least_covered(shape, candidates)
            self.crowded += self.space.covered(shape, offset)
        self.space.occupy(shape, offset)
        return offset
