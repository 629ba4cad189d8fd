"""All that the store holds about a table apart from its log, read for many tables at once.

A table that is not in memory is read before its next move, so this is on the path of a move. A record is
plain values and not models. Polls and orders, which few tables have, are read with the same calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import BindParameter, Connection, Select, union
from sqlmodel import bindparam, col, select

from storage.models import (
    Deputy,
    GameTable,
    Identity,
    IdentityKind,
    Model,
    MoveRecord,
    OrderRecord,
    Person,
    PollRecord,
    Seat,
    TableSnapshot,
    TableStatus,
    VoteRecord,
    columns_of,
)
from storage.repositories.polls import TablePoll

M = TypeVar("M", bound=Model)

IDS: BindParameter[Any] = bindparam("ids", expanding=True)
"""The ids of the tables, or of what else a statement asks for."""


class IdentityFields(NamedTuple):
    """See `Identity`."""

    id: int
    kind: IdentityKind
    value: str
    verified_at: datetime | None
    preferred_at: datetime | None
    fault: str


class PersonFields(NamedTuple):
    """A person with all identities, oldest first; see `Person`."""

    id: int
    name: str
    preferences: dict[str, Any]
    time_zone: str | None
    identities: tuple[IdentityFields, ...] = ()


class SeatFields(NamedTuple):
    """A seat that somebody has; see `Seat`."""

    id: int
    number: int | None
    person_id: int
    name: str
    joined_at: datetime | None


class TailRow(NamedTuple):
    """A row of the log that is not before the last move that counts."""

    seq: int
    seat: int | None
    rewinds_to: int | None


class TableFields(NamedTuple):
    """A table with its latest position; see `GameTable` and `TableSnapshot`."""

    id: int
    code: str
    name: str
    title: str
    options: list[str]
    status: TableStatus
    host_id: int | None
    location: dict[str, Any]
    pace: str
    hints: bool
    palette: str
    seq: int
    current_move: int
    state: bytes
    format_version: int
    rewind_count: int
    revision: int


class TableRecord(NamedTuple):
    """All of a table but its log, as of one moment.

    seats: by number, then by age. deputies: seat and person, of those who may act at that moment. people: of
    the seats and the deputies. tail: the rows from the last move that counts on; all rows if none counts.
    """

    table: TableFields
    seats: tuple[SeatFields, ...]
    people: dict[int, PersonFields]
    deputies: dict[int, int]
    polls: tuple[TablePoll, ...]
    orders: tuple[OrderRecord, ...]
    tail: tuple[TailRow, ...]


TABLE_FIELDS = tuple(name for name in TableFields._fields if name in GameTable.model_fields)
"""The columns of `GameTable`; both tables have none in common."""
SNAPSHOT_FIELDS = tuple(name for name in TableFields._fields if name not in TABLE_FIELDS)
PERSON_FIELDS = tuple(name for name in PersonFields._fields if name != "identities")


def some_columns(model: type[Model], names: Iterable[str]) -> list[Any]:
    """The columns of a table with these names."""
    columns = columns_of(model)
    return [columns[name] for name in names]


def rows_of(model: type[Model], key: str) -> Select[*tuple[Any, ...]]:
    """All columns, in their order, of the rows whose key is among `IDS`."""
    columns = columns_of(model)
    query: Select[*tuple[Any, ...]] = select(*columns.values())
    return query.where(columns[key].in_(IDS))


def model_rows(model: type[M], rows: Sequence[Any]) -> list[Any]:
    """Models of rows with all columns, see `rows_of`."""
    names = [*columns_of(model)]
    return [model(**dict(zip(names, row, strict=True))) for row in rows]


_TABLES = (
    select(*some_columns(GameTable, TABLE_FIELDS))
    .add_columns(*some_columns(TableSnapshot, SNAPSHOT_FIELDS))
    .join(TableSnapshot, col(TableSnapshot.table_id) == col(GameTable.id))
    .where(col(GameTable.id).in_(IDS))
)
_SEATED = (col(Seat.table_id).in_(IDS), col(Seat.left_at).is_(None))
_SEATS = select(*some_columns(Seat, ("table_id", *SeatFields._fields))).where(*_SEATED).order_by(col(Seat.id))
_PERSON_IDS = union(
    select(Seat.person_id).where(*_SEATED), select(Deputy.person_id).where(col(Deputy.table_id).in_(IDS))
).scalar_subquery()
_PEOPLE = select(*some_columns(Person, PERSON_FIELDS)).where(col(Person.id).in_(_PERSON_IDS))
_IDENTITIES = (
    select(*some_columns(Identity, ("person_id", *IdentityFields._fields)))
    .where(col(Identity.person_id).in_(_PERSON_IDS))
    .order_by(col(Identity.id))
)
_DEPUTIES = select(*some_columns(Deputy, ("table_id", "seat", "person_id", "starts_at", "ends_at"))).where(
    col(Deputy.table_id).in_(IDS)
)
_POLLS = (
    rows_of(PollRecord, "table_id").where(col(PollRecord.closed_at).is_(None)).order_by(col(PollRecord.id))
)
_ORDERS = (
    rows_of(OrderRecord, "table_id")
    .where(col(OrderRecord.ended_at).is_(None))
    .order_by(col(OrderRecord.seat), col(OrderRecord.place), col(OrderRecord.id))
)
_TAILS = (
    select(*some_columns(MoveRecord, ("table_id", *TailRow._fields)))
    .join(TableSnapshot, col(TableSnapshot.table_id) == col(MoveRecord.table_id))
    .where(col(MoveRecord.table_id).in_(IDS), col(MoveRecord.seq) >= col(TableSnapshot.current_move))
    .order_by(col(MoveRecord.seq))
)
_VOTES = rows_of(VoteRecord, "poll_id").order_by(col(VoteRecord.seat))


def read_table_records(
    connection: Connection, table_ids: Sequence[int], now: datetime
) -> dict[int, TableRecord]:
    """The records of these tables by id, without those that do not exist. now: see `TableRecord`."""

    def rows(statement: Any, ids: Sequence[int] = table_ids) -> Sequence[Any]:
        return connection.execute(statement, {"ids": ids}).all()

    identities = _by_first(rows(_IDENTITIES), IdentityFields)
    people = {
        row[0]: PersonFields(*row)._replace(identities=tuple(identities[row[0]])) for row in rows(_PEOPLE)
    }
    seats = _by_first(rows(_SEATS), SeatFields)
    for of_table in seats.values():
        of_table.sort(key=lambda seat: (seat.number is None, seat.number or 0, seat.id))
    deputies: dict[int, dict[int, int]] = defaultdict(dict)
    for table_id, seat, person_id, starts_at, ends_at in rows(_DEPUTIES):
        if starts_at <= now and (ends_at is None or now < ends_at):
            deputies[table_id][seat] = person_id
    polls: dict[int, list[TablePoll]] = defaultdict(list)
    for poll in model_rows(PollRecord, rows(_POLLS)):
        votes = model_rows(VoteRecord, rows(_VOTES, [poll.id]))
        polls[poll.table_id].append(TablePoll(poll, {vote.seat: vote.agrees for vote in votes}))
    orders: dict[int, list[OrderRecord]] = defaultdict(list)
    for order in model_rows(OrderRecord, rows(_ORDERS)):
        orders[order.table_id].append(order)
    tails = _by_first(rows(_TAILS), TailRow)

    def record(table: TableFields) -> TableRecord:
        own = (*(seat.person_id for seat in seats[table.id]), *deputies[table.id].values())
        return TableRecord(
            table, tuple(seats[table.id]), {person_id: people[person_id] for person_id in own},
            deputies[table.id], tuple(polls[table.id]), tuple(orders[table.id]), tuple(tails[table.id]),
        )  # fmt: skip

    return {row[0]: record(TableFields(*row)) for row in rows(_TABLES)}


def _by_first(rows: Sequence[Any], fields: Any) -> dict[int, list[Any]]:
    """The rows by their first column, the others as the fields."""
    found: dict[int, list[Any]] = defaultdict(list)
    for first, *rest in rows:
        found[first].append(fields(*rest))
    return found
