"""Where everything stands on a hex: words and figures in the room that track leaves, tokens in slots.

Most important first: the coordinate at the top, the values of an area, revenue, the name, the
terrain, the label, what a private blocks, the number of the tile. Revenue and labels are made
smaller where they would else cover something; a name or a tile's number that finds no room is left out.
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
MAX_LABEL_COST, MAX_NUMBER_COST = 9.0, 4.0
"""What a place may cost before what stands there is made smaller, and before a tile's number is left out."""


@dataclass(frozen=True)
class ValueBox:
    """The place of a value: its middle, in pixels from the centre, its size, and that of its letters."""

    x: int
    y: int
    width: int
    height: int
    font_size: int


@dataclass(frozen=True)
class LabelLayout:
    """Where the words and figures of a hex stand: middles, in pixels from its centre."""

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
    """Heights of letters in pixels for hexes of a size."""

    revenue: int
    name: int
    label: int
    small: int
    coordinate: int

    @classmethod
    def for_metrics(cls, mesh: HexMetrics) -> FontSizes:
        r = mesh.radius
        return cls(round(r * 0.43), round(r * 0.29), round(r * 0.36), round(r * 0.21), round(r * 0.26))


_TERRAIN_POINTS: tuple[Point, ...] = ((0.0, 0.05), (0.0, 0.52), (0.0, -0.42), (0.0, 0.57), (0.0, -0.48))


def lay_out_labels(view: HexView, mesh: HexMetrics) -> LabelLayout:
    """Find room for everything that is written on a hex; a name that finds none is left out.

    It does not depend on tokens, routes or marks: words stay where they are while these change.
    """
    return _lay_out_cached(replace(view, tokens=(), reserved=(), route_segments=(), highlighted=False), mesh)


@lru_cache(CACHED_HEXES)
def _lay_out_cached(view: HexView, mesh: HexMetrics) -> LabelLayout:
    found = _place_labels(view, mesh, name_first=False)
    return found if found.name or not view.name else _place_labels(view, mesh, name_first=True)


def _place_labels(view: HexView, mesh: HexMetrics, *, name_first: bool) -> LabelLayout:
    size = FontSizes.for_metrics(mesh)
    room = FreeSpace(mesh.layout, mesh.scale)
    _block_track(room, view, sprites.face_layout(view, mesh))
    anywhere = label_points(mesh.layout)
    coordinate = _place_coordinate(room, view, size)
    values, name, name_size = _place_area(room, view, mesh) if view.phase_values else ((), (), size.name)
    if view.name and not name and name_first:
        name, name_size = _place_name(room, view.name, mesh)
    revenues = tuple(
        (
            amount,
            *_place_shrinking(
                room, size.revenue, anywhere, partial(sprites.plate_size, str(amount)), MAX_LABEL_COST
            ),
        )
        for amount in dict.fromkeys(view.revenues)
    )
    if view.name and not name and not name_first:
        name, name_size = _place_name(room, view.name, mesh)
    high = mesh.radius * 0.52
    terrain = tuple(
        room.place_box(mesh.radius * 0.48, high, (*_TERRAIN_POINTS, *anywhere)) for _ in view.terrain
    )
    label, label_size = None, size.label
    if view.label:
        label, label_size = _place_shrinking(
            room, size.label, anywhere, partial(_label_size, view.label), 8.0
        )
    blocked = tuple(
        room.place_box(*sprites.plate_size(f"×{sym}", size.coordinate), anywhere) for sym in view.blocked
    )
    notes = tuple(
        room.place_box(*sprites.plate_size(words, size.coordinate), anywhere) for words in view.notes
    )
    sites = tuple(
        _place_shrinking(
            room, size.coordinate, anywhere, partial(sprites.structure_size, site), MAX_LABEL_COST
        )
        for site in view.structures
    )
    number = None
    if view.tile:
        shape = ((0.0, 0.0, text_width(f"#{view.tile}", size.small) + 4, size.small * CAP_HEIGHT),)
        cost, at = room.find_place(shape, [(-x, -y) for x, y in anywhere], MAX_NUMBER_COST)
        number = at if cost < MAX_NUMBER_COST else None
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


