"""How an option changes the printed components of 1851."""

from __future__ import annotations

import msgspec

from engine.core.components import Components


def with_johnson_city_falling(components: Components) -> Components:
    """The components with a Johnson City that is worth most at the beginning."""
    hexes = components.map.hexes
    city = msgspec.structs.replace(hexes["E23"].nodes[0], revenue={"2": 40, "4": 30, "6": 30})
    changed = hexes | {"E23": msgspec.structs.replace(hexes["E23"], nodes=(city,))}
    return msgspec.structs.replace(components, map=msgspec.structs.replace(components.map, hexes=changed))
