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
from renderers.canvas import CAP, fitting, halved, text_width
from renderers.hexes import (
    CROWDED,
    Mesh,
    Plan,
    Point,
    Room,
    Shape,
    corner,
    edge_line,
    edge_middle,
    places,
    rows,
    samples,
)
from renderers.views import Badge, HexView, Value

KEPT = 1500
BEARABLE, LEGIBLE = 9.0, 4.0
"""What a place may cost before what stands there is made smaller, and before a tile's number is left out."""


@dataclass(frozen=True)
class Box:
    """The place of a value: its middle, in pixels from the centre, its size, and that of its letters."""

    x: int
    y: int
    wide: int
    high: int
    letters: int


@dataclass(frozen=True)
class Arrangement:
    """Where the words and figures of a hex stand: middles, in pixels from its centre."""

    coordinate: tuple[int, int]
    values: tuple[Box, ...] = ()
    revenues: tuple[tuple[int, tuple[int, int], int], ...] = ()
    name: tuple[tuple[str, tuple[int, int]], ...] = ()
    name_size: int = 0
    label: tuple[int, int] | None = None
    label_size: int = 0
    terrain: tuple[tuple[int, int], ...] = ()
    blocked: tuple[tuple[int, int], ...] = ()
    number: tuple[int, int] | None = None
    notes: tuple[tuple[int, int], ...] = ()
    sites: tuple[tuple[tuple[int, int], int], ...] = ()


@dataclass(frozen=True)
class Sizes:
    """Heights of letters in pixels for hexes of a size."""

    figure: int
    name: int
    label: int
    small: int
    coordinate: int

    @classmethod
    def of(cls, mesh: Mesh) -> Sizes:
        r = mesh.radius
        return cls(round(r * 0.43), round(r * 0.29), round(r * 0.36), round(r * 0.21), round(r * 0.26))


_SIGNS: tuple[Point, ...] = ((0.0, 0.05), (0.0, 0.52), (0.0, -0.42), (0.0, 0.57), (0.0, -0.48))


def arranged(view: HexView, mesh: Mesh) -> Arrangement:
    """Find room for everything that is written on a hex; a name that finds none is left out.

    It does not depend on tokens, routes or marks: words stay where they are while these change.
    """
    return _arranged(replace(view, tokens=(), reserved=(), legs=(), marked=False), mesh)


@lru_cache(KEPT)
def _arranged(view: HexView, mesh: Mesh) -> Arrangement:
    found = _filled(view, mesh, name_first=False)
    return found if found.name or not view.name else _filled(view, mesh, name_first=True)


