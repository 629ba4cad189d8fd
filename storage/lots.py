"""Errands of many tasks, run in lots: while one lot is under way, the next gathers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from storage.work import unbroken

A = TypeVar("A")
B = TypeVar("B")


class Lot(Generic[A, B]):
    """Errands that are run together, and what came of each."""

    def __init__(self) -> None:
        self.errands: list[A] = []
        self.found: asyncio.Future[Sequence[B | Exception]] = asyncio.get_running_loop().create_future()


class Lots(Generic[A, B]):
    """Runs errands. `run` takes a lot and gives an outcome for each errand, in their order.

    The first errand of a lot leads it: its task waits until the lot before is done, and then runs
    whatever has gathered. Alone, an errand waits for nobody. A task that is cancelled takes no other
    with it: the lot is run all the same.
    """

    def __init__(self, run: Callable[[Sequence[A]], Awaitable[Sequence[B | Exception]]]) -> None:
        self._run = run
        self._lock = asyncio.Lock()
        self._gathering: Lot[A, B] | None = None

    async def errand(self, errand: A) -> B:
        """What came of it. Raises what went wrong with it, or with its lot."""
        leads = self._gathering is None
        lot = self._gathering = self._gathering or Lot()
        place = len(lot.errands)
        lot.errands.append(errand)
        if leads:
            await unbroken(self._lead(lot))
        outcome = (await asyncio.shield(lot.found))[place]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _lead(self, lot: Lot[A, B]) -> None:
        async with self._lock:
            self._gathering = None
            try:
                lot.found.set_result(await self._run(lot.errands))
            except Exception as error:
                lot.found.set_result([error] * len(lot.errands))
            finally:
                lot.found.cancel()

    async def idle(self) -> None:
        """After the last errand."""
        while self._gathering is not None or self._lock.locked():
            async with self._lock:
                pass
