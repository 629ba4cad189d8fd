"""Small pictures that are drawn once for each size and kept: faces, tokens, signs.

A face is drawn with its ground, track, towns and empty slots, everything else goes on top of
it. Each function is cached by its arguments, which are plain values.
"""

from __future__ import annotations

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
    HexMetrics,
    Line,
    PlacedNode,
    Point,
    bearing,
    corner,
    distance,
    edge_line,
    edge_middle,
    lay_out_face,
    outline,
    polar,
)
from renderers.theme import Color
from renderers.views import Badge, HexView, RouteSegment, Structure

Paths = tuple[tuple[str, str], ...]
Nodes = tuple[tuple[str, int], ...]


@lru_cache(16)
def hex_mask(mesh: HexMetrics) -> Image.Image:
    """The pixels of a hex within its box; neighbours share their edge's pixels."""
    w, h = mesh.half_size
    fine = SupersampledCanvas((2 * w, 2 * h), (0, 0, 0))
    fine.polygon([mesh.to_pixels(p) for p in outline(mesh.layout)], (255, 255, 255))
    return fine.downsampled().convert("L").point(lambda v: 255 if v >= 96 else 0).convert("1")


def face_layout(view: HexView, mesh: HexMetrics) -> FaceLayout:
    """The face of a hex laid out as it lies."""
    return lay_out_face(mesh.layout, view.nodes, view.paths, view.turns)


@lru_cache(1024)
def face(
    mesh: HexMetrics, color: str, nodes: Nodes, paths: Paths, turns: int, laid: bool, joined: tuple[int, ...]
) -> Image.Image:
    """A hex with its ground, edge, track and stops; `joined`: edges that are not drawn."""
    w, h = mesh.half_size
    edge = theme.TILE_EDGE if laid else theme.EDGE
    fine = SupersampledCanvas((2 * w, 2 * h), edge)
    ground = theme.HEX_COLORS[color]
    inset = 1 - (1.6 if laid else 1.1) / mesh.radius
    fine.polygon([mesh.to_pixels(p) for p in outline(mesh.layout, inset)], ground)
    for e in joined:
        a, b = edge_line(mesh.layout, e)
        fine.polygon(
            [mesh.to_pixels(p) for p in (a, b, (b[0] * 0.9, b[1] * 0.9), (a[0] * 0.9, a[1] * 0.9))], ground
        )
    laid_out = lay_out_face(mesh.layout, nodes, paths, turns)
    offboard = {f"n{i}" for i, (kind, _) in enumerate(nodes) if kind == "offboard"}
    for lines in _connected_lines(laid_out, offboard):
        for line in lines:
            fine.line(_pixel_line(mesh, line), theme.CASING_WIDTH * mesh.radius, _casing_color(ground))
        for line in lines:
            fine.line(_pixel_line(mesh, line), theme.TRACK_WIDTH * mesh.radius, theme.TRACK)
            fine.disc(mesh.to_pixels(line[-1]), theme.TRACK_WIDTH * mesh.radius / 2, theme.TRACK)
    for ends in laid_out.paths:
        for end, other in (ends, ends[::-1]):
            if end[0] == "e" and other in offboard:
                _draw_offboard_pointer(fine, mesh, int(end[1:]))
    for (kind, slots), spot in zip(nodes, laid_out.nodes, strict=True):
        _draw_stop(fine, mesh, kind, slots, spot, len(_lines_ending_at(laid_out, spot)), ground)
    return fine.downsampled()


def _casing_color(ground: Color) -> Color:
    return theme.blend(ground, theme.PAPER, 0.75)


def _pixel_line(mesh: HexMetrics, line: Line) -> list[Point]:
    """A line in pixels; where it ends at an edge it is drawn on over it."""
    points = list(line)
    for i, inner in ((0, points[1]), (-1, points[-2])):
        x, y = points[i]
        if x * x + y * y > 0.7:
            points[i] = x + (x - inner[0]) * 0.6, y + (y - inner[1]) * 0.6
    return [mesh.to_pixels(p) for p in points]


def _connected_lines(laid_out: FaceLayout, offboard: set[str]) -> list[list[Line]]:
    """Lines of track in groups that share ends, so that tracks which only cross are told apart."""
    groups: list[tuple[set[str], list[Line]]] = []
    for ends, line in zip(laid_out.paths, laid_out.lines, strict=True):
        if offboard & set(ends):
            continue
        touching = [g for g in groups if g[0] & set(ends)]
        merged = set(ends).union(*(g[0] for g in touching)), [*(x for g in touching for x in g[1]), line]
        groups = [g for g in groups if g not in touching] + [merged]
    return [lines for _, lines in groups]


