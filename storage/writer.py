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

from storage.driver import unharmed
from storage.errors import StoreError
from storage.work import unbroken

T = TypeVar("T")


def lost(connection: AsyncConnection) -> bool:
    """Whether the transaction of a connection is gone without anybody having ended it.

    SQLite ends one by itself when the disk is full or cannot be read. A savepoint would then begin
    another, and the commit of the first would find nothing to do and succeed. PostgreSQL keeps one in
    which a statement has failed, and answers its commit by undoing it without a complaint.
    """
    inner = connection.sync_connection
    if inner is None or inner.invalidated:
        return True
    return not unharmed(inner.connection.driver_connection)


def said(error: Exception) -> str:
    """What a database said, without the statement: its first line, which other databases explain in more."""
    return str(error.__cause__ or error).partition("\n")[0].rstrip(".")


LOST = StoreError("the transaction was lost")


def not_kept(error: Exception) -> StoreError:
    """What a unit is told when its commit fails."""
    return StoreError(f"The store could not keep it, and nothing was changed: {said(error)}.")


class Group:
    """Units that share one transaction; `settled` is None once it is committed, else why it is not."""

    def __init__(self, connection: AsyncConnection, transaction: AsyncTransaction) -> None:
        self.connection = connection
        self.transaction = transaction
        self.settled: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()


class Writer:
    """The one connection that writes, and whose turn it is."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._lock = asyncio.Lock()
        self._group: Group | None = None
        self._holder: asyncio.Task[object] | None = None
        self._connection: AsyncConnection | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[AsyncConnection]:
        """A transaction of one's own, as far as one can tell; committed at the end of the block.

        Raises RuntimeError for a turn inside a turn, StoreError where nothing could be committed.
        """
        self.check_free()
        async with self._lock:
            self._holder = asyncio.current_task()
            try:
                if leads := self._group is None:
                    self._group = await self._started()
                group = self._group
                async with self._leading(group) if leads else self._following(group):
                    yield group.connection
            finally:
                self._holder = None
        if leads:
            await unbroken(self._commit(group))
        if (why := await asyncio.shield(group.settled)) is not None:
            raise not_kept(why) from why

    def check_free(self) -> None:
        """Raises RuntimeError where the one who asks has the turn himself, and would wait for ever."""
        if self._holder is asyncio.current_task():
            raise RuntimeError("a unit was begun inside a unit")

    async def _started(self) -> Group:
        starting = asyncio.ensure_future(self._transaction())
        try:
            return await unbroken(starting)
        except asyncio.CancelledError as cut:
            if not starting.cancelled() and starting.exception() is None:
                await unbroken(self._abandon(starting.result(), cut))
            raise

    async def _transaction(self) -> Group:
        try:
            try:
                return await self._begun()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                await self._drop_connection()  # a server was started anew while nobody wrote
                return await self._begun()
        except SQLAlchemyError as error:
            await self._drop_connection()
            raise StoreError(f"The store cannot be written now: {said(error)}.") from error

    async def _begun(self) -> Group:
        if self._connection is None or self._connection.invalidated:
            self._connection = await self._engine.connect()
        return Group(self._connection, await self._connection.begin())

    @asynccontextmanager
    async def _leading(self, group: Group) -> AsyncIterator[None]:
        try:
            yield
            if lost(group.connection):
                raise not_kept(LOST)
        except BaseException as error:
            await unbroken(self._abandon(group, error))
            raise

    @asynccontextmanager
    async def _following(self, group: Group) -> AsyncIterator[None]:
        savepoint = group.connection.begin_nested()
        try:
            await unbroken(self._in_group(group, savepoint.start()))
            yield
        except BaseException:
            await unbroken(self._undo(group, savepoint))
            raise
        await unbroken(self._in_group(group, savepoint.commit()))

    async def _in_group(self, group: Group, step: Coroutine[Any, Any, T]) -> T:
        """A step without which the group cannot go on."""
        try:
            return await step
        except SQLAlchemyError as error:
            await self._abandon(group, error)
            raise not_kept(error) from error

    async def _undo(self, group: Group, savepoint: AsyncTransaction) -> None:
        try:
            await savepoint.rollback()
        except SQLAlchemyError as error:
            await self._abandon(group, error)
        else:
            if lost(group.connection):
                await self._abandon(group, LOST)

    async def _commit(self, group: Group) -> None:
        async with self._lock:
            if group.settled.done():
                return
            try:
                await group.transaction.commit()
            except SQLAlchemyError as error:
                await self._abandon(group, error)
            else:
                self._group = None
                group.settled.set_result(None)

    async def _abandon(self, group: Group, why: BaseException) -> None:
        """Undo a whole group; the connection is kept where it can still say that it did."""
        if group.settled.done():
            return
        self._group = None
        try:
            await group.transaction.rollback()
        except SQLAlchemyError:
            await self._drop_connection()
        group.settled.set_result(why if isinstance(why, Exception) else LOST)

    async def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                await connection.invalidate()
            with suppress(SQLAlchemyError):
                await connection.close()

    async def close(self) -> None:
        """After the last turn, and the commit that it waits for."""
        while (group := await self._closed()) is not None:
            await asyncio.wait({group.settled})

    async def _closed(self) -> Group | None:
        """Let go of the connection; or the group that still needs it."""
        async with self._lock:
            if self._group is None and self._connection is not None:
                connection, self._connection = self._connection, None
                await connection.close()
            return self._group
