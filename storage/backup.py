"""Backup, restore and checks of a store in a file, also while a service uses it.

A backup is one file, consistent as of one moment; SQLite copies it while others write. A restore checks
the file, migrates a copy of it to the newest revision, and writes that over the store in one transaction,
so it works under a running service too: the store gets a new id, by which the service knows that its
caches are invalid. The former store is kept in a file beside it, whatever its state: damaged, or migrated by
a newer Railpost. One that is so damaged that SQLite cannot write to it is replaced as a file, if no service
uses it.
"""

import asyncio
import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import StaticPool, create_engine

from storage.database import store_url
from storage.errors import DamagedStore, InvalidStore, StoreError
from storage.leadership import no_work_at
from storage.migrations import migrate
from storage.models import STORE_ID
from storage.repositories.settings import FORMER_STORE_IDS
from storage.store import Store
from storage.store_files import (
    has_store_header,
    open_read_only,
    reading_uri,
    sqlite_errors_as_store_errors,
    verdict_text,
)


async def backup(source: Store | str | Path, target: Path) -> None:
    """Copy a store to a new file.

    Raises InvalidStore where the source is not a store, StoreError where the target exists or cannot be
    written.
    """
    await asyncio.to_thread(_backup, _store_path(source), target)


async def restore(source: Path, target: Store | str | Path) -> Path | None:
    """Replace a store by a backup; returns the file in which the former store is kept, if there was one.

    Raises InvalidStore for a source that is not a store or is damaged, and for a target that is none,
    NewerStore for a source that a newer Railpost wrote, StoreError where the target cannot be written.
    """
    return await asyncio.to_thread(_restore, source, _store_path(target))


def _store_path(store: Store | str | Path) -> Path:
    url = store.url if isinstance(store, Store) else store_url(store)
    if url.get_backend_name() != "sqlite":
        raise StoreError("This store is not a file; back up its database with its own tools (pg_dump).")
    return Path(str(url.database))


def _backup(source: Path, target: Path) -> None:
    with open_read_only(source) as live, _new_database(target) as copy:
        live.backup(copy)


def _restore(source: Path, target: Path) -> Path | None:
    with open_read_only(source) as backup_file, closing(sqlite3.connect(":memory:")) as staged:
        _check_integrity(backup_file, source)
        backup_file.backup(staged)
        _upgrade_copy(staged)
        if not target.exists():
            with _new_database(target) as copy:
                staged.backup(copy)
            return None
        kept = target.with_name(f"{target.name}.{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}")
        _keep_former(target, kept)
        try:
            _write_over(staged, target)
        except InvalidStore:
            _replace_file(staged, target)
    return kept


def _keep_former(store: Path, kept: Path) -> None:
    """Copy a store of any version: as one file of one moment, or, where it is damaged, its bytes as they are.

    Raises InvalidStore for a file that is no store.
    """
    if not has_store_header(store):
        raise InvalidStore(
            f"{store} is not a Railpost store, or its beginning is damaged; move it away, and restore again."
        )
    uri = f"{store.resolve().as_uri()}?mode=ro"
    try:
        with (
            sqlite_errors_as_store_errors(store),
            closing(sqlite3.connect(uri, uri=True, timeout=10)) as former,
            _new_database(kept) as copy,
        ):
            former.backup(copy)
    except InvalidStore:
        _copy_bytes(store, kept)


def _copy_bytes(store: Path, kept: Path) -> None:
    """Copy a damaged store with its write-ahead log, for anybody who can still read part of it."""
    try:
        for suffix in ("", "-wal"):
            source, copy = Path(f"{store}{suffix}"), Path(f"{kept}{suffix}")
            if source.exists():
                copy.touch(mode=0o600)
                shutil.copyfile(source, copy)
    except OSError as error:
        raise StoreError(f"{kept} cannot be written: {error.strerror}.") from error


def _write_over(staged: sqlite3.Connection, target: Path) -> None:
    """Write a store over another, in one transaction. Raises InvalidStore if SQLite cannot use the file."""
    with sqlite_errors_as_store_errors(target), closing(sqlite3.connect(target, timeout=10)) as live:
        live.execute("PRAGMA synchronous = FULL")
        staged.backup(live)
        _check_integrity(live, target)


