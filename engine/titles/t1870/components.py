"""How options and the site's conventions change the printed components of 1870."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from engine.core.components import Components, MarketZone, Node, PresidentsCertificateAbility

PUBLISHERS_TILES = {
    "4": 6, "7": 9, "8": 22, "9": 23, "16": 2, "17": 2, "18": 2, "19": 2, "20": 2, "25": 3, "26": 2,
    "27": 2, "28": 2, "29": 2, "40": 2, "70": 2, "141": 2, "142": 2, "145": 2, "146": 2, "147": 2,
}  # fmt: skip
"""Counts of tiles in the publisher's larger set, where they differ from the designer's."""

DISCARD_ORDER = ("ATSF", "SSW", "SP", "SLSF", "MP", "MKT", "IC", "GMO", "FW", "TP")
"""The order in which companies are asked to discard."""

PUBLISHERS_ZONES = {(4, 0): (MarketZone.BROWN,), (6, 5): (MarketZone.YELLOW,), (7, 6): (MarketZone.YELLOW,)}
"""Spaces that the publisher's market has in another colour."""


def site_components(components: Components, original: Callable[[str], bool]) -> Components:
    """The components as the site has them: the publisher's edition, but for what is brought back."""
    replace = msgspec.structs.replace
    changes: dict[str, Any] = {
        "companies": tuple(
            sorted(components.companies, key=lambda company: DISCARD_ORDER.index(company.sym))
        ),
        "players": {"min": 2, "max": 7},
        "trains": tuple(replace(t, count=None) if t.name == "12" else t for t in components.trains),
        "upgrades": (components.upgrades or {}) | {"58": ("141", "142", "143", "144")},
        "offboard_tokens": True,
    }
    if not original("original_rules"):
        # The publisher's table has no row for eight companies.
        changes["cert_limits"] = {left: limits for left, limits in components.cert_limits.items() if left > 8}
    if not original("original_tiles"):
        changes["tiles"] = components.tiles | PUBLISHERS_TILES
    if not original("original_market"):
        rows = [list(row) for row in components.market.rows]
        for (row, column), zones in PUBLISHERS_ZONES.items():
            cell = rows[row][column]
            assert cell is not None
            rows[row][column] = replace(cell, zones=zones)
        changes["market"] = replace(components.market, rows=tuple(map(tuple, rows)))
    if not original("max_reissue_200"):
        changes["reissue_prices"] = tuple(cell.price for cell in components.market.rows[0] if cell)
    return replace(components, **changes)


def with_historical_order(components: Components) -> Components:
    """The Frisco floats as the others do, and pays as a private until then (1870 §16.5)."""
    replace = msgspec.structs.replace
    usual = max(company.float_percent for company in components.companies)
    companies = tuple(replace(company, float_percent=usual) for company in components.companies)
    privates = tuple(
        replace(private, revenue=20) if isinstance(private.ability, PresidentsCertificateAbility) else private
        for private in components.privates
    )
    return replace(components, companies=companies, privates=privates)


def with_diesels(components: Components, last: str, *, unlimited: bool) -> Components:
    """The 8, 10 and 12 replaced by diesels of any reach, which begin the phase `last` (1870 §16.2)."""
    replace = msgspec.structs.replace
    kept = components.trains[: [t.name for t in components.trains].index("8")]
    dearest = components.trains[-1]
    diesel = replace(
        dearest,
        name="D",
        distance=None,
        count=None if unlimited else dearest.count,
        discounts={"4": 300, "5": 300, "6": 300},
        available_on="6",
    )
    gone = {"8": "D", "12": None}
    trains = (*(replace(t, rusts_on=gone.get(t.rusts_on or "", t.rusts_on)) for t in kept), diesel)
    final = next(p for p in components.phases if p.on == "8")
    phases = (*components.phases[: components.phases.index(final)], replace(final, name=last, on="D"))

    def renamed(node: Node) -> Node:
        if isinstance(node.revenue, int):
            return node
        figures = {last if phase == final.name else phase: value for phase, value in node.revenue.items()}
        return replace(node, revenue=figures)

    hexes = {
        hex: replace(here, nodes=tuple(map(renamed, here.nodes)))
        for hex, here in components.map.hexes.items()
    }
    return replace(components, trains=trains, phases=phases, map=replace(components.map, hexes=hexes))
