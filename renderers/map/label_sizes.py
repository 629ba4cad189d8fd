"""The sizes of the texts on a hex, in pixels; a size of a text is its width and height."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from renderers.canvas import CAP_HEIGHT, fit_font_size, split_in_two, text_width
from renderers.hex_grid import HexMetrics

COORDINATE_SHARE = 0.26
"""The usual font size of a coordinate, as a share of the hex's radius."""
SHARES = (1.0, 0.88, 0.76, 0.68)
"""Font sizes that are tried, as shares of the full size."""
CROWDED_SHARES = (*SHARES, 0.64, 0.6, 0.56, 0.52)
"""The same for what may not be left out."""


@dataclass(frozen=True)
class FontSizes:
    """Font sizes in pixels for hexes of a size; `note`: of notes, structures and costs of terrain."""

    revenue: int
    name: int
    label: int
    small: int
    coordinate: int
    note: int

    @classmethod
    def for_metrics(cls, metrics: HexMetrics, share: float = 1.0) -> FontSizes:
        r, text = metrics.radius * share, metrics.text_share
        revenue = r * min(0.43 * text, 0.56)
        coordinate = r * COORDINATE_SHARE
        return cls(
            revenue=round(revenue),
            name=round(r * 0.29),
            label=round(r * 0.36),
            small=round(r * 0.21),
            coordinate=round(coordinate * min(text, 1.6)),
            note=round(coordinate * text),
        )


def tile_number(tile: str) -> str:
    """The number of a tile with its sign; nothing for a tile that has none printed."""
    return f"#{tile}" if tile[0].isdigit() else ""


def grade_diameter(font_size: int) -> int:
    """The diameter of the disc with the letter of a tile's grade."""
    return round(font_size * 1.15)


def terrain_size(cost: int, font_size: int, is_wide: bool) -> tuple[int, int]:
    """The width and height of a terrain's sign with its cost, in pixels."""
    sign, text = round(font_size * 1.75), text_width(f"${cost}", font_size)
    if is_wide:
        return round(sign * 0.7) + 3 + text, font_size
    return max(sign, text), round(font_size * 2.05)


def abbreviations(name: str) -> Iterator[str]:
    """Shorter forms of a name, the longest first: `Lancas.`, `Lanca.`, `Lanc.`; `Hami. & Toro.`."""
    words = name.split()
    longest = max(len(word) for word in words)
    for length in range(min(longest - 2, 6), 3, -1):
        yield " ".join(word if len(word) <= length + 1 else f"{word[:length]}." for word in words)


def label_size(text: str, size: int) -> tuple[int, int]:
    """The width and height of a tile's letters, with what round ones need above and below."""
    return text_width(text, size, "Black"), round(size * (CAP_HEIGHT + 0.25))


def break_name(name: str, metrics: HexMetrics, size: int, lines: int) -> tuple[list[str], int]:
    """The name in at most `lines` lines, and the font size at which it fits into the hex."""
    if not name:
        return [], size
    width = metrics.column * (1.72 if metrics.layout == "pointy" else 2.2)
    name_lines = split_in_two(name) if lines == 2 else [name]
    return name_lines, min(fit_font_size(line, size, width, "Semibold") for line in name_lines)
