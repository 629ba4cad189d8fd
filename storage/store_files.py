"""Files of SQLite: whether one is a store, and whether an open one is still the same file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from storage.errors import DamagedStore, InvalidStore, StoreError, driver_message
from storage.migrations import APPLICATION_ID, check_revision


def check_store_path(path: Path) -> None:
    """Check that the path is a store, an empty file, or can be created; its folder is created. What is new is
    private, whatever the umask.

    Raises InvalidStore or NewerStore for any other file, StoreError for a path that cannot be written.
    """
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder; name a file in it.")
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        with open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            is_empty = file.tell() == 0
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from error
    if not is_empty:
        with open_read_only(path, allow_empty=True):
            pass


@contextmanager
def open_read_only(path: Path, allow_empty: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that reads the store. Raises InvalidStore or NewerStore for a file that is no such store,
    StoreError for one that cannot be read.

    allow_empty: accept a database without tables.
    """
    try:
        if path.is_dir():
            raise InvalidStore(f"{path} is a folder; name a file in it.")
        if not path.is_file():
            raise InvalidStore(f"There is no file {path}.")
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
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
            raise DamagedStore(f"{path} is damaged: its schema revision is missing.")
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
    """Errors of SQLite about a file, raised as a StoreError or DamagedStore with a sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_CANTOPEN and _log_size(path):
            raise StoreError(
                f"{path} cannot be used: its folder cannot be written, and the last changes are still in "
                f"{path.name}-wal. Copy both files into a folder that can be written, and use that copy."
            ) from error
        raise StoreError(f"{path} cannot be used: {driver_message(error)}.") from error
    except sqlite3.DatabaseError as error:
        raise DamagedStore(f"{path} is not a Railpost store, or it is damaged: {error}.") from error


MOST_RESTARTS = 10_000
"""So often at most the log begins anew between two looks at it."""

Identity = tuple[int, int]
"""Device and inode of a file."""


class StoreLost(StoreError):
    """The file of the store is not the one that was opened. operator: the same for those who can help."""

    def __init__(self, operator: str) -> None:
        super().__init__("The store is not where it was, so nothing was changed; its host has to help.")
        self.operator = operator


class FileGuard:
    """Notices that the file of an open store was deleted, replaced, cut or overwritten.

    An open file lives on after its name is gone: commits would succeed, and be lost with the process. So
    before each commit the device and the inode behind the path are compared with those of the file that was
    opened. The write-ahead log beside it holds the newest commits. While a connection is open, SQLite neither
    deletes it nor makes it shorter, unless we ask for that (`log_may_shrink`). So somebody else has touched a
    log that is gone, another one or shorter. Each time SQLite begins the log anew, it adds one to the first
    salt in its header; any other salt is that of a strange log. All this takes two calls of `stat` and a read
    of 32 bytes, some microseconds.

    Nothing is remembered of a loss: where the file is moved back, moves are stored again.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._log_path = path, path.with_name(f"{path.name}-wal")
        self._opened = _identity(_stat(path))
        self._log: os.stat_result | None = None
        self._salt: int | None = None
        self._log_may_shrink = False

    def check(self, *, holds_log: bool = False) -> None:
        """Raises StoreLost where the file is not the one that was opened, or its log was touched.

        holds_log: a connection holds it open, so the next check compares with how it is now. Without one
        another process may be the last to close it, and SQLite then deletes it.
        """
        if (now := _identity(_stat(self._path))) != self._opened:
            what = "was deleted or moved away" if now is None else "was replaced by another file"
            raise StoreLost(f"{self._path} {what} while the service runs")
        if self._log_may_shrink:
            return
        log, known = _stat(self._log_path), self._log
        if known is not None and _identity(log) != _identity(known):
            raise StoreLost(f"{self._log_path} was deleted or replaced while the service runs")
        if known is not None and log is not None and log.st_size < known.st_size:
            raise StoreLost(f"{self._log_path} was cut while the service runs")
        salt = _salt(self._log_path)
        if salt is not None and self._salt is not None and (salt - self._salt) % 2**32 > MOST_RESTARTS:
            raise StoreLost(f"{self._log_path} was overwritten while the service runs")
        if holds_log:
            self._log, self._salt = log, salt

    def forget_log(self, *_: object) -> None:
        """The next log may be another one, because the connection was closed."""
        self._log = self._salt = None

    @contextmanager
    def log_may_shrink(self) -> Iterator[None]:
        """While we write the log back and cut it."""
        self._log_may_shrink = True
        try:
            yield
        finally:
            self._log, self._salt, self._log_may_shrink = None, None, False

    def rescue(self, connection: sqlite3.Connection) -> Path:
        """Write what an open connection still holds into a new file beside the path; on its thread.

        Raises sqlite3.Error or OSError.
        """
        now = datetime.now(UTC)
        target = self._path.with_name(f"{self._path.stem}-rescued-{now:%Y%m%d-%H%M%S}{self._path.suffix}")
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.touch(mode=0o600)
            with closing(sqlite3.connect(target)) as copy:
                connection.backup(copy)
        except (sqlite3.Error, OSError):
            for path in (target, Path(f"{target}-journal")):  # nobody may take half of it for the whole
                path.unlink(missing_ok=True)
            raise
        return target


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _salt(log: Path) -> int | None:
    """The first salt in the header of a write-ahead log; None for an empty log."""
    try:
        with log.open("rb", buffering=0) as file:
            header = file.read(32)
    except OSError:
        return None
    return int.from_bytes(header[16:20]) if len(header) == 32 else None


def _identity(found: os.stat_result | None) -> Identity | None:
    return None if found is None else (found.st_dev, found.st_ino)
