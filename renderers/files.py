"""The bytes of a picture's file, as small as they come without a change of a pixel, and its fixed palette.

Of 18 pictures of 1830, 1870 and 1817, which are 1,018 kB as drawn, oxipng makes 905 kB at level 2, 884 kB
at level 4, and Pillow's own optimiser 961 kB. Lossless WebP takes 613 kB; Discord shows it, and several email
programs do not. Pictures of few flat colours are smallest without a filter, so the time goes into the best
compression: that gives the size of level 4 in a quarter of its time (0.4 s where level 2 takes 0.25 s).
Zopfli saves another hundredth, in two seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import chain
from typing import NamedTuple

from PIL import Image

from renderers.color_math import BLACK, WHITE, Color, blend, parse_color
from renderers.theme import NOTE, Palette


class Picture(NamedTuple):
    """A PNG file, what was made of it, or a GIF of an animation; its description of at most 1024 characters,
    its size in pixels."""

    png: bytes
    alt: str
    width: int
    height: int


def smaller_png(png: bytes) -> bytes:
    """The same picture as a smaller PNG."""
    try:
        import oxipng
    except ImportError:  # Python 3.14 has no wheel of it yet
        return _optimized(png)
    best = oxipng.Deflaters.libdeflater(12)
    return oxipng.optimize_from_memory(png, level=2, filter=[oxipng.RowFilter.NoOp], deflate=best)


def to_webp(png: bytes, method: int = 4) -> bytes:
    """A PNG as lossless WebP. At 1600 x 1800 it takes 0.3 s.

    `method`: 1 takes half of that and 3 % more bytes; 6 takes 9 s and saves nothing.
    """
    with Image.open(BytesIO(png)) as image:
        out = BytesIO()
        image.convert("RGB").save(out, "WEBP", lossless=True, quality=100, method=method)
    return out.getvalue()


def _optimized(png: bytes) -> bytes:
    with Image.open(BytesIO(png)) as image:
        out = BytesIO()
        image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _png_colors(palette: Palette, companies: Iterable[Color]) -> Iterator[Color]:
    """Every colour in use, then its mixtures with its backgrounds, for smooth edges."""
    backgrounds = (palette.page, palette.sea, palette.paper, palette.plate, *palette.hex_colors.values())
    solid = [
        *backgrounds, palette.ink, BLACK, WHITE, NOTE, palette.muted, palette.faint, palette.row_band,
        palette.edge, palette.tile_edge, palette.track, palette.water, palette.hill, palette.barrier,
        palette.last_change, palette.blocked, *palette.zone_colors.values(), *palette.route_colors,
        *companies,
    ]  # fmt: skip
    yield from solid
    for background in chain(backgrounds, palette.zone_colors.values()):
        yield blend(background, palette.text_on(background), 0.5)
    for c in companies:
        yield from (blend(c, other, 0.5) for other in (BLACK, WHITE))
    for background in backgrounds:
        for c in (palette.water, palette.hill, palette.barrier, palette.last_change, palette.blocked):
            yield blend(background, c, 0.5)
    for c in palette.route_colors:
        yield from (blend(c, other, 0.5) for other in (BLACK, WHITE))
    yield from (blend(BLACK, WHITE, i / 3) for i in (1, 2))


@lru_cache(16)
def png_palette(palette: Palette, companies: Sequence[str]) -> Image.Image:
    """The fixed palette (at most 256 colours) of the files of a title with these company colours."""
    colors = list(dict.fromkeys(_png_colors(palette, [parse_color(c) for c in companies])))[:256]
    image = Image.new("P", (1, 1))
    image.putpalette([channel for c in colors for channel in c])
    return image
