"""The positions of texts and tokens on a hex: texts in the space that track leaves, tokens in slots.

Texts are placed in this order: the coordinate at the top, the values of an area, revenue, name, terrain,
label, the letter of the grade, the privates that block the hex, notes, structures, the tile's number. No text
is over track, stops, rivers, barriers or another text: it is drawn smaller where it has no room. A name is
abbreviated, then left out; a tile's number is left out. If something else finds no room, names come last and
all texts are smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from renderers import sprites, theme
from renderers.canvas import CAP_HEIGHT, fit_font_size, split_in_two, text_width
from renderers.free_space import FreeSpace, Shape
from renderers.geometry import (
    FaceLayout,
    HexMetrics,
    Point,
    corner,
    edge_line,
    edge_middle,
    label_points,
    line_points,
)
from renderers.views import Badge, HexView, PhaseValue

CACHED_HEXES = 1500
SHARES = (1.0, 0.88, 0.76, 0.68)
"""Font sizes that are tried, as shares of the full size."""
CROWDED_SHARES = (*SHARES, 0.6, 0.52)
"""The same for what may not be left out."""


@dataclass(frozen=True)
class ValueBox:
    """The box of a value: the offset of its center from the hex's, its size, and its font size, in pixels."""

    x: int
    y: int
    width: int
    height: int
    font_size: int


@dataclass(frozen=True)
class PlacedText:
    """A text: the offset of its center from the hex's center, and its font size, in pixels."""

    text: str
    offset: tuple[int, int]
    font_size: int


@dataclass(frozen=True)
class PlacedTerrain:
    """A terrain: the offset of its center, its font size, and whether sign and cost are side by side."""

    offset: tuple[int, int]
    font_size: int
    is_wide: bool


@dataclass(frozen=True)
class LabelLayout:
    """The positions of a hex's texts. `crowded`: how many pixels of track or of other texts are covered."""

    coordinate: PlacedText
    values: tuple[ValueBox, ...] = ()
    revenues: tuple[PlacedText, ...] = ()
    name: tuple[PlacedText, ...] = ()
    label: PlacedText | None = None
    grade: PlacedText | None = None
    terrain: tuple[PlacedTerrain, ...] = ()
    blocked: tuple[PlacedText, ...] = ()
    number: PlacedText | None = None
    notes: tuple[PlacedText, ...] = ()
    structures: tuple[PlacedText, ...] = ()
    crowded: int = 0


@dataclass(frozen=True)
class FontSizes:
    """Font sizes in pixels for hexes of a size."""

    revenue: int
    name: int
    label: int
    small: int
    coordinate: int

    @classmethod
    def for_metrics(cls, metrics: HexMetrics, share: float = 1.0) -> FontSizes:
        r, text = metrics.radius * share, metrics.text_share
        revenue = r * min(0.43 * text, 0.56)
        return cls(round(revenue), round(r * 0.29), round(r * 0.36), round(r * 0.21), round(r * 0.26 * text))


_TERRAIN_POINTS: tuple[Point, ...] = ((0.0, 0.05), (0.0, 0.52), (0.0, -0.42), (0.0, 0.57), (0.0, -0.48))


def lay_out_labels(view: HexView, metrics: HexMetrics) -> LabelLayout:
    """Find positions for all texts of a hex.

    They do not depend on tokens in slots, routes or highlights, so texts do not move when these change.
    """
    in_the_way = overflow_token_positions(view, metrics)
    kept = replace(view, route_segments=(), highlighted=False)
    if not in_the_way:
        kept = replace(kept, tokens=())
    if not any(kind == "offboard" for kind, _ in view.nodes):
        kept = replace(kept, reserved=())
    return _lay_out_cached(kept, metrics)


@lru_cache(CACHED_HEXES)
def _lay_out_cached(view: HexView, metrics: HexMetrics) -> LabelLayout:
    attempts: list[LabelLayout] = []
    for share, name_last in ((1.0, False), (1.0, True), (0.8, True), (0.65, True), (0.5, True)):
        attempts.append(_Placer(view, metrics, share).place(name_last=name_last))
        if not attempts[-1].crowded:
            break
    return min(attempts, key=lambda layout: layout.crowded)


