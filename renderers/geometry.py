"""The geometry of a hex map: where track, stops and hexes lie, and where there is room for text.

Theory of operation. A hex is described in *units*: its center is (0, 0), its corners are at distance 1, the
midpoints of its edges at `APOTHEM`; x grows to the right, y downwards. Edge e lies in the direction
`bearing(layout, e)`, the only difference between a pointy and a flat layout. A `Grid` maps units to pixels.
Half a hex and half a row are whole numbers of pixels, so every hex has the same pixels and its picture can be
pasted anywhere.

Track between two edges is an arc that meets both edges at a right angle: a straight line across, a gentle
curve around the center of the neighbor between them, or a sharp curve around their common corner. A stop with
two exits lies on that arc, any other stop where its exits meet. Where a face has several stops, or track that
passes a stop, candidates are tried in a fixed order and the placement with the least overlap wins. Texts are
then placed, most important first, in the space that is left (`free_space`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, cycle, pairwise, product
from math import atan2, ceil, cos, hypot, inf, pi, radians, sin, sqrt
from typing import Literal

Point = tuple[float, float]
Line = tuple[Point, ...]
HexLayout = Literal["flat", "pointy"]
Axes = tuple[tuple[str, str], ...]

APOTHEM = sqrt(3) / 2
CURVE_STEPS = 12
_CENTER: Point = (0.0, 0.0)


def bearing(layout: HexLayout, edge: float) -> float:
    """The direction of an edge from the center in radians, clockwise from the right.

    Half an edge more is the direction of the corner between it and the next edge.
    """
    return radians((120 if layout == "pointy" else 90) + 60 * edge)


def polar(angle: float, distance: float) -> Point:
    return cos(angle) * distance, sin(angle) * distance


def edge_middle(layout: HexLayout, edge: int) -> Point:
    """The midpoint of an edge, in units."""
    return polar(bearing(layout, edge), APOTHEM)


def corner(layout: HexLayout, edge: int) -> Point:
    """The corner between an edge and the next one clockwise, in units."""
    return polar(bearing(layout, edge + 0.5), 1.0)


def outline(layout: HexLayout, distance: float = 1.0) -> Line:
    """Six points in the directions of the corners, at a distance from the center."""
    return tuple(polar(bearing(layout, e + 0.5), distance) for e in range(6))


def edge_line(layout: HexLayout, edge: int) -> Line:
    """An edge from corner to corner, clockwise."""
    return corner(layout, edge - 1), corner(layout, edge)


def distance(a: Point, b: Point) -> float:
    return hypot(a[0] - b[0], a[1] - b[1])


def midpoint(a: Point, b: Point) -> Point:
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def point_along(line: Line, share: float) -> tuple[Point, float]:
    """The point at a share (0-1) of an evenly stepped line, and the line's direction there in radians."""
    position = share * (len(line) - 1)
    i = min(int(position), len(line) - 2)
    (x0, y0), (x1, y1) = line[i], line[i + 1]
    t = position - i
    return (x0 + (x1 - x0) * t, y0 + (y1 - y0) * t), atan2(y1 - y0, x1 - x0)


@lru_cache(256)
def track_line(layout: HexLayout, a: int, b: int) -> Line:
    """The center line of track from edge a to edge b, in units."""
    edges_apart = (b - a) % 6
    start, end = edge_middle(layout, a), edge_middle(layout, b)
    if edges_apart == 3:
        return tuple(
            (
                start[0] + (end[0] - start[0]) * i / CURVE_STEPS,
                start[1] + (end[1] - start[1]) * i / CURVE_STEPS,
            )
            for i in range(CURVE_STEPS + 1)
        )
    bearing_edge = a + edges_apart / 2 if edges_apart < 3 else b + (6 - edges_apart) / 2
    center = polar(bearing(layout, bearing_edge), 1.0 if edges_apart in (1, 5) else 2 * APOTHEM)
    radius = distance(center, start)
    start_angle = atan2(start[1] - center[1], start[0] - center[0])
    sweep = atan2(end[1] - center[1], end[0] - center[0]) - start_angle
    sweep = (sweep + pi) % (2 * pi) - pi
    return tuple(
        (
            center[0] + radius * cos(start_angle + sweep * i / CURVE_STEPS),
            center[1] + radius * sin(start_angle + sweep * i / CURVE_STEPS),
        )
        for i in range(CURVE_STEPS + 1)
    )


