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
from renderers.canvas import CAP, Fine, Page, fitting, text_width
from renderers.hexes import (
    Line,
    Mesh,
    Plan,
    Point,
    Spot,
    bearing,
    corner,
    distance,
    edge_line,
    edge_middle,
    outline,
    plan,
    polar,
)
from renderers.theme import Colour
from renderers.views import Badge, HexView, Site, Stretch

Paths = tuple[tuple[str, str], ...]
Nodes = tuple[tuple[str, int], ...]


@lru_cache(16)
def mask(mesh: Mesh) -> Image.Image:
    """The pixels of a hex within its box; neighbours share their edge's pixels."""
    w, h = mesh.box
    fine = Fine((2 * w, 2 * h), (0, 0, 0))
    fine.polygon([mesh.inside(p) for p in outline(mesh.layout)], (255, 255, 255))
    return fine.done().convert("L").point(lambda v: 255 if v >= 96 else 0).convert("1")


def plan_of(view: HexView, mesh: Mesh) -> Plan:
    """The face of a hex laid out as it lies."""
    return plan(mesh.layout, view.nodes, view.paths, view.turns)


@lru_cache(1024)
def face(
    mesh: Mesh, color: str, nodes: Nodes, paths: Paths, turns: int, laid: bool, joined: tuple[int, ...]
) -> Image.Image:
    """A hex with its ground, edge, track and stops; `joined`: edges that are not drawn."""
    w, h = mesh.box
    edge = theme.TILE_EDGE if laid else theme.EDGE
    fine = Fine((2 * w, 2 * h), edge)
    ground = theme.GROUND[color]
    inset = 1 - (1.6 if laid else 1.1) / mesh.radius
    fine.polygon([mesh.inside(p) for p in outline(mesh.layout, inset)], ground)
    for e in joined:
        a, b = edge_line(mesh.layout, e)
        fine.polygon(
            [mesh.inside(p) for p in (a, b, (b[0] * 0.9, b[1] * 0.9), (a[0] * 0.9, a[1] * 0.9))], ground
        )
    laid_out = plan(mesh.layout, nodes, paths, turns)
    offboard = {f"n{i}" for i, (kind, _) in enumerate(nodes) if kind == "offboard"}
    for lines in _joined_lines(laid_out, offboard):
        for line in lines:
            fine.line(_pixels(mesh, line), theme.CASING_WIDTH * mesh.radius, _casing(ground))
        for line in lines:
            fine.line(_pixels(mesh, line), theme.TRACK_WIDTH * mesh.radius, theme.TRACK)
            fine.disc(mesh.inside(line[-1]), theme.TRACK_WIDTH * mesh.radius / 2, theme.TRACK)
    for ends in laid_out.paths:
        for end, other in (ends, ends[::-1]):
            if end[0] == "e" and other in offboard:
                _pointer(fine, mesh, int(end[1:]))
    for (kind, slots), spot in zip(nodes, laid_out.nodes, strict=True):
        _stop(fine, mesh, kind, slots, spot, len(_ends_at(laid_out, spot)), ground)
    return fine.done()


def _casing(ground: Colour) -> Colour:
    return theme.blend(ground, theme.PAPER, 0.75)


def _pixels(mesh: Mesh, line: Line) -> list[Point]:
    """A line in pixels; where it ends at an edge it is drawn on over it."""
    points = list(line)
    for i, inner in ((0, points[1]), (-1, points[-2])):
        x, y = points[i]
        if x * x + y * y > 0.7:
            points[i] = x + (x - inner[0]) * 0.6, y + (y - inner[1]) * 0.6
    return [mesh.inside(p) for p in points]


