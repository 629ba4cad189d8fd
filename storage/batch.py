"""Errands of many tasks, run in lots: while one lot is under way, the next gathers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from storage.transaction import run_uninterrupted

A = TypeVar("A")
B = TypeVar("B")


class Batch(Generic[A, B]):
    """Errands that are run together, and what came of each."""

    def __init__(self) -> None:
        self.items: list[A] = []
        self.outcomes: asyncio.Future[Sequence[B | Exception]] = asyncio.get_running_loop().create_future()


class Batcher(Generic[A, B]):
    """Runs errands. `run` takes a lot and gives an outcome for each errand, in their order.

    The first errand of a lot leads it: its task waits until the lot before is done, and then runs
    whatever has gathered. Alone, an errand waits for nobody. A task that is cancelled takes no other
    with it: the lot is run all the same.
    """

    def __init__(self, run: Callable[[Sequence[A]], Awaitable[Sequence[B | Exception]]]) -> None:
        self._run = run
        self._lock = asyncio.Lock()
        self._collecting: Batch[A, B] | None = None

    async def submit(self, errand: A) -> B:
        """What came of it. Raises what went wrong with it, or with its lot."""
        leads = self._collecting is None
        lot = self._collecting = self._collecting or Batch()
        place = len(lot.items)
        lot.items.append(errand)
        if leads:
            await run_uninterrupted(self._run_batch(lot))
        outcome = (await asyncio.shield(lot.outcomes))[place]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _run_batch(self, lot: Batch[A, B]) -> None:
        async with self._lock:
            self._collecting = None
            try:
                lot.outcomes.set_result(await self._run(lot.items))
            except Exception as error:
                lot.outcomes.set_result([error] * len(lot.items))
            finally:
                lot.outcomes.cancel()

    async def wait_idle(self) -> None:
        """After the last errand."""
        while self._collecting is not None or self._lock.locked():
            async with self._lock:
                pass
