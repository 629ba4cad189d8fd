"""Checks whether a file is a store, without changing it."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from storage.errors import InvalidStore, StoreError
from storage.migrations import APPLICATION_ID, check_revision


def check_store_path(path: Path) -> None:
    """Check that the path is a store, an empty file, or can be created; its folder is created.

    Raises InvalidStore or NewerStore for any other file, StoreError for a path that cannot be written.
    """
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder; name a file in it.")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            is_empty = file.tell() == 0
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from error
    if not is_empty:
        with open_read_only(path, allow_empty=True):
            pass


@contextmanager
def open_read_only(path: Path, allow_empty: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that reads the store. Raises InvalidStore or NewerStore for a file that is no such store.

    allow_empty: accept a database without tables.
    """
    if not path.is_file():
        raise InvalidStore(f"There is no file {path}.")
    with (
        sqlite_errors_as_store_errors(path),
        closing(sqlite3.connect(reading_uri(path), uri=True)) as connection,
    ):
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        has_tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,)
        if allow_empty and not has_tables:
            yield connection
            return
        if application_id != APPLICATION_ID:
            raise InvalidStore(f"{path} is a database, but not a Railpost store.")
        revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        if revision is None:
            raise InvalidStore(f"{path} is damaged: its schema revision is missing.")
        check_revision(revision[0], str(path))
        yield connection


def is_frozen(path: Path) -> bool:
    """Whether nobody can write beside the file, such as on a disk that was mounted for reading only, and all
    is in the file: then SQLite need not keep its index of the write-ahead log beside it."""
    return not os.access(path.parent, os.W_OK) and not _log_size(path)


def _log_size(path: Path) -> int:
    log = Path(f"{path}-wal")
    return log.stat().st_size if log.is_file() else 0


def reading_uri(path: Path) -> str:
    """The address of a file for SQLite to read and not to change."""
    return f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if is_frozen(path) else ''}"


def has_store_header(path: Path) -> bool:
    """Whether a file begins as a store of any version does (SQLite's file format §1.3), or is empty."""
    with path.open("rb") as file:
        header = file.read(100)
    return not header or (
        header.startswith(b"SQLite format 3\0") and int.from_bytes(header[68:72], "big") == APPLICATION_ID
    )


def verdict_text(verdict: str) -> str:
    """What SQLite says of a damaged file, in one line."""
    return "; ".join(line for line in verdict.splitlines() if not line.startswith("***")).rstrip(".")


@contextmanager
def sqlite_errors_as_store_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite about a file, raised as a StoreError or InvalidStore with a sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_CANTOPEN and _log_size(path):
            raise StoreError(
                f"{path} cannot be used: its folder cannot be written, and the last changes are still in "
                f"{path.name}-wal. Copy both files into a folder that can be written, and use that copy."
            ) from error
        raise StoreError(f"{path} cannot be used: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise InvalidStore(f"{path} is not a Railpost store, or it is damaged: {error}.") from error
