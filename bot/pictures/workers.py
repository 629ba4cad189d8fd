"""Pictures drawn in worker processes, beside the event loop.

A picture that cannot be drawn is None and is logged; nothing that waits for it fails. A post waits a few
seconds for a picture, then it goes out without it, and the picture is drawn all the same. The most recent
pictures are cached by their content, and a request for a picture that is being drawn waits for that one.
Tables take turns, so that hundreds of requests of one hold up no other: see `for_table`.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import threading
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from typing import Any, Literal

import engine
from bot.pictures.draw import NothingToDraw, animation_of_game, chart_of_game, review_of_game
from bot.position.controls import ReviewChart
from renderers import (
    WAYS_PER_SHEET,
    PaletteName,
    Picture,
    auction_png,
    companies_png,
    map_png,
    market_png,
    sheet_png,
    tile_places_png,
    tiles_left_png,
    upgrades_png,
    ways_png,
)
from renderers.files import smaller_png, to_webp

log = logging.getLogger(__name__)

FileType = Literal["png", "webp"]
Post = Literal["turn", "answer", "ending"]
WATCHED = 0  # games that are only watched take turns as one table
PICTURES_OF_A_GAME = ("chart", "animation", "review")
DRAW_TIMEOUT = 30.0  # seconds for one picture
PATIENCE = {"turn": 5.0, "answer": 10.0, "ending": 10.0}
"""Seconds for which a post waits for a picture. An answer waits for one of a whole game until it is drawn."""
CACHE_SIZE = 48


RENDERERS: dict[str, Callable[..., Picture]] = {
    "map": map_png,
    "market": market_png,
    "sheet": sheet_png,
    "auction": auction_png,
    "companies": companies_png,
    "ways": ways_png,
    "places": tile_places_png,
    "upgrades": upgrades_png,
    "tiles left": tiles_left_png,
    "chart": chart_of_game,
    "animation": animation_of_game,
    "review": review_of_game,
}


def end_with_parent() -> None:
    """A worker ends with its parent even if that is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()


def _exit_with_parent(parent: BaseProcess) -> None:
    parent.join()
    os._exit(0)


def draw_file(kind: str, state: engine.State, arguments: tuple[Any, ...], details: dict[str, Any]) -> Picture:
    """Draw a picture; `file_type` among the details is that of its bytes."""
    file_type = details.get("file_type", "png")
    drawn = RENDERERS[kind](state, *arguments, **{k: v for k, v in details.items() if k != "file_type"})
    if kind == "animation":
        return drawn
    return drawn._replace(png=to_webp(drawn.png) if file_type == "webp" else smaller_png(drawn.png))


def _draw(kind: str, state: bytes, arguments: tuple[Any, ...], details: dict[str, Any]) -> Picture | None:
    try:
        return draw_file(kind, engine.decode_state(state), arguments, details)
    except NothingToDraw:
        return None


