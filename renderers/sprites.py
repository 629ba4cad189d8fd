"""Small cached pictures: hex faces, tokens, plates and signs.

A face has its background, track, towns and empty slots; everything else is pasted over it. Each function is
cached by its arguments, which are plain values. `metrics` is the size of hexes; every overlay has the size of
a hex's picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import cos, pi, sin

from PIL import Image

from renderers import theme
from renderers.canvas import (
    CAP_HEIGHT,
    Canvas,
    SupersampledCanvas,
    fit_font_size,
    text_width,
)
from renderers.geometry import (
    FaceLayout,
    HexLayout,
    HexMetrics,
    Line,
    PlacedNode,
    Point,
    bearing,
    corner,
    dashed,
    distance,
    edge_line,
    edge_middle,
    lay_out_face,
    line_outline,
    outline,
    polar,
)
from renderers.theme import Color, Palette
from renderers.views import Badge, HexView, RouteSegment, Structure

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
    river: RiverBanks | None = None,
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
    casing = theme.blend(background, palette.casing, 0.75)
    offboard = {f"n{i}" for i, (kind, _) in enumerate(nodes) if kind == "offboard"}
    for lines in _connected_lines(layout, offboard):
        for line in lines:
            shape.line(_pixel_line(metrics, line), theme.CASING_WIDTH * metrics.radius, casing)
        for line in lines:
            shape.line(_pixel_line(metrics, line), theme.TRACK_WIDTH * metrics.radius, palette.track)
            shape.disc(metrics.to_pixels(line[-1]), theme.TRACK_WIDTH * metrics.radius / 2, palette.track)
    for ends in layout.paths:
        for end, other in (ends, ends[::-1]):
            if end[0] == "e" and other in offboard:
                pointer = offboard_pointer(metrics.layout, int(end[1:]))
                shape.polygon([metrics.to_pixels(p) for p in pointer], palette.track)
    for (kind, slots), spot in zip(nodes, layout.nodes, strict=True):
        _draw_stop(shape, palette, metrics, kind, slots, spot, len(_lines_ending_at(layout, spot)), casing)
    return shape.downsampled()


def _pixel_line(metrics: HexMetrics, line: Line) -> list[Point]:
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
def token(badge: Badge, diameter: int) -> Image.Image:
    """A station token or price token, with the company's colour and symbol."""
    shape = SupersampledCanvas((diameter, diameter))
    radius = diameter / 2
    color = theme.parse_color(badge.color)
    ring = theme.BLACK if theme.contrast(color, theme.BLACK) > 2 else theme.blend(color, theme.WHITE, 0.6)
    shape.disc((radius, radius), radius, ring)
    shape.disc((radius, radius), radius - 1.3, color)
    canvas = Canvas.copy_of(shape.downsampled())
    text_color = theme.readable_on(theme.parse_color(badge.text_color), color)
    _write_symbol(canvas, badge.sym, diameter, 1.0, text_color)
    return canvas.image


@lru_cache(512)
def reserved_slot(palette: Palette, badge: Badge, diameter: int) -> Image.Image:
    """A slot that is reserved for a company: its symbol in grey in a dashed ring of its colour."""
    shape = SupersampledCanvas((diameter, diameter))
    radius = diameter / 2
    ring_color = theme.blend(theme.parse_color(badge.color), palette.stop_fill, 0.25)
    shape.disc((radius, radius), radius - 1, ring_color)
    for i in range(6):
        shape.bar((radius, radius), pi * i / 6, radius, diameter * 0.09, palette.stop_fill)
    shape.disc((radius, radius), radius - max(2.0, diameter * 0.09), palette.stop_fill)
    canvas = Canvas.copy_of(shape.downsampled())
    _write_symbol(canvas, badge.sym, diameter, 0.88, palette.text_on(palette.stop_fill, 0.35))
    return canvas.image


