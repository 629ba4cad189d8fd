"""All that the store holds about a table apart from its log, read for many tables at once.

A table that is not in memory is read before its next move, so this is on the path of a move. A record is
plain values and not models. Polls and orders, which few tables have, are read with the same calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, Connection, Select
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
)
from storage.repositories.polls import TablePoll

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


def columns_of(model: type[Model], names: Iterable[str]) -> list[Any]:
    """The columns of a table with these names."""
    columns = Model.metadata.tables[str(model.__tablename__)].c
    return [columns[name] for name in names]


def rows_of(model: type[Model], key: str) -> Select[*tuple[Any, ...]]:
    """All columns, in their order, of the rows whose key is among `IDS`."""
    columns = Model.metadata.tables[str(model.__tablename__)].c
    query: Select[*tuple[Any, ...]] = select(*columns)
    return query.where(columns[key].in_(IDS))


def model_rows(model: type[Any], rows: Sequence[Any]) -> list[Any]:
    """Models of rows with all columns, see `rows_of`."""
    names = [column.key for column in Model.metadata.tables[model.__tablename__].columns]
    return [model(**dict(zip(names, row, strict=True))) for row in rows]


_TABLES = (
    select(*columns_of(GameTable, TABLE_FIELDS))
    .add_columns(*columns_of(TableSnapshot, SNAPSHOT_FIELDS))
    .join(TableSnapshot, col(TableSnapshot.table_id) == col(GameTable.id))
    .where(col(GameTable.id).in_(IDS))
)
_SEATED = (col(Seat.table_id).in_(IDS), col(Seat.left_at).is_(None))
_SEATS = (
    select(*columns_of(Seat, ("table_id", *SeatFields._fields)))
    .add_columns(*columns_of(Person, PERSON_FIELDS))
    .join(Person, col(Person.id) == col(Seat.person_id))
    .where(*_SEATED)
    .order_by(col(Seat.id))
)
_IDENTITIES = (
    select(*columns_of(Identity, ("person_id", *IdentityFields._fields)))
    .where(col(Identity.person_id).in_(select(Seat.person_id).where(*_SEATED)))
    .order_by(col(Identity.id))
)
_DEPUTIES = select(*columns_of(Deputy, ("table_id", "seat", "person_id", "starts_at", "ends_at"))).where(
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
    select(*columns_of(MoveRecord, ("table_id", *TailRow._fields)))
    .join(TableSnapshot, col(TableSnapshot.table_id) == col(MoveRecord.table_id))
    .where(col(MoveRecord.table_id).in_(IDS), col(MoveRecord.seq) >= col(TableSnapshot.current_move))
    .order_by(col(MoveRecord.seq))
)
_VOTES = rows_of(VoteRecord, "poll_id").order_by(col(VoteRecord.seat))
_PEOPLE = select(*columns_of(Person, PERSON_FIELDS)).where(col(Person.id).in_(IDS))
_IDENTITIES_OF = (
    select(*columns_of(Identity, ("person_id", *IdentityFields._fields)))
    .where(col(Identity.person_id).in_(IDS))
    .order_by(col(Identity.id))
)


def read_table_records(
    connection: Connection, table_ids: Sequence[int], now: datetime
) -> dict[int, TableRecord]:
    """The records of these tables by id, without those that do not exist. now: see `TableRecord`."""
    return _Reader(connection, table_ids, now).records()


class _Reader:
    """Reads the records of some tables."""

    def __init__(self, connection: Connection, table_ids: Sequence[int], now: datetime) -> None:
        self._connection, self._table_ids, self._now = connection, list(table_ids), now

    def _rows(self, statement: Any, ids: Sequence[int] | None = None) -> Sequence[Any]:
        """The rows for these ids, by default those of the tables."""
        return self._connection.execute(statement, {"ids": self._table_ids if ids is None else ids}).all()

    def records(self) -> dict[int, TableRecord]:
        """The records by table."""
        tables = [TableFields(*row) for row in self._rows(_TABLES)]
        seats, people = self._seats_and_people()
        deputies = self._deputies(people)
        polls, orders, tails = self._polls(), self._orders(), self._tails()
        return {
            table.id: TableRecord(
                table,
                tuple(seats[table.id]),
                {
                    person_id: people[person_id]
                    for person_id in (
                        *(seat.person_id for seat in seats[table.id]),
                        *deputies[table.id].values(),
                    )
                },
                deputies[table.id],
                tuple(polls[table.id]),
                tuple(orders[table.id]),
                tuple(tails[table.id]),
            )
            for table in tables
        }

    def _seats_and_people(self) -> tuple[dict[int, list[SeatFields]], dict[int, PersonFields]]:
        seats: dict[int, list[SeatFields]] = defaultdict(list)
        people: dict[int, PersonFields] = {}
        identities = _by_first(self._rows(_IDENTITIES), IdentityFields)
        for table_id, *rest in self._rows(_SEATS):
            seats[table_id].append(SeatFields(*rest[: len(SeatFields._fields)]))
            person = PersonFields(*rest[len(SeatFields._fields) :])
            people[person.id] = person._replace(identities=tuple(identities[person.id]))
        for of_table in seats.values():
            of_table.sort(key=lambda seat: (seat.number is None, seat.number or 0, seat.id))
        return seats, people

    def _deputies(self, people: dict[int, PersonFields]) -> dict[int, dict[int, int]]:
        """By table, the deputies who may act now; their people are added."""
        deputies: dict[int, dict[int, int]] = defaultdict(dict)
        for table_id, seat, person_id, starts_at, ends_at in self._rows(_DEPUTIES):
            if starts_at <= self._now and (ends_at is None or self._now < ends_at):
                deputies[table_id][seat] = person_id
        wanted = {person_id for each in deputies.values() for person_id in each.values()}
        missing = sorted(wanted - people.keys())
        if missing:
            identities = _by_first(self._rows(_IDENTITIES_OF, missing), IdentityFields)
            for row in self._rows(_PEOPLE, missing):
                people[row[0]] = PersonFields(*row)._replace(identities=tuple(identities[row[0]]))
        return deputies

    def _polls(self) -> dict[int, list[TablePoll]]:
        polls: dict[int, list[TablePoll]] = defaultdict(list)
        for poll in model_rows(PollRecord, self._rows(_POLLS)):
            votes = model_rows(VoteRecord, self._rows(_VOTES, [poll.id]))
            polls[poll.table_id].append(TablePoll(poll, {vote.seat: vote.agrees for vote in votes}))
        return polls

    def _orders(self) -> dict[int, list[OrderRecord]]:
        orders: dict[int, list[OrderRecord]] = defaultdict(list)
        for order in model_rows(OrderRecord, self._rows(_ORDERS)):
            orders[order.table_id].append(order)
        return orders

    def _tails(self) -> dict[int, list[TailRow]]:
        return _by_first(self._rows(_TAILS), TailRow)


def _by_first(rows: Sequence[Any], fields: Any) -> dict[int, list[Any]]:
    """The rows by their first column, the next columns as the fields."""
    found: dict[int, list[Any]] = defaultdict(list)
    width = len(fields._fields)
    for first, *rest in rows:
        found[first].append(fields(*rest[:width]))
    return found
