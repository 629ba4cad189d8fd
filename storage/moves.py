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

from storage.direct import Execute
from storage.errors import Missing, Repeated, Stale, StoreError
from storage.installation import MARK
from storage.tables import Answer, Entry, Head, Move, MoveKind, Setting
from storage.work import Subject


class Step(Protocol):
    """What of a row tells the line of play."""

    @property
    def seq(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def stands_at(self) -> int | None: ...


class Line(NamedTuple):
    """The line of play by the `seq` of its moves: those played, and those that a redo can bring back."""

    played: tuple[int, ...] = ()
    undone: tuple[int, ...] = ()

    @property
    def stands_at(self) -> int:
        """The last move played; 0 before the first."""
        return self.played[-1] if self.played else 0


START = Line()


def resolve(rows: Iterable[Step], line: Line = START) -> Line:
    """The line of play that these rows tell, in order, from the first of the log or on from a line.

    Raises StoreError where a row stands at a move that is not on the line.
    """
    path = [*line.played, *line.undone]
    cut = len(line.played)
    for row in rows:
        if row.stands_at == 0:
            cut = 0
        elif row.stands_at is not None:
            if row.stands_at not in path:
                raise StoreError(
                    f"Row {row.seq} goes to move {row.stands_at}, which is not on the line of play."
                )
            cut = path.index(row.stands_at) + 1
        elif row.kind == "move":
            path[cut:] = [row.seq]
            cut += 1
    return Line(tuple(path[:cut]), tuple(path[cut:]))


class LogRow(NamedTuple):
    """A row of the log as it is read: see `Entry` and `Move`."""

    seq: int
    at: datetime
    kind: MoveKind
    seat: int | None
    person_id: int | None
    transport: str
    said: str
    line: str
    events: bytes
    decision: str | None
    stands_at: int | None
    request: str | None


class Logged(NamedTuple):
    """A row of the log; `live` unless it is a move that was undone."""

    row: LogRow
    live: bool


_ADVANCE = (
    update(Head)
    .where(col(Head.table_id) == bindparam("at_table"), col(Head.seq) == bindparam("expected"))
    .values(
        seq=bindparam("reached"),
        state=bindparam("now_state"),
        stands_at=func.coalesce(bindparam("moved_to"), col(Head.stands_at)),
    )
)
_MARK = select(Setting.value).where(col(Setting.key) == MARK).scalar_subquery()
_ADVANCE_IF_MARKED = _ADVANCE.where(func.coalesce(_MARK, "") == bindparam("mark"))
_ADD = insert(Move)
_REMEMBER = insert(Answer)
_ROWS = (
    select(*(Move.__table__.c[name] for name in LogRow._fields))  # type: ignore[attr-defined]
    .where(col(Move.table_id) == bindparam("at_table"), col(Move.seq) > bindparam("after"))
    .order_by(col(Move.seq))
)
_SEQ = select(Head.seq).where(col(Head.table_id) == bindparam("at_table"))


def append(
    execute: Execute,
    table_id: int,
    expected: int,
    entries: Sequence[Entry],
    state: bytes,
    at: datetime,
    mark: str | None = None,
) -> int:
    """What `Moves.append` does, at a moment; with a `mark`, only while it is that of the store."""
    reached = expected + len(entries)
    rows: list[dict[str, Any]] = [
        entry.model_dump() | {"table_id": table_id, "seq": seq, "at": at}
        for seq, entry in enumerate(entries, expected + 1)
    ]
    moved_to = None
    for row in rows:
        if row["kind"] == "move":
            moved_to = row["seq"]
        elif row["stands_at"] is not None:
            moved_to = row["stands_at"]
    advance = {
        "at_table": table_id, "expected": expected, "reached": reached,
        "now_state": state, "moved_to": moved_to,
    }  # fmt: skip
    if mark is None:
        found = execute(_ADVANCE, advance).touched
    else:
        found = execute(_ADVANCE_IF_MARKED, advance | {"mark": mark}).touched
    if not found:
        heads = execute(_SEQ, {"at_table": table_id}).rows
        if not heads:
            raise Missing(f"There is no table {table_id}.")
        raise Stale(table_id, expected, heads[0][0])
    try:
        execute(_ADD, rows)
    except IntegrityError as error:
        if "moves.request" in str(error.orig) or "uq_moves_request" in str(error.orig):
            raise Repeated(" or ".join(str(entry.request) for entry in entries)) from error
        raise
    if any(entry.stands_at is not None for entry in entries):
        resolve(logged(execute, table_id))
    return reached


def logged(execute: Execute, table_id: int, after: int = 0) -> list[LogRow]:
    """The rows of the log of a table behind `after`, in order."""
    return [LogRow(*row) for row in execute(_ROWS, {"at_table": table_id, "after": after}).rows]


def remember(execute: Execute, request: str, body: bytes, at: datetime) -> None:
    """What `Moves.remember` does, at a moment."""
    try:
        execute(_REMEMBER, {"request": request, "body": body, "at": at})
    except IntegrityError as error:
        raise Repeated(request) from error


class Moves(Subject):
    """Moves, undos and heads."""

    async def head(self, table_id: int) -> Head:
        """Where the table is. Raises Missing for a table that is not there."""
        found = await self._work.first(select(Head).where(col(Head.table_id) == table_id))
        if found is None:
            raise Missing(f"There is no table {table_id}.")
        return found

    async def append(self, table_id: int, expected: int, entries: Sequence[Entry], state: bytes) -> int:
        """Add rows to the log and the state that they lead to; the `seq` of the last of them.

        `expected` is the last `seq` that the writer knew. Raises Stale where the log has grown since,
        Repeated where a request was already carried out, StoreError where an undo or redo goes to a
        move that is not on the line of play.
        """
        at = self._work.now
        return await self._work.job(lambda execute: append(execute, table_id, expected, entries, state, at))

    async def rows(self, table_id: int, after: int = 0) -> list[LogRow]:
        """The rows of the log behind `after`, in order."""
        return await self._work.job(lambda execute: logged(execute, table_id, after))

    async def log(self, table_id: int) -> list[Logged]:
        """The whole log, moves that were undone marked."""
        rows = await self.rows(table_id)
        played = set(resolve(rows).played)
        return [Logged(row, row.kind != "move" or row.seq in played) for row in rows]

    async def line_of_play(self, table_id: int) -> list[LogRow]:
        """The moves that hold, in order: what a game is loaded from."""
        return [row for row, live in await self.log(table_id) if live and row.kind == "move"]

    async def answered(self, request: str) -> bytes | None:
        """What the request was answered, if it was made before."""
        return await self._work.value(select(Answer.body).where(col(Answer.request) == request))

    async def remember(self, request: str, body: bytes) -> None:
        """Keep the answer for when the request is repeated. Raises Repeated where there is one."""
        at = self._work.now
        await self._work.job(lambda execute: remember(execute, request, body, at))
