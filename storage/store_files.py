"""Whether a file is a store, found out without changing it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from storage.errors import InvalidStore, StoreError
from storage.migrations import APPLICATION_ID, check_revision


def check_store_path(path: Path) -> None:
    """Make sure that a store can be there: a store already, nothing yet, or nothing in it yet.

    Raises NotAStore or NewerStore for another's file, StoreError for a place that cannot be written.
    """
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file in it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            empty = file.tell() == 0
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from error
    if not empty:
        with open_read_only(path, unmade=True):
            pass


@contextmanager
def open_read_only(path: Path, unmade: bool = False) -> Iterator[sqlite3.Connection]:
    """A store, read only. Raises NotAStore or NewerStore for what cannot be read as one.

    unmade: a database in which nothing was made yet will do.
    """
    if not path.is_file():
        raise InvalidStore(f"There is no file {path}.")
    with (
        sqlite_errors_as_store_errors(path),
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        made = connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,)
        if unmade and not made:
            yield connection
            return
        if mark != APPLICATION_ID:
            raise InvalidStore(f"{path} is a database, but not one of Railpost.")
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        if found is None:
            raise InvalidStore(f"{path} is damaged: it does not say of which revision it is.")
        check_revision(found[0], str(path))
        yield connection


@contextmanager
def sqlite_errors_as_store_errors(path: Path) -> Iterator[None]:
    """What SQLite says about a file, as a sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path} cannot be used: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise InvalidStore(f"{path} is no store of Railpost, or a damaged one: {error}.") from error
