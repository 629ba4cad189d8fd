"""Group commit: one writing connection, whose transactions share commits.

SQLite has one writer at a time, and the cost of a durable commit is the write to the disk. So the
transactions of this process run one after another on one connection, in the order of their requests, and
those that wait share a commit. The first becomes the leader and begins a database transaction. When its
block ends, it releases the lock and requests it again, which puts it behind all that wait at that moment.
These, the followers, run inside the same database transaction, each in a savepoint of its own. Then the
leader has the lock again and commits for all. `transaction` returns only when the commit is on the disk,
and a transaction on its own pays nothing for the sharing.

A transaction that is one plain function (`run`), as the commits of moves are, begins, runs and commits in
one switch to the thread of the connection.

A block that fails rolls back its own savepoint only. Where the database transaction itself is lost (a full
disk, a broken connection), the group is abandoned: all its blocks fail, and nothing of it is stored.

`SideBySide` has the same face for PostgreSQL, whose transactions lock rows, each on a connection of its own:
in a group, one that holds the row of its table would hold it for all others.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import NestedTransaction
from sqlalchemy.exc import SQLAlchemyError

from storage.connections import ConnectionPool, ConnectionThread, run_uninterrupted
from storage.errors import (
    CANNOT_BEGIN,
    NOTHING_CHANGED,
    OutcomeUnknown,
    StoreError,
    as_store_errors,
    database_message,
)
from storage.store_files import FileGuard, StoreLost

T = TypeVar("T")

TRANSACTION_LOST = StoreError("the transaction was lost")


def commit_error(error: Exception) -> StoreError:
    """The error for everyone whose commit has failed."""
    if isinstance(error, StoreLost):
        return StoreLost(error.operator)
    if isinstance(error, OutcomeUnknown):
        return OutcomeUnknown()
    return StoreError(f"{NOTHING_CHANGED}: {database_message(error)}.")


def nobody_else() -> None:
    """Announce nothing: no other process is to be told."""


CommitGroup = asyncio.Future[Exception | None]
"""Blocks that share one database transaction, as its outcome: None once it is committed, or the error."""


class GroupCommit:
    """The one writing connection of a store."""

    def __init__(
        self,
        thread: ConnectionThread,
        announce: Callable[[], None] = nobody_else,
        guard: FileGuard | None = None,
    ) -> None:
        """announce: called after each commit. guard: of the file that the connection writes."""
        self._thread, self._announce, self._guard = thread, announce, guard
        self._lock = asyncio.Lock()
        self._group: CommitGroup | None = None
        self._owner_task: asyncio.Task[object] | None = None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[ConnectionThread]:
        """A transaction, committed when the block ends; to the caller it looks like one of its own.

        Raises RuntimeError for a transaction inside a transaction, StoreError where it could not be
        committed, also for whatever the database raises in the block.
        """
        self.check_not_nested()
        with as_store_errors(NOTHING_CHANGED):
            async with self._lock:
                self._owner_task = asyncio.current_task()
                try:
                    if is_leader := self._group is None:
                        self._group = await self._begin_group()
                    group = self._group
                    async with self._leader(group) if is_leader else self._follower(group):
                        yield self._thread
                finally:
                    self._owner_task = None
            if is_leader:
                await run_uninterrupted(asyncio.ensure_future(self._commit(group)))
            if (error := await asyncio.shield(group)) is not None:
                raise commit_error(error) from error

    async def run(self, function: Callable[[Connection], T]) -> T:
        """The result of a function that is a transaction by itself; committed when it returns.

        Raises what `transaction` raises.
        """
        self.check_not_nested()
        with as_store_errors(NOTHING_CHANGED):
            async with self._lock:
                if self._group is None:
                    result = await self._thread.call(lambda: self._whole(function))
                    self._announce()
                    return result
            async with self.transaction() as thread:
                return await thread.run(function)

    def _whole(self, function: Callable[[Connection], T]) -> T:
        connection = self._begin()
        try:
            result = function(connection)
            if not self._thread.in_transaction:
                raise commit_error(TRANSACTION_LOST)
            self._thread.commit(connection)
        except BaseException:
            self._thread.roll_back()
            raise
        return result

    def _begin(self) -> Connection:
        """Begin a database transaction; on the thread."""
        self.check_file()
        try:
            return self._thread.begin()
        except SQLAlchemyError as error:
            self._forget_log()
            raise StoreError(f"{CANNOT_BEGIN}: {database_message(error)}.") from error

    def check_file(self) -> None:
        """Raises StoreLost where the file of the connection is not the one that was opened."""
        if self._guard is not None:
            self._guard.check(is_connected=self._thread.is_connected)

    def _forget_log(self) -> None:
        if self._guard is not None:
            self._guard.forget_log()

    async def on_thread(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function with the SQLite connection, between transactions."""

        def run(connection: Connection) -> T:
            driver: Any = connection.connection.driver_connection
            return function(driver)

        async with self._lock:
            return await self._thread.run(run)

    def check_not_nested(self) -> None:
        """Raises RuntimeError where this task is inside a transaction already: it would wait for itself."""
        if self._owner_task is asyncio.current_task():
            raise RuntimeError("a unit of work was begun inside a unit of work")

    async def _begin_group(self) -> CommitGroup:
        group: CommitGroup = asyncio.get_running_loop().create_future()
        try:
            await self._thread.call(self._begin)
        except asyncio.CancelledError:
            await self._abandon(group, TRANSACTION_LOST)
            raise
        return group

    @asynccontextmanager
    async def _leader(self, group: CommitGroup) -> AsyncIterator[None]:
        try:
            yield
            if not self._thread.in_transaction:
                raise commit_error(TRANSACTION_LOST)
        except BaseException as error:
            await run_uninterrupted(asyncio.ensure_future(self._abandon(group, error)))
            raise

    @asynccontextmanager
    async def _follower(self, group: CommitGroup) -> AsyncIterator[None]:
        begun: list[NestedTransaction] = []
        try:
            await self._or_abandon(group, lambda connection: begun.append(connection.begin_nested()))
            yield
        except BaseException:
            await run_uninterrupted(asyncio.ensure_future(self._roll_back_savepoint(group, begun)))
            raise
        await self._or_abandon(group, lambda _: begun[0].commit())

    async def _or_abandon(self, group: CommitGroup, step: Callable[[Connection], None]) -> None:
        """Run a step; where it fails, the whole group is abandoned."""
        try:
            await self._thread.run(step)
        except SQLAlchemyError as error:
            await self._abandon(group, error)
            raise commit_error(error) from error

    async def _roll_back_savepoint(self, group: CommitGroup, begun: list[NestedTransaction]) -> None:
        try:
            if begun:
                await self._thread.run(lambda _: begun[0].rollback())
        except SQLAlchemyError as error:
            await self._abandon(group, error)
        else:
            if not self._thread.in_transaction:
                await self._abandon(group, TRANSACTION_LOST)

    async def _commit(self, group: CommitGroup) -> None:
        async with self._lock:
            if group.done():
                return
            try:
                self.check_file()
                await self._thread.run(self._thread.commit)
            except (SQLAlchemyError, StoreError) as error:
                await self._abandon(group, error)
            else:
                self._group = None
                group.set_result(None)
                self._announce()

    async def _abandon(self, group: CommitGroup, error: BaseException) -> None:
        """Roll back the whole group."""
        if group.done():
            return
        self._group = None
        await self._thread.call(self._thread.roll_back)
        if not self._thread.is_connected:
            self._forget_log()
        group.set_result(error if isinstance(error, Exception) else TRANSACTION_LOST)

    async def close(self) -> None:
        """Wait for the last transaction and its commit, then close the connection."""
        while True:
            async with self._lock:
                if (group := self._group) is None:
                    await self._thread.close()
                    return
            await asyncio.wait({group})


class SideBySide:
    """Transactions that wait for others only where they lock the same rows."""

    def __init__(self, connections: ConnectionPool, announce: Callable[[], None]) -> None:
        """announce: called after each commit."""
        self._connections, self._announce = connections, announce
        self._owners: set[asyncio.Task[object] | None] = set()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[ConnectionThread]:
        """A transaction, committed when the block ends. Raises what `GroupCommit.transaction` raises."""
        self.check_not_nested()
        task = asyncio.current_task()
        with as_store_errors(NOTHING_CHANGED):
            async with self._connections.connection() as thread:
                self._owners.add(task)
                try:
                    await thread.call(thread.begin)
                    yield thread
                    if not thread.in_transaction:
                        raise commit_error(TRANSACTION_LOST)
                    await thread.run(thread.commit)
                finally:
                    self._owners.discard(task)
                    await thread.call(thread.roll_back)
                self._announce()

    def check_not_nested(self) -> None:
        """Raises RuntimeError where this task is inside a transaction already: it might wait for itself."""
        if asyncio.current_task() in self._owners:
            raise RuntimeError("a unit of work was begun inside a unit of work")

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()
