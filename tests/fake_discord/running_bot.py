"""Our service and Discord client, running against the fake Discord with a real store."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlmodel import col, update

import engine
from bot.config import Settings, parse_settings
from bot.discord import client, delivery
from bot.discord.greeting import greeting_key
from bot.hub.people import person_by_discord
from bot.hub.request import Completed
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from engine.game_text.history import GameHistory
from renderers import PaletteName, Picture
from storage import OutboxMessage, Store, open_store
from tests.end_to_end.fork_server import ForkedProcess, ForkServer, environment
from tests.fake_discord.server import Channel, FakeDiscord, Interaction, Message
from tests.tables import started

delivery.LEASE = 600.0  # so that no message is sent twice because the machine is slow

INTERACTION_TASKS = ("discord.py: on_interaction", "CommandTree-invoker")
"""The tasks in which discord.py runs presses, forms and slash commands."""
OPENING = ("bid BO 225", "buy SV", "buy CS", "buy DH", "buy MH", "buy CA")
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)


class OnePixelPictures(PictureWorkers):
    """Pictures of one pixel, for tests that do not look at pictures.

    `fails`: nothing can be drawn. `ink`: makes other bytes, as of another position. `drawn`: the kind and the
    palette of each.
    """

    def __init__(self) -> None:
        super().__init__(1)
        self.fails = False
        self.ink = 0
        self.draw_count = 0
        self.drawn: list[tuple[str, PaletteName]] = []

    async def request(
        self, kind: str, state: engine.State, arguments: tuple[Any, ...], details: dict[str, Any], *_: Any
    ) -> Picture | None:
        self.draw_count += 1
        self.drawn.append((kind, details.get("palette", "light")))
        return None if self.fails else Picture(DOT + bytes(self.ink), f"The {kind}, in words.", 1, 1)


class HangingPictures(OnePixelPictures):
    """Pictures that are drawn when `draws` is set, and not before; all, or those of one kind. waiting: how
    many have not been drawn at once."""

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        self.draws, self.kind, self.waiting = asyncio.Event(), kind, 0

    async def request(self, kind: str, *args: Any, **details: Any) -> Picture | None:
        if self.kind in ("", kind) and not self.draws.is_set():
            self.waiting += 1
            await self.draws.wait()
        return await super().request(kind, *args, **details)


@contextlib.asynccontextmanager
async def bot_process(
    forks: ForkServer,
    fake: FakeDiscord,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    lease: float = 2,
) -> AsyncIterator[ForkedProcess]:
    """The real program with a store in that folder, until the block ends."""
    given = discord_settings(fake) | {"RAILPOST_DATA": str(folder), "RAILPOST_PING_HOLDOFF": "0"}
    process = forks.start(folder, environment(**given, **settings or {}), lease=lease)
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


def discord_settings(fake: FakeDiscord) -> dict[str, str]:
    """The settings with which our client finds the fake Discord."""
    return {
        "RAILPOST_DISCORD_TOKEN": fake.token,
        "RAILPOST_DISCORD_API": fake.api_url,
        "RAILPOST_DISCORD_GATEWAY": fake.gateway_url,
    }


async def expire_leases(store: Store) -> None:
    """What a process that is gone began to send is free for the next one at once."""
    async with store.begin() as unit:
        await unit._transaction.execute(update(OutboxMessage).values(lease_expires_at=None))


@dataclass
class RunningBot:
    """A fake Discord, a store at `path` or `address`, and a service that is online with them.

    greeted: the server has had its greeting, which most tests do not look at.
    """

    fake: FakeDiscord
    path: Path
    service: Service = field(init=False)
    pictures: PictureWorkers = field(default_factory=OnePixelPictures)
    table_code: str = ""
    address: str = ""
    greeted: bool = True

    @property
    def settings(self) -> Settings:
        return parse_settings(discord_settings(self.fake))

    @contextlib.asynccontextmanager
    async def online(self, *, holdoff: float = 0.0) -> AsyncIterator[Service]:
        """Run the service and the client until the block ends; enter again for a restart."""
        await self.expire_leases()
        with self.fake.attached():
            async with await open_store(self.address or self.path) as store:
                if self.greeted:
                    async with store.begin() as unit:
                        for guild in self.fake.guilds:
                            await unit.settings.set(greeting_key(guild), "yes")
                self.service = Service(store, ping_holdoff=holdoff)
                before = self.fake.gateway.identified
                run = client.run(self.service, self.settings, self.pictures)
                tasks = [asyncio.create_task(self.service.run()), asyncio.create_task(run)]
                try:
                    await self.fake.wait_until(lambda: self.fake.gateway.identified > before, "our client")
                    await self.fake.wait_ready()
                    yield self.service
                finally:
                    for task in tasks:
                        task.cancel()
                    ended = await asyncio.gather(*tasks, return_exceptions=True)
                assert all(isinstance(each, asyncio.CancelledError) for each in ended), ended

    # -- common steps ------------------------------------------------------------------------

    async def open_table(self, *others: str, host: str = "Ann", name: str = "Friday") -> Message:
        """Open a table and let all players join; returns its lobby card."""
        await self.fake.run_command(host, "general", "table new", title="1830", name=name)
        await self.fake.wait_until(lambda: self.fake.messages_with_controls("general"), "the lobby card")
        card = self.fake.messages_with_controls("general")[-1]
        self.table_code = card.text.split("Table ", 1)[1].split(" ", 1)[0]
        for other in others:
            done = await self.fake.click(other, card, "Join")
            assert "You have joined" in done.text, done.text
        return card

    async def start_game(self, *names: str, title: str = "1830") -> Channel:
        """A game in the channel `general`, whose players sit in the order of the names; returns its thread.

        The first is the host. It begins without the commands and presses of its lobby.
        """
        people = {name: await self.person(name) for name in names}
        place = {"guild": self.fake.guild_id, "channel": self.fake.find_channel("general").id}
        lobby = Service(
            self.service.store, ping_holdoff=self.service.cache.ping_holdoff
        )  # which wakes nobody
        self.table_code = (await started(lobby, people, title, name="Friday", location=place)).code
        self.service.wake_subscribers()
        await self.fake.wait_until(
            lambda: any(each.name.startswith(self.table_code) for each in self.fake.threads), "the thread"
        )
        await self.wait_for_card(names[0])
        return self.thread

    async def begin_with(self, history: GameHistory, *, in_thread: bool = False) -> int:
        """While the bot is offline: a table at which this game goes on, in the channel `general` or in a
        thread there; its id. Its players are the users of their names."""
        channel = self.fake.find_channel("general")
        async with await open_store(self.address or self.path) as store:
            place = {"guild": channel.guild_id, "channel": channel.id, "thread": channel.id}
            lobby = Service(store).lobby
            table = await lobby.import_game(history, name="Friday", location=place)
            async with store.begin() as unit:
                for player in table.seated_players:
                    user = self.fake.find_user(player.name).id
                    await unit.people.add_identity(player.person_id, "discord", str(user))
            if in_thread:
                thread = await self.fake.open_thread(channel, {"name": table.code})
                await lobby.set_location(table.id, {"thread": thread.id})
        self.table_code = table.code
        return table.id

    @property
    def thread(self) -> Channel:
        return next(each for each in reversed(self.fake.threads) if each.name.startswith(self.table_code))

    @property
    def cards(self) -> list[Message]:
        """The messages of the thread that have controls."""
        return self.fake.messages_with_controls(self.thread) if self.fake.threads else []

    @property
    def votes(self) -> list[Message]:
        """The cards that ask for a vote."""
        return [each for each in self.cards if "Accept" in [c.label for c in self.fake.controls(each)]]

    async def wait_for_card(self, name: str, *, holding: str = "") -> Message:
        """Wait until the only card is that player's and shows the current position; returns it."""
        table = await self.service.queries.find_table(self.table_code)
        mention = self.fake.find_user(name).mention
        await self.service.queries.view(table.id)  # right after a start the table is not in memory

        def there() -> list[Message]:
            view = self.service.queries.peek(table.id)
            if view is None:
                return []
            now = f"move {view.seq}\n"
            found = [m for m in self.cards if m.text.startswith((mention, f"**{name}**"))]
            return [m for m in found if len(self.cards) == 1 and now in m.text and holding in m.text]

        try:
            await self.fake.wait_until(there, f"a card for {name}")
        except AssertionError:
            shown = [m.text[:300] for m in self.cards]
            raise AssertionError(f"There is no card for {name}; there are {shown}.") from None
        return there()[0]

    async def wait_for_delivery(self) -> None:
        """Wait until every press is carried out, which is acknowledged before, and the outbox is empty."""
        async with asyncio.timeout(self.fake.default_timeout):
            while True:
                is_busy = any(task.get_name() in INTERACTION_TASKS for task in asyncio.all_tasks())
                async with self.service.store.read() as unit:
                    pending = (await unit.outbox.queue_status("discord")).pending
                if not is_busy and not pending:
                    return
                await asyncio.sleep(0.01)

    async def wait_for_cards(self) -> None:
        """Wait until everything that is due is sent and the cards show the current position."""
        service = self.service
        table = (await service.queries.find_table(self.table_code)).id
        async with asyncio.timeout(self.fake.default_timeout):
            while True:
                async with service.store.read() as unit:
                    due_at = await unit.outbox.next_due_at("discord")
                    is_due = due_at is not None and due_at <= unit.now
                view = service.queries.peek(table)
                shows_it = view and any(f"move {view.seq}\n" in card.text for card in self.cards)
                if not is_due and (shows_it or (view and view.table.status != "running")):
                    return
                await asyncio.sleep(0.01)

    def hold_pings(self, seconds: float) -> None:
        """From now on notifications wait so long."""
        self.service.cache.ping_holdoff = seconds

    async def expire_leases(self) -> None:
        """Between two runs: what the first began to send is free for the second at once."""
        async with await open_store(self.address or self.path) as store:
            await expire_leases(store)

    async def end_hold_off(self) -> None:
        """What is held back is due now."""
        async with self.service.store.begin() as unit:
            pending = update(OutboxMessage).where(col(OutboxMessage.status) == "pending")
            await unit._transaction.execute(pending.values(not_before=unit.now))
        self.service.wake_subscribers()

    async def person(self, name: str) -> int:
        """The id of the person of a user."""
        async with self.service.store.begin() as unit:
            return (await person_by_discord(unit, self.fake.find_user(name).id, name)).id

    async def table_id(self) -> int:
        return (await self.service.queries.find_table(self.table_code)).id

    async def submit(self, seat: int, line: str) -> None:
        """Play a line without Discord; it must be accepted."""
        done = await self.service.submit(await self.table_id(), seat, [line], None, None)
        assert isinstance(done, Completed), done

    async def play_lines(self, *lines: str) -> None:
        """Submit lines with `/do`, each as `Ann: buy SV`; every line must be accepted."""
        for each in lines:
            name, _, line = each.partition(": ")
            done = await self.submit_lines(name, line)
            assert done.text.startswith("Done."), f"{each}: {done.text}"

    async def play_opening(self) -> None:
        """Sell the privates to three players without Discord: Ann has the B&O, and is asked for its par."""
        for number, line in enumerate(OPENING):
            await self.submit(number % 3, line)
        await self.wait_for_delivery()  # a turn that is still to be sent would replace the card
        await self.wait_for_card("Ann")

    async def submit_lines(self, name: str, *lines: str) -> Interaction:
        """Submit lines with `/do` in the thread."""
        return await self.fake.run_command(name, self.thread, "do", line="; ".join(lines))

    async def played_lines(self) -> list[str]:
        """The lines that were played and not undone."""
        table = await self.service.queries.find_table(self.table_code)
        return [
            row.line for row in await self.service.queries.log(table.id) if row.kind == "move" and row.is_live
        ]