def _write_symbol(canvas: Canvas, sym: str, diameter: int, share: float, color: Color) -> None:
    """Write a company's symbol into a disc: in one line, or in two where the letters become larger.

    `share`: of the diameter that the letters may use.
    """
    radius = diameter / 2
    size = fit_font_size(sym, round(diameter * 0.52 * share), diameter * 0.86 * share)
    halves = (sym[: len(sym) // 2], sym[len(sym) // 2 :])
    half_size = min(
        fit_font_size(half, round(diameter * 0.42 * share), diameter * 0.6 * share) for half in halves
    )
    if len(sym) < 4 or sym != sym.upper() or half_size < 1.1 * size:
        canvas.write((radius, radius), sym, size, color)
        return
    for half, side in zip(halves, (-1, 1), strict=True):
        canvas.write((radius, radius + side * half_size * 0.41), half, half_size, color)


@lru_cache(64)
def grade(letter: str, size: int, color: Color) -> Image.Image:
    """The letter of a tile's grade, in the tile's colour on a dark disc."""
    diameter = round(size * 1.15)
    shape = SupersampledCanvas((diameter, diameter))
    shape.disc((diameter / 2, diameter / 2), diameter / 2, theme.BLACK)
    canvas = Canvas.copy_of(shape.downsampled())
    text_color = theme.readable_on(color, theme.BLACK)
    canvas.write((diameter / 2, diameter / 2), letter, round(size * 0.9), text_color)
    return canvas.image


@lru_cache(128)
def plate(
    text: str, size: int, color: Color, fill: Color, border: Color, is_tight: bool = False
) -> Image.Image:
    """Text on a rounded plate; `is_tight`: without a margin."""
    width, height = plate_size(text, size, is_tight)
    shape = SupersampledCanvas((width, height))
    edge, radius = (1.0, 4.0) if is_tight else (1.3, height / 2)
    shape.rounded_rectangle(0, 0, width, height, radius, border)
    shape.rounded_rectangle(edge, edge, width - edge, height - edge, radius - edge, fill)
    canvas = Canvas.copy_of(shape.downsampled())
    canvas.write((width / 2, height / 2), text, size, color)
    return canvas.image


def plate_size(text: str, size: int, is_tight: bool = False) -> tuple[int, int]:
    """The width and height of a plate in pixels."""
    if is_tight:
        return text_width(text, size) + 5, round(size * CAP_HEIGHT) + 5
    height = round(size * CAP_HEIGHT * 1.55)
    return max(height, text_width(text, size) + round(size * 0.55)), height


@lru_cache(64)
def structure(palette: Palette, view: Structure, size: int) -> Image.Image:
    """The sign of a mine or bridge with its bonus; pale, without the bonus, where it may still be built."""
    width, height = structure_size(view, size)
    background = theme.BLACK if view.is_built else palette.plate
    color = palette.text_on(background, 0.0 if view.is_built else 0.35)
    shape = SupersampledCanvas((width, height))
    shape.rounded_rectangle(0, 0, width, height, height * 0.3, color)
    shape.rounded_rectangle(1.3, 1.3, width - 1.3, height - 1.3, height * 0.3 - 1.3, background)
    _STRUCTURE_ICONS[view.kind](shape, height * 0.62, height / 2, height * 0.36, color)
    canvas = Canvas.copy_of(shape.downsampled())
    if view.is_built:
        canvas.write((height * 1.16, height / 2), f"+{view.bonus}", size, color, align="l")
    return canvas.image


def structure_size(view: Structure, size: int) -> tuple[int, int]:
    """The width and height of a structure's sign in pixels."""
    height = round(size * CAP_HEIGHT * 1.9)
    text = text_width(f"+{view.bonus}", size) + round(size * 0.3) if view.is_built else 2
    return round(height * 1.16) + text, height


def _draw_hammers(shape: SupersampledCanvas, x: float, y: float, size: float, color: Color) -> None:
    """Two crossed hammers, the map symbol of a mine."""
    for side in (-1, 1):
        head = x + side * size * 0.6, y - size * 0.6
        shape.line([(x - side * size, y + size), head], size * 0.3, color)
        shape.bar(head, pi / 4 * side, size * 0.66, size * 0.46, color)


def _draw_arch(shape: SupersampledCanvas, x: float, y: float, size: float, color: Color) -> None:
    """A bridge: a deck on an arch."""
    shape.line([(x - size * 1.2, y - size * 0.45), (x + size * 1.2, y - size * 0.45)], size * 0.36, color)
    arch = [(x - size * cos(pi * i / 8), y + size * (0.75 - 1.1 * sin(pi * i / 8))) for i in range(9)]
    shape.line(arch, size * 0.34, color)
    for side in (-1, 1):
        shape.line([(x + side * size, y - size * 0.45), (x + side * size, y + size * 0.8)], size * 0.3, color)


_STRUCTURE_ICONS = {"mine": _draw_hammers, "bridge": _draw_arch}


@lru_cache(64)
def terrain(palette: Palette, kind: str, size: int) -> Image.Image:
    """The sign of a terrain, `size` pixels wide: peaks or waves."""
    height = round(size * 0.62)
    shape = SupersampledCanvas((size, height))
    if kind in theme.HIGH_TERRAIN:
        snow = height * 0.36
        for left, right, peak in ((0.3, 1.0, 0.28), (0.0, 0.72, 0.0)):
            x0, x1, y = left * size, right * size, peak * height
            mid = (x0 + x1) / 2
            shape.polygon([(x0, height), (mid, y), (x1, height)], palette.hill)
            lean = (x1 - x0) / 2 * snow / height
            shape.polygon([(mid - lean, y + snow), (mid, y), (mid + lean, y + snow)], theme.WHITE)
            shape.line([(mid - lean, y + snow), (mid, y), (mid + lean, y + snow)], 1.2, palette.hill)
    else:
        waves = 2.0
        for level in (0.3, 0.72):
            points = [
                (x, height * level + height * 0.14 * sin(2 * pi * x / size * waves))
                for x in _even_steps(1.5, size - 1.5, 24)
            ]
            shape.line(points, max(2.0, size * 0.075), palette.water)
    return shape.downsampled()


def _even_steps(start: float, end: float, count: int) -> list[float]:
    return [start + (end - start) * i / count for i in range(count + 1)]


@lru_cache(512)
def border_overlay(
    palette: Palette, metrics: HexMetrics, borders: tuple[tuple[int, str, int], ...]
) -> Image.Image:
    """The inner halves of the bars along impassable edges and edges that cost money."""
    w, h = metrics.half_size
    shape = SupersampledCanvas((2 * w, 2 * h))
    for edge, kind, _ in borders:
        a, b = edge_line(metrics.layout, edge)
        if kind == "impassable":
            ends = [metrics.to_pixels(_interpolate(a, b, t)) for t in (0.06, 0.94)]
            shape.rounded_line(ends, 2.0 * theme.BARRIER_WIDTH * metrics.radius, palette.casing)
            shape.rounded_line(ends, 1.5 * theme.BARRIER_WIDTH * metrics.radius, palette.barrier)
        else:
            fill = palette.water if kind == "water" else palette.hill
            for t in (0.1, 0.4, 0.7):
                part = [metrics.to_pixels(_interpolate(a, b, x)) for x in (t, t + 0.2)]
                shape.rounded_line(part, theme.BARRIER_WIDTH * metrics.radius, fill)
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


DASHES: tuple[tuple[float, ...], ...] = (
    (), (0.34, 0.16), (0.08, 0.16), (0.34, 0.14, 0.08, 0.14), (0.6, 0.16), (0.16, 0.12),
)  # fmt: skip
"""The dash of each route: lengths of stroke and gap in turn, in units; none for an unbroken line."""


def route_lines(
    layout: FaceLayout, segment: RouteSegment, areas: frozenset[str]
) -> tuple[tuple[Point, ...], ...]:
    """A part of a route along the track. areas: the off-board nodes; there it ends at the pointer, before the
    name and the values of the area."""
    for edge, node in ((segment.a, segment.b), (segment.b, segment.a)):
        if node in areas and edge[0] == "e":
            number = int(edge[1:])
            return ((edge_middle(layout.layout, number), polar(bearing(layout.layout, number), 0.68)),)
    return tuple(layout.track_between(segment.a, segment.b))


@lru_cache(256)
def route_overlay(
    palette: Palette,
    metrics: HexMetrics,
    layout: FaceLayout,
    segments: tuple[RouteSegment, ...],
    areas: frozenset[str] = frozenset(),
) -> Image.Image:
    """The routes on a hex along the track, each in its colour and dash; `areas`: as in `route_lines`."""
    w, h = metrics.half_size
    shape = SupersampledCanvas((2 * w, 2 * h))
    lines = [(segment, line) for segment in segments for line in route_lines(layout, segment, areas)]
    for _, line in lines:
        pixels = _pixel_line(metrics, line)
        shape.line(pixels, (theme.ROUTE_WIDTH + 0.08) * metrics.radius, palette.casing)
        for end in (pixels[0], pixels[-1]):
            shape.disc(end, (theme.ROUTE_WIDTH + 0.08) * metrics.radius / 2, palette.casing)
    for segment, line in lines:
        color, dash = route_color(palette, segment.route), DASHES[segment.route % len(DASHES)]
        for stroke in dashed(line, dash):
            pixels = _pixel_line(metrics, stroke)
            shape.line(pixels, theme.ROUTE_WIDTH * metrics.radius, color)
            if not dash:
                for end in (pixels[0], pixels[-1]):
                    shape.disc(end, theme.ROUTE_WIDTH * metrics.radius / 2, color)
    return shape.downsampled()


def route_color(palette: Palette, route: int) -> Color:
    return palette.route_colors[route % len(palette.route_colors)]


def edge_crossings(metrics: HexMetrics, segments: tuple[RouteSegment, ...]) -> list[tuple[Point, int]]:
    """(pixel, route) of each place where a route crosses an edge of the hex."""
    return [
        (metrics.to_pixels(edge_middle(metrics.layout, int(end[1:]))), segment.route)
        for segment in segments
        for end in (segment.a, segment.b)
        if end[0] == "e"
    ]


@lru_cache(64)
def route_number(route: int, color: Color, diameter: int) -> Image.Image:
    """The number of a route, from 1, on a disc of its colour; `route` counts from 0."""
    shape = SupersampledCanvas((diameter, diameter))
    radius = diameter / 2
    shape.disc((radius, radius), radius, theme.WHITE)
    shape.disc((radius, radius), radius - 1.2, color)
    canvas = Canvas.copy_of(shape.downsampled())
    canvas.write((radius, radius), str(route + 1), round(diameter * 0.8), theme.WHITE)
    return canvas.image