def spur(layout: HexLayout, edge: int, to: Point) -> Line:
    """Track from an edge to a point inside the hex, at a right angle to the edge."""
    start = edge_middle(layout, edge)
    inward = polar(bearing(layout, edge), -1.0)
    reach = max(0.0, (to[0] - start[0]) * inward[0] + (to[1] - start[1]) * inward[1])
    bend = start[0] + inward[0] * reach, start[1] + inward[1] * reach
    return bezier(start, bend, to)


def bezier(start: Point, bend: Point, end: Point) -> Line:
    """A quadratic Bézier curve in even steps."""
    return tuple(
        (
            (1 - t) ** 2 * start[0] + 2 * t * (1 - t) * bend[0] + t * t * end[0],
            (1 - t) ** 2 * start[1] + 2 * t * (1 - t) * bend[1] + t * t * end[1],
        )
        for t in (i / CURVE_STEPS for i in range(CURVE_STEPS + 1))
    )


# --- the nodes of a face --------------------------------------------------------------------


@dataclass(frozen=True)
class NodeSpec:
    """A node to be placed: its kind, its number of slots, and the edges that its track leads to."""

    kind: str
    slots: int
    exits: tuple[int, ...]


@dataclass(frozen=True)
class PlacedNode:
    """A placed node, in units: its center, the centers of its slots, and the direction of its track."""

    point: Point
    slots: tuple[Point, ...]
    heading: float | None
    radius: float


@dataclass(frozen=True)
class FaceLayout:
    """The layout of a face, in units: its placed nodes, and one line per path, in the face's order."""

    layout: HexLayout
    nodes: tuple[PlacedNode, ...]
    paths: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]

    @property
    def exits(self) -> frozenset[int]:
        """The edges with track."""
        return frozenset(int(end[1:]) for path in self.paths for end in path if end[0] == "e")

    def track_between(self, a: str, b: str) -> tuple[Line, ...]:
        """The track between two ends: the line of one path, or of two paths that meet at a junction."""
        if line := self._path_line(a, b):
            return (line,)
        for node in {end for ends in self.paths for end in ends if end[0] == "n"}:
            if (first := self._path_line(a, node)) and (second := self._path_line(node, b)):
                return first, second
        return ()

    def _path_line(self, a: str, b: str) -> Line | None:
        for ends, line in zip(self.paths, self.lines, strict=True):
            if ends == (a, b):
                return line
            if ends == (b, a):
                return line[::-1]
        return None


def rotate_end(end: str, rotation: int) -> str:
    """An end of a path (`e0`, `n1`) after a rotation by sixths of a full turn."""
    return f"e{(int(end[1:]) + rotation) % 6}" if end[0] == "e" else end


def slot_radius(slots: int) -> float:
    """The radius of a slot, in units, on a face with this number of slots in all its cities."""
    return 0.335 if slots <= 2 else 0.3 if slots == 3 else 0.285


TOWN_RADIUS = 0.17


@lru_cache(2048)
def lay_out_face(
    layout: HexLayout,
    nodes: tuple[tuple[str, int], ...],
    paths: tuple[tuple[str, str], ...],
    rotation: int = 0,
) -> FaceLayout:
    """Lay out a face: `nodes` as (kind, slots), `paths` as printed, rotated by sixths of a full turn."""
    ends = tuple((rotate_end(a, rotation), rotate_end(b, rotation)) for a, b in paths)
    specs = [
        NodeSpec(kind, slots, tuple(sorted(_node_exits(ends, f"n{i}"))))
        for i, (kind, slots) in enumerate(nodes)
    ]
    bypasses = [track_line(layout, int(a[1:]), int(b[1:])) for a, b in ends if a[0] == "e" and b[0] == "e"]
    nodes_placed = _place_nodes(layout, specs, bypasses)
    return FaceLayout(
        layout, nodes_placed, ends, tuple(_path_line(layout, a, b, specs, nodes_placed) for a, b in ends)
    )


def _node_exits(paths: Iterable[tuple[str, str]], node: str) -> Iterator[int]:
    for path in paths:
        for end, other in (path, path[::-1]):
            if end == node and other[0] == "e":
                yield int(other[1:])