def _joined_lines(laid_out: Plan, offboard: set[str]) -> list[list[Line]]:
    """Lines of track in groups that share ends, so that tracks which only cross are told apart."""
    groups: list[tuple[set[str], list[Line]]] = []
    for ends, line in zip(laid_out.paths, laid_out.lines, strict=True):
        if offboard & set(ends):
            continue
        touching = [g for g in groups if g[0] & set(ends)]
        merged = set(ends).union(*(g[0] for g in touching)), [*(x for g in touching for x in g[1]), line]
        groups = [g for g in groups if g not in touching] + [merged]
    return [lines for _, lines in groups]


def _ends_at(laid_out: Plan, spot: Spot) -> list[Line]:
    return [x for x in laid_out.lines if min(distance(x[0], spot.point), distance(x[-1], spot.point)) < 1e-6]


def _pointer(fine: Fine, mesh: Mesh, edge: int) -> None:
    """Track that leads off the board: a wedge inwards."""
    angle = bearing(mesh.layout, edge)
    across = polar(angle + pi / 2, theme.TRACK_WIDTH * 0.8)
    root = polar(angle, 0.9)
    tip = polar(angle, 0.5)
    fine.polygon(
        [
            mesh.inside((root[0] + across[0], root[1] + across[1])),
            mesh.inside(tip),
            mesh.inside((root[0] - across[0], root[1] - across[1])),
        ],
        theme.TRACK,
    )


def _stop(fine: Fine, mesh: Mesh, kind: str, slots: int, spot: Spot, tracks: int, ground: Colour) -> None:
    unit = mesh.radius
    at = mesh.inside(spot.point)
    if kind == "city" and slots:
        radius = spot.radius * unit
        points = [mesh.inside(p) for p in spot.slots]
        for colour, grown in ((theme.TRACK, 1.0), (theme.STOP, -1.5)):
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
                fine.disc(point, radius - 3, theme.STOP)
    elif kind == "city":
        fine.disc(at, 0.2 * unit, theme.TRACK)
        fine.disc(at, 0.14 * unit, theme.STOP)
    elif kind == "town" and spot.heading is not None and tracks == 2:
        across = spot.heading + pi / 2
        fine.bar(at, across, 0.2 * unit, 0.2 * unit, _casing(ground))
        fine.bar(at, across, 0.18 * unit, theme.BAR_WIDTH * unit, theme.TRACK)
    elif kind == "town":
        fine.disc(at, 0.17 * unit, theme.STOP)
        fine.disc(at, 0.13 * unit, theme.TRACK)


@lru_cache(512)
def token(badge: Badge, diameter: int) -> Image.Image:
    """A station or price token: the company's colour and letters."""
    fine = Fine((diameter, diameter))
    half = diameter / 2
    fill = theme.colour(badge.color)
    fine.disc((half, half), half, theme.INK)
    fine.disc((half, half), half - 1.3, fill)
    image = fine.done()
    page = Page.over(image)
    size = fitting(badge.sym, round(diameter * 0.52), diameter * 0.86)
    page.write((half, half), badge.sym, size, theme.legible(theme.colour(badge.text_color), fill))
    return page.image


@lru_cache(512)
def home(badge: Badge, diameter: int) -> Image.Image:
    """A slot kept for a company: its letters in grey within a broken ring of its colour."""
    fine = Fine((diameter, diameter))
    half = diameter / 2
    rim = theme.blend(theme.colour(badge.color), theme.PAPER, 0.25)
    fine.disc((half, half), half - 1, rim)
    for i in range(6):
        fine.bar((half, half), pi * i / 6, half, diameter * 0.09, theme.PAPER)
    fine.disc((half, half), half - max(2.0, diameter * 0.09), theme.PAPER)
    page = Page.over(fine.done())
    size = fitting(badge.sym, round(diameter * 0.46), diameter * 0.74)
    page.write((half, half), badge.sym, size, theme.SOFT)
    return page.image


