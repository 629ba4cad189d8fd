"""Transactions that write.

SQLite has one writer at a time, so there one connection does it, and the transactions of this process run one
after another in the order of their requests. On PostgreSQL the same holds for transactions that exclude each
other; those that lock rows have a connection each, and wait only for others at the same rows.

A transaction that is one plain function (`run`), as the commits of moves are, begins, runs and commits in
one switch to the thread of the connection. Where a transaction is lost (a full disk, a broken connection), it
fails, and nothing of it is stored.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from storage.connections import ConnectionPool, ConnectionThread
from storage.errors import CANNOT_BEGIN, NOTHING_CHANGED, StoreError, as_store_errors, database_message
from storage.store_files import FileGuard

T = TypeVar("T")


def nobody_else() -> None:
    """Announce nothing: no other process is to be told."""


class Writer:
    """Writes on connections of a pool; on as many at once as it has places."""

    def __init__(
        self,
        connections: ConnectionPool,
        announce: Callable[[], None] = nobody_else,
        guard: FileGuard | None = None,
    ) -> None:
        """announce: called after each commit. guard: of the file that the connection writes."""
        self._connections, self._announce, self._guard = connections, announce, guard
        self._owners: set[asyncio.Task[object] | None] = set()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[ConnectionThread]:
        """A transaction, committed when the block ends.

        Raises RuntimeError for a transaction inside a transaction, StoreError where it could not be
        committed, also for whatever the database raises in the block.
        """
        self.check_not_nested()
        task = asyncio.current_task()
        with as_store_errors(NOTHING_CHANGED):
            async with self._connections.connection() as thread:
                self._owners.add(task)
                try:
                    await thread.call(lambda: self._begin(thread))
                    yield thread
                    await thread.run(lambda connection: self._commit(thread, connection))
                except BaseException as error:
                    failure = error
                    await thread.call(lambda: self._undo(thread, failure))
                    raise
                finally:
                    self._owners.discard(task)
        self._announce()

    async def run(self, function: Callable[[Connection], T]) -> T:
        """The result of a function that is a transaction by itself; committed when it returns.

        Raises what `transaction` raises.
        """
        self.check_not_nested()
        with as_store_errors(NOTHING_CHANGED):
            async with self._connections.connection() as thread:
                result = await thread.call(lambda: self._run(thread, function))
        self._announce()
        return result

    def _run(self, thread: ConnectionThread, function: Callable[[Connection], T]) -> T:
        """Begin, run and commit; on the thread."""
        try:
            connection = self._begin(thread)
            result = function(connection)
            self._commit(thread, connection)
        except BaseException as error:
            self._undo(thread, error)
            raise
        return result

    def _begin(self, thread: ConnectionThread) -> Connection:
        """Begin a transaction; on the thread."""
        if not thread.is_connected:  # a new connection might make a new file
            self._check_file(thread)
        try:
            return thread.begin()
        except SQLAlchemyError as error:
            raise StoreError(f"{CANNOT_BEGIN}: {database_message(error)}.") from error

    def _commit(self, thread: ConnectionThread, connection: Connection) -> None:
        """Commit it; on the thread."""
        self._check_file(thread)
        if not thread.in_transaction:
            raise StoreError(f"{NOTHING_CHANGED}: the transaction was lost.")
        thread.commit(connection)

    def _undo(self, thread: ConnectionThread, error: BaseException) -> None:
        """Roll it back; on the thread. Raises StoreLost where the file is lost, which may be why."""
        thread.roll_back()
        if isinstance(error, Exception):
            self._check_file(thread)

    def _check_file(self, thread: ConnectionThread) -> None:
        if self._guard is not None:
            self._guard.check(holds_log=thread.is_connected)

    async def on_driver(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function with the SQLite connection, between transactions."""

        def run(connection: Connection) -> T:
            driver: Any = connection.connection.driver_connection
            return function(driver)

        async with self._connections.connection() as thread:
            return await thread.run(run)

    def check_not_nested(self) -> None:
        """Raises RuntimeError where this task is inside a transaction already: it might wait for itself."""
        if asyncio.current_task() in self._owners:
            raise RuntimeError("a transaction was begun inside a transaction")

    async def close(self) -> None:
        """Wait for what is under way, then close the connections."""
        await self._connections.close()
