"""The pictures of a letter: the position as it is, with what has changed since the reader last looked."""

from __future__ import annotations

from collections.abc import Iterable

import engine
from bot.service.picture_workers import PictureWorkers
from mail import InlineImage

CSS_WIDTHS = {"map": 640, "market": 560, "sheet": 640}  # CSS pixels


async def position_images(
    pictures: PictureWorkers, state: engine.State, named: Iterable[str], before: engine.State | None = None
) -> tuple[InlineImage, ...]:
    """`map`, `market` or `sheet`; what differs from `before` is marked. One that fails is left out."""
    found = []
    for what in named:
        match what:
            case "map":
                hexes = changed_hexes(before, state) if before else ()
                drawn = await pictures.map(state, highlight=hexes)
            case "market":
                companies = repriced_companies(before, state) if before else ()
                drawn = await pictures.market(state, highlight=companies)
            case _:
                drawn = await pictures.sheet(state)
        if drawn:
            found.append(InlineImage(what, drawn.png, drawn.alt, CSS_WIDTHS[what]))
    return tuple(found)


def changed_hexes(before: engine.State, after: engine.State) -> tuple[str, ...]:
    """Where another tile, other tokens or other works lie than before."""
    hexes = engine.game_of(after).components.map.hexes
    return tuple(hex for hex in sorted(hexes) if _hex_contents(before, hex) != _hex_contents(after, hex))


def _hex_contents(state: engine.State, hex: str) -> tuple[object, ...]:
    placed = {private: one for private, one in state.city_tokens.items() if one.hex == hex}
    tokens = state.tokens.get(hex) or None
    return state.tiles.get(hex), tokens, hex in state.mine_hexes, hex in state.bridge_hexes, placed


def repriced_companies(before: engine.State, after: engine.State) -> tuple[str, ...]:
    """The companies that stand in another cell of the market."""
    stood = {sym: company.cell for sym, company in before.companies.items()}
    return tuple(s for s, c in after.companies.items() if c.cell is not None and c.cell != stood.get(s))
