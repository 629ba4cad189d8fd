"""What an installation remembers about itself: settings, secrets, who leads."""

import secrets
from datetime import datetime, timedelta

from sqlmodel import col, delete, select, update

from storage.models import AddressClaim, Lease, MailToken, RequestResult, Setting
from storage.transaction import Repository

STORE_ID = "store_id"
DATA_REVISION = "data_revision"


class SettingsRepository(Repository):
    """Settings, secrets and leases."""

    async def get(self, key: str) -> str | None:
        """A setting, or None."""
        return await self._transaction.scalar(select(Setting.value).where(col(Setting.key) == key))

    async def set(self, key: str, value: str) -> None:
        """Keep a setting."""
        if not await self._transaction.execute(
            update(Setting).where(col(Setting.key) == key).values(value=value)
        ):
            await self._transaction.add(Setting(key=key, value=value))

    async def secret(self, name: str) -> bytes:
        """A secret of 32 bytes, made when it is first asked for."""
        known = await self.get(f"secret:{name}")
        if known is None:
            known = secrets.token_hex(32)
            await self.set(f"secret:{name}", known)
        return bytes.fromhex(known)

    async def store_id(self) -> str:
        """Changes when a backup is put in the place of the store: what was loaded is then to be forgotten."""
        return await self.get(STORE_ID) or ""

    async def data_revision(self) -> str:
        """Changes with whatever the store knows of tables and people beside the logs."""
        return await self.get(DATA_REVISION) or ""

    async def renew_data_revision(self) -> None:
        """Something of that has changed."""
        await self.set(DATA_REVISION, secrets.token_hex(8))

    async def acquire_lease(self, name: str, holder: str, lasting: timedelta) -> bool:
        """Take or renew a lease on a job; False while another holds it."""
        now = self._transaction.now
        lease = await self._transaction.first(select(Lease).where(col(Lease.name) == name))
        if lease is None:
            await self._transaction.add(Lease(name=name, holder=holder, expires_at=now + lasting))
            return True
        if lease.holder != holder and lease.expires_at > now:
            return False
        renewed = update(Lease).where(col(Lease.name) == name)
        await self._transaction.execute(renewed.values(holder=holder, expires_at=now + lasting))
        return True

    async def release_lease(self, name: str, holder: str) -> None:
        """Give a lease back."""
        await self._transaction.execute(
            delete(Lease).where(col(Lease.name) == name, col(Lease.holder) == holder)
        )

    async def delete_expired(self, before: datetime) -> int:
        """Forget answers, claims and tokens that were of no use before a moment; how many."""
        old = (
            delete(RequestResult).where(col(RequestResult.created_at) < before),
            delete(AddressClaim).where(col(AddressClaim.expires_at) < before),
            delete(MailToken).where(col(MailToken.expires_at) < before),
        )
        return sum([await self._transaction.execute(statement) for statement in old])
