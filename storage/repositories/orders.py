"""Orders that players have left at tables, armed and ended."""

from collections.abc import Sequence

from sqlalchemy import func
from sqlmodel import col, select

from storage.models import OrderRecord
from storage.transaction import Repository


class OrderRepository(Repository):
    """Orders. Arming and ending one renews the revision of its table."""

    async def add(
        self, table_id: int, seat: int, person_id: int, line: str, armed_at: int, armed_seq: int
    ) -> OrderRecord:
        """Arm an order, after the others of its seat. armed_at, armed_seq: see `OrderRecord`."""
        last = select(func.max(OrderRecord.place)).where(
            col(OrderRecord.table_id) == table_id, col(OrderRecord.seat) == seat
        )
        place = (await self._db.scalar(last) or 0) + 1
        await self._db.renew_revisions(table_id)
        return await self._db.add(
            OrderRecord(
                table_id=table_id, seat=seat, person_id=person_id, place=place, line=line,
                armed_at=armed_at, armed_seq=armed_seq, created_at=self._db.now,
            )
        )  # fmt: skip

    async def armed(self, table_id: int) -> list[OrderRecord]:
        """The armed orders of a table, by seat in the order of their owners."""
        return await self._db.all(
            select(OrderRecord)
            .where(col(OrderRecord.table_id) == table_id, col(OrderRecord.ended_at).is_(None))
            .order_by(col(OrderRecord.seat), col(OrderRecord.place), col(OrderRecord.id))
        )

    async def ended(self, table_id: int, person_id: int, limit: int) -> list[OrderRecord]:
        """The orders of a person at a table that ended last, the latest first."""
        return await self._db.all(
            select(OrderRecord)
            .where(
                col(OrderRecord.table_id) == table_id,
                col(OrderRecord.person_id) == person_id,
                col(OrderRecord.ended_at).is_not(None),
            )
            .order_by(col(OrderRecord.ended_at).desc(), col(OrderRecord.id).desc())
            .limit(limit)
        )

    async def end(self, table_id: int, order_id: int, reason: str, by_move: int | None = None) -> bool:
        """End an order; whether it was armed. by_move: the move that ends it."""
        is_armed = (col(OrderRecord.id) == order_id, col(OrderRecord.ended_at).is_(None))
        ended = await self._db.update(
            OrderRecord, *is_armed, ended_at=self._db.now, ended_reason=reason, ended_by_move=by_move
        )
        await self._db.renew_revisions(table_id)
        return ended > 0

    async def restore(self, table_id: int, after_move: int) -> set[int]:
        """Arm again the orders that were ended by moves after this one; their ids."""
        ended_later = (col(OrderRecord.table_id) == table_id, col(OrderRecord.ended_by_move) > after_move)
        ids = set(await self._db.all(select(OrderRecord.id).where(*ended_later)))
        await self._db.update(OrderRecord, *ended_later, ended_at=None, ended_reason=None, ended_by_move=None)
        await self._db.renew_revisions(table_id)
        return ids

    async def set_places(self, table_id: int, order_ids: Sequence[int]) -> None:
        """Put orders in this order."""
        for place, order_id in enumerate(order_ids, 1):
            of_order = col(OrderRecord.id) == order_id
            await self._db.update(OrderRecord, of_order, place=place)
        await self._db.renew_revisions(table_id)
