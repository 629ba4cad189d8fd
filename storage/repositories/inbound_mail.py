"""Mail that came in. Each mail has one row, so that it takes effect once, however often it is read."""

from datetime import datetime

from sqlmodel import col, delete, select, update

from storage.errors import NotFound
from storage.models import InboundMail
from storage.transaction import Repository


class InboundMailRepository(Repository):
    """Inbound mail: attempts and outcomes."""

    async def record_attempt(self, key: str, sha256: str, path: str) -> InboundMail:
        """Count an attempt at a mail, the first or another; commit this before the mail is read.

        `outcome` is set where the mail has taken effect before. Where two mails have the same key, the
        row keeps the `sha256` of the first.
        """
        by_key = col(InboundMail.key) == key
        retry = update(InboundMail).where(by_key).values(attempts=col(InboundMail.attempts) + 1)
        if not await self._transaction.execute(retry):
            await self._transaction.add(
                InboundMail(key=key, sha256=sha256, path=path, received_at=self._transaction.now)
            )
        return await self.get(key)

    async def get(self, key: str) -> InboundMail:
        """The row of a mail. Raises NotFound for a mail without an attempt."""
        mail = await self._transaction.first(select(InboundMail).where(col(InboundMail.key) == key))
        if mail is None:
            raise NotFound(f"There is no mail {key}.")
        return mail

    async def record_outcome(self, key: str, outcome: str, reply: bytes | None = None) -> bool:
        """Store the outcome of a mail and the reply to it; False where it has an outcome already."""
        unfinished = (col(InboundMail.key) == key, col(InboundMail.outcome).is_(None))
        values = {"outcome": outcome, "reply": reply, "finished_at": self._transaction.now}
        return await self._transaction.execute(update(InboundMail).where(*unfinished).values(values)) > 0

    async def delete_finished(self, before: datetime) -> list[str]:
        """Delete the rows of mail that was finished before a time; returns their keys."""
        is_old = col(InboundMail.finished_at) < before
        keys = await self._transaction.all(select(InboundMail.key).where(is_old))
        await self._transaction.execute(delete(InboundMail).where(is_old))
        return keys

    async def unfinished(self) -> list[InboundMail]:
        """Mail with an attempt and no outcome, oldest first: what a crash has left."""
        query = select(InboundMail).where(col(InboundMail.outcome).is_(None))
        return await self._transaction.all(query.order_by(col(InboundMail.received_at), col(InboundMail.key)))
