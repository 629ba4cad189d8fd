"""The statements of one transaction: what every subject of a unit is built on."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from typing import Any, TypeVar, TypeVarTuple

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import UpdateBase
from sqlmodel import insert
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import Select, SelectOfScalar

from storage.executor import Job, run_job
from storage.models import REVISIONED_TABLES, Model

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
R = TypeVar("R", bound=Model)


async def run_uninterrupted(step: Coroutine[Any, Any, T] | asyncio.Future[T]) -> T:
    """Carry a step through though the task is cancelled meanwhile; the cancellation follows after it.

    A statement that is cut off would cost the whole connection, and with it the work of every unit
    that shares the transaction.
    """
    task = asyncio.ensure_future(step)
    cut: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as cancelled:
            cut = cancelled
    if cut is None:
        return task.result()
    if not task.cancelled():
        task.exception()
    raise cut


@cache
def _columns(kind: type[Model]) -> tuple[str, ...]:
    return tuple(column.key for column in Model.metadata.tables[str(kind.__tablename__)].columns)


def column_values(row: Model) -> dict[str, Any]:
    """The columns of a row; a number that the database is to choose is left out."""
    found = ((name, getattr(row, name)) for name in _columns(type(row)))
    return {name: value for name, value in found if not (name == "id" and value is None)}


def is_unique_violation(error: IntegrityError) -> bool:
    """Whether it is that a row like this is there already."""
    return "UNIQUE" in str(error.orig).upper()


class Transaction:
    """One transaction, as the statements in it. `now` is its one moment.

    `alters` says whether something was changed of what is known of tables and people beside the logs.
    """

    def __init__(self, connection: AsyncConnection, now: datetime) -> None:
        self.connection = connection
        self.now = now
        self.changes_revision = False

    @cached_property
    def _session(self) -> AsyncSession:
        return AsyncSession(
            self.connection,
            autoflush=False,
            expire_on_commit=False,
            join_transaction_mode="rollback_only",  # else closing it would undo a savepoint of ours
        )

    async def all(self, query: SelectOfScalar[T]) -> list[T]:
        """Every row, detached."""
        return list((await run_uninterrupted(self._cleared_session().exec(query))).all())

    async def rows(self, query: Select[*Ts]) -> list[tuple[*Ts]]:
        """Every row of a query for several columns or classes."""
        return [(*row,) for row in (await run_uninterrupted(self._cleared_session().exec(query))).all()]

    async def first(self, query: SelectOfScalar[T]) -> T | None:
        """The first row, or None."""
        return (await run_uninterrupted(self._cleared_session().exec(query))).first()

    def _cleared_session(self) -> AsyncSession:
        """The session, having forgotten what it loaded: a query is to find rows as they are now."""
        self._session.expunge_all()
        return self._session

    async def scalar(self, query: SelectOfScalar[T]) -> T | None:
        """The one column of the first row, or None; without the cost of loading a class."""
        result: T | None = await run_uninterrupted(self.connection.scalar(query))
        return result

    async def execute(
        self, statement: UpdateBase, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> int:
        """Carry out a change; how many rows it touched."""
        self.changes_revision |= str(statement.table) in REVISIONED_TABLES
        result = await run_uninterrupted(self._in_savepoint(self.connection.execute(statement, rows)))
        return result.rowcount

    async def add(self, row: R) -> R:
        """Insert a row; the number that the database chose is put into it."""
        self.changes_revision |= row.__tablename__ in REVISIONED_TABLES
        result = await run_uninterrupted(
            self._in_savepoint(self.connection.execute(insert(type(row)), column_values(row)))
        )
        if "id" in _columns(type(row)) and result.inserted_primary_key is not None:
            row.id = result.inserted_primary_key[0]
        return row

    async def run_job(self, job: Job[T]) -> T:
        """Carry out a job of several statements; it changes nothing that is `KNOWN`."""
        return await run_uninterrupted(self._in_savepoint(run_job(self.connection, job)))

    async def _in_savepoint(self, step: Coroutine[Any, Any, T]) -> T:
        """A step that may be refused without harm to the rest.

        SQLite undoes a statement that fails by itself; elsewhere it costs the transaction, but for a
        savepoint.
        """
        if self.connection.dialect.name == "sqlite":
            return await step
        async with self.connection.begin_nested():
            return await step

    async def close(self) -> None:
        """Let go of what was loaded; the transaction is not touched."""
        if "_session" in self.__dict__:
            await self._session.close()


class Repository:
    """The part of a unit that speaks about one subject."""

    def __init__(self, work: Transaction) -> None:
        self._transaction = work
