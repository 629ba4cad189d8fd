"""A service on a clock that the test drives: a table at which three people sit, and what they are told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlmodel import col, func, select

from bot.hub.notifications.due_messages import still_wanted
from bot.hub.notifications.messages import decode_notification
from bot.hub.request import CommandResult
from bot.service import Service
from storage import Channel, OutboxMessage, Store, open_store
from tests.fake_discord.running_bot import OnePixelPictures
from tests.mail.mail_desk import MailDesk, desk_of
from tests.mail.servers import Delivery
from tests.pace.test_pace import local
from tests.tables import started

CHANNELS: tuple[Channel, ...] = ("discord", "mail")
NAMES = ("Ann", "Bob", "Cid")
NEXT_MESSAGE = select(func.min(OutboxMessage.not_before)).where(col(OutboxMessage.status) == "pending")
START = local("2026-06-01 12:00")  # a Monday


class Told(NamedTuple):
    """A message that was sent. to: the name of the person, or `table`."""

    at: datetime
    to: str
    channel: str
    kind: str
    text: str


class DrivenTable:
    """A table, its people, and the time."""

    def __init__(self, address: str) -> None:
        self.address, self.now = address, START
        self.people: dict[str, int] = {}
        self.table = 0
        self.told: list[Told] = []
        self._requests = 0
        self.store: Store
        self.service: Service

    async def open(self) -> None:
        self.store = await open_store(self.address, now=lambda: self.now)
        self.service = Service(self.store, ping_holdoff=120)

    async def restart(self) -> None:
        """Another process on the same store; the former lost whatever it had in memory."""
        await self.store.close()
        await self.open()

    async def person(self, name: str, *, discord: bool = False) -> int:
        async with self.store.begin() as unit:
            person = await unit.people.add(name)
            await unit.people.add_identity(person.id, "email", f"{name.casefold()}@player.test")
            if discord:
                await unit.people.add_identity(person.id, "discord", str(1000 + person.id))
        self.people[name] = person.id
        return person.id

    async def begin(
        self, pace: str, *, discord: bool = False, title: str = "1830", options: Sequence[str] | None = None
    ) -> None:
        """Ann, Bob and Cid sit down and start with a pace; Ann is asked first."""
        for name in NAMES:
            await self.person(name, discord=discord)
        place = {"channel": 7, "thread": 8} if discord else None
        people = {name: self.people[name] for name in NAMES}
        table = await started(
            self.service, people, title, name="Friday", location=place, pace=pace, options=options
        )
        self.table = table.id
        await self.tick()

    async def say(self, name: str, *lines: str) -> CommandResult:
        self._requests += 1
        result = await self.service.submit(
            self.table, None, lines, None, f"r{self._requests}", person_id=self.people[name]
        )
        await self.tick()
        return result

    async def settings(self, name: str, *lines: str) -> str:
        answer = await self.service.settings.apply(self.people[name], lines)
        await self.tick()
        return answer

    async def tick(self) -> None:
        await self.service.clock.tick()
        await self.deliver()

    async def wait_until(self, moment: datetime) -> None:
        """Let the time pass, with a look at the clock whenever something is due."""
        while self.now < moment:
            self.now = min(await self._next_due() or moment, moment)
            await self.tick()

    async def _next_due(self) -> datetime | None:
        async with self.store.read() as unit:
            times = [await unit.clocks.next_due_at(), await unit._transaction.first(NEXT_MESSAGE)]
        return min((at for at in times if at is not None and at > self.now), default=None)

    async def deliver(self) -> None:
        """Send what is due in the outbox, as the delivery workers do."""
        async with self.store.begin() as unit:
            at = await unit._transaction.first(NEXT_MESSAGE)
            for channel in CHANNELS if at and at <= self.now else ():
                while leased := await unit.outbox.lease_due(channel, 100, timedelta(minutes=1)):
                    for row in await still_wanted(unit, leased):
                        await unit.outbox.mark_sent(row.idempotency_key)
                        await self._note(row)

    async def _note(self, row: OutboxMessage) -> None:
        notification = decode_notification(row.payload)
        if notification.kind in ("turn", "refresh"):
            await self.service.cache.refresh(self.table)
            view = await self.service.queries.view(self.table)
            asked = [p.seat for p in view.pending if p.decision_id == notification.decision_id]
            plays = view.table.person_at(notification.seat or 0)
            if notification.seat not in asked or notification.person_id not in (None, plays):
                return  # the delivery workers send nothing that is out of date
        names = {number: name for name, number in self.people.items()}
        in_thread = (row.ordering_key or "").startswith("table:")
        to = (
            "table"
            if in_thread and not notification.ping
            else names.get(notification.person_id or 0, "table")
        )
        channel = "thread" if in_thread else {"mail": "mail"}.get(row.channel, "direct")
        sentences: Sequence[str] = notification.sentences
        if notification.kind == "reminder":
            view = await self.service.queries.view(row.table_id or 0)
            page = await self.service.pages["reminder"](view.table, notification)
            sentences = page.sentences if page else ()
        self.told.append(Told(self.now, to, channel, notification.kind, " ".join(sentences)))

    def heard(self, name: str, *kinds: str) -> list[str]:
        """When and what a person was told: local times with kinds and texts."""
        return [
            f"{told.at.astimezone(START.tzinfo):%d %H:%M} {told.channel} {told.kind}: {told.text}".rstrip(
                ": "
            )
            for told in self.told
            if told.to == name and (not kinds or told.kind in kinds)
        ]

    async def asked(self) -> list[str]:
        return [p.name for p in (await self.service.queries.view(self.table)).pending]


@pytest.fixture
async def driven(address: str) -> AsyncIterator[DrivenTable]:
    world = DrivenTable(address)
    await world.open()
    yield world
    await world.store.close()


@pytest.fixture
def desk(driven: DrivenTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailDesk:
    """Sends the emails of the table, and takes replies."""

    async def nothing() -> None:
        """The desk delivers."""

    monkeypatch.setattr(driven, "deliver", nothing)
    return desk_of(driven.service, tmp_path, OnePixelPictures())


def to(emails: list[Delivery], name: str) -> list[Delivery]:
    """Those to a person."""
    return [email for email in emails if email.recipients == (f"{name.casefold()}@player.test",)]
