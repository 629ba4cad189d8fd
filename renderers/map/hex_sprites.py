"""The pictures of hexes: background, river, track, stops, barriers, and the outline of the last change.

Each is cached by its arguments, which are plain values. `metrics` is the size of hexes; every overlay has the
size of a hex's picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import pi

from PIL import Image

from renderers import color_math, theme
from renderers.canvas import SupersampledCanvas
from renderers.color_math import Color
from renderers.geometry import (
    HexLayout,
    Line,
    Point,
    bearing,
    corner,
    distance,
    edge_line,
    edge_middle,
    line_outline,
    outline,
    polar,
)
from renderers.hex_grid import HexMetrics
from renderers.map.face_geometry import FaceLayout, PlacedNode, lay_out_face
from renderers.theme import Palette
from renderers.views import HexView

Paths = tuple[tuple[str, str], ...]
Nodes = tuple[tuple[str, int], ...]
RiverBanks = tuple[tuple[int, ...], tuple[int, ...], str | None]


@lru_cache(16)
def hex_mask(metrics: HexMetrics) -> Image.Image:
    """The pixels of a hex in its picture; neighbors share the pixels of their edge."""
    w, h = metrics.half_size
    shape = SupersampledCanvas((2 * w, 2 * h), (0, 0, 0))
    shape.polygon([metrics.to_pixels(p) for p in outline(metrics.layout)], (255, 255, 255))
    return shape.downsampled().convert("L").point(lambda v: 255 if v >= 96 else 0).convert("1")


def face_layout(view: HexView, metrics: HexMetrics) -> FaceLayout:
    """The layout of a hex's face, with its rotation."""
    return lay_out_face(metrics.layout, view.nodes, view.paths, view.rotation)


@lru_cache(1024)
def face(
    palette: Palette,
    metrics: HexMetrics,
    color: str,
    nodes: Nodes,
    paths: Paths,
    rotation: int,
    laid: bool,
    joined: tuple[int, ...],
    river: RiverBanks | None,
) -> Image.Image:
    """A hex with its background, border, river, track and stops.

    `laid`: it is a tile, not printed on the map. `joined`: edges without a border.
    """
    w, h = metrics.half_size
    edge = palette.tile_edge if laid else palette.edge
    shape = SupersampledCanvas((2 * w, 2 * h), edge)
    background = palette.hex_colors[color]
    inset = 1 - (1.6 if laid else 1.1) / metrics.radius
    shape.polygon([metrics.to_pixels(p) for p in outline(metrics.layout, inset)], background)
    for e in joined:
        a, b = edge_line(metrics.layout, e)
        shape.polygon(
            [metrics.to_pixels(p) for p in (a, b, (b[0] * 0.9, b[1] * 0.9), (a[0] * 0.9, a[1] * 0.9))],
            background,
        )
    if river:
        course = [metrics.to_pixels(p) for p in river_line(metrics.layout, river)]
        shape.rounded_line(course, river_width(laid) * metrics.radius, palette.water)
    layout = lay_out_face(metrics.layout, nodes, paths, rotation)
    casing = color_math.blend(background, palette.casing, 0.75)
    offboard = {f"n{i}" for i, (kind, _) in enumerate(nodes) if kind == "offboard"}
    for lines in _connected_lines(layout, offboard):
        for line in lines:
            shape.line(pixel_line(metrics, line), theme.CASING_WIDTH * metrics.radius, casing)
        for line in lines:
            shape.line(pixel_line(metrics, line), theme.TRACK_WIDTH * metrics.radius, palette.track)
            shape.disc(metrics.to_pixels(line[-1]), theme.TRACK_WIDTH * metrics.radius / 2, palette.track)
    for ends in layout.paths:
        for end, other in (ends, ends[::-1]):
            if end[0] == "e" and other in offboard:
                pointer = offboard_pointer(metrics.layout, int(end[1:]))
                shape.polygon([metrics.to_pixels(p) for p in pointer], palette.track)
    for (kind, slots), spot in zip(nodes, layout.nodes, strict=True):
        _draw_stop(shape, palette, metrics, kind, slots, spot, len(_lines_ending_at(layout, spot)), casing)
    return shape.downsampled()


def pixel_line(metrics: HexMetrics, line: Line) -> list[Point]:
    """A line in pixels; at an edge of the hex it is extended beyond the edge."""
    points = list(line)
    for i, inner in ((0, points[1]), (-1, points[-2])):
        x, y = points[i]
        if x * x + y * y > 0.7:
            points[i] = x + (x - inner[0]) * 0.6, y + (y - inner[1]) * 0.6
    return [metrics.to_pixels(p) for p in points]


def _connected_lines(layout: FaceLayout, offboard: set[str]) -> list[list[Line]]:
    """The lines of track in groups that share ends, so that crossing tracks do not look connected."""
    groups: list[tuple[set[str], list[Line]]] = []
    for ends, line in zip(layout.paths, layout.lines, strict=True):
        if offboard & set(ends):
            continue
        touching = [g for g in groups if g[0] & set(ends)]
        merged = set(ends).union(*(g[0] for g in touching)), [*(x for g in touching for x in g[1]), line]
        groups = [g for g in groups if g not in touching] + [merged]
    return [lines for _, lines in groups]


def _lines_ending_at(layout: FaceLayout, node: PlacedNode) -> list[Line]:
    return [x for x in layout.lines if min(distance(x[0], node.point), distance(x[-1], node.point)) < 1e-6]


