"""What a place on the map is worth by the stops around it."""

from __future__ import annotations

from engine import Game, stop_revenue
from engine.core.components import HexDefinition

RINGS = 4
"""How many hexes from a place stops are looked at; its own counts as the first."""


def open_neighbors(hex: HexDefinition) -> list[str]:
    """The hexes beside one, but not those behind a border that no track crosses."""
    closed = {border.edge for border in hex.borders}
    return [beside for edge, beside in hex.neighbors.items() if edge not in closed]


def place_value(g: Game, hex: str) -> float:
    """Dollars of the stops around a hex, the near ones most. It follows from the track and the phase."""
    cache, key = g.network.cache, ("place", hex, g.state.phase)
    if key not in cache:
        cache[key] = _place_value(g, hex)
    value: float = cache[key]  # type: ignore[assignment]
    return value


def _place_value(g: Game, hex: str) -> float:
    hexes = g.components.map.hexes
    seen, ring, total = {hex}, [hex], 0.0
    for distance in range(RINGS):
        following = []
        for at in ring:
            for node in g.network.faces[at].nodes:
                value = stop_revenue(g.components, g.state.phase, node)
                total += max(value, 10 if node.kind == "city" else 0) / (1 + distance)
            cost = sum(t.cost for t in hexes[at].terrain) if at not in g.state.tiles else 0
            total -= 0.1 * cost / (1 + distance)
            for beside in open_neighbors(hexes[at]):
                if beside not in seen and beside in hexes:
                    seen.add(beside)
                    following.append(beside)
        ring = following
    return total
