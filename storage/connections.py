"""Connections to the database, each with a thread of its own, and transactions that write.

SQLAlchemy and the drivers are used as they are, synchronously. `ConnectionThread.run` runs a plain
function with the connection, on its thread. It runs to its end even if the task that waits is cancelled: a
function that was cut off in the middle of a statement would cost the whole connection, and with it the work
of everyone who shares the transaction. So that nobody waits forever for a server that does not answer, a
function that takes too long loses its connection.

SQLite has one writer at a time, so there one connection does it (`Writer`), and the transactions of this
process run one after another in the order of their requests. On PostgreSQL the same holds for transactions
that exclude each other; those that lock rows have a connection each, and wait only for others at the same
rows. A transaction that is one plain function (`Writer.run`), as the commits of moves are, begins, runs and
commits in one switch to the thread of the connection. Where a transaction is lost (a full disk, a broken
connection), it fails, and nothing of it is stored.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from storage.errors import (
    CANNOT_BEGIN,
    NO_ANSWER,
    NOTHING_CHANGED,
    OutcomeUnknown,
    StoreError,
    as_store_errors,
    database_message,
)
from storage.store_files import FileGuard

T = TypeVar("T")

PROBE_AFTER = 1.0
"""Seconds without a transaction after which a server may have been restarted."""
ANSWER_WITHIN = 5.0
"""Seconds in which a server has to answer; then its connection is given up."""
ASK_AGAIN_AFTER = 1.0
"""Seconds in which nobody else asks a server that did not answer."""


async def run_uninterrupted(future: asyncio.Future[T]) -> T:
    """The result of a future, waited for even if the task is cancelled meanwhile; the cancellation is raised
    afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return future.result()
    if not future.cancelled():
        future.exception()
    raise cancelled


class ServerSilence:
    """Whether a server answers, as all connections of a store have found.

    Once it did not answer in time, one connection at a time asks it again, and the others fail at once. In a
    queue each would wait for all before it as well.
    """

    def __init__(self) -> None:
        self.is_on = False
        self._ask_again_at = 0.0

    def check(self) -> None:
        """Raises StoreError where the server did not answer lately, and somebody else asks it."""
        if self.is_on:
            if monotonic() < self._ask_again_at:
                raise StoreError(f"The store cannot be reached now: {NO_ANSWER}.")
            self._ask_again_at = monotonic() + ANSWER_WITHIN

    def begin(self) -> None:
        """The server did not answer in time."""
        self.is_on, self._ask_again_at = True, monotonic() + ASK_AGAIN_AFTER

    def end(self) -> None:
        """The server has answered."""
        self.is_on = False


def _again_if_lost(function: Callable[[], T]) -> T:
    """The result of a function, which is run again where the server was restarted while nobody used it."""
    try:
        return function()
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        return function()


