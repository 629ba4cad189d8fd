"""Colours and strokes by the role they play. Nothing else says what anything looks like.

No meaning hangs on a colour alone: companies have their letters, tiles their numbers, zones
and routes their names, the last change a double outline. The grounds differ in lightness too,
so that yellow, green and brown are told apart by eyes that see no hue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from PIL import Image, ImageColor

Color = tuple[int, int, int]


def parse_color(name: str) -> Color:
    """A colour from its hexadecimal name."""
    red, green, blue, *_ = ImageColor.getrgb(name)
    return red, green, blue


def blend(a: Color, b: Color, share: float) -> Color:
    """That share of b mixed into a."""
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return red, green, blue


PAGE = parse_color("#f6f4ee")
INK = parse_color("#15181c")
MUTED = parse_color("#5a6068")
FAINT = parse_color("#a9adb2")
PAPER = parse_color("#ffffff")
RULE = parse_color("#cfd2d4")
ROW_BAND = parse_color("#eae7dd")

SEA = parse_color("#dfe8ee")
HEX_COLORS = {
    "white": parse_color("#f1efdf"),
    "yellow": parse_color("#fbdc4e"),
    "green": parse_color("#7cc47f"),
    "brown": parse_color("#b98352"),
    "gray": parse_color("#bcc1c6"),
    "red": parse_color("#ee9a8e"),
    "blue": parse_color("#a5d0ea"),
}
EDGE = parse_color("#b9b49c")
TILE_EDGE = parse_color("#4a4a44")
TRACK = INK
STOP_FILL = PAPER
WATER = parse_color("#2f7fc1")
HILL = parse_color("#8a5a2b")
HIGH_TERRAIN = {"mountain": HILL, "hill": HILL, "mine": HILL}
BARRIER = parse_color("#7a1fa2")
LAST_CHANGE = parse_color("#d4007f")
BLOCKED = parse_color("#8c1d18")
CURRENT_VALUE = PAPER
ROUTE_COLORS = tuple(
    parse_color(c) for c in ("#e6194b", "#0057e7", "#f58200", "#911eb4", "#00796b", "#6d3b00")
)
ZONE_COLORS = {
    "white": PAPER,
    "yellow": parse_color("#ffe680"),
    "orange": parse_color("#f7b267"),
    "green": parse_color("#bfe3b4"),
    "brown": parse_color("#c69c78"),
    "par": parse_color("#d7e8f7"),
    "closing": parse_color("#d9a5a5"),
    "liquidation": parse_color("#e79a92"),
    "acquisition": parse_color("#f6d9a0"),
    "lower": parse_color("#eef3e6"),
    "upper_ledge": parse_color("#e6eef3"),
}
GOOD = parse_color("#1d6b36")

TRACK_WIDTH = 0.125
CASING_WIDTH = 0.19
ROUTE_WIDTH = 0.15
BAR_WIDTH = 0.1
BARRIER_WIDTH = 0.11


def lightness(c: Color) -> float:
    """How light a colour looks, 0-255."""
    return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]


def readable_on(text: Color, ground: Color) -> Color:
    """That colour, or ink or paper where it would hardly be seen on the ground."""
    if abs(lightness(text) - lightness(ground)) >= 70:
        return text
    return INK if lightness(ground) > 130 else PAPER


def _palette_colors(companies: Iterable[Color]) -> Iterator[Color]:
    """Every colour in use, first itself, then its steps towards what it is drawn upon."""
    grounds = (PAGE, SEA, PAPER, *HEX_COLORS.values())
    solid = [
        *grounds, INK, MUTED, FAINT, RULE, ROW_BAND, EDGE, TILE_EDGE, WATER, HILL, BARRIER,
        LAST_CHANGE, BLOCKED, GOOD,
        *ZONE_COLORS.values(), *ROUTE_COLORS, *companies,
    ]  # fmt: skip
    yield from solid
    for ground in chain(grounds, ZONE_COLORS.values()):
        yield from (blend(ground, INK, share) for share in (0.5, 0.25, 0.75))
    for c in companies:
        for other in (INK, PAPER):
            yield from (blend(c, other, share) for share in (0.5,))
    for ground in grounds:
        for c in (WATER, HILL, BARRIER, LAST_CHANGE, BLOCKED):
            yield blend(ground, c, 0.5)
    for c in ROUTE_COLORS:
        yield from (blend(c, other, 0.5) for other in (INK, PAPER))
    yield from (blend(INK, PAPER, i / 12) for i in range(1, 12))


@lru_cache(16)
def palette(companies: Sequence[str]) -> Image.Image:
    """The fixed palette (at most 256 colours) for a title with companies of those colours."""
    colours = list(dict.fromkeys(_palette_colors([parse_color(c) for c in companies])))[:256]
    image = Image.new("P", (1, 1))
    image.putpalette([channel for c in colours for channel in c])
    return image
