"""What the store holds about the clocks of tables, read and written for many tables at once.

The clock follows every move, so this is on the path of a move. Reading takes five statements and writing
at most five, whatever the number of tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import bindparam, col, delete, select, update

from storage.models import (
    Deputy,
    DueRow,
    Model,
    MoveRecord,
    NewMessage,
    SeatClockRecord,
    TableClock,
    TableSnapshot,
)
from storage.repositories.outbox import enqueue_messages
from storage.table_records import IDS, columns_of, model_rows, rows_of
from storage.transaction import column_values

NEVER_FOLLOWED = -1
"""The `seq` of a table whose clocks have not been looked at."""


@dataclass(slots=True)
class SeatClock:
    """See `SeatClockRecord`."""

    table_id: int
    seat: int
    person_id: int | None = None
    decision_id: str | None = None
    since: datetime | None = None
    bank: int | None = None
    allowance_end: datetime | None = None
    time_up: datetime | None = None
    extended: bool = False
    absence: str = ""
    lapses: int = 0


SEAT_CLOCK_FIELDS = tuple(each.name for each in fields(SeatClock))


class FollowedRow(NamedTuple):
    """A row of the log that the clocks have not followed; see `LogRow`."""

    seq: int
    created_at: datetime
    kind: str
    seat: int | None
    line: str
    raw_line: str
    transport: str
    person_id: int | None


class ClockRecord(NamedTuple):
    """The clocks of a table in the transaction that follows its log.

    seq, revision: of the table. followed: how far its clocks follow its log, None for the first look.
    rows: those of the log after `followed`. due: by key.
    """

    seq: int
    revision: int
    followed: int | None
    seats: dict[int, SeatClock]
    due: dict[str, DueRow]
    deputies: tuple[Deputy, ...]
    rows: tuple[FollowedRow, ...]


@dataclass
class ClockChanges:
    """What following the logs changes: clocks of seats, due rows, messages, and by table the row of the log
    that its clocks follow now."""

    seats: list[SeatClock] = field(default_factory=list)
    due: list[DueRow] = field(default_factory=list)
    not_due: list[str] = field(default_factory=list)
    messages: list[NewMessage] = field(default_factory=list)
    followed: dict[int, int] = field(default_factory=dict)

    def add(self, other: ClockChanges) -> None:
        """Also the changes of other tables."""
        self.seats += other.seats
        self.due += other.due
        self.not_due += other.not_due
        self.messages += other.messages
        self.followed |= other.followed


_TABLES = (
    select(
        col(TableSnapshot.table_id), col(TableSnapshot.seq), col(TableSnapshot.revision), col(TableClock.seq)
    )
    .outerjoin(TableClock, col(TableClock.table_id) == col(TableSnapshot.table_id))
    .where(col(TableSnapshot.table_id).in_(IDS))
)
_SEATS = (
    select(*columns_of(SeatClockRecord, SEAT_CLOCK_FIELDS))
    .where(col(SeatClockRecord.table_id).in_(IDS))
    .order_by(col(SeatClockRecord.seat))
)
_DUE = rows_of(DueRow, "table_id").order_by(col(DueRow.due_at), col(DueRow.key))
_DEPUTIES = rows_of(Deputy, "table_id").order_by(col(Deputy.seat))
_LOG = (
    select(*columns_of(MoveRecord, ("table_id", *FollowedRow._fields)))
    .join(TableClock, col(TableClock.table_id) == col(MoveRecord.table_id))
    .where(
        col(MoveRecord.table_id).in_(IDS),
        col(MoveRecord.seq) > col(TableClock.seq),
        col(TableClock.seq) > NEVER_FOLLOWED,
    )
    .order_by(col(MoveRecord.seq))
)


def read_clock_records(connection: Connection, table_ids: Sequence[int]) -> dict[int, ClockRecord]:
    """The clocks of these tables by id, without tables that do not exist."""

    def rows(statement: Any) -> Sequence[Any]:
        return connection.execute(statement, {"ids": table_ids}).all()

    seats: dict[int, dict[int, SeatClock]] = defaultdict(dict)
    for row in rows(_SEATS):
        seats[row[0]][row[1]] = SeatClock(*row)
    due: dict[int, dict[str, DueRow]] = defaultdict(dict)
    for each in model_rows(DueRow, rows(_DUE)):
        due[each.table_id][each.key] = each
    deputies: dict[int, list[Deputy]] = defaultdict(list)
    for deputy in model_rows(Deputy, rows(_DEPUTIES)):
        deputies[deputy.table_id].append(deputy)
    log: dict[int, list[FollowedRow]] = defaultdict(list)
    for table_id, *rest in rows(_LOG):
        log[table_id].append(FollowedRow(*rest))
    return {
        table_id: ClockRecord(
            seq, revision, None if followed in (None, NEVER_FOLLOWED) else followed,
            seats[table_id], due[table_id], tuple(deputies[table_id]), tuple(log[table_id]),
        )
        for table_id, seq, revision, followed in rows(_TABLES)
    }  # fmt: skip


@cache
def upsert_statement(dialect: str, model: type[Model], keys: tuple[str, ...]) -> Insert:
    """Insert rows, or change all other columns of the rows with these keys."""
    statement: postgresql.Insert | sqlite.Insert = (
        postgresql.insert(model) if dialect == "postgresql" else sqlite.insert(model)
    )
    names = [column.name for column in Model.metadata.tables[str(model.__tablename__)].columns]
    changed = {name: statement.excluded[name] for name in names if name not in keys}
    return statement.on_conflict_do_update(index_elements=list(keys), set_=changed)


_DELETE_DUE = delete(DueRow).where(col(DueRow.key) == bindparam("of_key"))
MARK_BEHIND = (
    update(TableClock)
    .where(col(TableClock.table_id) == bindparam("of_table"), ~col(TableClock.is_stale))
    .values(is_stale=True)
)
"""The clocks of a table are to be looked at again: its log has grown."""


def write_clock_changes(connection: Connection, changes: ClockChanges, now: datetime) -> None:
    """Write what following the logs has changed."""
    if changes.seats:
        statement = upsert_statement(connection.dialect.name, SeatClockRecord, ("table_id", "seat"))
        rows = [{name: getattr(clock, name) for name in SEAT_CLOCK_FIELDS} for clock in changes.seats]
        connection.execute(statement, rows)
    if changes.not_due:
        connection.execute(_DELETE_DUE, [{"of_key": key} for key in changes.not_due])
    if changes.due:
        connection.execute(
            upsert_statement(connection.dialect.name, DueRow, ("key",)),
            [column_values(row) for row in changes.due],
        )
    enqueue_messages(connection, changes.messages, now)
    if changes.followed:
        followed = sorted(changes.followed.items())
        connection.execute(
            upsert_statement(connection.dialect.name, TableClock, ("table_id",)),
            [{"table_id": table_id, "seq": seq, "is_stale": False} for table_id, seq in followed],
        )


def begin_clock(connection: Connection, table_id: int) -> None:
    """A table is in play: its clocks are to be looked at, if they have not been before."""
    new = {"table_id": table_id, "seq": NEVER_FOLLOWED, "is_stale": True}
    connection.execute(_insert_clock(connection.dialect.name), new)


@cache
def _insert_clock(dialect: str) -> Insert:
    if dialect == "postgresql":
        return postgresql.insert(TableClock).on_conflict_do_nothing(index_elements=["table_id"])
    return sqlite.insert(TableClock).on_conflict_do_nothing(index_elements=["table_id"])