class ConnectionThread:
    """One connection of an engine and its thread. It is opened for the first function, and again when it was
    lost. silence: of the server, which all connections of a store share."""

    def __init__(self, engine: Engine, silence: ServerSilence) -> None:
        self._engine, self._silence = engine, silence
        self._calls = SimpleQueue[Callable[[], None] | None]()
        self._thread: Thread | None = None
        self._connection: Connection | None = None
        self._used_at = 0.0

    @property
    def is_file(self) -> bool:
        """Whether the database is a file of SQLite."""
        return self._engine.dialect.name == "sqlite"

    async def run(self, function: Callable[[Connection], T]) -> T:
        """The result of a function of the connection. Raises what it raises, and what connecting raises."""
        return await self.call(lambda: function(self._connect()))

    async def call(self, function: Callable[[], T]) -> T:
        """The result of a function that connects by itself, as `begin` does."""
        if self._thread is None:  # a daemon, so that one that hangs does not keep the program from ending
            self._thread = Thread(target=self._work, name="database", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            settle: Callable[[Any], None] = future.set_result
            try:
                outcome: Any = function()
            except BaseException as error:
                settle, outcome = future.set_exception, error
            with suppress(RuntimeError):  # the loop has been closed; nobody waits
                loop.call_soon_threadsafe(settle, outcome)

        self._calls.put(run)
        if self.is_file:
            return await run_uninterrupted(future)
        timer = loop.call_later(ANSWER_WITHIN, self._hang_up)
        try:
            return await run_uninterrupted(future)
        finally:
            timer.cancel()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
        self._drop()

    def _connect(self) -> Connection:
        if self._connection is None or self._connection.invalidated:
            self._drop()
            self._silence.check()
            began = monotonic()
            try:
                self._connection = self._engine.connect()
            except SQLAlchemyError:
                if self._silence.is_on or monotonic() - began >= ASK_AGAIN_AFTER:
                    self._silence.begin()
                raise
            self._silence.end()
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()

    def _hang_up(self) -> None:
        """Cut the wire to a server that does not answer, so that the thread learns that it is lost."""
        self._silence.begin()
        if (connection := self._connection) is not None and not connection.invalidated:
            driver: Any = connection.connection.driver_connection
            with suppress(Exception), socket.socket(fileno=os.dup(driver.fileno())) as wire:
                wire.shutdown(socket.SHUT_RDWR)

    @property
    def is_connected(self) -> bool:
        """Whether the connection is open, as far as is known."""
        return self._connection is not None and not self._connection.invalidated

    @property
    def in_transaction(self) -> bool:
        """Whether the connection is in a transaction that can be committed.

        SQLite ends a transaction when the disk is full or cannot be read. A savepoint would then begin
        another one, and the commit of the first would have nothing to do and succeed. PostgreSQL keeps a
        transaction in which a statement has failed, but its commit then rolls back without an error.
        """
        connection = self._connection
        if connection is None or not self.is_connected:
            return False
        driver: Any = connection.connection.driver_connection
        if self.is_file:
            return bool(driver.in_transaction)
        return bool(driver.info.transaction_status.name == "INTRANS")

    def begin(self) -> Connection:
        """Begin a transaction; on the thread.

        Where nobody used the connection for a while, a server is asked first whether it is still there: a
        driver sends BEGIN only with the first statement, when it would be too late to connect again.
        """
        return _again_if_lost(self._begin)

    def _begin(self) -> Connection:
        if self.is_connected:
            self._silence.check()
        connection = self._connect()
        try:
            connection.begin()
            was_idle = monotonic() - self._used_at >= PROBE_AFTER
            if not self.is_file and (was_idle or self._silence.is_on):
                connection.execute(select(1))
                self._silence.end()
        except SQLAlchemyError:
            self._forget(connection)
            raise
        self._used_at = monotonic()
        return connection

    def view(self, function: Callable[[Connection], T]) -> T:
        """The result of a function that only reads, at one moment; on the thread."""

        def read() -> T:
            try:
                return function(self._begin())
            finally:
                self.roll_back()

        return _again_if_lost(read)

    def commit(self, connection: Connection) -> None:
        """Commit the transaction; on the thread. Raises OutcomeUnknown where the server did not say."""
        try:
            connection.commit()
        except DBAPIError as error:
            if error.connection_invalidated:
                raise OutcomeUnknown from error
            raise

    def roll_back(self) -> None:
        """Roll back the transaction, if there is one; a connection that cannot even do that is dropped. On
        the thread."""
        if (connection := self._connection) is not None:
            try:
                connection.rollback()
            except SQLAlchemyError:
                self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        """Drop the connection, whatever its state; on the thread."""
        with suppress(SQLAlchemyError):
            connection.invalidate()
        self._drop()

    async def close(self) -> None:
        """Close the connection, after what is under way."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._calls.put(None)
            await asyncio.to_thread(thread.join, ANSWER_WITHIN)


class ConnectionPool:
    """Connections of an engine. kept: so many stay open. more: so many are opened besides, when all are in
    use."""

    def __init__(self, engine: Engine, silence: ServerSilence, kept: int = 1, more: int = 0) -> None:
        self._engine, self._kept, self._silence = engine, kept, silence
        self._idle: list[ConnectionThread] = []
        self._places = asyncio.Semaphore(kept + more)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[ConnectionThread]:
        """A connection that nobody else uses meanwhile, in no transaction before and after."""
        async with self._places:
            thread = self._idle.pop() if self._idle else ConnectionThread(self._engine, self._silence)
            try:
                yield thread
            finally:
                if len(self._idle) < self._kept:
                    self._idle.append(thread)
                else:
                    await thread.close()

    @asynccontextmanager
    async def view(self) -> AsyncIterator[ConnectionThread]:
        """A transaction that only reads, at one moment; SQLAlchemy begins it with the first query."""
        async with self.connection() as thread:
            try:
                if not thread.is_file:  # is it still there? It cannot be connected again later
                    await thread.call(lambda: thread.view(lambda connection: connection.execute(select(1))))
                yield thread
            finally:
                await thread.call(thread.roll_back)

    async def run(self, function: Callable[[Connection], T]) -> T:
        """The result of a function that only reads, at one moment, in one switch to a thread."""
        async with self.connection() as thread:
            return await thread.call(lambda: thread.view(function))

    async def close(self) -> None:
        """Wait for a place, then close the connections that nobody uses."""
        async with self._places:
            while self._idle:
                await self._idle.pop().close()


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
