"""The positions of texts and tokens on a hex: texts in the space that track leaves, tokens in slots.

Texts are placed in this order: the coordinate at the top, the values of an area, revenue, name, terrain,
label, the privates that block the hex, notes, structures, the tile's number. Revenues and labels are drawn
smaller where they would cover something else; a name or a tile's number without room is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from math import inf

from renderers import sprites
from renderers.canvas import CAP_HEIGHT, fit_font_size, split_in_two, text_width
from renderers.geometry import (
    COVERED_COST,
    FaceLayout,
    FreeSpace,
    HexMetrics,
    Point,
    Shape,
    corner,
    edge_line,
    edge_middle,
    label_points,
    line_points,
    sample_points,
)
from renderers.views import Badge, HexView, PhaseValue

CACHED_HEXES = 1500
MAX_LABEL_COST = 9.0
"""The cost (see `FreeSpace.find_place`) from which a text is drawn smaller."""
MAX_NUMBER_COST = 4.0
"""The cost from which a tile's number is left out."""


@dataclass(frozen=True)
class ValueBox:
    """The box of a value: the offset of its center from the hex's, its size, and its font size, in pixels."""

    x: int
    y: int
    width: int
    height: int
    font_size: int


@dataclass(frozen=True)
class LabelLayout:
    """The positions of a hex's texts: offsets of their centers from the hex's center, in pixels.

    `revenues`: (dollars, offset, font size). `name`: (line, offset). `structures`: (offset, font size).
    """

    coordinate: tuple[int, int]
    values: tuple[ValueBox, ...] = ()
    revenues: tuple[tuple[int, tuple[int, int], int], ...] = ()
    name: tuple[tuple[str, tuple[int, int]], ...] = ()
    name_size: int = 0
    label: tuple[int, int] | None = None
    label_size: int = 0
    terrain: tuple[tuple[int, int], ...] = ()
    blocked: tuple[tuple[int, int], ...] = ()
    number: tuple[int, int] | None = None
    notes: tuple[tuple[int, int], ...] = ()
    structures: tuple[tuple[tuple[int, int], int], ...] = ()


@dataclass(frozen=True)
class FontSizes:
    """Font sizes in pixels for hexes of a size."""

    revenue: int
    name: int
    label: int
    small: int
    coordinate: int

    @classmethod
    def for_metrics(cls, metrics: HexMetrics) -> FontSizes:
        r = metrics.radius
        return cls(round(r * 0.43), round(r * 0.29), round(r * 0.36), round(r * 0.21), round(r * 0.26))


_TERRAIN_POINTS: tuple[Point, ...] = ((0.0, 0.05), (0.0, 0.52), (0.0, -0.42), (0.0, 0.57), (0.0, -0.48))


def lay_out_labels(view: HexView, metrics: HexMetrics) -> LabelLayout:
    """Find positions for all texts of a hex.

    They do not depend on tokens, routes or highlights, so texts do not move when these change.
    """
    return _lay_out_cached(
        replace(view, tokens=(), reserved=(), route_segments=(), highlighted=False), metrics
    )


@lru_cache(CACHED_HEXES)
def _lay_out_cached(view: HexView, metrics: HexMetrics) -> LabelLayout:
    found = _place_labels(view, metrics, name_first=False)
    return found if found.name or not view.name else _place_labels(view, metrics, name_first=True)