def _place_coordinate(room: FreeSpace, view: HexView, size: FontSizes) -> tuple[int, int]:
    """At the top; where a stop lies there, in another corner."""
    shape: Shape = ((0.0, 0.0, text_width(view.coord, size.coordinate), size.coordinate * CAP_HEIGHT),)
    x, y = corner(room.layout, 2)
    cost, at = room.find_place(shape, [(x * k, y * k) for k in (0.79, 0.7, 0.62)], COVERED_COST)
    if cost >= COVERED_COST:
        corners = [corner(room.layout, e) for e in (2, 1, 3, 0, 4, 5)]
        _, at = room.find_place(shape, [(x * k, y * k) for k in (0.79, 0.7, 0.62) for x, y in corners])
    room.occupy(shape, at)
    return at


PlacedLines = tuple[tuple[str, tuple[int, int]], ...]


def _place_area(
    room: FreeSpace, view: HexView, mesh: HexMetrics
) -> tuple[tuple[ValueBox, ...], PlacedLines, int]:
    """The values of an area, its name above them: their places, and the size of its letters.

    Where a stop lies in the middle the values are below it, and the name is not among them.
    """
    boxes, wide, high = value_boxes(view, mesh)
    if _has_stop(view):
        x, y = room.place_box(wide + 8, high, [(0.0, y) for y in (0.42, 0.46, 0.38)])
        return _shifted(boxes, x, y), (), FontSizes.for_metrics(mesh).name
    lines, size = _break_name(
        view.name or "",
        mesh,
        round(FontSizes.for_metrics(mesh).name * 0.92),
        lines=2 if len(view.phase_values) <= 3 else 1,
    )
    step = size * 0.95
    width = max(wide + 8, *(text_width(line, size, "Semibold") for line in lines), 0)
    height = high + 10 + step * len(lines)
    x, y = room.place_box(
        width, height, [(x, y) for y in (-0.12, -0.06, 0.0, 0.06, 0.12) for x in (0.0, -0.06, 0.06)]
    )
    above = y - height / 2
    name = tuple((line, (x, round(above + (i + 0.5) * step))) for i, line in enumerate(lines))
    return _shifted(boxes, x, round(above + step * len(lines) + 5 + high / 2)), name, size


def _has_stop(view: HexView) -> bool:
    return any(kind != "offboard" for kind, _ in view.nodes)


def _shifted(boxes: Sequence[ValueBox], x: int, y: int) -> tuple[ValueBox, ...]:
    return tuple(replace(box, x=box.x + x, y=box.y + y) for box in boxes)


def _place_name(room: FreeSpace, words: str, mesh: HexMetrics) -> tuple[PlacedLines, int]:
    """The least crowded of one line and two, large and small; nothing where all would cover something."""
    full = FontSizes.for_metrics(mesh).name
    best: tuple[float, tuple[int, int], list[str], int, Shape] = (COVERED_COST, (0, 0), [], full, ())
    for share, lines in product((1.0, 0.85, 0.72), (1, 2)):
        broken, size = _break_name(words, mesh, round(full * share), lines)
        if len(broken) != lines or size < full * 0.65:
            continue
        step = size * 0.95
        shape: Shape = tuple(
            (0.0, (i - (lines - 1) / 2) * step, text_width(line, size, "Semibold"), step)
            for i, line in enumerate(broken)
        )
        smaller = (full - size) * 0.3
        cost, at = room.find_place(shape, line_points(mesh.layout), best[0] - smaller)
        cost += smaller
        if cost < best[0]:
            best = cost, at, broken, size, shape
        if cost < 1.0:
            break
    _, (x, y), broken, size, shape = best
    room.occupy(shape, (x, y))
    return tuple((line, (x, round(y + dy))) for line, (_, dy, _, _) in zip(broken, shape, strict=True)), size


