"""The store: transactions as units, and how one is opened."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from sqlalchemy import URL, Connection, event, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from storage.aiosqlite_adapter import connect
from storage.errors import InvalidStore, StoreError
from storage.group_commit import GroupCommit, database_message
from storage.migrations import APPLICATION_ID, migrate
from storage.move_commit import MoveCommit, MoveCommitter, TableVersion, write_move_commit
from storage.repositories.inbound_mail import InboundMailRepository
from storage.repositories.move_log import MoveLogRepository
from storage.repositories.outbox import OutboxRepository
from storage.repositories.people import PeopleRepository
from storage.repositories.settings import SettingsRepository
from storage.repositories.tables import TableRepository
from storage.repositories.votes import PollRepository
from storage.store_files import check_store_path
from storage.transaction import Transaction

LOCK_TIMEOUT = 10.0  # seconds for another process that writes

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time by the machine's clock."""
    return datetime.now(UTC)


class UnitOfWork:
    """One transaction, by subject. `now` is the one moment at which all of it happens."""

    def __init__(self, work: Transaction) -> None:
        self._transaction = work

    @property
    def now(self) -> datetime:
        """The moment of this unit."""
        return self._transaction.now

    @cached_property
    def people(self) -> PeopleRepository:
        """People, Discord ids, addresses."""
        return PeopleRepository(self._transaction)

    @cached_property
    def tables(self) -> TableRepository:
        """Tables, seats, cards."""
        return TableRepository(self._transaction)

    @cached_property
    def move_log(self) -> MoveLogRepository:
        """The log, the head, answers to requests."""
        return MoveLogRepository(self._transaction)

    @cached_property
    def polls(self) -> PollRepository:
        """Votes of a table."""
        return PollRepository(self._transaction)

    @cached_property
    def outbox(self) -> OutboxRepository:
        """What is to be sent."""
        return OutboxRepository(self._transaction)

    @cached_property
    def inbound_mail(self) -> InboundMailRepository:
        """Mail tokens, the ledger of letters."""
        return InboundMailRepository(self._transaction)

    @cached_property
    def settings(self) -> SettingsRepository:
        """Settings, secrets, leases."""
        return SettingsRepository(self._transaction)

    async def commit_move(self, deed: MoveCommit) -> None:
        """Write a deed down, as `Store.record` does, inside this unit; it asks for no mark."""
        own = replace(deed, data_revision=None)
        await self._transaction.run_job(lambda execute: write_move_commit(own, execute))


class Store:
    """An open store. Closed by `close()`, or at the end of `async with`."""

    def __init__(self, url: URL, writing: AsyncEngine, reading: AsyncEngine, now: Clock) -> None:
        self.url = url
        self._engines = (writing, reading)
        self._read_engine = reading
        self._group_commit = GroupCommit(writing)
        self._committer = MoveCommitter(self._group_commit, reading)
        self.now = now

    @property
    def path(self) -> Path | None:
        """The file of the store; None where it is no file."""
        return Path(self.url.database) if _is_file(self.url) and self.url.database else None

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[UnitOfWork]:
        """One transaction that may write: all of the block or nothing of it, on the disk when it ends.

        Units of this process take turns, so keep the block short: no pictures, no network. Raises
        StoreError where it cannot be kept.
        """
        async with self._group_commit.transaction() as connection:
            work = Transaction(connection, self.now())
            unit = UnitOfWork(work)
            try:
                yield unit
                if work.changes_revision:
                    await unit.settings.renew_data_revision()
            finally:
                await work.close()

    async def commit_move(self, deed: MoveCommit) -> None:
        """Write a deed down, in one transaction with those of others; on the disk when it returns.

        Raises Stale where the log has grown or the mark has changed since its maker looked, Repeated
        where its request was already carried out, Missing for a table that is not there, StoreError
        where it cannot be kept.
        """
        self._group_commit.check_not_nested()
        await self._committer.commits.submit(deed)

    async def table_version(self, table: int, request: str | None = None) -> TableVersion:
        """How a table stands, and what a request was answered before; of what is committed."""
        return await self._committer.version_checks.submit((table, request))

    @asynccontextmanager
    async def read(self) -> AsyncIterator[UnitOfWork]:
        """One consistent view of what is committed; waits for no writer, and may not write."""
        async with self._read_engine.connect() as connection, connection.begin():
            work = Transaction(connection, self.now())
            try:
                yield UnitOfWork(work)
            finally:
                await work.close()

    async def close(self) -> None:
        """Let go of the file."""
        await self._committer.close()
        await self._group_commit.close()
        for engine in self._engines:
            await engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_store(url: str | Path, now: Clock = utc_now) -> Store:
    """Open a store, making or migrating it as needed.

    url: a path, `sqlite:///data/railpost.db`, or the URL of a PostgreSQL database. Raises NewerStore,
    NotAStore or StoreError, each with what is wrong.
    """
    target = store_url(url)
    if _is_file(target):
        check_store_path(Path(str(target.database)))
    writing = _create_engine(target, writes=True)
    try:
        async with _migration_engine(target) as engine, engine.connect() as connection:
            await connection.run_sync(migrate)
    except DatabaseError as error:
        await writing.dispose()
        raise InvalidStore(
            f"{_display_name(target)} cannot be opened as a store: {database_message(error)}."
        ) from error
    except BaseException:
        await writing.dispose()
        raise
    return Store(target, writing, _create_engine(target, writes=False), now)


