"""Group commit: one writing connection, whose transactions share commits.

SQLite has one writer at a time, and the cost of a durable commit is the write to the disk. So the
transactions of this process run one after another on one connection, in the order of their requests, and
those that wait share a commit. The first becomes the leader and begins a database transaction. When its
block ends, it releases the lock and requests it again, which puts it behind all that wait at that moment.
These, the followers, run inside the same database transaction, each in a savepoint of its own. Then the
leader has the lock again and commits for all. `transaction` returns only when the commit is on the disk,
and a transaction on its own pays nothing for the sharing.

A transaction that is a job (`run_job`), as the commits of moves are, needs no group on SQLite: it begins,
runs and commits on the thread of the connection, in one switch to it.

A block that fails rolls back its own savepoint only. Where the database transaction itself is lost (a full
disk, a broken connection), the group is abandoned: all its blocks fail, and nothing of it is stored.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncTransaction

from storage.aiosqlite_adapter import is_in_transaction
from storage.cancellation import run_uninterrupted
from storage.database import BEGIN_WRITING
from storage.database_errors import CANNOT_BEGIN, NOTHING_CHANGED, as_store_errors, database_message
from storage.errors import StoreError
from storage.executor import Job, run_alone, run_job
from storage.file_guard import FileGuard, StoreLost

T = TypeVar("T")

PROBE_AFTER = 1.0
"""Seconds without a transaction after which the server may have been restarted."""


def is_transaction_lost(connection: AsyncConnection) -> bool:
    """Whether the database has ended or broken the transaction by itself.

    SQLite ends a transaction when the disk is full or cannot be read. A savepoint would then begin another
    one, and the commit of the first would have nothing to do and succeed. PostgreSQL keeps a transaction in
    which a statement has failed, but its commit then rolls back without an error.
    """
    inner = connection.sync_connection
    if inner is None or inner.invalidated:
        return True
    return not is_in_transaction(inner.connection.driver_connection)


TRANSACTION_LOST = StoreError("the transaction was lost")


def commit_error(error: Exception) -> StoreError:
    """The error for everyone whose commit has failed."""
    if isinstance(error, StoreLost):
        return StoreLost(error.operator)
    return StoreError(f"{NOTHING_CHANGED}: {database_message(error)}.")


def nobody_else() -> None:
    """Announce nothing: no other process is to be told."""


class CommitGroup:
    """Blocks that share one database transaction. `outcome`: None once it is committed, or the error."""

    def __init__(self, connection: AsyncConnection, transaction: AsyncTransaction) -> None:
        self.connection = connection
        self.transaction = transaction
        self.outcome: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()


class GroupCommit:
    """The one writing connection of a store."""

    def __init__(
        self,
        engine: AsyncEngine,
        announce: Callable[[], None] = nobody_else,
        guard: FileGuard | None = None,
    ) -> None:
        """announce: called after each commit. guard: of the file that the connection writes."""
        self._engine, self._announce, self._guard = engine, announce, guard
        self._lock = asyncio.Lock()
        self._group: CommitGroup | None = None
        self._owner_task: asyncio.Task[object] | None = None
        self._connection: AsyncConnection | None = None
        self._used_at = 0.0

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, committed when the block ends; to the caller it looks like one of its own.

        Raises RuntimeError for a transaction inside a transaction, StoreError where it could not be
        committed, also for whatever the database raises in the block.
        """
        with as_store_errors(NOTHING_CHANGED):
            async with self._shared_transaction() as connection:
                yield connection

    async def run_job(self, job: Job[T]) -> T:
        """The result of a job that is a transaction by itself; committed when it returns.

        On SQLite it is one switch to the thread of the connection, unless it joins a group. Raises what
        `transaction` raises.
        """
        with as_store_errors(NOTHING_CHANGED):
            if self._engine.dialect.name == "sqlite":
                self.check_not_nested()
                async with self._lock:
                    if self._group is None:
                        return await self._run_alone(job)
            async with self.transaction() as connection:
                return await run_uninterrupted(run_job(connection, job))

    async def _run_alone(self, job: Job[T]) -> T:
        self._check_file()
        try:
            result = await run_alone(await self._connect(), BEGIN_WRITING, job)
        except OperationalError as error:
            if error.statement != BEGIN_WRITING:
                raise
            await self._drop_connection()
            raise StoreError(f"{CANNOT_BEGIN}: {database_message(error)}.") from error
        self._announce()
        return result

    def _check_file(self) -> None:
        if self._guard is not None:
            self._guard.check()

    @asynccontextmanager
    async def _shared_transaction(self) -> AsyncIterator[AsyncConnection]:
        self.check_not_nested()
        async with self._lock:
            self._owner_task = asyncio.current_task()
            try:
                if is_leader := self._group is None:
                    self._group = await self._begin_group()
                group = self._group
                async with self._leader(group) if is_leader else self._follower(group):
                    yield group.connection
            finally:
                self._owner_task = None
        if is_leader:
            await run_uninterrupted(self._commit(group))
        if (error := await asyncio.shield(group.outcome)) is not None:
            raise commit_error(error) from error

    async def on_thread(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function on the thread of the SQLite connection, between transactions."""
        async with self._lock:
            driver: Any = (await (await self._connect()).get_raw_connection()).driver_connection
            result: T = await run_uninterrupted(driver.run_on_thread(function))
            return result

    def check_not_nested(self) -> None:
        """Raises RuntimeError where this task is inside a transaction already: it would wait for itself."""
        if self._owner_task is asyncio.current_task():
            raise RuntimeError("a unit of work was begun inside a unit of work")

    async def _begin_group(self) -> CommitGroup:
        starting = asyncio.ensure_future(self._new_group())
        try:
            return await run_uninterrupted(starting)
        except asyncio.CancelledError as cancelled:
            if not starting.cancelled() and starting.exception() is None:
                await run_uninterrupted(self._abandon(starting.result(), cancelled))
            raise

    async def _new_group(self) -> CommitGroup:
        try:
            try:
                return await self._begin()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                await self._drop_connection()  # the server was restarted while nobody wrote
                return await self._begin()
        except SQLAlchemyError as error:
            await self._drop_connection()
            raise StoreError(f"{CANNOT_BEGIN}: {database_message(error)}.") from error

    async def _begin(self) -> CommitGroup:
        """Begin a transaction; where nobody wrote for a while, ask whether the server is still there.

        A driver sends BEGIN only with the first statement, when it would be too late to begin again.
        """
        connection = await self._connect()
        group = CommitGroup(connection, await connection.begin())
        if self._engine.dialect.name != "sqlite" and monotonic() - self._used_at >= PROBE_AFTER:
            await connection.execute(select(1))
        self._used_at = monotonic()
        return group

    async def _connect(self) -> AsyncConnection:
        if self._connection is None or self._connection.invalidated:
            self._connection = await self._engine.connect()
        return self._connection

    @asynccontextmanager
    async def _leader(self, group: CommitGroup) -> AsyncIterator[None]:
        try:
            yield
            if is_transaction_lost(group.connection):
                raise commit_error(TRANSACTION_LOST)
        except BaseException as error:
            await run_uninterrupted(self._abandon(group, error))
            raise

    @asynccontextmanager
    async def _follower(self, group: CommitGroup) -> AsyncIterator[None]:
        savepoint = group.connection.begin_nested()
        try:
            await run_uninterrupted(self._or_abandon(group, savepoint.start()))
            yield
        except BaseException:
            await run_uninterrupted(self._rollback_savepoint(group, savepoint))
            raise
        await run_uninterrupted(self._or_abandon(group, savepoint.commit()))

    async def _or_abandon(self, group: CommitGroup, step: Coroutine[Any, Any, T]) -> T:
        """Run a step; where it fails, the whole group is abandoned."""
        try:
            return await step
        except SQLAlchemyError as error:
            await self._abandon(group, error)
            raise commit_error(error) from error

    async def _rollback_savepoint(self, group: CommitGroup, savepoint: AsyncTransaction) -> None:
        try:
            await savepoint.rollback()
        except SQLAlchemyError as error:
            await self._abandon(group, error)
        else:
            if is_transaction_lost(group.connection):
                await self._abandon(group, TRANSACTION_LOST)

    async def _commit(self, group: CommitGroup) -> None:
        async with self._lock:
            if group.outcome.done():
                return
            try:
                self._check_file()
                await group.transaction.commit()
            except (SQLAlchemyError, StoreError) as error:
                await self._abandon(group, error)
            else:
                self._group = None
                group.outcome.set_result(None)
                self._announce()

    async def _abandon(self, group: CommitGroup, error: BaseException) -> None:
        """Roll back the whole group; a connection that cannot even do that is dropped."""
        if group.outcome.done():
            return
        self._group = None
        try:
            await group.transaction.rollback()
        except SQLAlchemyError:
            await self._drop_connection()
        group.outcome.set_result(error if isinstance(error, Exception) else TRANSACTION_LOST)

    async def _drop_connection(self) -> None:
        if self._guard is not None:
            self._guard.forget_log()
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                await connection.invalidate()
            with suppress(SQLAlchemyError):
                await connection.close()

    async def close(self) -> None:
        """Wait for the last transaction and its commit, then close the connection."""
        while (group := await self._try_close()) is not None:
            await asyncio.wait({group.outcome})

    async def _try_close(self) -> CommitGroup | None:
        """Close the connection, or return the group that still needs it."""
        async with self._lock:
            if self._group is None and self._connection is not None:
                connection, self._connection = self._connection, None
                await connection.close()
            return self._group
