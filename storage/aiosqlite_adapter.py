"""An aiosqlite connection that needs one switch to its thread per statement.

aiosqlite runs each connection on a thread of its own, and switches to it for every call. A statement of
SQLAlchemy takes four calls: make a cursor, execute, fetch, close. A switch costs more than a small
statement, so here all four run on the thread in one switch, and the caller gets the finished rows.
SQLAlchemy fetches all rows anyway, so nothing is lost.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import aiosqlite


class BufferedCursor:
    """A cursor for SQLAlchemy that holds all rows after `execute`."""

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
        """Execute a statement and fetch all rows."""
        await self._connection.run_on_thread(self._run, sqlite3.Connection.execute, sql, parameters)
        return self

    async def executemany(self, sql: str, parameters: Iterable[Iterable[Any]]) -> Self:
        """Execute a statement once for each set of parameters."""
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
        """The rows; they were fetched by `execute`."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing to do: the cursor on the thread is closed already."""


class BufferedConnection(aiosqlite.Connection):
    """An aiosqlite connection with buffered cursors."""

    def cursor(self) -> BufferedCursor:  # type: ignore[override]
        """A new cursor; needs no switch to the thread."""
        return BufferedCursor(self)

    async def run_on_thread(self, function: Any, *arguments: Any) -> Any:
        """Run a function on the thread of the connection; returns its result."""
        return await self._execute(function, self._conn, *arguments)  # type: ignore[no-untyped-call]


def is_in_transaction(driver: Any) -> bool:
    """Whether a driver's connection is in a transaction that can be committed."""
    if isinstance(driver, BufferedConnection):
        return driver.in_transaction
    return bool(driver.info.transaction_status.name == "INTRANS")


def connect(path: Path | str, wait: float) -> BufferedConnection:
    """A connection to a file, or to its URI, to be awaited. `wait`: seconds to wait for another process that
    writes."""
    is_uri = isinstance(path, str)
    connection = BufferedConnection(
        lambda: sqlite3.connect(path, timeout=wait, isolation_level=None, uri=is_uri), iter_chunk_size=64
    )
    connection._thread.daemon = (
        True  # as SQLAlchemy does: a connection left open does not keep the program alive
    )
    return connection
