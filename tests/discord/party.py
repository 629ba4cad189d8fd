"""The shipped client on line at the fake Discord, with a service over a real store."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.config import Settings, read
from bot.discord import client
from bot.pictures import Pictures
from bot.service import Service
from renderers import Picture
from storage import open_store

from .fake import Channel, FakeDiscord, Interaction, Message

DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)


class Dots(Pictures):
    """Pictures of one pixel, for tests that look at none; `broken` draws nothing."""

    def __init__(self) -> None:
        super().__init__(1)
        self.broken = False
        self.drawn_so_far = 0

    async def _wanted(self, what: str, *_: Any, **__: Any) -> Picture | None:
        self.drawn_so_far += 1
        return None if self.broken else Picture(DOT, f"The {what}, in words.", 1, 1)


@dataclass
class Party:
    """A fake Discord, the store at `path`, and whatever process of ours is on line."""

    fake: FakeDiscord
    path: Path
    service: Service | None = None
    pictures: Pictures = field(default_factory=Dots)
    code: str = ""

    @property
    def settings(self) -> Settings:
        return read(
            {
                "RAILPOST_DISCORD_TOKEN": self.fake.token,
                "RAILPOST_DISCORD_API": self.fake.api_url,
                "RAILPOST_DISCORD_GATEWAY": self.fake.gateway_url,
            }
        )

    @contextlib.asynccontextmanager
    async def online(self, *, lease: float = 10.0, holdoff: float = 0.0) -> AsyncIterator[Service]:
        """Our service and client, until the block ends; enter again for a restart."""
        with self.fake.attached():
            async with await open_store(self.path) as store:
                self.service = Service(store, holdoff=holdoff)
                before = self.fake.gateway.identified
                run = client.run(self.service, self.settings, self.pictures, lease=lease)
                going = [asyncio.create_task(self.service.run()), asyncio.create_task(run)]
                try:
                    await self.fake.until(lambda: self.fake.gateway.identified > before, "our client")
                    await self.fake.ready()
                    yield self.service
                finally:
                    for task in going:
                        task.cancel()
                    ended = await asyncio.gather(*going, return_exceptions=True)
                assert all(isinstance(each, asyncio.CancelledError) for each in ended), ended

    # -- usual doings ------------------------------------------------------------------------

    async def lobby(self, *others: str, host: str = "Ann", name: str = "Friday") -> Message:
        """A table at which all sit; its lobby card."""
        await self.fake.slash(host, "general", "table new", title="1830", name=name)
        await self.fake.until(lambda: self.fake.offering("general"), "the lobby card")
        card = self.fake.offering("general")[-1]
        self.code = card.text.split("Table ", 1)[1].split(" ", 1)[0]
        for other in others:
            done = await self.fake.click(other, card, "Join")
            assert "You sit" in done.text, done.text
        return card

    async def begun(self, *names: str) -> Channel:
        """A table that is being played, seated in the order of the names; its thread, with a first card."""
        await self.lobby(*names[1:], host=names[0])
        done = await self.fake.slash(names[0], "general", "table start", order=", ".join(names))
        assert "begins" in done.text, done.text
        await self.fake.until(
            lambda: any(each.name.startswith(self.code) for each in self.fake.threads), "the thread"
        )
        await self.card_for(names[0])
        return self.thread

    @property
    def thread(self) -> Channel:
        return next(each for each in reversed(self.fake.threads) if each.name.startswith(self.code))

    @property
    def cards(self) -> list[Message]:
        """The messages of the thread on which something can be pressed."""
        return self.fake.offering(self.thread) if self.fake.threads else []

    async def card_for(self, name: str, *, holding: str = "") -> Message:
        """Wait for the one turn card, and that it is for somebody and shows where the game is."""
        assert self.service is not None
        table = await self.service.find(self.code)
        mention = self.fake.person(name).mention

        def there() -> list[Message]:
            view = self.service.peek(table.id) if self.service else None
            now = f"move {view.seq}\n" if view else ""
            found = [m for m in self.cards if m.text.startswith((mention, f"**{name}**"))]
            return [m for m in found if len(self.cards) == 1 and now in m.text and holding in m.text]

        try:
            await self.fake.until(there, f"a card for {name}")
        except AssertionError:
            shown = [m.text[:300] for m in self.cards]
            raise AssertionError(f"There is no card for {name}, but {shown}.") from None
        return there()[0]

    async def delivered(self) -> None:
        """Wait until nothing waits to be posted."""
        assert self.service is not None
        async with asyncio.timeout(10):
            while True:
                async with self.service.store.read() as unit:
                    if not (await unit.outbox.queue("discord")).pending:
                        return
                await asyncio.sleep(0.01)

    async def play(self, *said: str) -> None:
        """Lines said by `/do`, each `Ann: buy SV`; each has to be done."""
        for each in said:
            name, _, line = each.partition(": ")
            done = await self.do(name, line)
            assert done.text.startswith("Done."), f"{each}: {done.text}"

    async def do(self, name: str, *lines: str) -> Interaction:
        """Say lines by `/do` in the thread."""
        return await self.fake.slash(name, self.thread, "do", line="; ".join(lines))

    async def said(self) -> list[str]:
        """The lines of play."""
        assert self.service is not None
        table = await self.service.find(self.code)
        return [row.line for row in await self.service.log(table.id) if row.kind == "move" and row.live]
