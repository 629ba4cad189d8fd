"""Facts: what features keep for people at their tables. They belong to no table's revision."""

from typing import Any

from sqlmodel import col, delete, select

from storage.models import Fact
from storage.transaction import Repository


class FactRepository(Repository):
    """Facts, one for each feature, table and person."""

    async def get(self, feature: str, table_id: int, person_id: int) -> Any | None:
        """What a feature keeps for a person at a table, as JSON gives it."""
        key = _key(feature, table_id, person_id)
        return await self._transaction.scalar(select(Fact.body).where(*key))

    async def set(self, feature: str, table_id: int, person_id: int, body: Any | None) -> None:
        """Replace what a feature keeps for a person at a table; None deletes it. body: as JSON takes it."""
        await self._transaction.execute(delete(Fact).where(*_key(feature, table_id, person_id)))
        if body is not None:
            await self._transaction.add(
                Fact(feature=feature, table_id=table_id, person_id=person_id, body=body)
            )


def _key(feature: str, table_id: int, person_id: int) -> tuple[Any, Any, Any]:
    return col(Fact.feature) == feature, col(Fact.table_id) == table_id, col(Fact.person_id) == person_id
