"""What a picture shows, as frozen plain values: the only part of renderers that reads states and components.

A view has everything that its picture shows, and nothing about how it looks. Views can be compared and hashed
(the picture of a hex is cached by its `HexView`), and describe themselves as text (`alt`). Money is in
dollars, shares are in percent, edges are 0-5, nodes are numbered as on the face.
"""

from __future__ import annotations

from renderers.views.auction import AuctionView, auction_view
from renderers.views.chart import CHART_KINDS, ChartKind, ChartView, SeriesView, chart_view
from renderers.views.hex_view import (
    HexView,
    MapView,
    PhaseValue,
    RouteSegment,
    Structure,
    map_description,
    surroundings,
)
from renderers.views.labels import (
    Badge,
    bank_text,
    clip_text,
    company_badges,
    tile_face_label,
    tile_name,
    tile_title,
)
from renderers.views.map import around, map_view, part_around, tile_view
from renderers.views.market import CellView, MarketView, market_view
from renderers.views.sheet import CompanyView, PlayerView, SheetView, TrainView, sheet_view
