"""The numbered tiles of the site: the next of a kind is the one that has been in the supply longest.

Of a limited kind all are there from the start; of one without limit there is one, and another comes
with each that is laid. A tile that is replaced goes behind the others. Where an optional rule takes
tiles out, those with the lowest numbers go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from engine.core.components import Components


class TileSupply:
    """Which numbered tiles are in the supply, and which lie where.

    `usual`: how many tiles of each kind there are without optional rules.
    """

    def __init__(self, facts: Components, usual: Mapping[str, int | None]) -> None:
        self._free = {tile: deque(_numbers(count, usual.get(tile))) for tile, count in facts.tiles.items()}
        self._unlimited = {tile: 1 for tile, count in facts.tiles.items() if count is None}
        self._on_map: dict[str, tuple[str, int]] = {}

    def next_number(self, tile: str) -> int:
        """The number of the tile of that kind that is laid next."""
        return self._free[tile][0]

    def prefer(self, tile: str, number: int) -> None:
        """Let this one of its kind be laid next, whether it is in the supply or not."""
        free = self._free[tile]
        if number in free:
            free.remove(number)
        free.appendleft(number)

    def hex_of(self, tile: str, number: int) -> str | None:
        """Where that tile lies."""
        return next((hex for hex, lies in self._on_map.items() if lies == (tile, number)), None)

    def tile_at(self, hex: str) -> tuple[str, int] | None:
        """The tile that lies on a hex."""
        return self._on_map.get(hex)

    def lay(self, hex: str, tile: str) -> None:
        """The next tile of that kind comes to the hex, for what lay there."""
        number = self._free[tile].popleft()
        if tile in self._unlimited:
            self._free[tile].append(self._unlimited[tile])
            self._unlimited[tile] += 1
        if old := self._on_map.get(hex):
            self._free[old[0]].append(old[1])
        self._on_map[hex] = tile, number


def _numbers(count: int | None, usual: int | None) -> range:
    if count is None:
        return range(1)
    first = max((usual or 0) - count, 0)
    return range(first, first + count)
