"""Values by a key: settings of the store, facts that features keep, counts of what people do."""

from datetime import datetime, timedelta
from typing import Any

from sqlmodel import col, delete, select

from storage.models import AddressClaim, Fact, MailToken, RequestResult, Setting, Usage
from storage.transaction import Repository

FORMER_STORE_IDS = "former_store_ids"
"""Ids of the backups from which the store was restored, or beside which it was begun."""
ONE_MORE = col(Usage.count) + 1


class SettingsRepository(Repository):
    """Settings and turns."""

    async def get(self, key: str) -> str | None:
        """A setting, or None."""
        return await self._db.first(select(Setting.value).filter_by(key=key))

    async def set(self, key: str, value: str) -> None:
        """Store a setting."""
        await self._db.upsert(Setting(key=key, value=value))

    async def delete(self, key: str) -> None:
        """Delete a setting, if there is one."""
        await self._db.execute(delete(Setting).filter_by(key=key))

    async def take_turn(self, name: str, lasting: timedelta) -> datetime | None:
        """Take a turn that one process at a time may have; if one has it, when it ends, and None if not.

        A turn that ends later than a new one would is from before the clock was set back, and has no force.
        """
        now = self._db.now
        end = await self.get(f"turn:{name}")
        if end is not None and now < (taken_until := datetime.fromisoformat(end)) <= now + lasting:
            return taken_until
        await self.set(f"turn:{name}", (now + lasting).isoformat())
        return None

    async def delete_expired(self, before: datetime) -> int:
        """Delete results, claims, mail tokens and counts from before a time; returns how many."""
        statements = (
            delete(RequestResult).where(col(RequestResult.created_at) < before),
            delete(AddressClaim).where(col(AddressClaim.expires_at) < before),
            delete(MailToken).where(col(MailToken.expires_at) < before),
            delete(Usage).where(col(Usage.day) < f"{before:%Y-%m-%d}"),
        )
        return sum([await self._db.execute(statement) for statement in statements])


class FactRepository(Repository):
    """Facts, one for each feature, table and person. They belong to no table's revision."""

    async def get(self, feature: str, table_id: int, person_id: int) -> Any | None:
        """What a feature keeps for a person at a table, as JSON gives it."""
        key: dict[str, Any] = {"feature": feature, "table_id": table_id, "person_id": person_id}
        return await self._db.first(select(Fact.body).filter_by(**key))

    async def at_table(self, feature: str, table_id: int) -> dict[int, Any]:
        """What a feature keeps at a table, by person."""
        query = select(Fact.person_id, Fact.body).filter_by(feature=feature, table_id=table_id)
        return dict(await self._db.rows(query))

    async def set(self, feature: str, table_id: int, person_id: int, body: Any | None) -> None:
        """Replace what a feature keeps for a person at a table; None deletes it. body: as JSON takes it."""
        key: dict[str, Any] = {"feature": feature, "table_id": table_id, "person_id": person_id}
        await self._db.execute(delete(Fact).filter_by(**key))
        if body is not None:
            await self._db.add(Fact(**key, body=body))


class UsageRepository(Repository):
    """How often a person did something of a kind on a day."""

    async def add(self, person_id: int, kind: str, day: str) -> int:
        """Count one more; returns how many it is on that day. `day`: `2026-01-31`."""
        key: dict[str, Any] = {"person_id": person_id, "kind": kind, "day": day}
        await self._db.upsert(Usage(**key), count=ONE_MORE)
        return await self._db.first(select(Usage.count).filter_by(**key)) or 0
