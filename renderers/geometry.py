"""The geometry of one hex: its corners and edges, track between them, lines.

Theory of operation. A hex is described in *units*: its center is (0, 0), its corners are at distance 1, the
midpoints of its edges at `APOTHEM`; x grows to the right, y downwards. Edge e lies in the direction
`bearing(layout, e)`, the only difference between a pointy and a flat layout. `hex_grid` maps units to pixels,
`face_geometry` places stops and track.

Track between two edges is an arc that meets both edges at a right angle: a straight line across, a gentle
curve around the center of the neighbor between them, or a sharp curve around their common corner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import cycle, pairwise
from math import atan2, cos, hypot, pi, radians, sin, sqrt
from typing import Literal

Point = tuple[float, float]
Line = tuple[Point, ...]
HexLayout = Literal["flat", "pointy"]

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