def _place_labels(view: HexView, metrics: HexMetrics, *, name_first: bool) -> LabelLayout:
    sizes = FontSizes.for_metrics(metrics)
    space = FreeSpace(metrics.layout, metrics.scale)
    _block_track(space, view, sprites.face_layout(view, metrics))
    points = label_points(metrics.layout)
    coordinate = _place_coordinate(space, view, sizes)
    values, name, name_size = _place_area(space, view, metrics) if view.phase_values else ((), (), sizes.name)
    if view.name and not name and name_first:
        name, name_size = _place_name(space, view.name, metrics)
    revenues = tuple(
        (
            amount,
            *_place_shrinking(
                space, sizes.revenue, points, partial(sprites.plate_size, str(amount)), MAX_LABEL_COST
            ),
        )
        for amount in dict.fromkeys(view.revenues)
    )
    if view.name and not name and not name_first:
        name, name_size = _place_name(space, view.name, metrics)
    height = metrics.radius * 0.52
    terrain = tuple(
        space.place_box(metrics.radius * 0.48, height, (*_TERRAIN_POINTS, *points)) for _ in view.terrain
    )
    label, label_size = None, sizes.label
    if view.label:
        label, label_size = _place_shrinking(
            space, sizes.label, points, partial(_label_size, view.label), 8.0
        )
    blocked = tuple(
        space.place_box(*sprites.plate_size(f"×{sym}", sizes.coordinate), points) for sym in view.blocked
    )
    notes = tuple(space.place_box(*sprites.plate_size(text, sizes.coordinate), points) for text in view.notes)
    sites = tuple(
        _place_shrinking(
            space, sizes.coordinate, points, partial(sprites.structure_size, structure), MAX_LABEL_COST
        )
        for structure in view.structures
    )
    number = None
    if view.tile:
        shape = ((0.0, 0.0, text_width(f"#{view.tile}", sizes.small) + 4, sizes.small * CAP_HEIGHT),)
        cost, offset = space.find_place(shape, [(-x, -y) for x, y in points], MAX_NUMBER_COST)
        number = offset if cost < MAX_NUMBER_COST else None
    return LabelLayout(
        coordinate,
        values,
        revenues,
        name,
        name_size,
        label,
        label_size,
        terrain,
        blocked,
        number,
        notes,
        sites,
    )


def _place_coordinate(space: FreeSpace, view: HexView, sizes: FontSizes) -> tuple[int, int]:
    """Place the coordinate at the top, or in another corner where a stop is there."""
    shape: Shape = ((0.0, 0.0, text_width(view.coord, sizes.coordinate), sizes.coordinate * CAP_HEIGHT),)
    x, y = corner(space.layout, 2)
    cost, offset = space.find_place(shape, [(x * k, y * k) for k in (0.79, 0.7, 0.62)], COVERED_COST)
    if cost >= COVERED_COST:
        corners = [corner(space.layout, e) for e in (2, 1, 3, 0, 4, 5)]
        _, offset = space.find_place(shape, [(x * k, y * k) for k in (0.79, 0.7, 0.62) for x, y in corners])
    space.occupy(shape, offset)
    return offset


PlacedLines = tuple[tuple[str, tuple[int, int]], ...]


def _place_area(
    space: FreeSpace, view: HexView, metrics: HexMetrics
) -> tuple[tuple[ValueBox, ...], PlacedLines, int]:
    """Place the values of an area with its name above them: boxes, lines of the name, its font size.

    Where a stop is in the center, the values are below it, and the name is placed elsewhere.
    """
    boxes, width_of_values, height_of_values = value_boxes(view, metrics)
    if _has_stop(view):
        x, y = space.place_box(width_of_values + 8, height_of_values, [(0.0, y) for y in (0.42, 0.46, 0.38)])
        return _shifted(boxes, x, y), (), FontSizes.for_metrics(metrics).name
    lines, size = _break_name(
        view.name or "",
        metrics,
        round(FontSizes.for_metrics(metrics).name * 0.92),
        lines=2 if len(view.phase_values) <= 3 else 1,
    )
    step = size * 0.95
    width = max(width_of_values + 8, *(text_width(line, size, "Semibold") for line in lines), 0)
    height = height_of_values + 10 + step * len(lines)
    x, y = space.place_box(
        width, height, [(x, y) for y in (-0.12, -0.06, 0.0, 0.06, 0.12) for x in (0.0, -0.06, 0.06)]
    )
    top = y - height / 2
    name = tuple((line, (x, round(top + (i + 0.5) * step))) for i, line in enumerate(lines))
    return _shifted(boxes, x, round(top + step * len(lines) + 5 + height_of_values / 2)), name, size


def _has_stop(view: HexView) -> bool:
    return any(kind != "offboard" for kind, _ in view.nodes)


def _shifted(boxes: Sequence[ValueBox], x: int, y: int) -> tuple[ValueBox, ...]:
    return tuple(replace(box, x=box.x + x, y=box.y + y) for box in boxes)


def _place_name(space: FreeSpace, name: str, metrics: HexMetrics) -> tuple[PlacedLines, int]:
    """Place a name in one line or two, at the best of three font sizes; empty where there is no room."""
    full = FontSizes.for_metrics(metrics).name
    best: tuple[float, tuple[int, int], list[str], int, Shape] = (COVERED_COST, (0, 0), [], full, ())
    for share, lines in product((1.0, 0.85, 0.72), (1, 2)):
        name_lines, size = _break_name(name, metrics, round(full * share), lines)
        if len(name_lines) != lines or size < full * 0.65:
            continue
        step = size * 0.95
        shape: Shape = tuple(
            (0.0, (i - (lines - 1) / 2) * step, text_width(line, size, "Semibold"), step)
            for i, line in enumerate(name_lines)
        )
        smaller = (full - size) * 0.3
        cost, offset = space.find_place(shape, line_points(metrics.layout), best[0] - smaller)
        cost += smaller
        if cost < best[0]:
            best = cost, offset, name_lines, size, shape
        if cost < 1.0:
            break
    _, (x, y), name_lines, size, shape = best
    space.occupy(shape, (x, y))
    return tuple(
        (line, (x, round(y + dy))) for line, (_, dy, _, _) in zip(name_lines, shape, strict=True)
    ), size


