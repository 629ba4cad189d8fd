"""The open store: units of work, read views, move commits and version checks."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, event, text
from sqlalchemy.exc import DatabaseError

from storage import leadership
from storage.commit_notices import CommitNotices
from storage.connections import ConnectionPool, ServerSilence, Writer, nobody_else
from storage.database import BEGIN_WRITING, create_engine, display_name, is_file, store_url
from storage.errors import (
    CANNOT_BEGIN,
    CANNOT_READ,
    NOTHING_CHANGED,
    READ_ONLY,
    DamagedStore,
    InvalidStore,
    StoreError,
    as_store_errors,
    driver_message,
    may_pass,
)
from storage.leadership import Report, Work, tell_nobody
from storage.migrations import current_revision, migrate, needs_migration, refuse_older
from storage.move_commit import MoveCommitter, TableVersion, write_commits
from storage.repositories.clocks import ClockRepository
from storage.repositories.mail import InboundMailRepository, MailTokenRepository
from storage.repositories.move_log import MoveCommit, MoveLogRepository
from storage.repositories.orders import OrderRepository
from storage.repositories.outbox import OutboxRepository
from storage.repositories.people import PeopleRepository
from storage.repositories.personal_data import PersonalDataRepository
from storage.repositories.polls import PollRepository
from storage.repositories.settings import FactRepository, SettingsRepository, UsageRepository
from storage.repositories.tables import TableRepository
from storage.store_files import FileGuard, check_store_path, open_read_only
from storage.table_records import TableRecord
from storage.transaction import Transaction

Clock = Callable[[], datetime]

CONNECTIONS, MORE_CONNECTIONS = 4, 10
"""Connections that a process keeps open for reading, and on PostgreSQL for changes that lock rows; and how
many it opens besides when all of them are in use."""

TAKES_NO_CHANGES = (
    "SELECT pg_is_in_recovery() OR reset_val = 'on' FROM pg_settings"
    " WHERE name = 'default_transaction_read_only'"
)
"""Asked by a reader, for whom transactions are read-only in any case."""
LOCK_WAIT = 2.0  # seconds; another program that locks the file for longer keeps players waiting


def utc_now() -> datetime:
    """The machine's time in UTC."""
    return datetime.now(UTC)