class Pictures:
    """What can be drawn. Each method returns None for a picture that cannot be drawn."""

    async def map(
        self,
        state: engine.State,
        *,
        highlight: Iterable[str] = (),
        routes: Sequence[tuple[str, str]] = (),
        company: str = "",
        crop: Iterable[str] | None = None,
        size: tuple[int, int] | None = None,
    ) -> Picture | None:
        """The map, as `renderers.map_png` draws it."""
        details: dict[str, Any] = {
            "highlight": tuple(highlight), "routes": tuple(routes), "company": company,
            "crop": None if crop is None else tuple(crop),
        }  # fmt: skip
        return await self.request("map", state, (), details | ({"size": size} if size else {}))

    async def market(self, state: engine.State, *, highlight: Iterable[str] = ()) -> Picture | None:
        """The stock market."""
        return await self.request("market", state, (), {"highlight": tuple(highlight)})

    async def sheet(
        self,
        state: engine.State,
        *,
        revenues: Mapping[str, int] | None = None,
        has_footer: bool = True,
    ) -> Picture | None:
        """The sheet of players and companies. `revenues`: dollars of each company's last run. `has_footer`:
        with the names of privates and the tiles left."""
        details = {"revenues": dict(revenues or {}), "has_footer": has_footer}
        return await self.request("sheet", state, (), details)

    async def companies(
        self,
        state: engine.State,
        companies: Sequence[str],
        *,
        revenues: Mapping[str, int],
    ) -> Picture | None:
        """Companies side by side."""
        details = {"revenues": dict(revenues)}
        return await self.request("companies", state, (tuple(companies),), details)

    async def ways(
        self,
        state: engine.State,
        hex: str,
        ways: Sequence[tuple[str, int]],
    ) -> tuple[Picture, ...]:
        """The ways of a lay, (tile, rotation) each, numbered from 1; `WAYS_PER_SHEET` on a picture."""
        drawn = [
            await self.request("ways", state, (hex, tuple(ways), i // WAYS_PER_SHEET), {})
            for i in range(0, len(ways), WAYS_PER_SHEET)
        ]
        return tuple(picture for picture in drawn if picture)

    async def review(
        self, start: engine.State, events: Sequence[bytes], chart: ReviewChart
    ) -> Picture | None:
        """The picture of a review of a game (`TableQueries.stored_game`)."""
        return await self.request("review", start, (tuple(events), chart.marks, chart.bars), {})

    async def of_game(self, kind: str, start: engine.State, events: Sequence[bytes]) -> Picture | None:
        """A picture of a whole game (`TableQueries.stored_game`): a chart of `CHART_KINDS` by round, or its
        map turn by turn, `animation`, as a GIF of at most 8 MB."""
        if kind == "animation":
            return await self.request(kind, start, (tuple(events),), {})
        return await self.request("chart", start, (tuple(events), kind), {})

    async def draw(self, kind: str, state: engine.State, *about: str) -> Picture | None:
        """A picture of `RENDERERS` without highlights. about: the tile of `places` and `upgrades`."""
        return await self.request(kind, state, about, {})

    async def request(
        self, kind: str, state: engine.State, arguments: tuple[Any, ...], details: dict[str, Any]
    ) -> Picture | None:
        """A picture of a kind of `RENDERERS`; all other methods ask here, and subclasses say where it comes
        from."""
        raise NotImplementedError


class TablePictures(Pictures):
    """Pictures for one post of a table, which takes turns with the others, in a palette.

    late: those for which the post did not wait; they are being drawn.
    """

    def __init__(
        self,
        workers: PictureWorkers,
        turn_of: Hashable,
        palette: PaletteName | None,
        file_type: FileType,
        post: Post,
    ) -> None:
        self._post = post
        self.late: list[asyncio.Task[Picture | None]] = []
        self._palette, self._file_type = palette, file_type
        self._picture_workers = workers
        self._turn_of = turn_of

    async def request(
        self, kind: str, state: engine.State, arguments: tuple[Any, ...], details: dict[str, Any]
    ) -> Picture | None:
        if self._palette is None:
            return None
        details = details | {"palette": self._palette}
        if self._file_type != "png":
            details["file_type"] = self._file_type
        asked = self._picture_workers.request(kind, state, arguments, details, self._turn_of)
        drawn = asyncio.ensure_future(asked)
        is_asked_for = self._post == "answer" and kind in PICTURES_OF_A_GAME
        await asyncio.wait({drawn}, timeout=None if is_asked_for else PATIENCE[self._post])
        if drawn.done():
            return drawn.result()
        self.late.append(drawn)
        return None


class PictureWorkers(Pictures):
    """A pool of processes that draw. Close it with `close()`, or use it in a `with` block.

    card_files: the type of the files on cards. hung_since: when a worker was given up, until one draws again.
    """

    def __init__(self, workers: int = 2) -> None:
        self._workers = workers
        self.card_files: FileType = "png"
        self.hung_since: datetime | None = None
        self._pool: ProcessPoolExecutor | None = None
        self._cache: OrderedDict[object, asyncio.Future[Picture | None]] = OrderedDict()
        self.queue = FairQueue(workers)

    def __enter__(self) -> PictureWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _kill(self, pool: ProcessPoolExecutor) -> None:
        """End a pool in which a worker hangs; those who wait for the others get new workers."""
        for process in list((pool._processes or {}).values()):
            process.kill()
        if self._pool is pool:
            self.close()

    def for_table(
        self,
        table_id: int,
        palette: PaletteName | None,
        file_type: FileType = "png",
        reader: int | None = None,
        post: Post = "turn",
    ) -> TablePictures:
        """The same, for one post of a table among those that wait.

        palette: of the table, or of the one reader; None for a reader who wants no pictures. reader: who
        alone sees them; their requests wait for each other, and not before what everybody sees. post: what
        they are for, which says how long it waits.
        """
        turn_of = table_id if reader is None else (table_id, reader)
        return TablePictures(self, turn_of, palette, file_type, post)

    async def request(
        self,
        kind: str,
        state: engine.State,
        arguments: tuple[Any, ...],
        details: dict[str, Any],
        turn_of: Hashable = None,
    ) -> Picture | None:
        """A picture from the cache, or drawn when it is the turn of the table or of its reader."""
        raw = engine.encode_state(state)
        key = (kind, raw, arguments, repr(sorted(details.items())))
        cached = self._cache.get(key)
        if cached is not None and not (cached.done() and (cached.cancelled() or cached.result() is None)):
            self._cache.move_to_end(key)
            return await asyncio.shield(cached)
        future: asyncio.Future[Picture | None] = asyncio.get_running_loop().create_future()
        self._cache[key] = future
        while len(self._cache) > CACHE_SIZE:
            self._cache.popitem(last=False)
        picture: Picture | None = None
        try:
            async with self.queue.turn(turn_of):
                picture = await self._render(kind, raw, arguments, details)
        finally:
            if not future.done():
                future.set_result(picture)
        return picture

    async def _render(
        self, kind: str, state: bytes, arguments: tuple[Any, ...], details: dict[str, Any]
    ) -> Picture | None:
        for _ in range(2):
            pool = self._pool = self._pool or self._new_pool()
            try:
                job = asyncio.get_running_loop().run_in_executor(pool, _draw, kind, state, arguments, details)
                async with asyncio.timeout(DRAW_TIMEOUT):
                    picture = await job
                self.hung_since = None
                return picture
            except TimeoutError:
                self.hung_since = self.hung_since or datetime.now(UTC)
                log.error(
                    "a picture (%s) was not drawn in %.0f seconds; new workers start", kind, DRAW_TIMEOUT
                )
                self._kill(pool)
            except BrokenProcessPool:
                log.warning("the picture workers ended; starting new ones")
                if self._pool is pool:
                    self.close()
            except Exception:
                log.exception("a picture (%s) could not be drawn", kind)
                return None
        return None

    def _new_pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._workers, context, end_with_parent)


class FairQueue:
    """Admits `limit` at a time. Of the keys that wait, each has one turn before any has its next."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def length(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def turn(self, key: Hashable) -> AsyncIterator[None]:
        """Wait for a turn, and keep it while the block runs."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(key)
        try:
            yield
        finally:
            self._admit_next()

    async def _wait(self, key: Hashable) -> None:
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(admitted)
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted.done() and not admitted.cancelled():
                self._admit_next()
            raise

    def _admit_next(self) -> None:
        """Hand the turn on to the next key, and put that key behind the others."""
        while self._waiting:
            key, futures = next(iter(self._waiting.items()))
            admitted = futures.popleft()
            self._waiting.pop(key)
            if futures:
                self._waiting[key] = futures
            if not admitted.done():
                admitted.set_result(None)
                return
        self._free += 1
