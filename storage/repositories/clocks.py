"""Clocks of tables and seats, timers, deputies and requests for open seats.

A timer says that something has to happen at a time. It is taken, or moved to its next time, in the
transaction that does what is due, and only by the one who still finds it at that time: so it happens once,
even if several processes look at it, or one dies.

The clock follows every move, so clocks are read and written for many tables at once: reading takes five
statements and writing at most five, whatever the number of tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Boolean, Connection, Executable, literal_column
from sqlmodel import bindparam, col, delete, func, or_, select, update

from storage.models import (
    Deputy,
    GameTable,
    Model,
    MoveRecord,
    NewMessage,
    SeatClockRecord,
    SeatRequest,
    StoredTimer,
    TableClock,
    TableSnapshot,
    columns_of,
)
from storage.repositories.outbox import enqueue_messages
from storage.table_records import IDS, grouped
from storage.transaction import Repository, acts_at, fetch, insert_new, tables_of, upsert

ABSENCE_KIND = "absence"
A_DAY = timedelta(hours=26)
"""At least as long as any day and a clock that was set back a little."""
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


class SeatTimer(NamedTuple):
    """A timer of a seat; see `StoredTimer`."""

    key: str
    kind: str
    due_at: datetime
    table_id: int
    seat: int
    details: dict[str, Any]


class UnfollowedRow(NamedTuple):
    """What clocks need of a row of the log, see `LogRow`."""

    table_id: int
    seq: int
    created_at: datetime
    kind: str
    seat: int | None = None
    line: str = ""
    raw_line: str = ""
    transport: str = ""
    person_id: int | None = None


class ClockRecord(NamedTuple):
    """The clocks of a table in the transaction that follows its log.

    seq, revision: of the table. followed: how far its clocks follow its log, None for the first look. due: by
    key. rows: those of the log after `followed`, none for the first look.
    """

    seq: int
    revision: int
    followed: int | None
    seats: dict[int, SeatClock]
    due: dict[str, StoredTimer]
    deputies: Sequence[Deputy]
    rows: Sequence[UnfollowedRow]


@dataclass
class ClockChanges:
    """What following the logs changes: clocks of seats, timers, messages, and by table the row of the log
    that its clocks follow now."""

    seats: list[SeatClock] = field(default_factory=list)
    due: list[SeatTimer] = field(default_factory=list)
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


_CLOCK_FIELDS = tuple(each.name for each in fields(SeatClock))
_TABLES = (
    select(TableSnapshot.table_id, TableSnapshot.seq, TableSnapshot.revision, TableClock.seq)
    .outerjoin(TableClock, col(TableClock.table_id) == col(TableSnapshot.table_id))
    .where(col(TableSnapshot.table_id).in_(IDS))
)
_SEATS = (
    select(*(columns_of(SeatClockRecord)[name] for name in _CLOCK_FIELDS))
    .where(col(SeatClockRecord.table_id).in_(IDS))
    .order_by(col(SeatClockRecord.seat))
)
_DUE = (
    select(StoredTimer)
    .where(col(StoredTimer.table_id).in_(IDS))
    .order_by(col(StoredTimer.due_at), col(StoredTimer.key))
)
_DEPUTIES = select(Deputy).where(col(Deputy.table_id).in_(IDS)).order_by(col(Deputy.seat))
_LOG = (
    select(*(columns_of(MoveRecord)[name] for name in UnfollowedRow._fields))
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

    def rows(query: Executable) -> list[Any]:
        return fetch(connection, query, ids=table_ids)

    seats = grouped(SeatClock(*row) for row in rows(_SEATS))
    log = grouped(UnfollowedRow(*row) for row in rows(_LOG))
    due, deputies = grouped(rows(_DUE)), grouped(rows(_DEPUTIES))
    return {
        table_id: ClockRecord(
            seq, revision, None if followed in (None, NEVER_FOLLOWED) else followed,
            {clock.seat: clock for clock in seats[table_id]},
            {timer.key: timer for timer in due[table_id]}, deputies[table_id], log[table_id],
        )
        for table_id, seq, revision, followed in rows(_TABLES)
    }  # fmt: skip


MARK_BEHIND = (
    update(TableClock)
    .where(col(TableClock.table_id) == bindparam("of_table"), ~col(TableClock.is_stale))
    .values(is_stale=True)
)
"""The clocks of a table are to be looked at again: its log has grown."""


def write_clock_changes(connection: Connection, changes: ClockChanges, now: datetime) -> None:
    """Write what following the logs has changed."""

    def write(model: type[Model], rows: list[dict[str, Any]]) -> None:
        if rows:
            connection.execute(upsert(connection.dialect.name, model), rows)

    write(
        SeatClockRecord, [{name: getattr(clock, name) for name in _CLOCK_FIELDS} for clock in changes.seats]
    )
    if changes.not_due:
        connection.execute(delete(StoredTimer).where(col(StoredTimer.key).in_(changes.not_due)))
    write(StoredTimer, [timer._asdict() for timer in changes.due])
    enqueue_messages(connection, changes.messages, now)
    followed = sorted(changes.followed.items())
    write(TableClock, [{"table_id": one, "seq": seq, "is_stale": False} for one, seq in followed])


def begin_clock(connection: Connection, table_id: int) -> None:
    """A table is in play: its clocks are to be looked at, if they have not been before."""
    new = {"table_id": table_id, "seq": NEVER_FOLLOWED, "is_stale": True}
    connection.execute(insert_new(connection.dialect.name, TableClock, "table_id"), new)


IS_STALE = literal_column("is_stale", Boolean)
"""As the condition of the partial index says it: SQLite compares the words."""


class ClockRepository(Repository):
    """Clocks, timers, deputies and requests for seats."""

    # Clocks

    async def tables_behind(self) -> list[int]:
        """The tables whose clocks are to be looked at: of those in play, and those that were."""
        query = select(TableClock.table_id).where(IS_STALE).order_by(col(TableClock.table_id))
        return await self._db.all(query)

    async def records(self, table_ids: Sequence[int]) -> dict[int, ClockRecord]:
        """The clocks of these tables by id, without tables that do not exist."""
        return await self._db.read(lambda connection: read_clock_records(connection, table_ids))

    async def write(self, changes: ClockChanges) -> None:
        """Write what following the logs has changed."""
        now = self._db.now
        await self._db.run(lambda connection: write_clock_changes(connection, changes, now))

    async def look_again(self, *table_ids: int) -> None:
        """Have the clocks of these tables looked at again, because their pace has changed."""
        own = col(TableClock.table_id).in_(table_ids)
        await self._db.execute(update(TableClock).where(own).values(is_stale=True))

    async def look_again_everywhere(self) -> None:
        """The same for all tables, because the time was set back. What is due for people in more than a day
        is due now, to be given its time anew, and so is the begin or end of an absence."""
        await self._db.execute(update(TableClock).values(is_stale=True))
        is_anew = or_(col(StoredTimer.due_at) > self._db.now + A_DAY, col(StoredTimer.kind) == ABSENCE_KIND)
        of_people = (col(StoredTimer.person_id).is_not(None), is_anew)
        await self._db.execute(update(StoredTimer).where(*of_people).values(due_at=self._db.now))

    async def look_again_for(self, person_id: int) -> None:
        """The same for all tables at which a person sits, because their settings have changed."""
        await self.look_again(*await self._db.all(tables_of(person_id)))

    async def seat_clocks(self, table_id: int) -> dict[int, SeatClock]:
        """The clocks of a table by seat."""
        rows = await self._db.read(lambda connection: fetch(connection, _SEATS, ids=[table_id]))
        return {clock.seat: clock for clock in (SeatClock(*row) for row in rows)}

    # Timers

    async def set_due(
        self,
        key: str,
        kind: str,
        due_at: datetime,
        *,
        table_id: int | None = None,
        seat: int | None = None,
        person_id: int | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        """Something is due at a time, in place of what was due under the same key."""
        await self._db.upsert(
            StoredTimer(
                key=key, kind=kind, due_at=due_at, table_id=table_id, seat=seat, person_id=person_id,
                details=details or {},
            )
        )  # fmt: skip

    async def delete_due(self, *keys: str) -> None:
        """Nothing is due under these keys any more."""
        await self._db.execute(delete(StoredTimer).where(col(StoredTimer.key).in_(keys)))

    async def get_due(self, key: str) -> StoredTimer | None:
        """What is due under a key."""
        return await self._db.first(select(StoredTimer).filter_by(key=key))

    async def rows_due(self, until: datetime, limit: int, besides: Collection[str] = ()) -> list[StoredTimer]:
        """What is due by a time, the first first. besides: keys of rows that are left out."""
        query = select(StoredTimer).where(
            col(StoredTimer.due_at) <= until, col(StoredTimer.key).not_in(besides)
        )
        return await self._db.all(query.order_by(col(StoredTimer.due_at), col(StoredTimer.key)).limit(limit))

    async def next_due_at(self, besides: Collection[str] = ()) -> datetime | None:
        """When something is due next. besides: keys of rows that are left out."""
        query = select(func.min(StoredTimer.due_at)).where(col(StoredTimer.key).not_in(besides))
        return await self._db.first(query)

    async def take_due(self, row: StoredTimer, move_to: datetime | None = None, **details: Any) -> bool:
        """Take a timer, or move it to its next time, with these details too; False if somebody else has."""
        unchanged = {"key": row.key, "due_at": row.due_at}
        taken = delete(StoredTimer).filter_by(**unchanged)
        moved = update(StoredTimer).filter_by(**unchanged)
        moved = moved.values(due_at=move_to, details=row.details | details)
        return await self._db.execute(moved if move_to else taken) > 0

    # Deputies

    async def tables_with_deputies(self) -> list[int]:
        """The running tables at which somebody is a deputy now."""
        query = select(Deputy.table_id).where(*acts_at(self._db.now)).join(GameTable)
        query = query.filter_by(status="running").distinct()
        return await self._db.all(query.order_by(col(Deputy.table_id)))

    async def tables_as_deputy(self, person_id: int) -> list[int]:
        """The tables at which a person is a deputy now."""
        query = select(Deputy.table_id).filter_by(person_id=person_id).where(*acts_at(self._db.now))
        return await self._db.all(query.order_by(col(Deputy.table_id)))

    async def set_deputy(self, deputy: Deputy) -> None:
        """A person may act for a seat, in place of the one who may now."""
        await self._db.renew_revisions(deputy.table_id)
        await self.remove_deputy(deputy.table_id, deputy.seat)
        await self._db.add(deputy)

    async def take_back_decision(self, table_id: int, seat: int, person_id: int) -> None:
        """A deputy who was to decide once for a seat is not to any more; the next look dismisses them."""
        await self._db.renew_revisions(table_id)
        own = update(Deputy).filter_by(table_id=table_id, seat=seat, person_id=person_id)
        await self._db.execute(own.where(col(Deputy.decision_id).is_not(None)).values(decision_id=""))

    async def remove_deputy(self, table_id: int, seat: int) -> bool:
        """Nobody acts for a seat any more; returns whether somebody did."""
        await self._db.renew_revisions(table_id)
        return await self._db.execute(delete(Deputy).filter_by(table_id=table_id, seat=seat)) > 0

    # Requests for open seats

    async def open_requests(self, table_id: int) -> Sequence[SeatRequest]:
        """The requests for seats of a table that nobody has answered, oldest first."""
        query = select(SeatRequest).filter_by(table_id=table_id, answered_at=None)
        return await self._db.all(query.order_by(col(SeatRequest.id)))

    async def add_request(self, table_id: int, seat: int, person_id: int, name: str) -> SeatRequest:
        """A person asks for a seat, in place of what they have asked for at this table before."""
        for request in await self.open_requests(table_id):
            if request.person_id == person_id:
                await self.answer_request(request.id, False)
        return await self._db.add(
            SeatRequest(table_id=table_id, seat=seat, person_id=person_id, name=name, asked_at=self._db.now)
        )

    async def answer_request(self, request_id: int, admitted: bool) -> bool:
        """Answer a request; False if it was answered before."""
        is_open = update(SeatRequest).filter_by(id=request_id, answered_at=None)
        return await self._db.execute(is_open.values(answered_at=self._db.now, admitted=admitted)) > 0
