"""Version checks, loads and move commits, in batches over all tables.

The service caches tables in memory, so it must know whether a cached table is current. A version check
reads three things: the length of the table's log, the id of the store, and the table's revision, which
changes with every transaction that changes the table, its seats, their people or its polls. While these are
unchanged, nothing else needs to be read. A move commit is a move as plain values: log rows, state, messages
and the result of the request. One that adds rows is written only if these three are as the caller saw them,
so a move needs no check before. Changes at one table therefore cost the others nothing.

All three run in batches. A batch of commits is one transaction, and
so one write to the disk, with a few statements for all of them. Where one of them fails, it fails alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from sqlmodel import bindparam, col, select

from storage.connections import ConnectionPool, Writer, run_uninterrupted
from storage.errors import UNSTORABLE, NotFound, StoreError, WriteConflict
from storage.models import STORE_ID, RequestResult, Setting, TableSnapshot
from storage.repositories import move_log, outbox
from storage.repositories.move_log import MoveCommit
from storage.table_records import TableRecord, read_table_records

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batch(Generic[Item, Result]):
    """Items that run together; `outcomes` holds a result or an error for each, in the same order."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.outcomes: asyncio.Future[Sequence[Result | Exception]] = (
            asyncio.get_running_loop().create_future()
        )


class Batcher(Generic[Item, Result]):
    """Runs items in batches. `run` takes the items of a batch and returns an outcome for each, in order.

    The task that submits the first item of a batch runs it: it waits until the batch before has ended,
    then runs whatever was collected meanwhile. An item on its own waits for nobody. Where the task of one
    item is cancelled, its batch still runs.
    """

    def __init__(self, run: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]]) -> None:
        self._run = run
        self._lock = asyncio.Lock()
        self._collecting: Batch[Item, Result] | None = None

    async def submit(self, item: Item) -> Result:
        """The result of the item. Raises the error of the item, or of its whole batch."""
        is_first = self._collecting is None
        batch = self._collecting = self._collecting or Batch()
        index = len(batch.items)
        batch.items.append(item)
        if is_first:
            await run_uninterrupted(asyncio.ensure_future(self._run_batch(batch)))
        outcome = (await asyncio.shield(batch.outcomes))[index]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _run_batch(self, batch: Batch[Item, Result]) -> None:
        async with self._lock:
            self._collecting = None
            try:
                batch.outcomes.set_result(await self._run(batch.items))
            except Exception as error:
                batch.outcomes.set_result([error] * len(batch.items))
            finally:
                batch.outcomes.cancel()

    async def wait_idle(self) -> None:
        """Wait until no item is under way."""
        while self._collecting is not None or self._lock.locked():
            async with self._lock:
                pass


TableRequest = tuple[int, str | None]
"""A table id, and the id of a request whose stored result is wanted."""


class TableVersion(NamedTuple):
    """What shows whether a cached table is current. `seq` is None where there is no such table.

    stored_result: the result of the request that was asked about, if it was carried out before.
    """

    store_id: str
    revision: int
    seq: int | None
    stored_result: bytes | None


_SELECT_STORE_ID = select(Setting.value).where(col(Setting.key) == STORE_ID)


def _store_id(connection: Connection) -> str:
    return connection.scalar(_SELECT_STORE_ID) or ""


_SELECT_VERSIONS = select(TableSnapshot.table_id, TableSnapshot.revision, TableSnapshot.seq).where(
    col(TableSnapshot.table_id).in_(bindparam("tables", expanding=True))
)
_SELECT_RESULTS = select(RequestResult.request_id, RequestResult.body).where(
    col(RequestResult.request_id).in_(bindparam("requests", expanding=True))
)


def _read_versions(
    connection: Connection, requests: Sequence[TableRequest]
) -> list[TableVersion | Exception]:
    """The versions of these tables; where they cannot be read together, each alone."""
    try:
        return [*_read_versions_together(connection, requests)]
    except UNSTORABLE as error:
        if len(requests) == 1:
            return [error]
        return [outcome for one in requests for outcome in _read_versions(connection, [one])]


def _read_versions_together(connection: Connection, requests: Sequence[TableRequest]) -> list[TableVersion]:
    results: dict[str, bytes] = {}
    if names := [name for _, name in requests if name is not None]:
        rows = connection.execute(_SELECT_RESULTS, {"requests": names})
        results = {row.request_id: row.body for row in rows}
    found = connection.execute(_SELECT_VERSIONS, {"tables": [table_id for table_id, _ in requests]})
    tables: dict[int, tuple[int, int | None]] = {row[0]: (row[1], row[2]) for row in found}
    store_id = _store_id(connection)
    return [
        TableVersion(store_id, *tables.get(table_id, (0, None)), results.get(name) if name else None)
        for table_id, name in requests
    ]


