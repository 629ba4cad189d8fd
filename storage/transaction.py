"""One database transaction and its statements: what every repository is built on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from sqlalchemy import ColumnElement, Connection, Insert, delete, func, or_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.dml import UpdateBase
from sqlmodel import Session, col, insert, select, update
from sqlmodel.sql.expression import Select, SelectOfScalar

from storage.connections import ConnectionThread
from storage.errors import AlreadyExists, NotFound
from storage.models import GameTable, Model, OutboxMessage, Seat, TableSnapshot, columns_of

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Condition = ColumnElement[bool]
M = TypeVar("M", bound=Model)


def column_values(row: Model) -> dict[str, Any]:
    """The values of a row by column; an `id` that the database is to choose is left out."""
    values = ((name, getattr(row, name)) for name in columns_of(type(row)))
    return {name: value for name, value in values if not (name == "id" and value is None)}


def _insert(dialect: str, model: type[Model]) -> postgresql.Insert | sqlite.Insert:
    return postgresql.insert(model) if dialect == "postgresql" else sqlite.insert(model)


@cache
def insert_new(dialect: str, model: type[Model], key: str) -> Insert:
    """Insert rows, except those whose key is there already."""
    return _insert(dialect, model).on_conflict_do_nothing(index_elements=[key])


@cache
def upsert(dialect: str, model: type[Model]) -> Insert:
    """Insert rows, or change all other columns of the rows with the same primary keys."""
    statement, columns = _insert(dialect, model), columns_of(model)
    keys = [name for name, column in columns.items() if column.primary_key]
    changed = {name: statement.excluded[name] for name in columns if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=changed)


@contextmanager
def unique_or(sentence: str) -> Iterator[None]:
    """Raise AlreadyExists with the sentence where such a row exists already."""
    try:
        yield
    except IntegrityError as error:
        if "UNIQUE" in str(error.orig).upper():
            raise AlreadyExists(sentence) from error
        raise


def tables_of(*person_ids: int) -> SelectOfScalar[int]:
    """The ids of the tables at which these people sit or are invited, as a query."""
    return select(Seat.table_id).where(col(Seat.person_id).in_(person_ids), col(Seat.left_at).is_(None))


class GuildShards(NamedTuple):
    """Discord's shards from `first` to `last`, `of` so many. A table without a guild belongs to shard 0."""

    first: int
    last: int
    of: int


GUILDS_PER_MILLISECOND = 2**22
"""Ids of guilds in a millisecond; by the milliseconds, Discord gives guilds to shards."""


def own_tables(shards: GuildShards | None) -> Sequence[Condition]:
    """That a game table belongs to one of the shards; no condition for None."""
    if shards is None:
        return ()
    shard = func.coalesce(col(GameTable.guild), 0) // GUILDS_PER_MILLISECOND % shards.of
    return (shard.between(shards.first, shards.last),)


def own_messages(shards: GuildShards | None) -> Sequence[Condition]:
    """That a message of the outbox is about such a table; one about none belongs to shard 0."""
    if shards is None:
        return ()
    of_table = col(GameTable.id) == col(OutboxMessage.table_id)
    is_own = select(col(GameTable.id)).where(of_table, *own_tables(shards)).exists()
    return (or_(is_own, col(OutboxMessage.table_id).is_(None)) if shards.first == 0 else is_own,)


