"""The images of a mail: the position, with what has changed since its reader last saw it."""

from __future__ import annotations

from collections.abc import Iterable

import engine
from bot.service.picture_workers import Pictures
from mail import InlineImage

CSS_WIDTHS = {"map": 640, "market": 560, "sheet": 640}  # pixels


async def position_images(
    pictures: Pictures, state: engine.State, kinds: Iterable[str], before: engine.State | None = None
) -> tuple[InlineImage, ...]:
    """Images of these kinds (`map`, `market`, `sheet`), with the differences from `before` highlighted.

    An image that cannot be drawn is left out.
    """
    images = []
    for kind in kinds:
        match kind:
            case "map":
                hexes = changed_hexes(before, state) if before else ()
                picture = await pictures.map(state, highlight=hexes)
            case "market":
                companies = repriced_companies(before, state) if before else ()
                picture = await pictures.market(state, highlight=companies)
            case _:
                picture = await pictures.sheet(state)
        if picture:
            images.append(InlineImage(kind, picture.png, picture.alt, CSS_WIDTHS[kind]))
    return tuple(images)


def changed_hexes(before: engine.State, after: engine.State) -> tuple[str, ...]:
    """The hexes whose tile, tokens, mine or bridge have changed."""
    hexes = engine.game_of(after).components.map.hexes
    return tuple(hex for hex in sorted(hexes) if _hex_contents(before, hex) != _hex_contents(after, hex))


def _hex_contents(state: engine.State, hex: str) -> tuple[object, ...]:
    city_tokens = {private: token for private, token in state.city_tokens.items() if token.hex == hex}
    tokens = state.tokens.get(hex) or None
    return state.tiles.get(hex), tokens, hex in state.mine_hexes, hex in state.bridge_hexes, city_tokens


def repriced_companies(before: engine.State, after: engine.State) -> tuple[str, ...]:
    """The companies that have moved on the market."""
    cells = {sym: company.cell for sym, company in before.companies.items()}
    return tuple(s for s, c in after.companies.items() if c.cell is not None and c.cell != cells.get(s))