def write_commits(connection: Connection, commits: Sequence[MoveCommit]) -> None:
    """Write one move commit, or several that have revisions and no collapse key in common. Several have to be
    sorted by their tables: two processes that lock in one order do not deadlock. Raises what its parts
    raise."""
    store_ids = {commit.store_id for commit in commits} - {None}
    if store_ids and store_ids != {_store_id(connection)}:
        raise WriteConflict(commits[0].table_id, commits[0].expected_seq, commits[0].expected_seq)
    move_log.append_rows(connection, [commit for commit in commits if commit.rows])
    messages = [message for commit in commits for message in commit.messages]
    outbox.enqueue_messages(connection, messages, max(commit.created_at for commit in commits))
    results = [(c.request_id, c.result, c.created_at) for c in commits if c.request_id]
    move_log.save_results(connection, results)


COMMIT_ERRORS = (StoreError, IntegrityError, *UNSTORABLE)
"""What a move commit can raise that leaves its transaction intact."""


def _write_all(connection: Connection, commits: Sequence[MoveCommit]) -> list[Exception | None]:
    """Write all in the transaction that has begun; returns the errors. Mostly all can be written, so that is
    tried with a few statements. Where one cannot, the transaction begins anew, and each is written in a
    savepoint of its own, and fails alone."""
    order = sorted(range(len(commits)), key=lambda index: commits[index].table_id)
    outcomes: list[Exception | None] = [None] * len(commits)
    if _fit_together(commits):
        try:
            write_commits(connection, [commits[index] for index in order])
            return outcomes
        except COMMIT_ERRORS:
            connection.rollback()
            connection.begin()
    for index in order:
        outcomes[index] = _write_in_savepoint(connection, commits[index])
    return outcomes


def _fit_together(commits: Sequence[MoveCommit]) -> bool:
    """Whether no message of a commit may supersede one of another, and all are checked by their revision."""
    keys = [key for commit in commits for key in {message.collapse_key for message in commit.messages} if key]
    return len(keys) == len(set(keys)) and all(commit.revision is not None for commit in commits)


def _write_in_savepoint(connection: Connection, commit: MoveCommit) -> Exception | None:
    """Write a move commit; returns the error, in which case nothing of it is written."""
    try:
        with connection.begin_nested():
            write_commits(connection, [commit])
    except COMMIT_ERRORS as error:
        return error
    return None


class MoveCommitter:
    """Runs the version checks, loads and move commits of a store in batches."""

    def __init__(self, writer: Writer, readers: ConnectionPool, now: Callable[[], datetime]) -> None:
        self._writer, self._readers, self._now = writer, readers, now
        self.version_checks = Batcher[TableRequest, TableVersion](self.check_versions)
        self.loads = Batcher[int, TableRecord](self._load)
        self.commits = Batcher[MoveCommit, None](self._commit)

    async def _load(self, table_ids: Sequence[int]) -> Sequence[TableRecord | Exception]:
        """The records of tables. Where they cannot be read together, each is read alone, so that damage to
        one stays there."""
        try:
            found = await self._read_records(sorted(set(table_ids)))
        except Exception as error:
            if len(set(table_ids)) == 1:
                return [error] * len(table_ids)
            return [outcome for one in table_ids for outcome in await self._load([one])]
        return [found.get(one) or NotFound(f"There is no table {one}.") for one in table_ids]

    async def _read_records(self, table_ids: Sequence[int]) -> dict[int, TableRecord]:
        now = self._now()
        return await self._readers.run(lambda connection: read_table_records(connection, table_ids, now))

    async def check_versions(self, requests: Sequence[TableRequest]) -> Sequence[TableVersion | Exception]:
        """The versions of tables, with results of requests, in one look at the store."""
        return await self._readers.run(lambda connection: _read_versions(connection, requests))

    async def _commit(self, commits: Sequence[MoveCommit]) -> Sequence[Exception | None]:
        return await self._writer.run(lambda connection: _write_all(connection, commits))

    async def close(self) -> None:
        """Wait until nothing is under way."""
        await self.version_checks.wait_idle()
        await self.loads.wait_idle()
        await self.commits.wait_idle()
