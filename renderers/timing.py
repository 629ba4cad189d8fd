"""How long pictures take, in processor time: figures for `railpost bench`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from typing import NamedTuple

from PIL import Image

from engine import State
from renderers import (
    canvas,
    geometry,
    label_layout,
    map,
    market,
    sheet,
    sprites,
    theme,
    views,
)


class RenderingMetric(NamedTuple):
    """One measurement: milliseconds or kB, and the bound it is held against."""

    name: str
    value: float
    unit: str
    bound: float | None


def measure_rendering(states: Sequence[State]) -> list[RenderingMetric]:
    """Draw the maps of consecutive positions of one game at 1600 x 1200, then market and sheet.

    Forgets all pictures that are kept; raises ValueError without a position.
    """
    if not states:
        raise ValueError("there is no position to draw")
    for module in (map, canvas, geometry, market, label_layout, sprites, theme):
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()
    last = states[-1]
    first, _ = _measure_map(last)
    for kept in (map.draw_hex, label_layout._lay_out_cached):
        kept.cache_clear()
    cached, size = _measure_map(last)
    _measure_map(states[0])
    moves = [_measure_map(state)[0] for state in states[1:]]
    figures = [
        RenderingMetric("map, the very first", first, "ms", 500),
        RenderingMetric("map, from cached tiles", cached, "ms", 60),
    ]
    if moves:
        figures.append(RenderingMetric("map after a move, mean", sum(moves) / len(moves), "ms", 25))
        figures.append(RenderingMetric("map after a move, slowest", max(moves), "ms", None))
    figures.append(RenderingMetric("map, size", size / 1000, "kB", 150))
    figures.append(
        RenderingMetric(
            "market", _measure(lambda: market.draw_market(views.market_view(last)))[0], "ms", None
        )
    )
    figures.append(
        RenderingMetric("sheet", _measure(lambda: sheet.draw_sheet(views.sheet_view(last)))[0], "ms", None)
    )
    return figures


def _measure_map(state: State) -> tuple[float, int]:
    """Milliseconds and bytes of a map."""
    return _measure(lambda: map.draw_map(views.map_view(state)))


def _measure(draw: Callable[[], Image.Image]) -> tuple[float, int]:
    start = thread_time()
    size = len(canvas.encode_png(draw()))
    return (thread_time() - start) * 1000, size