@lru_cache(128)
def plate(words: str, size: int, ink: Colour, fill: Colour, rim: Colour) -> Image.Image:
    """Words on a rounded plate."""
    width, height = plate_size(words, size)
    fine = Fine((width, height))
    fine.box(0, 0, width, height, height / 2, rim)
    fine.box(1.3, 1.3, width - 1.3, height - 1.3, height / 2 - 1.3, fill)
    page = Page.over(fine.done())
    page.write((width / 2, height / 2), words, size, ink)
    return page.image


def plate_size(words: str, size: int) -> tuple[int, int]:
    """Width and height of such a plate in pixels."""
    height = round(size * CAP * 1.55)
    return max(height, text_width(words, size) + round(size * 0.55)), height


@lru_cache(64)
def work(site: Site, size: int) -> Image.Image:
    """A mine or a bridge with what it is worth; a pale sign where one may still be built."""
    width, height = work_size(site, size)
    ink, paper = (theme.PAPER, theme.INK) if site.built else (theme.SOFT, theme.PAPER)
    fine = Fine((width, height))
    fine.box(0, 0, width, height, height * 0.3, ink)
    fine.box(1.3, 1.3, width - 1.3, height - 1.3, height * 0.3 - 1.3, paper)
    _SIGNS[site.kind](fine, height * 0.62, height / 2, height * 0.36, ink)
    page = Page.over(fine.done())
    if site.built:
        page.write((height * 1.16, height / 2), f"+{site.bonus}", size, ink, align="l")
    return page.image


def work_size(site: Site, size: int) -> tuple[int, int]:
    """Width and height of such a sign in pixels."""
    height = round(size * CAP * 1.9)
    words = text_width(f"+{site.bonus}", size) + round(size * 0.3) if site.built else 2
    return round(height * 1.16) + words, height


def _hammers(fine: Fine, x: float, y: float, half: float, ink: Colour) -> None:
    """Two crossed hammers, as maps mark mines."""
    for side in (-1, 1):
        head = x + side * half * 0.6, y - half * 0.6
        fine.line([(x - side * half, y + half), head], half * 0.3, ink)
        fine.bar(head, pi / 4 * side, half * 0.66, half * 0.46, ink)


def _arch(fine: Fine, x: float, y: float, half: float, ink: Colour) -> None:
    """A deck on an arch."""
    fine.line([(x - half * 1.2, y - half * 0.45), (x + half * 1.2, y - half * 0.45)], half * 0.36, ink)
    arch = [(x - half * cos(pi * i / 8), y + half * (0.75 - 1.1 * sin(pi * i / 8))) for i in range(9)]
    fine.line(arch, half * 0.34, ink)
    for side in (-1, 1):
        fine.line([(x + side * half, y - half * 0.45), (x + side * half, y + half * 0.8)], half * 0.3, ink)


_SIGNS = {"mine": _hammers, "bridge": _arch}


@lru_cache(64)
def terrain(kind: str, size: int) -> Image.Image:
    """The sign of a terrain, `size` pixels wide: peaks for high ground, waves for water."""
    high = round(size * 0.62)
    fine = Fine((size, high))
    if kind in theme.TERRAIN:
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
                for x in _steps(1.5, size - 1.5, 24)
            ]
            fine.line(points, max(2.0, size * 0.075), theme.WATER)
    return fine.done()


def _steps(start: float, end: float, count: int) -> list[float]:
    return [start + (end - start) * i / count for i in range(count + 1)]


@lru_cache(512)
def overlay_borders(mesh: Mesh, borders: tuple[tuple[int, str, int], ...]) -> Image.Image:
    """The inner half of the bars along closed or costly edges."""
    w, h = mesh.box
    fine = Fine((2 * w, 2 * h))
    for edge, kind, _ in borders:
        a, b = edge_line(mesh.layout, edge)
        if kind == "impassable":
            ends = [mesh.inside(_between(a, b, t)) for t in (0.06, 0.94)]
            fine.rounded(ends, 2.0 * theme.BARRIER_WIDTH * mesh.radius, theme.PAPER)
            fine.rounded(ends, 1.5 * theme.BARRIER_WIDTH * mesh.radius, theme.BARRIER)
        else:
            fill = theme.WATER if kind == "water" else theme.HILL
            for t in (0.1, 0.4, 0.7):
                part = [mesh.inside(_between(a, b, x)) for x in (t, t + 0.2)]
                fine.rounded(part, theme.BARRIER_WIDTH * mesh.radius, fill)
    return fine.done()


