"""What a picture shows, as frozen plain values: the only package that reads facts and states.

A view says everything that its picture shows and nothing of how it looks; it can be compared,
hashed (a hex's picture is kept by its `HexView`) and told in words (`alt`). Values are dollars,
shares percent, edges 0-5, nodes numbered as on the face.
"""

from __future__ import annotations

from renderers.views.labels import (
    MAX_ALT_TEXT,
    Badge,
    bank_text,
    clip_text,
    company_badges,
    dollars,
)
from renderers.views.map import (
    HexView,
    MapView,
    PhaseValue,
    RouteLeg,
    RouteSegment,
    RouteSpec,
    Structure,
    map_view,
    route_legs,
)
from renderers.views.market import CellView, MarketView, market_view
from renderers.views.sheet import CompanyView, Holding, PlayerView, SheetView, sheet_view

__all__ = [
    "MAX_ALT_TEXT",
    "Badge",
    "CellView",
    "CompanyView",
    "HexView",
    "Holding",
    "MapView",
    "MarketView",
    "PhaseValue",
    "PlayerView",
    "RouteLeg",
    "RouteSegment",
    "RouteSpec",
    "SheetView",
    "Structure",
    "bank_text",
    "clip_text",
    "company_badges",
    "dollars",
    "map_view",
    "market_view",
    "route_legs",
    "sheet_view",
]  # fmt: skip
