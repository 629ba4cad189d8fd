"""Tables, who sits at them, and which message carries their controls."""

import secrets
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, delete, func, select, update

from storage.errors import Missing, StoreError, Taken
from storage.tables import Card, Head, Seat, Status, Table
from storage.work import Subject, not_unique

# Neither 0 and O nor 1, I and L, and a letter first, so that no code reads as a number.
LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ"
CODES = LETTERS + "23456789"


class TableChange(TypedDict, total=False):
    """What of a table can change."""

    name: str
    options: list[str]
    status: Status
    seed: int | None
    host_id: int | None
    place: dict[str, Any]


class Games(Subject):
    """Tables and seats."""

    async def add(
        self, title: str, name: str, host_id: int | None = None, options: Sequence[str] = ()
    ) -> Table:
        """A new table with a code of its own and an empty log, in its lobby."""
        code = await self._free_code()
        table = await self._work.add(
            Table(
                title=title,
                name=name,
                code=code,
                host_id=host_id,
                options=list(options),
                created=self._work.now,
            )
        )
        await self._work.add(Head(table_id=table.id))
        return table

    async def _free_code(self) -> str:
        """A code that no table has: three signs while they are plenty, then four."""
        many = await self._work.value(select(func.count()).select_from(Table)) or 0
        length = 3 if many < len(LETTERS) * len(CODES) ** 2 // 4 else 4
        while True:
            code = secrets.choice(LETTERS) + "".join(secrets.choice(CODES) for _ in range(length - 1))
            if await self.by_code(code) is None:
                return code

    async def get(self, table_id: int) -> Table:
        """Raises Missing for a table that is not there."""
        found = await self._work.first(select(Table).where(col(Table.id) == table_id))
        if found is None:
            raise Missing(f"There is no table {table_id}.")
        return found

    async def by_code(self, code: str) -> Table | None:
        """The table of a code, in whatever case it is written."""
        return await self._work.first(select(Table).where(col(Table.code) == code.strip().upper()))

    async def all(self, *statuses: Status) -> list[Table]:
        """All tables, or those in one of the states; oldest first."""
        query = select(Table).order_by(col(Table.id))
        return await self._work.all(query.where(col(Table.status).in_(statuses)) if statuses else query)

    async def of_person(self, person_id: int) -> list[tuple[Table, Seat]]:
        """The tables at which somebody sits or is invited, with his seat there; oldest first."""
        query = select(Table, Seat).join(Seat, col(Seat.table_id) == col(Table.id))
        query = query.where(col(Seat.person_id) == person_id, col(Seat.left_at).is_(None))
        return await self._work.rows(query.order_by(col(Table.id), col(Seat.id)))

    async def change(self, table_id: int, **details: Unpack[TableChange]) -> None:
        """Change what is named, leave the rest."""
        await self._work.do(update(Table).where(col(Table.id) == table_id).values(**details))

    # Seats

    async def seats(self, table_id: int, former: bool = False) -> list[Seat]:
        """Who sits there, by number and then by arrival; with `former`, who left as well."""
        query = select(Seat).where(col(Seat.table_id) == table_id)
        if not former:
            query = query.where(col(Seat.left_at).is_(None))
        found = await self._work.all(query.order_by(col(Seat.id)))
        return sorted(found, key=lambda seat: (seat.number is None, seat.number or 0, seat.id))

    async def sit(
        self, table_id: int, person_id: int, name: str, number: int | None = None, invited: bool = False
    ) -> Seat:
        """Somebody sits down, or is invited to. Raises Taken where the name or the number is another's."""
        joined = None if invited else self._work.now
        seat = Seat(table_id=table_id, person_id=person_id, name=name, number=number, joined=joined)
        try:
            return await self._work.add(seat)
        except IntegrityError as error:
            if not_unique(error):
                raise Taken(f"The seat of {name} is already taken.") from error
            raise

    async def accept(self, seat_id: int) -> None:
        """Who was invited joins."""
        await self._work.do(update(Seat).where(col(Seat.id) == seat_id).values(joined=self._work.now))

    async def number(self, table_id: int, seat_ids: Sequence[int]) -> None:
        """The seating: 0, 1, 2 … clockwise. Raises StoreError unless every seat is named once."""
        if {seat.id for seat in await self.seats(table_id)} != set(seat_ids):
            raise StoreError("A seating names every seat of the table once.")
        here = (col(Seat.table_id) == table_id, col(Seat.left_at).is_(None))
        await self._work.do(update(Seat).where(*here).values(number=None))
        for number, seat_id in enumerate(seat_ids):
            await self._work.do(update(Seat).where(col(Seat.id) == seat_id).values(number=number))

    async def leave(self, seat_id: int) -> Seat:
        """Who sits there gets up; the seat as it was. Raises Missing where nobody sits."""
        here = (col(Seat.id) == seat_id, col(Seat.left_at).is_(None))
        seat = await self._work.first(select(Seat).where(*here))
        if seat is None:
            raise Missing("Nobody sits there any more.")
        await self._work.do(update(Seat).where(*here).values(left_at=self._work.now))
        return seat

    async def replace(self, seat_id: int, person_id: int, invited: bool = False) -> Seat:
        """Another takes over a seat with its number and its name; the former stays on record."""
        former = await self.leave(seat_id)
        return await self.sit(former.table_id, person_id, former.name, former.number, invited)

    # Cards

    async def card(self, table_id: int, slot: str) -> Card | None:
        """The message that carries the controls of this slot."""
        here = (col(Card.table_id) == table_id, col(Card.slot) == slot)
        return await self._work.first(select(Card).where(*here))

    async def cards(self, table_id: int) -> list[Card]:
        """All messages of a table that carry controls."""
        return await self._work.all(
            select(Card).where(col(Card.table_id) == table_id).order_by(col(Card.slot))
        )

    async def put_card(
        self, table_id: int, slot: str, ref: dict[str, Any], decision: str | None = None
    ) -> Card | None:
        """A message now carries the controls; the one that did before, to be stripped of them."""
        former = await self.drop_card(table_id, slot)
        await self._work.add(
            Card(table_id=table_id, slot=slot, ref=ref, decision=decision, posted=self._work.now)
        )
        return former

    async def drop_card(self, table_id: int, slot: str) -> Card | None:
        """No message carries the controls any more; the one that did."""
        former = await self.card(table_id, slot)
        if former is not None:
            here = (col(Card.table_id) == table_id, col(Card.slot) == slot)
            await self._work.do(delete(Card).where(*here))
        return former
