"""Game tables, their seats, and their cards (the messages with buttons)."""

import secrets
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from sqlalchemy import and_, or_
from sqlmodel import col, delete, func, select, update

from storage.errors import NotFound, StoreError, WriteConflict
from storage.models import Card, GameTable, MoveRecord, Seat, TableSnapshot, TableStatus
from storage.repositories.clocks import begin_clock
from storage.table_records import SEAT_ORDER, TableRecord, read_table_records
from storage.transaction import GuildShards, Repository, own_tables, tables_of, unique_or

# Without 0, O, 1, I and L, which look alike; a code begins with a letter, so it is never taken for a number.
CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_CHARACTERS = CODE_LETTERS + "23456789"

PLACES = ("guild", "channel", "thread")
"""The entries of a location that are columns too, by which tables are found."""


class TableUpdate(TypedDict, total=False):
    """The columns of a table that can be updated."""

    name: str
    options: list[str]
    status: TableStatus
    seed: int | None
    host_id: int | None
    location: dict[str, Any]
    pace: str
    hints: bool
    palette: str


class TableRepository(Repository):
    """Game tables, seats and cards."""

    async def add(
        self, title: str, name: str, host_id: int | None = None, options: Sequence[str] = ()
    ) -> GameTable:
        """Add a table in the lobby, with a new code and an empty log."""
        code = await self._unused_code()
        now = self._db.now
        table = await self._db.add(
            GameTable(title=title, name=name, code=code, host_id=host_id, options=[*options], created_at=now)
        )
        await self._db.add(TableSnapshot(table_id=table.id))
        return table

    async def _unused_code(self) -> str:
        """A code that no table has: three characters while a quarter of them is free, then four."""
        count = await self._db.first(select(func.count()).select_from(GameTable)) or 0
        length = 3 if count < len(CODE_LETTERS) * len(CODE_CHARACTERS) ** 2 // 4 else 4
        while True:
            code = secrets.choice(CODE_LETTERS)
            code += "".join(secrets.choice(CODE_CHARACTERS) for _ in range(length - 1))
            if await self.by_code(code) is None:
                return code

    async def get(self, table_id: int) -> GameTable:
        """The table with this id. Raises NotFound."""
        return await self._db.get(GameTable, f"There is no table {table_id}.", id=table_id)

    async def record(self, table_id: int) -> TableRecord:
        """All of a table but its log. Raises NotFound, and whatever damaged values raise."""
        ids, now = [table_id], self._db.now
        found = await self._db.read(lambda connection: read_table_records(connection, ids, now))
        if table_id not in found:
            raise NotFound(f"There is no table {table_id}.")
        return found[table_id]

    async def by_code(self, code: str) -> GameTable | None:
        """The table with this code, in upper or lower case."""
        return await self._db.first(select(GameTable).filter_by(code=code.strip().upper()))

    async def lock(self, *table_ids: int) -> None:
        """Let other writers at these tables wait until this transaction ends; on SQLite all do anyway.

        They are locked in the order of their ids, as moves are, so that nobody waits in a circle.
        """
        own = col(TableSnapshot.table_id).in_(table_ids)
        query = select(TableSnapshot.seq).where(own).order_by(col(TableSnapshot.table_id))
        await self._db.all(query.with_for_update())

    async def check_version(self, table_id: int, seq: int, revision: int) -> None:
        """Raise WriteConflict unless the table is as the caller knows it; other writers at it then wait."""
        own = select(TableSnapshot).filter_by(table_id=table_id)
        snapshot = await self._db.first(own.with_for_update())
        if snapshot is None:
            raise NotFound(f"There is no table {table_id}.")
        if (snapshot.seq, snapshot.revision) != (seq, revision):
            raise WriteConflict(table_id, seq, snapshot.seq)

    async def find(
        self, *statuses: TableStatus, person_id: int | None = None, location: tuple[str, Any] | None = None
    ) -> list[GameTable]:
        """The tables with one of the statuses (any if there is none), oldest first, that match.

        person_id: who sits there, is invited, or is the host. location: an entry, `("guild", 5)`; those of
        `guild`, `channel` and `thread` are found by an index.
        """
        query = select(GameTable).order_by(col(GameTable.id))
        if statuses:
            query = query.where(col(GameTable.status).in_(statuses))
        if person_id is not None:
            seated = col(GameTable.id).in_(tables_of(person_id))
            query = query.where(or_(seated, col(GameTable.host_id) == person_id))
        if location is not None:
            place, value = location
            if value is None:
                return []
            query = query.filter_by(**{place: value})
        return await self._db.all(query)

    async def ids(self, *statuses: TableStatus, shards: GuildShards | None = None) -> list[int]:
        """The ids of the tables with one of the statuses, oldest first. shards: only of these; None for
        all."""
        query = select(GameTable.id).where(col(GameTable.status).in_(statuses), *own_tables(shards))
        return await self._db.all(query.order_by(col(GameTable.id)))

    async def seat_names(self, status: TableStatus, prefix: str) -> list[tuple[int, str]]:
        """The taken seats whose names begin so, in upper or lower case, of tables with the status: the id of
        the table, and the name."""
        begins_so = func.lower(Seat.name).startswith(prefix.lower(), autoescape=True)
        query = select(Seat.table_id, Seat.name).where(col(Seat.left_at).is_(None), begins_so)
        query = query.join(GameTable).filter_by(status=status)
        return await self._db.rows(query.order_by(col(Seat.table_id), col(Seat.id)))

    async def threads(self, *statuses: TableStatus, shards: GuildShards | None = None) -> list[int]:
        """The threads in which the tables with one of the statuses are shown. shards: only of these."""
        is_shown = (col(GameTable.status).in_(statuses), col(GameTable.thread).is_not(None))
        found = await self._db.all(select(col(GameTable.thread)).where(*is_shown, *own_tables(shards)))
        return [thread for thread in found if thread is not None]

    async def with_older_cards(
        self,
        *statuses: TableStatus,
        besides: Sequence[str],
        whole: str,
        shards: GuildShards | None = None,
    ) -> list[int]:
        """The tables with a card that may be out of date: from before the last row of the log of a table with
        one of the statuses, or of any table and not whole.

        besides: slots of cards that do not count. whole: what is stored of a whole card has this entry.
        shards: only of these.
        """
        of_table = col(MoveRecord.table_id) == col(TableSnapshot.table_id)
        older = select(Card.table_id).where(
            col(MoveRecord.seq) == col(TableSnapshot.seq),
            col(Card.slot).not_in(besides),
            or_(
                and_(col(GameTable.status).in_(statuses), col(Card.posted_at) <= col(MoveRecord.created_at)),
                col(Card.message_ref)[whole].as_string().is_(None),
            ),
            *own_tables(shards),
        )
        query = older.join(GameTable).join(TableSnapshot).join(MoveRecord, of_table)
        return await self._db.all(query.distinct().order_by(col(Card.table_id)))

    async def without_position(self) -> list[str]:
        """The codes of the tables that have no snapshot."""
        query = select(GameTable.code).outerjoin(TableSnapshot).where(col(TableSnapshot.table_id).is_(None))
        return await self._db.all(query.order_by(col(GameTable.id)))

    async def count_by_status(self) -> dict[str, int]:
        """How many tables have each status."""
        query = select(GameTable.status, func.count()).group_by(col(GameTable.status))
        return dict(await self._db.rows(query))

    async def for_person(self, person_id: int) -> list[tuple[GameTable, Seat]]:
        """The tables at which a person sits or is invited, each with their seat; oldest first."""
        query = select(GameTable, Seat).join(Seat)
        query = query.where(col(Seat.person_id) == person_id, col(Seat.left_at).is_(None))
        return await self._db.rows(query.order_by(col(GameTable.id), col(Seat.id)))

    async def update(self, table_id: int, **values: Unpack[TableUpdate]) -> None:
        """Update the given columns."""
        await self._db.renew_revisions(table_id)
        if values.get("status") == "running":
            await self._db.run(lambda connection: begin_clock(connection, table_id))
        columns: dict[str, Any] = dict(values)
        if "location" in values:
            columns |= {place: values["location"].get(place) for place in PLACES}
        await self._db.execute(update(GameTable).filter_by(id=table_id).values(columns))

    # Seats

    async def seats(self, table_id: int, former: bool = False) -> list[Seat]:
        """The seats of a table, by number and then by age; with `former`, also those that were vacated."""
        query = select(Seat).filter_by(table_id=table_id).order_by(*SEAT_ORDER)
        return await self._db.all(query if former else query.filter_by(left_at=None))

    async def add_seat(
        self, table_id: int, person_id: int, name: str, number: int | None = None, invited: bool = False
    ) -> Seat:
        """Seat or invite a person. Raises AlreadyExists where the name or the number is taken."""
        await self._db.renew_revisions(table_id)
        joined_at = None if invited else self._db.now
        seat = Seat(table_id=table_id, person_id=person_id, name=name, number=number, joined_at=joined_at)
        with unique_or(f"The seat of {name} is already taken."):
            return await self._db.add(seat)

    async def assign_seat_numbers(self, table_id: int, seat_ids: Sequence[int]) -> None:
        """Number the seats in this order: 0, 1, 2 … clockwise. Raises StoreError unless all are named."""
        if {seat.id for seat in await self.seats(table_id)} != set(seat_ids):
            raise StoreError("The seating must name every seat of the table once.")
        await self._db.renew_revisions(table_id)
        await self._db.execute(update(Seat).filter_by(table_id=table_id, left_at=None).values(number=None))
        for number, seat_id in enumerate(seat_ids):
            await self._db.execute(update(Seat).filter_by(id=seat_id).values(number=number))

    async def vacate_seat(self, seat_id: int) -> Seat:
        """The person leaves the seat; returns the row of the seat. Raises NotFound where it is vacant."""
        seat = await self._db.get(Seat, "Nobody sits there any more.", id=seat_id, left_at=None)
        await self._db.renew_revisions(seat.table_id)
        await self._db.execute(update(Seat).filter_by(id=seat_id).values(left_at=self._db.now))
        return seat

    # Cards

    async def card(self, table_id: int, slot: str) -> Card | None:
        """The card in this slot of the table, or None."""
        return await self._db.first(select(Card).filter_by(table_id=table_id, slot=slot))

    async def cards(self, table_id: int) -> list[Card]:
        """All cards of a table."""
        return await self._db.all(select(Card).filter_by(table_id=table_id).order_by(col(Card.slot)))

    async def set_card(self, table_id: int, slot: str, message_ref: dict[str, Any]) -> Card:
        """Put a card into the slot, in place of the one that was in it."""
        card = Card(table_id=table_id, slot=slot, message_ref=message_ref, posted_at=self._db.now)
        await self._db.upsert(card)
        return card

    async def remove_card(self, table_id: int, slot: str) -> None:
        """Empty the slot."""
        await self._db.execute(delete(Card).filter_by(table_id=table_id, slot=slot))
