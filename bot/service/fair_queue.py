"""A fair queue: so many run at once, and those that wait take turns by key, however many one key has."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


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
