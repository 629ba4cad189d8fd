"""Requests of many tasks, run in batches: while one batch runs, the next is collected."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from storage.connections import run_uninterrupted

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batch(Generic[Item, Result]):
    """Items that run together; `outcomes` holds a result or an error for each, in the same order."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.outcomes: asyncio.Future[Sequence[Result | Exception]] = (
            asyncio.get_running_loop().create_future()
        )


class Batcher(Generic[Item, Result]):
    """Runs items in batches. `run` takes the items of a batch and returns an outcome for each, in order.

    The task that submits the first item of a batch runs it: it waits until the batch before has ended,
    then runs whatever was collected meanwhile. An item on its own waits for nobody. Where the task of one
    item is cancelled, its batch still runs.
    """

    def __init__(self, run: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]]) -> None:
        self._run = run
        self._lock = asyncio.Lock()
        self._collecting: Batch[Item, Result] | None = None

    async def submit(self, item: Item) -> Result:
        """The result of the item. Raises the error of the item, or of its whole batch."""
        is_first = self._collecting is None
        batch = self._collecting = self._collecting or Batch()
        index = len(batch.items)
        batch.items.append(item)
        if is_first:
            await run_uninterrupted(asyncio.ensure_future(self._run_batch(batch)))
        outcome = (await asyncio.shield(batch.outcomes))[index]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _run_batch(self, batch: Batch[Item, Result]) -> None:
        async with self._lock:
            self._collecting = None
            try:
                batch.outcomes.set_result(await self._run(batch.items))
            except Exception as error:
                batch.outcomes.set_result([error] * len(batch.items))
            finally:
                batch.outcomes.cancel()

    async def wait_idle(self) -> None:
        """Wait until no item is under way."""
        while self._collecting is not None or self._lock.locked():
            async with self._lock:
                pass
