"""A service over a real store in a file, and a table at which three people sit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from sqlmodel import col, select

from bot.hub.loading import forget_unreadable
from bot.hub.notifications.messages import Notification, decode_notification
from bot.hub.request import CommandResult
from bot.service import Service
from storage import OutboxMessage, Store, open_store
from tests.tables import started

NAMES = ("Ann", "Bob", "Cid")


@dataclass
class ServiceHarness:
    """A service with people, and a table."""

    store: Store
    service: Service
    people: dict[str, int]
    table: int = 0
    requests: int = 0

    async def person(self, name: str, *, discord: str | None = None, email: str | None = None) -> int:
        async with self.store.begin() as unit:
            person = await unit.people.add(name)
            if discord:
                await unit.people.add_identity(person.id, "discord", discord)
            if email:
                await unit.people.add_identity(person.id, "email", email)
        self.people[name] = person.id
        return person.id

    async def say(self, name: str, *lines: str, seen: str | None = None, request: str = "") -> CommandResult:
        """Submit lines as the player of that name."""
        self.requests += 1
        return await self.service.submit(
            self.table, None, lines, seen, request or f"r{self.requests}", person_id=self.people[name]
        )

    async def lines(self) -> list[str]:
        """The moves of the line of play."""
        return [h.line for h in await self.service.queries.log(self.table) if h.is_live and h.kind == "move"]

    async def asked_names(self) -> list[str]:
        return [a.name for a in (await self.service.queries.view(self.table)).pending]

    async def decision(self) -> str:
        return (await self.service.queries.view(self.table)).pending[0].decision_id

    async def sent(self, kind: str = "") -> list[tuple[PendingMessage, Notification]]:
        """The pending messages, oldest first."""
        waiting = (
            select(OutboxMessage)
            .where(col(OutboxMessage.status) == "pending")
            .order_by(col(OutboxMessage.id))
        )
        async with self.store.read() as unit:
            rows = await unit._transaction.all(waiting)
        messages = [
            (PendingMessage(r.id, r.idempotency_key, r.channel, r.address,
                            (r.not_before - r.created_at).total_seconds()),
             decode_notification(r.payload)) for r in rows
        ]  # fmt: skip
        return [
            (message, notification)
            for message, notification in messages
            if not kind or notification.kind == kind
        ]

    async def deliver(self) -> list[tuple[PendingMessage, Notification]]:
        """Mark all pending messages as sent and return them."""
        messages = await self.sent()
        async with self.store.begin() as unit:
            for message, _ in messages:
                await unit.outbox.mark_sent(message.key)
        return messages


class PendingMessage(NamedTuple):
    """A message in the outbox. wait: seconds until it is due."""

    id: int
    key: str
    channel: str
    address: dict[str, object]
    wait: float


@pytest.fixture
async def empty(address: str) -> AsyncIterator[ServiceHarness]:
    forget_unreadable()  # a process keeps them, also those of the store of another test
    async with await open_store(address) as store:
        yield ServiceHarness(store, Service(store), {})


@pytest.fixture
async def world(empty: ServiceHarness) -> ServiceHarness:
    """A table that is being played: Ann, Bob and Cid sit in that order, Ann is the host."""
    for name in NAMES:
        await empty.person(name)
    empty.table = (await started(empty.service, empty.people, name="Friday")).id
    return empty
