"""The pictures of a letter: the position as it is, with what has changed since the reader last looked."""

from __future__ import annotations

from collections.abc import Iterable

import engine
from bot.pictures import Pictures
from mail import Picture

WIDTHS = {"map": 640, "market": 560, "sheet": 640}  # CSS pixels


async def figures(
    pictures: Pictures, state: engine.State, named: Iterable[str], before: engine.State | None = None
) -> tuple[Picture, ...]:
    """`map`, `market` or `sheet`; what differs from `before` is marked. One that fails is left out."""
    found = []
    for what in named:
        match what:
            case "map":
                hexes = changed_hexes(before, state) if before else ()
                drawn = await pictures.map(state, highlight=hexes)
            case "market":
                companies = changed_prices(before, state) if before else ()
                drawn = await pictures.market(state, highlight=companies)
            case _:
                drawn = await pictures.sheet(state)
        if drawn:
            found.append(Picture(what, drawn.png, drawn.alt, WIDTHS[what]))
    return tuple(found)


def changed_hexes(before: engine.State, after: engine.State) -> tuple[str, ...]:
    """Where another tile, other tokens or other works lie than before."""
    hexes = engine.game_of(after).facts.map.hexes
    return tuple(hex for hex in sorted(hexes) if _lying(before, hex) != _lying(after, hex))


def _lying(state: engine.State, hex: str) -> tuple[object, ...]:
    placed = {private: one for private, one in state.improvements.items() if one.hex == hex}
    tokens = state.tokens.get(hex) or None
    return state.tiles.get(hex), tokens, hex in state.mines, hex in state.bridges, placed


def changed_prices(before: engine.State, after: engine.State) -> tuple[str, ...]:
    """The companies that stand in another cell of the market."""
    stood = {sym: company.cell for sym, company in before.companies.items()}
    return tuple(s for s, c in after.companies.items() if c.cell is not None and c.cell != stood.get(s))
