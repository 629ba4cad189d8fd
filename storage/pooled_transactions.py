"""Transactions that lock rows, each on a connection of its own; for PostgreSQL, which commits them together.

`GroupCommit` lets the transactions of a process share one, because SQLite has one writer. Here a transaction
that holds the row of its table would then hold it for all others of its group.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncTransaction

from storage.cancellation import run_uninterrupted
from storage.database_errors import NOTHING_CHANGED, as_store_errors
from storage.group_commit import TRANSACTION_LOST, commit_error, is_transaction_lost


class PooledTransactions:
    """Transactions of an engine with several connections; the same face as `GroupCommit`."""

    def __init__(self, engine: AsyncEngine, announce: Callable[[], None]) -> None:
        """announce: called after each commit."""
        self._engine, self._announce = engine, announce
        self._owners: set[asyncio.Task[object] | None] = set()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, committed when the block ends.

        Raises RuntimeError for a transaction inside a transaction, StoreError where it could not be
        committed, also for whatever the database raises in the block.
        """
        self.check_not_nested()
        task = asyncio.current_task()
        with as_store_errors(NOTHING_CHANGED):
            async with self._engine.connect() as connection:
                begun = await connection.begin()
                self._owners.add(task)
                try:
                    yield connection
                    if is_transaction_lost(connection):
                        raise commit_error(TRANSACTION_LOST)
                except BaseException:
                    await run_uninterrupted(_roll_back(connection, begun))
                    raise
                finally:
                    self._owners.discard(task)
                await run_uninterrupted(begun.commit())
                self._announce()

    def check_not_nested(self) -> None:
        """Raises RuntimeError where this task is inside a transaction already: it might wait for itself."""
        if asyncio.current_task() in self._owners:
            raise RuntimeError("a unit of work was begun inside a unit of work")

    async def close(self) -> None:
        """Nothing is kept between transactions."""


async def _roll_back(connection: AsyncConnection, begun: AsyncTransaction) -> None:
    try:
        await begun.rollback()
    except SQLAlchemyError:
        await connection.invalidate()
