"""What a picture shows, as frozen plain values: the only package that reads facts and states.

A view says everything that its picture shows and nothing of how it looks; it can be compared,
hashed (a hex's picture is kept by its `HexView`) and told in words (`alt`). Values are dollars,
shares percent, edges 0-5, nodes numbered as on the face.
"""

from __future__ import annotations

from renderers.views.board import (
    BoardView,
    Course,
    HexView,
    Leg,
    Site,
    Stretch,
    Value,
    board_view,
    course_legs,
)
from renderers.views.market import CellView, MarketView, market_view
from renderers.views.sheet import CompanyView, Holding, PlayerView, SheetView, sheet_view
from renderers.views.words import ALT_LIMIT, Badge, badges_of, bank_words, clipped, dollars

__all__ = [
    "ALT_LIMIT", "Badge", "BoardView", "CellView", "CompanyView", "Course", "HexView", "Holding", "Leg",
    "MarketView", "PlayerView", "SheetView", "Site", "Stretch", "Value", "badges_of", "bank_words",
    "board_view", "clipped", "course_legs", "dollars", "market_view", "sheet_view",
]  # fmt: skip