def _path_line(
    layout: HexLayout, a: str, b: str, specs: Sequence[NodeSpec], placed: Sequence[PlacedNode]
) -> Line:
    if a[0] == "e" and b[0] == "e":
        return track_line(layout, int(a[1:]), int(b[1:]))
    if a[0] == "n" and b[0] == "n":
        return placed[int(a[1:])].point, placed[int(b[1:])].point
    if a[0] == "n":
        return _path_line(layout, b, a, specs, placed)[::-1]
    edge, node = int(a[1:]), int(b[1:])
    point, exits = placed[node].point, specs[node].exits
    if len(exits) == 2:
        arc = track_line(layout, edge, next(e for e in exits if e != edge))
        near = min(range(len(arc)), key=lambda i: distance(arc[i], point))
        if distance(arc[near], point) < 1e-6:
            return arc[: near + 1]
    return spur(layout, edge, point)


def _candidate_points(layout: HexLayout, spec: NodeSpec, alone: bool) -> list[tuple[Point, float | None]]:
    """Candidate points of a node, the best first, each with the direction of the track through it."""
    if len(spec.exits) == 2 and not (spec.kind == "city" and alone):
        arc = track_line(layout, *spec.exits)
        along = [point_along(arc, i / CURVE_STEPS) for i in (6, 5, 7, 4, 8, 3, 9)]
        x, y = along[0][0]
        inner = [((x * k, y * k), along[0][1]) for k in (0.76, 0.86)]
        ring = [(p, None) for p in _ring_points(layout)]
        return [*inner, *along, *ring] if spec.kind == "city" and hypot(x, y) > 0.4 else [*along, *ring]
    center: list[tuple[Point, float | None]] = [(_CENTER, None)]
    if alone:
        return center + [(p, None) for p in _ring_points(layout)]
    if not spec.exits:
        beside = [(x, y) for y in (0.0, -0.14, 0.14) for x in (-0.45, 0.45)]
        return [(point, None) for point in (*beside, (0.0, -0.45), (0.0, 0.45))]
    directions = [polar(bearing(layout, e), 1.0) for e in spec.exits]
    direction = atan2(sum(y for _, y in directions), sum(x for x, _ in directions))
    return [
        (polar(direction, d), bearing(layout, spec.exits[0])) for d in (0.44, 0.48, 0.4, 0.34, 0.3)
    ] + center


def _ring_points(layout: HexLayout) -> Iterator[Point]:
    """Points around the center, the lowest first, because the coordinate is at the top."""
    for d in (0.42, 0.3):
        yield from sorted(
            (polar(bearing(layout, e / 2), d) for e in range(12)), key=lambda p: (round(-p[1], 6), p)
        )


@dataclass(frozen=True)
class _Placement:
    """A candidate for a node: where it would be, the centers of the discs it covers, and its cost."""

    node: PlacedNode
    discs: Line
    cost: float


def _place_nodes(
    layout: HexLayout, specs: Sequence[NodeSpec], bypasses: Sequence[Line]
) -> tuple[PlacedNode, ...]:
    """The combination of candidates with the least overlap."""
    radius = slot_radius(sum(spec.slots for spec in specs))
    tracks = [track_line(layout, *spec.exits) if len(spec.exits) == 2 else () for spec in specs]
    open_edges = [edge_middle(layout, e) for spec in specs for e in spec.exits]
    candidates = [
        sorted(
            _placements(layout, stop, len(specs) == 1,
                        radius if stop.kind == "city" else TOWN_RADIUS, open_edges, [
                *bypasses, *(t for j, t in enumerate(tracks) if j != i and t)
            ]),
            key=lambda candidate: candidate.cost,
        )
        for i, stop in enumerate(specs)
    ]  # fmt: skip
    chosen, least = (), inf  # type: tuple[_Placement, ...], float
    for pick in product(*candidates):
        cost = sum(candidate.cost for candidate in pick)
        if cost < least:
            cost += sum(_overlap_cost(a, b) for a, b in combinations(pick, 2))
        if cost < least:
            chosen, least = pick, cost
    return tuple(candidate.node for candidate in chosen)


