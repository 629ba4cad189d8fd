"""The log of a table, and the line of play that it tells.

Theory. The log only grows. A `move` row continues the line of play; an `undo` or a `redo` row says
after which move the line now stands. Both are one thing: the line is a path of moves and a cut in it.
Before the cut is what is played, behind it what a redo can still bring back. A move drops what is
behind the cut and stands there itself; `stands_at` only shifts the cut. No row is ever changed or
removed, so a log can be read at any row, and two readers of the same rows see the same line.

Of rows with a place on the line only moves count; whatever else is remembered leaves it as it is.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from sqlalchemy import bindparam, func
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, insert, select, update

from storage.errors import DuplicateRequest, NotFound, StoreError, WriteConflict
from storage.executor import Executor
from storage.models import (
    LogRowKind,
    MoveRecord,
    NewLogRow,
    RequestResult,
    Setting,
    TableSnapshot,
)
from storage.repositories.settings import DATA_REVISION
from storage.transaction import Repository


class LineOfPlayRow(Protocol):
    """What of a row tells the line of play."""

    @property
    def seq(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def rewinds_to(self) -> int | None: ...


class LineOfPlay(NamedTuple):
    """The line of play by the `seq` of its moves: those played, and those that a redo can bring back."""

    played: tuple[int, ...] = ()
    undone: tuple[int, ...] = ()

    @property
    def current_move(self) -> int:
        """The last move played; 0 before the first."""
        return self.played[-1] if self.played else 0


EMPTY_LINE = LineOfPlay()


def resolve_line_of_play(rows: Iterable[LineOfPlayRow], line: LineOfPlay = EMPTY_LINE) -> LineOfPlay:
    """The line of play that these rows tell, in order, from the first of the log or on from a line.

    Raises StoreError where a row stands at a move that is not on the line.
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
    """A row of the log as it is read: see `Entry` and `Move`."""

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


class ResolvedLogRow(NamedTuple):
    """A row of the log; `live` unless it is a move that was undone."""

    row: LogRow
    is_live: bool


_UPDATE_SNAPSHOT = (
    update(TableSnapshot)
    .where(
        col(TableSnapshot.table_id) == bindparam("for_table"), col(TableSnapshot.seq) == bindparam("expected")
    )
    .values(
        seq=bindparam("reached"),
        state=bindparam("now_state"),
        current_move=func.coalesce(bindparam("moved_to"), col(TableSnapshot.current_move)),
    )
)
_DATA_REVISION = select(Setting.value).where(col(Setting.key) == DATA_REVISION).scalar_subquery()
_UPDATE_SNAPSHOT_AT_REVISION = _UPDATE_SNAPSHOT.where(
    func.coalesce(_DATA_REVISION, "") == bindparam("current_revision")
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
    expected: int,
    entries: Sequence[NewLogRow],
    state: bytes,
    at: datetime,
    mark: str | None = None,
) -> int:
    """What `Moves.append` does, at a moment; with a `mark`, only while it is that of the store."""
    reached = expected + len(entries)
    rows: list[dict[str, Any]] = [
        entry.model_dump() | {"table_id": table_id, "seq": seq, "created_at": at}
        for seq, entry in enumerate(entries, expected + 1)
    ]
    moved_to = None
    for row in rows:
        if row["kind"] == "move":
            moved_to = row["seq"]
        elif row["rewinds_to"] is not None:
            moved_to = row["rewinds_to"]
    advance = {
        "for_table": table_id, "expected": expected, "reached": reached,
        "now_state": state, "moved_to": moved_to,
    }  # fmt: skip
    if mark is None:
        found = execute(_UPDATE_SNAPSHOT, advance).row_count
    else:
        found = execute(_UPDATE_SNAPSHOT_AT_REVISION, advance | {"current_revision": mark}).row_count
    if not found:
        heads = execute(_SELECT_SEQ, {"for_table": table_id}).rows
        if not heads:
            raise NotFound(f"There is no table {table_id}.")
        raise WriteConflict(table_id, expected, heads[0][0])
    try:
        execute(_INSERT_ROWS, rows)
    except IntegrityError as error:
        if "moves.request_id" in str(error.orig) or "uq_moves_request_id" in str(error.orig):
            raise DuplicateRequest(" or ".join(str(entry.request_id) for entry in entries)) from error
        raise
    if any(entry.rewinds_to is not None for entry in entries):
        resolve_line_of_play(read_rows(execute, table_id))
    return reached


def read_rows(execute: Executor, table_id: int, after: int = 0) -> list[LogRow]:
    """The rows of the log of a table behind `after`, in order."""
    return [LogRow(*row) for row in execute(_SELECT_ROWS, {"for_table": table_id, "after": after}).rows]


def save_request_result(execute: Executor, request: str, body: bytes, at: datetime) -> None:
    """What `Moves.remember` does, at a moment."""
    try:
        execute(_INSERT_RESULT, {"request_id": request, "body": body, "created_at": at})
    except IntegrityError as error:
        raise DuplicateRequest(request) from error


class MoveLogRepository(Repository):
    """Moves, undos and heads."""

    async def snapshot(self, table_id: int) -> TableSnapshot:
        """Where the table is. Raises Missing for a table that is not there."""
        found = await self._transaction.first(
            select(TableSnapshot).where(col(TableSnapshot.table_id) == table_id)
        )
        if found is None:
            raise NotFound(f"There is no table {table_id}.")
        return found

    async def append(self, table_id: int, expected: int, entries: Sequence[NewLogRow], state: bytes) -> int:
        """Add rows to the log and the state that they lead to; the `seq` of the last of them.

        `expected` is the last `seq` that the writer knew. Raises Stale where the log has grown since,
        Repeated where a request was already carried out, StoreError where an undo or redo goes to a
        move that is not on the line of play.
        """
        at = self._transaction.now
        return await self._transaction.run_job(
            lambda execute: append_rows(execute, table_id, expected, entries, state, at)
        )

    async def rows(self, table_id: int, after: int = 0) -> list[LogRow]:
        """The rows of the log behind `after`, in order."""
        return await self._transaction.run_job(lambda execute: read_rows(execute, table_id, after))

    async def resolved_rows(self, table_id: int) -> list[ResolvedLogRow]:
        """The whole log, moves that were undone marked."""
        rows = await self.rows(table_id)
        played = set(resolve_line_of_play(rows).played)
        return [ResolvedLogRow(row, row.kind != "move" or row.seq in played) for row in rows]

    async def line_of_play(self, table_id: int) -> list[LogRow]:
        """The moves that hold, in order: what a game is loaded from."""
        return [row for row, live in await self.resolved_rows(table_id) if live and row.kind == "move"]

    async def request_result(self, request: str) -> bytes | None:
        """What the request was answered, if it was made before."""
        return await self._transaction.scalar(
            select(RequestResult.body).where(col(RequestResult.request_id) == request)
        )

    async def save_request_result(self, request: str, body: bytes) -> None:
        """Keep the answer for when the request is repeated. Raises Repeated where there is one."""
        at = self._transaction.now
        await self._transaction.run_job(lambda execute: save_request_result(execute, request, body, at))
