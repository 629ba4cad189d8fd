"""All that the store holds about a table apart from its log, read for many tables at once.

A table that is not in memory is read before its next move, so this is on the path of a move. Polls and
orders, which few tables have, are read with the same calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import BindParameter, Connection, Executable
from sqlmodel import bindparam, col, select

from storage.models import (
    Deputy,
    GameTable,
    Identity,
    MoveRecord,
    OrderRecord,
    Person,
    PollRecord,
    Seat,
    TableSnapshot,
    VoteRecord,
)
from storage.transaction import acts_at, fetch, select_columns

T = TypeVar("T")

IDS: BindParameter[Any] = bindparam("ids", expanding=True)
"""The ids of the tables, or of what else a statement asks for."""
SEAT_ORDER = (col(Seat.number).is_(None), col(Seat.number), col(Seat.id))
"""By number, then by age."""


class TablePoll(NamedTuple):
    """A poll with the vote of every seat that may vote; None for a seat that has not voted."""

    poll: PollRecord
    votes: dict[int, bool | None]


class TableRecord(NamedTuple):
    """All of a table but its log, as of one moment.

    Seats, people, identities and rows of the log are rows with the columns that a move needs: models would
    take twice as long. seats: by number, then by age. people: of the seats and the deputies, of others who
    were read with them too. identities: by person, oldest first. deputies: seat and person, of those who may
    act at that moment. tail: the rows from the last move that counts on; all rows if none counts.
    """

    table: GameTable
    snapshot: TableSnapshot
    seats: Sequence[Any]
    people: dict[int, Any]
    identities: dict[int, list[Any]]
    deputies: dict[int, int]
    polls: tuple[TablePoll, ...]
    orders: tuple[OrderRecord, ...]
    tail: Sequence[Any]


_TABLES = select(GameTable, TableSnapshot).join(TableSnapshot).where(col(GameTable.id).in_(IDS))
_SEATS = (
    select_columns(Seat, "table_id", "id", "number", "person_id", "name", "joined_at")
    .where(col(Seat.table_id).in_(IDS), col(Seat.left_at).is_(None))
    .order_by(*SEAT_ORDER)
)
_DEPUTIES = select_columns(Deputy, "table_id", "seat", "person_id").where(
    col(Deputy.table_id).in_(IDS), *acts_at(bindparam("now"))
)
_PEOPLE = select_columns(Person, "id", "preferences", "time_zone").where(col(Person.id).in_(IDS))
_IDENTITIES = (
    select_columns(Identity, "person_id", "id", "kind", "value", "verified_at", "preferred_at", "fault")
    .where(col(Identity.person_id).in_(IDS))
    .order_by(col(Identity.id))
)
_OPEN_POLLS = (
    select(PollRecord)
    .where(col(PollRecord.table_id).in_(IDS), col(PollRecord.closed_at).is_(None))
    .order_by(col(PollRecord.id))
)
_VOTES = select(VoteRecord).where(col(VoteRecord.poll_id).in_(IDS)).order_by(col(VoteRecord.seat))
ARMED_ORDERS = (
    select(OrderRecord)
    .where(col(OrderRecord.table_id).in_(IDS), col(OrderRecord.ended_at).is_(None))
    .order_by(col(OrderRecord.seat), col(OrderRecord.place), col(OrderRecord.id))
)
_TAILS = (
    select_columns(MoveRecord, "table_id", "seq", "seat", "rewinds_to")
    .join(TableSnapshot, col(TableSnapshot.table_id) == col(MoveRecord.table_id))
    .where(col(MoveRecord.table_id).in_(IDS), col(MoveRecord.seq) >= col(TableSnapshot.current_move))
    .order_by(col(MoveRecord.seq))
)


def grouped(rows: Iterable[T], column: str = "table_id") -> dict[int, list[T]]:
    """The rows by a column."""
    found: dict[int, list[T]] = defaultdict(list)
    for row in rows:
        found[getattr(row, column)].append(row)
    return found


def with_votes(connection: Connection, polls: Sequence[PollRecord]) -> list[TablePoll]:
    """The polls with their votes."""
    votes = grouped(fetch(connection, _VOTES, ids=[poll.id for poll in polls]) if polls else (), "poll_id")
    return [TablePoll(poll, {vote.seat: vote.agrees for vote in votes[poll.id]}) for poll in polls]


def read_open_polls(connection: Connection, table_ids: Sequence[int]) -> list[TablePoll]:
    """The open polls of these tables, oldest first."""
    return with_votes(connection, fetch(connection, _OPEN_POLLS, ids=table_ids))


def read_table_records(
    connection: Connection, table_ids: Sequence[int], now: datetime
) -> dict[int, TableRecord]:
    """The records of these tables by id, without those that do not exist. now: see `TableRecord`."""

    def rows(query: Executable, ids: Collection[int] = table_ids) -> Sequence[Any]:
        return connection.execute(query, {"ids": ids, "now": now}).all()

    seated, acting = rows(_SEATS), rows(_DEPUTIES)
    person_ids = {each.person_id for each in (*seated, *acting)}
    people = {person.id: person for person in rows(_PEOPLE, person_ids)}
    identities = grouped(rows(_IDENTITIES, person_ids), "person_id")
    seats, deputies = grouped(seated), grouped(acting)
    orders = grouped(fetch(connection, ARMED_ORDERS, ids=table_ids))
    polls = defaultdict[int, list[TablePoll]](list)
    for each in read_open_polls(connection, table_ids):
        polls[each.poll.table_id].append(each)
    tails = grouped(rows(_TAILS))
    return {
        table.id: TableRecord(
            table, snapshot, seats[table.id], people, identities,
            {deputy.seat: deputy.person_id for deputy in deputies[table.id]},
            tuple(polls[table.id]), tuple(orders[table.id]), tails[table.id],
        )
        for table, snapshot in fetch(connection, _TABLES, ids=table_ids)
    }  # fmt: skip
