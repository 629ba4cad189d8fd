"""What a position shows, in the site's names: the form in which recorded games are compared."""

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
    g: Game, names: SiteNames, keys: list[str], id: int, homeless: str | None = None
) -> dict[str, Any]:
    """The observable state after the action of that id; `keys` are the players' in seating order.

    `homeless`: a company whose home token the file places only in its next action.
    """
    s = g.state
    seats = dict(zip(s.seats, keys, strict=True))

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
                "tokens": [] if sym == homeless else sorted(_token_hexes(g, sym)),
                "privates": privates(sym),
                "loans": co.loans,
            }
    return {
        "id": id,
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
    """Hexes of its tokens; one whose city is being chosen is off the board for that moment."""
    for hex, here in g.state.tokens.items():
        for node, owner in here:
            if owner == company and not (node == UNDECIDED_CITY and hex in g.state.tiles):
                yield hex
