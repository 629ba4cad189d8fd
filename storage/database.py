"""Database engines for SQLite and PostgreSQL, set up to behave alike.

A commit is on the disk when it returns; a read transaction sees one moment and cannot write. SQLite has one
writer at a time, by WAL and `BEGIN IMMEDIATE`. On PostgreSQL, moves, other changes of a table and deliveries
lock only the rows of their tables or messages, so that several processes write at once. A transaction about
people or about the whole store excludes others of its kind by an advisory lock.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Engine, NullPool, event, make_url
from sqlalchemy import create_engine as create_plain_engine
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from storage.errors import StoreError
from storage.migrations import APPLICATION_ID
from storage.store_files import is_frozen, reading_uri

BEGIN_WRITING = "BEGIN IMMEDIATE"
LOCK_TIMEOUT = 4.0  # seconds to wait for another process that writes; players wait at most five
FROZEN_AFTER = 60.0  # seconds without a statement after which a process may hold its locks no longer
KEEPALIVES = {"keepalives_idle": 3, "keepalives_interval": 2, "keepalives_count": 2}
"""Seconds and probes after which one side ends the connection to a machine that is gone."""
END_OF_SILENCE = {**KEEPALIVES, "tcp_user_timeout": 7000, "connect_timeout": 5}
"""How a client of PostgreSQL connects: it waits at most so many milliseconds for what it sent to arrive."""


def store_url(url: str | Path) -> URL:
    """The SQLAlchemy URL of a store: of a path, of `sqlite:///…`, or of `postgresql://…`.

    Raises StoreError for any other URL.
    """
    text = str(url)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        parsed = make_url(text)
        parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreError(
            f"{text.rsplit('@', maxsplit=1)[-1]!r} is not the address of a store; "
            "write sqlite:///data/railpost.db."
        ) from error
    match parsed.get_backend_name():
        case "sqlite":
            if parsed.database in (None, "", ":memory:"):
                raise StoreError("A store needs a file: write sqlite:///data/railpost.db.")
            return parsed.set(drivername="sqlite")
        case "postgresql":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise StoreError(f"A store is kept in SQLite or PostgreSQL, not in {other}.")


def is_file(url: URL) -> bool:
    """Whether the store is an SQLite file."""
    return url.get_backend_name() == "sqlite"


def display_name(url: URL) -> str:
    """The path of the file, or the URL without its password."""
    return str(url.database) if is_file(url) else url.render_as_string()


def create_engine(
    url: URL, *, writes: bool, foreign_keys: bool = True, excludes_others: bool = True
) -> Engine:
    """How to connect as a writer, or as a reader. Raises StoreError where the driver is missing.

    foreign_keys: False is for a migration, which rebuilds tables of SQLite and checks the keys at its end.
    excludes_others: on PostgreSQL its transactions wait for those of other such engines; others lock rows.
    """
    setup = (
        _sqlite_setup(writes, foreign_keys) if is_file(url) else _postgresql_setup(writes, excludes_others)
    )
    path = Path(str(url.database))

    def open_file() -> sqlite3.Connection:
        frozen = is_frozen(path)
        return sqlite3.connect(
            reading_uri(path) if frozen else path, LOCK_TIMEOUT, isolation_level=None, uri=frozen,
            check_same_thread=False,
        )  # fmt: skip

    options: dict[str, Any] = {"creator": open_file} if is_file(url) else {"connect_args": END_OF_SILENCE}
    try:
        engine = create_plain_engine(url, poolclass=NullPool, **options)
    except ImportError as error:
        raise StoreError(f"A store in {url.get_backend_name()} needs the package psycopg[binary].") from error

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        for sql in setup.on_connect:
            cursor.execute(sql)
        cursor.close()
        connection.commit()

    def on_begin(connection: Any) -> None:
        if setup.on_begin:
            cursor = connection.cursor()
            cursor.execute(setup.on_begin)
            cursor.close()

    # Where there is an event of connections, SQLAlchemy looks for listeners at every statement: a seventh of
    # the time of the thread that writes. The event of a new connection is one of the pool.
    engine.dialect.do_begin = on_begin  # type: ignore[assignment, method-assign]
    return engine.execution_options(preserve_rowcount=True)  # else unknown for several sets of values


class ConnectionSetup(NamedTuple):
    """The SQL that is run on every new connection, and at the start of every transaction."""

    on_connect: Sequence[str]
    on_begin: str


def _sqlite_setup(writes: bool, foreign_keys: bool) -> ConnectionSetup:
    pragmas = (
        *(["PRAGMA journal_mode = WAL"] if writes else []),
        "PRAGMA synchronous = FULL",
        "PRAGMA secure_delete = ON",  # what is deleted is not left in free pages
        f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}",
        f"PRAGMA query_only = {'OFF' if writes else 'ON'}",
    )
    return ConnectionSetup(pragmas, BEGIN_WRITING if writes else "BEGIN")


def _postgresql_setup(writes: bool, excludes_others: bool) -> ConnectionSetup:
    if not writes:
        view = ("default_transaction_isolation = 'repeatable read'", "default_transaction_read_only = on")
        return ConnectionSetup([f"SET {setting}" for setting in view], "")
    settings = (
        "default_transaction_isolation = 'read committed'",
        "synchronous_commit = on",
        f"lock_timeout = {LOCK_TIMEOUT * 1000:.0f}",
        f"idle_in_transaction_session_timeout = {FROZEN_AFTER * 1000:.0f}",
    )
    lock = f"SELECT pg_advisory_xact_lock({APPLICATION_ID})" if excludes_others else ""
    return ConnectionSetup([f"SET {setting}" for setting in settings], lock)