class _Placer:
    """Places the texts of one hex, one after the other; `share`: of the full font sizes."""

    def __init__(self, view: HexView, metrics: HexMetrics, share: float) -> None:
        self.view, self.metrics = view, metrics
        self.sizes = FontSizes.for_metrics(metrics, share)
        self.points = label_points(metrics.layout)
        self.space = FreeSpace(metrics)
        self.crowded = 0
        _block_face(self.space, view, sprites.face_layout(view, metrics))
        for _, point, diameter in _tokens_beside_slots(view, metrics):
            self.space.block_disc(point, diameter / 2)
        self.space.finish_obstacles()

    def place(self, *, name_last: bool) -> LabelLayout:
        view, sizes = self.view, self.sizes
        coordinate = self._coordinate()
        values, name = self._area() if view.phase_values else ((), ())
        revenues = tuple(
            self._text(str(amount), sizes.revenue, partial(sprites.plate_size, str(amount)))
            for amount in dict.fromkeys(view.revenues)
        )
        if view.name and not name and not name_last:
            name = self._name(view.name)
        terrain = tuple(self._terrain(cost) for _, cost in view.terrain)
        label = view.label and self._text(view.label, sizes.label, partial(_label_size, view.label))
        letter = theme.GRADE_LETTERS.get(view.color) if view.tile else None
        grade = letter and self._text(letter, sizes.small, lambda size: (grade_diameter(size),) * 2)
        plates = [
            self._text(text, sizes.coordinate, partial(sprites.plate_size, text))
            for text in (*(f"×{sym}" for sym in view.blocked), *view.notes)
        ]
        structures = tuple(
            self._text(str(site.bonus), sizes.coordinate, partial(sprites.structure_size, site))
            for site in view.structures
        )
        if view.name and not name and name_last:
            name = self._name(view.name)
        blocked, notes = tuple(plates[: len(view.blocked)]), tuple(plates[len(view.blocked) :])
        return LabelLayout(
            coordinate, values, revenues, name, label or None, grade or None, terrain,
            blocked, self._number(), notes, structures, self.crowded,
        )  # fmt: skip

    def _text(
        self,
        text: str,
        full_size: int,
        measure: Callable[[int], tuple[int, int]],
        candidates: Sequence[Point] = (),
    ) -> PlacedText:
        """Place a text with the size that `measure` gives, smaller where it has no room."""
        for share in CROWDED_SHARES:
            size = round(full_size * share)
            shape: Shape = ((0.0, 0.0, *measure(size)),)
            if offset := self.space.find(shape, candidates or self.points):
                break
        return PlacedText(text, self._occupy(shape, offset, candidates or self.points), size)

    def _occupy(
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

    def _coordinate(self) -> PlacedText:
        """Place the coordinate at the top, or in another corner where something is there."""
        corners = [corner(self.metrics.layout, e) for e in (2, 1, 3, 0, 4, 5)]
        points = [(x * k, y * k) for x, y in corners for k in (0.79, 0.74, 0.7, 0.66, 0.62)]

        def measure(size: int) -> tuple[int, int]:
            return text_width(self.view.coord, size, "Semibold"), round(size * CAP_HEIGHT)

        return self._text(self.view.coord, self.sizes.coordinate, measure, points)

    def _area(self) -> tuple[tuple[ValueBox, ...], tuple[PlacedText, ...]]:
        """Place the values of an area with its name above them.

        Where a stop is in the center, the values are below it or around it, and the name is placed elsewhere.
        """
        if _has_stop(self.view):
            return self._values_at_stop(), ()
        candidates = [(x, y) for y in (-0.06, 0.0, -0.12, 0.06, 0.12) for x in (0.0, -0.06, 0.06)]
        for share in CROWDED_SHARES:
            boxes, width, height = value_boxes(self.view, self.metrics, share)
            lines, size = _break_name(
                self.view.name or "",
                self.metrics,
                round(self.sizes.name * 0.92 * share),
                2 if len(self.view.phase_values) <= 3 else 1,
            )
            step = size * 0.95
            top = -(height + 5 + step * len(lines)) / 2
            rows = [(line, top + (i + 0.5) * step) for i, line in enumerate(lines)]
            middle = top + step * len(lines) + 5 + height / 2
            shape: Shape = (
                *((0.0, y, text_width(line, size, "Semibold"), step) for line, y in rows),
                (0.0, middle, width + 8, height + 4),
            )
            if offset := self.space.find(shape, candidates):
                break
        x, y = self._occupy(shape, offset, candidates)
        name = tuple(PlacedText(line, (x, round(y + dy)), size) for line, dy in rows)
        return _shifted(boxes, x, round(y + middle)), name

    def _values_at_stop(self) -> tuple[ValueBox, ...]:
        """Place the values below a stop in a row, or each by itself where that is too wide."""
        candidates = [(0.0, y) for y in (0.42, 0.46, 0.38, 0.5)]
        for share in SHARES[:3]:
            boxes, width, height = value_boxes(self.view, self.metrics, share)
            shape: Shape = ((0.0, 0.0, width + 4, height + 2),)
            if (offset := self.space.find(shape, candidates)) and offset[1] > 0:
                self.space.occupy(shape, offset)
                return _shifted(boxes, *offset)
        values = self.view.phase_values
        placed: dict[int, ValueBox] = {}
        for i in sorted(range(len(values)), key=lambda i: not values[i].is_current):
            full_size = self.sizes.revenue * (0.7 if values[i].is_current else 0.55)
            for share in CROWDED_SHARES:
                size = round(full_size * share)
                width, height = _value_width([values[i]], size), round(size * 1.15)
                shape = ((0.0, 0.0, width + 2, height + 2),)
                spread = (i - (len(values) - 1) / 2) * 0.45
                if offset := self.space.find(shape, [(spread, 0.45)]):
                    break
            x, y = self._occupy(shape, offset, [(spread, 0.45)])
            placed[i] = ValueBox(x, y, width, height, size)
        return tuple(placed[i] for i in range(len(values)))

    def _name(self, name: str) -> tuple[PlacedText, ...]:
        """Place a name in one line or two, as large as there is room, then abbreviated; else nothing."""
        full = self.sizes.name
        candidates = line_points(self.metrics.layout)
        for text, share in (*((name, share) for share in SHARES), *((x, 0.72) for x in abbreviations(name))):
            for lines in (1, 2):
                name_lines, size = _break_name(text, self.metrics, round(full * share), lines)
                if len(name_lines) != lines or size < full * 0.65:
                    continue
                step = size * 0.95
                shape: Shape = tuple(
                    (0.0, (i - (lines - 1) / 2) * step, text_width(line, size, "Semibold"), step)
                    for i, line in enumerate(name_lines)
                )
                if offset := self.space.find(shape, candidates):
                    self.space.occupy(shape, offset)
                    return tuple(
                        PlacedText(line, (offset[0], round(offset[1] + box[1])), size)
                        for line, box in zip(name_lines, shape, strict=True)
                    )
        return ()

    def _terrain(self, cost: int) -> PlacedTerrain:
        """Place a terrain: its sign above the cost, or beside it."""
        candidates = (*_TERRAIN_POINTS, *self.points)
        for share in SHARES:
            for is_wide in (False, True):
                size = round(self.sizes.coordinate * share)
                shape: Shape = ((0.0, 0.0, *terrain_size(cost, size, is_wide)),)
                if offset := self.space.find(shape, candidates):
                    return PlacedTerrain(self._occupy(shape, offset, candidates), size, is_wide)
        return PlacedTerrain(self._occupy(shape, None, candidates), size, is_wide)

    def _number(self) -> PlacedText | None:
        """Place the number of the tile, where there is room."""
        number = self.view.tile and tile_number(self.view.tile)
        if not number:
            return None
        size = self.sizes.small
        shape: Shape = ((0.0, 0.0, text_width(number, size) + 2, round(size * CAP_HEIGHT)),)
        offset = self.space.find(shape, [(-x, -y) for x, y in self.points])
        if offset:
            self.space.occupy(shape, offset)
        return PlacedText(number, offset, size) if offset else None


def tile_number(tile: str) -> str:
    """The number of a tile with its sign; nothing for a tile that has none printed."""
    return f"#{tile}" if tile[0].isdigit() else ""


def grade_diameter(font_size: int) -> int:
    """The diameter of the disc with the letter of a tile's grade."""
    return round(font_size * 1.15)


def terrain_size(cost: int, font_size: int, is_wide: bool) -> tuple[int, int]:
    """The width and height of a terrain's sign with its cost, in pixels."""
    sign, text = round(font_size * 1.75), text_width(f"${cost}", font_size)
    if is_wide:
        return round(sign * 0.7) + 3 + text, font_size
    return max(sign, text), round(font_size * 2.05)


def abbreviations(name: str) -> Iterator[str]:
    """Shorter forms of a name, the longest first: `Lancas.`, `Lanca.`, `Lanc.`; `Hami. & Toro.`."""
    words = name.split()
    longest = max(len(word) for word in words)
    for length in range(min(longest - 2, 6), 3, -1):
        yield " ".join(word if len(word) <= length + 1 else f"{word[:length]}." for word in words)


def _has_stop(view: HexView) -> bool:
    return any(kind != "offboard" for kind, _ in view.nodes)


def _shifted(boxes: Sequence[ValueBox], x: int, y: int) -> tuple[ValueBox, ...]:
    return tuple(replace(box, x=box.x + x, y=box.y + y) for box in boxes)


def _block_face(space: FreeSpace, view: HexView, face: FaceLayout) -> None:
    """Use up the pixels of track, stops, barriers and the river."""
    unit = space.metrics.radius
    offboard = {f"n{i}" for i, (kind, _) in enumerate(view.nodes) if kind == "offboard"}
    for ends, line in zip(face.paths, face.lines, strict=True):
        if not offboard & set(ends):
            space.block_line(line, theme.TRACK_WIDTH + 0.02)
            continue
        for end in ends:
            if end[0] == "e":
                space.block_polygon(sprites.offboard_pointer(face.layout, int(end[1:])))
    for (kind, slots), node in zip(view.nodes, face.nodes, strict=True):
        if kind == "city" and slots:
            for slot in node.slots:
                space.block_disc(slot, node.radius * unit + 1)
            if len(node.slots) > 1:
                space.block_polygon(sprites.city_outline(node.slots, node.radius))
        elif kind in ("city", "town"):
            space.block_disc(node.point, 0.21 * unit)
    for edge, kind, _ in view.borders:
        width = (2.0 if kind == "impassable" else 1.0) * theme.BARRIER_WIDTH
        space.block_line(edge_line(face.layout, edge), width)
    for edge, _, cost in view.borders:
        if cost:
            space.block_disc(tuple(k * 0.8 for k in edge_middle(face.layout, edge)), 0.18 * unit)  # type: ignore[arg-type]
    if view.river_banks:
        space.block_line(
            sprites.river_line(face.layout, view.river_banks), sprites.river_width(view.tile is not None)
        )


def _label_size(text: str, size: int) -> tuple[int, int]:
    return text_width(text, size, "Black"), round(size * CAP_HEIGHT) + 4


def _break_name(name: str, metrics: HexMetrics, size: int, lines: int) -> tuple[list[str], int]:
    """The name in at most `lines` lines, and the font size at which it fits into the hex."""
    if not name:
        return [], size
    width = metrics.column * (1.72 if metrics.layout == "pointy" else 2.2)
    name_lines = split_in_two(name) if lines == 2 else [name]
    return name_lines, min(fit_font_size(line, size, width, "Semibold") for line in name_lines)


def value_boxes(
    view: HexView, metrics: HexMetrics, share: float = 1.0
) -> tuple[tuple[ValueBox, ...], int, int]:
    """The boxes of a hex's values around their common center, and the width and height of all together.

    Up to three values are in one row, more in two rows, or below a stop in one.
    """
    max_width = metrics.column * (1.76 if metrics.layout == "pointy" else 2.0)
    full_size = round(FontSizes.for_metrics(metrics).revenue * 0.92 * share)
    if len(view.phase_values) <= 3:
        return _rows_of_boxes([view.phase_values], full_size, max_width)
    if not _has_stop(view):
        half = -(-len(view.phase_values) // 2)
        return _rows_of_boxes(
            [view.phase_values[:half], view.phase_values[half:]], round(full_size * 0.78), max_width
        )
    return _rows_of_boxes([view.phase_values], round(full_size * 0.78), max_width)


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


def _tokens_beside_slots(view: HexView, metrics: HexMetrics) -> list[tuple[Badge, Point, int]]:
    """What is drawn over an area: tokens without a slot, and reserved places in off-board areas."""
    reserved = [
        position
        for (node, _), position in zip(view.reserved, reserved_positions(view, metrics), strict=False)
        if view.nodes[node][0] == "offboard"
    ]
    return [*overflow_token_positions(view, metrics), *reserved]


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
