"""Backups of a store, while it is in use or not, and their way back.

A backup is one file, consistent as of one moment, taken by SQLite's own copying beside running
writers. A restore checks the file, brings a copy of it to the newest revision and then writes that
over the store in one transaction, so that it works under a running service too; the service sees by
`incarnation` that what it had loaded is of the past. What was there before is kept beside it.
"""

import asyncio
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import StaticPool, create_engine

from storage.errors import InvalidStore, StoreError
from storage.migrations import migrate
from storage.repositories.settings import STORE_ID
from storage.store import Store, store_url
from storage.store_files import open_read_only, sqlite_errors_as_store_errors


async def backup(source: Store | str | Path, target: Path) -> None:
    """Copy a store, in use or not, to a new file.

    Raises NotAStore where the source is none, StoreError where the target is there already or cannot
    be written.
    """
    await asyncio.to_thread(_backup, _store_path(source), target)


async def restore(source: Path, target: Store | str | Path, replace: bool = False) -> Path | None:
    """Put a backup in the place of a store, in use or not; where the former one was kept, if there was one.

    Raises NotAStore for a source that is no store or damaged, NewerStore for one that a newer Railpost
    wrote, StoreError where the target is there and `replace` is not said, or is not a store.
    """
    return await asyncio.to_thread(_restore, source, _store_path(target), replace)


def _store_path(store: Store | str | Path) -> Path:
    url = store.url if isinstance(store, Store) else store_url(store)
    if url.get_backend_name() != "sqlite":
        raise StoreError("This store is not a file; use the copying of its database (pg_dump).")
    return Path(str(url.database))


def _backup(source: Path, target: Path) -> None:
    with open_read_only(source) as live, _new_database(target) as copy:
        live.backup(copy)


def _restore(source: Path, target: Path, replace: bool) -> Path | None:
    there = target.exists()
    if there and not replace:
        raise StoreError(f"{target} is already there; say that it is to be replaced.")
    with open_read_only(source) as found, closing(sqlite3.connect(":memory:")) as staged:
        _check_integrity(found, source)
        found.backup(staged)
        _upgrade_copy(staged)
        if not there:
            with _new_database(target) as copy:
                staged.backup(copy)
            return None
        kept = target.with_name(f"{target.name}.{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}")
        _backup(target, kept)
        with sqlite_errors_as_store_errors(target), closing(sqlite3.connect(target, timeout=10)) as live:
            live.execute("PRAGMA synchronous = FULL")
            staged.backup(live)
    return kept


def _upgrade_copy(staged: sqlite3.Connection) -> None:
    """Bring a copy to the newest revision and to an incarnation of its own."""
    staged.isolation_level = None
    with create_engine("sqlite://", creator=lambda: staged, poolclass=StaticPool).connect() as connection:
        migrate(connection)
    staged.execute(
        "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (STORE_ID, secrets.token_hex(8))
    )


def _check_integrity(connection: sqlite3.Connection, path: Path) -> None:
    """Raises NotAStore for a store of which pages are missing or contradict each other."""
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise InvalidStore(f"{path} is damaged: {verdict}.")
    if broken := connection.execute("PRAGMA foreign_key_check").fetchone():
        raise InvalidStore(f"{path} is damaged: a row of {broken[0]} refers to nothing.")


@contextmanager
def _new_database(target: Path) -> Iterator[sqlite3.Connection]:
    """A new database that appears under its name only when it is whole, sound and on the disk."""
    if target.exists():
        raise StoreError(f"{target} is already there; name a new file.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
        with sqlite_errors_as_store_errors(target), closing(sqlite3.connect(part)) as copy:
            yield copy
            copy.execute("PRAGMA journal_mode = DELETE")
            _check_integrity(copy, target)
        _fsync(part)
        _link_to_target(part, target)
        _fsync(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        if part.exists():
            part.unlink()


def _link_to_target(part: Path, target: Path) -> None:
    """Give a file its name; unlike a renaming this never overwrites."""
    try:
        os.link(part, target)
    except FileExistsError as error:
        raise StoreError(f"{target} is already there; name a new file.") from error


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
