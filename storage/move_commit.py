"""The two database calls of every move: the version check and the move commit.

The service caches tables in memory, so it must know whether a cached table is current. A version check
reads three things: the length of the table's log, the id of the store, and the table's revision, which
changes with every transaction that changes the table, its seats, their people or its polls. While these are
unchanged, nothing else needs to be read. A move commit is a move as plain values: log rows, state, messages
and the result of the request. It is written only if these three are as the caller saw them, so a move needs
no check before. Changes at one table therefore cost the others nothing.

Version checks and move commits of many tables run in batches. A batch of commits is one transaction, and
so one write to the disk, with a few statements for all of them. Where one of them fails, it fails alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from sqlmodel import bindparam, col, select

from storage.batch import Batcher
from storage.connections import ConnectionPool
from storage.database_errors import UNSTORABLE
from storage.errors import NotFound, StoreError, WriteConflict
from storage.group_commit import GroupCommit
from storage.models import STORE_ID, NewLogRow, NewMessage, RequestResult, Setting, TableSnapshot
from storage.repositories import move_log, outbox
from storage.table_records import TableRecord, read_table_records

TableRequest = tuple[int, str | None]
"""A table id, and the id of a request whose stored result is wanted."""


@dataclass(frozen=True, slots=True)
class MoveCommit:
    """What is stored of one move: its log rows, the state after them, messages, the result of the request.

    expected_seq: the last `seq` of the log that the caller knows. revision: the one that the caller's
    version check returned; None inside a unit of work, which has checked it by itself. result: kept under
    `request_id`, and returned when the same request comes again. store_id: of the store that the caller has
    read, which a restored backup may have replaced; None where it is not known.
    """

    table_id: int
    created_at: datetime
    expected_seq: int
    revision: int | None
    rows: Sequence[NewLogRow] = ()
    state: bytes = b""
    messages: Sequence[NewMessage] = ()
    request_id: str | None = None
    result: bytes = b""
    store_id: str | None = None


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


def _appended(commit: MoveCommit) -> move_log.Appended:
    return move_log.Appended(
        commit.table_id, commit.expected_seq, commit.rows, commit.state, commit.created_at, commit.revision
    )


def write_move_commit(commit: MoveCommit, connection: Connection) -> None:
    """Write one move commit. Raises what `append_rows` and `save_request_result` raise."""
    if commit.store_id not in (None, _store_id(connection)):
        raise WriteConflict(commit.table_id, commit.expected_seq, commit.expected_seq)
    if commit.rows:
        move_log.append_rows(connection, _appended(commit))
    outbox.enqueue_messages(connection, commit.messages, commit.created_at)
    if commit.request_id:
        move_log.save_request_result(connection, commit.request_id, commit.result, commit.created_at)


COMMIT_ERRORS = (StoreError, IntegrityError, *UNSTORABLE)
"""What a move commit can raise that leaves its transaction intact."""


def _write_all(connection: Connection, commits: Sequence[MoveCommit]) -> list[Exception | None]:
    """Write all, in the order of their tables: two processes that lock in one order do not deadlock.

    Mostly all can be written, so that is tried with a few statements. Where one cannot, each is written in
    a savepoint of its own, and fails alone.
    """
    outcomes: list[Exception | None] = [None] * len(commits)
    order = sorted(range(len(commits)), key=lambda index: commits[index].table_id)
    if len(commits) > 1 and _write_together(connection, [commits[index] for index in order]):
        return outcomes
    for index in order:
        outcomes[index] = _write_in_savepoint(connection, commits[index])
    return outcomes


def _write_together(connection: Connection, commits: Sequence[MoveCommit]) -> bool:
    """Write several move commits at once; False where that cannot be done, and nothing of it is written."""
    enqueued = [outbox.Enqueued(commit.messages, commit.created_at) for commit in commits]
    keys = [key for each in enqueued for key in each.collapse_keys]
    appended = [_appended(commit) for commit in commits if commit.rows]
    store_ids = {commit.store_id for commit in commits} - {None}
    if len(keys) != len(set(keys)) or any(each.revision is None for each in appended):
        return False
    if store_ids and store_ids != {_store_id(connection)}:
        return False
    savepoint = connection.begin_nested()
    try:
        is_written = move_log.append_together(connection, appended)
        if is_written:
            outbox.enqueue_together(connection, enqueued)
            move_log.save_results(
                connection, [(c.request_id, c.result, c.created_at) for c in commits if c.request_id]
            )
    except COMMIT_ERRORS:
        is_written = False
    if is_written:
        savepoint.commit()
    else:
        savepoint.rollback()
    return is_written


def _write_in_savepoint(connection: Connection, commit: MoveCommit) -> Exception | None:
    """Write one move commit; returns the error, in which case nothing of it is written."""
    try:
        with connection.begin_nested():
            write_move_commit(commit, connection)
    except COMMIT_ERRORS as error:
        return error
    return None


class MoveCommitter:
    """Runs the version checks, loads and move commits of a store in batches."""

    def __init__(
        self, group_commit: GroupCommit, readers: ConnectionPool, now: Callable[[], datetime]
    ) -> None:
        self._group_commit, self._readers = group_commit, readers
        self._now = now
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
        return await self._group_commit.run(lambda connection: _write_all(connection, commits))

    async def close(self) -> None:
        """Wait until nothing is under way."""
        await self.version_checks.wait_idle()
        await self.loads.wait_idle()
        await self.commits.wait_idle()
