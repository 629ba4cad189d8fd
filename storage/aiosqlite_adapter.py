"""The aiosqlite connection with one crossing to its thread a statement.

Theory. aiosqlite keeps a thread for each connection and crosses over to it for every call. A
statement as SQLAlchemy carries it out is four: make a cursor, execute, fetch, close. A crossing costs
more than a small statement does, so here all four are done on the thread in one visit, and what is
left on this side is a finished result. SQLAlchemy reads results whole in any case, so nothing is lost.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import aiosqlite


class BufferedCursor:
    """A cursor in SQLAlchemy's eyes: executes once, and then has everything."""

    def __init__(self, connection: "BufferedConnection") -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Iterable[Any] = ()) -> Self:
        """Carry out a statement and read all of its rows."""
        await self._connection.run_on_thread(self._run, sqlite3.Connection.execute, sql, parameters)
        return self

    async def executemany(self, sql: str, parameters: Iterable[Iterable[Any]]) -> Self:
        """Carry out a statement for each set of parameters."""
        await self._connection.run_on_thread(self._run, sqlite3.Connection.executemany, sql, parameters)
        return self

    def _run(self, connection: sqlite3.Connection, execute: Any, sql: str, parameters: Any) -> None:
        cursor = execute(connection, sql, parameters)
        try:
            self.description = cursor.description
            self._rows = cursor.fetchall() if cursor.description else []
            self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        finally:
            cursor.close()

    async def fetchall(self) -> list[Any]:
        """The rows, which are here already."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing is open."""


class BufferedConnection(aiosqlite.Connection):
    """An aiosqlite connection whose cursors cross over once a statement."""

    def cursor(self) -> BufferedCursor:  # type: ignore[override]
        """A cursor; made here, without a crossing."""
        return BufferedCursor(self)

    async def run_on_thread(self, step: Any, *details: Any) -> Any:
        """Carry out a step on the thread of the connection; what came of it."""
        return await self._execute(step, self._conn, *details)  # type: ignore[no-untyped-call]


def is_in_transaction(driver: Any) -> bool:
    """Whether the connection of a driver is in a transaction that can still be committed."""
    if isinstance(driver, BufferedConnection):
        return driver.in_transaction
    return bool(driver.info.transaction_status.name == "INTRANS")


def connect(path: Path, wait: float) -> BufferedConnection:
    """A connection to a file, to be awaited; it waits so many seconds for another process that writes."""
    connection = BufferedConnection(
        lambda: sqlite3.connect(path, timeout=wait, isolation_level=None), iter_chunk_size=64
    )
    connection._thread.daemon = True  # as SQLAlchemy does, so that one left open keeps no program alive
    return connection
