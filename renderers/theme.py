"""Colours and line widths by role. No other module defines how anything looks.

Nothing is shown by colour alone: companies have letters, tiles have numbers, zones and routes have names, the
last change has a double outline. The tile colours also differ in lightness, so that colour-blind readers can
tell yellow, green and brown apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from PIL import Image, ImageColor

Color = tuple[int, int, int]


def parse_color(name: str) -> Color:
    """An RGB colour from `#rrggbb`."""
    red, green, blue, *_ = ImageColor.getrgb(name)
    return red, green, blue


def blend(a: Color, b: Color, share: float) -> Color:
    """A mixture of two colours; `share` (0-1) is that of b."""
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return red, green, blue


PAGE = parse_color("#f6f4ee")
INK = parse_color("#15181c")
MUTED = parse_color("#5a6068")
FAINT = parse_color("#a9adb2")
PAPER = parse_color("#ffffff")

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
HIGH_TERRAIN = frozenset({"mountain", "hill", "mine"})
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

TRACK_WIDTH = 0.125
CASING_WIDTH = 0.19
ROUTE_WIDTH = 0.15
BAR_WIDTH = 0.1
BARRIER_WIDTH = 0.11


def lightness(c: Color) -> float:
    """The perceived lightness of a colour, 0-255."""
    return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]


def readable_on(text: Color, background: Color) -> Color:
    """The text colour, replaced by ink or paper where it has too little contrast to the background."""
    if abs(lightness(text) - lightness(background)) >= 70:
        return text
    return INK if lightness(background) > 130 else PAPER


def _palette_colors(companies: Iterable[Color]) -> Iterator[Color]:
    """Every colour in use, then its mixtures with its backgrounds, for smooth edges."""
    backgrounds = (PAGE, SEA, PAPER, *HEX_COLORS.values())
    solid = [
        *backgrounds, INK, MUTED, FAINT, ROW_BAND, EDGE, TILE_EDGE, WATER, HILL, BARRIER,
        LAST_CHANGE, BLOCKED,
        *ZONE_COLORS.values(), *ROUTE_COLORS, *companies,
    ]  # fmt: skip
    yield from solid
    for background in chain(backgrounds, ZONE_COLORS.values()):
        yield from (blend(background, INK, share) for share in (0.5, 0.25, 0.75))
    for c in companies:
        for other in (INK, PAPER):
            yield from (blend(c, other, share) for share in (0.5,))
    for background in backgrounds:
        for c in (WATER, HILL, BARRIER, LAST_CHANGE, BLOCKED):
            yield blend(background, c, 0.5)
    for c in ROUTE_COLORS:
        yield from (blend(c, other, 0.5) for other in (INK, PAPER))
    yield from (blend(INK, PAPER, i / 12) for i in range(1, 12))


@lru_cache(16)
def palette(companies: Sequence[str]) -> Image.Image:
    """The fixed palette (at most 256 colours) of a title with these company colours."""
    colors = list(dict.fromkeys(_palette_colors([parse_color(c) for c in companies])))[:256]
    image = Image.new("P", (1, 1))
    image.putpalette([channel for c in colors for channel in c])
    return image
