"""What is done for every move: a glance at the table, and a deed.

Theory. Who keeps tables in memory has to know whether what he has still holds. A glance tells: how
long the log is, which store this is, and the mark of all that is known of tables and people beside
their logs, which changes with every unit that changes any of it. So as long as a glance says the
same, nothing else has to be read. A deed is a move as plain values: rows, state, parcels, answer. It
is kept only where its log is as long as its maker thought and the mark is still the one that he saw.

Glances and deeds of many tables are run in lots, each lot in one visit to the database; a lot of
deeds is one turn of the writer, and thus one commit. Each deed has a savepoint, so it fails alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ScalarSelect
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import bindparam, col, select

from storage.batch import Batcher
from storage.errors import StoreError
from storage.executor import Executor, run_job
from storage.group_commit import GroupCommit, commit_error
from storage.models import (
    NewLogRow,
    NewMessage,
    RequestResult,
    Setting,
    TableSnapshot,
)
from storage.repositories import move_log, outbox
from storage.repositories.settings import DATA_REVISION, STORE_ID
from storage.transaction import run_uninterrupted


@dataclass(frozen=True, slots=True)
class MoveCommit:
    """What is done at one table at one moment: rows of its log with the state that they lead to,
    parcels, and the answer to a request.

    expected: the last `seq` that its maker knew. mark: as of his glance; None in a unit that has made
    sure by itself.
    """

    table_id: int
    created_at: datetime
    expected_seq: int
    data_revision: str | None
    rows: Sequence[NewLogRow] = ()
    state: bytes = b""
    messages: Sequence[NewMessage] = ()
    request_id: str | None = None
    result: bytes = b""


class TableVersion(NamedTuple):
    """How a table stands in the store. seq: of its last row, None where there is no such table.

    answer: what the request that was asked about was answered before.
    """

    store_id: str
    data_revision: str
    seq: int | None
    stored_result: bytes | None


def _setting(key: str) -> ScalarSelect[str]:
    return select(Setting.value).where(col(Setting.key) == key).scalar_subquery()


_VERSION_QUERY = select(
    _setting(STORE_ID),
    _setting(DATA_REVISION),
    select(TableSnapshot.seq).where(col(TableSnapshot.table_id) == bindparam("for_table")).scalar_subquery(),
    select(RequestResult.body).where(col(RequestResult.request_id) == bindparam("asked")).scalar_subquery(),
)


def _read_versions(
    execute: Executor, errands: Sequence[tuple[int, str | None]]
) -> list[TableVersion | Exception]:
    found: list[TableVersion | Exception] = []
    for table, request in errands:
        ((incarnation, mark, seq, answer),) = execute(
            _VERSION_QUERY, {"for_table": table, "asked": request}
        ).rows
        found.append(TableVersion(incarnation or "", mark or "", seq, answer))
    return found


def write_move_commit(deed: MoveCommit, execute: Executor) -> None:
    """Write a deed down. Raises what `Moves.append` and `Moves.remember` do."""
    if deed.rows:
        move_log.append_rows(
            execute,
            deed.table_id,
            deed.expected_seq,
            deed.rows,
            deed.state,
            deed.created_at,
            deed.data_revision,
        )
    outbox.enqueue_messages(execute, deed.messages, deed.created_at)
    if deed.request_id:
        move_log.save_request_result(execute, deed.request_id, deed.result, deed.created_at)


def _write_all(execute: Executor, deeds: Sequence[MoveCommit]) -> list[Exception | None]:
    return [_write_in_savepoint(execute, deed) for deed in deeds]


def _write_in_savepoint(execute: Executor, deed: MoveCommit) -> Exception | None:
    """What was wrong with a deed, of which then nothing is kept."""
    execute.run_sql("SAVEPOINT deed")
    try:
        write_move_commit(deed, execute)
    except (StoreError, IntegrityError, DataError) as error:
        execute.run_sql("ROLLBACK TO SAVEPOINT deed")
        return error
    finally:
        execute.run_sql("RELEASE SAVEPOINT deed")
    return None


class MoveCommitter:
    """Runs the glances and deeds of a store."""

    def __init__(self, writer: GroupCommit, reading: AsyncEngine) -> None:
        self._group_commit = writer
        self._read_engine = reading
        self.version_checks = Batcher[tuple[int, str | None], TableVersion](self._check_versions)
        self.commits = Batcher[MoveCommit, None](self._commit)

    async def _check_versions(
        self, errands: Sequence[tuple[int, str | None]]
    ) -> Sequence[TableVersion | Exception]:
        async with self._read_engine.connect() as connection:
            return await run_job(connection, lambda execute: _read_versions(execute, errands))

    async def _commit(self, deeds: Sequence[MoveCommit]) -> Sequence[Exception | None]:
        try:
            async with self._group_commit.transaction() as connection:
                return await run_uninterrupted(
                    run_job(connection, lambda execute: _write_all(execute, deeds))
                )
        except DBAPIError as error:
            raise commit_error(error) from error

    async def close(self) -> None:
        """After the last of them."""
        await self.version_checks.wait_idle()
        await self.commits.wait_idle()
