"""The visible position in the site's names, as recorded games are compared by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.core.state import BANK, IPO, POOL
from engine.game import Game
from engine.operating.stations import UNDECIDED_CITY
from engine.site_18xx.names import SiteNames

NO_PRESIDENT = "market"
"""What the site calls the president of a company that has none."""


def position_snapshot(
    g: Game, names: SiteNames, player_keys: list[str], action_id: int, starting_company: str | None = None
) -> dict[str, Any]:
    """The visible position after the action of that id: dollars, percent, hexes.

    `player_keys`: in seating order. `starting_company`: a company whose home token the file places only in
    its next action; it is shown without the token.
    """
    s = g.state
    seats = dict(zip(s.seats, player_keys, strict=True))

    def privates(owner: str) -> list[str]:
        return sorted(names.privates.get(p, p) for p in g.privates_of(owner))

    def shares(seat: str) -> dict[str, int]:
        return {names.site_company(c): co.shares[seat] for c, co in s.companies.items() if seat in co.shares}

    companies = {}
    for sym, co in s.companies.items():
        if co.par is not None:
            companies[names.site_company(sym)] = {
                "cash": s.cash[sym],
                "price": g.price(sym),
                "cell": list(co.cell or ()),
                "president": seats.get(co.president or "", NO_PRESIDENT),
                "own": co.shares.get(IPO, 0) + co.shares.get(sym, 0),
                "pool": co.shares.get(POOL, 0),
                "trains": sorted(co.trains),
                "tokens": [] if sym == starting_company else sorted(_token_hexes(g, sym)),
                "privates": privates(sym),
                "loans": co.loans,
            }
    return {
        "id": action_id,
        "phase": s.phase,
        "bank": s.cash[BANK],
        "players": {
            key: {"cash": s.cash[seat], "shares": shares(seat), "privates": privates(seat)}
            for seat, key in seats.items()
        },
        "companies": companies,
        "tiles": {hex: [names.tiles.get(tile, tile), turn] for hex, (tile, turn) in s.tiles.items()},
        "over": s.game_over is not None,
    }


def _token_hexes(g: Game, company: str) -> Iterator[str]:
    """The hexes of a company's tokens, without one whose city is still being chosen."""
    for hex, tokens in g.state.tokens.items():
        for node, owner in tokens:
            if owner == company and not (node == UNDECIDED_CITY and hex in g.state.tiles):
                yield hex