def _lines_ending_at(laid_out: FaceLayout, spot: PlacedNode) -> list[Line]:
    return [x for x in laid_out.lines if min(distance(x[0], spot.point), distance(x[-1], spot.point)) < 1e-6]


def _draw_offboard_pointer(fine: SupersampledCanvas, mesh: HexMetrics, edge: int) -> None:
    """Track that leads off the board: a wedge inwards."""
    angle = bearing(mesh.layout, edge)
    across = polar(angle + pi / 2, theme.TRACK_WIDTH * 0.8)
    root = polar(angle, 0.9)
    tip = polar(angle, 0.5)
    fine.polygon(
        [
            mesh.to_pixels((root[0] + across[0], root[1] + across[1])),
            mesh.to_pixels(tip),
            mesh.to_pixels((root[0] - across[0], root[1] - across[1])),
        ],
        theme.TRACK,
    )


def _draw_stop(
    fine: SupersampledCanvas,
    mesh: HexMetrics,
    kind: str,
    slots: int,
    spot: PlacedNode,
    tracks: int,
    ground: Color,
) -> None:
    unit = mesh.radius
    at = mesh.to_pixels(spot.point)
    if kind == "city" and slots:
        radius = spot.radius * unit
        points = [mesh.to_pixels(p) for p in spot.slots]
        for colour, grown in ((theme.TRACK, 1.0), (theme.STOP_FILL, -1.5)):
            for point in points:
                fine.disc(point, radius + grown, colour)
            if len(points) == 4:
                fine.polygon([points[0], points[1], points[3], points[2]], colour)
            elif len(points) == 3:
                fine.polygon(points, colour)
            for a, b in pairwise(points):
                if len(points) == 2:
                    fine.line([a, b], 2 * (radius + grown), colour)
        if len(points) > 1:
            for point in points:
                fine.disc(point, radius - 1.5, theme.FAINT)
                fine.disc(point, radius - 3, theme.STOP_FILL)
    elif kind == "city":
        fine.disc(at, 0.2 * unit, theme.TRACK)
        fine.disc(at, 0.14 * unit, theme.STOP_FILL)
    elif kind == "town" and spot.heading is not None and tracks == 2:
        across = spot.heading + pi / 2
        fine.bar(at, across, 0.2 * unit, 0.2 * unit, _casing_color(ground))
        fine.bar(at, across, 0.18 * unit, theme.BAR_WIDTH * unit, theme.TRACK)
    elif kind == "town":
        fine.disc(at, 0.17 * unit, theme.STOP_FILL)
        fine.disc(at, 0.13 * unit, theme.TRACK)


@lru_cache(512)
def token(badge: Badge, diameter: int) -> Image.Image:
    """A station or price token: the company's colour and letters."""
    fine = SupersampledCanvas((diameter, diameter))
    half = diameter / 2
    fill = theme.parse_color(badge.color)
    fine.disc((half, half), half, theme.INK)
    fine.disc((half, half), half - 1.3, fill)
    image = fine.downsampled()
    page = Canvas.copy_of(image)
    size = fit_font_size(badge.sym, round(diameter * 0.52), diameter * 0.86)
    page.write((half, half), badge.sym, size, theme.readable_on(theme.parse_color(badge.text_color), fill))
    return page.image


@lru_cache(512)
def reserved_slot(badge: Badge, diameter: int) -> Image.Image:
    """A slot kept for a company: its letters in grey within a broken ring of its colour."""
    fine = SupersampledCanvas((diameter, diameter))
    half = diameter / 2
    rim = theme.blend(theme.parse_color(badge.color), theme.PAPER, 0.25)
    fine.disc((half, half), half - 1, rim)
    for i in range(6):
        fine.bar((half, half), pi * i / 6, half, diameter * 0.09, theme.PAPER)
    fine.disc((half, half), half - max(2.0, diameter * 0.09), theme.PAPER)
    page = Canvas.copy_of(fine.downsampled())
    size = fit_font_size(badge.sym, round(diameter * 0.46), diameter * 0.74)
    page.write((half, half), badge.sym, size, theme.MUTED)
    return page.image


@lru_cache(128)
def plate(words: str, size: int, ink: Color, fill: Color, rim: Color) -> Image.Image:
    """Words on a rounded plate."""
    width, height = plate_size(words, size)
    fine = SupersampledCanvas((width, height))
    fine.rounded_rectangle(0, 0, width, height, height / 2, rim)
    fine.rounded_rectangle(1.3, 1.3, width - 1.3, height - 1.3, height / 2 - 1.3, fill)
    page = Canvas.copy_of(fine.downsampled())
    page.write((width / 2, height / 2), words, size, ink)
    return page.image


