"""Small cached pictures: tokens, plates and signs, by arguments that are plain values."""

from __future__ import annotations

from functools import lru_cache
from math import cos, pi, sin

from PIL import Image

from renderers import color_math, theme
from renderers.canvas import CAP_HEIGHT, Canvas, SupersampledCanvas, fit_font_size, text_width
from renderers.color_math import Color
from renderers.theme import Palette
from renderers.views import Badge, Structure


@lru_cache(512)
def token(badge: Badge, diameter: int) -> Image.Image:
    """A station token or price token, with the company's colour and symbol."""
    shape = SupersampledCanvas((diameter, diameter))
    radius = diameter / 2
    color = color_math.parse_color(badge.color)
    ring = (
        color_math.BLACK
        if color_math.contrast(color, color_math.BLACK) > 2
        else color_math.blend(color, color_math.WHITE, 0.6)
    )
    shape.disc((radius, radius), radius, ring)
    shape.disc((radius, radius), radius - 1.3, color)
    canvas = Canvas(shape.downsampled())
    text_color = color_math.readable_on(color_math.parse_color(badge.text_color), color)
    _write_symbol(canvas, badge.sym, diameter, 1.0, text_color)
    return canvas.image


@lru_cache(512)
def reserved_slot(palette: Palette, badge: Badge, diameter: int) -> Image.Image:
    """A slot that is reserved for a company: its symbol in grey in a dashed ring of its colour."""
    shape = SupersampledCanvas((diameter, diameter))
    radius = diameter / 2
    ring_color = color_math.blend(color_math.parse_color(badge.color), palette.stop_fill, 0.25)
    shape.disc((radius, radius), radius - 1, ring_color)
    for i in range(6):
        shape.bar((radius, radius), pi * i / 6, radius, diameter * 0.09, palette.stop_fill)
    shape.disc((radius, radius), radius - max(2.0, diameter * 0.09), palette.stop_fill)
    canvas = Canvas(shape.downsampled())
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
    shape.disc((diameter / 2, diameter / 2), diameter / 2, color_math.BLACK)
    canvas = Canvas(shape.downsampled())
    text_color = color_math.readable_on(color, color_math.BLACK)
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
    canvas = Canvas(shape.downsampled())
    canvas.write((width / 2, height / 2), text, size, color)
    return canvas.image


def plate_size(text: str, size: int, is_tight: bool = False) -> tuple[int, int]:
    """The width and height of a plate in pixels."""
    if is_tight:
        return text_width(text, size) + 3, round(size * CAP_HEIGHT) + 3
    height = round(size * CAP_HEIGHT * 1.55)
    return max(height, text_width(text, size) + round(size * 0.55)), height


@lru_cache(64)
def structure(palette: Palette, view: Structure, size: int) -> Image.Image:
    """The sign of a mine or bridge with its bonus; pale, without the bonus, where it may still be built."""
    width, height = structure_size(view, size)
    background = color_math.BLACK if view.is_built else palette.plate
    color = palette.text_on(background, 0.0 if view.is_built else 0.35)
    shape = SupersampledCanvas((width, height))
    shape.rounded_rectangle(0, 0, width, height, height * 0.3, color)
    shape.rounded_rectangle(1.3, 1.3, width - 1.3, height - 1.3, height * 0.3 - 1.3, background)
    _STRUCTURE_ICONS[view.kind](shape, height * 0.62, height / 2, height * 0.36, color)
    canvas = Canvas(shape.downsampled())
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
            shape.polygon([(mid - lean, y + snow), (mid, y), (mid + lean, y + snow)], color_math.WHITE)
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
