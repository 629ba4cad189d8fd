"""Colours and line widths by role, in two palettes. No other module defines how anything looks.

Nothing is shown by colour alone: companies have letters, tiles have numbers and the letter of their grade,
zones and routes have names, the last change has a double outline. The tile colours also differ in lightness.
Text has a contrast of at least `MIN_CONTRAST` to what it is written on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from renderers.color_math import BLACK, MIN_CONTRAST, WHITE, Color, blend, contrast, parse_color

NOTE: Color = (75, 82, 90)
"""The plates of notes on the map."""

PaletteName = Literal["light", "dark"]


@dataclass(frozen=True, eq=False)
class Palette:
    """The colours of a picture by role.

    Of the page: `page`, `row_band`, `paper` (boxes), `ink`, `muted` and `faint` (texts). Of the board: `sea`,
    `hex_colors`, `track`, `stop_fill`, `plate` with `plate_text` (revenues). `text_on` gives the colour of a
    text on a background. `route_colors`: those that the colour-blind tell best from tiles come first.
    """

    name: PaletteName
    page: Color
    ink: Color
    muted: Color
    faint: Color
    paper: Color
    row_band: Color
    sea: Color
    sea_text: Color
    edge: Color
    tile_edge: Color
    track: Color
    casing: Color
    stop_fill: Color
    plate: Color
    plate_text: Color
    water: Color
    hill: Color
    barrier: Color
    last_change: Color
    blocked: Color
    hex_colors: Mapping[str, Color]
    zone_colors: Mapping[str, Color]
    route_colors: tuple[Color, ...]

    def text_on(self, background: Color, softness: float = 0.0) -> Color:
        """Black or white, whichever is easier to read; `softness` (0-1) mixes it with that."""
        color = max(BLACK, WHITE, key=lambda color: contrast(color, background))
        soft = blend(color, background, softness)
        return soft if contrast(soft, background) >= MIN_CONTRAST else color

    def tinted(self, tint: Color, background: Color) -> Color:
        """A tint for text on a background, made darker or lighter until it can be read."""
        target = self.text_on(background)
        shares = (blend(tint, target, i / 8) for i in range(9))
        return next((c for c in shares if contrast(c, background) >= MIN_CONTRAST), target)


def _colors(**names: str) -> Mapping[str, Color]:
    return MappingProxyType({name: parse_color(color) for name, color in names.items()})


LIGHT = Palette(
    name="light",
    page=parse_color("#f6f4ee"),
    ink=parse_color("#15181c"),
    muted=parse_color("#5a6068"),
    faint=parse_color("#a9adb2"),
    paper=parse_color("#ffffff"),
    row_band=parse_color("#eae7dd"),
    sea=parse_color("#dfe8ee"),
    sea_text=parse_color("#535a62"),
    edge=parse_color("#b9b49c"),
    tile_edge=parse_color("#4a4a44"),
    track=parse_color("#15181c"),
    casing=WHITE,
    stop_fill=WHITE,
    plate=WHITE,
    plate_text=parse_color("#15181c"),
    water=parse_color("#2f7fc1"),
    hill=parse_color("#8a5a2b"),
    barrier=parse_color("#7a1fa2"),
    last_change=parse_color("#d4007f"),
    blocked=parse_color("#8c1d18"),
    hex_colors=_colors(
        white="#f1efdf", yellow="#fbdc4e", green="#84d070", brown="#a97742",
        gray="#bcc1c6", red="#e08a84", blue="#a5d0ea",
    ),
    zone_colors=_colors(
        white="#ffffff", yellow="#ffe680", orange="#f7b267", green="#bfe3b4", brown="#c69c78",
        par="#d7e8f7", closing="#e0a3ad", liquidation="#e79a92", acquisition="#f6d9a0",
        lower="#eef3e6", upper_ledge="#e6eef3",
    ),
    route_colors=tuple(
        map(parse_color, ("#0048ff", "#911eb4", "#5c3200", "#c4127f", "#00796b", "#b34700"))
    ),
)  # fmt: skip

DARK = Palette(
    name="dark",
    page=parse_color("#1e2126"),
    ink=parse_color("#f3f1ea"),
    muted=parse_color("#aeb4bc"),
    faint=parse_color("#6c737c"),
    paper=parse_color("#2b2f36"),
    row_band=parse_color("#282c33"),
    sea=parse_color("#1c242c"),
    sea_text=parse_color("#a3adb8"),
    edge=parse_color("#5d625f"),
    tile_edge=parse_color("#0f1114"),
    track=parse_color("#0d0f12"),
    casing=parse_color("#e8e4d8"),
    stop_fill=parse_color("#efece4"),
    plate=parse_color("#efece4"),
    plate_text=parse_color("#15181c"),
    water=parse_color("#5aa9e6"),
    hill=parse_color("#c08a54"),
    barrier=parse_color("#d17bf0"),
    last_change=parse_color("#ff4fb0"),
    blocked=parse_color("#ff9d94"),
    hex_colors=_colors(
        white="#3a3e40", yellow="#d9b83b", green="#70b661", brown="#b2702f",
        gray="#868c93", red="#a04a48", blue="#3d6782",
    ),
    zone_colors=_colors(
        white="#2b2f36", yellow="#857418", orange="#8c3d00", green="#2f5a2c", brown="#4a2f18",
        par="#274661", closing="#8a2f48", liquidation="#7a2f28", acquisition="#6a4d12",
        lower="#33392c", upper_ledge="#2c3640",
    ),
    route_colors=tuple(
        map(parse_color, ("#0048ff", "#9c27d0", "#5c3200", "#c4127f", "#00796b", "#b34700"))
    ),
)  # fmt: skip

PALETTES: Mapping[str, Palette] = MappingProxyType({"light": LIGHT, "dark": DARK})

GRADE_LETTERS = MappingProxyType({"green": "G", "brown": "B"})
"""The letter on a tile of a grade that red-green blindness takes for another."""

HIGH_TERRAIN = frozenset({"mountain", "hill", "mine"})
TRACK_WIDTH = 0.125
CASING_WIDTH = 0.19
ROUTE_WIDTH = 0.15
BAR_WIDTH = 0.1
BARRIER_WIDTH = 0.11