class Transaction:
    """The statements of one transaction. `now` is the time at which all of it happens."""

    def __init__(self, thread: ConnectionThread, now: datetime) -> None:
        self._thread = thread
        self.now = now
        self._renewed: set[int] = set()

    async def read(self, function: Callable[[Connection], T]) -> T:
        """The result of a function that only reads, run on the thread of the connection."""
        return await self._thread.run(function)

    async def run(self, function: Callable[[Connection], T]) -> T:
        """The result of a function; its failure leaves the rest of the transaction intact.

        SQLite undoes a failed statement by itself; other databases need a savepoint for it.
        """
        if self._thread.is_file:
            return await self._thread.run(function)

        def in_savepoint(connection: Connection) -> T:
            with connection.begin_nested():
                return function(connection)

        return await self._thread.run(in_savepoint)

    async def _query(self, read: Callable[[Session], T]) -> T:
        """What is read in a session of its own, so that the rows are as they are now, and detached.

        Closing the session must not undo our savepoint, hence its mode.
        """

        def in_session(connection: Connection) -> T:
            if not connection.in_transaction():
                connection.begin()
            with Session(connection, autoflush=False, join_transaction_mode="rollback_only") as session:
                return read(session)

        return await self.read(in_session)

    async def all(self, query: SelectOfScalar[T]) -> list[T]:
        """All rows, detached."""
        return await self._query(lambda session: list(session.exec(query).all()))

    async def rows(self, query: Select[*Ts]) -> list[tuple[*Ts]]:
        """All rows of a query for several columns or models."""
        return await self._query(lambda session: [(*row,) for row in session.exec(query).all()])

    async def first(self, query: SelectOfScalar[T]) -> T | None:
        """The first row, or None."""
        return await self._query(lambda session: session.exec(query).first())

    async def scalar(self, query: SelectOfScalar[T]) -> T | None:
        """The one column of the first row, or None; cheaper than loading a model."""
        value: T | None = await self.read(lambda connection: connection.scalar(query))
        return value

    async def execute(
        self, statement: UpdateBase, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> int:
        """Execute an INSERT, UPDATE or DELETE; returns the number of rows that it changed."""
        return await self.run(lambda connection: connection.execute(statement, rows).rowcount)

    async def get(self, model: type[M], *where: Condition, missing: str) -> M:
        """The row that meets the conditions. Raises NotFound, which says what is missing."""
        if (row := await self.first(select(model).where(*where))) is None:
            raise NotFound(missing)
        return row

    async def update(self, model: Any, *where: Condition, **values: Any) -> int:
        """Change columns of the rows that meet the conditions; returns how many there were."""
        return await self.execute(update(model).where(*where).values(**values))

    async def delete(self, model: Any, *where: Condition) -> int:
        """Delete the rows that meet the conditions; returns how many there were."""
        return await self.execute(delete(model).where(*where))

    async def add(self, row: M) -> M:
        """Insert a row; returns it with the `id` that the database chose."""
        statement, values = insert(type(row)), column_values(row)
        key = await self.run(lambda connection: connection.execute(statement, values).inserted_primary_key)
        if "id" in columns_of(type(row)) and key is not None:
            row.id = key[0]
        return row

    async def upsert(self, row: M, **changes: Any) -> None:
        """Insert a row, or change the row with the same primary key: all its columns, or only as `changes`
        say. Two transactions may do so at once."""
        model, dialect = type(row), "sqlite" if self._thread.is_file else "postgresql"
        if not changes:
            await self.execute(upsert(dialect, model), column_values(row))
            return
        keys = [name for name, column in columns_of(model).items() if column.primary_key]
        statement = _insert(dialect, model).on_conflict_do_update(index_elements=keys, set_=changes)
        await self.execute(statement, column_values(row))

    async def renew_revisions(self, *table_ids: int) -> None:
        """Say that these tables, their seats or polls change: processes that have them in memory load them
        again."""
        if new := set(table_ids) - self._renewed:
            self._renewed |= new
            renewed = update(TableSnapshot).where(col(TableSnapshot.table_id).in_(sorted(new)))
            await self.execute(renewed.values(revision=col(TableSnapshot.revision) + 1))

    async def renew_revisions_of_person(self, *person_ids: int) -> None:
        """The same for the tables at which these people sit: their names, addresses or wishes change."""
        await self.renew_revisions(*await self.all(tables_of(*person_ids)))


class Repository:
    """Base of the repositories: the statements about one kind of thing, within one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._db = transaction