class UnitOfWork:
    """One transaction as its repositories. It comes from `Store.begin` or `Store.read`. `now` is the time at
    which all of it happens."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction, self.now = transaction, transaction.now
        self.people = PeopleRepository(transaction)
        self.tables = TableRepository(transaction)
        self.move_log = MoveLogRepository(transaction)
        self.polls = PollRepository(transaction)
        self.facts = FactRepository(transaction)
        self.personal_data = PersonalDataRepository(transaction)
        self.usage = UsageRepository(transaction)
        self.clocks = ClockRepository(transaction)
        self.orders = OrderRepository(transaction)
        self.outbox = OutboxRepository(transaction)
        self.inbound_mail = InboundMailRepository(transaction)
        self.mail_tokens = MailTokenRepository(transaction)
        self.settings = SettingsRepository(transaction)

    async def commit_move(self, commit: MoveCommit) -> None:
        """`Store.commit_move` within this transaction; the revision is not checked."""
        unchecked = replace(commit, revision=None)
        await self._transaction.run(lambda connection: write_commits(connection, [unchecked]))


class Store:
    """An open store. Close it with `close()`, or use it in `async with`. `now` is its clock."""

    def __init__(self, url: URL, now: Clock, *, writes: bool = True) -> None:
        """writes: False for a store that is only read. Raises StoreError where the driver is missing."""
        self.url = url
        self._notices = None if is_file(url) else CommitNotices(url)
        announce = self._notices.announce if self._notices else nobody_else
        self._guard = FileGuard(self.path) if self.path else None
        silence = ServerSilence()
        self._readers = ConnectionPool(
            create_engine(url, writes=False), silence, CONNECTIONS, MORE_CONNECTIONS
        )
        engine = create_engine(url, writes=writes)
        if self._guard is not None:
            event.listen(engine, "close", self._guard.forget_log)
        self._writer = Writer(ConnectionPool(engine, silence), announce, self._guard)
        self._move_writer = self._row_writer = self._writer
        if not is_file(url):
            row_engine = create_engine(url, writes=writes, excludes_others=False)
            self._move_writer = Writer(ConnectionPool(row_engine, silence), announce)
            row_pool = ConnectionPool(row_engine, silence, CONNECTIONS, MORE_CONNECTIONS)
            self._row_writer = Writer(row_pool, announce)
        self._committer = MoveCommitter(self._move_writer, self._readers, now)
        self.now = now

    @property
    def name(self) -> str:
        """The path of the file, or the URL without its password."""
        return display_name(self.url)

    @property
    def path(self) -> Path | None:
        """The file of the store; None for PostgreSQL."""
        return Path(self.url.database) if is_file(self.url) and self.url.database else None

    @asynccontextmanager
    async def begin(
        self, *, table: int | None = None, tables: Sequence[int] = (), excludes_others: bool = True
    ) -> AsyncIterator[UnitOfWork]:
        """A transaction that may write: all of the block or nothing, on the disk when the block ends.

        Others wait meanwhile, so keep the block short: no images, no network. On SQLite all blocks run one
        after another. On PostgreSQL those with a table wait only for others at that table, and may change
        what belongs to it; tables: the same for several. excludes_others: False is for a block whose rows
        nobody else changes, such as leased messages. Raises StoreError where nothing could be stored, and
        Deadlock where it is to be tried again.
        """
        locked = tuple(tables) if table is None else (table, *tables)
        writer = self._writer if excludes_others and not locked else self._row_writer
        async with writer.transaction() as thread:
            unit = UnitOfWork(Transaction(thread, self.now()))
            if locked and not is_file(self.url):
                await unit.tables.lock(*locked)
            yield unit

    async def lead(self, jobs: Sequence[str], work: Work, report: Report = tell_nobody) -> None:
        """Do some work whenever this process, of all at this store, has the jobs (`storage.leadership`)."""
        await leadership.lead(self.url, jobs, work, report)

    async def commit_move(self, commit: MoveCommit) -> None:
        """Store a move, in one transaction with those of other tables; on the disk when it returns.

        Raises WriteConflict where the log has grown, or the table's revision has changed, since the move was
        made; DuplicateRequest where its request was carried out before; NotFound for an unknown table;
        StoreError where nothing could be stored.
        """
        self._writer.check_not_nested()
        self._row_writer.check_not_nested()
        with as_store_errors(NOTHING_CHANGED):
            await self._committer.commits.submit(commit)

    async def table_version(self, table_id: int, request_id: str | None = None) -> TableVersion:
        """The committed version of a table, with the stored result of a request if one is given.

        Raises StoreError where nothing can be read.
        """
        with as_store_errors(CANNOT_READ):
            return await self._committer.version_checks.submit((table_id, request_id))

    async def table_record(self, table_id: int) -> TableRecord:
        """All of a table but its log, read together with those of others that are wanted now.

        Raises NotFound, StoreError where nothing can be read, and whatever damaged values raise.
        """
        with as_store_errors(CANNOT_READ):
            return await self._committer.loads.submit(table_id)

    async def table_versions(self, table_ids: Sequence[int]) -> dict[int, TableVersion]:
        """The committed versions of those tables that can be read, without results of requests."""
        with as_store_errors(CANNOT_READ):
            found = await self._committer.check_versions([(table_id, None) for table_id in table_ids])
        return {
            table_id: version
            for table_id, version in zip(table_ids, found, strict=True)
            if isinstance(version, TableVersion)
        }

    @asynccontextmanager
    async def read(self) -> AsyncIterator[UnitOfWork]:
        """A consistent view of what is committed. It waits for no writer, and cannot write.

        Raises StoreError where nothing can be read.
        """
        with as_store_errors(CANNOT_READ):
            async with self._readers.view() as thread:
                yield UnitOfWork(Transaction(thread, self.now()))

    def check_file(self) -> None:
        """Raises StoreLost where the file of the store is not the one that was opened."""
        if self._guard is not None:
            self._guard.check()

    async def check_writable(self) -> None:
        """Raises StoreError where the store cannot be written now: a file that another program locks, or a
        server that takes no changes."""
        with as_store_errors(CANNOT_BEGIN):
            if self.path is not None:
                await self._writer.on_driver(_take_lock)
                return
            async with self._readers.view() as thread:
                if await thread.run(lambda connection: connection.scalar(text(TAKES_NO_CHANGES))):
                    raise StoreError(f"{CANNOT_BEGIN}: {READ_ONLY}.")

    async def rescue(self) -> Path:
        """Write what the open file still holds beside its path; returns the new file. Raises StoreError."""
        assert self._guard is not None
        with as_store_errors("The open file cannot be copied"):
            try:
                return await self._writer.on_driver(self._guard.rescue)
            except OSError as error:
                raise StoreError(f"The open file cannot be copied: {error.strerror}.") from error

    async def write_back(self) -> None:
        """Write the write-ahead log into the file, unless somebody reads or writes. Raises StoreError."""
        assert self._guard is not None
        self.check_file()
        with as_store_errors("The log could not be written back"), self._guard.log_may_shrink():
            await self._writer.on_driver(_truncate_log)

    async def follow(self, wake: Callable[[], None]) -> None:
        """Call `wake` after commits of other processes, until this is cancelled. On SQLite, which tells
        nobody of commits, it returns at once."""
        if self._notices is not None:
            await self._notices.listen(wake)

    async def close(self) -> None:
        """Wait for what is under way, then close all connections."""
        await self._committer.close()
        for writer in {self._writer, self._move_writer, self._row_writer}:
            await writer.close()
        await self._readers.close()
        if self._notices is not None:
            await self._notices.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


@contextmanager
def _waiting(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """In the block, wait at most so many seconds for a lock of another connection."""
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {usual}")


def _truncate_log(connection: sqlite3.Connection) -> None:
    with _waiting(connection, 0):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _take_lock(connection: sqlite3.Connection) -> None:
    with _waiting(connection, LOCK_WAIT):
        connection.execute(BEGIN_WRITING)
        connection.execute("ROLLBACK")


async def open_store(url: str | Path, now: Clock = utc_now, *, migrated: bool = True) -> Store:
    """Open a store; create or migrate it where needed.

    url: a path, `sqlite:///data/railpost.db`, or the URL of a PostgreSQL database. migrated: False opens only
    an existing store of this revision, and changes nothing. Raises NewerStore, InvalidStore or StoreError;
    the message is a sentence for people.
    """
    target = store_url(url)
    if not migrated:
        return await _open_existing(target, now)
    if is_file(target):
        check_store_path(Path(str(target.database)))
    await asyncio.to_thread(_migrate, target)
    return Store(target, now)


def _migrate(target: URL) -> None:
    with errors_of_opening(target):
        with create_engine(target, writes=False).connect() as connection:
            if not needs_migration(connection):
                return  # without waiting for another process that writes
        with create_engine(target, writes=True, foreign_keys=False).connect() as connection:
            migrate(connection)


@contextmanager
def errors_of_opening(target: URL) -> Iterator[None]:
    """Raise StoreError, InvalidStore, or for a file DamagedStore, with all that the driver says, for the
    operator: also that a password is wrong, which players read as a database that does not answer."""
    try:
        yield
    except DatabaseError as error:
        damage = DamagedStore if is_file(target) else InvalidStore
        kind = StoreError if may_pass(error) else damage
        raise kind(f"{display_name(target)} cannot be opened as a store: {driver_message(error)}.") from error


async def _open_existing(target: URL, now: Clock) -> Store:
    if is_file(target):
        with open_read_only(Path(str(target.database))):
            pass
    revision = await asyncio.to_thread(_revision, target)
    refuse_older(revision, display_name(target), "or restore a backup into an empty folder to check that")
    return Store(target, now, writes=False)


def _revision(target: URL) -> str | None:
    with errors_of_opening(target), create_engine(target, writes=False).connect() as connection:
        return current_revision(connection)
