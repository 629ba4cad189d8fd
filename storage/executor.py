"""Jobs: synchronous functions of several statements, run on the connection's thread in one switch.

A switch to the thread of an SQLite connection costs more than a small statement, and SQLAlchemy's work
around a statement costs more than both. So what is done for every move is a job: a plain function that is
given an `Executor` and calls it once for each statement. On SQLite the whole job runs on the connection's
thread, with statements that are compiled once. On other databases SQLAlchemy executes the same job, one
statement at a time.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import Connection, Insert, Select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.sql.dml import UpdateBase

from storage.aiosqlite_adapter import BufferedConnection
from storage.cancellation import run_uninterrupted

T = TypeVar("T")
Values = Mapping[str, Any]
Statement = UpdateBase | Select[*tuple[Any, ...]]

DIALECT = sqlite.dialect(paramstyle="named")


class StatementResult(NamedTuple):
    """The rows that a statement returned, and how many rows it changed."""

    rows: Sequence[Any]
    row_count: int


class Executor(Protocol):
    """Executes a statement: once, or once for each of several sets of values."""

    @property
    def dialect(self) -> str:
        """The name of the database."""

    def __call__(self, statement: Statement, values: Values | Sequence[Values] = ()) -> StatementResult:
        """Raises sqlalchemy.exc.IntegrityError where the tables do not allow it."""

    def run_sql(self, sql: str) -> None:
        """Execute SQL that is the same on every database: `SAVEPOINT a`."""


Job = Callable[[Executor], T]


def run_transaction(connection: sqlite3.Connection, begin: str, job: Job[T]) -> T:
    """Begin a transaction, run a job in it and commit; on the connection's thread.

    Raises whatever the job raises, and OperationalError where the transaction cannot begin (its statement is
    `begin` then) or be committed. Nothing is changed then.
    """
    execute = SqliteExecutor(connection)
    execute.run_sql(begin)
    try:
        result = job(execute)
        execute.run_sql("COMMIT")  # fails where SQLite has ended the transaction by itself
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.rollback()
        raise
    return result


class JobReader:
    """Runs jobs that read, each at one moment of the store.

    On SQLite it keeps a connection, and a job is one switch to its thread. A pooled connection would need
    one more for each: to begin, to end, and to be given back.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._kept: AsyncConnection | None = None

    async def run(self, job: Job[T]) -> T:
        """The result of a job."""
        if self._engine.dialect.name == "sqlite":
            if self._kept is None:
                self._kept = await self._engine.connect()
            return await run_alone(self._kept, "BEGIN", job)
        async with self._engine.connect() as connection, connection.begin():
            return await run_uninterrupted(run_job(connection, job))

    async def close(self) -> None:
        """Give the connection back."""
        if self._kept is not None:
            await self._kept.close()
            self._kept = None


async def run_alone(connection: AsyncConnection, begin: str, job: Job[T]) -> T:
    """`run_transaction` on an SQLite connection that is in no transaction, to its end even if cancelled."""
    driver: Any = (await connection.get_raw_connection()).driver_connection
    result: T = await run_uninterrupted(driver.run_on_thread(run_transaction, begin, job))
    return result


async def run_job(connection: AsyncConnection, job: Job[T]) -> T:
    """Run a job in the transaction of a connection."""
    driver = (await connection.get_raw_connection()).driver_connection
    if isinstance(driver, BufferedConnection):
        result: T = await driver.run_on_thread(lambda thread: job(SqliteExecutor(thread)))
        return result
    return await connection.run_sync(lambda outer: job(SqlAlchemyExecutor(outer)))


class PreparedStatement:
    """A compiled SQLite statement, with the conversions of its parameters and columns."""

    def __init__(self, statement: Statement, names: tuple[str, ...]) -> None:
        columns = list(names) if isinstance(statement, Insert) else None
        compiled = statement.compile(dialect=DIALECT, column_keys=columns)
        self.sql = str(compiled)
        self._constants = {name: value for name, value in compiled.params.items() if name not in names}
        binds = ((name, bound.type.dialect_impl(DIALECT)) for name, bound in compiled.binds.items())
        encoders = {name: bind_type.bind_processor(DIALECT) for name, bind_type in binds}
        self._encoders = {name: encode for name, encode in encoders.items() if encode is not None}
        self._constants = self._encode(self._constants)
        self._decoders = []
        if isinstance(statement, Select):
            types = (column.type.dialect_impl(DIALECT) for column in statement.selected_columns)
            self._decoders = [column_type.result_processor(DIALECT, None) for column_type in types]

    def _encode(self, values: Values) -> dict[str, Any]:
        encoders = self._encoders
        return {name: encoders[name](value) if name in encoders else value for name, value in values.items()}

    def bind(self, values: Values) -> dict[str, Any]:
        """The parameters, as the database stores them."""
        return self._constants | self._encode(values)

    def decode_rows(self, rows: Sequence[Any]) -> Sequence[Any]:
        """The rows, with values as Python has them."""
        if not any(self._decoders):
            return rows
        return [
            tuple(
                [
                    decode(value) if decode else value
                    for decode, value in zip(self._decoders, row, strict=True)
                ]
            )
            for row in rows
        ]


@cache
def prepare(statement: Statement, names: tuple[str, ...]) -> PreparedStatement:
    """The compiled statement for parameters of these names; statements are few, so all stay cached."""
    return PreparedStatement(statement, names)


class SqliteExecutor:
    """Executes statements on an SQLite connection directly; used on its thread only."""

    dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __call__(self, statement: Statement, values: Values | Sequence[Values] = ()) -> StatementResult:
        """Execute a statement."""
        if isinstance(values, Mapping):
            prepared = prepare(statement, tuple(values))
            return self._run(prepared, self._connection.execute, prepared.bind(values))
        if not values:
            prepared = prepare(statement, ())
            return self._run(prepared, self._connection.execute, prepared.bind({}))
        prepared = prepare(statement, tuple(values[0]))
        return self._run(prepared, self._connection.executemany, [prepared.bind(each) for each in values])

    @staticmethod
    def _run(
        prepared: PreparedStatement, execute: Callable[[str, Any], sqlite3.Cursor], values: Any
    ) -> StatementResult:
        try:
            cursor = execute(prepared.sql, values)
            rows = prepared.decode_rows(cursor.fetchall()) if cursor.description else ()
            return StatementResult(rows, cursor.rowcount)
        except sqlite3.IntegrityError as error:
            raise IntegrityError(prepared.sql, None, error) from error
        except sqlite3.Error as error:
            raise OperationalError(prepared.sql, None, error) from error

    def run_sql(self, sql: str) -> None:
        """Execute SQL as it is."""
        try:
            self._connection.execute(sql)
        except sqlite3.Error as error:
            raise OperationalError(sql, None, error) from error


class SqlAlchemyExecutor:
    """Executes statements by SQLAlchemy."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect.name

    def __call__(self, statement: Statement, values: Values | Sequence[Values] = ()) -> StatementResult:
        """Execute a statement."""
        options = {"preserve_rowcount": True}  # else the count is unknown for several sets of values
        result = self._connection.execute(statement, values or None, execution_options=options)
        return StatementResult(result.all() if result.returns_rows else (), result.rowcount)

    def run_sql(self, sql: str) -> None:
        """Execute SQL as it is."""
        self._connection.exec_driver_sql(sql)
