"""How often each person did something on a day."""

from sqlmodel import col, delete, select

from storage.models import Usage
from storage.transaction import Repository


class UsageRepository(Repository):
    """Counts by person, kind and day."""

    async def add(self, person_id: int, kind: str, day: str) -> int:
        """Count one more; returns how many it is on that day. `day`: `2026-01-31`."""
        counted = (col(Usage.person_id) == person_id, col(Usage.kind) == kind, col(Usage.day) == day)
        first = Usage(person_id=person_id, kind=kind, day=day)
        await self._transaction.upsert(first, count=col(Usage.count) + 1)
        return await self._transaction.scalar(select(Usage.count).where(*counted)) or 0

    async def delete_before(self, day: str) -> int:
        """Delete the counts of earlier days; returns how many."""
        return await self._transaction.execute(delete(Usage).where(col(Usage.day) < day))
