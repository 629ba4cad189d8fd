"""A whole game as an animated picture of its map.

Theory of operation. The first frame is the whole map; each later one is only the rectangle of what has
changed, drawn over the frame before, so a frame costs a few kilobytes and a millisecond. All frames have one
palette.

The format is GIF: Discord plays it in place, and so do the mail programs that show animations. Discord
shows only the first frame of an APNG, and many mail programs show no WebP.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import pack
from typing import NamedTuple

from PIL import GifImagePlugin, Image

from engine import State
from renderers import theme
from renderers.canvas import Canvas, fit_font_size, to_palette
from renderers.files import Picture, png_palette
from renderers.hex_grid import Grid
from renderers.map.hex_sprites import hex_mask
from renderers.map.layers import LAYERS
from renderers.map.map import draw_hex, grid_for
from renderers.theme import Palette
from renderers.views import HexView, clip_text, map_view

PAGE = (1000, 1100)
"""The largest size of the map, in pixels."""
CAPTION_HEIGHT = 56
FRAME_TIME, LAST_FRAME_TIME = 350, 5000
"""In milliseconds."""
MAX_BYTES = 8_000_000


class Moment(NamedTuple):
    """A position of a game with its caption: `OR 3.1 · PRR`."""

    caption: str
    state: State


class Animator:
    """Draws a game, one moment after the other."""

    def __init__(self, first: Moment, palette: Palette = theme.LIGHT) -> None:
        view = map_view(first.state)
        self.palette = palette
        self.grid: Grid = grid_for(view, PAGE, margin=8)
        self.grid = self.grid.cropped([hex.coord for hex in view.hexes], 8)
        self.colors = tuple(company.color for company in view.companies)
        self.hexes: dict[str, HexView] = {hex.coord: hex for hex in view.hexes}
        self.size = self.grid.size[0], self.grid.size[1] + CAPTION_HEIGHT
        self.frames: list[tuple[Image.Image, tuple[int, int]]] = []
        self._title, self._changes = first.state.title, 0
        self.page = to_palette(Canvas.empty(self.size, palette.sea).image, png_palette(palette, self.colors))
        self._draw(self.hexes)
        self.page.paste(self._caption(first.caption), (0, self.grid.size[1]))
        self.caption = first.caption
        self.frames.append((self.page.copy(), (0, 0)))

    def _caption(self, text: str) -> Image.Image:
        canvas = Canvas.empty((self.size[0], CAPTION_HEIGHT), self.palette.sea)
        size = fit_font_size(text, 36, self.size[0] - 40)
        canvas.write((20, CAPTION_HEIGHT / 2), text, size, self.palette.text_on(self.palette.sea), align="l")
        return to_palette(canvas.image, png_palette(self.palette, self.colors))

    def add(self, moment: Moment, changed: Iterable[str] | None = None) -> None:
        """Add a moment as a frame, if the map has changed.

        `changed`: the only hexes that may have changed; None: any.
        """
        view = map_view(moment.state, crop=changed)
        new = {hex.coord: hex for hex in view.hexes if hex != self.hexes[hex.coord]}
        if not new:
            return
        box = self._draw(new)
        if moment.caption != self.caption:
            self.page.paste(self._caption(moment.caption), (0, self.grid.size[1]))
            self.frames.append((self.page.crop((0, self.grid.size[1], *self.size)), (0, self.grid.size[1])))
            self.caption = moment.caption
        self.frames.append((self.page.crop(box), box[:2]))
        self._changes += len(new)

    def _draw(self, new: Mapping[str, HexView]) -> tuple[int, int, int, int]:
        """Draw hexes, and return the rectangle around them."""
        mask, metrics = hex_mask(self.grid.metrics), self.grid.metrics
        w, h = metrics.half_size
        corners = []
        for coord, hex in new.items():
            x, y = self.grid.center(coord)
            picture = draw_hex(self.palette, hex, metrics, LAYERS, self.colors).image
            self.page.paste(picture, (x - w, y - h), mask)
            corners.append((x - w, y - h))
        self.hexes |= new
        left, top = (max(0, min(values)) for values in zip(*corners, strict=True))
        right, bottom = (max(values) for values in zip(*corners, strict=True))
        return left, top, min(self.size[0], right + 2 * w), min(self.size[1], bottom + 2 * h)

    def finish(self) -> Picture:
        """The file. Raises ValueError if it would be larger than `MAX_BYTES`."""
        colors = (self.page.getpalette() or [])[: 256 * 3]
        parts = [
            b"GIF89a", pack("<HHBBB", *self.size, 0xF7, 0, 0), bytes(colors).ljust(256 * 3, b"\0"),
            b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0",
        ]  # fmt: skip
        for i, (image, offset) in enumerate(self.frames):
            is_last, is_caption = i == len(self.frames) - 1, image.height == CAPTION_HEIGHT
            time = LAST_FRAME_TIME if is_last else 20 if is_caption else FRAME_TIME
            parts += GifImagePlugin.getdata(image, offset, duration=time, disposal=1)
        gif = b"".join([*parts, b";"])
        if len(gif) > MAX_BYTES:
            raise ValueError(f"The animation has {len(gif)} bytes; at most {MAX_BYTES} are sent.")
        alt = (
            f"The map of {self._title} from the first to the last turn: {len(self.frames)} frames, "
            f"{self._changes} changes of hexes. The last frame: {self.caption}."
        )
        return Picture(gif, clip_text(alt), *self.size)
