"""The palettes of pictures: chosen for a table by its players, and by each person for what only they get."""

from __future__ import annotations

from renderers import PALETTES, PaletteName

AS_TABLE = "as the table"
"""What a person without a palette of their own has."""


def parse_palette(text: str) -> PaletteName:
    """The palette with a name. Raises ValueError with a sentence."""
    name = text.strip().casefold()
    if name not in PALETTES:
        raise ValueError(f"`{name or 'nothing'}` is not a palette; there are `light` and `dark`.")
    return PALETTES[name].name


def parse_own_palette(text: str) -> PaletteName | None:
    """The palette that a person chooses, None for that of each table. Raises ValueError with a sentence."""
    return None if text.strip().casefold() in (AS_TABLE, "default", "off") else parse_palette(text)


def stored_palette(name: str) -> PaletteName:
    """The palette of a table in the store; light for one that is unknown here."""
    return PALETTES[name].name if name in PALETTES else "light"