def _placements(
    layout: HexLayout,
    spec: NodeSpec,
    alone: bool,
    radius: float,
    open_edges: Iterable[Point],
    other_track: Sequence[Line],
) -> Iterator[_Placement]:
    """The candidates of a node: every point, with its slots in a row, a triangle or a square, rotated."""
    offsets = _slot_offsets(spec.slots, radius) if spec.kind in ("city", "offboard") else ()
    angles = (0,) if alone or len(offsets) < 2 else (0, 60, 120, 90, 30, 150)
    for rank, ((point, heading), angle) in enumerate(product(_candidate_points(layout, spec, alone), angles)):
        slots = tuple((point[0] + x, point[1] + y) for x, y in _rotated(offsets, angle))
        discs = slots or (point,)
        cost = 0.02 * rank / len(angles)
        for disc in discs:
            cost += 8 * max(0.0, hypot(*disc) + radius - APOTHEM)
            cost += sum(8 * max(0.0, radius + 0.12 - distance(disc, edge)) for edge in open_edges)
            cost += sum(
                6 * max(0.0, radius + 0.1 - min(distance(disc, p) for p in line)) for line in other_track
            )
        yield _Placement(PlacedNode(point, slots, heading, radius), discs, cost)


def _overlap_cost(a: _Placement, b: _Placement) -> float:
    """The cost of two nodes that are too near to each other."""
    reach = a.node.radius + b.node.radius + 0.08
    return sum(12 * max(0.0, reach - distance(p, q)) for p in a.discs for q in b.discs)


def _slot_offsets(slots: int, radius: float) -> tuple[Point, ...]:
    if slots <= 2:
        return tuple(((2 * i - slots + 1) * radius, 0.0) for i in range(slots))
    if slots == 4:
        return tuple((x * radius, y * radius) for y in (-1, 1) for x in (-1, 1))
    ring = radius / sin(pi / slots)
    return tuple(polar(2 * pi * i / slots - pi / 2, ring) for i in range(slots))


def _rotated(offsets: Iterable[Point], angle: float) -> Iterator[Point]:
    c, s = cos(radians(angle)), sin(radians(angle))
    for x, y in offsets:
        yield x * c - y * s, x * s + y * c


# --- the grid of hexes ----------------------------------------------------------------------


def column_row(coord: str, axes: Axes) -> tuple[int, int]:
    """The column and row of a coordinate such as `H10`; letters count from A = 0."""
    cut = next(i for i, c in enumerate(coord) if c.isdigit())
    letter = 0
    for c in coord[:cut]:
        letter = letter * 26 + ord(c.upper()) - ord("A") + 1
    letter, number = letter - 1, int(coord[cut:])
    return (letter, number) if dict(axes)["x"] == "letter" else (number, letter)


@dataclass(frozen=True)
class HexMetrics:
    """The size of hexes: pixels from one column to the next, and from one row to the next.

    `text_share`: how large texts are, as a share of their usual size in such hexes.
    """

    layout: HexLayout
    column: int
    row: int
    text_share: float = 1.0

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Pixels per unit along x and along y."""
        if self.layout == "pointy":
            return self.column / APOTHEM, self.row / 1.5
        return self.column / 1.5, self.row / APOTHEM

    @cached_property
    def radius(self) -> float:
        """Pixels per unit, on average."""
        return sum(self.scale) / 2

    @cached_property
    def half_size(self) -> tuple[int, int]:
        """Half the width and half the height of a hex's picture, in pixels."""
        sx, sy = self.scale
        x, y = (APOTHEM, 1.0) if self.layout == "pointy" else (1.0, APOTHEM)
        return ceil(sx * x - 1e-9) + 1, ceil(sy * y - 1e-9) + 1

    def to_pixels(self, point: Point) -> Point:
        """A point in units as a pixel of the hex's picture."""
        return self.half_size[0] + point[0] * self.scale[0], self.half_size[1] + point[1] * self.scale[1]


@dataclass(frozen=True)
class Grid:
    """Hexes on a page of `size` pixels; `origin` is the pixel of the hex at column and row `first_cell`."""

    metrics: HexMetrics
    axes: Axes
    origin: tuple[int, int]
    first_cell: tuple[int, int]
    size: tuple[int, int]

    def center(self, coord: str) -> tuple[int, int]:
        """The pixel at the center of a hex."""
        column, row = column_row(coord, self.axes)
        return (
            self.origin[0] + (column - self.first_cell[0]) * self.metrics.column,
            self.origin[1] + (row - self.first_cell[1]) * self.metrics.row,
        )

    def cropped(self, coords: Iterable[str], margin: int) -> Grid:
        """The same grid on a page that leaves `margin` pixels around these hexes."""
        across, down = zip(*map(self.center, coords), strict=True)
        w, h = self.metrics.half_size
        left, top = min(across) - w - margin, min(down) - h - margin
        return replace(
            self,
            origin=(self.origin[0] - left, self.origin[1] - top),
            size=(max(across) + w + margin - left, max(down) + h + margin - top),
        )

    def to_pixels(self, coord: str, point: Point) -> tuple[int, int]:
        """The pixel of a point of a hex, given in units."""
        x, y = self.center(coord)
        sx, sy = self.metrics.scale
        return round(x + point[0] * sx), round(y + point[1] * sy)