@lru_cache(256)
def overlay_river(
    mesh: Mesh, west: tuple[int, ...], east: tuple[int, ...], stations: str | None, width: float
) -> Image.Image:
    """A river between the two banks of a hex, from corner to corner, clear of the stops' bank."""
    w, h = mesh.box
    fine = Fine((2 * w, 2 * h))
    ends = [corner(mesh.layout, e) for e in range(6) if (e in west) != ((e + 1) % 6 in west)]
    far = {"west": east, "east": west}.get(stations or "", ())
    middles = [edge_middle(mesh.layout, edge) for edge in far]
    lean = (sum(x for x, _ in middles), sum(y for _, y in middles))
    length = (lean[0] ** 2 + lean[1] ** 2) ** 0.5 or 1.0
    bend = (lean[0] / length * 0.42, lean[1] / length * 0.42)
    a, b = ends
    if not middles:
        bend = ((a[0] + b[0]) / 4, (a[1] + b[1]) / 4)
    line = [mesh.inside(_curve(a, bend, b, t / 12)) for t in range(13)]
    fine.rounded(line, width * mesh.radius, theme.WATER)
    return fine.done()


def _curve(a: Point, through: Point, b: Point, t: float) -> Point:
    """A point of the parabola from a to b through a third in its middle."""
    mid = tuple(2 * m - (x + y) / 2 for m, x, y in zip(through, a, b, strict=True))
    return _between(_between(a, (mid[0], mid[1]), t), _between((mid[0], mid[1]), b, t), t)


def _between(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


@lru_cache(16)
def frame(mesh: Mesh) -> Image.Image:
    """The double outline of the last change."""
    w, h = mesh.box
    fine = Fine((2 * w, 2 * h))
    for e in range(6):
        for colour, outer, inner in ((theme.PAPER, 1.0, 0.895), (theme.LAST, 0.99, 0.915)):
            a, b = edge_line(mesh.layout, e)
            fine.polygon(
                [
                    mesh.inside((x * k, y * k))
                    for (x, y), k in ((a, outer), (b, outer), (b, inner), (a, inner))
                ],
                colour,
            )
    return fine.done()


@lru_cache(256)
def overlay_routes(mesh: Mesh, laid_out: Plan, legs: tuple[Stretch, ...]) -> Image.Image:
    """Routes on a hex: coloured lines along the track."""
    w, h = mesh.box
    fine = Fine((2 * w, 2 * h))
    found = [(leg, line) for leg in legs for line in laid_out.course(leg.a, leg.b)]
    for width, pale in ((theme.ROUTE_WIDTH + 0.08, True), (theme.ROUTE_WIDTH, False)):
        for leg, line in found:
            colour = theme.PAPER if pale else route_colour(leg.route)
            pixels = _pixels(mesh, line)
            fine.line(pixels, width * mesh.radius, colour)
            for end in (pixels[0], pixels[-1]):
                fine.disc(end, width * mesh.radius / 2, colour)
    return fine.done()


def route_colour(route: int) -> Colour:
    return theme.ROUTES[route % len(theme.ROUTES)]


def crossings(mesh: Mesh, legs: tuple[Stretch, ...]) -> list[tuple[Point, int]]:
    """Where the routes of a hex cross its edges, in the picture of the hex."""
    return [
        (mesh.inside(edge_middle(mesh.layout, int(end[1:]))), leg.route)
        for leg in legs
        for end in (leg.a, leg.b)
        if end[0] == "e"
    ]
