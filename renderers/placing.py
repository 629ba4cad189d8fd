"""Where everything stands on a hex: words and figures in the room that track leaves, tokens in slots.

Most important first: the coordinate at the top, the values of an area, revenue, the name, the
terrain, the label, what a private blocks, the number of the tile. Revenue and labels are made
smaller where they would else cover something, a name that finds no room is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product

from renderers import sprites
from renderers.canvas import CAP, fitting, text_width
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
    polar,
    rows,
    samples,
)
from renderers.views import Badge, HexView

KEPT = 1500


@dataclass(frozen=True)
class Arrangement:
    """Where the words and figures of a hex stand: middles, in pixels from its centre."""

    coordinate: tuple[int, int]
    values: tuple[tuple[int, int], ...] = ()
    revenues: tuple[tuple[int, tuple[int, int], int], ...] = ()
    name: tuple[tuple[str, tuple[int, int]], ...] = ()
    name_size: int = 0
    label: tuple[int, int] | None = None
    label_size: int = 0
    terrain: tuple[tuple[int, int], ...] = ()
    blocked: tuple[tuple[int, int], ...] = ()
    number: tuple[int, int] | None = None
    notes: tuple[tuple[int, int], ...] = ()


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
    top = corner(mesh.layout, 2)
    coordinate = room.place(
        text_width(view.coord, size.coordinate),
        size.coordinate * CAP,
        [(top[0] * k, top[1] * k) for k in (0.79, 0.7, 0.62)],
    )
    values, name, name_size = _area(room, view, mesh) if view.values else ((), (), size.name)
    if view.name and not name and name_first:
        name, name_size = _name(room, view.name, mesh)
    revenues = tuple(
        (amount, *_shrunk(room, size.figure, anywhere, partial(sprites.plate_size, str(amount)), 9.0))
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
    number = None
    if view.tile:
        number = room.place(
            text_width(f"#{view.tile}", size.small), size.small * CAP, [(-x, -y) for x, y in anywhere]
        )
    return Arrangement(
        coordinate, values, revenues, name, name_size, label, label_size, terrain, blocked, number, notes
    )


Words = tuple[tuple[str, tuple[int, int]], ...]


def _area(room: Room, view: HexView, mesh: Mesh) -> tuple[tuple[tuple[int, int], ...], Words, int]:
    """The values of an area in a row, its name above them: their places, and the size of letters.

    Where a stop lies in the middle the values are below it, and the name is not among them.
    """
    wide, high = value_size(view, mesh)
    if any(kind != "offboard" for kind, _ in view.nodes):
        x, y = room.place(wide * len(view.values) + 8, high, [(0.0, y) for y in (0.42, 0.46, 0.38)])
        return _row(view, x, y, wide), (), Sizes.of(mesh).name
    lines, size = _broken(view.name or "", mesh, round(Sizes.of(mesh).name * 0.92), lines=2)
    step = size * 0.95
    width = max(wide * len(view.values) + 8, *(text_width(line, size, "Semibold") for line in lines), 0)
    height = high + 10 + step * len(lines)
    x, y = room.place(
        width, height, [(x, y) for y in (-0.12, -0.06, 0.0, 0.06, 0.12) for x in (0.0, -0.06, 0.06)]
    )
    above = y - height / 2
    name = tuple((line, (x, round(above + (i + 0.5) * step))) for i, line in enumerate(lines))
    return _row(view, x, round(above + step * len(lines) + 5 + high / 2), wide), name, size


def _row(view: HexView, x: int, y: int, wide: int) -> tuple[tuple[int, int], ...]:
    """The values side by side."""
    count = len(view.values)
    return tuple((round(x + (i - (count - 1) / 2) * wide), y) for i in range(count))


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
        cost, at = room.seek(shape, rows(mesh.layout))
        cost += (full - size) * 0.3
        if cost < best[0]:
            best = cost, at, broken, size, shape
        if cost < 1.0:
            break
    _, (x, y), broken, size, shape = best
    room.take(shape, (x, y))
    return tuple((line, (x, round(y + dy))) for line, (_, dy, _, _) in zip(broken, shape, strict=True)), size


def _keep_clear(room: Room, view: HexView, laid_out: Plan) -> None:
    """Stops, track, the middles of edges and barriers are not to be written on, in that order."""
    for spot in laid_out.nodes:
        for slot in spot.slots or (spot.point,):
            room.block(slot, spot.radius + 0.02, 40)
    offboard = {f"n{i}" for i, (kind, _) in enumerate(view.nodes) if kind == "offboard"}
    for ends, line in zip(laid_out.paths, laid_out.lines, strict=True):
        if not offboard & set(ends):
            for point in samples(line):
                room.block(point, 0.1, 1.5)
    for edge in range(6):
        used = edge in laid_out.exits
        room.block(edge_middle(laid_out.layout, edge), 0.16 if used else 0.08, 20 if used else 8)
    for edge, _, _ in view.borders:
        (ax, ay), (bx, by) = edge_line(laid_out.layout, edge)
        for t in (0.1, 0.3, 0.5, 0.7, 0.9):
            room.block((ax + (bx - ax) * t, ay + (by - ay) * t), 0.16, 4)


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
        cost, at = room.seek(shape, choices)
        if cost < bearable:
            break
    room.take(shape, at)
    return at, size


def _broken(name: str, mesh: Mesh, size: int, lines: int) -> tuple[list[str], int]:
    """The name in so many lines at most, at a size that keeps it inside the hex."""
    words = name.split()
    if not words:
        return [], size
    wide = mesh.column * (1.72 if mesh.layout == "pointy" else 2.2)
    broken = [name]
    if lines == 2 and len(words) > 1:
        cut = min(
            range(1, len(words)), key=lambda i: abs(len(" ".join(words[:i])) - len(" ".join(words[i:])))
        )
        if words[cut] == "&":
            cut += 1
        broken = [" ".join(words[:cut]), " ".join(words[cut:])]
    return broken, min(fitting(line, size, wide, "Semibold") for line in broken)


def value_size(view: HexView, mesh: Mesh) -> tuple[int, int]:
    """Width and height of the place of one of several values, in pixels."""
    size = value_letters(view, mesh)
    return max(text_width(str(v.amount), size) for v in view.values) + round(size * 0.7), round(size * 1.15)


def value_letters(view: HexView, mesh: Mesh) -> int:
    """The size at which the values of an area fit side by side."""
    room = mesh.column * (1.76 if mesh.layout == "pointy" else 2.0) / len(view.values)
    size = round(Sizes.of(mesh).figure * 0.92)
    while size > 8 and max(text_width(str(v.amount), size) for v in view.values) + size * 0.7 > room:
        size -= 1
    return size


def _slots(view: HexView, mesh: Mesh) -> list[tuple[Point, ...]]:
    return [spot.slots or (spot.point,) for spot in sprites.plan_of(view, mesh).nodes]


def _diameter(view: HexView, mesh: Mesh, node: int) -> int:
    return round(2 * sprites.plan_of(view, mesh).nodes[node].radius * mesh.radius) - 3


def token_places(view: HexView, mesh: Mesh) -> list[tuple[Badge, Point, int]]:
    """Each token of a hex, its middle in units, its diameter in pixels.

    One whose city is still to be chosen (node -1) stands between the cities.
    """
    found = []
    slots = _slots(view, mesh)
    filled: dict[int, int] = {}
    for node, badge in view.tokens:
        if view.nodes[node][0] == "offboard":
            i = filled.get(node, 0)
            filled[node] = i + 1
            many = sum(n == node for n, _ in view.tokens)
            found.append((badge, _in_area(i, many), _in_areas(mesh)))
            continue
        if node < 0:
            found.append((badge, (0.0, 0.0), _diameter(view, mesh, 0)))
            continue
        i = filled.get(node, 0)
        filled[node] = i + 1
        found.append((badge, _nth(slots[node], i), _diameter(view, mesh, node)))
    return found


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


def _nth(slots: Sequence[Point], i: int) -> Point:
    """The i-th slot; tokens beyond the last stand out from it."""
    if i < len(slots):
        return slots[i]
    x, y = slots[-1]
    dx, dy = polar(0.5 + i, 0.3)
    return x + dx, y + dy
