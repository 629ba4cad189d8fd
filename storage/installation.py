"""What an installation remembers about itself: settings, secrets, who leads."""

import secrets
from datetime import datetime, timedelta

from sqlmodel import col, delete, select, update

from storage.tables import Answer, Claim, Lease, Setting, Token
from storage.work import Subject

INCARNATION = "incarnation"
MARK = "mark"


class Installation(Subject):
    """Settings, secrets and leases."""

    async def get(self, key: str) -> str | None:
        """A setting, or None."""
        return await self._work.value(select(Setting.value).where(col(Setting.key) == key))

    async def put(self, key: str, value: str) -> None:
        """Keep a setting."""
        if not await self._work.do(update(Setting).where(col(Setting.key) == key).values(value=value)):
            await self._work.add(Setting(key=key, value=value))

    async def secret(self, name: str) -> bytes:
        """A secret of 32 bytes, made when it is first asked for."""
        known = await self.get(f"secret:{name}")
        if known is None:
            known = secrets.token_hex(32)
            await self.put(f"secret:{name}", known)
        return bytes.fromhex(known)

    async def incarnation(self) -> str:
        """Changes when a backup is put in the place of the store: what was loaded is then to be forgotten."""
        return await self.get(INCARNATION) or ""

    async def mark(self) -> str:
        """Changes with whatever the store knows of tables and people beside the logs."""
        return await self.get(MARK) or ""

    async def renew_mark(self) -> None:
        """Something of that has changed."""
        await self.put(MARK, secrets.token_hex(8))

    async def lead(self, name: str, holder: str, lasting: timedelta) -> bool:
        """Take or renew a lease on a job; False while another holds it."""
        now = self._work.now
        lease = await self._work.first(select(Lease).where(col(Lease.name) == name))
        if lease is None:
            await self._work.add(Lease(name=name, holder=holder, until=now + lasting))
            return True
        if lease.holder != holder and lease.until > now:
            return False
        renewed = update(Lease).where(col(Lease.name) == name)
        await self._work.do(renewed.values(holder=holder, until=now + lasting))
        return True

    async def resign(self, name: str, holder: str) -> None:
        """Give a lease back."""
        await self._work.do(delete(Lease).where(col(Lease.name) == name, col(Lease.holder) == holder))

    async def sweep(self, before: datetime) -> int:
        """Forget answers, claims and tokens that were of no use before a moment; how many."""
        old = (
            delete(Answer).where(col(Answer.at) < before),
            delete(Claim).where(col(Claim.expires) < before),
            delete(Token).where(col(Token.expires) < before),
        )
        return sum([await self._work.do(statement) for statement in old])
