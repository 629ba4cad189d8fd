"""The picture of a review: worth by round with its turning points, and a bar of causes for each player.

The parts of a bar are told apart by colour and by a letter, which the legend explains. Gains go to the right
of the line at zero, losses to the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from engine import dollars
from renderers import color_math
from renderers.canvas import Page, fit_font_size, text_width, to_palette
from renderers.charts.chart import SIZE, draw_chart
from renderers.color_math import Color
from renderers.files import png_palette
from renderers.theme import Palette
from renderers.views import ChartView, clip_text

LEFT, RIGHT = 170, 150
"""Room for names and for totals, in pixels."""
ROW, BAR = 58, 40
"""The height of a player's row, and of the bar in it."""
TOP, LEGEND_ROW = 64, 36
FONT_SIZE = 26


@dataclass(frozen=True)
class BarView:
    """A player's bar. `parts`: dollars by cause, those below zero are losses."""

    name: str
    parts: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        return sum(amount for _, amount in self.parts)


@dataclass(frozen=True)
class ReviewView:
    """The worth of the players by round, and their bars."""

    worth: ChartView
    bars: tuple[BarView, ...]

    @property
    def alt(self) -> str:
        """A description of the picture: each player's gain by causes."""
        lines = []
        for bar in self.bars:
            parts = ", ".join(f"{cause.lower()} {dollars(amount)}" for cause, amount in bar.parts)
            lines.append(f"{bar.name} {dollars(bar.total)}: {parts}")
        return clip_text(f"Where the money came from. {'. '.join(lines)}. {self.worth.alt}")


def draw_review(view: ReviewView, palette: Palette) -> Image.Image:
    """The chart of worth above the bars, as a picture in its palette."""
    causes = list(dict.fromkeys(cause for bar in view.bars for cause, _ in bar.parts))
    signs = {cause: (chr(ord("A") + i), bar_color(palette, i)) for i, cause in enumerate(causes)}
    legend = _legend_rows(causes)
    height = TOP + ROW * len(view.bars) + LEGEND_ROW * len(legend) + 24
    bars = Page((SIZE[0], height), palette)
    bars.write((24, 30), "Where the money came from", 34, palette.ink, align="l")
    _draw_bars(bars, view, signs)
    _draw_legend(bars, legend, signs, TOP + ROW * len(view.bars) + 20)
    image = Image.new("RGB", (SIZE[0], SIZE[1] + height), palette.page)
    image.paste(draw_chart(view.worth, palette).convert("RGB"), (0, 0))
    image.paste(bars.image, (0, SIZE[1]))
    return to_palette(image, png_palette(palette, ()))


def bar_color(palette: Palette, i: int) -> Color:
    """The colour of the i-th cause; softer where the colours begin again."""
    again, at = divmod(i, len(palette.route_colors))
    return (
        color_math.blend(palette.route_colors[at], palette.page, 0.45) if again else palette.route_colors[at]
    )


def _draw_bars(page: Page, view: ReviewView, signs: dict[str, tuple[str, Color]]) -> None:
    gains = [sum(max(amount, 0) for _, amount in bar.parts) for bar in view.bars]
    losses = [sum(max(-amount, 0) for _, amount in bar.parts) for bar in view.bars]
    span = max(1, max(gains, default=0) + max(losses, default=0))
    scale = (SIZE[0] - LEFT - RIGHT) / span
    zero = LEFT + max(losses, default=0) * scale
    for row, bar in enumerate(view.bars):
        y = TOP + ROW * row + ROW / 2
        size = fit_font_size(bar.name, FONT_SIZE, LEFT - 40)
        page.write((24, y), bar.name, size, page.palette.ink, align="l")
        right = left = zero
        for cause, amount in bar.parts:
            letter, color = signs[cause]
            width = abs(amount) * scale
            start = right if amount > 0 else left - width
            page.rectangle(start, y - BAR / 2, start + width, y + BAR / 2, color)
            page.rectangle(start + width - 1, y - BAR / 2, start + width, y + BAR / 2, page.palette.page)
            if width > text_width(letter, FONT_SIZE - 6) + 4:
                on = page.palette.text_on(color)
                page.write((start + width / 2, y), letter, FONT_SIZE - 6, on)
            right, left = (right + width, left) if amount > 0 else (right, left - width)
        page.write((right + 12, y), dollars(bar.total), FONT_SIZE, page.palette.ink, align="l")
    page.rectangle(zero - 1, TOP, zero + 1, TOP + ROW * len(view.bars), page.palette.ink)


def _legend_rows(causes: Sequence[str]) -> list[list[str]]:
    """The causes in rows that fit into the picture."""
    rows: list[list[str]] = [[]]
    width = 0
    for cause in causes:
        needed = text_width(f"A {cause}", FONT_SIZE) + 76
        if width + needed > SIZE[0] - 48 and rows[-1]:
            rows.append([])
            width = 0
        rows[-1].append(cause)
        width += needed
    return rows


def _draw_legend(
    page: Page, rows: Sequence[Sequence[str]], signs: dict[str, tuple[str, Color]], top: float
) -> None:
    for row, causes in enumerate(rows):
        x, y = 24.0, top + LEGEND_ROW * (row + 0.5)
        for cause in causes:
            letter, color = signs[cause]
            page.rectangle(x, y - 13, x + 26, y + 13, color)
            page.write((x + 13, y), letter, FONT_SIZE - 6, page.palette.text_on(color))
            page.label((x + 36, y), cause, FONT_SIZE - 2)
            x += text_width(f"A {cause}", FONT_SIZE) + 76