def _filled(view: HexView, mesh: Mesh, *, name_first: bool) -> Arrangement:
    size = Sizes.of(mesh)
    room = Room(mesh.layout, mesh.scale)
    _keep_clear(room, view, sprites.plan_of(view, mesh))
    anywhere = places(mesh.layout)
    coordinate = _coordinate(room, view, size)
    values, name, name_size = _area(room, view, mesh) if view.values else ((), (), size.name)
    if view.name and not name and name_first:
        name, name_size = _name(room, view.name, mesh)
    revenues = tuple(
        (amount, *_shrunk(room, size.figure, anywhere, partial(sprites.plate_size, str(amount)), BEARABLE))
        for amount in dict.fromkeys(view.revenues)
    )
    if view.name and not name and not name_first:
        name, name_size = _name(room, view.name, mesh)
    high = mesh.radius * 0.52
    terrain = tuple(room.place(mesh.radius * 0.48, high, (*_SIGNS, *anywhere)) for _ in view.terrain)
    label, label_size = None, size.label
    if view.label:
        label, label_size = _shrunk(room, size.label, anywhere, partial(_letters, view.label), 8.0)
    blocked = tuple(
        room.place(*sprites.plate_size(f"×{sym}", size.coordinate), anywhere) for sym in view.blocked
    )
    notes = tuple(room.place(*sprites.plate_size(words, size.coordinate), anywhere) for words in view.notes)
    sites = tuple(
        _shrunk(room, size.coordinate, anywhere, partial(sprites.work_size, site), BEARABLE)
        for site in view.sites
    )
    number = None
    if view.tile:
        shape = ((0.0, 0.0, text_width(f"#{view.tile}", size.small) + 4, size.small * CAP),)
        cost, at = room.seek(shape, [(-x, -y) for x, y in anywhere], LEGIBLE)
        number = at if cost < LEGIBLE else None
    return Arrangement(
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


def _coordinate(room: Room, view: HexView, size: Sizes) -> tuple[int, int]:
    """At the top; where a stop lies there, in another corner."""
    shape: Shape = ((0.0, 0.0, text_width(view.coord, size.coordinate), size.coordinate * CAP),)
    x, y = corner(room.layout, 2)
    cost, at = room.seek(shape, [(x * k, y * k) for k in (0.79, 0.7, 0.62)], CROWDED)
    if cost >= CROWDED:
        corners = [corner(room.layout, e) for e in (2, 1, 3, 0, 4, 5)]
        _, at = room.seek(shape, [(x * k, y * k) for k in (0.79, 0.7, 0.62) for x, y in corners])
    room.take(shape, at)
    return at


Words = tuple[tuple[str, tuple[int, int]], ...]


def _area(room: Room, view: HexView, mesh: Mesh) -> tuple[tuple[Box, ...], Words, int]:
    """The values of an area, its name above them: their places, and the size of its letters.

    Where a stop lies in the middle the values are below it, and the name is not among them.
    """
    boxes, wide, high = value_boxes(view, mesh)
    if _has_stop(view):
        x, y = room.place(wide + 8, high, [(0.0, y) for y in (0.42, 0.46, 0.38)])
        return _moved(boxes, x, y), (), Sizes.of(mesh).name
    lines, size = _broken(
        view.name or "", mesh, round(Sizes.of(mesh).name * 0.92), lines=2 if len(view.values) <= 3 else 1
    )
    step = size * 0.95
    width = max(wide + 8, *(text_width(line, size, "Semibold") for line in lines), 0)
    height = high + 10 + step * len(lines)
    x, y = room.place(
        width, height, [(x, y) for y in (-0.12, -0.06, 0.0, 0.06, 0.12) for x in (0.0, -0.06, 0.06)]
    )
    above = y - height / 2
    name = tuple((line, (x, round(above + (i + 0.5) * step))) for i, line in enumerate(lines))
    return _moved(boxes, x, round(above + step * len(lines) + 5 + high / 2)), name, size


def _has_stop(view: HexView) -> bool:
    return any(kind != "offboard" for kind, _ in view.nodes)


def _moved(boxes: Sequence[Box], x: int, y: int) -> tuple[Box, ...]:
    return tuple(replace(box, x=box.x + x, y=box.y + y) for box in boxes)


def _name(room: Room, words: str, mesh: Mesh) -> tuple[Words, int]:
    """The least crowded of one line and two, large and small; nothing where all would cover something."""
    full = Sizes.of(mesh).name
    best: tuple[float, tuple[int, int], list[str], int, Shape] = (CROWDED, (0, 0), [], full, ())
    for share, lines in product((1.0, 0.85, 0.72), (1, 2)):
        broken, size = _broken(words, mesh, round(full * share), lines)
        if len(broken) != lines or size < full * 0.65:
            continue
        step = size * 0.95
        shape: Shape = tuple(
            (0.0, (i - (lines - 1) / 2) * step, text_width(line, size, "Semibold"), step)
            for i, line in enumerate(broken)
        )
        smaller = (full - size) * 0.3
        cost, at = room.seek(shape, rows(mesh.layout), best[0] - smaller)
        cost += smaller
        if cost < best[0]:
            best = cost, at, broken, size, shape
        if cost < 1.0:
            break
    _, (x, y), broken, size, shape = best
    room.take(shape, (x, y))
    return tuple((line, (x, round(y + dy))) for line, (_, dy, _, _) in zip(broken, shape, strict=True)), size


def _keep_clear(room: Room, view: HexView, laid_out: Plan) -> None:
    """Stops, the middles of edges, barriers and track are not to be written on, the worst first."""
    for spot in laid_out.nodes:
        for slot in spot.slots or (spot.point,):
            room.block(slot, spot.radius + 0.02, 40)
    exits = laid_out.exits
    for edge in sorted(range(6), key=lambda edge: edge not in exits):
        used = edge in exits
        room.block(edge_middle(laid_out.layout, edge), 0.16 if used else 0.08, 20 if used else 8)
    for edge, _, _ in view.borders:
        (ax, ay), (bx, by) = edge_line(laid_out.layout, edge)
        for t in (0.1, 0.3, 0.5, 0.7, 0.9):
            room.block((ax + (bx - ax) * t, ay + (by - ay) * t), 0.16, 4)
    offboard = {f"n{i}" for i, (kind, _) in enumerate(view.nodes) if kind == "offboard"}
    for ends, line in zip(laid_out.paths, laid_out.lines, strict=True):
        if not offboard & set(ends):
            for point in samples(line):
                room.block(point, 0.1, 1.5)


def _letters(words: str, size: int) -> tuple[int, int]:
    return text_width(words, size, "Black"), round(size * CAP) + 4


def _shrunk(
    room: Room,
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
        cost, at = room.seek(shape, choices, below)
        if cost < below:
            break
    room.take(shape, at)
    return at, size


def _broken(name: str, mesh: Mesh, size: int, lines: int) -> tuple[list[str], int]:
    """The name in so many lines at most, at a size that keeps it inside the hex."""
    if not name:
        return [], size
    wide = mesh.column * (1.72 if mesh.layout == "pointy" else 2.2)
    broken = halved(name) if lines == 2 else [name]
    return broken, min(fitting(line, size, wide, "Semibold") for line in broken)


def value_boxes(view: HexView, mesh: Mesh) -> tuple[tuple[Box, ...], int, int]:
    """The values of a hex about their common middle, and the width and height of them all.

    Up to three stand in a row. More of them stand in two rows; below a stop, where there is no room for
    that, in one row in which the current one is large.
    """
    room = mesh.column * (1.76 if mesh.layout == "pointy" else 2.0)
    full = round(Sizes.of(mesh).figure * 0.92)
    if len(view.values) <= 3:
        return _in_rows([view.values], full, room)
    if not _has_stop(view):
        cut = -(-len(view.values) // 2)
        return _in_rows([view.values[:cut], view.values[cut:]], round(full * 0.78), room)
    large = round(full * 0.7)
    now = next((v for v in view.values if v.current), view.values[0])
    rest = (room - _value_width([now], large)) / (len(view.values) - 1)
    small = _value_letters([v for v in view.values if v != now], large, rest)
    boxes, left = [], 0
    for value in view.values:
        letters = large if value == now else small
        wide = _value_width([value], letters)
        boxes.append(Box(left + wide // 2, 0, wide, round(letters * 1.15), letters))
        left += wide
    return _moved(boxes, -left // 2, 0), left, round(large * 1.15)


def _in_rows(rows: Sequence[Sequence[Value]], full: int, room: float) -> tuple[tuple[Box, ...], int, int]:
    """Values in rows, all of one size."""
    most = max(map(len, rows))
    letters = _value_letters([v for row in rows for v in row], full, room / most)
    wide, high = _value_width([v for row in rows for v in row], letters), round(letters * 1.15)
    step = high + 2
    boxes = tuple(
        Box(
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


def _value_width(values: Sequence[Value], letters: int) -> int:
    return max(text_width(str(v.amount), letters) for v in values) + round(letters * 0.7)


def _value_letters(values: Sequence[Value], full: int, room: float) -> int:
    """The size, up to `full`, at which each of the values keeps within a width."""
    size = full
    while size > 8 and _value_width(values, size) > room:
        size -= 1
    return size


def _slots(view: HexView, mesh: Mesh) -> list[tuple[Point, ...]]:
    return [spot.slots or (spot.point,) for spot in sprites.plan_of(view, mesh).nodes]


def _diameter(view: HexView, mesh: Mesh, node: int) -> int:
    return round(2 * sprites.plan_of(view, mesh).nodes[node].radius * mesh.radius) - 3


def token_places(view: HexView, mesh: Mesh) -> list[tuple[Badge, Point, int]]:
    """Each token of a hex, its middle in units, its diameter in pixels; in the order of the view.

    One whose city is still to be chosen (node -1) stands between the cities; one beyond the slots of its
    city above them, smaller.
    """
    return [place for place, _ in _placed(view, mesh)]


def places_beside(view: HexView, mesh: Mesh) -> list[tuple[Badge, Point, int]]:
    """Those of the tokens for which there is no slot: in an area, or beyond those of their city."""
    return [place for place, beside in _placed(view, mesh) if beside]


def _placed(view: HexView, mesh: Mesh) -> Iterator[tuple[tuple[Badge, Point, int], bool]]:
    slots = _slots(view, mesh)
    filled: dict[int, int] = {}
    for node, badge in view.tokens:
        i = filled.get(node, 0)
        filled[node] = i + 1
        if view.nodes[node][0] == "offboard":
            many = sum(n == node for n, _ in view.tokens)
            yield (badge, _in_area(i, many), _in_areas(mesh)), True
        elif node < 0:
            yield (badge, (0.0, 0.0), _diameter(view, mesh, 0)), False
        elif i < len(slots[node]):
            yield (badge, slots[node][i], _diameter(view, mesh, node)), False
        else:
            spot = sprites.plan_of(view, mesh).nodes[node]
            x = spot.point[0] + _row_from_the_middle(i - len(slots[node])) * 1.5 * spot.radius
            above = x, spot.point[1] - 1.4 * spot.radius
            yield (badge, above, round(0.72 * _diameter(view, mesh, node))), True


def _row_from_the_middle(i: int) -> int:
    """0, 1, -1, 2, -2 and so on."""
    return (i + 1) // 2 * (1 if i % 2 else -1)


def home_places(view: HexView, mesh: Mesh) -> list[tuple[Badge, Point, int]]:
    """Each slot of a hex that is kept for a company, likewise."""
    found = []
    slots = _slots(view, mesh)
    filled = {n: sum(node == n for node, _ in view.tokens) for n in range(len(slots))}
    for node, badge in view.reserved:
        if view.nodes[node][0] == "offboard":
            found.append((badge, _in_area(0, 1), _in_areas(mesh)))
            continue
        if filled[node] < len(slots[node]):
            found.append((badge, slots[node][filled[node]], _diameter(view, mesh, node)))
            filled[node] += 1
    return found


def _in_area(i: int, many: int) -> Point:
    """Where the i-th of many tokens of an off-board area stands: in a row below its values."""
    return (i - (many - 1) / 2) * 0.4, 0.5


def _in_areas(mesh: Mesh) -> int:
    return round(0.4 * mesh.radius)