def _block_track(space: FreeSpace, view: HexView, face: FaceLayout) -> None:
    """Mark stops, midpoints of edges, barriers and track as something that texts should not cover."""
    for node in face.nodes:
        for slot in node.slots or (node.point,):
            space.block_disc(slot, node.radius + 0.02, 40)
    exits = face.exits
    for edge in sorted(range(6), key=lambda edge: edge not in exits):
        used = edge in exits
        space.block_disc(edge_middle(face.layout, edge), 0.16 if used else 0.08, 20 if used else 8)
    for edge, _, _ in view.borders:
        (ax, ay), (bx, by) = edge_line(face.layout, edge)
        for t in (0.1, 0.3, 0.5, 0.7, 0.9):
            space.block_disc((ax + (bx - ax) * t, ay + (by - ay) * t), 0.16, 4)
    offboard = {f"n{i}" for i, (kind, _) in enumerate(view.nodes) if kind == "offboard"}
    for ends, line in zip(face.paths, face.lines, strict=True):
        if not offboard & set(ends):
            for point in sample_points(line):
                space.block_disc(point, 0.1, 1.5)


def _label_size(text: str, size: int) -> tuple[int, int]:
    return text_width(text, size, "Black"), round(size * CAP_HEIGHT) + 4


def _place_shrinking(
    space: FreeSpace,
    full_size: int,
    points: Sequence[Point],
    measure: Callable[[int], tuple[int, int]],
    max_cost: float,
) -> tuple[tuple[int, int], int]:
    """Place a text with the size that `measure` gives; smaller where it would cost `max_cost` or more."""
    for share in (1.0, 0.88, 0.76, 0.68):
        size = round(full_size * share)
        shape = ((0.0, 0.0, *measure(size)),)
        below = inf if share == 0.68 else max_cost
        cost, offset = space.find_place(shape, points, below)
        if cost < below:
            break
    space.occupy(shape, offset)
    return offset, size


def _break_name(name: str, metrics: HexMetrics, size: int, lines: int) -> tuple[list[str], int]:
    """The name in at most `lines` lines, and the font size at which it fits into the hex."""
    if not name:
        return [], size
    width = metrics.column * (1.72 if metrics.layout == "pointy" else 2.2)
    name_lines = split_in_two(name) if lines == 2 else [name]
    return name_lines, min(fit_font_size(line, size, width, "Semibold") for line in name_lines)