def _block_track(room: FreeSpace, view: HexView, laid_out: FaceLayout) -> None:
    """Stops, the middles of edges, barriers and track are not to be written on, the worst first."""
    for spot in laid_out.nodes:
        for slot in spot.slots or (spot.point,):
            room.block_disc(slot, spot.radius + 0.02, 40)
    exits = laid_out.exits
    for edge in sorted(range(6), key=lambda edge: edge not in exits):
        used = edge in exits
        room.block_disc(edge_middle(laid_out.layout, edge), 0.16 if used else 0.08, 20 if used else 8)
    for edge, _, _ in view.borders:
        (ax, ay), (bx, by) = edge_line(laid_out.layout, edge)
        for t in (0.1, 0.3, 0.5, 0.7, 0.9):
            room.block_disc((ax + (bx - ax) * t, ay + (by - ay) * t), 0.16, 4)
    offboard = {f"n{i}" for i, (kind, _) in enumerate(view.nodes) if kind == "offboard"}
    for ends, line in zip(laid_out.paths, laid_out.lines, strict=True):
        if not offboard & set(ends):
            for point in sample_points(line):
                room.block_disc(point, 0.1, 1.5)


def _label_size(words: str, size: int) -> tuple[int, int]:
    return text_width(words, size, "Black"), round(size * CAP_HEIGHT) + 4


def _place_shrinking(
    room: FreeSpace,
    full: int,
    choices: Sequence[Point],
    measure: Callable[[int], tuple[int, int]],
    bearable: float,
) -> tuple[tuple[int, int], int]:
    """A place for something and its size: smaller where it would else cost more than is bearable."""
    for share in (1.0, 0.88, 0.76, 0.68):
        size = round(full * share)
        shape = ((0.0, 0.0, *measure(size)),)
        below = inf if share == 0.68 else bearable
        cost, at = room.find_place(shape, choices, below)
        if cost < below:
            break
    room.occupy(shape, at)
    return at, size


def _break_name(name: str, mesh: HexMetrics, size: int, lines: int) -> tuple[list[str], int]:
    """The name in so many lines at most, at a size that keeps it inside the hex."""
    if not name:
        return [], size
    wide = mesh.column * (1.72 if mesh.layout == "pointy" else 2.2)
    broken = split_in_two(name) if lines == 2 else [name]
    return broken, min(fit_font_size(line, size, wide, "Semibold") for line in broken)


