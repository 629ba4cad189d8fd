"""The picture of a chart: lines over the rounds, told apart by colour and dash, each named at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PIL import Image

from engine import dollars
from renderers import color_math, sprites, theme
from renderers.canvas import Page, SupersampledCanvas, fit_font_size, text_width, to_palette
from renderers.color_math import Color
from renderers.files import png_palette
from renderers.geometry import Point, dashed
from renderers.map import route_sprites
from renderers.theme import Palette
from renderers.views import ChartView, SeriesView

SIZE = (960, 800)
LEFT, TOP, RIGHT, BOTTOM = 116, 72, 262, 64
"""The margins of the area with the lines, in pixels."""
FONT_SIZE = 28
LINE_WIDTH = 4
LABEL_STEP = 34
"""The least distance between the names at the ends of lines, in pixels."""


class _Scale:
    """From rounds and dollars to pixels."""

    def __init__(self, view: ChartView) -> None:
        amounts = [v for series in view.series for v in series.values if v is not None]
        self.low, high = min(0, *amounts, 0), max(1, *amounts, 1)
        self.step = next(
            unit * factor
            for unit in (1, 10, 100, 1000, 10_000, 100_000)
            for factor in (1, 2, 5)
            if (high - self.low) / (unit * factor) <= 8
        )
        self.low -= self.low % self.step
        self.high = high + -high % self.step
        self.rounds = max(1, len(view.rounds) - 1)

    def x(self, i: float) -> float:
        return LEFT + (SIZE[0] - LEFT - RIGHT) * i / self.rounds

    def y(self, amount: float) -> float:
        share = (amount - self.low) / (self.high - self.low)
        return SIZE[1] - BOTTOM - (SIZE[1] - TOP - BOTTOM) * share


def draw_chart(view: ChartView, palette: Palette = theme.LIGHT) -> Image.Image:
    """The chart as a picture in its palette."""
    page = Page(SIZE, palette)
    page.write((24, 35), view.heading, 34, palette.ink, align="l")
    colors = tuple(series.badge.color for series in view.series if series.badge)
    if not view.series:
        page.write((SIZE[0] / 2, SIZE[1] / 2), "Nothing yet.", 34, palette.muted)
        return to_palette(page.image, png_palette(palette, colors))
    scale = _Scale(view)
    _draw_grid(page, view, scale)
    _draw_marks(page, view, scale)
    lines = SupersampledCanvas(SIZE)
    for i, series in enumerate(view.series):
        _draw_line(lines, scale, series, line_color(palette, series, i), i)
    overlay = lines.downsampled()
    page.image.paste(overlay, (0, 0), overlay)
    _draw_names(page, view, scale)
    return to_palette(page.image, png_palette(palette, colors))


def line_color(palette: Palette, series: SeriesView, i: int) -> Color:
    """The colour of a line: a company's own, where it stands out from the page."""
    color = (
        color_math.parse_color(series.badge.color)
        if series.badge
        else palette.route_colors[i % len(palette.route_colors)]
    )
    target = palette.ink
    shares = (color_math.blend(color, target, share / 6) for share in range(7))
    return next((c for c in shares if color_math.contrast(c, palette.page) >= 3), target)


def _draw_grid(page: Page, view: ChartView, scale: _Scale) -> None:
    """Lines at round dollars, and the names of the rounds."""
    for amount in range(scale.low, scale.high + 1, scale.step):
        y = scale.y(amount)
        line = page.palette.faint if amount else page.palette.ink
        page.rectangle(LEFT, y - 1, SIZE[0] - RIGHT, y + 1, line)
        page.write(
            (LEFT - 11, y), dollars(amount), FONT_SIZE, page.palette.muted, align="r", weight="Semibold"
        )
    width = max(text_width(name, FONT_SIZE - 3, "Semibold") for name in view.rounds) + 20
    room = (SIZE[0] - LEFT - RIGHT) / scale.rounds
    every = max(1, -(-width // max(1, int(room))))
    for i, name in enumerate(view.rounds):
        x = scale.x(i)
        page.rectangle(x - 1, SIZE[1] - BOTTOM, x + 1, SIZE[1] - BOTTOM + 8, page.palette.muted)
        if i % every == 0:
            page.write((x, SIZE[1] - BOTTOM + 29), name, FONT_SIZE - 3, page.palette.muted, weight="Semibold")


def _draw_marks(page: Page, view: ChartView, scale: _Scale) -> None:
    """A line down from each mark, with its text at the top; texts without room there stand side by side."""
    marks = sorted(view.marks)
    room = max((text_width(text, FONT_SIZE - 3) for _, text in marks), default=0) + 10
    middles = spread([scale.x(i) for i, _ in marks], room, LEFT, SIZE[0] - room)
    for (i, text), middle in zip(marks, middles, strict=True):
        x, half = scale.x(i), room / 2
        page.rectangle(x - 1, TOP + 12, x + 1, SIZE[1] - BOTTOM, page.palette.muted)
        page.rectangle(middle - half, TOP - 14, middle + half, TOP + 14, page.palette.page)
        page.write((middle, TOP), text, FONT_SIZE - 3, page.palette.ink)


def _draw_line(lines: SupersampledCanvas, scale: _Scale, series: SeriesView, color: Color, i: int) -> None:
    dash = [56 * k for k in route_sprites.DASHES[i // 2 % len(route_sprites.DASHES)]]
    for points in _unbroken(scale, series):
        for stroke in dashed(points, dash) if len(points) > 1 else ():
            for a, b in pairwise(stroke):
                if a != b:
                    lines.line((a, b), LINE_WIDTH, color)
        for point in points:
            lines.disc(point, LINE_WIDTH * 0.9, color)


def _unbroken(scale: _Scale, series: SeriesView) -> Iterator[list[Point]]:
    """The points of a line, parted where rounds have no dollars."""
    points: list[Point] = []
    for x, value in enumerate((*series.values, None)):
        if value is not None:
            points.append((scale.x(x), scale.y(value)))
        elif points:
            yield points
            points = []


def _draw_names(page: Page, view: ChartView, scale: _Scale) -> None:
    """The name and last dollars of each line at its end, moved apart where lines end together."""
    ends = sorted(
        (scale.y(series.last or 0), i) for i, series in enumerate(view.series) if series.last is not None
    )
    step = min(LABEL_STEP, (SIZE[1] - TOP - 16) / max(1, len(ends)))
    size = round(min(FONT_SIZE, step * 0.85))
    for y, (_, i) in zip(spread([y for y, _ in ends], step, TOP, SIZE[1] - 24), ends, strict=True):
        series = view.series[i]
        color = line_color(page.palette, series, i)
        left = SIZE[0] - RIGHT + 13
        page.rectangle(left, y - 3, left + 21, y + 3, color)
        left += 28
        if series.badge:
            token = sprites.token(series.badge, round(step) - 2)
            page.paste(token, (left + step / 2, y))
            left += round(step) + 6
        text = f"{series.name} {dollars(series.last or 0)}"
        fitted = fit_font_size(text, size, SIZE[0] - left - 6, minimum=14)
        page.write((left, y), text, fitted, page.palette.ink, align="l")


def spread(places: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Ascending places moved as little as needed to be `step` apart, between two bounds."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + step if moved else low))
    for i in range(len(moved) - 1, -1, -1):
        limit = high if i == len(moved) - 1 else moved[i + 1] - step
        moved[i] = min(moved[i], limit)
    return moved
