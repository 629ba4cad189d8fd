"""Where the texts of a hex are: what `label_layout` finds and `layers` draws.

Offsets and sizes are in pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

from renderers.map.value_boxes import ValueBox
from renderers.views import Structure


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
