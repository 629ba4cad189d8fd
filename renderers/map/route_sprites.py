"""The pictures of routes on a hex, each in its colour and dash, and their numbers."""

from __future__ import annotations

from functools import lru_cache

from PIL import Image

from renderers import color_math, theme
from renderers.canvas import Canvas, SupersampledCanvas
from renderers.color_math import Color
from renderers.geometry import Point, bearing, dashed, edge_middle, polar
from renderers.hex_grid import HexMetrics
from renderers.map.face_geometry import FaceLayout
from renderers.map.hex_sprites import pixel_line
from renderers.theme import Palette
from renderers.views import RouteSegment

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
        pixels = pixel_line(metrics, line)
        shape.line(pixels, (theme.ROUTE_WIDTH + 0.08) * metrics.radius, palette.casing)
        for end in (pixels[0], pixels[-1]):
            shape.disc(end, (theme.ROUTE_WIDTH + 0.08) * metrics.radius / 2, palette.casing)
    for segment, line in lines:
        color, dash = route_color(palette, segment.route), DASHES[segment.route % len(DASHES)]
        for stroke in dashed(line, dash):
            pixels = pixel_line(metrics, stroke)
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
    shape.disc((radius, radius), radius, color_math.WHITE)
    shape.disc((radius, radius), radius - 1.2, color)
    canvas = Canvas(shape.downsampled())
    canvas.write((radius, radius), str(route + 1), round(diameter * 0.8), color_math.WHITE)
    return canvas.image
