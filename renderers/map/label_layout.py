"""The positions of texts on a hex, in the space that track leaves.

No text is over track, stops, rivers, barriers, tokens without a slot or another text: it is drawn smaller
where it has no room, and a plate without its margin. A name is abbreviated, then left out; a tile's number is
left out. Only the river of a tile, on which nothing depends any more, may be covered where all else fails.

Theory of operation. Texts are placed one after the other, each in free space. First in the order that looks
best, with the coordinate at the top and the name near it. Where a number becomes small or something finds no
room, also with the numbers first and names last; the layout with the larger numbers is taken. Where a number
is still small, the coordinate, which the frame of the map has too, is left out if it has no room after all
others, and notes and costs of terrain without room become footnotes of the map. If something still finds no
room, all texts are smaller.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from functools import lru_cache, partial

from renderers import sprites, theme
from renderers.canvas import CAP_HEIGHT, text_width
from renderers.geometry import Point, corner, edge_line, line_points
from renderers.hex_grid import HexMetrics
from renderers.map import hex_sprites
from renderers.map.face_geometry import FaceLayout
from renderers.map.free_space import FreeSpace, Shape
from renderers.map.label_sizes import (
    CROWDED_SHARES,
    SHARES,
    abbreviations,
    break_name,
    grade_diameter,
    label_size,
    terrain_size,
    tile_number,
)
from renderers.map.text_placer import (
    GOOD_SHARE,
    SMALL_SHARE,
    LabelLayout,
    Measure,
    PlacedTerrain,
    PlacedText,
    TextPlacer,
)
from renderers.map.token_positions import overflow_token_positions, tokens_beside_slots
from renderers.map.value_boxes import FRAME, MOST_IN_A_ROW, ValueBox, box_size, shifted, value_boxes
from renderers.views import HexView, Structure

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


def free_space(view: HexView, metrics: HexMetrics) -> FreeSpace:
    """The space of a hex in which texts may be placed."""
    space = FreeSpace(metrics)
    block_face(space, view, hex_sprites.face_layout(view, metrics))
    for _, point, diameter in tokens_beside_slots(view, metrics):
        space.block_disc(point, diameter / 2)
    space.finish_obstacles()
    return space


def block_face(space: FreeSpace, view: HexView, face: FaceLayout) -> None:
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
                space.block_polygon(hex_sprites.city_outline(node.slots, node.radius + 1.5 / unit))
        elif kind in ("city", "town"):
            space.block_disc(node.point, 0.21 * unit)
    for edge in view.barriers:
        space.block_line(edge_line(face.layout, edge), 2.0 * theme.BARRIER_WIDTH)
    if view.river_banks:
        space.block_line(
            hex_sprites.river_line(face.layout, view.river_banks),
            hex_sprites.river_width(view.tile is not None),
        )


CACHED_HEXES = 1500
ROOMY_SHARES = tuple(share for share in SHARES if share >= SMALL_SHARE)
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


class Order(IntEnum):
    """The order in which texts are placed."""

    COORDINATE_FIRST = 0
    NUMBERS_FIRST = 1
    NUMBERS_ONLY = 2
    """The same, and what would make numbers small is left out."""


@lru_cache(CACHED_HEXES)
def _lay_out_cached(view: HexView, metrics: HexMetrics) -> LabelLayout:
    space = free_space(view, metrics)
    best = _Placer(view, space).place(Order.COORDINATE_FIRST)
    if best.crowded or best.least < GOOD_SHARE:
        best = _better(best, _Placer(view, space).place(Order.NUMBERS_FIRST))
    if best.crowded or best.small:
        best = _better(best, _Placer(view, space).place(Order.NUMBERS_ONLY))
    if best.crowded and view.tile:
        space = free_space(replace(view, river_banks=None), metrics)
    for share in (1.0, 0.8, 0.65, 0.5):
        if not best.crowded:
            break
        best = _better(best, _Placer(view, space, share).place(Order.NUMBERS_ONLY))
    return best


def _better(a: LabelLayout, b: LabelLayout) -> LabelLayout:
    return min(a, b, key=lambda layout: (layout.crowded, layout.small, -layout.least))


class _Placer(TextPlacer):
    """Places all texts of one hex."""

    def place(self, order: Order) -> LabelLayout:
        view, sizes = self.view, self.sizes
        self._footnotes: list[str] = []
        self._leaves_out = order is Order.NUMBERS_ONLY
        coordinate = self._coordinate() if order is Order.COORDINATE_FIRST else None
        values, name = place_area(self) if view.phase_values else ((), ())
        revenues = self._revenues()
        if order is Order.COORDINATE_FIRST and not name:
            name = self._name()
        terrain = tuple((each, place) for each in view.terrain if (place := self._terrain(each[1])))
        label = self._label() if order is Order.COORDINATE_FIRST else None
        blocked, notes = self._plates(*(f"×{sym}" for sym in view.blocked)), self._plates(*view.notes)
        structures = self._structures()
        if order is not Order.COORDINATE_FIRST:
            coordinate = None if self._leaves_out else self._coordinate()
            label = self._label()
        letter = theme.GRADE_LETTERS.get(view.color) if view.tile else None
        grade = self.text(letter, sizes.small, [lambda size: (grade_diameter(size),) * 2]) if letter else None
        coordinate = coordinate or self._coordinate()
        name = name or self._name()
        return LabelLayout(
            coordinate, values, revenues, name, label, grade, terrain, blocked, self._number(), notes,
            structures, tuple(self._footnotes), self.crowded, self.small, self.least,
        )  # fmt: skip

    def _revenues(self) -> tuple[PlacedText, ...]:
        return tuple(
            self.number(str(amount), self.sizes.revenue, _plate_measures(str(amount)))
            for amount in dict.fromkeys(self.view.revenues)
        )

    def _label(self) -> PlacedText | None:
        label = self.view.label
        return self.text(label, self.sizes.label, [partial(label_size, label)]) if label else None

    def _plates(self, *texts: str) -> tuple[PlacedText, ...]:
        return tuple(placed for text in texts if (placed := self._plate(text)))

    def _plate(self, text: str) -> PlacedText | None:
        """Place a plate; where `GMO +20` has no room, only the bonus."""
        bonus = text[text.find("+") :] if " +" in text else ""
        if bonus and not self._has_room(text):
            text = bonus
        return self._note(text, text, _plate_measures(text))

    def _note(self, text: str, footnote: str, measures: list[Measure]) -> PlacedText | None:
        """Place a note, or make it a footnote."""
        size = self.sizes.note
        if not (self._leaves_out and self.metrics.has_footnotes):
            return self.number(text, size, measures)
        placed = self.text_if_room(text, size, measures, ROOMY_SHARES)
        if placed:
            self.count(placed.font_size / size)
        else:
            self._footnotes.append(footnote)
        return placed

    def _has_room(self, text: str) -> bool:
        smallest = round(self.sizes.note * CROWDED_SHARES[-1])
        return self.space.find(((0.0, 0.0, *_plate_measures(text)[-1](smallest)),), self.points) is not None

    def _structures(self) -> tuple[tuple[Structure, PlacedText], ...]:
        """Place the signs of structures; one that is only possible has no number, so it may be small."""
        placed = (
            (
                site,
                self._note(str(site.bonus), f"{site.kind} +{site.bonus}", _structure_measures(site))
                if site.is_built
                else self.text(str(site.bonus), self.sizes.note, _structure_measures(site)),
            )
            for site in self.view.structures
        )
        return tuple((site, place) for site, place in placed if place)

    def _coordinate(self) -> PlacedText | None:
        """Place the coordinate at the top, or in another corner where something is there."""
        corners = [corner(self.metrics.layout, e) for e in (2, 1, 3, 0, 4, 5)]
        points = [(x * k, y * k) for x, y in corners for k in (0.79, 0.74, 0.7, 0.66, 0.62)]
        text, size = self.view.coord, self.sizes.coordinate

        def measure(size: int) -> tuple[int, int]:
            return text_width(text, size, "Semibold"), round(size * CAP_HEIGHT)

        if self._leaves_out:
            return self.text_if_room(text, size, [measure], CROWDED_SHARES, points)
        return self.text(text, size, [measure], points)

    def _name(self) -> tuple[PlacedText, ...]:
        """Place the name in one line or two, as large as there is room, then abbreviated; else nothing."""
        name, full = self.view.name, self.sizes.name
        if not name:
            return ()
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

    def _terrain(self, cost: int) -> PlacedTerrain | None:
        """Place a terrain: its sign above the cost, or beside it; or make it a footnote."""
        candidates = (*_TERRAIN_POINTS, *self.points)
        for share in SHARES:
            for is_wide in (False, True):
                size = round(self.sizes.note * share)
                shape: Shape = ((0.0, 0.0, *terrain_size(cost, size, is_wide)),)
                if offset := self.space.find(shape, candidates):
                    self.count(share)
                    return PlacedTerrain(self.occupy(shape, offset, candidates), size, is_wide)
        if self._leaves_out and self.metrics.has_footnotes:
            self._footnotes.append(f"costs ${cost}")
            return None
        self.count(share)
        return PlacedTerrain(self.occupy(shape, None, candidates), size, is_wide)

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


def _plate_measures(text: str) -> list[Measure]:
    """The sizes of a plate, with its margin and without."""
    return [partial(sprites.plate_size, text), partial(sprites.plate_size, text, is_tight=True)]


def _structure_measures(site: Structure) -> list[Measure]:
    """The sizes of a structure's sign, with its symbol and, where the bonus says enough, without."""
    with_symbol: Measure = partial(sprites.structure_size, site)
    bonus: Measure = partial(sprites.plate_size, f"+{site.bonus}", is_tight=True)
    return [with_symbol, bonus] if site.is_built else [with_symbol]
