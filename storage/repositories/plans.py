"""Plans: what people mean to do at their tables. They belong to no table's revision."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import col, delete, select

from storage.models import PlanRecord
from storage.transaction import Repository


class PlanRepository(Repository):
    """Plans, one for each person and table."""

    async def get(self, table_id: int, person_id: int) -> PlanRecord | None:
        """The person's plan at a table."""
        return await self._transaction.first(select(PlanRecord).where(*_key(table_id, person_id)))

    async def set(self, table_id: int, person_id: int, since: int, lines: Sequence[Any]) -> None:
        """Replace the person's plan at a table; without lines it is deleted."""
        await self._transaction.execute(delete(PlanRecord).where(*_key(table_id, person_id)))
        if lines:
            await self._transaction.add(
                PlanRecord(table_id=table_id, person_id=person_id, since=since, lines=list(lines))
            )


def _key(table_id: int, person_id: int) -> tuple[Any, Any]:
    return col(PlanRecord.table_id) == table_id, col(PlanRecord.person_id) == person_id
