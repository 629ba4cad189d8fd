"""Tile lays among the choices of a decision, and the select of the hexes where they are possible (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import engine
from bot.discord.controls.controls import MAX_OPTIONS, OPEN_TILES, MenuItem

LAY = re.compile(r"lay (\S+) (\S+) ([0-5])(?: |$)")


class LayChoice(NamedTuple):
    """A choice that lays a tile: its number among the choices, and the hex, tile and rotation 0-5."""

    number: int
    hex: str
    tile: str
    rotation: int


def lay_choices(choices: Sequence[engine.Choice]) -> list[LayChoice]:
    """The choices that lay a tile."""
    found = ((i, LAY.match(choice.line)) for i, choice in enumerate(choices) if choice.amounts is None)
    return [LayChoice(i, m[2], m[1], int(m[3])) for i, m in found if m]


def hex_items(choices: Sequence[engine.Choice], lays: Sequence[LayChoice], page: int = 0) -> list[MenuItem]:
    """One page of the hexes on which tiles can be laid, as options of a select."""
    by_hex: dict[str, list[LayChoice]] = {}
    for lay in lays:
        by_hex.setdefault(lay.hex, []).append(lay)
    items = [_hex_item(choices, hex, on_hex) for hex, on_hex in by_hex.items()]
    if len(items) <= MAX_OPTIONS:
        return items
    first = page * (MAX_OPTIONS - 1)
    shown = items[first : first + MAX_OPTIONS - 1]
    rest = len(items) - first - len(shown)
    return [*shown, *([MenuItem("More…", f"{rest} further", OPEN_TILES, f"+{page + 1}")] if rest else [])]


def _hex_item(choices: Sequence[engine.Choice], hex: str, lays: Sequence[LayChoice]) -> MenuItem:
    labels = (label for label in choices[lays[0].number].path if label.split()[0] == hex)
    tiles = ", ".join(dict.fromkeys(f"#{lay.tile}" for lay in lays))
    ways = f"{len(lays)} way{'s' * (len(lays) > 1)}: {tiles}"
    return MenuItem(next(labels, hex), ways, OPEN_TILES, hex)
