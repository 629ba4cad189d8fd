"""The values of an off-board area by phase, with its name."""

from __future__ import annotations

from renderers.canvas import text_width
from renderers.map.free_space import Shape
from renderers.map.label_sizes import CROWDED_SHARES, break_name
from renderers.map.placed_labels import PlacedText
from renderers.map.text_placer import GOOD_SHARE, TextPlacer
from renderers.map.value_boxes import FRAME, MOST_IN_A_ROW, ValueBox, box_size, shifted, value_boxes
from renderers.views import HexView

PlacedArea = tuple[tuple[ValueBox, ...], tuple[PlacedText, ...]]
"""The boxes of the values, in the order of the phases, and the lines of the name."""


def place_area(placer: TextPlacer) -> PlacedArea:
    """Place the values of an area with its name above them.

    Where a stop is in the center, the values are below it or around it, and the name is placed elsewhere.
    """
    if any(kind != "offboard" for kind, _ in placer.view.nodes):
        return _values_at_stop(placer), ()
    view, metrics = placer.view, placer.metrics
    candidates = [(x, y) for y in (-0.06, 0.0, -0.12, 0.06, 0.12) for x in (0.0, -0.06, 0.06)]
    for share, name_share in ((a, b) for a in CROWDED_SHARES for b in (1.0, 0.8, 0.65)):
        boxes, width, height = value_boxes(view, metrics, share)
        lines, size = break_name(
            view.name or "",
            metrics,
            round(placer.sizes.name * 0.92 * name_share),
            2 if len(view.phase_values) <= MOST_IN_A_ROW else 1,
        )
        step = size * 0.95
        top = -(height + 5 + step * len(lines)) / 2
        rows = [(line, top + (i + 0.5) * step) for i, line in enumerate(lines)]
        middle = top + step * len(lines) + 5 + height / 2
        shape: Shape = (
            *((0.0, y, text_width(line, size, "Semibold"), step) for line, y in rows),
            (0.0, middle, width, height),
        )
        if offset := placer.space.find(shape, candidates):
            break
    placer.count(share)
    x, y = placer.occupy(shape, offset, candidates)
    name = tuple(PlacedText(line, (x, round(y + dy)), size) for line, dy in rows)
    return shifted(boxes, x, round(y + middle)), name


def _values_at_stop(placer: TextPlacer) -> tuple[ValueBox, ...]:
    """Place the values below a stop in a row, or each by itself where that is too wide."""
    candidates = [(0.0, y) for y in (0.42, 0.46, 0.38, 0.5)]
    boxes, width, height = value_boxes(placer.view, placer.metrics, GOOD_SHARE)
    shape: Shape = ((0.0, 0.0, width, height),)
    if (offset := placer.space.find(shape, candidates)) and offset[1] > 0:
        placer.space.occupy(shape, offset)
        return shifted(boxes, *offset)
    values = placer.view.phase_values
    placed: dict[int, ValueBox] = {}
    for i in sorted(range(len(values)), key=lambda i: not values[i].is_current):
        placed[i] = _value(placer, placer.view, i)
    return tuple(placed[i] for i in range(len(values)))


def _value(placer: TextPlacer, view: HexView, number: int) -> ValueBox:
    """Place one value of an area by itself."""
    value = view.phase_values[number]
    frame = FRAME if value.is_current else 0
    full_size = placer.sizes.revenue * (0.92 if value.is_current else 0.55)
    candidates = [((number - (len(view.phase_values) - 1) / 2) * 0.45, 0.45)]
    for share in CROWDED_SHARES:
        size = round(full_size * share)
        width, height = box_size(value, size)
        shape: Shape = ((0.0, 0.0, width + 2 * frame, height + 2 * frame),)
        if offset := placer.space.find(shape, candidates):
            break
    if value.is_current:
        placer.count(share)
    return ValueBox(*placer.occupy(shape, offset, candidates), width, height, size)
