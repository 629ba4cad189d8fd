"""Drawing primitives: smooth shapes by supersampling, text by FreeType, PNG files with a palette.

Only cheap operations of Pillow are used: filled polygons and discs, lines without joints, text at final size.
An outline is two fills. Shapes are drawn at `SUPERSAMPLING` times their size and scaled down; the callers
cache the result (`sprites`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import as_file, files
from io import BytesIO
from math import cos, hypot, sin

from PIL import Image, ImageDraw, ImageFont

from renderers.color_math import Color
from renderers.geometry import Point, line_outline
from renderers.theme import Palette

SUPERSAMPLING = 3
CAP_HEIGHT = 0.66
NO_LETTER = "\uffff"
"""What no font has: it draws a box."""


@lru_cache(64)
def font(size: int, weight: str = "Bold") -> ImageFont.FreeTypeFont:
    """Source Sans Pro (SIL Open Font License 1.1) at a size in pixels."""
    with as_file(files("font_source_sans_pro") / "files" / f"SourceSansPro-{weight}.ttf") as path:
        return ImageFont.truetype(str(path), max(6, size), layout_engine=ImageFont.Layout.BASIC)


@lru_cache(8192)
def text_width(text: str, size: int, weight: str = "Bold") -> int:
    """The width of a line of text in pixels."""
    return round(font(size, weight).getlength(text))


@lru_cache(1024)
def can_draw(text: str) -> bool:
    """Whether the font has all letters of a text; it has neither Arabic nor Chinese ones."""
    letters = font(20)
    return all(bytes(letters.getmask(each)) != bytes(letters.getmask(NO_LETTER)) for each in set(text))


def fit_font_size(text: str, size: int, width: float, weight: str = "Bold", minimum: int = 8) -> int:
    """The largest font size, from `minimum` to `size` pixels, at which a line fits into a width."""
    while size > minimum and text_width(text, size, weight) > width:
        size -= 1
    return size


def shorten(text: str, size: int, width: float, weight: str) -> str:
    """The line, cut and ended by an ellipsis where it is wider than `width` pixels."""
    if text_width(text, size, weight) <= width:
        return text
    while text and text_width(text + "…", size, weight) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def split_in_two(text: str) -> list[str]:
    """A line broken at a space into two lines of similar length; a single word stays one line."""
    words = text.split()
    if len(words) < 2:
        return words
    cut = min(range(1, len(words)), key=lambda i: abs(len(" ".join(words[:i])) - len(" ".join(words[i:]))))
    if words[cut] == "&" and cut + 1 < len(words):
        cut += 1
    return [" ".join(words[:cut]), " ".join(words[cut:])]


def filled_lines(
    texts: Iterable[str], separator: str, size: int, width: float, weight: str = "Bold"
) -> list[str]:
    """Texts in as many lines as they need, side by side as long as there is room; none is broken."""
    lines = list[str]()
    for text in texts:
        longer = f"{lines[-1]}{separator}{text}" if lines else text
        if lines and text_width(longer.rstrip(), size, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(text)
    return lines


class Canvas:
    """An RGB picture at final size, for sprites and text."""

    def __init__(self, image: Image.Image) -> None:
        self.image = image
        self.draw = ImageDraw.Draw(image)

    @classmethod
    def empty(cls, size: tuple[int, int], background: Color) -> Canvas:
        """A canvas of one colour."""
        return cls(Image.new("RGB", size, background))

    def write(
        self,
        at: tuple[float, float],
        text: str,
        size: int,
        color: Color,
        *,
        weight: str = "Bold",
        align: str = "m",
    ) -> None:
        """Write a line of text; the point is the middle of its capitals, at their left, middle or right.

        `align`: "l", "m" or "r".
        """
        self.draw.text(
            (round(at[0]), round(at[1] + CAP_HEIGHT * size / 2)),
            text,
            font=font(size, weight),
            fill=color,
            anchor=f"{align}s",
        )

    def rectangle(self, left: float, top: float, right: float, bottom: float, fill: Color) -> None:
        """A filled rectangle, if there is room for one; `right` and `bottom` are just outside it."""
        if round(right) <= round(left) or round(bottom) <= round(top):
            return
        self.draw.rectangle((round(left), round(top), round(right) - 1, round(bottom) - 1), fill=fill)

    def paste(self, sprite: Image.Image, center: tuple[float, float]) -> None:
        """Paste a picture with an alpha channel around a center."""
        at = round(center[0]) - sprite.width // 2, round(center[1]) - sprite.height // 2
        self.image.paste(sprite, at, sprite)


class Page(Canvas):
    """A canvas with the colours that everything on it has."""

    def __init__(self, size: tuple[int, int], palette: Palette, drawn: Image.Image | None = None) -> None:
        """drawn: what is on it already, a copy of which it gets."""
        super().__init__(drawn.copy() if drawn else Image.new("RGB", size, palette.page))
        self.palette = palette

    def label(self, at: tuple[float, float], text: str, size: int, color: Color | None = None) -> None:
        """Write a line, not bold, that begins at the point; in ink, if in no other colour."""
        self.write(at, text, size, color or self.palette.ink, align="l", weight="Semibold")

    def box(
        self, left: float, top: float, right: float, bottom: float, edge: int, frame: Color, fill: Color
    ) -> None:
        """A rectangle with a frame, `edge` pixels wide, inside its bounds."""
        self.rectangle(left, top, right, bottom, frame)
        self.rectangle(left + edge, top + edge, right - edge, bottom - edge, fill)


class SupersampledCanvas:
    """A picture drawn `SUPERSAMPLING` times as large; coordinates are final pixels.

    It is transparent where nothing is drawn, or has a `background` colour.
    """

    def __init__(self, size: tuple[int, int], background: Color | None = None) -> None:
        mode, fill = ("RGB", background) if background else ("RGBA", (0, 0, 0, 0))
        self.image = Image.new(mode, (size[0] * SUPERSAMPLING, size[1] * SUPERSAMPLING), fill)
        self.draw = ImageDraw.Draw(self.image)

    def polygon(self, points: Iterable[Point], fill: Color) -> None:
        self.draw.polygon([(x * SUPERSAMPLING, y * SUPERSAMPLING) for x, y in points], fill=fill)

    def disc(self, center: Point, radius: float, fill: Color) -> None:
        x, y, r = center[0] * SUPERSAMPLING, center[1] * SUPERSAMPLING, radius * SUPERSAMPLING
        self.draw.ellipse((x - r, y - r, x + r, y + r), fill=fill)

    def line(self, points: Sequence[Point], width: float, fill: Color) -> None:
        """A line with flat ends."""
        self.polygon(line_outline(points, width), fill)

    def rounded_line(self, points: Sequence[Point], width: float, fill: Color) -> None:
        """A line with round ends."""
        self.line(points, width, fill)
        for end in (points[0], points[-1]):
            self.disc(end, width / 2, fill)

    def bar(self, center: Point, angle: float, half_length: float, width: float, fill: Color) -> None:
        """A straight bar around a center, at an angle in radians."""
        dx, dy = cos(angle) * half_length, sin(angle) * half_length
        x, y = center
        self.line([(x - dx, y - dy), (x + dx, y + dy)], width, fill)

    def rounded_rectangle(
        self, left: float, top: float, right: float, bottom: float, radius: float, fill: Color
    ) -> None:
        """A rectangle with rounded corners."""
        f = SUPERSAMPLING
        self.draw.rounded_rectangle((left * f, top * f, right * f - 1, bottom * f - 1), radius * f, fill=fill)

    def arrow(self, tail: Point, tip: Point, width: float, fill: Color) -> None:
        """An arrow with a head three times as wide as its shaft."""
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
        """The picture scaled down to its final size."""
        if self.image.mode == "RGB":
            return self.image.reduce(SUPERSAMPLING)
        # Premultiplied alpha, so that averaging does not mix in the black of transparent pixels.
        return self.image.convert("RGBa").reduce(SUPERSAMPLING).convert("RGBA")


def to_palette(image: Image.Image, palette: Image.Image) -> Image.Image:
    """The picture in a fixed palette, without dithering."""
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def encode_png(image: Image.Image) -> bytes:
    """A PNG file. Level 9 takes five times as long as level 7 and saves a tenth."""
    out = BytesIO()
    image.save(out, "PNG", compress_level=7)
    return out.getvalue()
