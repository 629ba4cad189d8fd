"""Where the hexes of a map lie, and which lie beside each other.

A coordinate such as `H10` is a column and a row, counted so that hexes which touch along a row or a column
are two apart. The other neighbours of a hex are one column and one row away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from engine.core.components.definitions import MapDefinition

NAME = re.compile(r"[@A-Z]+\d+")
"""A coordinate: letters, then a number. `@` is the line before A."""

STEPS: dict[Literal["flat", "pointy"], tuple[tuple[int, int], ...]] = {
    "pointy": ((-1, 1), (-2, 0), (-1, -1), (1, -1), (2, 0), (1, 1)),
    "flat": ((0, 2), (-1, 1), (-1, -1), (0, -2), (1, -1), (1, 1)),
}
"""By layout, for each edge 0-5 how many columns and rows away the hex beside it is."""


def column_row(coord: str, axes: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[int, int]:
    """The column and row of a coordinate such as `H10`; letters count from A = 0."""
    cut = next(i for i, c in enumerate(coord) if c.isdigit())
    letter = 0
    for c in coord[:cut]:
        letter = letter * 26 + ord(c.upper()) - ord("A") + 1
    letter, number = letter - 1, int(coord[cut:])
    return (letter, number) if dict(axes)["x"] == "letter" else (number, letter)


def neighbors_of(board: MapDefinition) -> dict[str, dict[int, str]]:
    """For each hex of the map the hexes beside it by edge 0-5."""
    cells = {hex: column_row(hex, board.axes) for hex in board.hexes}
    at = {cell: hex for hex, cell in cells.items()}
    steps = tuple(enumerate(STEPS[board.layout]))
    return {
        hex: {e: beside for e, (x, y) in steps if (beside := at.get((column + x, row + y)))}
        for hex, (column, row) in cells.items()
    }
