"""One database transaction and its statements: what every repository is built on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from sqlalchemy import ColumnElement, Connection, Executable, Insert, func, or_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm.instrumentation import manager_of_class
from sqlalchemy.sql.dml import UpdateBase
from sqlmodel import col, insert, select, update
from sqlmodel.sql.expression import Select, SelectOfScalar

from storage.connections import ConnectionThread
from storage.errors import AlreadyExists, NotFound
from storage.models import Deputy, GameTable, Model, OutboxMessage, Seat, TableSnapshot, columns_of

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
def upsert(dialect: str, model: type[Model], **changes: Any) -> Insert:
    """Insert rows, or change the rows with the same primary keys: all other columns, or only as `changes`
    say."""
    statement, columns = _insert(dialect, model), columns_of(model)
    keys = [name for name, column in columns.items() if column.primary_key]
    others = {name: statement.excluded[name] for name in columns if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=changes or others)


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


def acts_at(now: Any) -> tuple[Condition, Condition]:
    """That a deputy may act at a time."""
    ends_at = col(Deputy.ends_at)
    return col(Deputy.starts_at) <= now, or_(ends_at.is_(None), ends_at > now)


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


def select_columns(model: type[Model], *names: str) -> Select[*tuple[Any, ...]]:
    """A query for these columns of a table."""
    query: Select[*tuple[Any, ...]] = select(*(columns_of(model)[name] for name in names))
    return query


def fetch(connection: Connection, query: Executable, **parameters: Any) -> list[Any]:
    """What a query finds: of each row the value or the model, or a tuple of several.

    Models are made as a session makes them, which takes three times as long, and belong to none.
    """
    kinds = [each["expr"] for each in query.column_descriptions]  # type: ignore[attr-defined]
    rows, start = connection.execute(query, parameters).all(), 0
    found = list[list[Any]]()
    for kind in kinds:
        end = start + (len(columns_of(kind)) if isinstance(kind, type) else 1)
        if isinstance(kind, type):
            found.append(_models(kind, [row[start:end] for row in rows]))
        else:
            found.append([row[start] for row in rows])
        start = end
    return found[0] if len(found) == 1 else [*zip(*found, strict=True)]


def _models(model: type[M], rows: Iterable[Sequence[Any]]) -> list[M]:
    """The models of rows with all columns."""
    names, manager, found = tuple(columns_of(model)), manager_of_class(model), list[M]()
    for row in rows:
        found.append(manager.new_instance())
        vars(found[-1]).update(zip(names, row, strict=True))
    return found


class Transaction:
    """The statements of one transaction. `now` is the time at which all of it happens."""

    def __init__(self, thread: ConnectionThread, now: datetime) -> None:
        self._thread, self.now = thread, now
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

    async def all(self, query: SelectOfScalar[T], **parameters: Any) -> list[T]:
        """All rows."""
        return await self.read(lambda connection: fetch(connection, query, **parameters))

    async def rows(self, query: Select[*Ts]) -> list[tuple[*Ts]]:
        """All rows of a query for several columns or models."""
        return await self.read(lambda connection: fetch(connection, query))

    async def first(self, query: SelectOfScalar[T], **parameters: Any) -> T | None:
        """The first row, or None."""
        return next(iter(await self.all(query, **parameters)), None)

    async def get(self, model: type[M], missing: str, **values: Any) -> M:
        """The row with these values. Raises NotFound, which says what is missing."""
        if (row := await self.first(select(model).filter_by(**values))) is None:
            raise NotFound(missing)
        return row

    async def execute(
        self, statement: UpdateBase, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> int:
        """Execute an INSERT, UPDATE or DELETE; returns the number of rows that it changed."""
        return await self.run(lambda connection: connection.execute(statement, rows).rowcount)

    async def add(self, row: M) -> M:
        """Insert a row; returns it with the `id` that the database chose."""
        statement, values = insert(type(row)), column_values(row)
        key = await self.run(lambda connection: connection.execute(statement, values).inserted_primary_key)
        if "id" in columns_of(type(row)) and key is not None:
            row.id = key[0]
        return row

    async def upsert(self, row: Model, **changes: Any) -> None:
        """Insert a row, or change the row with the same primary key, see `upsert`. Two transactions may do so
        at once."""
        dialect = "sqlite" if self._thread.is_file else "postgresql"
        await self.execute(upsert(dialect, type(row), **changes), column_values(row))

    async def renew_revisions(self, *table_ids: int) -> None:
        """Say that these tables, their seats or polls change: processes that have them in memory load them
        again."""
        if new := set(table_ids) - self._renewed:
            self._renewed |= new
            changed = update(TableSnapshot).where(col(TableSnapshot.table_id).in_(sorted(new)))
            await self.execute(changed.values(revision=col(TableSnapshot.revision) + 1))

    async def renew_revisions_of_person(self, *person_ids: int) -> None:
        """The same for the tables at which these people sit: their names, addresses or wishes change."""
        await self.renew_revisions(*await self.all(tables_of(*person_ids)))


class Repository:
    """Base of the repositories: the statements about one kind of thing, within one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._db = transaction