def plate_size(words: str, size: int) -> tuple[int, int]:
    """Width and height of such a plate in pixels."""
    height = round(size * CAP_HEIGHT * 1.55)
    return max(height, text_width(words, size) + round(size * 0.55)), height


@lru_cache(64)
def structure(site: Structure, size: int) -> Image.Image:
    """A mine or a bridge with what it is worth; a pale sign where one may still be built."""
    width, height = structure_size(site, size)
    ink, paper = (theme.PAPER, theme.INK) if site.is_built else (theme.MUTED, theme.PAPER)
    fine = SupersampledCanvas((width, height))
    fine.rounded_rectangle(0, 0, width, height, height * 0.3, ink)
    fine.rounded_rectangle(1.3, 1.3, width - 1.3, height - 1.3, height * 0.3 - 1.3, paper)
    _STRUCTURE_ICONS[site.kind](fine, height * 0.62, height / 2, height * 0.36, ink)
    page = Canvas.copy_of(fine.downsampled())
    if site.is_built:
        page.write((height * 1.16, height / 2), f"+{site.bonus}", size, ink, align="l")
    return page.image


def structure_size(site: Structure, size: int) -> tuple[int, int]:
    """Width and height of such a sign in pixels."""
    height = round(size * CAP_HEIGHT * 1.9)
    words = text_width(f"+{site.bonus}", size) + round(size * 0.3) if site.is_built else 2
    return round(height * 1.16) + words, height


def _draw_hammers(fine: SupersampledCanvas, x: float, y: float, half: float, ink: Color) -> None:
    """Two crossed hammers, as maps mark mines."""
    for side in (-1, 1):
        head = x + side * half * 0.6, y - half * 0.6
        fine.line([(x - side * half, y + half), head], half * 0.3, ink)
        fine.bar(head, pi / 4 * side, half * 0.66, half * 0.46, ink)


def _draw_arch(fine: SupersampledCanvas, x: float, y: float, half: float, ink: Color) -> None:
    """A deck on an arch."""
    fine.line([(x - half * 1.2, y - half * 0.45), (x + half * 1.2, y - half * 0.45)], half * 0.36, ink)
    arch = [(x - half * cos(pi * i / 8), y + half * (0.75 - 1.1 * sin(pi * i / 8))) for i in range(9)]
    fine.line(arch, half * 0.34, ink)
    for side in (-1, 1):
        fine.line([(x + side * half, y - half * 0.45), (x + side * half, y + half * 0.8)], half * 0.3, ink)


_STRUCTURE_ICONS = {"mine": _draw_hammers, "bridge": _draw_arch}


@lru_cache(64)
def terrain(kind: str, size: int) -> Image.Image:
    """The sign of a terrain, `size` pixels wide: peaks for high ground, waves for water."""
    high = round(size * 0.62)
    fine = SupersampledCanvas((size, high))
    if kind in theme.HIGH_TERRAIN:
        snow = high * 0.36
        for left, right, peak in ((0.3, 1.0, 0.28), (0.0, 0.72, 0.0)):
            x0, x1, y = left * size, right * size, peak * high
            mid = (x0 + x1) / 2
            fine.polygon([(x0, high), (mid, y), (x1, high)], theme.HILL)
            lean = (x1 - x0) / 2 * snow / high
            fine.polygon([(mid - lean, y + snow), (mid, y), (mid + lean, y + snow)], theme.PAPER)
            fine.line([(mid - lean, y + snow), (mid, y), (mid + lean, y + snow)], 1.2, theme.HILL)
    else:
        waves = 2.0
        for level in (0.3, 0.72):
            points = [
                (x, high * level + high * 0.14 * sin(2 * pi * x / size * waves))
                for x in _even_steps(1.5, size - 1.5, 24)
            ]
            fine.line(points, max(2.0, size * 0.075), theme.WATER)
    return fine.downsampled()


def _even_steps(start: float, end: float, count: int) -> list[float]:
    return [start + (end - start) * i / count for i in range(count + 1)]


