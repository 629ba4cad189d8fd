"""All that the store holds about a table apart from its log, read for many tables at once.

A table that is not in memory is read before its next move, so this is on the path of a move. Polls and
orders, which few tables have, are read with the same calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import BindParameter, Connection, Executable, union
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
from storage.transaction import acts_at, fetch

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

    seats: by number, then by age. people: of the seats and the deputies, of others who were read with them
    too. identities: by person, oldest first. deputies: seat and person, of those who may act at that moment.
    tail: the rows from the last move that counts on; all rows if none counts.
    """

    table: GameTable
    snapshot: TableSnapshot
    seats: Sequence[Seat]
    people: dict[int, Person]
    identities: dict[int, list[Identity]]
    deputies: dict[int, int]
    polls: tuple[TablePoll, ...]
    orders: tuple[OrderRecord, ...]
    tail: Sequence[MoveRecord]


_TABLES = select(GameTable, TableSnapshot).join(TableSnapshot).where(col(GameTable.id).in_(IDS))
_SEATED = (col(Seat.table_id).in_(IDS), col(Seat.left_at).is_(None))
_SEATS = select(Seat).where(*_SEATED).order_by(*SEAT_ORDER)
_ACTING = (col(Deputy.table_id).in_(IDS), *acts_at(bindparam("now")))
_DEPUTIES = select(Deputy).where(*_ACTING)
_PERSON_IDS = union(
    select(Seat.person_id).where(*_SEATED), select(Deputy.person_id).where(*_ACTING)
).scalar_subquery()
_PEOPLE = select(Person).where(col(Person.id).in_(_PERSON_IDS))
_IDENTITIES = select(Identity).where(col(Identity.person_id).in_(_PERSON_IDS)).order_by(col(Identity.id))
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
    select(MoveRecord)
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

    def rows(query: Executable) -> list[Any]:
        return fetch(connection, query, ids=table_ids, now=now)

    seats, deputies, orders = grouped(rows(_SEATS)), grouped(rows(_DEPUTIES)), grouped(rows(ARMED_ORDERS))
    people = {person.id: person for person in rows(_PEOPLE)}
    identities = grouped(rows(_IDENTITIES), "person_id")
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
        for table, snapshot in rows(_TABLES)
    }  # fmt: skip
