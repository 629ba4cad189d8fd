"""The move log of a table, and the line of play that follows from it.

The log only grows. A `move` row continues the line of play; an `undo` or `redo` row says after which move
play continues. So the line of play is a path of moves with a cut in it: before the cut are the moves that
count, after it those that a redo can bring back. A move drops what is after the cut and is added there; an
undo or redo only moves the cut (`rewinds_to`). Rows are never changed or removed, so the log can be
read up to any row, and everyone who reads the same rows sees the same line. Rows of other kinds (`note`,
`replace`) leave the line as it is.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from sqlalchemy import bindparam, func
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, insert, select, update

from engine import FORMAT_VERSION
from storage.errors import DuplicateRequest, NotFound, StoreError, WriteConflict
from storage.executor import Executor
from storage.models import LogRowKind, MoveRecord, NewLogRow, RequestResult, TableSnapshot
from storage.transaction import Repository


class LineOfPlayRow(Protocol):
    """The part of a log row that the line of play depends on."""

    @property
    def seq(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def rewinds_to(self) -> int | None: ...


class LineOfPlay(NamedTuple):
    """The `seq` of the moves that count, and of those that a redo can bring back."""

    played: tuple[int, ...] = ()
    undone: tuple[int, ...] = ()

    @property
    def current_move(self) -> int:
        """The last move that counts; 0 before the first."""
        return self.played[-1] if self.played else 0


EMPTY_LINE = LineOfPlay()


def resolve_line_of_play(rows: Iterable[LineOfPlayRow], line: LineOfPlay = EMPTY_LINE) -> LineOfPlay:
    """The line of play after these rows, in order: from the first row of the log, or continuing a line.

    Raises StoreError where a row rewinds to a move that is not on the line.
    """
    path = [*line.played, *line.undone]
    cut = len(line.played)
    for row in rows:
        if row.rewinds_to == 0:
            cut = 0
        elif row.rewinds_to is not None:
            if row.rewinds_to not in path:
                raise StoreError(
                    f"Row {row.seq} goes to move {row.rewinds_to}, which is not on the line of play."
                )
            cut = path.index(row.rewinds_to) + 1
        elif row.kind == "move":
            path[cut:] = [row.seq]
            cut += 1
    return LineOfPlay(tuple(path[:cut]), tuple(path[cut:]))


class LogRow(NamedTuple):
    """A log row as it is read; for the fields see `NewLogRow` and `MoveRecord`."""

    seq: int
    created_at: datetime
    kind: LogRowKind
    seat: int | None
    person_id: int | None
    transport: str
    raw_line: str
    line: str
    events: bytes
    decision_id: str | None
    rewinds_to: int | None
    request_id: str | None
    format_version: int = FORMAT_VERSION
    order_id: int | None = None


class ResolvedLogRow(NamedTuple):
    """A log row, and whether it counts: False for a move that was undone."""

    row: LogRow
    is_live: bool


_UPDATE_SNAPSHOT = (
    update(TableSnapshot)
    .where(
        col(TableSnapshot.table_id) == bindparam("for_table"),
        col(TableSnapshot.seq) == bindparam("expected_seq"),
    )
    .values(
        seq=bindparam("new_seq"),
        state=bindparam("new_state"),
        current_move=func.coalesce(bindparam("new_current_move"), col(TableSnapshot.current_move)),
        rewind_count=col(TableSnapshot.rewind_count) + bindparam("rewinds"),
        format_version=FORMAT_VERSION,
    )
)
_UPDATE_SNAPSHOT_AT_REVISION = _UPDATE_SNAPSHOT.where(
    col(TableSnapshot.revision) == bindparam("expected_revision")
)
_INSERT_ROWS = insert(MoveRecord)
_INSERT_RESULT = insert(RequestResult)
_SELECT_ROWS = (
    select(*(MoveRecord.__table__.c[name] for name in LogRow._fields))  # type: ignore[attr-defined]
    .where(col(MoveRecord.table_id) == bindparam("for_table"), col(MoveRecord.seq) > bindparam("after"))
    .order_by(col(MoveRecord.seq))
)
_SELECT_SEQ = select(TableSnapshot.seq).where(col(TableSnapshot.table_id) == bindparam("for_table"))


def append_rows(
    execute: Executor,
    table_id: int,
    expected_seq: int,
    new_rows: Sequence[NewLogRow],
    state: bytes,
    created_at: datetime,
    revision: int | None = None,
) -> int:
    """`MoveLogRepository.append` as a job. With a `revision`, only while the table has that one."""
    new_seq = expected_seq + len(new_rows)
    rows: list[dict[str, Any]] = [
        row.model_dump() | {"table_id": table_id, "seq": seq, "created_at": created_at}
        for seq, row in enumerate(new_rows, expected_seq + 1)
    ]
    current_move = None
    for row in rows:
        if row["kind"] == "move":
            current_move = row["seq"]
        elif row["rewinds_to"] is not None:
            current_move = row["rewinds_to"]
    values = {
        "for_table": table_id, "expected_seq": expected_seq, "new_seq": new_seq,
        "new_state": state, "new_current_move": current_move,
        "rewinds": sum(row["rewinds_to"] is not None for row in rows),
    }  # fmt: skip
    if revision is None:
        updated = execute(_UPDATE_SNAPSHOT, values).row_count
    else:
        updated = execute(_UPDATE_SNAPSHOT_AT_REVISION, values | {"expected_revision": revision}).row_count
    if not updated:
        actual_seq = execute(_SELECT_SEQ, {"for_table": table_id}).rows
        if not actual_seq:
            raise NotFound(f"There is no table {table_id}.")
        raise WriteConflict(table_id, expected_seq, actual_seq[0][0])
    try:
        execute(_INSERT_ROWS, rows)
    except IntegrityError as error:
        if "moves.request_id" in str(error.orig) or "uq_moves_request_id" in str(error.orig):
            raise DuplicateRequest(" or ".join(str(row.request_id) for row in new_rows)) from error
        raise
    if any(row.rewinds_to is not None for row in new_rows):
        resolve_line_of_play(read_rows(execute, table_id))
    return new_seq


def read_rows(execute: Executor, table_id: int, after: int = 0) -> list[LogRow]:
    """The log rows of a table with a `seq` above `after`, in order."""
    return [LogRow(*row) for row in execute(_SELECT_ROWS, {"for_table": table_id, "after": after}).rows]


def save_request_result(execute: Executor, request_id: str, body: bytes, created_at: datetime) -> None:
    """`MoveLogRepository.save_request_result` as a job."""
    try:
        execute(_INSERT_RESULT, {"request_id": request_id, "body": body, "created_at": created_at})
    except IntegrityError as error:
        raise DuplicateRequest(request_id) from error


class MoveLogRepository(Repository):
    """Move logs, snapshots, results of requests."""

    async def snapshot(self, table_id: int) -> TableSnapshot:
        """The latest position of a table. Raises NotFound."""
        snapshot = await self._transaction.first(
            select(TableSnapshot).where(col(TableSnapshot.table_id) == table_id)
        )
        if snapshot is None:
            raise NotFound(f"There is no table {table_id}.")
        return snapshot

    async def append(self, table_id: int, expected_seq: int, rows: Sequence[NewLogRow], state: bytes) -> int:
        """Append rows to the log and store the state after them; returns the `seq` of the last row.

        `expected_seq` is the last `seq` that the caller knows. Raises WriteConflict where the log has
        grown since, DuplicateRequest where a request was carried out before, StoreError where an undo or
        redo goes to a move that is not on the line of play.
        """
        now = self._transaction.now
        return await self._transaction.run_job(
            lambda execute: append_rows(execute, table_id, expected_seq, rows, state, now)
        )

    async def rows(self, table_id: int, after: int = 0) -> list[LogRow]:
        """The log rows with a `seq` above `after`, in order."""
        return await self._transaction.run_job(lambda execute: read_rows(execute, table_id, after))

    async def resolved_rows(self, table_id: int) -> list[ResolvedLogRow]:
        """The whole log; each row with whether it counts."""
        rows = await self.rows(table_id)
        played = set(resolve_line_of_play(rows).played)
        return [ResolvedLogRow(row, row.kind != "move" or row.seq in played) for row in rows]

    async def line_of_play(self, table_id: int) -> list[LogRow]:
        """The moves that count, in order."""
        return [row for row, is_live in await self.resolved_rows(table_id) if is_live and row.kind == "move"]

    async def versions(self, table_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Revision and last `seq` of each of these tables."""
        query = select(TableSnapshot.table_id, TableSnapshot.revision, TableSnapshot.seq)
        rows = await self._transaction.rows(query.where(col(TableSnapshot.table_id).in_(table_ids)))
        return {table_id: (revision, seq) for table_id, revision, seq in rows}

    async def count_by_format(self) -> dict[int, int]:
        """How many rows of all logs have each format version."""
        query = select(MoveRecord.format_version, func.count()).group_by(col(MoveRecord.format_version))
        return dict(await self._transaction.rows(query))

    async def request_result(self, request_id: str) -> bytes | None:
        """The stored result of a request; None for a new request."""
        return await self._transaction.scalar(
            select(RequestResult.body).where(col(RequestResult.request_id) == request_id)
        )

    async def save_request_result(self, request_id: str, body: bytes) -> None:
        """Store the result of a request. Raises DuplicateRequest where there is one."""
        now = self._transaction.now
        await self._transaction.run_job(lambda execute: save_request_result(execute, request_id, body, now))
