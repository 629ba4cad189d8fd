"""Settings of the store: its id, secrets, turns."""

import secrets
from datetime import datetime, timedelta

from sqlmodel import col, delete, select

from storage.models import STORE_ID, AddressClaim, MailToken, RequestResult, Setting
from storage.transaction import Repository

FORMER_STORE_IDS = "former_store_ids"
"""Ids of the backups from which the store was restored, or beside which it was begun."""


class SettingsRepository(Repository):
    """Settings, secrets and turns."""

    async def get(self, key: str) -> str | None:
        """A setting, or None."""
        return await self._transaction.scalar(select(Setting.value).where(col(Setting.key) == key))

    async def set(self, key: str, value: str) -> None:
        """Store a setting."""
        await self._transaction.upsert(Setting(key=key, value=value))

    async def delete(self, key: str) -> None:
        """Delete a setting, if there is one."""
        await self._transaction.execute(delete(Setting).where(col(Setting.key) == key))

    async def secret(self, name: str) -> bytes:
        """A secret of 32 bytes, created when it is first asked for."""
        value = await self.get(f"secret:{name}")
        if value is None:
            value = secrets.token_hex(32)
            await self.set(f"secret:{name}", value)
        return bytes.fromhex(value)

    async def store_id(self) -> str:
        """The id of the store. It changes when a backup is restored, and then every cache is invalid."""
        return await self.get(STORE_ID) or ""

    async def take_turn(self, name: str, lasting: timedelta) -> datetime | None:
        """Take a turn that one process at a time may have; if one has it, when it ends, and None if not.

        A turn that ends later than a new one would is from before the clock was set back, and has no force.
        """
        now = self._transaction.now
        end = await self.get(f"turn:{name}")
        if end is not None and now < (taken_until := datetime.fromisoformat(end)) <= now + lasting:
            return taken_until
        await self.set(f"turn:{name}", (now + lasting).isoformat())
        return None

    async def delete_expired(self, before: datetime) -> int:
        """Delete request results, address claims and mail tokens from before a time; returns how many."""
        statements = (
            delete(RequestResult).where(col(RequestResult.created_at) < before),
            delete(AddressClaim).where(col(AddressClaim.expires_at) < before),
            delete(MailToken).where(col(MailToken.expires_at) < before),
        )
        return sum([await self._transaction.execute(statement) for statement in statements])
