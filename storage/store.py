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

from storage.deeds import Deed, Glance, Ledger, keep
from storage.driver import connecting
from storage.errors import NotAStore, StoreError
from storage.files import check_place
from storage.games import Games
from storage.installation import Installation
from storage.letters import Letters
from storage.migrations import APPLICATION, migrate
from storage.moves import Moves
from storage.outbox import Outbox
from storage.people import People
from storage.votes import Votes
from storage.work import Work
from storage.writer import Writer, said

WAIT = 10.0  # seconds for another process that writes

Clock = Callable[[], datetime]


def clock() -> datetime:
    """The time by the machine's clock."""
    return datetime.now(UTC)


class Unit:
    """One transaction, by subject. `now` is the one moment at which all of it happens."""

    def __init__(self, work: Work) -> None:
        self._work = work

    @property
    def now(self) -> datetime:
        """The moment of this unit."""
        return self._work.now

    @cached_property
    def people(self) -> People:
        """People, Discord ids, addresses."""
        return People(self._work)

    @cached_property
    def games(self) -> Games:
        """Tables, seats, cards."""
        return Games(self._work)

    @cached_property
    def moves(self) -> Moves:
        """The log, the head, answers to requests."""
        return Moves(self._work)

    @cached_property
    def votes(self) -> Votes:
        """Votes of a table."""
        return Votes(self._work)

    @cached_property
    def outbox(self) -> Outbox:
        """What is to be sent."""
        return Outbox(self._work)

    @cached_property
    def letters(self) -> Letters:
        """Mail tokens, the ledger of letters."""
        return Letters(self._work)

    @cached_property
    def installation(self) -> Installation:
        """Settings, secrets, leases."""
        return Installation(self._work)

    async def record(self, deed: Deed) -> None:
        """Write a deed down, as `Store.record` does, inside this unit; it asks for no mark."""
        own = replace(deed, mark=None)
        await self._work.job(lambda execute: keep(own, execute))


class Store:
    """An open store. Closed by `close()`, or at the end of `async with`."""

    def __init__(self, url: URL, writing: AsyncEngine, reading: AsyncEngine, now: Clock) -> None:
        self.url = url
        self._engines = (writing, reading)
        self._reading = reading
        self._writer = Writer(writing)
        self._ledger = Ledger(self._writer, reading)
        self.now = now

    @property
    def path(self) -> Path | None:
        """The file of the store; None where it is no file."""
        return Path(self.url.database) if _is_file(self.url) and self.url.database else None

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Unit]:
        """One transaction that may write: all of the block or nothing of it, on the disk when it ends.

        Units of this process take turns, so keep the block short: no pictures, no network. Raises
        StoreError where it cannot be kept.
        """
        async with self._writer.turn() as connection:
            work = Work(connection, self.now())
            unit = Unit(work)
            try:
                yield unit
                if work.alters:
                    await unit.installation.renew_mark()
            finally:
                await work.close()

    async def record(self, deed: Deed) -> None:
        """Write a deed down, in one transaction with those of others; on the disk when it returns.

        Raises Stale where the log has grown or the mark has changed since its maker looked, Repeated
        where its request was already carried out, Missing for a table that is not there, StoreError
        where it cannot be kept.
        """
        self._writer.check_free()
        await self._ledger.deeds.errand(deed)

    async def glance(self, table: int, request: str | None = None) -> Glance:
        """How a table stands, and what a request was answered before; of what is committed."""
        return await self._ledger.glances.errand((table, request))

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Unit]:
        """One consistent view of what is committed; waits for no writer, and may not write."""
        async with self._reading.connect() as connection, connection.begin():
            work = Work(connection, self.now())
            try:
                yield Unit(work)
            finally:
                await work.close()

    async def close(self) -> None:
        """Let go of the file."""
        await self._ledger.close()
        await self._writer.close()
        for engine in self._engines:
            await engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_store(url: str | Path, now: Clock = clock) -> Store:
    """Open a store, making or migrating it as needed.

    url: a path, `sqlite:///data/railpost.db`, or the URL of a PostgreSQL database. Raises NewerStore,
    NotAStore or StoreError, each with what is wrong.
    """
    target = store_url(url)
    if _is_file(target):
        check_place(Path(str(target.database)))
    writing = _engine(target, writes=True)
    try:
        async with _engine_for_migration(target) as engine, engine.connect() as connection:
            await connection.run_sync(migrate)
    except DatabaseError as error:
        await writing.dispose()
        raise NotAStore(f"{_named(target)} cannot be opened as a store: {said(error)}.") from error
    except BaseException:
        await writing.dispose()
        raise
    return Store(target, writing, _engine(target, writes=False), now)


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


def _named(url: URL) -> str:
    return str(url.database) if _is_file(url) else url.render_as_string()


@asynccontextmanager
async def _engine_for_migration(url: URL) -> AsyncIterator[AsyncEngine]:
    """Foreign keys are off while tables are rebuilt; the migration checks them itself at its end."""
    engine = _engine(url, writes=True, foreign_keys=False)
    try:
        yield engine
    finally:
        await engine.dispose()


def _engine(url: URL, writes: bool, foreign_keys: bool = True) -> AsyncEngine:
    words = _sqlite(writes, foreign_keys) if _is_file(url) else _postgresql(writes)
    path = Path(str(url.database))
    own: dict[str, Any] = {"pool_pre_ping": True}
    if _is_file(url):
        own = {"async_creator": lambda: connecting(path, WAIT)}
    try:
        engine = create_async_engine(url, pool_size=1 if writes else 4, **own)
    except ImportError as error:
        raise StoreError(f"A store in {url.get_backend_name()} needs the package psycopg[binary].") from error

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        for sql in words.connected:
            cursor.execute(sql)
        cursor.close()
        connection.commit()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        if words.begun:
            connection.exec_driver_sql(words.begun)

    return engine


class Words(NamedTuple):
    """What a database is told at the start: of a connection, and of each transaction."""

    connected: Sequence[str]
    begun: str


def _sqlite(writes: bool, foreign_keys: bool) -> Words:
    pragmas = (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}",
        f"PRAGMA query_only = {'OFF' if writes else 'ON'}",
    )
    return Words(pragmas, "BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql(writes: bool) -> Words:
    """The same of PostgreSQL: one writer at a time, by a lock that lasts as long as his transaction;
    commits are on the disk; a view is of one moment and may not write.
    """
    if not writes:
        view = ("default_transaction_isolation = 'repeatable read'", "default_transaction_read_only = on")
        return Words([f"SET {setting}" for setting in view], "")
    settings = (
        "default_transaction_isolation = 'read committed'",
        "synchronous_commit = on",
        f"lock_timeout = {WAIT * 1000:.0f}",
    )
    return Words([f"SET {setting}" for setting in settings], f"SELECT pg_advisory_xact_lock({APPLICATION})")
