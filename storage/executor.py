"""Jobs of several statements, carried out on the driver's thread in one crossing.

Theory. A crossing to the thread of an SQLite connection costs more than a small statement does, and
what SQLAlchemy does around a statement costs more than both. So what is done for every move is a job:
a plain function that is given `execute` and calls it as often as it likes. On SQLite it runs on the
thread of the connection from its first statement to its last, with statements that were compiled
once. On any other database SQLAlchemy carries the same job out, a statement at a time.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import Connection, Insert, Select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import UpdateBase

from storage.aiosqlite_adapter import BufferedConnection

T = TypeVar("T")
Values = Mapping[str, Any]
Statement = UpdateBase | Select[*tuple[Any, ...]]

DIALECT = sqlite.dialect(paramstyle="named")


class StatementResult(NamedTuple):
    """What a statement found, and how many rows it touched."""

    rows: Sequence[Any]
    row_count: int


class Executor(Protocol):
    """Carries a statement out, once or, for many rows, once for each."""

    @property
    def dialect(self) -> str:
        """The name of the database."""

    def __call__(self, statement: Statement, values: Values | Sequence[Values] = ()) -> StatementResult:
        """Raises sqlalchemy.exc.IntegrityError where the tables do not allow it."""

    def run_sql(self, sql: str) -> None:
        """Carry out words that are the same everywhere: `SAVEPOINT a`."""


Job = Callable[[Executor], T]


async def run_job(connection: AsyncConnection, job: Job[T]) -> T:
    """Carry a job out in the transaction of a connection."""
    driver = (await connection.get_raw_connection()).driver_connection
    if isinstance(driver, BufferedConnection):
        found: T = await driver.run_on_thread(lambda thread: job(SqliteExecutor(thread)))
        return found
    return await connection.run_sync(lambda outer: job(SqlAlchemyExecutor(outer)))


class PreparedStatement:
    """A statement as SQLite wants it, with what makes of values those that it can keep, and back."""

    def __init__(self, statement: Statement, names: tuple[str, ...]) -> None:
        columns = list(names) if isinstance(statement, Insert) else None
        compiled = statement.compile(dialect=DIALECT, column_keys=columns)
        self.sql = str(compiled)
        self._constants = {name: value for name, value in compiled.params.items() if name not in names}
        binds = ((name, bound.type.dialect_impl(DIALECT)) for name, bound in compiled.binds.items())
        kinds = {name: kind.bind_processor(DIALECT) for name, kind in binds}
        self._encoders = {name: into for name, into in kinds.items() if into is not None}
        self._constants = self._encode(self._constants)
        self._decoders = []
        if isinstance(statement, Select):
            found = (column.type.dialect_impl(DIALECT) for column in statement.selected_columns)
            self._decoders = [kind.result_processor(DIALECT, None) for kind in found]

    def _encode(self, values: Values) -> dict[str, Any]:
        into = self._encoders
        return {name: into[name](value) if name in into else value for name, value in values.items()}

    def bind(self, values: Values) -> dict[str, Any]:
        """The values of the columns, as the database keeps them."""
        return self._constants | self._encode(values)

    def decode_rows(self, rows: Sequence[Any]) -> Sequence[Any]:
        """The rows with the values that were kept."""
        if not any(self._decoders):
            return rows
        return [
            tuple([back(value) if back else value for back, value in zip(self._decoders, row, strict=True)])
            for row in rows
        ]


@cache
def prepare(statement: Statement, names: tuple[str, ...]) -> PreparedStatement:
    """A statement for values of these names; statements are few, and stay as long as the program."""
    return PreparedStatement(statement, names)


class SqliteExecutor:
    """Statements on the connection of SQLite itself; lives on its thread."""

    dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __call__(self, statement: Statement, values: Values | Sequence[Values] = ()) -> StatementResult:
        """Carry a statement out."""
        if isinstance(values, Mapping):
            plan = prepare(statement, tuple(values))
            return self._run(plan, self._connection.execute, plan.bind(values))
        if not values:
            plan = prepare(statement, ())
            return self._run(plan, self._connection.execute, plan.bind({}))
        plan = prepare(statement, tuple(values[0]))
        return self._run(plan, self._connection.executemany, [plan.bind(each) for each in values])

    @staticmethod
    def _run(
        plan: PreparedStatement, execute: Callable[[str, Any], sqlite3.Cursor], values: Any
    ) -> StatementResult:
        try:
            cursor = execute(plan.sql, values)
            rows = plan.decode_rows(cursor.fetchall()) if cursor.description else ()
            return StatementResult(rows, cursor.rowcount)
        except sqlite3.IntegrityError as error:
            raise IntegrityError(plan.sql, None, error) from error
        except sqlite3.Error as error:
            raise OperationalError(plan.sql, None, error) from error

    def run_sql(self, sql: str) -> None:
        """Carry out words."""
        try:
            self._connection.execute(sql)
        except sqlite3.Error as error:
            raise OperationalError(sql, None, error) from error


class SqlAlchemyExecutor:
    """Statements by way of SQLAlchemy."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect.name

    def __call__(self, statement: Statement, values: Values | Sequence[Values] = ()) -> StatementResult:
        """Carry a statement out."""
        counted = {"preserve_rowcount": True}  # else it is not known for several rows
        found = self._connection.execute(statement, values or None, execution_options=counted)
        return StatementResult(found.all() if found.returns_rows else (), found.rowcount)

    def run_sql(self, sql: str) -> None:
        """Carry out words."""
        self._connection.exec_driver_sql(sql)
