"""Who may use one of the few connections to the SMTP server.

Theory of operation. A domain is slow once an email has taken longer than `slow_after` seconds, until another
takes less. All slow domains together have half of the connections, so they hold up each other and nobody
else. A domain that turns out to be slow while others wait is cut off: `TooSlow` is raised in its block, and
its email goes out again, in the share of the slow ones, where it has the whole time. Nobody is cut off once
the text of the email is on its way: the server may have it, and it would arrive twice.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial


class TooSlow(Exception):
    """Others wait, and this domain has had its connection for too long."""


class ConnectionSlots:
    """At most `limit` users at once, at most half of them slow."""

    def __init__(self, limit: int, slow_after: float) -> None:
        self._slow_after = slow_after
        self._free = asyncio.Semaphore(limit)
        self._free_for_slow = asyncio.Semaphore(max(1, limit // 2))
        self._slow: set[str] = set()
        self._waiting = 0
        self._cut_at: dict[asyncio.Timeout, float] = {}  # of the users that may be cut off

    @asynccontextmanager
    async def taken(self, domain: str) -> AsyncIterator[None]:
        """A slot, as soon as there is one for this domain."""
        if domain in self._slow:
            async with self._free_for_slow, self._one():
                yield
        else:
            async with self._one():
                yield

    @asynccontextmanager
    async def _one(self) -> AsyncIterator[None]:
        self._waiting += 1
        self._schedule()
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
            self._schedule()
        try:
            yield
        finally:
            self._free.release()

    @asynccontextmanager
    async def timed(self, domain: str) -> AsyncIterator[Callable[[], None]]:
        """An email to the domain, in a slot. Raises TooSlow if it has to make room.

        The block calls what it gets before it sends the text; from then on it is not cut off.
        """
        clock = asyncio.get_running_loop().time
        begun, was_slow = clock(), domain in self._slow
        try:
            async with asyncio.timeout(None) as limit:
                try:
                    if not was_slow:
                        self._cut_at[limit] = begun + self._slow_after
                        self._schedule()
                    yield partial(self._keep, limit)
                finally:
                    self._cut_at.pop(limit, None)
        except TimeoutError:
            self._slow.add(domain)
            raise TooSlow from None
        finally:
            if clock() - begun >= self._slow_after:
                self._slow.add(domain)
            elif was_slow:
                self._slow.discard(domain)

    def _schedule(self) -> None:
        """Cut off who has been too long as soon as somebody waits; nobody while nobody does."""
        for limit, at in self._cut_at.items():
            if not limit.expired():  # else its user is being cut off, but does not know it yet
                limit.reschedule(at if self._waiting else None)

    def _keep(self, limit: asyncio.Timeout) -> None:
        if self._cut_at.pop(limit, None) is not None and not limit.expired():
            limit.reschedule(None)
