"""The positions of tokens and reserved places on a hex."""

from __future__ import annotations

from collections.abc import Iterator

from renderers.geometry import Point
from renderers.hex_grid import HexMetrics
from renderers.map import hex_sprites
from renderers.views import Badge, HexView

PlacedToken = tuple[Badge, Point, int]
"""A token, or the company for which a slot is reserved: its center in units, its diameter in pixels."""


def _slot_points(view: HexView, metrics: HexMetrics) -> list[tuple[Point, ...]]:
    return [spot.slots or (spot.point,) for spot in hex_sprites.face_layout(view, metrics).nodes]


def _token_diameter(view: HexView, metrics: HexMetrics, node: int) -> int:
    return round(2 * hex_sprites.face_layout(view, metrics).nodes[node].radius * metrics.radius) - 3


def token_positions(view: HexView, metrics: HexMetrics) -> list[PlacedToken]:
    """Each token of a hex with its center in units and its diameter in pixels, in the order of the view.

    A token whose city is still to be chosen (node -1) is between the cities. A token without a slot is above
    its city, and smaller.
    """
    return [position for position, _ in _positioned_tokens(view, metrics)]


def overflow_token_positions(view: HexView, metrics: HexMetrics) -> list[PlacedToken]:
    """The tokens without a slot: in an off-board area, or more than their city has slots."""
    return [position for position, overflows in _positioned_tokens(view, metrics) if overflows]


def _positioned_tokens(view: HexView, metrics: HexMetrics) -> Iterator[tuple[PlacedToken, bool]]:
    slots = _slot_points(view, metrics)
    filled: dict[int, int] = {}
    for node, badge in view.tokens:
        i = filled.get(node, 0)
        filled[node] = i + 1
        if view.nodes[node][0] == "offboard":
            count = sum(n == node for n, _ in view.tokens)
            yield (badge, _area_token_point(i, count), _area_token_diameter(metrics)), True
        elif node < 0:
            yield (badge, (0.0, 0.0), _token_diameter(view, metrics, 0)), False
        elif i < len(slots[node]):
            yield (badge, slots[node][i], _token_diameter(view, metrics, node)), False
        else:
            placed = hex_sprites.face_layout(view, metrics).nodes[node]
            x = placed.point[0] + _alternating_offset(i - len(slots[node])) * 1.5 * placed.radius
            above = x, placed.point[1] - 1.4 * placed.radius
            yield (badge, above, round(0.72 * _token_diameter(view, metrics, node))), True


def _alternating_offset(i: int) -> int:
    """0, 1, -1, 2, -2 and so on."""
    return (i + 1) // 2 * (1 if i % 2 else -1)


def tokens_beside_slots(view: HexView, metrics: HexMetrics) -> list[PlacedToken]:
    """What is drawn over an area: tokens without a slot, and reserved places in off-board areas."""
    reserved = [
        position
        for (node, _), position in zip(view.reserved, reserved_positions(view, metrics), strict=False)
        if view.nodes[node][0] == "offboard"
    ]
    return [*overflow_token_positions(view, metrics), *reserved]


def reserved_positions(view: HexView, metrics: HexMetrics) -> list[PlacedToken]:
    """Each slot of a hex that is reserved for a company, in the same form."""
    positions = []
    slots = _slot_points(view, metrics)
    filled = {n: sum(node == n for node, _ in view.tokens) for n in range(len(slots))}
    for node, badge in view.reserved:
        if view.nodes[node][0] == "offboard":
            positions.append((badge, _area_token_point(0, 1), _area_token_diameter(metrics)))
            continue
        if filled[node] < len(slots[node]):
            positions.append((badge, slots[node][filled[node]], _token_diameter(view, metrics, node)))
            filled[node] += 1
    return positions


def _area_token_point(i: int, count: int) -> Point:
    """The center of the i-th token of an off-board area, in units: in a row below its values."""
    return (i - (count - 1) / 2) * 0.4, 0.5


def _area_token_diameter(metrics: HexMetrics) -> int:
    return round(0.4 * metrics.radius)
