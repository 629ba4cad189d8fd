"""How long pictures take: figures for `railpost bench`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

from engine import State
from renderers import board, canvas, hexes, market, sheet, sprites, theme, views


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
    for module in (board, canvas, hexes, market, sprites, theme):
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()
    first = _milliseconds(lambda: board.board_png(views.board_view(states[-1])))
    board.hex_picture.cache_clear()
    cached = _milliseconds(lambda: board.board_png(views.board_view(states[-1])))
    board.board_png(views.board_view(states[0]))
    moves = [_milliseconds(lambda s=s: board.board_png(views.board_view(s))) for s in states[1:]]  # type: ignore[misc]
    kilobytes = len(board.board_png(views.board_view(states[-1]))) / 1000
    figures = [
        Figure("map, the very first", first, "ms", 500),
        Figure("map, from cached tiles", cached, "ms", 60),
        Figure("map, size", kilobytes, "kB", 150),
        Figure(
            "market", _milliseconds(lambda: market.market_file(views.market_view(states[-1]))), "ms", None
        ),
        Figure("sheet", _milliseconds(lambda: sheet.sheet_file(views.sheet_view(states[-1]))), "ms", None),
    ]
    if moves:
        figures[2:2] = [
            Figure("map after a move, mean", sum(moves) / len(moves), "ms", 25),
            Figure("map after a move, slowest", max(moves), "ms", None),
        ]
    return figures


def _milliseconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return (perf_counter() - start) * 1000
