"""The move log of a table, and the line of play that follows from it.

The log only grows. A `move` row continues the line of play; an `undo` or `redo` row says after which move
play continues. So the line of play is a path of moves with a cut in it: before the cut are the moves that
count, after it those that a redo can bring back. A move drops what is after the cut and is added there; an
undo or redo only moves the cut (`rewinds_to`). Rows are never changed or removed, so the log can be
read up to any row, and everyone who reads the same rows sees the same line. Rows of other kinds (`note`,
`replace`) leave the line as it is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, insert, select, update

from engine import FORMAT_VERSION
from storage.errors import DuplicateRequest, NotFound, StoreError, WriteConflict
from storage.models import LogRow, MoveRecord, NewMessage, RequestResult, TableSnapshot
from storage.repositories.clocks import MARK_BEHIND
from storage.transaction import Repository, select_columns


class LineOfPlay(NamedTuple):
    """The `seq` of the moves that count, and of those that a redo can bring back."""

    played: tuple[int, ...] = ()
    undone: tuple[int, ...] = ()

    @property
    def current_move(self) -> int:
        """The last move that counts; 0 before the first."""
        return self.played[-1] if self.played else 0


EMPTY_LINE = LineOfPlay()


def resolve_line_of_play(rows: Iterable[LogRow], line: LineOfPlay = EMPTY_LINE) -> LineOfPlay:
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


def numbered(rows: Iterable[LogRow], after: int, created_at: datetime) -> list[LogRow]:
    """New rows as they stand in the log after the row `after`."""
    return [row._replace(seq=seq, created_at=created_at) for seq, row in enumerate(rows, after + 1)]


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
    select_columns(MoveRecord, *LogRow._fields)
    .where(col(MoveRecord.table_id) == bindparam("for_table"))
    .order_by(col(MoveRecord.seq))
)
_SELECT_SEQ = select(TableSnapshot.seq).where(col(TableSnapshot.table_id) == bindparam("for_table"))


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
    rows: Sequence[LogRow] = ()
    state: bytes = b""
    messages: Sequence[NewMessage] = ()
    request_id: str | None = None
    result: bytes = b""
    store_id: str | None = None

    @property
    def row_values(self) -> list[dict[str, Any]]:
        """The rows as they are inserted."""
        rows = numbered(self.rows, self.expected_seq, self.created_at)
        return [row._asdict() | {"table_id": self.table_id} for row in rows]

    @property
    def snapshot_values(self) -> dict[str, Any]:
        """The parameters of `_UPDATE_SNAPSHOT`, or of the one at a revision."""
        current_move = None
        for seq, row in enumerate(self.rows, self.expected_seq + 1):
            if row.kind == "move":
                current_move = seq
            elif row.rewinds_to is not None:
                current_move = row.rewinds_to
        values = {
            "for_table": self.table_id, "expected_seq": self.expected_seq,
            "new_seq": self.expected_seq + len(self.rows), "new_state": self.state,
            "new_current_move": current_move,
            "rewinds": sum(row.rewinds_to is not None for row in self.rows),
        }  # fmt: skip
        return values if self.revision is None else values | {"expected_revision": self.revision}


def append_rows(connection: Connection, commits: Sequence[MoveCommit]) -> None:
    """Append to the logs of tables with a few statements: of one, or of several that all have a revision.

    Raises what `MoveLogRepository.append` raises; of several the first is blamed for what another may be.
    """
    if not commits:
        return
    statement = _UPDATE_SNAPSHOT if commits[0].revision is None else _UPDATE_SNAPSHOT_AT_REVISION
    snapshots = [commit.snapshot_values for commit in commits]
    if connection.execute(statement, snapshots).rowcount != len(commits):
        raise _conflict(connection, commits[0])
    try:
        connection.execute(_INSERT_ROWS, [row for commit in commits for row in commit.row_values])
    except IntegrityError as error:
        if "moves.request_id" in str(error.orig) or "uq_moves_request_id" in str(error.orig):
            raise DuplicateRequest(" or ".join(str(row.request_id) for row in commits[0].rows)) from error
        raise
    connection.execute(MARK_BEHIND, [{"of_table": commit.table_id} for commit in commits])
    for commit in commits:
        if any(row.rewinds_to is not None for row in commit.rows):
            resolve_line_of_play(read_rows(connection, commit.table_id))


def _conflict(connection: Connection, commit: MoveCommit) -> StoreError:
    actual_seq = connection.scalar(_SELECT_SEQ, {"for_table": commit.table_id})
    if actual_seq is None:
        return NotFound(f"There is no table {commit.table_id}.")
    return WriteConflict(commit.table_id, commit.expected_seq, actual_seq)


def read_rows(connection: Connection, table_id: int) -> list[LogRow]:
    """The log rows of a table, in order."""
    return [LogRow(*row) for row in connection.execute(_SELECT_ROWS, {"for_table": table_id})]


def save_results(connection: Connection, results: Sequence[tuple[str, bytes, datetime]]) -> None:
    """Store results of requests: id, body and time of each. Raises DuplicateRequest where there is one."""
    if results:
        rows = [{"request_id": name, "body": body, "created_at": at} for name, body, at in results]
        try:
            connection.execute(_INSERT_RESULT, rows)
        except IntegrityError as error:
            raise DuplicateRequest(results[0][0]) from error


class MoveLogRepository(Repository):
    """Move logs, snapshots, results of requests."""

    async def snapshot(self, table_id: int) -> TableSnapshot:
        """The latest position of a table. Raises NotFound."""
        return await self._db.get(TableSnapshot, f"There is no table {table_id}.", table_id=table_id)

    async def append(
        self, table_id: int, expected_seq: int, rows: Sequence[LogRow], state: bytes
    ) -> list[LogRow]:
        """Append rows to the log and store the state after them; returns them as they stand there.

        `expected_seq` is the last `seq` that the caller knows. Raises WriteConflict where the log has
        grown since, DuplicateRequest where a request was carried out before, StoreError where an undo or
        redo goes to a move that is not on the line of play.
        """
        commit = MoveCommit(table_id, self._db.now, expected_seq, None, rows, state)
        await self._db.run(lambda connection: append_rows(connection, [commit]))
        return numbered(rows, expected_seq, self._db.now)

    async def rows(self, table_id: int) -> list[LogRow]:
        """The log rows of a table, in order."""
        return await self._db.read(lambda connection: read_rows(connection, table_id))

    async def count_by_format(self) -> dict[int, int]:
        """How many rows of all logs have each format version."""
        query = select(MoveRecord.format_version, func.count()).group_by(col(MoveRecord.format_version))
        return dict(await self._db.rows(query))

    async def request_result(self, request_id: str) -> bytes | None:
        """The stored result of a request; None for a new request."""
        return await self._db.first(select(RequestResult.body).filter_by(request_id=request_id))

    async def save_request_result(self, request_id: str, body: bytes) -> None:
        """Store the result of a request. Raises DuplicateRequest where there is one."""
        results = [(request_id, body, self._db.now)]
        await self._db.run(lambda connection: save_results(connection, results))
