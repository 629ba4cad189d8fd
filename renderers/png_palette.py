"""The fixed palette of a picture's file: few colours make small files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from PIL import Image

from renderers.color_math import BLACK, WHITE, Color, blend, parse_color
from renderers.theme import NOTE, Palette


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
    yield from (blend(BLACK, WHITE, i / 4) for i in range(1, 4))


@lru_cache(16)
def png_palette(palette: Palette, companies: Sequence[str]) -> Image.Image:
    """The fixed palette (at most 256 colours) of the files of a title with these company colours."""
    colors = list(dict.fromkeys(_png_colors(palette, [parse_color(c) for c in companies])))[:256]
    image = Image.new("P", (1, 1))
    image.putpalette([channel for c in colors for channel in c])
    return image
