"""Empty stores for tests: a SQLite file each, and a PostgreSQL database each where a server is given.

`RAILPOST_TEST_DATABASE` is the address of a database whose role may create others, such as
`postgresql+psycopg://railpost@127.0.0.1/railpost`, or `start`: then a server of the installed PostgreSQL is
started for these tests, and ended with them. If it is set, every test of a store runs on both.
"""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from sqlalchemy import URL, Connection, create_engine, make_url, text

from storage import UnitOfWork, connections
from storage.migrations import migrate
from tests.postgresql_server import PostgresqlServer, binaries, start_postgresql

SERVER = os.environ.get("RAILPOST_TEST_DATABASE", "")
if SERVER == "start":
    SERVER = start_postgresql()
connections.ANSWER_WITHIN = 60.0  # on a slow machine a server is silent for some seconds
KINDS = ("sqlite", "postgresql") if SERVER else ("sqlite",)
sqlite_only = pytest.mark.parametrize("address", ["sqlite"], indirect=True)
"""For a test of something that only a store in a file has."""
needs_server = pytest.mark.skipif(not SERVER, reason="RAILPOST_TEST_DATABASE names no PostgreSQL database")


class StoreFactory:
    """Creates one store of each kind and copies it for each test, which is much faster."""

    def __init__(self, folder: Path, end: ExitStack) -> None:
        self._folder = folder
        self._end = end

    @contextmanager
    def empty_store(self, kind: str, folder: Path) -> Iterator[str]:
        """The address of a new empty store: `railpost.db` in a folder, or a database."""
        if kind == "sqlite":
            copyfile(self._file, folder / "railpost.db")
            yield f"sqlite:///{folder / 'railpost.db'}"
        else:
            with temporary_database(self._model) as url:
                yield url_text(url)

    @cached_property
    def _file(self) -> Path:
        path = self._folder / "railpost.db"
        create_tables(f"sqlite:///{path}")
        return path

    @cached_property
    def _model(self) -> str:
        url = self._end.enter_context(temporary_database())
        create_tables(url_text(url))
        return str(url.database)


def create_tables(url: str) -> None:
    """Create the tables."""
    engine = create_engine(url)
    with engine.connect() as connection:
        migrate(connection)
    engine.dispose()


def url_text(url: URL) -> str:
    """A URL as text, with its password."""
    return url.render_as_string(hide_password=False)


async def run_sql(unit: UnitOfWork, sql: str, values: Mapping[str, Any] | None = None) -> list[Any]:
    """Execute SQL in a transaction, as nobody but a test does; its rows."""

    def run(connection: Connection) -> list[Any]:
        result = connection.execute(text(sql), values)
        return list(result.all()) if result.returns_rows else []

    return await unit._transaction.run(run)


@contextmanager
def temporary_database(model: str = "template1") -> Iterator[URL]:
    """A database that exists while the block runs, as a copy of `model`."""
    name = f"railpost_{secrets.token_hex(6)}"
    server = create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {model}")
        try:
            yield make_url(SERVER).set(database=name)
        finally:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    server.dispose()


@contextmanager
def stoppable_server() -> Iterator[PostgresqlServer]:
    """A server of its own for a test that stops it; its database is an empty store."""
    programs = binaries()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    server = PostgresqlServer(programs)
    try:
        create_tables(server.address)
        yield server
    finally:
        server.remove()
