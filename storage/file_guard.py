"""Notices that the file of a store was deleted, replaced, cut or overwritten while it is open.

Theory of operation. An open file lives on after its name is gone: commits would succeed, and be lost with
the process. So before each commit the device and the inode behind the path are compared with those of the
file that was opened. The write-ahead log beside it holds the newest commits. While a connection is open,
SQLite neither deletes it nor makes it shorter, unless we ask for that (`log_may_shrink`). So somebody else
has touched a log that is gone, another one or shorter. Each time SQLite begins the log anew, it adds one to
the first salt in its header; any other salt is that of a strange log. All this takes two calls of `stat` and
a read of 32 bytes, some microseconds.

Nothing is remembered of a loss: where the file is moved back, moves are stored again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from storage.errors import StoreError

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
    """Watches the file of an open store and its write-ahead log."""

    def __init__(self, path: Path) -> None:
        self._path, self._log_path = path, path.with_name(f"{path.name}-wal")
        self._opened = _identity(_stat(path))
        self._log: os.stat_result | None = None
        self._salt: int | None = None
        self._log_may_shrink = False

    def check(self) -> None:
        """Raises StoreLost where the file is not the one that was opened, or its log was touched."""
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
        self._log, self._salt = log, salt

    def forget_log(self) -> None:
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
        with closing(sqlite3.connect(target)) as copy:
            connection.backup(copy)
        target.chmod(0o600)
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
