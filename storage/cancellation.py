"""Steps that a cancelled task still finishes."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def run_uninterrupted(step: Coroutine[Any, Any, T] | asyncio.Future[T]) -> T:
    """Run a step to its end even if the task is cancelled meanwhile; the cancellation is raised afterwards.

    A statement that is cut off would cost the whole connection, and with it the work of everyone who
    shares the transaction.
    """
    task = asyncio.ensure_future(step)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()
    raise cancelled
