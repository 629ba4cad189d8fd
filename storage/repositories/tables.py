"""Tables, who sits at them, and which message carries their controls."""

import secrets
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, delete, func, select, update

from storage.errors import AlreadyExists, NotFound, StoreError
from storage.models import Card, GameTable, Seat, TableSnapshot, TableStatus
from storage.transaction import Repository, is_unique_violation

# Neither 0 and O nor 1, I and L, and a letter first, so that no code reads as a number.
CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_CHARACTERS = CODE_LETTERS + "23456789"


class TableUpdate(TypedDict, total=False):
    """What of a table can change."""

    name: str
    options: list[str]
    status: TableStatus
    seed: int | None
    host_id: int | None
    location: dict[str, Any]


class TableRepository(Repository):
    """Tables and seats."""

    async def add(
        self, title: str, name: str, host_id: int | None = None, options: Sequence[str] = ()
    ) -> GameTable:
        """A new table with a code of its own and an empty log, in its lobby."""
        code = await self._unused_code()
        table = await self._transaction.add(
            GameTable(
                title=title,
                name=name,
                code=code,
                host_id=host_id,
                options=list(options),
                created_at=self._transaction.now,
            )
        )
        await self._transaction.add(TableSnapshot(table_id=table.id))
        return table

    async def _unused_code(self) -> str:
        """A code that no table has: three signs while they are plenty, then four."""
        many = await self._transaction.scalar(select(func.count()).select_from(GameTable)) or 0
        length = 3 if many < len(CODE_LETTERS) * len(CODE_CHARACTERS) ** 2 // 4 else 4
        while True:
            code = secrets.choice(CODE_LETTERS) + "".join(
                secrets.choice(CODE_CHARACTERS) for _ in range(length - 1)
            )
            if await self.by_code(code) is None:
                return code

    async def get(self, table_id: int) -> GameTable:
        """Raises Missing for a table that is not there."""
        found = await self._transaction.first(select(GameTable).where(col(GameTable.id) == table_id))
        if found is None:
            raise NotFound(f"There is no table {table_id}.")
        return found

    async def by_code(self, code: str) -> GameTable | None:
        """The table of a code, in whatever case it is written."""
        return await self._transaction.first(
            select(GameTable).where(col(GameTable.code) == code.strip().upper())
        )

    async def all(self, *statuses: TableStatus) -> list[GameTable]:
        """All tables, or those in one of the states; oldest first."""
        query = select(GameTable).order_by(col(GameTable.id))
        return await self._transaction.all(
            query.where(col(GameTable.status).in_(statuses)) if statuses else query
        )

    async def for_person(self, person_id: int) -> list[tuple[GameTable, Seat]]:
        """The tables at which somebody sits or is invited, with his seat there; oldest first."""
        query = select(GameTable, Seat).join(Seat, col(Seat.table_id) == col(GameTable.id))
        query = query.where(col(Seat.person_id) == person_id, col(Seat.left_at).is_(None))
        return await self._transaction.rows(query.order_by(col(GameTable.id), col(Seat.id)))

    async def update(self, table_id: int, **details: Unpack[TableUpdate]) -> None:
        """Change what is named, leave the rest."""
        await self._transaction.execute(
            update(GameTable).where(col(GameTable.id) == table_id).values(**details)
        )

    # Seats

    async def seats(self, table_id: int, former: bool = False) -> list[Seat]:
        """Who sits there, by number and then by arrival; with `former`, who left as well."""
        query = select(Seat).where(col(Seat.table_id) == table_id)
        if not former:
            query = query.where(col(Seat.left_at).is_(None))
        found = await self._transaction.all(query.order_by(col(Seat.id)))
        return sorted(found, key=lambda seat: (seat.number is None, seat.number or 0, seat.id))

    async def add_seat(
        self, table_id: int, person_id: int, name: str, number: int | None = None, invited: bool = False
    ) -> Seat:
        """Somebody sits down, or is invited to. Raises Taken where the name or the number is another's."""
        joined = None if invited else self._transaction.now
        seat = Seat(table_id=table_id, person_id=person_id, name=name, number=number, joined_at=joined)
        try:
            return await self._transaction.add(seat)
        except IntegrityError as error:
            if is_unique_violation(error):
                raise AlreadyExists(f"The seat of {name} is already taken.") from error
            raise

    async def accept_invitation(self, seat_id: int) -> None:
        """Who was invited joins."""
        await self._transaction.execute(
            update(Seat).where(col(Seat.id) == seat_id).values(joined_at=self._transaction.now)
        )

    async def assign_seat_numbers(self, table_id: int, seat_ids: Sequence[int]) -> None:
        """The seating: 0, 1, 2 … clockwise. Raises StoreError unless every seat is named once."""
        if {seat.id for seat in await self.seats(table_id)} != set(seat_ids):
            raise StoreError("A seating names every seat of the table once.")
        here = (col(Seat.table_id) == table_id, col(Seat.left_at).is_(None))
        await self._transaction.execute(update(Seat).where(*here).values(number=None))
        for number, seat_id in enumerate(seat_ids):
            await self._transaction.execute(update(Seat).where(col(Seat.id) == seat_id).values(number=number))

    async def vacate_seat(self, seat_id: int) -> Seat:
        """Who sits there gets up; the seat as it was. Raises Missing where nobody sits."""
        here = (col(Seat.id) == seat_id, col(Seat.left_at).is_(None))
        seat = await self._transaction.first(select(Seat).where(*here))
        if seat is None:
            raise NotFound("Nobody sits there any more.")
        await self._transaction.execute(update(Seat).where(*here).values(left_at=self._transaction.now))
        return seat

    async def replace_player(self, seat_id: int, person_id: int, invited: bool = False) -> Seat:
        """Another takes over a seat with its number and its name; the former stays on record."""
        former = await self.vacate_seat(seat_id)
        return await self.add_seat(former.table_id, person_id, former.name, former.number, invited)

    # Cards

    async def card(self, table_id: int, slot: str) -> Card | None:
        """The message that carries the controls of this slot."""
        here = (col(Card.table_id) == table_id, col(Card.slot) == slot)
        return await self._transaction.first(select(Card).where(*here))

    async def cards(self, table_id: int) -> list[Card]:
        """All messages of a table that carry controls."""
        return await self._transaction.all(
            select(Card).where(col(Card.table_id) == table_id).order_by(col(Card.slot))
        )

    async def set_card(
        self, table_id: int, slot: str, ref: dict[str, Any], decision: str | None = None
    ) -> Card | None:
        """A message now carries the controls; the one that did before, to be stripped of them."""
        former = await self.remove_card(table_id, slot)
        await self._transaction.add(
            Card(
                table_id=table_id,
                slot=slot,
                message_ref=ref,
                decision_id=decision,
                posted_at=self._transaction.now,
            )
        )
        return former

    async def remove_card(self, table_id: int, slot: str) -> Card | None:
        """No message carries the controls any more; the one that did."""
        former = await self.card(table_id, slot)
        if former is not None:
            here = (col(Card.table_id) == table_id, col(Card.slot) == slot)
            await self._transaction.execute(delete(Card).where(*here))
        return former
