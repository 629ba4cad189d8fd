"""The positions of texts on a hex, in the space that track leaves.

No text is over track, stops, rivers, barriers, tokens without a slot or another text: it is drawn smaller
where it has no room, and a plate without its margin. A name is abbreviated, then left out; a tile's number is
left out. Only the river of a tile, on which nothing depends any more, may be covered where all else fails.

Theory of operation. Texts are placed one after the other, each in free space. First in the order that looks
best, with the coordinate at the top and the name near it. Where a number becomes small or something finds no
room, also with the numbers first and names last; the layout with the larger numbers is taken. If something
still finds no room, all texts are smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from renderers import hex_sprites, sprites, theme
from renderers.canvas import CAP_HEIGHT, text_width
from renderers.face_geometry import FaceLayout
from renderers.free_space import FreeSpace, Shape
from renderers.geometry import Point, corner, edge_line, edge_middle, label_points, line_points
from renderers.hex_grid import HexMetrics
from renderers.label_sizes import (
    CROWDED_SHARES,
    SHARES,
    FontSizes,
    abbreviations,
    break_name,
    grade_diameter,
    label_size,
    terrain_size,
    tile_number,
)
from renderers.token_positions import overflow_token_positions, tokens_beside_slots
from renderers.value_boxes import FRAME, ValueBox, box_size, shifted, value_boxes
from renderers.views import HexView, Structure

CACHED_HEXES = 1500
GOOD_SHARE = 0.88
"""Numbers of this share of their full size need no other layout."""
Measure = Callable[[int], tuple[int, int]]


@dataclass(frozen=True)
class PlacedText:
    """A text: the offset of its center from the hex's center, and its font size, in pixels.

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

    `crowded`: how many pixels of track or of other texts are covered. `least`: the font size of the number
    that has shrunk most, as a share of its full size.
    """

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
    least: float = 1.0


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
    best = _Placer(view, metrics, 1.0).place(numbers_first=False)
    if best.crowded or best.least < GOOD_SHARE:
        best = _better(best, _Placer(view, metrics, 1.0).place(numbers_first=True))
    dry = replace(view, river_banks=None) if view.tile else view
    for share in (1.0, 0.8, 0.65, 0.5):
        if not best.crowded:
            break
        best = _better(best, _Placer(dry, metrics, share).place(numbers_first=True))
    return best


def _better(a: LabelLayout, b: LabelLayout) -> LabelLayout:
    return min(a, b, key=lambda layout: (layout.crowded, -layout.least))


class _Placer:
    """Places the texts of one hex, one after the other; `share`: of the full font sizes."""

    def __init__(self, view: HexView, metrics: HexMetrics, share: float) -> None:
        self.view, self.metrics = view, metrics
        self.sizes = FontSizes.for_metrics(metrics, share)
        self.points = label_points(metrics.layout)
        self.space = FreeSpace(metrics)
        self.crowded = 0
        self.least = share
        self._share = share
        _block_face(self.space, view, hex_sprites.face_layout(view, metrics))
        for _, point, diameter in tokens_beside_slots(view, metrics):
            self.space.block_disc(point, diameter / 2)
        self.space.finish_obstacles()

    def place(self, *, numbers_first: bool) -> LabelLayout:
        view, sizes = self.view, self.sizes
        order = self._numbers_first if numbers_first else self._coordinate_first
        coordinate, values, revenues, terrain, plates, structures, label, name = order()
        letter = theme.GRADE_LETTERS.get(view.color) if view.tile else None
        grade = letter and self._text(letter, sizes.small, [lambda size: (grade_diameter(size),) * 2])
        if view.name and not name:
            name = self._name(view.name)
        blocked, notes = plates[: len(view.blocked)], plates[len(view.blocked) :]
        return LabelLayout(
            coordinate, values, revenues, name, label, grade or None, terrain,
            blocked, self._number(), notes, structures, self.crowded, self.least,
        )  # fmt: skip

    def _coordinate_first(self) -> _Placed:
        coordinate = self._coordinate()
        values, name = self._area() if self.view.phase_values else ((), ())
        revenues = self._revenues()
        if self.view.name and not name:
            name = self._name(self.view.name)
        terrain, label = self._terrains(), self._label()
        return coordinate, values, revenues, terrain, self._plates(), self._structures(), label, name

    def _numbers_first(self) -> _Placed:
        """The same with names last, and the coordinate after the numbers."""
        values, name = self._area() if self.view.phase_values else ((), ())
        revenues, terrain, plates = self._revenues(), self._terrains(), self._plates()
        structures, coordinate, label = self._structures(), self._coordinate(), self._label()
        return coordinate, values, revenues, terrain, plates, structures, label, name

    def _revenues(self) -> tuple[PlacedText, ...]:
        return tuple(
            self._number_text(str(amount), self.sizes.revenue, _plate_measures(str(amount)))
            for amount in dict.fromkeys(self.view.revenues)
        )

    def _terrains(self) -> tuple[PlacedTerrain, ...]:
        return tuple(self._terrain(cost) for _, cost in self.view.terrain)

    def _label(self) -> PlacedText | None:
        label = self.view.label
        return self._text(label, self.sizes.label, [partial(label_size, label)]) if label else None

    def _plates(self) -> tuple[PlacedText, ...]:
        """The privates that block the hex, then the notes."""
        texts = (*(f"×{sym}" for sym in self.view.blocked), *self.view.notes)
        return tuple(self._plate(text) for text in texts)

    def _plate(self, text: str) -> PlacedText:
        """Place a plate; where `GMO +20` has no room, only the bonus."""
        size = self.sizes.coordinate
        bonus = text[text.find("+") :] if " +" in text else ""
        if bonus and not self._has_room(text):
            return self._number_text(bonus, size, _plate_measures(bonus))
        return self._number_text(text, size, _plate_measures(text))

    def _has_room(self, text: str) -> bool:
        smallest = round(self.sizes.coordinate * CROWDED_SHARES[-1])
        return self.space.find(((0.0, 0.0, *_plate_measures(text)[-1](smallest)),), self.points) is not None

    def _structures(self) -> tuple[PlacedText, ...]:
        return tuple(
            self._number_text(str(site.bonus), self.sizes.coordinate, _structure_measures(site))
            for site in self.view.structures
        )

    def _number_text(self, text: str, full_size: int, measures: Sequence[Measure]) -> PlacedText:
        """Place a text that somebody has to be able to read."""
        placed = self._text(text, full_size, measures)
        self.least = min(self.least, self._share * placed.font_size / full_size)
        return placed

    def _text(
        self, text: str, full_size: int, measures: Sequence[Measure], candidates: Sequence[Point] = ()
    ) -> PlacedText:
        """Place a text with the size that `measures` give, smaller where it has no room.

        The second measure, of a tight plate, is tried where the first one has no room at nearly full size.
        """
        points = candidates or self.points
        for share in CROWDED_SHARES:
            size = round(full_size * share)
            for is_tight, measure in enumerate(measures[:1] if share > GOOD_SHARE else measures):
                shape: Shape = ((0.0, 0.0, *measure(size)),)
                if offset := self.space.find(shape, points):
                    self.space.occupy(shape, offset)
                    return PlacedText(text, offset, size, bool(is_tight))
        return PlacedText(text, self._occupy(shape, None, points), size, len(measures) > 1)

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

        return self._text(self.view.coord, self.sizes.coordinate, [measure], points)

    def _area(self) -> tuple[tuple[ValueBox, ...], tuple[PlacedText, ...]]:
        """Place the values of an area with its name above them.

        Where a stop is in the center, the values are below it or around it, and the name is placed elsewhere.
        """
        if _has_stop(self.view):
            return self._values_at_stop(), ()
        candidates = [(x, y) for y in (-0.06, 0.0, -0.12, 0.06, 0.12) for x in (0.0, -0.06, 0.06)]
        for share, name_share in ((a, b) for a in CROWDED_SHARES for b in (1.0, 0.8, 0.65)):
            boxes, width, height = value_boxes(self.view, self.metrics, share)
            lines, size = break_name(
                self.view.name or "",
                self.metrics,
                round(self.sizes.name * 0.92 * name_share),
                2 if len(self.view.phase_values) <= 3 else 1,
            )
            step = size * 0.95
            top = -(height + 5 + step * len(lines)) / 2
            rows = [(line, top + (i + 0.5) * step) for i, line in enumerate(lines)]
            middle = top + step * len(lines) + 5 + height / 2
            shape: Shape = (
                *((0.0, y, text_width(line, size, "Semibold"), step) for line, y in rows),
                (0.0, middle, width, height),
            )
            if offset := self.space.find(shape, candidates):
                break
        self.least = min(self.least, share)
        x, y = self._occupy(shape, offset, candidates)
        name = tuple(PlacedText(line, (x, round(y + dy)), size) for line, dy in rows)
        return shifted(boxes, x, round(y + middle)), name

    def _values_at_stop(self) -> tuple[ValueBox, ...]:
        """Place the values below a stop in a row, or each by itself where that is too wide."""
        candidates = [(0.0, y) for y in (0.42, 0.46, 0.38, 0.5)]
        boxes, width, height = value_boxes(self.view, self.metrics, GOOD_SHARE)
        shape: Shape = ((0.0, 0.0, width, height),)
        if (offset := self.space.find(shape, candidates)) and offset[1] > 0:
            self.space.occupy(shape, offset)
            return shifted(boxes, *offset)
        values = self.view.phase_values
        placed: dict[int, ValueBox] = {}
        for i in sorted(range(len(values)), key=lambda i: not values[i].is_current):
            placed[i] = self._value(i)
        return tuple(placed[i] for i in range(len(values)))

    def _value(self, number: int) -> ValueBox:
        """Place one value of an area by itself."""
        value = self.view.phase_values[number]
        frame = FRAME if value.is_current else 0
        full_size = self.sizes.revenue * (0.92 if value.is_current else 0.55)
        candidates = [((number - (len(self.view.phase_values) - 1) / 2) * 0.45, 0.45)]
        for share in CROWDED_SHARES:
            size = round(full_size * share)
            width, height = box_size(value, size)
            shape: Shape = ((0.0, 0.0, width + 2 * frame, height + 2 * frame),)
            if offset := self.space.find(shape, candidates):
                break
        if value.is_current:
            self.least = min(self.least, self._share * share)
        return ValueBox(*self._occupy(shape, offset, candidates), width, height, size)

    def _name(self, name: str) -> tuple[PlacedText, ...]:
        """Place a name in one line or two, as large as there is room, then abbreviated; else nothing."""
        full = self.sizes.name
        candidates = line_points(self.metrics.layout)
        for text, share in (*((name, share) for share in SHARES), *((x, 0.72) for x in abbreviations(name))):
            for lines in (1, 2):
                name_lines, size = break_name(text, self.metrics, round(full * share), lines)
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


_Placed = tuple[
    PlacedText, tuple[ValueBox, ...], tuple[PlacedText, ...], tuple[PlacedTerrain, ...],
    tuple[PlacedText, ...], tuple[PlacedText, ...], PlacedText | None, tuple[PlacedText, ...],
]  # fmt: skip
"""The coordinate, values, revenues, terrain, plates, structures, label and name."""


def _plate_measures(text: str) -> list[Measure]:
    """The sizes of a plate, with its margin and without."""
    return [partial(sprites.plate_size, text), partial(sprites.plate_size, text, is_tight=True)]


def _structure_measures(site: Structure) -> list[Measure]:
    """The sizes of a structure's sign, with its symbol and, where the bonus says enough, without."""
    with_symbol: Measure = partial(sprites.structure_size, site)
    bonus: Measure = partial(sprites.plate_size, f"+{site.bonus}", is_tight=True)
    return [with_symbol, bonus] if site.is_built else [with_symbol]


def _has_stop(view: HexView) -> bool:
    return any(kind != "offboard" for kind, _ in view.nodes)


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
                space.block_polygon(hex_sprites.offboard_pointer(face.layout, int(end[1:])))
    for (kind, slots), node in zip(view.nodes, face.nodes, strict=True):
        if kind == "city" and slots:
            for slot in node.slots:
                space.block_disc(slot, node.radius * unit + 1)
            if len(node.slots) > 1:
                space.block_polygon(hex_sprites.city_outline(node.slots, node.radius))
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
            hex_sprites.river_line(face.layout, view.river_banks),
            hex_sprites.river_width(view.tile is not None),
        )