@lru_cache(512)
def border_overlay(mesh: HexMetrics, borders: tuple[tuple[int, str, int], ...]) -> Image.Image:
    """The inner half of the bars along closed or costly edges."""
    w, h = mesh.half_size
    fine = SupersampledCanvas((2 * w, 2 * h))
    for edge, kind, _ in borders:
        a, b = edge_line(mesh.layout, edge)
        if kind == "impassable":
            ends = [mesh.to_pixels(_interpolate(a, b, t)) for t in (0.06, 0.94)]
            fine.rounded_line(ends, 2.0 * theme.BARRIER_WIDTH * mesh.radius, theme.PAPER)
            fine.rounded_line(ends, 1.5 * theme.BARRIER_WIDTH * mesh.radius, theme.BARRIER)
        else:
            fill = theme.WATER if kind == "water" else theme.HILL
            for t in (0.1, 0.4, 0.7):
                part = [mesh.to_pixels(_interpolate(a, b, x)) for x in (t, t + 0.2)]
                fine.rounded_line(part, theme.BARRIER_WIDTH * mesh.radius, fill)
    return fine.downsampled()


@lru_cache(256)
def river_overlay(
    mesh: HexMetrics, west: tuple[int, ...], east: tuple[int, ...], stations: str | None, width: float
) -> Image.Image:
    """A river between the two banks of a hex, from corner to corner, clear of the stops' bank."""
    w, h = mesh.half_size
    fine = SupersampledCanvas((2 * w, 2 * h))
    ends = [corner(mesh.layout, e) for e in range(6) if (e in west) != ((e + 1) % 6 in west)]
    far = {"west": east, "east": west}.get(stations or "", ())
    middles = [edge_middle(mesh.layout, edge) for edge in far]
    lean = (sum(x for x, _ in middles), sum(y for _, y in middles))
    length = (lean[0] ** 2 + lean[1] ** 2) ** 0.5 or 1.0
    bend = (lean[0] / length * 0.42, lean[1] / length * 0.42)
    a, b = ends
    if not middles:
        bend = ((a[0] + b[0]) / 4, (a[1] + b[1]) / 4)
    line = [mesh.to_pixels(_parabola_point(a, bend, b, t / 12)) for t in range(13)]
    fine.rounded_line(line, width * mesh.radius, theme.WATER)
    return fine.downsampled()


def _parabola_point(a: Point, through: Point, b: Point, t: float) -> Point:
    """A point of the parabola from a to b through a third in its middle."""
    mid = tuple(2 * m - (x + y) / 2 for m, x, y in zip(through, a, b, strict=True))
    return _interpolate(_interpolate(a, (mid[0], mid[1]), t), _interpolate((mid[0], mid[1]), b, t), t)


def _interpolate(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


@lru_cache(16)
def last_change_outline(mesh: HexMetrics) -> Image.Image:
    """The double outline of the last change."""
    w, h = mesh.half_size
    fine = SupersampledCanvas((2 * w, 2 * h))
    for e in range(6):
        for colour, outer, inner in ((theme.PAPER, 1.0, 0.895), (theme.LAST_CHANGE, 0.99, 0.915)):
            a, b = edge_line(mesh.layout, e)
            fine.polygon(
                [
                    mesh.to_pixels((x * k, y * k))
                    for (x, y), k in ((a, outer), (b, outer), (b, inner), (a, inner))
                ],
                colour,
            )
    return fine.downsampled()


@lru_cache(256)
def route_overlay(mesh: HexMetrics, laid_out: FaceLayout, legs: tuple[RouteSegment, ...]) -> Image.Image:
    """Routes on a hex: coloured lines along the track."""
    w, h = mesh.half_size
    fine = SupersampledCanvas((2 * w, 2 * h))
    found = [(leg, line) for leg in legs for line in laid_out.track_between(leg.a, leg.b)]
    for width, pale in ((theme.ROUTE_WIDTH + 0.08, True), (theme.ROUTE_WIDTH, False)):
        for leg, line in found:
            colour = theme.PAPER if pale else route_color(leg.route)
            pixels = _pixel_line(mesh, line)
            fine.line(pixels, width * mesh.radius, colour)
            for end in (pixels[0], pixels[-1]):
                fine.disc(end, width * mesh.radius / 2, colour)
    return fine.downsampled()


def route_color(route: int) -> Color:
    return theme.ROUTE_COLORS[route % len(theme.ROUTE_COLORS)]


def edge_crossings(mesh: HexMetrics, legs: tuple[RouteSegment, ...]) -> list[tuple[Point, int]]:
    """Where the routes of a hex cross its edges, in the picture of the hex."""
    return [
        (mesh.to_pixels(edge_middle(mesh.layout, int(end[1:]))), leg.route)
        for leg in legs
        for end in (leg.a, leg.b)
        if end[0] == "e"
    ]
