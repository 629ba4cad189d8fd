"""The two database calls of every move: the version check and the move commit.

The service caches tables in memory, so it must know whether a cached table is current. A version check
reads three things: the length of the table's log, the id of the store, and the table's revision, which
changes with every transaction that changes the table, its seats, their people or its polls. While these are
unchanged, nothing else needs to be read. A move commit is a move as plain values: log rows, state, messages
and the result of the request. It is written only if the log is as long as the caller believed, and the
revision is the one that the caller saw. What happens at one table therefore costs the others nothing.

Version checks and move commits of many tables run in batches. A batch of commits is one transaction, and
so one write to the disk; each commit in it has a savepoint of its own, so it fails alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ScalarSelect
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import bindparam, col, select

from storage.batch import Batcher
from storage.cancellation import run_uninterrupted
from storage.database_errors import UNSTORABLE
from storage.errors import NotFound, StoreError
from storage.executor import Executor, run_job
from storage.group_commit import GroupCommit
from storage.models import NewLogRow, NewMessage, RequestResult, Setting, TableSnapshot
from storage.repositories import move_log, outbox
from storage.repositories.settings import STORE_ID
from storage.table_records import TableRecord, read_table_records

TableRequest = tuple[int, str | None]
"""A table id, and the id of a request whose stored result is wanted."""


@dataclass(frozen=True, slots=True)
class MoveCommit:
    """What is stored of one move: its log rows, the state after them, messages, the result of the request.

    expected_seq: the last `seq` of the log that the caller knows. revision: the one that the caller's
    version check returned; None inside a unit of work, which has checked it by itself. result: kept under
    `request_id`, and returned when the same request comes again.
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


class TableVersion(NamedTuple):
    """What shows whether a cached table is current. `seq` is None where there is no such table.

    stored_result: the result of the request that was asked about, if it was carried out before.
    """

    store_id: str
    revision: int
    seq: int | None
    stored_result: bytes | None


def _setting(key: str) -> ScalarSelect[str]:
    return select(Setting.value).where(col(Setting.key) == key).scalar_subquery()


OF_TABLE = col(TableSnapshot.table_id) == bindparam("for_table")
_VERSION_QUERY = select(
    _setting(STORE_ID),
    select(TableSnapshot.revision).where(OF_TABLE).scalar_subquery(),
    select(TableSnapshot.seq).where(OF_TABLE).scalar_subquery(),
    select(RequestResult.body)
    .where(col(RequestResult.request_id) == bindparam("for_request"))
    .scalar_subquery(),
)


def _read_versions(execute: Executor, requests: Sequence[TableRequest]) -> list[TableVersion | Exception]:
    versions: list[TableVersion | Exception] = []
    for table_id, request_id in requests:
        try:
            ((store_id, revision, seq, result),) = execute(
                _VERSION_QUERY, {"for_table": table_id, "for_request": request_id}
            ).rows
        except UNSTORABLE as error:  # of this request alone
            versions.append(error)
        else:
            versions.append(TableVersion(store_id or "", revision or 0, seq, result))
    return versions


def write_move_commit(commit: MoveCommit, execute: Executor) -> None:
    """Write one move commit. Raises what `append_rows` and `save_request_result` raise."""
    if commit.rows:
        move_log.append_rows(
            execute,
            commit.table_id,
            commit.expected_seq,
            commit.rows,
            commit.state,
            commit.created_at,
            commit.revision,
        )
    outbox.enqueue_messages(execute, commit.messages, commit.created_at)
    if commit.request_id:
        move_log.save_request_result(execute, commit.request_id, commit.result, commit.created_at)


def _write_all(execute: Executor, commits: Sequence[MoveCommit]) -> list[Exception | None]:
    """Write all, in the order of their tables: two processes that lock in one order do not deadlock."""
    outcomes: list[Exception | None] = [None] * len(commits)
    for index in sorted(range(len(commits)), key=lambda index: commits[index].table_id):
        outcomes[index] = _write_in_savepoint(execute, commits[index])
    return outcomes


def _write_in_savepoint(execute: Executor, commit: MoveCommit) -> Exception | None:
    """Write one move commit; returns the error, in which case nothing of it is written."""
    execute.run_sql("SAVEPOINT move_commit")
    try:
        write_move_commit(commit, execute)
    except (StoreError, IntegrityError, DataError, *UNSTORABLE) as error:
        execute.run_sql("ROLLBACK TO SAVEPOINT move_commit")
        return error
    finally:
        execute.run_sql("RELEASE SAVEPOINT move_commit")
    return None


class MoveCommitter:
    """Runs the version checks, loads and move commits of a store in batches."""

    def __init__(
        self, group_commit: GroupCommit, read_engine: AsyncEngine, now: Callable[[], datetime]
    ) -> None:
        self._group_commit = group_commit
        self._read_engine = read_engine
        self._now = now
        self.version_checks = Batcher[TableRequest, TableVersion](self._check_versions)
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
        async with self._read_engine.connect() as connection, connection.begin():
            return await run_uninterrupted(
                run_job(connection, lambda execute: read_table_records(execute, table_ids, self._now()))
            )

    async def _check_versions(self, requests: Sequence[TableRequest]) -> Sequence[TableVersion | Exception]:
        async with self._read_engine.connect() as connection:
            return await run_job(connection, lambda execute: _read_versions(execute, requests))

    async def _commit(self, commits: Sequence[MoveCommit]) -> Sequence[Exception | None]:
        async with self._group_commit.transaction() as connection:
            return await run_uninterrupted(run_job(connection, lambda execute: _write_all(execute, commits)))

    async def close(self) -> None:
        """Wait until nothing is under way."""
        await self.version_checks.wait_idle()
        await self.loads.wait_idle()
        await self.commits.wait_idle()
