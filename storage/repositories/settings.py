"""Settings of the store: its id, secrets, leases."""

import secrets
from datetime import datetime, timedelta

from sqlmodel import col, delete, select, update

from storage.models import AddressClaim, Lease, MailToken, RequestResult, Setting
from storage.transaction import Repository

STORE_ID = "store_id"
FORMER_STORE_IDS = "former_store_ids"  # of the backups from which the store was restored


class SettingsRepository(Repository):
    """Settings, secrets and leases."""

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

    async def acquire_lease(self, name: str, holder: str, duration: timedelta) -> bool:
        """Acquire or renew the lease on a job; False while another holder has it.

        A lease that ends later than a new one would is from before the clock was set back, and has no force.
        """
        now = self._transaction.now
        lease = await self._transaction.first(select(Lease).where(col(Lease.name) == name))
        if lease is None:
            await self._transaction.add(Lease(name=name, holder=holder, expires_at=now + duration))
            return True
        if lease.holder != holder and now < lease.expires_at <= now + duration:
            return False
        renewed = update(Lease).where(col(Lease.name) == name)
        await self._transaction.execute(renewed.values(holder=holder, expires_at=now + duration))
        return True

    async def lease_end(self, name: str) -> datetime | None:
        """Until when the lease on a job was acquired; None if nobody has it."""
        return await self._transaction.scalar(select(Lease.expires_at).where(col(Lease.name) == name))

    async def release_lease(self, name: str, holder: str) -> None:
        """Release a lease."""
        await self._transaction.execute(
            delete(Lease).where(col(Lease.name) == name, col(Lease.holder) == holder)
        )

    async def delete_expired(self, before: datetime) -> int:
        """Delete request results, address claims and mail tokens from before a time; returns how many."""
        statements = (
            delete(RequestResult).where(col(RequestResult.created_at) < before),
            delete(AddressClaim).where(col(AddressClaim.expires_at) < before),
            delete(MailToken).where(col(MailToken.expires_at) < before),
        )
        return sum([await self._transaction.execute(statement) for statement in statements])
