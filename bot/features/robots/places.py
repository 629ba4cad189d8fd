"""What a place on the map is worth by the stops around it."""

from __future__ import annotations

from engine import Game, stop_revenue
from engine.core.components import HexDefinition
from engine.operating.stations import home_node, place_home

RINGS = 4
"""How many hexes from a place stops are looked at; its own counts as the first."""
USUAL_PLACE = 140
"""Dollars of a place with several stops around it."""
# Fitted to 103 companies in games of robots and greedy players: docs/robot-experiments.md.
NOWHERE = 0.4
"""Which part of the usual revenue a new company earns far from all stops."""
BY_PLACE = 0.8
"""What a usual place adds to that part."""
MOST = 1.3
"""The largest part, at the best places."""


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


def home_place(g: Game, company: str) -> float:
    """How good the surroundings of a company's home, or of its tokens, are: 1 for a usual place."""
    home = g.company_definition(company).home
    tokens = g.state.tokens.items()
    hexes = [home.hex] if home else [h for h, there in tokens if any(c == company for _, c in there)]
    return max((place_value(g, hex) for hex in hexes), default=USUAL_PLACE) / USUAL_PLACE


def part_by_place(g: Game, company: str) -> float:
    """Which part of the usual revenue a company that is still to begin will earn by its place."""
    return min(NOWHERE + BY_PLACE * home_place(g, company), MOST)


def at_home(g: Game, company: str) -> Game:
    """The position, with the company's home token if that is still to be placed and its city is known."""
    if g.company(company).has_operated or g.company_definition(company).home is None:
        return g
    if home_node(g, company) is None:
        return g
    draft = g.draft()
    place_home(draft, company, "president")
    return draft