def _replace_file(staged: sqlite3.Connection, target: Path) -> None:
    """Put a store in the place of a damaged file. Raises StoreError if a service uses that file."""
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    with no_work_at(target, "replaced, so damaged as it is,"):
        try:
            with _new_database(new) as copy:
                staged.backup(copy)
            for suffix in ("-wal", "-shm"):
                Path(f"{target}{suffix}").unlink(missing_ok=True)
            new.replace(target)
            _fsync(target.parent)
        except OSError as error:
            raise StoreError(f"{target} cannot be written: {error.strerror}.") from error
        finally:
            new.unlink(missing_ok=True)


def _upgrade_copy(staged: sqlite3.Connection) -> None:
    """Migrate a copy to the newest revision, and give it a new store id."""
    staged.isolation_level = None
    with create_engine("sqlite://", creator=lambda: staged, poolclass=StaticPool).connect() as connection:
        migrate(connection)
    ids = "SELECT value FROM settings WHERE key IN (?, ?)"
    former = " ".join(value for (value,) in staged.execute(ids, (STORE_ID, FORMER_STORE_IDS)))
    staged.executemany(
        "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)",
        [(STORE_ID, secrets.token_hex(8)), (FORMER_STORE_IDS, former)],
    )


def _check_integrity(connection: sqlite3.Connection, path: Path) -> None:
    """Raises InvalidStore for a store with missing or contradictory pages or rows."""
    if problem := next(_problems(connection, most=1), ""):
        raise InvalidStore(f"{path} is damaged: {problem}.")


def _problems(connection: sqlite3.Connection, most: int) -> Iterator[str]:
    """What is wrong with pages, and then with rows; so many of each at most."""
    for (verdict,) in connection.execute(f"PRAGMA integrity_check({most})"):
        if verdict != "ok":
            yield verdict_text(verdict)
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(most):
        yield f"row {row} of {table} refers to a row of {parent} that is missing"


@contextmanager
def _new_database(target: Path) -> Iterator[sqlite3.Connection]:
    """A new database file, which gets its name only when it is complete, checked and on the disk."""
    if target.exists():
        raise StoreError(f"{target} exists already; name a new file.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.touch(mode=0o600)
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
        for path in (part, Path(f"{part}-journal")):  # a full disk leaves that of SQLite too
            if path.exists():
                path.unlink()


def _link_to_target(part: Path, target: Path) -> None:
    """Give the file its name; unlike a rename, this never overwrites another file."""
    try:
        os.link(part, target)
    except FileExistsError as error:
        raise StoreError(f"{target} exists already; name a new file.") from error


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


MAX_PROBLEMS = 20


async def check_integrity(store: Store) -> list[str]:
    """The problems of the database, each in a sentence. Checks all of it, and takes its time.

    PostgreSQL guards its own pages and references; there only the rows are read.
    """
    problems = await asyncio.to_thread(_check_file, store.path) if store.path else []
    try:
        async with store.read() as unit:
            return problems + [
                f"Table {code} has no position." for code in await unit.tables.without_position()
            ]
    except StoreError as error:
        return problems or [str(error)]


def _check_file(path: Path) -> list[str]:
    problems = []
    try:
        with open_read_only(path) as connection:
            for problem in _problems(connection, MAX_PROBLEMS):
                problems.append(f"The file is damaged: {problem}.")
    except InvalidStore as error:
        problems.append(str(error))
    return problems


async def quick_check(store: Store) -> None:
    """Raise DamagedStore for a file with damaged pages. It reads the whole file once, about 1 GB a second."""
    if store.path is not None:
        await asyncio.to_thread(_quick_check, store.path)


def _quick_check(path: Path) -> None:
    try:
        with closing(sqlite3.connect(reading_uri(path), uri=True, timeout=10)) as connection:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        verdict = str(error)
    if verdict != "ok":
        told = verdict_text(verdict)
        raise DamagedStore(f"{path} is damaged ({told}); `railpost check` says what is concerned.")
