"""The outbox: messages that are stored with the move that causes them, and delivered afterwards.

A message is enqueued in the transaction of its cause, so both exist or neither. A delivery worker leases
the messages that are due, sends them outside of any transaction, and reports the outcome. A worker that
dies loses only time: its leases expire, and another worker takes the messages. So a message is sent at
least once; the receiver recognises a second copy by the idempotency key, which never changes. A message
that is no longer needed is superseded by a new one with the same collapse key.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Integer,
    String,
    and_,
    bindparam,
    case,
    literal_column,
    or_,
    tuple_,
)
from sqlalchemy import select as select_columns
from sqlalchemy.orm import aliased
from sqlmodel import col, delete, func, select, update
from sqlmodel.sql.expression import SelectOfScalar

from storage.models import Channel, DeliveryStatus, MailToken, NewMessage, OutboxMessage
from storage.transaction import GuildShards, Repository, insert_new, own_messages


class QueueStatus(NamedTuple):
    """The queue of a channel: pending messages, since when the oldest waits, messages that were given up, how
    many of these in the last day, and since when; when the last was sent, of those that are still kept. What
    is not to be sent before a time waits from then on."""

    pending: int
    oldest_pending: datetime | None
    dead: int
    dead_today: int = 0
    dead_since: datetime | None = None
    last_sent: datetime | None = None


PENDING = literal_column("'pending'", String)
"""A literal, not a parameter: SQLite uses a partial index only where the statement shows its condition."""
EARLIER = aliased(OutboxMessage)
"""An earlier message. It takes longer to make such an alias than to ask the store."""
ORDER = (col(OutboxMessage.not_before), col(OutboxMessage.id))


_SUPERSEDE = (
    update(OutboxMessage)
    .where(
        col(OutboxMessage.collapse_key).in_(bindparam("collapse_keys", expanding=True)),
        col(OutboxMessage.status) == PENDING,
        col(OutboxMessage.idempotency_key).not_in(bindparam("new_keys", expanding=True)),
    )
    .values(status="superseded", payload=b"", finished_at=bindparam("now"))
)
"""Supersede the pending messages of some collapse keys, except new messages."""


def enqueue_messages(connection: Connection, messages: Sequence[NewMessage], now: datetime) -> int:
    """`OutboxRepository.enqueue`."""
    if not messages:
        return 0
    if collapse_keys := sorted({message.collapse_key for message in messages if message.collapse_key}):
        new_keys = [message.idempotency_key for message in messages]
        connection.execute(_SUPERSEDE, {"collapse_keys": collapse_keys, "new_keys": new_keys, "now": now})
    rows = [_new_row(message, now) for message in messages]
    statement = insert_new(connection.dialect.name, OutboxMessage, "idempotency_key")
    return connection.execute(statement, rows).rowcount


def _new_row(message: NewMessage, now: datetime) -> dict[str, Any]:
    row = message._asdict() | {"created_at": now, "attempts": 0, "status": "pending"}
    row |= {"not_before": message.not_before or now}
    if row.pop("is_kept"):
        row["collapse_key"] = None
    return row


LONGEST_RETRY = timedelta(hours=5)
"""No retry waits longer, nor does any lease; a time further ahead was set before the clock was set back."""


NOW: BindParameter[datetime] = bindparam("now")
LATEST: BindParameter[datetime] = bindparam("latest")
"""`LONGEST_RETRY` after that."""


def _has_entries(address: Mapping[str, str]) -> list[ColumnElement[bool]]:
    return [col(OutboxMessage.address)[key].as_string() == value for key, value in address.items()]


def _emails_of(person_id: int, address: str) -> Sequence[ColumnElement[bool]]:
    """That a message is an email to an address of a person, and for nobody else who claims that address."""
    of_message = col(MailToken.message_id) == col(OutboxMessage.idempotency_key)
    is_of_another = select(col(MailToken.message_id)).where(of_message, col(MailToken.person_id) != person_id)
    is_mail = col(OutboxMessage.channel) == "mail"
    return (is_mail, *_has_entries({"to": address}), ~is_of_another.exists())


def _is_due() -> ColumnElement[bool]:
    """Whether the time of a message has come; a clock that was set back does not hold it."""
    not_before, created_at = col(OutboxMessage.not_before), col(OutboxMessage.created_at)
    is_new = col(OutboxMessage.attempts) == 0
    return or_(
        not_before <= NOW,
        and_(is_new, or_(not_before <= created_at, created_at > NOW)),
        and_(~is_new, not_before > LATEST),
    )


def _is_free() -> ColumnElement[bool]:
    """Whether no worker has the message."""
    expires_at = col(OutboxMessage.lease_expires_at)
    return or_(expires_at.is_(None), expires_at <= NOW, expires_at > LATEST)


def _has_earlier() -> ColumnElement[bool]:
    """Whether the message waits for an earlier one with the same ordering key: not for one whose time is
    still to come, such as a ping in its hold-off."""
    return (
        select(col(EARLIER.id))
        .where(
            col(EARLIER.ordering_key) == col(OutboxMessage.ordering_key),
            col(EARLIER.status) == PENDING,
            col(EARLIER.id) < col(OutboxMessage.id),
            or_(
                col(EARLIER.attempts) > 0,
                col(EARLIER.not_before) <= NOW,
                col(EARLIER.not_before) <= col(EARLIER.created_at),
            ),
        )
        .exists()
    )


@cache
def _due(not_to: tuple[str, ...], shards: GuildShards | None) -> SelectOfScalar[int]:
    """The messages of a channel that are due, oldest first. It takes longer to make than to ask the store."""
    recipient = col(OutboxMessage.address)["to"].as_string()
    return (
        select(OutboxMessage.id)
        .where(
            col(OutboxMessage.channel) == bindparam("channel"),
            col(OutboxMessage.status) == PENDING,
            _is_due(),
            _is_free(),
            ~_has_earlier(),
            *(func.coalesce(recipient, "").not_like(f"%{end}") for end in not_to),
            *own_messages(shards),
        )
        .order_by(*ORDER)
        .limit(bindparam("limit", type_=Integer))
        .with_for_update(skip_locked=True, of=OutboxMessage)  # what another worker takes now is not due
    )


@cache
def _next_due(shards: GuildShards | None) -> SelectOfScalar[datetime | None]:
    """When the next message of a channel may be due."""
    is_leased = col(OutboxMessage.lease_expires_at) > col(OutboxMessage.not_before)
    due_at = case((is_leased, col(OutboxMessage.lease_expires_at)), else_=col(OutboxMessage.not_before))
    return select(func.min(due_at)).where(
        col(OutboxMessage.channel) == bindparam("channel"),
        col(OutboxMessage.status) == PENDING,
        ~_has_earlier(),
        *own_messages(shards),
    )


class OutboxRepository(Repository):
    """Messages of the outbox and their delivery."""

    async def enqueue(self, *messages: NewMessage) -> int:
        """Add messages whose idempotency keys are new; returns how many.

        Pending messages with the same collapse key as a new one are superseded.
        """
        now = self._db.now
        return await self._db.run(lambda connection: enqueue_messages(connection, messages, now))

    async def lease_due(
        self,
        channel: Channel,
        limit: int,
        lease: timedelta,
        not_to: Collection[str] = (),
        shards: GuildShards | None = None,
    ) -> list[OutboxMessage]:
        """Lease the messages that are due now, oldest first; None of `shards` is all.

        Of messages with the same ordering key only the first is due. `attempts` includes this attempt.
        not_to: endings of `address["to"]` that are left out.
        """
        now = self._db.now
        at = {"channel": channel, "limit": limit, "now": now, "latest": now + LONGEST_RETRY}
        ids = await self._db.all(_due(tuple(not_to), shards), **at)
        if not ids:
            return []
        leased = col(OutboxMessage.id).in_(ids)
        attempts = col(OutboxMessage.attempts) + 1
        taken = update(OutboxMessage).where(leased).values(lease_expires_at=now + lease, attempts=attempts)
        await self._db.execute(taken)
        return await self._db.all(select(OutboxMessage).where(leased).order_by(*ORDER))

    async def renew_leases(self, attempts: Mapping[str, int], lease: timedelta) -> frozenset[str]:
        """Renew the leases of messages by their idempotency keys, each in its n-th attempt; returns the keys
        of those that nobody else has taken, and that are still to be sent."""
        attempt = tuple_(col(OutboxMessage.idempotency_key), col(OutboxMessage.attempts))
        ours = (attempt.in_(list(attempts.items())), col(OutboxMessage.status) == PENDING)
        await self._db.execute(
            update(OutboxMessage).where(*ours).values(lease_expires_at=self._db.now + lease)
        )
        return frozenset(await self._db.all(select(OutboxMessage.idempotency_key).where(*ours)))

    async def next_due_at(self, channel: Channel, shards: GuildShards | None = None) -> datetime | None:
        """The earliest time at which a pending message may be due; None without pending messages. None of
        `shards` is all.

        A message that waits for an earlier one with its ordering key is not due before that one is done.
        """
        return await self._db.first(_next_due(shards), channel=channel, now=self._db.now)

    async def mark_sent(self, key: str, external_id: str | None = None) -> None:
        """The message was sent, and the receiver calls it `external_id`. Its payload is deleted.

        It is found by its key: the data of a person may be deleted meanwhile, and SQLite gives the number of
        its row to another message.
        """
        await self._finish(key, "sent", external_id=external_id, payload=b"")

    async def mark_failed(self, key: str, error: str, retry_at: datetime | None) -> None:
        """The message could not be sent: it is due again at `retry_at`, or given up (None)."""
        if retry_at is None:
            await self._finish(key, "dead", error=error)
        else:
            pending = update(OutboxMessage).filter_by(idempotency_key=key, status=PENDING)
            await self._db.execute(pending.values(error=error, not_before=retry_at, lease_expires_at=None))

    async def put_off(self, key: str, until: datetime) -> None:
        """The message that was leased is due then, as if nobody had leased it."""
        message = update(OutboxMessage).filter_by(idempotency_key=key)
        await self._db.execute(message.values(not_before=until, lease_expires_at=None, attempts=0))

    async def _finish(self, key: str, status: DeliveryStatus, **values: Any) -> None:
        values |= {"status": status, "finished_at": self._db.now, "lease_expires_at": None}
        await self._db.execute(update(OutboxMessage).filter_by(idempotency_key=key).values(**values))

    async def get(self, idempotency_key: str) -> OutboxMessage | None:
        """The message with this idempotency key."""
        return await self._db.first(select(OutboxMessage).filter_by(idempotency_key=idempotency_key))

    async def sent_about(self, table_id: int, channel: Channel) -> Sequence[OutboxMessage]:
        """What was sent about a table on a channel and has an id there, of the messages that are kept."""
        sent = select(OutboxMessage).filter_by(table_id=table_id, channel=channel, status="sent")
        return await self._db.all(sent.where(col(OutboxMessage.external_id).is_not(None)))

    async def take_text(self, idempotency_key: str) -> str | None:
        """The words of a message that was sent; None for any other, and the second time."""
        message = await self.get(idempotency_key)
        if message is None or message.status != "sent" or not message.text:
            return None
        await self._db.execute(update(OutboxMessage).filter_by(id=message.id).values(text=None))
        return message.text

    async def withdraw(self, person_id: int, address: str) -> list[str]:
        """Send none of the pending emails of a person to an address; returns what is kept of the text of
        each, empty for none."""
        which = (col(OutboxMessage.status) == PENDING, *_emails_of(person_id, address))
        messages = await self._db.all(select(OutboxMessage).where(*which).order_by(col(OutboxMessage.id)))
        gone = {"status": "superseded", "payload": b"", "finished_at": self._db.now}
        await self._db.execute(update(OutboxMessage).where(*which).values(gone))
        return [message.text or "" for message in messages]

    async def hasten(self, prefix: str) -> int:
        """Let pending messages whose collapse keys begin so be due now; returns how many."""
        return await self._make_due(col(OutboxMessage.collapse_key).startswith(prefix, autoescape=True))

    async def hasten_held(self, *ordering_keys: str) -> int:
        """Let pending messages with these ordering keys be due now that nobody has tried to send; returns how
        many."""
        keys = col(OutboxMessage.ordering_key).in_(ordering_keys)
        return await self._make_due(keys, col(OutboxMessage.attempts) == 0)

    async def _make_due(self, *which: ColumnElement[bool]) -> int:
        pending = update(OutboxMessage).filter_by(status=PENDING).where(*which)
        return await self._db.execute(pending.values(not_before=self._db.now))

    async def pending_with_collapse_key(self, collapse_key: str) -> OutboxMessage | None:
        """The pending message with this collapse key."""
        query = select(OutboxMessage).filter_by(collapse_key=collapse_key, status=PENDING)
        return await self._db.first(query)

    async def queue_status(self, channel: Channel) -> QueueStatus:
        """The queue of a channel, for monitoring."""
        waits, is_dead = (col(OutboxMessage.status) == status for status in (PENDING, "dead"))
        created_at, not_before = col(OutboxMessage.created_at), col(OutboxMessage.not_before)
        is_held = and_(col(OutboxMessage.attempts) == 0, not_before > created_at)
        today = and_(is_dead, col(OutboxMessage.finished_at) > self._db.now - timedelta(days=1))
        query = select_columns(
            func.count().filter(waits),
            func.min(case((is_held, not_before), else_=created_at)).filter(waits),
            func.count().filter(is_dead),
            func.count().filter(today),
            func.min(OutboxMessage.finished_at).filter(today),
            func.max(OutboxMessage.finished_at).filter(col(OutboxMessage.status) == "sent"),
        )
        query = query.where(col(OutboxMessage.channel) == channel)
        return QueueStatus(*await self._db.read(lambda connection: connection.execute(query).one()))

    async def count(self, channel: Channel, since: datetime, **address: str) -> int:
        """How many messages were enqueued since a time, of those whose address has all these entries."""
        query = select(func.count()).select_from(OutboxMessage)
        recent = (col(OutboxMessage.channel) == channel, col(OutboxMessage.created_at) >= since)
        return await self._db.first(query.where(*recent, *_has_entries(address))) or 0

    async def revive_dead(self, channel: Channel, since: datetime, **address: str) -> int:
        """Send messages again that were given up since a time, but not requests to act, which are made anew;
        returns how many. address: as in `count`.
        """
        given_up = update(OutboxMessage).where(*self._given_up(channel, since, address))
        return await self._db.execute(
            given_up.values(status="pending", attempts=0, not_before=self._db.now, finished_at=None)
        )

    async def redirect(self, person_id: int, former: str, new: str) -> None:
        """Let the pending emails of a person to an address go to another of theirs, where they may be
        answered."""
        await self._redirect(person_id, former, new, col(OutboxMessage.status) == PENDING)

    async def redirect_dead(self, person_id: int, former: str, new: str, since: datetime) -> None:
        """The same with those that `revive_dead` would send again."""
        await self._redirect(person_id, former, new, *self._given_up("mail", since, {}))

    async def _redirect(self, person_id: int, former: str, new: str, *which: ColumnElement[bool]) -> None:
        emails = select(OutboxMessage).where(*which, *_emails_of(person_id, former))
        for message in await self._db.all(emails):
            this = update(OutboxMessage).filter_by(id=message.id)
            await self._db.execute(this.values(address={**message.address, "to": new}))
            token = update(MailToken).filter_by(message_id=message.idempotency_key)
            await self._db.execute(token.values(address=new))

    async def has_dead(self, channel: Channel, since: datetime, **address: str) -> bool:
        """Whether there is something for `revive_dead` to send again."""
        query = select(OutboxMessage.id).where(*self._given_up(channel, since, address)).limit(1)
        return await self._db.first(query) is not None

    @staticmethod
    def _given_up(
        channel: Channel, since: datetime, address: Mapping[str, str]
    ) -> tuple[ColumnElement[bool], ...]:
        return (
            col(OutboxMessage.channel) == channel,
            col(OutboxMessage.status) == "dead",
            col(OutboxMessage.finished_at) >= since,
            col(OutboxMessage.address)["reason"].as_string() != "turn",
            *_has_entries(address),
        )

    async def delete_finished(self, before: datetime) -> int:
        """Delete messages that were finished before a time; returns how many."""
        return await self._db.execute(delete(OutboxMessage).where(col(OutboxMessage.finished_at) < before))
