"""A service over a real store in a file, and a table at which three people sit."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from bot.answers import Answer
from bot.notices import Notice, decoded
from bot.service import Service
from storage import Store, open_store

NAMES = ("Ann", "Bob", "Cid")


@dataclass
class World:
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
                await unit.people.identify(person.id, "discord", discord)
            if email:
                await unit.people.identify(person.id, "email", email)
        self.people[name] = person.id
        return person.id

    async def say(self, name: str, *lines: str, seen: str | None = None, request: str = "") -> Answer:
        """Say lines as the person who sits there under that name."""
        self.requests += 1
        return await self.service.say(
            self.table, None, lines, seen, request or f"r{self.requests}", person=self.people[name]
        )

    async def lines(self) -> list[str]:
        """The moves that hold."""
        return [h.line for h in await self.service.log(self.table) if h.live and h.kind == "move"]

    async def waits_for(self) -> list[str]:
        return [a.name for a in (await self.service.view(self.table)).asked]

    async def decision(self) -> str:
        return (await self.service.view(self.table)).asked[0].decision

    async def sent(self, kind: str = "") -> list[tuple[Sent, Notice]]:
        """What waits to be sent, oldest first."""
        with closing(sqlite3.connect(str(self.store.path))) as db:
            rows = db.execute(
                "SELECT id, key, channel, address, payload, not_before - created FROM outbox "
                "WHERE state = 'pending' ORDER BY id"
            ).fetchall()
        told = [(Sent(i, k, c, json.loads(a), wait / 1e6), decoded(p)) for i, k, c, a, p, wait in rows]
        return [(message, notice) for message, notice in told if not kind or notice.kind == kind]

    async def deliver(self) -> list[tuple[Sent, Notice]]:
        """Everything is sent; what it was."""
        found = await self.sent()
        async with self.store.begin() as unit:
            for message, _ in found:
                await unit.outbox.sent(message.id)
        return found


class Sent(NamedTuple):
    """A parcel of the outbox; `wait` in seconds."""

    id: int
    key: str
    channel: str
    address: dict[str, object]
    wait: float


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store, made once."""
    path = tmp_path_factory.mktemp("template") / "railpost.db"

    async def made() -> None:
        async with await open_store(path):
            pass

    asyncio.run(made())
    return path


@pytest.fixture
async def empty(tmp_path: Path, template: Path) -> AsyncIterator[World]:
    shutil.copyfile(template, tmp_path / "railpost.db")
    async with await open_store(tmp_path / "railpost.db") as store:
        yield World(store, Service(store), {})


@pytest.fixture
async def world(empty: World) -> World:
    """A table that is being played: Ann, Bob and Cid sit in that order, Ann is the host."""
    for name in NAMES:
        await empty.person(name)
    info = await empty.service.create("1830", empty.people["Ann"], name="Friday")
    for name in NAMES:
        await empty.service.join(info.id, empty.people[name], name)
    await empty.service.start(info.id, by=empty.people["Ann"], order=NAMES)
    empty.table = info.id
    return empty
