"""One writer for all units that change something.

Theory. SQLite has one writer at a time, and what a durable commit costs is the disk. So units take
turns on one connection, under a lock that is first come, first served, and those that were waiting
share a commit. The first unit to come begins a transaction and leads it. When its body is through it
lets go of the lock and asks for it again, which puts it behind everybody who waits at that moment;
they do their work inside the same transaction, each in a savepoint of its own. Then the leader has
the lock again and commits for all. A unit leaves only when its commit is on the disk, so what it
says afterwards is true, and alone it pays nothing for the company that it might have had.

A body that fails undoes its own savepoint only. Where the transaction itself is lost (a full disk, a
broken connection) the group is abandoned: every unit in it fails, nothing of it is kept.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncTransaction

from storage.aiosqlite_adapter import is_in_transaction
from storage.errors import StoreError
from storage.transaction import run_uninterrupted

T = TypeVar("T")


def is_transaction_lost(connection: AsyncConnection) -> bool:
    """Whether the transaction of a connection is gone without anybody having ended it.

    SQLite ends one by itself when the disk is full or cannot be read. A savepoint would then begin
    another, and the commit of the first would find nothing to do and succeed. PostgreSQL keeps one in
    which a statement has failed, and answers its commit by undoing it without a complaint.
    """
    inner = connection.sync_connection
    if inner is None or inner.invalidated:
        return True
    return not is_in_transaction(inner.connection.driver_connection)


def database_message(error: Exception) -> str:
    """What a database said, without the statement: its first line, which other databases explain in more."""
    return str(error.__cause__ or error).partition("\n")[0].rstrip(".")


TRANSACTION_LOST = StoreError("the transaction was lost")


def commit_error(error: Exception) -> StoreError:
    """What a unit is told when its commit fails."""
    return StoreError(f"The store could not keep it, and nothing was changed: {database_message(error)}.")


class CommitGroup:
    """Units that share one transaction; `settled` is None once it is committed, else why it is not."""

    def __init__(self, connection: AsyncConnection, transaction: AsyncTransaction) -> None:
        self.connection = connection
        self.transaction = transaction
        self.outcome: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()


class GroupCommit:
    """The one connection that writes, and whose turn it is."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._lock = asyncio.Lock()
        self._group: CommitGroup | None = None
        self._owner_task: asyncio.Task[object] | None = None
        self._connection: AsyncConnection | None = None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction of one's own, as far as one can tell; committed at the end of the block.

        Raises RuntimeError for a turn inside a turn, StoreError where nothing could be committed.
        """
        self.check_not_nested()
        async with self._lock:
            self._owner_task = asyncio.current_task()
            try:
                if leads := self._group is None:
                    self._group = await self._begin_group()
                group = self._group
                async with self._leader(group) if leads else self._follower(group):
                    yield group.connection
            finally:
                self._owner_task = None
        if leads:
            await run_uninterrupted(self._commit(group))
        if (why := await asyncio.shield(group.outcome)) is not None:
            raise commit_error(why) from why

    def check_not_nested(self) -> None:
        """Raises RuntimeError where the one who asks has the turn himself, and would wait for ever."""
        if self._owner_task is asyncio.current_task():
            raise RuntimeError("a unit was begun inside a unit")

    async def _begin_group(self) -> CommitGroup:
        starting = asyncio.ensure_future(self._new_group())
        try:
            return await run_uninterrupted(starting)
        except asyncio.CancelledError as cut:
            if not starting.cancelled() and starting.exception() is None:
                await run_uninterrupted(self._abandon(starting.result(), cut))
            raise

    async def _new_group(self) -> CommitGroup:
        try:
            try:
                return await self._begin()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                await self._drop_connection()  # a server was started anew while nobody wrote
                return await self._begin()
        except SQLAlchemyError as error:
            await self._drop_connection()
            raise StoreError(f"The store cannot be written now: {database_message(error)}.") from error

    async def _begin(self) -> CommitGroup:
        if self._connection is None or self._connection.invalidated:
            self._connection = await self._engine.connect()
        return CommitGroup(self._connection, await self._connection.begin())

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
        """A step without which the group cannot go on."""
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
                await group.transaction.commit()
            except SQLAlchemyError as error:
                await self._abandon(group, error)
            else:
                self._group = None
                group.outcome.set_result(None)

    async def _abandon(self, group: CommitGroup, why: BaseException) -> None:
        """Undo a whole group; the connection is kept where it can still say that it did."""
        if group.outcome.done():
            return
        self._group = None
        try:
            await group.transaction.rollback()
        except SQLAlchemyError:
            await self._drop_connection()
        group.outcome.set_result(why if isinstance(why, Exception) else TRANSACTION_LOST)

    async def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                await connection.invalidate()
            with suppress(SQLAlchemyError):
                await connection.close()

    async def close(self) -> None:
        """After the last turn, and the commit that it waits for."""
        while (group := await self._try_close()) is not None:
            await asyncio.wait({group.outcome})

    async def _try_close(self) -> CommitGroup | None:
        """Let go of the connection; or the group that still needs it."""
        async with self._lock:
            if self._group is None and self._connection is not None:
                connection, self._connection = self._connection, None
                await connection.close()
            return self._group
