"""The legend below a map: a row for each train, with its stroke, its number and its label; then footnotes.

A label that is too long for a row goes on in further rows, so that every stop of a route can be read. The
footnotes are the notes that have no room on their hexes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from PIL import Image

from renderers.canvas import Canvas, SupersampledCanvas, text_width
from renderers.geometry import dashed
from renderers.map import route_sprites
from renderers.theme import Palette

FONT_SHARE = 0.026
"""The font size as a share of the picture's width: digits are 7 pixels high on a phone."""
SMALLEST_FONT = 16
BOTTOM = 12


class Legend(NamedTuple):
    """The labels of the routes, and the footnotes: `C18 →GMO`."""

    routes: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()


def legend_font(width: int) -> int:
    """The font size of a legend of that width, in pixels."""
    return max(SMALLEST_FONT, round(width * FONT_SHARE))


def row_height(width: int) -> int:
    return round(legend_font(width) * 1.5)


def legend_rows(routes: tuple[str, ...], width: int) -> list[list[str]]:
    """The label of each route in rows, broken after a stop or a space."""
    size = legend_font(width)
    return [_broken(label, size, width - _label_left(size) - size) for label in routes]


def footnote_rows(footnotes: tuple[str, ...], width: int) -> list[str]:
    """The footnotes in rows; none is broken."""
    size, rows = legend_font(width), list[str]()
    for note in footnotes:
        longer = f"{rows[-1]}  ·  {note}" if rows else note
        if rows and text_width(longer, size) <= width - 1.5 * size:
            rows[-1] = longer
        else:
            rows.append(note)
    return rows


def legend_height(legend: Legend, width: int) -> int:
    """The height of a legend in pixels."""
    rows = sum(map(len, legend_rows(legend.routes, width))) + len(footnote_rows(legend.footnotes, width))
    return row_height(width) * rows + BOTTOM if rows else 0


def _label_left(size: int) -> int:
    return round(size * 5.75)


def _broken(label: str, size: int, width: int) -> list[str]:
    rows = [""]
    for part in label.replace("-", "-\0").replace(" ", " \0").split("\0"):
        if rows[-1] and text_width((rows[-1] + part).rstrip(), size) > width:
            rows.append("")
        rows[-1] += part
    return rows


@lru_cache(16)
def draw_legend(palette: Palette, legend: Legend, width: int) -> Image.Image:
    """The legend as a picture of that width in pixels."""
    size, height, rows = legend_font(width), row_height(width), legend_rows(legend.routes, width)
    shape = SupersampledCanvas((width, legend_height(legend, width)), palette.sea)
    tops = [height * sum(map(len, rows[:i])) for i in range(len(rows))]
    for i, top in enumerate(tops):
        y = top + height / 2
        dash = [size * 1.5 * k for k in route_sprites.DASHES[i % len(route_sprites.DASHES)]]
        for stroke in dashed(((size * 0.75, y), (size * 3.75, y)), dash):
            shape.line(stroke, size * 0.375, palette.casing)
            shape.line(stroke, size * 0.28, route_sprites.route_color(palette, i))
    canvas = Canvas.copy_of(shape.downsampled())
    ink = palette.text_on(palette.sea)
    for i, (top, lines) in enumerate(zip(tops, rows, strict=True)):
        number = route_sprites.route_number(i, route_sprites.route_color(palette, i), round(size * 1.12))
        canvas.paste(number, (size * 4.75, top + height / 2))
        for j, line in enumerate(lines):
            canvas.write((_label_left(size), top + height * (j + 0.5)), line, size, ink, align="l")
    below = sum(map(len, rows))
    for i, row in enumerate(footnote_rows(legend.footnotes, width), below):
        canvas.write((size * 0.75, height * (i + 0.5)), row, size, ink, align="l")
    return canvas.image
