"""What is to be sent: written with the move that causes it, sent by couriers afterwards.

Theory. A parcel is enqueued in the transaction of its cause, so that both exist or neither. A
courier takes what is due under a lease, sends it outside of any transaction, and says how it went.
A courier that dies loses only time: its leases run out, and others take the parcels again. So a
parcel is sent at least once; that it arrives once is for the other side to see, by the key, which
never changes. Whoever has no more need of a parcel enqueues one of the same group over it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Insert, String, Update, bindparam, case, literal_column, or_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import aliased
from sqlmodel import col, delete, func, select, update

from storage.executor import Executor
from storage.models import Channel, DeliveryStatus, NewMessage, OutboxMessage
from storage.transaction import Repository


class QueueStatus(NamedTuple):
    """How a channel stands: parcels that wait, since when the oldest does, and those given up."""

    pending: int
    oldest_pending: datetime | None
    dead: int


PENDING = literal_column("'pending'", String)
"""As a word of the statement: SQLite uses an index over some rows only where it sees which."""


@cache
def _supersede_statement(groups: int, keys: int) -> Update:
    """Parcels of so many groups that still wait, but for so many keys, are no longer sent."""
    return (
        update(OutboxMessage)
        .where(
            col(OutboxMessage.collapse_key).in_([bindparam(f"group{n}") for n in range(groups)]),
            col(OutboxMessage.status) == PENDING,
            col(OutboxMessage.idempotency_key).not_in([bindparam(f"key{n}") for n in range(keys)]),
        )
        .values(status="superseded", payload=b"", finished_at=bindparam("now"))
    )


@cache
def _insert_statement(dialect: str) -> Insert:
    """Take a parcel in, unless there is one of its key."""
    if dialect == "postgresql":
        return postgresql.insert(OutboxMessage).on_conflict_do_nothing(index_elements=["idempotency_key"])
    return sqlite.insert(OutboxMessage).on_conflict_do_nothing(index_elements=["idempotency_key"])


def enqueue_messages(execute: Executor, parcels: Sequence[NewMessage], now: datetime) -> int:
    """What `Outbox.enqueue` does, at a moment."""
    if not parcels:
        return 0
    if groups := {parcel.collapse_key for parcel in parcels if parcel.collapse_key is not None}:
        named = {f"group{n}": group for n, group in enumerate(groups)}
        named |= {f"key{n}": parcel.idempotency_key for n, parcel in enumerate(parcels)}
        execute(_supersede_statement(len(groups), len(parcels)), named | {"now": now})
    standing = {"created_at": now, "attempts": 0, "status": "pending"}
    rows = [parcel.model_dump() | standing | {"not_before": parcel.not_before or now} for parcel in parcels]
    return execute(_insert_statement(execute.dialect), rows).row_count


class OutboxRepository(Repository):
    """Parcels and their fate."""

    async def enqueue(self, *parcels: NewMessage) -> int:
        """Take parcels in, where their keys are new; how many were.

        What still waits in a group that one of them supersedes is no longer sent.
        """
        now = self._transaction.now
        return await self._transaction.run_job(lambda execute: enqueue_messages(execute, parcels, now))

    async def lease_due(self, channel: Channel, limit: int, lease: timedelta) -> list[OutboxMessage]:
        """Take what is to be sent now, oldest first, for as long as the lease holds.

        Of a lane only the first parcel is due; `attempts` counts this attempt.
        """
        earlier = aliased(OutboxMessage)
        blocked = (
            select(col(earlier.id))
            .where(
                col(earlier.ordering_key) == col(OutboxMessage.ordering_key),
                col(earlier.status) == PENDING,
                col(earlier.id) < col(OutboxMessage.id),
            )
            .exists()
        )
        now = self._transaction.now
        ready = (
            col(OutboxMessage.channel) == channel,
            col(OutboxMessage.status) == PENDING,
            col(OutboxMessage.not_before) <= now,
            or_(col(OutboxMessage.lease_expires_at).is_(None), col(OutboxMessage.lease_expires_at) <= now),
            ~blocked,
        )
        order = (col(OutboxMessage.not_before), col(OutboxMessage.id))
        ids = await self._transaction.all(
            select(OutboxMessage.id).where(*ready).order_by(*order).limit(limit)
        )
        if not ids:
            return []
        taken = col(OutboxMessage.id).in_(ids)
        await self._transaction.execute(
            update(OutboxMessage)
            .where(taken)
            .values(lease_expires_at=now + lease, attempts=col(OutboxMessage.attempts) + 1)
        )
        return await self._transaction.all(select(OutboxMessage).where(taken).order_by(*order))

    async def next_due_at(self, channel: Channel) -> datetime | None:
        """When a courier should look again: the first moment at which something may be due."""
        leased = col(OutboxMessage.lease_expires_at) > col(OutboxMessage.not_before)
        free_at = case((leased, col(OutboxMessage.lease_expires_at)), else_=col(OutboxMessage.not_before))
        return await self._transaction.first(
            select(func.min(free_at)).where(
                col(OutboxMessage.channel) == channel, col(OutboxMessage.status) == PENDING
            )
        )

    async def mark_sent(self, message_id: int, external_id: str | None = None) -> None:
        """It went out, and is called `external_id` over there. What was sent is not kept."""
        await self._finish(message_id, "sent", external_id=external_id)

    async def mark_failed(self, message_id: int, error: str, again: datetime | None) -> None:
        """It did not go out: to be tried again at a moment, or never."""
        if again is None:
            await self._finish(message_id, "dead", error=error)
        else:
            waiting = (col(OutboxMessage.id) == message_id, col(OutboxMessage.status) == PENDING)
            values = {"error": error, "not_before": again, "lease_expires_at": None}
            await self._transaction.execute(update(OutboxMessage).where(*waiting).values(values))

    async def release_lease(self, message_id: int) -> None:
        """Give a lease back unused."""
        values = {"lease_expires_at": None, "attempts": col(OutboxMessage.attempts) - 1}
        await self._transaction.execute(
            update(OutboxMessage)
            .where(col(OutboxMessage.id) == message_id, col(OutboxMessage.lease_expires_at).is_not(None))
            .values(values)
        )

    async def _finish(
        self,
        message_id: int,
        status: DeliveryStatus,
        external_id: str | None = None,
        error: str | None = None,
    ) -> None:
        values: dict[str, Any] = {
            "status": status,
            "finished_at": self._transaction.now,
            "lease_expires_at": None,
        }
        values |= {"external_id": external_id, "payload": b""} if status == "sent" else {"error": error}
        await self._transaction.execute(
            update(OutboxMessage).where(col(OutboxMessage.id) == message_id).values(values)
        )

    async def get(self, key: str) -> OutboxMessage | None:
        """The parcel of a key."""
        return await self._transaction.first(
            select(OutboxMessage).where(col(OutboxMessage.idempotency_key) == key)
        )

    async def queue_status(self, channel: Channel) -> QueueStatus:
        """How a channel stands."""
        here = col(OutboxMessage.channel) == channel
        waits = (here, col(OutboxMessage.status) == PENDING)
        count = select(func.count()).select_from(OutboxMessage)
        oldest = await self._transaction.scalar(select(func.min(OutboxMessage.created_at)).where(*waits))
        dead = await self._transaction.scalar(count.where(here, col(OutboxMessage.status) == "dead"))
        return QueueStatus(await self._transaction.scalar(count.where(*waits)) or 0, oldest, dead or 0)

    async def count(self, channel: Channel, since: datetime, **address: str) -> int:
        """How many parcels were taken in since a moment, of those whose address says all this."""
        said = [col(OutboxMessage.address)[key].as_string() == value for key, value in address.items()]
        query = select(func.count()).select_from(OutboxMessage)
        here = (col(OutboxMessage.channel) == channel, col(OutboxMessage.created_at) >= since)
        return await self._transaction.scalar(query.where(*here, *said)) or 0

    async def delete_finished(self, before: datetime) -> int:
        """Forget what was settled before a moment; how many parcels those were."""
        return await self._transaction.execute(
            delete(OutboxMessage).where(col(OutboxMessage.finished_at) < before)
        )