def store_url(url: str | Path) -> URL:
    """The URL as the drivers want it. Raises StoreError for one that names no store of ours."""
    text = str(url)
    if "://" not in text:
        return URL.create("sqlite+aiosqlite", database=text)
    try:
        parsed = make_url(text)
        parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreError(
            f"{text.rsplit('@', maxsplit=1)[-1]!r} is no address of a store; write sqlite:///data/railpost.db."
        ) from error
    match parsed.get_backend_name():
        case "sqlite":
            if parsed.database in (None, "", ":memory:"):
                raise StoreError("A store lives in a file: write sqlite:///data/railpost.db.")
            return parsed.set(drivername="sqlite+aiosqlite")
        case "postgresql":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise StoreError(f"A store is kept in SQLite or PostgreSQL, not in {other}.")


def _is_file(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _display_name(url: URL) -> str:
    return str(url.database) if _is_file(url) else url.render_as_string()


@asynccontextmanager
async def _migration_engine(url: URL) -> AsyncIterator[AsyncEngine]:
    """Foreign keys are off while tables are rebuilt; the migration checks them itself at its end."""
    engine = _create_engine(url, writes=True, foreign_keys=False)
    try:
        yield engine
    finally:
        await engine.dispose()


def _create_engine(url: URL, writes: bool, foreign_keys: bool = True) -> AsyncEngine:
    words = _sqlite_setup(writes, foreign_keys) if _is_file(url) else _postgresql_setup(writes)
    path = Path(str(url.database))
    own: dict[str, Any] = {"pool_pre_ping": True}
    if _is_file(url):
        own = {"async_creator": lambda: connect(path, LOCK_TIMEOUT)}
    try:
        engine = create_async_engine(url, pool_size=1 if writes else 4, **own)
    except ImportError as error:
        raise StoreError(f"A store in {url.get_backend_name()} needs the package psycopg[binary].") from error

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        for sql in words.on_connect:
            cursor.execute(sql)
        cursor.close()
        connection.commit()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        if words.on_begin:
            connection.exec_driver_sql(words.on_begin)

    return engine


class ConnectionSetup(NamedTuple):
    """What a database is told at the start: of a connection, and of each transaction."""

    on_connect: Sequence[str]
    on_begin: str


def _sqlite_setup(writes: bool, foreign_keys: bool) -> ConnectionSetup:
    pragmas = (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}",
        f"PRAGMA query_only = {'OFF' if writes else 'ON'}",
    )
    return ConnectionSetup(pragmas, "BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql_setup(writes: bool) -> ConnectionSetup:
    """The same of PostgreSQL: one writer at a time, by a lock that lasts as long as his transaction;
    commits are on the disk; a view is of one moment and may not write.
    """
    if not writes:
        view = ("default_transaction_isolation = 'repeatable read'", "default_transaction_read_only = on")
        return ConnectionSetup([f"SET {setting}" for setting in view], "")
    settings = (
        "default_transaction_isolation = 'read committed'",
        "synchronous_commit = on",
        f"lock_timeout = {LOCK_TIMEOUT * 1000:.0f}",
    )
    return ConnectionSetup(
        [f"SET {setting}" for setting in settings], f"SELECT pg_advisory_xact_lock({APPLICATION_ID})"
    )
