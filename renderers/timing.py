"""How long pictures take, in processor time: figures for `railpost bench`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from typing import NamedTuple

from PIL import Image

from engine import State
from renderers import board, canvas, hexes, market, placing, sheet, sprites, theme, views


class Figure(NamedTuple):
    """One measurement: milliseconds or kB, and the bound it is held against."""

    name: str
    value: float
    unit: str
    bound: float | None


def bench(states: Sequence[State]) -> list[Figure]:
    """Draw the maps of consecutive positions of one game at 1600 x 1200, then market and sheet.

    Forgets all pictures that are kept; raises ValueError without a position.
    """
    if not states:
        raise ValueError("there is no position to draw")
    for module in (board, canvas, hexes, market, placing, sprites, theme):
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()
    last = states[-1]
    first, _ = _drawn(last)
    for kept in (board.hex_picture, placing._arranged):
        kept.cache_clear()
    cached, size = _drawn(last)
    _drawn(states[0])
    moves = [_drawn(state)[0] for state in states[1:]]
    figures = [
        Figure("map, the very first", first, "ms", 500),
        Figure("map, from cached tiles", cached, "ms", 60),
    ]
    if moves:
        figures.append(Figure("map after a move, mean", sum(moves) / len(moves), "ms", 25))
        figures.append(Figure("map after a move, slowest", max(moves), "ms", None))
    figures.append(Figure("map, size", size / 1000, "kB", 150))
    figures.append(
        Figure("market", _timed(lambda: market.market_picture(views.market_view(last)))[0], "ms", None)
    )
    figures.append(
        Figure("sheet", _timed(lambda: sheet.sheet_picture(views.sheet_view(last)))[0], "ms", None)
    )
    return figures


def _drawn(state: State) -> tuple[float, int]:
    """Milliseconds and bytes of a map."""
    return _timed(lambda: board.board_picture(views.board_view(state)))


def _timed(draw: Callable[[], Image.Image]) -> tuple[float, int]:
    start = thread_time()
    size = len(canvas.png(draw()))
    return (thread_time() - start) * 1000, size
