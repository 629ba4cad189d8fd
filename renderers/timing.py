"""The processor time that pictures take, for `railpost bench`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from typing import NamedTuple

from PIL import Image

from engine import State
from renderers import canvas, geometry, market, sprites, theme, views
from renderers.map import label_layout, layers, map
from renderers.sheet import sheet


class RenderingMetric(NamedTuple):
    """One measurement, in milliseconds or kB, and the bound that it should keep."""

    name: str
    value: float
    unit: str
    bound: float | None


def clear_caches() -> None:
    """Forget all pictures and layouts, so that the next picture is drawn anew."""
    for module in (map, layers, canvas, geometry, market, label_layout, sprites, theme):
        for member in vars(module).values():
            if hasattr(member, "cache_clear"):
                member.cache_clear()


def measure_rendering(states: Sequence[State]) -> list[RenderingMetric]:
    """Draw the maps of consecutive positions of one game at 1280 x 960, then market and sheet.

    Clears all caches of pictures. Raises ValueError for no positions.
    """
    if not states:
        raise ValueError("there is no position to draw")
    clear_caches()
    last = states[-1]
    first, _ = _measure_map(last)
    for member in (map.draw_hex, label_layout._lay_out_cached):
        member.cache_clear()
    cached, size = _measure_map(last)
    _measure_map(states[0])
    moves = [_measure_map(state)[0] for state in states[1:]]
    metrics = [
        RenderingMetric("map, the very first", first, "ms", 500),
        RenderingMetric("map, from cached tiles", cached, "ms", 60),
    ]
    if moves:
        metrics.append(RenderingMetric("map after a move, mean", sum(moves) / len(moves), "ms", 25))
        metrics.append(RenderingMetric("map after a move, slowest", max(moves), "ms", None))
    metrics.append(RenderingMetric("map, size", size / 1000, "kB", 150))
    metrics.append(
        RenderingMetric(
            "market", _measure(lambda: market.draw_market(views.market_view(last)))[0], "ms", None
        )
    )
    metrics.append(
        RenderingMetric("sheet", _measure(lambda: sheet.draw_sheet(views.sheet_view(last)))[0], "ms", None)
    )
    return metrics


def _measure_map(state: State) -> tuple[float, int]:
    """The milliseconds that a map takes, and its size in bytes."""
    return _measure(lambda: map.draw_map(views.map_view(state)))


def _measure(draw: Callable[[], Image.Image]) -> tuple[float, int]:
    start = thread_time()
    size = len(canvas.encode_png(draw()))
    return (thread_time() - start) * 1000, size
