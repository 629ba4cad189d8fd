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

Colour = tuple[int, int, int]


def colour(name: str) -> Colour:
    """A colour from its hexadecimal name."""
    red, green, blue, *_ = ImageColor.getrgb(name)
    return red, green, blue


def blend(a: Colour, b: Colour, share: float) -> Colour:
    """That share of b mixed into a."""
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return red, green, blue


PAGE = colour("#f6f4ee")
INK = colour("#15181c")
SOFT = colour("#5a6068")
FAINT = colour("#a9adb2")
PAPER = colour("#ffffff")
RULE = colour("#cfd2d4")
BAND = colour("#eae7dd")

SEA = colour("#dfe8ee")
GROUND = {
    "white": colour("#f1efdf"),
    "yellow": colour("#fbdc4e"),
    "green": colour("#7cc47f"),
    "brown": colour("#b98352"),
    "gray": colour("#bcc1c6"),
    "red": colour("#ee9a8e"),
    "blue": colour("#a5d0ea"),
}
EDGE = colour("#b9b49c")
TILE_EDGE = colour("#4a4a44")
TRACK = INK
STOP = PAPER
WATER = colour("#2f7fc1")
HILL = colour("#8a5a2b")
TERRAIN = {"mountain": HILL, "hill": HILL, "mine": HILL}
BARRIER = colour("#7a1fa2")
LAST = colour("#d4007f")
BLOCKED = colour("#8c1d18")
CURRENT = PAPER
ROUTES = tuple(colour(c) for c in ("#e6194b", "#0057e7", "#f58200", "#911eb4", "#00796b", "#6d3b00"))
ZONES = {
    "white": PAPER,
    "yellow": colour("#ffe680"),
    "orange": colour("#f7b267"),
    "green": colour("#bfe3b4"),
    "brown": colour("#c69c78"),
    "par": colour("#d7e8f7"),
    "closing": colour("#d9a5a5"),
    "liquidation": colour("#e79a92"),
    "acquisition": colour("#f6d9a0"),
    "lower": colour("#eef3e6"),
    "upper_ledge": colour("#e6eef3"),
}
GOOD = colour("#1d6b36")

TRACK_WIDTH = 0.125
CASING_WIDTH = 0.19
ROUTE_WIDTH = 0.15
BAR_WIDTH = 0.1
BARRIER_WIDTH = 0.11


def lightness(c: Colour) -> float:
    """How light a colour looks, 0-255."""
    return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]


def legible(text: Colour, ground: Colour) -> Colour:
    """That colour, or ink or paper where it would hardly be seen on the ground."""
    if abs(lightness(text) - lightness(ground)) >= 70:
        return text
    return INK if lightness(ground) > 130 else PAPER


def _mixes(companies: Iterable[Colour]) -> Iterator[Colour]:
    """Every colour in use, first itself, then its steps towards what it is drawn upon."""
    grounds = (PAGE, SEA, PAPER, *GROUND.values())
    solid = [
        *grounds, INK, SOFT, FAINT, RULE, BAND, EDGE, TILE_EDGE, WATER, HILL, BARRIER, LAST, BLOCKED, GOOD,
        *ZONES.values(), *ROUTES, *companies,
    ]  # fmt: skip
    yield from solid
    for ground in chain(grounds, ZONES.values()):
        yield from (blend(ground, INK, share) for share in (0.5, 0.25, 0.75))
    for c in companies:
        for other in (INK, PAPER):
            yield from (blend(c, other, share) for share in (0.5,))
    for ground in grounds:
        for c in (WATER, HILL, BARRIER, LAST, BLOCKED):
            yield blend(ground, c, 0.5)
    for c in ROUTES:
        yield from (blend(c, other, 0.5) for other in (INK, PAPER))
    yield from (blend(INK, PAPER, i / 12) for i in range(1, 12))


@lru_cache(16)
def palette(companies: Sequence[str]) -> Image.Image:
    """The fixed palette (at most 256 colours) for a title with companies of those colours."""
    colours = list(dict.fromkeys(_mixes([colour(c) for c in companies])))[:256]
    image = Image.new("P", (1, 1))
    image.putpalette([channel for c in colours for channel in c])
    return image
