"""Drawing primitives: smooth shapes by supersampling, words by FreeType, palette PNGs.

What Pillow does cheaply is all that is used: filled polygons and discs, lines without joints,
text at final size. Outlines are made of two fills. Shapes are drawn at `FINE` times their size
and reduced; every such picture is kept by those who ask for it (`sprites`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import as_file, files
from io import BytesIO
from math import cos, hypot, sin

from PIL import Image, ImageDraw, ImageFont

from renderers.geometry import Point, line_outline
from renderers.theme import Color

SUPERSAMPLING = 3
CAP_HEIGHT = 0.66


@lru_cache(64)
def font(size: int, weight: str = "Bold") -> ImageFont.FreeTypeFont:
    """Source Sans Pro (SIL Open Font License 1.1) at a size in pixels."""
    with as_file(files("font_source_sans_pro") / "files" / f"SourceSansPro-{weight}.ttf") as path:
        return ImageFont.truetype(str(path), max(6, size), layout_engine=ImageFont.Layout.BASIC)


@lru_cache(8192)
def text_width(words: str, size: int, weight: str = "Bold") -> int:
    """The width of one line in pixels."""
    return round(font(size, weight).getlength(words))


def fit_font_size(words: str, size: int, width: float, weight: str = "Bold", least: int = 8) -> int:
    """The largest font size up to `size` at which a line keeps within a width, in pixels."""
    while size > least and text_width(words, size, weight) > width:
        size -= 1
    return size


def shorten(words: str, size: int, width: float, weight: str = "Bold") -> str:
    """The line, or as much of it as keeps within a width, ended by an ellipsis."""
    if text_width(words, size, weight) <= width:
        return words
    while words and text_width(words + "…", size, weight) > width:
        words = words[:-1]
    return words.rstrip() + "…"


def split_in_two(words: str) -> list[str]:
    """A line broken into two as even as its words allow; one of a single word stays as it is."""
    parts = words.split()
    if len(parts) < 2:
        return parts
    cut = min(range(1, len(parts)), key=lambda i: abs(len(" ".join(parts[:i])) - len(" ".join(parts[i:]))))
    if parts[cut] == "&" and cut + 1 < len(parts):
        cut += 1
    return [" ".join(parts[:cut]), " ".join(parts[cut:])]


class Canvas:
    """An RGB picture at final size, to paste on and to write on."""

    def __init__(self, size: tuple[int, int], ground: Color) -> None:
        self.image = Image.new("RGB", size, ground)
        self.draw = ImageDraw.Draw(self.image)

    @classmethod
    def copy_of(cls, image: Image.Image) -> Canvas:
        """A page that begins as a copy of a picture."""
        page = cls.__new__(cls)
        page.image = image.copy()
        page.draw = ImageDraw.Draw(page.image)
        return page

    def write(
        self,
        at: tuple[float, float],
        words: str,
        size: int,
        ink: Color,
        *,
        weight: str = "Bold",
        align: str = "m",
        halo: Color | None = None,
    ) -> None:
        """A line with the middle of its capitals at that height; `align` l, m or r of that point."""
        self.draw.text(
            (round(at[0]), round(at[1] + CAP_HEIGHT * size / 2)),
            words,
            font=font(size, weight),
            fill=ink,
            anchor=f"{align}s",
            stroke_width=max(1, size // 9) if halo else 0,
            stroke_fill=halo,
        )

    def rectangle(self, left: float, top: float, right: float, bottom: float, fill: Color) -> None:
        """A filled rectangle; right and bottom are outside it."""
        self.draw.rectangle((round(left), round(top), round(right) - 1, round(bottom) - 1), fill=fill)

    def paste(self, sprite: Image.Image, centre: tuple[float, float]) -> None:
        """Put a picture with an alpha channel there by its middle."""
        at = round(centre[0]) - sprite.width // 2, round(centre[1]) - sprite.height // 2
        self.image.paste(sprite, at, sprite)


class SupersampledCanvas:
    """A transparent or filled picture drawn FINE times as large; coordinates are final pixels."""

    def __init__(self, size: tuple[int, int], ground: Color | None = None) -> None:
        mode, fill = ("RGB", ground) if ground else ("RGBA", (0, 0, 0, 0))
        self.image = Image.new(mode, (size[0] * SUPERSAMPLING, size[1] * SUPERSAMPLING), fill)
        self.draw = ImageDraw.Draw(self.image)

    def polygon(self, points: Iterable[Point], fill: Color) -> None:
        self.draw.polygon([(x * SUPERSAMPLING, y * SUPERSAMPLING) for x, y in points], fill=fill)

    def disc(self, centre: Point, radius: float, fill: Color) -> None:
        x, y, r = centre[0] * SUPERSAMPLING, centre[1] * SUPERSAMPLING, radius * SUPERSAMPLING
        self.draw.ellipse((x - r, y - r, x + r, y + r), fill=fill)

    def line(self, points: Sequence[Point], width: float, fill: Color) -> None:
        """A line with flat ends."""
        self.polygon(line_outline(points, width), fill)

    def rounded_line(self, points: Sequence[Point], width: float, fill: Color) -> None:
        """A line with round ends."""
        self.line(points, width, fill)
        for end in (points[0], points[-1]):
            self.disc(end, width / 2, fill)

    def bar(self, centre: Point, angle: float, half: float, width: float, fill: Color) -> None:
        """A straight bar about a point."""
        dx, dy = cos(angle) * half, sin(angle) * half
        x, y = centre
        self.line([(x - dx, y - dy), (x + dx, y + dy)], width, fill)

    def rounded_rectangle(
        self, left: float, top: float, right: float, bottom: float, radius: float, fill: Color
    ) -> None:
        """A rectangle with rounded corners."""
        f = SUPERSAMPLING
        self.draw.rounded_rectangle((left * f, top * f, right * f - 1, bottom * f - 1), radius * f, fill=fill)

    def arrow(self, tail: Point, tip: Point, width: float, fill: Color) -> None:
        """An arrow whose head is three times as wide as its shaft."""
        x0, y0 = tail
        x1, y1 = tip
        length = hypot(x1 - x0, y1 - y0)
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        head = min(length, 2.2 * width)
        neck = (x1 - ux * head, y1 - uy * head)
        self.line([tail, neck], width, fill)
        w = 1.5 * width
        self.polygon([(neck[0] - uy * w, neck[1] + ux * w), tip, (neck[0] + uy * w, neck[1] - ux * w)], fill)

    def downsampled(self) -> Image.Image:
        """The picture at its final size."""
        if self.image.mode == "RGB":
            return self.image.reduce(SUPERSAMPLING)
        # Averaging must not mix in the black of pixels that nothing was drawn on.
        return self.image.convert("RGBa").reduce(SUPERSAMPLING).convert("RGBA")


def to_palette(image: Image.Image, palette: Image.Image) -> Image.Image:
    """The picture in a fixed palette, each pixel in the nearest colour."""
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def encode_png(image: Image.Image) -> bytes:
    """A PNG file; level 6 costs 13 ms at 1600 x 1200, 9 eight times as much for a tenth fewer bytes."""
    out = BytesIO()
    image.save(out, "PNG", compress_level=6)
    return out.getvalue()
