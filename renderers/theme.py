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


# Each colour in the light palette and in the dark one.
_ROLES: Mapping[str, tuple[str, str]] = {
    "page": ("#f6f4ee", "#1e2126"), "ink": ("#15181c", "#f3f1ea"), "muted": ("#5a6068", "#aeb4bc"),
    "faint": ("#a9adb2", "#6c737c"), "paper": ("#ffffff", "#2b2f36"), "row_band": ("#eae7dd", "#282c33"),
    "sea": ("#dfe8ee", "#1c242c"), "sea_text": ("#535a62", "#a3adb8"), "edge": ("#b9b49c", "#5d625f"),
    "tile_edge": ("#4a4a44", "#0f1114"), "track": ("#15181c", "#0d0f12"), "casing": ("#ffffff", "#e8e4d8"),
    "stop_fill": ("#ffffff", "#efece4"), "plate": ("#ffffff", "#efece4"),
    "plate_text": ("#15181c", "#15181c"), "water": ("#2f7fc1", "#5aa9e6"), "hill": ("#8a5a2b", "#c08a54"),
    "barrier": ("#7a1fa2", "#d17bf0"), "last_change": ("#d4007f", "#ff4fb0"),
    "blocked": ("#8c1d18", "#ff9d94"),
}  # fmt: skip
_HEX_COLORS: Mapping[str, tuple[str, str]] = {
    "white": ("#f1efdf", "#3a3e40"), "yellow": ("#fbdc4e", "#d9b83b"), "green": ("#84d070", "#70b661"),
    "brown": ("#a97742", "#b2702f"), "gray": ("#bcc1c6", "#868c93"), "red": ("#e08a84", "#a04a48"),
    "blue": ("#a5d0ea", "#3d6782"),
}  # fmt: skip
_ZONE_COLORS: Mapping[str, tuple[str, str]] = {
    "white": ("#ffffff", "#2b2f36"), "yellow": ("#ffe680", "#857418"), "orange": ("#f7b267", "#8c3d00"),
    "green": ("#bfe3b4", "#2f5a2c"), "brown": ("#c69c78", "#4a2f18"), "par": ("#d7e8f7", "#274661"),
    "closing": ("#e0a3ad", "#8a2f48"), "liquidation": ("#e79a92", "#7a2f28"),
    "acquisition": ("#f6d9a0", "#6a4d12"), "lower": ("#eef3e6", "#33392c"),
    "upper_ledge": ("#e6eef3", "#2c3640"),
}  # fmt: skip
_ROUTE_COLORS = (
    ("#0048ff", "#0048ff"), ("#911eb4", "#9c27d0"), ("#5c3200", "#5c3200"),
    ("#c4127f", "#c4127f"), ("#00796b", "#00796b"), ("#b34700", "#b34700"),
)  # fmt: skip


def _palette(name: PaletteName) -> Palette:
    at = ("light", "dark").index(name)

    def colors(table: Mapping[str, tuple[str, str]]) -> Mapping[str, Color]:
        return MappingProxyType({role: parse_color(each[at]) for role, each in table.items()})

    return Palette(
        name=name,
        hex_colors=colors(_HEX_COLORS),
        zone_colors=colors(_ZONE_COLORS),
        route_colors=tuple(parse_color(each[at]) for each in _ROUTE_COLORS),
        **colors(_ROLES),
    )


LIGHT, DARK = _palette("light"), _palette("dark")
PALETTES: Mapping[str, Palette] = MappingProxyType({"light": LIGHT, "dark": DARK})

GRADE_LETTERS = MappingProxyType({"green": "G", "brown": "B"})
"""The letter on a tile of a grade that red-green blindness takes for another."""

HIGH_TERRAIN = frozenset({"mountain", "hill", "mine"})
TRACK_WIDTH = 0.125
CASING_WIDTH = 0.19
ROUTE_WIDTH = 0.15
BAR_WIDTH = 0.1
BARRIER_WIDTH = 0.11
