"""The boxes with the values of an area by phase: the one that counts now is large, the others are small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from renderers.canvas import CAP_HEIGHT, text_width
from renderers.hex_grid import HexMetrics
from renderers.map.label_sizes import FontSizes
from renderers.views import HexView, PhaseValue

FRAME = 2
"""The width of the frame around the box of the current value, in pixels."""
OTHER_SHARE = 0.68
"""The font size of values that do not count now, as a share of the current one's."""
GAP = 2
MOST_IN_A_ROW = 3


@dataclass(frozen=True)
class ValueBox:
    """The box of a value: the offset of its center from the hex's, its size, and its font size, in pixels."""

    x: int
    y: int
    width: int
    height: int
    font_size: int


def box_size(value: PhaseValue, font_size: int) -> tuple[int, int]:
    """The width and height of a value's box without its frame."""
    width = text_width(str(value.amount), font_size) + max(4, round(font_size * 0.4))
    return width, round(font_size * CAP_HEIGHT) + max(4, round(font_size * 0.3))


def value_boxes(
    view: HexView, metrics: HexMetrics, share: float = 1.0
) -> tuple[tuple[ValueBox, ...], int, int]:
    """The boxes of a hex's values around their common center, and the width and height of all together.

    Up to three values are in one row; of more, the current one is above the others.
    """
    values = view.phase_values
    size = round(FontSizes.for_metrics(metrics).revenue * 0.92 * share)
    max_width = metrics.column * (1.72 if metrics.layout == "pointy" else 2.0)
    while True:
        placed, width, height = _in_rows(list(_rows(values)), size)
        if width <= max_width or size <= 8:
            return tuple(placed[i] for i in range(len(values))), width, height
        size -= 1


def shifted(boxes: Sequence[ValueBox], x: int, y: int) -> tuple[ValueBox, ...]:
    """The boxes, moved by so many pixels."""
    return tuple(replace(box, x=box.x + x, y=box.y + y) for box in boxes)


def _rows(values: Sequence[PhaseValue]) -> Iterator[list[tuple[int, PhaseValue]]]:
    numbered = list(enumerate(values))
    if len(values) <= MOST_IN_A_ROW:
        yield numbered
        return
    yield from (
        row for now in (True, False) if (row := [each for each in numbered if each[1].is_current == now])
    )


def _in_rows(
    rows: Sequence[Sequence[tuple[int, PhaseValue]]], size: int
) -> tuple[dict[int, ValueBox], int, int]:
    """The boxes by number, and the width and height of all with their frames."""
    placed: dict[int, ValueBox] = {}
    widest = top = 0
    for row in rows:
        fonts = [size if value.is_current else max(8, round(size * OTHER_SHARE)) for _, value in row]
        sizes = [box_size(value, font) for (_, value), font in zip(row, fonts, strict=True)]
        frames = [FRAME if value.is_current else 0 for _, value in row]
        row_width = sum(w + 2 * f for (w, _), f in zip(sizes, frames, strict=True)) + GAP * (len(row) - 1)
        row_height = max(h + 2 * f for (_, h), f in zip(sizes, frames, strict=True))
        left = -row_width // 2
        for (number, _), font, (w, h), frame in zip(row, fonts, sizes, frames, strict=True):
            placed[number] = ValueBox(left + frame + w // 2, top + row_height // 2, w, h, font)
            left += w + 2 * frame + GAP
        widest, top = max(widest, row_width), top + row_height + GAP
    height = top - GAP
    return {i: replace(box, y=box.y - height // 2) for i, box in placed.items()}, widest, height