def value_boxes(view: HexView, mesh: HexMetrics) -> tuple[tuple[ValueBox, ...], int, int]:
    """The values of a hex about their common middle, and the width and height of them all.

    Up to three stand in a row. More of them stand in two rows; below a stop, where there is no room for
    that, in one row in which the current one is large.
    """
    room = mesh.column * (1.76 if mesh.layout == "pointy" else 2.0)
    full = round(FontSizes.for_metrics(mesh).revenue * 0.92)
    if len(view.phase_values) <= 3:
        return _rows_of_boxes([view.phase_values], full, room)
    if not _has_stop(view):
        cut = -(-len(view.phase_values) // 2)
        return _rows_of_boxes([view.phase_values[:cut], view.phase_values[cut:]], round(full * 0.78), room)
    large = round(full * 0.7)
    now = next((v for v in view.phase_values if v.is_current), view.phase_values[0])
    rest = (room - _value_width([now], large)) / (len(view.phase_values) - 1)
    small = _value_font_size([v for v in view.phase_values if v != now], large, rest)
    boxes, left = [], 0
    for value in view.phase_values:
        letters = large if value == now else small
        wide = _value_width([value], letters)
        boxes.append(ValueBox(left + wide // 2, 0, wide, round(letters * 1.15), letters))
        left += wide
    return _shifted(boxes, -left // 2, 0), left, round(large * 1.15)


def _rows_of_boxes(
    rows: Sequence[Sequence[PhaseValue]], full: int, room: float
) -> tuple[tuple[ValueBox, ...], int, int]:
    """Values in rows, all of one size."""
    most = max(map(len, rows))
    letters = _value_font_size([v for row in rows for v in row], full, room / most)
    wide, high = _value_width([v for row in rows for v in row], letters), round(letters * 1.15)
    step = high + 2
    boxes = tuple(
        ValueBox(
            round((i - (len(row) - 1) / 2) * wide),
            round((j - (len(rows) - 1) / 2) * step),
            wide,
            high,
            letters,
        )
        for j, row in enumerate(rows)
        for i in range(len(row))
    )
    return boxes, wide * most, high + step * (len(rows) - 1)


def _value_width(values: Sequence[PhaseValue], letters: int) -> int:
    return max(text_width(str(v.amount), letters) for v in values) + round(letters * 0.7)


def _value_font_size(values: Sequence[PhaseValue], full: int, room: float) -> int:
    """The size, up to `full`, at which each of the values keeps within a width."""
    size = full
    while size > 8 and _value_width(values, size) > room:
        size -= 1
    return size


def _slot_points(view: HexView, mesh: HexMetrics) -> list[tuple[Point, ...]]:
    return [spot.slots or (spot.point,) for spot in sprites.face_layout(view, mesh).nodes]


def _token_diameter(view: HexView, mesh: HexMetrics, node: int) -> int:
    return round(2 * sprites.face_layout(view, mesh).nodes[node].radius * mesh.radius) - 3


def token_positions(view: HexView, mesh: HexMetrics) -> list[tuple[Badge, Point, int]]:
    """Each token of a hex, its middle in units, its diameter in pixels; in the order of the view.

    One whose city is still to be chosen (node -1) stands between the cities; one beyond the slots of its
    city above them, smaller.
    """
    return [place for place, _ in _positioned_tokens(view, mesh)]


def overflow_token_positions(view: HexView, mesh: HexMetrics) -> list[tuple[Badge, Point, int]]:
    """Those of the tokens for which there is no slot: in an area, or beyond those of their city."""
    return [place for place, beside in _positioned_tokens(view, mesh) if beside]


def _positioned_tokens(view: HexView, mesh: HexMetrics) -> Iterator[tuple[tuple[Badge, Point, int], bool]]:
    slots = _slot_points(view, mesh)
    filled: dict[int, int] = {}
    for node, badge in view.tokens:
        i = filled.get(node, 0)
        filled[node] = i + 1
        if view.nodes[node][0] == "offboard":
            many = sum(n == node for n, _ in view.tokens)
            yield (badge, _area_token_point(i, many), _area_token_diameter(mesh)), True
        elif node < 0:
            yield (badge, (0.0, 0.0), _token_diameter(view, mesh, 0)), False
        elif i < len(slots[node]):
            yield (badge, slots[node][i], _token_diameter(view, mesh, node)), False
        else:
            spot = sprites.face_layout(view, mesh).nodes[node]
            x = spot.point[0] + _alternating_offset(i - len(slots[node])) * 1.5 * spot.radius
            above = x, spot.point[1] - 1.4 * spot.radius
            yield (badge, above, round(0.72 * _token_diameter(view, mesh, node))), True


def _alternating_offset(i: int) -> int:
    """0, 1, -1, 2, -2 and so on."""
    return (i + 1) // 2 * (1 if i % 2 else -1)


def reserved_positions(view: HexView, mesh: HexMetrics) -> list[tuple[Badge, Point, int]]:
    """Each slot of a hex that is kept for a company, likewise."""
    found = []
    slots = _slot_points(view, mesh)
    filled = {n: sum(node == n for node, _ in view.tokens) for n in range(len(slots))}
    for node, badge in view.reserved:
        if view.nodes[node][0] == "offboard":
            found.append((badge, _area_token_point(0, 1), _area_token_diameter(mesh)))
            continue
        if filled[node] < len(slots[node]):
            found.append((badge, slots[node][filled[node]], _token_diameter(view, mesh, node)))
            filled[node] += 1
    return found


def _area_token_point(i: int, many: int) -> Point:
    """Where the i-th of many tokens of an off-board area stands: in a row below its values."""
    return (i - (many - 1) / 2) * 0.4, 0.5


def _area_token_diameter(mesh: HexMetrics) -> int:
    return round(0.4 * mesh.radius)