def offboard_pointer(layout: HexLayout, edge: int) -> Line:
    """Track of an off-board area, in units: a wedge that points into the hex."""
    angle = bearing(layout, edge)
    across = polar(angle + pi / 2, theme.TRACK_WIDTH * 0.8)
    root, tip = polar(angle, 0.9), polar(angle, 0.58)
    return (root[0] + across[0], root[1] + across[1]), tip, (root[0] - across[0], root[1] - across[1])


def city_outline(slots: Sequence[Point], radius: float) -> Line:
    """The area between the slots of a city with several, in units."""
    if len(slots) == 2:
        return line_outline(slots, 2 * radius)
    return (slots[0], slots[1], slots[3], slots[2]) if len(slots) == 4 else tuple(slots)


def river_width(is_tile: bool) -> float:
    """The width of a river in units: narrow on a tile, so that the track is visible."""
    return 0.06 if is_tile else 0.13


def _draw_stop(
    shape: SupersampledCanvas,
    palette: Palette,
    metrics: HexMetrics,
    kind: str,
    slots: int,
    node: PlacedNode,
    tracks: int,
    casing: Color,
) -> None:
    unit = metrics.radius
    at = metrics.to_pixels(node.point)
    if kind == "city" and slots:
        radius = node.radius * unit
        points = [metrics.to_pixels(p) for p in node.slots]
        for color, grow in ((palette.track, 1.0), (palette.stop_fill, -1.5)):
            for point in points:
                shape.disc(point, radius + grow, color)
            if len(points) == 4:
                shape.polygon([points[0], points[1], points[3], points[2]], color)
            elif len(points) == 3:
                shape.polygon(points, color)
            for a, b in pairwise(points):
                if len(points) == 2:
                    shape.line([a, b], 2 * (radius + grow), color)
        if len(points) > 1:
            for point in points:
                shape.disc(point, radius - 1.5, palette.faint)
                shape.disc(point, radius - 3, palette.stop_fill)
    elif kind == "city":
        shape.disc(at, 0.2 * unit, palette.track)
        shape.disc(at, 0.14 * unit, palette.stop_fill)
    elif kind == "town" and node.heading is not None and tracks == 2:
        across = node.heading + pi / 2
        shape.bar(at, across, 0.2 * unit, 0.2 * unit, casing)
        shape.bar(at, across, 0.18 * unit, theme.BAR_WIDTH * unit, palette.track)
    elif kind == "town":
        shape.disc(at, 0.17 * unit, palette.stop_fill)
        shape.disc(at, 0.13 * unit, palette.track)


@lru_cache(512)
def barrier_overlay(palette: Palette, metrics: HexMetrics, edges: tuple[int, ...]) -> Image.Image:
    """The inner halves of the bars along edges that no track crosses."""
    w, h = metrics.half_size
    shape = SupersampledCanvas((2 * w, 2 * h))
    for edge in edges:
        a, b = edge_line(metrics.layout, edge)
        ends = [metrics.to_pixels(_interpolate(a, b, t)) for t in (0.06, 0.94)]
        shape.rounded_line(ends, 2.0 * theme.BARRIER_WIDTH * metrics.radius, palette.casing)
        shape.rounded_line(ends, 1.5 * theme.BARRIER_WIDTH * metrics.radius, palette.barrier)
    return shape.downsampled()


def river_line(layout: HexLayout, river: RiverBanks) -> Line:
    """The middle of a river through a hex; `river`: the edges of either bank, and the bank of the stops."""
    west, east, stations = river
    ends = [corner(layout, e) for e in range(6) if (e in west) != ((e + 1) % 6 in west)]
    far_bank = {"west": east, "east": west}.get(stations or "", ())
    midpoints = [edge_middle(layout, edge) for edge in far_bank]
    direction = (sum(x for x, _ in midpoints), sum(y for _, y in midpoints))
    length = (direction[0] ** 2 + direction[1] ** 2) ** 0.5 or 1.0
    bend = (direction[0] / length * 0.42, direction[1] / length * 0.42)
    a, b = ends
    if not midpoints:
        bend = ((a[0] + b[0]) / 4, (a[1] + b[1]) / 4)
    return tuple(_parabola_point(a, bend, b, t / 12) for t in range(13))


def _parabola_point(a: Point, through: Point, b: Point, t: float) -> Point:
    """A point of the parabola from a to b whose midpoint is `through`."""
    control = tuple(2 * m - (x + y) / 2 for m, x, y in zip(through, a, b, strict=True))
    return _interpolate(
        _interpolate(a, (control[0], control[1]), t), _interpolate((control[0], control[1]), b, t), t
    )


def _interpolate(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


@lru_cache(16)
def last_change_outline(palette: Palette, metrics: HexMetrics) -> Image.Image:
    """The double outline of a hex that changed last."""
    w, h = metrics.half_size
    shape = SupersampledCanvas((2 * w, 2 * h))
    for e in range(6):
        for color, outer, inner in ((palette.casing, 1.0, 0.895), (palette.last_change, 0.99, 0.915)):
            a, b = edge_line(metrics.layout, e)
            shape.polygon(
                [
                    metrics.to_pixels((x * k, y * k))
                    for (x, y), k in ((a, outer), (b, outer), (b, inner), (a, inner))
                ],
                color,
            )
    return shape.downsampled()
