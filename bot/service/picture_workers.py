"""Pictures drawn beside the event loop, in processes of their own.

A picture that cannot be drawn is None and is logged; nothing that waits for it fails. The last ones
are kept by content, and who wants one that is being drawn waits for that.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from typing import Any

import engine
from renderers import (
    Picture,
    RouteSpec,
    map_png,
    market_png,
    sheet_png,
    tile_choice_png,
)

log = logging.getLogger(__name__)

DRAW_TIMEOUT = 30.0  # seconds for one picture
CACHE_SIZE = 48

RENDERERS: dict[str, Callable[..., Picture]] = {
    "map": map_png,
    "market": market_png,
    "sheet": sheet_png,
    "tiles": tile_choice_png,
}


def _init_worker() -> None:
    """A worker leaves interrupts to its parent, and ends with it even where that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()


def _exit_with_parent(parent: BaseProcess) -> None:
    parent.join()
    os._exit(0)


def _draw(what: str, state: bytes, places: tuple[Any, ...], details: dict[str, Any]) -> Picture:
    return RENDERERS[what](engine.decode_state(state), *places, **details)


class PictureWorkers:
    """A pool of processes that draw. Close it with `close()`, or by `with`."""

    def __init__(self, workers: int = 2) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._cache: OrderedDict[object, asyncio.Future[Picture | None]] = OrderedDict()

    def __enter__(self) -> PictureWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the processes end."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    async def map(
        self,
        state: engine.State,
        *,
        highlight: Iterable[str] = (),
        routes: Sequence[tuple[str, RouteSpec]] = (),
        company: str = "",
        crop: Iterable[str] | None = None,
        size: tuple[int, int] | None = None,
    ) -> Picture | None:
        """The map, as `renderers.map_png` draws it."""
        details: dict[str, Any] = {
            "highlight": tuple(highlight), "routes": tuple(routes), "company": company,
            "crop": None if crop is None else tuple(crop),
        }  # fmt: skip
        return await self._cached("map", state, (), details | ({"size": size} if size else {}))

    async def market(self, state: engine.State, *, highlight: Iterable[str] = ()) -> Picture | None:
        """The stock market."""
        return await self._cached("market", state, (), {"highlight": tuple(highlight)})

    async def sheet(self, state: engine.State) -> Picture | None:
        """The sheet of players and companies."""
        return await self._cached("sheet", state, (), {})

    async def tiles(self, state: engine.State, hex: str, tile: str, turns: Sequence[int]) -> Picture | None:
        """The ways in which a tile may be turned on a hex."""
        return await self._cached("tiles", state, (hex, tile, tuple(turns)), {})

    async def draw(self, what: str, state: engine.State) -> Picture | None:
        """`map`, `market` or `sheet`, as they are by themselves."""
        return await self._cached(what, state, (), {})

    async def _cached(
        self, what: str, state: engine.State, places: tuple[Any, ...], details: dict[str, Any]
    ) -> Picture | None:
        raw = engine.encode_state(state)
        key = (what, raw, places, repr(sorted(details.items())))
        found = self._cache.get(key)
        if found is not None and not (found.done() and (found.cancelled() or found.result() is None)):
            self._cache.move_to_end(key)
            return await asyncio.shield(found)
        promise: asyncio.Future[Picture | None] = asyncio.get_running_loop().create_future()
        self._cache[key] = promise
        while len(self._cache) > CACHE_SIZE:
            self._cache.popitem(last=False)
        picture: Picture | None = None
        try:
            picture = await self._render(what, raw, places, details)
        finally:
            if not promise.done():
                promise.set_result(picture)
        return picture

    async def _render(
        self, what: str, state: bytes, places: tuple[Any, ...], details: dict[str, Any]
    ) -> Picture | None:
        for _ in range(2):
            pool = self._pool = self._pool or self._new_pool()
            try:
                job = asyncio.get_running_loop().run_in_executor(pool, _draw, what, state, places, details)
                async with asyncio.timeout(DRAW_TIMEOUT):
                    return await job
            except BrokenProcessPool:
                log.warning("the picture workers ended; new ones are started")
                if self._pool is pool:
                    self.close()
            except Exception:
                log.exception("a picture (%s) could not be drawn", what)
                return None
        return None

    def _new_pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._workers, context, _init_worker)