def fit_grid(
    coords: Iterable[str],
    layout: HexLayout,
    axes: Axes,
    size: tuple[int, int],
    margin: int,
    largest: int = 180,
) -> Grid:
    """The largest grid of these hexes on a page of `size` pixels, with `margin` pixels on each side."""
    cells = [column_row(c, axes) for c in coords]
    columns, rows = [c for c, _ in cells], [r for _, r in cells]
    width, height = max(columns) - min(columns), max(rows) - min(rows)
    ux, uy = (APOTHEM, 1.5) if layout == "pointy" else (1.5, APOTHEM)
    ox, oy = (2 * APOTHEM, 2.0) if layout == "pointy" else (2.0, 2 * APOTHEM)
    unit = min(
        (size[0] - 2 * margin - 4) / (width * ux + ox),
        (size[1] - 2 * margin - 4) / (height * uy + oy),
        largest,
    )
    column, row = max(1, int(unit * ux)), max(1, int(unit * uy))
    origin = (size[0] - width * column) // 2, (size[1] - height * row) // 2
    return Grid(HexMetrics(layout, column, row), axes, origin, (min(columns), min(rows)), size)


# --- places for texts -----------------------------------------------------------------------


@lru_cache(8)
def label_points(layout: HexLayout) -> tuple[Point, ...]:
    """Candidate points for texts, in units: near corners, near edges, in the center, around it."""
    corners = [polar(bearing(layout, e + 0.5), d) for d in (0.66, 0.58) for e in (4, 1, 3, 0, 5, 2)]
    sides = [polar(bearing(layout, e), d) for d in (0.56, 0.46) for e in (4, 1, 0, 5, 3, 2)]
    ring = [polar(bearing(layout, e / 4), d) for d in (0.64, 0.52, 0.36) for e in range(24)]
    return (*corners, *sides, _CENTER, *ring)


@lru_cache(8)
def line_points(layout: HexLayout) -> tuple[Point, ...]:
    """Candidate points for a line of text, in units: below the center, above it, then farther out."""
    levels = (0.45, -0.45, 0.52, -0.52, 0.38, -0.38, 0.58, -0.58, 0.64, 0.0)
    return tuple((x, y) for y in levels for x in (0.0, 0.12, -0.12))


def line_outline(line: Sequence[Point], width: float) -> Line:
    """The outline of a line with a width, smooth where the line bends."""
    left, right = [], []
    for i, (x, y) in enumerate(line):
        before, after = line[max(0, i - 1)], line[min(len(line) - 1, i + 1)]
        dx, dy = after[0] - before[0], after[1] - before[1]
        length = hypot(dx, dy) or 1.0
        ox, oy = -dy / length * width / 2, dx / length * width / 2
        left.append((x + ox, y + oy))
        right.append((x - ox, y - oy))
    return (*left, *reversed(right))


def dashed(line: Sequence[Point], dash: Sequence[float]) -> Iterator[Line]:
    """The strokes of a dashed line; `dash`: lengths of stroke and gap in turn, none for an unbroken line."""
    if not dash:
        yield tuple(line)
        return
    lengths = cycle(dash)
    left, drawn, stroke = next(lengths), True, [line[0]]
    for start, end in pairwise(line):
        here = start
        while (rest := distance(here, end)) > left:
            here = here[0] + (end[0] - here[0]) * left / rest, here[1] + (end[1] - here[1]) * left / rest
            stroke.append(here)
            if drawn:
                yield tuple(stroke)
            left, drawn, stroke = next(lengths), not drawn, [here]
        left -= rest
        stroke.append(end)
    if drawn and len(stroke) > 1:
        yield tuple(stroke)