def value_boxes(view: HexView, metrics: HexMetrics) -> tuple[tuple[ValueBox, ...], int, int]:
    """The boxes of a hex's values around their common center, and the width and height of all together.

    Up to three values are in one row, more in two rows. Below a stop there is no room for two rows: then they
    are in one row in which the current value is larger.
    """
    max_width = metrics.column * (1.76 if metrics.layout == "pointy" else 2.0)
    full_size = round(FontSizes.for_metrics(metrics).revenue * 0.92)
    if len(view.phase_values) <= 3:
        return _rows_of_boxes([view.phase_values], full_size, max_width)
    if not _has_stop(view):
        half = -(-len(view.phase_values) // 2)
        return _rows_of_boxes(
            [view.phase_values[:half], view.phase_values[half:]], round(full_size * 0.78), max_width
        )
    large = round(full_size * 0.7)
    current = next((v for v in view.phase_values if v.is_current), view.phase_values[0])
    rest = (max_width - _value_width([current], large)) / (len(view.phase_values) - 1)
    small = _value_font_size([v for v in view.phase_values if v != current], large, rest)
    boxes, left = [], 0
    for value in view.phase_values:
        font_size = large if value == current else small
        width = _value_width([value], font_size)
        boxes.append(ValueBox(left + width // 2, 0, width, round(font_size * 1.15), font_size))
        left += width
    return _shifted(boxes, -left // 2, 0), left, round(large * 1.15)


def _rows_of_boxes(
    rows: Sequence[Sequence[PhaseValue]], full_size: int, max_width: float
) -> tuple[tuple[ValueBox, ...], int, int]:
    """Boxes of the same size in rows."""
    longest = max(map(len, rows))
    font_size = _value_font_size([v for row in rows for v in row], full_size, max_width / longest)
    width, height = _value_width([v for row in rows for v in row], font_size), round(font_size * 1.15)
    step = height + 2
    boxes = tuple(
        ValueBox(
            round((i - (len(row) - 1) / 2) * width),
            round((j - (len(rows) - 1) / 2) * step),
            width,
            height,
            font_size,
        )
        for j, row in enumerate(rows)
        for i in range(len(row))
    )
    return boxes, width * longest, height + step * (len(rows) - 1)


def _value_width(values: Sequence[PhaseValue], font_size: int) -> int:
    return max(text_width(str(v.amount), font_size) for v in values) + round(font_size * 0.7)


def _value_font_size(values: Sequence[PhaseValue], full_size: int, max_width: float) -> int:
    """The largest font size, up to `full_size`, at which every value fits into a width."""
    size = full_size
    while size > 8 and _value_width(values, size) > max_width:
        size -= 1
    return size


def _slot_points(view: HexView, metrics: HexMetrics) -> list[tuple[Point, ...]]:
    return [spot.slots or (spot.point,) for spot in sprites.face_layout(view, metrics).nodes]


def _token_diameter(view: HexView, metrics: HexMetrics, node: int) -> int:
    return round(2 * sprites.face_layout(view, metrics).nodes[node].radius * metrics.radius) - 3


def token_positions(view: HexView, metrics: HexMetrics) -> list[tuple[Badge, Point, int]]:
    """Each token of a hex with its center in units and its diameter in pixels, in the order of the view.

    A token whose city is still to be chosen (node -1) is between the cities. A token without a slot is above
    its city, and smaller.
    """
    return [position for position, _ in _positioned_tokens(view, metrics)]


def overflow_token_positions(view: HexView, metrics: HexMetrics) -> list[tuple[Badge, Point, int]]:
    """The tokens without a slot: in an off-board area, or more than their city has slots."""
    return [position for position, overflows in _positioned_tokens(view, metrics) if overflows]


def _positioned_tokens(view: HexView, metrics: HexMetrics) -> Iterator[tuple[tuple[Badge, Point, int], bool]]:
    slots = _slot_points(view, metrics)
    filled: dict[int, int] = {}
    for node, badge in view.tokens:
        i = filled.get(node, 0)
        filled[node] = i + 1
        if view.nodes[node][0] == "offboard":
            count = sum(n == node for n, _ in view.tokens)
            yield (badge, _area_token_point(i, count), _area_token_diameter(metrics)), True
        elif node < 0:
            yield (badge, (0.0, 0.0), _token_diameter(view, metrics, 0)), False
        elif i < len(slots[node]):
            yield (badge, slots[node][i], _token_diameter(view, metrics, node)), False
        else:
            placed = sprites.face_layout(view, metrics).nodes[node]
            x = placed.point[0] + _alternating_offset(i - len(slots[node])) * 1.5 * placed.radius
            above = x, placed.point[1] - 1.4 * placed.radius
            yield (badge, above, round(0.72 * _token_diameter(view, metrics, node))), True


def _alternating_offset(i: int) -> int:
    """0, 1, -1, 2, -2 and so on."""
    return (i + 1) // 2 * (1 if i % 2 else -1)


def reserved_positions(view: HexView, metrics: HexMetrics) -> list[tuple[Badge, Point, int]]:
    """Each slot of a hex that is reserved for a company, in the same form."""
    positions = []
    slots = _slot_points(view, metrics)
    filled = {n: sum(node == n for node, _ in view.tokens) for n in range(len(slots))}
    for node, badge in view.reserved:
        if view.nodes[node][0] == "offboard":
            positions.append((badge, _area_token_point(0, 1), _area_token_diameter(metrics)))
            continue
        if filled[node] < len(slots[node]):
            positions.append((badge, slots[node][filled[node]], _token_diameter(view, metrics, node)))
            filled[node] += 1
    return positions


def _area_token_point(i: int, count: int) -> Point:
    """The center of the i-th token of an off-board area, in units: in a row below its values."""
    return (i - (count - 1) / 2) * 0.4, 0.5


def _area_token_diameter(metrics: HexMetrics) -> int:
    return round(0.4 * metrics.radius)
