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

from storage.direct import Execute
from storage.tables import Channel, Delivery, Message, Parcel
from storage.work import Subject


class Queue(NamedTuple):
    """How a channel stands: parcels that wait, since when the oldest does, and those given up."""

    pending: int
    oldest: datetime | None
    dead: int


PENDING = literal_column("'pending'", String)
"""As a word of the statement: SQLite uses an index over some rows only where it sees which."""


@cache
def _supersede(groups: int, keys: int) -> Update:
    """Parcels of so many groups that still wait, but for so many keys, are no longer sent."""
    return (
        update(Message)
        .where(
            col(Message.supersedes).in_([bindparam(f"group{n}") for n in range(groups)]),
            col(Message.state) == PENDING,
            col(Message.key).not_in([bindparam(f"key{n}") for n in range(keys)]),
        )
        .values(state="superseded", payload=b"", settled=bindparam("now"))
    )


@cache
def _add(dialect: str) -> Insert:
    """Take a parcel in, unless there is one of its key."""
    if dialect == "postgresql":
        return postgresql.insert(Message).on_conflict_do_nothing(index_elements=["key"])
    return sqlite.insert(Message).on_conflict_do_nothing(index_elements=["key"])


def enqueue(execute: Execute, parcels: Sequence[Parcel], now: datetime) -> int:
    """What `Outbox.enqueue` does, at a moment."""
    if not parcels:
        return 0
    if groups := {parcel.supersedes for parcel in parcels if parcel.supersedes is not None}:
        named = {f"group{n}": group for n, group in enumerate(groups)}
        named |= {f"key{n}": parcel.key for n, parcel in enumerate(parcels)}
        execute(_supersede(len(groups), len(parcels)), named | {"now": now})
    standing = {"created": now, "attempts": 0, "state": "pending"}
    rows = [parcel.model_dump() | standing | {"not_before": parcel.not_before or now} for parcel in parcels]
    return execute(_add(execute.dialect), rows).touched


class Outbox(Subject):
    """Parcels and their fate."""

    async def enqueue(self, *parcels: Parcel) -> int:
        """Take parcels in, where their keys are new; how many were.

        What still waits in a group that one of them supersedes is no longer sent.
        """
        now = self._work.now
        return await self._work.job(lambda execute: enqueue(execute, parcels, now))

    async def due(self, channel: Channel, limit: int, lease: timedelta) -> list[Message]:
        """Take what is to be sent now, oldest first, for as long as the lease holds.

        Of a lane only the first parcel is due; `attempts` counts this attempt.
        """
        earlier = aliased(Message)
        blocked = (
            select(col(earlier.id))
            .where(
                col(earlier.lane) == col(Message.lane),
                col(earlier.state) == PENDING,
                col(earlier.id) < col(Message.id),
            )
            .exists()
        )
        now = self._work.now
        ready = (
            col(Message.channel) == channel,
            col(Message.state) == PENDING,
            col(Message.not_before) <= now,
            or_(col(Message.lease_until).is_(None), col(Message.lease_until) <= now),
            ~blocked,
        )
        order = (col(Message.not_before), col(Message.id))
        ids = await self._work.all(select(Message.id).where(*ready).order_by(*order).limit(limit))
        if not ids:
            return []
        taken = col(Message.id).in_(ids)
        await self._work.do(
            update(Message).where(taken).values(lease_until=now + lease, attempts=col(Message.attempts) + 1)
        )
        return await self._work.all(select(Message).where(taken).order_by(*order))

    async def next_due(self, channel: Channel) -> datetime | None:
        """When a courier should look again: the first moment at which something may be due."""
        leased = col(Message.lease_until) > col(Message.not_before)
        free_at = case((leased, col(Message.lease_until)), else_=col(Message.not_before))
        return await self._work.first(
            select(func.min(free_at)).where(col(Message.channel) == channel, col(Message.state) == PENDING)
        )

    async def sent(self, message_id: int, ref: str | None = None) -> None:
        """It went out, and is called `ref` over there. What was sent is not kept."""
        await self._settle(message_id, "sent", ref=ref)

    async def failed(self, message_id: int, error: str, again: datetime | None) -> None:
        """It did not go out: to be tried again at a moment, or never."""
        if again is None:
            await self._settle(message_id, "dead", error=error)
        else:
            waiting = (col(Message.id) == message_id, col(Message.state) == PENDING)
            values = {"error": error, "not_before": again, "lease_until": None}
            await self._work.do(update(Message).where(*waiting).values(values))

    async def release(self, message_id: int) -> None:
        """Give a lease back unused."""
        values = {"lease_until": None, "attempts": col(Message.attempts) - 1}
        await self._work.do(
            update(Message)
            .where(col(Message.id) == message_id, col(Message.lease_until).is_not(None))
            .values(values)
        )

    async def _settle(
        self, message_id: int, state: Delivery, ref: str | None = None, error: str | None = None
    ) -> None:
        values: dict[str, Any] = {"state": state, "settled": self._work.now, "lease_until": None}
        values |= {"ref": ref, "payload": b""} if state == "sent" else {"error": error}
        await self._work.do(update(Message).where(col(Message.id) == message_id).values(values))

    async def get(self, key: str) -> Message | None:
        """The parcel of a key."""
        return await self._work.first(select(Message).where(col(Message.key) == key))

    async def queue(self, channel: Channel) -> Queue:
        """How a channel stands."""
        here = col(Message.channel) == channel
        waits = (here, col(Message.state) == PENDING)
        count = select(func.count()).select_from(Message)
        oldest = await self._work.value(select(func.min(Message.created)).where(*waits))
        dead = await self._work.value(count.where(here, col(Message.state) == "dead"))
        return Queue(await self._work.value(count.where(*waits)) or 0, oldest, dead or 0)

    async def count(self, channel: Channel, since: datetime, **address: str) -> int:
        """How many parcels were taken in since a moment, of those whose address says all this."""
        said = [col(Message.address)[key].as_string() == value for key, value in address.items()]
        query = select(func.count()).select_from(Message)
        here = (col(Message.channel) == channel, col(Message.created) >= since)
        return await self._work.value(query.where(*here, *said)) or 0

    async def sweep(self, before: datetime) -> int:
        """Forget what was settled before a moment; how many parcels those were."""
        return await self._work.do(delete(Message).where(col(Message.settled) < before))
