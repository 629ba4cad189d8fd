"""What all views share: the appearance of companies' tokens, and short texts."""

from __future__ import annotations

from dataclasses import dataclass

from engine import Components, tile_faces
from renderers import color_math

MAX_ALT_TEXT = 1024
"""Characters. What matters most for the question is first, so that what is cut matters least."""


@dataclass(frozen=True)
class Badge:
    """The appearance of a company's token: symbol, colour (`#rrggbb`) and text colour."""

    sym: str
    color: str
    text_color: str


def company_badges(components: Components) -> dict[str, Badge]:
    """The badge of each company by its symbol, in the title's order."""
    return {c.sym: _badge(c.sym, c.color, c.text_color) for c in components.companies}


def _badge(sym: str, color: str, text_color: str) -> Badge:
    colors = color_math.token_colors(color_math.parse_color(color), color_math.parse_color(text_color))
    return Badge(sym, *("#{:02x}{:02x}{:02x}".format(*each) for each in colors))


def clip_text(text: str) -> str:
    """The text, cut after a whole word and ended by an ellipsis where Discord would refuse it."""
    limit = MAX_ALT_TEXT
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"


def tile_name(tile: str) -> str:
    """A tile's number; for a tile that has none printed, its label and grade: `B (yellow)`."""
    if tile[0].isdigit():
        return tile
    face = tile_faces()[tile]
    return f"{face.label or 'unnumbered'} ({face.color})"


def tile_face_label(tile: str) -> str:
    """The letters printed on a tile, if there are any."""
    return tile_faces()[tile].label or ""


def tile_title(tile: str) -> str:
    """How a text names a tile: `tile 57`, or `B tile (yellow)` for one without a printed number."""
    if tile[0].isdigit():
        return f"tile {tile}"
    face = tile_faces()[tile]
    return f"{face.label or 'unnumbered'} tile ({face.color})"


def bank_text(amount: int) -> str:
    """The bank's cash, or how much a broken bank owes."""
    return f"bank ${amount:,}" if amount >= 0 else f"bank broken, owes ${-amount:,}"
