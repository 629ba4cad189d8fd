"""The site's numbered tiles.

The next of a type is the one that has been in the supply longest; a replaced tile goes behind the others.
Of a type with a limited count all are there from the start. Of an unlimited type there is one, and another
is added each time one is laid. Where an optional rule removes tiles, those with the lowest numbers go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from engine.core.components import Components


class TileSupply:
    """Which numbered tiles are in the supply, and which are on the map.

    `standard_counts`: how many tiles of each type there are without optional rules (None: unlimited).
    """

    def __init__(self, components: Components, standard_counts: Mapping[str, int | None]) -> None:
        self._free = {
            tile: deque(_numbers(count, standard_counts.get(tile)))
            for tile, count in components.tiles.items()
        }
        self._unlimited = {tile: 1 for tile, count in components.tiles.items() if count is None}
        self._on_map: dict[str, tuple[str, int]] = {}

    def next_number(self, tile: str) -> int:
        """The number of the tile of that type that is laid next."""
        return self._free[tile][0]

    def prefer(self, tile: str, number: int) -> None:
        """Let this one of its type be laid next. Raises KeyError where it is not in the supply."""
        free = self._free[tile]
        if number not in free:
            raise KeyError(number)
        free.remove(number)
        free.appendleft(number)

    def hex_of(self, tile: str, number: int) -> str | None:
        """The hex of that tile, or None."""
        return next((hex for hex, laid in self._on_map.items() if laid == (tile, number)), None)

    def tile_at(self, hex: str) -> tuple[str, int] | None:
        """The (type, number) of the tile on a hex, or None."""
        return self._on_map.get(hex)

    def lay(self, hex: str, tile: str) -> None:
        """Lay the next tile of that type on a hex; the tile it replaces returns to the supply."""
        number = self._free[tile].popleft()
        if tile in self._unlimited:
            self._free[tile].append(self._unlimited[tile])
            self._unlimited[tile] += 1
        if old := self._on_map.get(hex):
            self._free[old[0]].append(old[1])
        self._on_map[hex] = tile, number


def _numbers(count: int | None, standard_count: int | None) -> range:
    if count is None:
        return range(1)
    first = max((standard_count or 0) - count, 0)
    return range(first, first + count)
