"""Where the stops and the track of a face lie, in units.

Theory of operation. A stop with two exits lies on the arc between them, any other stop where its exits meet.
Where a face has several stops, or track that passes a stop, candidates are tried in a fixed order and the
placement with the least overlap wins. Texts are then placed, most important first, in the space that is left
(`free_space`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from math import atan2, cos, hypot, inf, pi, radians, sin

from renderers.geometry import (
    _CENTER,
    APOTHEM,
    CURVE_STEPS,
    HexLayout,
    Line,
    Point,
    bearing,
    distance,
    edge_middle,
    point_along,
    polar,
    spur,
    track_line,
)


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
