"""Orders that players have left at tables, armed and ended."""

from collections.abc import Sequence

from sqlalchemy import func
from sqlmodel import col, select, update

from storage.models import OrderRecord
from storage.table_records import ARMED_ORDERS
from storage.transaction import Repository


class OrderRepository(Repository):
    """Orders. Arming and ending one renews the revision of its table."""

    async def add(
        self, table_id: int, seat: int, person_id: int, line: str, armed_at: int, armed_seq: int
    ) -> OrderRecord:
        """Arm an order, after the others of its seat. armed_at, armed_seq: see `OrderRecord`."""
        last = select(func.max(OrderRecord.place)).filter_by(table_id=table_id, seat=seat)
        place = (await self._db.first(last) or 0) + 1
        await self._db.renew_revisions(table_id)
        return await self._db.add(
            OrderRecord(
                table_id=table_id, seat=seat, person_id=person_id, place=place, line=line,
                armed_at=armed_at, armed_seq=armed_seq, created_at=self._db.now,
            )
        )  # fmt: skip

    async def armed(self, table_id: int) -> list[OrderRecord]:
        """The armed orders of a table, by seat in the order of their owners."""
        return await self._db.all(ARMED_ORDERS, ids=[table_id])

    async def ended(self, table_id: int, person_id: int, limit: int) -> list[OrderRecord]:
        """The orders of a person at a table that ended last, the latest first."""
        query = select(OrderRecord).filter_by(table_id=table_id, person_id=person_id)
        query = query.where(col(OrderRecord.ended_at).is_not(None)).limit(limit)
        return await self._db.all(
            query.order_by(col(OrderRecord.ended_at).desc(), col(OrderRecord.id).desc())
        )

    async def end(self, table_id: int, order_id: int, reason: str, by_move: int | None = None) -> bool:
        """End an order; whether it was armed. by_move: the move that ends it."""
        await self._db.renew_revisions(table_id)
        armed = update(OrderRecord).filter_by(id=order_id, ended_at=None)
        ended = armed.values(ended_at=self._db.now, ended_reason=reason, ended_by_move=by_move)
        return await self._db.execute(ended) > 0

    async def restore(self, table_id: int, after_move: int) -> set[int]:
        """Arm again the orders that were ended by moves after this one; their ids."""
        ended_later = (col(OrderRecord.table_id) == table_id, col(OrderRecord.ended_by_move) > after_move)
        ids = set(await self._db.all(select(OrderRecord.id).where(*ended_later)))
        orders = update(OrderRecord).where(*ended_later)
        await self._db.execute(orders.values(ended_at=None, ended_reason=None, ended_by_move=None))
        await self._db.renew_revisions(table_id)
        return ids

    async def set_places(self, table_id: int, order_ids: Sequence[int]) -> None:
        """Put orders in this order."""
        for place, order_id in enumerate(order_ids, 1):
            await self._db.execute(update(OrderRecord).filter_by(id=order_id).values(place=place))
        await self._db.renew_revisions(table_id)
