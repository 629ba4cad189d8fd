"""One database transaction and its statements: what every repository is built on."""

from collections.abc import Coroutine, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from typing import Any, TypeVar, TypeVarTuple

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import UpdateBase
from sqlmodel import col, insert, select, update
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import Select, SelectOfScalar

from storage.cancellation import run_uninterrupted
from storage.executor import Job, run_job
from storage.models import Model, Seat, TableSnapshot

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
M = TypeVar("M", bound=Model)


@cache
def _columns(model: type[Model]) -> tuple[str, ...]:
    return tuple(column.key for column in Model.metadata.tables[str(model.__tablename__)].columns)


def column_values(row: Model) -> dict[str, Any]:
    """The values of a row by column; an `id` that the database is to choose is left out."""
    values = ((name, getattr(row, name)) for name in _columns(type(row)))
    return {name: value for name, value in values if not (name == "id" and value is None)}


def is_unique_violation(error: IntegrityError) -> bool:
    """Whether the error says that such a row exists already."""
    return "UNIQUE" in str(error.orig).upper()


class Transaction:
    """The statements of one transaction. `now` is the time at which all of it happens."""

    def __init__(self, connection: AsyncConnection, now: datetime) -> None:
        self.connection = connection
        self.now = now
        self._renewed: set[int] = set()

    @cached_property
    def _session(self) -> AsyncSession:
        return AsyncSession(
            self.connection,
            autoflush=False,
            expire_on_commit=False,
            join_transaction_mode="rollback_only",  # closing the session must not undo our savepoint
        )

    async def all(self, query: SelectOfScalar[T]) -> list[T]:
        """All rows, detached."""
        return list((await run_uninterrupted(self._cleared_session().exec(query))).all())

    async def rows(self, query: Select[*Ts]) -> list[tuple[*Ts]]:
        """All rows of a query for several columns or models."""
        return [(*row,) for row in (await run_uninterrupted(self._cleared_session().exec(query))).all()]

    async def first(self, query: SelectOfScalar[T]) -> T | None:
        """The first row, or None."""
        return (await run_uninterrupted(self._cleared_session().exec(query))).first()

    def _cleared_session(self) -> AsyncSession:
        """The session without the objects that it has loaded: a query sees the rows as they are now."""
        self._session.expunge_all()
        return self._session

    async def scalar(self, query: SelectOfScalar[T]) -> T | None:
        """The one column of the first row, or None; cheaper than loading a model."""
        value: T | None = await run_uninterrupted(self.connection.scalar(query))
        return value

    async def execute(
        self, statement: UpdateBase, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> int:
        """Execute an INSERT, UPDATE or DELETE; returns the number of rows that it changed."""
        result = await run_uninterrupted(self._in_savepoint(self.connection.execute(statement, rows)))
        return result.rowcount

    async def add(self, row: M) -> M:
        """Insert a row; returns it with the `id` that the database chose."""
        result = await run_uninterrupted(
            self._in_savepoint(self.connection.execute(insert(type(row)), column_values(row)))
        )
        if "id" in _columns(type(row)) and result.inserted_primary_key is not None:
            row.id = result.inserted_primary_key[0]
        return row

    async def upsert(self, row: M, **changes: Any) -> None:
        """Insert a row, or change the row with the same primary key: all its columns, or only as `changes`
        say. Two transactions may do so at once."""
        model, values = type(row), column_values(row)
        keys = [column.name for column in Model.metadata.tables[str(model.__tablename__)].primary_key]
        dialect = postgresql if self.connection.dialect.name == "postgresql" else sqlite
        changes = changes or {name: value for name, value in values.items() if name not in keys}
        await self.execute(
            dialect.insert(model).values(values).on_conflict_do_update(index_elements=keys, set_=changes)
        )

    async def run_job(self, job: Job[T]) -> T:
        """Run a job of several statements."""
        return await run_uninterrupted(self._in_savepoint(run_job(self.connection, job)))

    async def renew_revisions(self, *table_ids: int) -> None:
        """Say that these tables, their seats or polls change: whoever has them in memory loads them again."""
        if new := set(table_ids) - self._renewed:
            self._renewed |= new
            renewed = update(TableSnapshot).where(col(TableSnapshot.table_id).in_(sorted(new)))
            await self.execute(renewed.values(revision=col(TableSnapshot.revision) + 1))

    async def renew_revisions_of_person(self, *person_ids: int) -> None:
        """The same for the tables at which these people sit: their names, addresses or wishes change."""
        seated = (col(Seat.person_id).in_(person_ids), col(Seat.left_at).is_(None))
        await self.renew_revisions(*await self.all(select(Seat.table_id).where(*seated)))

    async def _in_savepoint(self, step: Coroutine[Any, Any, T]) -> T:
        """Run a step whose failure leaves the rest of the transaction intact.

        SQLite undoes a failed statement by itself; other databases need a savepoint for it.
        """
        if self.connection.dialect.name == "sqlite":
            return await step
        async with self.connection.begin_nested():
            return await step

    async def close(self) -> None:
        """Forget the loaded objects; the transaction itself is not touched."""
        if "_session" in self.__dict__:
            await self._session.close()


class Repository:
    """Base of the repositories: the statements about one kind of thing, within one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
