"""kill -9 of the service between a commit and the sending: nothing is lost, nothing is sent twice.

A real process with the fake Discord, an IMAP and an SMTP server. Ann plays on Discord, Bob by email. The
first process dies at a point that the test names; another one takes over, and the game continues. A player
whose click got no answer looks at the card, and presses again if nothing has happened.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from bot.service import people
from bot.service.live_table import TableView
from bot.service.service import Service
from storage import open_store
from tests.end_to_end.fork_server import ForkedProcess, ForkServer
from tests.end_to_end.mail_players import (
    ADDRESS,
    MailHarness,
    MailPlayer,
    asks,
    headline,
    settings_for,
)
from tests.fake_discord.server import FakeDiscord, Message
from tests.mail.servers import Delivery, Mailbox, SmtpCatcher, pymap_server, smtp_server
from tests.terminal.conftest import environment

LINES = ["buy SV", "bid MH 115", "pass", "buy CS", "buy DH"]
soaked = partial(pytest.param, marks=pytest.mark.soak)
POINTS = [
    "bot.email.gateway:MailGateway.record_arrival after 1",
    soaked("bot.email.gateway:MailGateway.play before 1"),
    "bot.email.gateway:MailGateway.play after 1",
    soaked("bot.email.gateway:MailGateway.record_outcome after 1"),
    "mail.imap:ImapConnection.move after 1",
    "bot.email.delivery:StoredMailOutbox._compose before 2",
    soaked("bot.email.delivery:StoredMailOutbox._compose after 2"),
    "bot.email.delivery:StoredMailOutbox.mark_sent before 2",
    "bot.service.service:Service.submit after 1",
    soaked("bot.discord.delivery:DiscordDelivery._send_message before 2"),
    "bot.discord.delivery:DiscordDelivery._send_message after 2",
]


@dataclass
class CrashHarness:
    """IMAP and SMTP servers, a fake Discord, a store with a started game, and the process that runs."""

    folder: Path
    fake: FakeDiscord
    mailbox: Mailbox
    smtp: SmtpCatcher
    office: MailHarness
    table: int
    forks: ForkServer
    process: ForkedProcess | None = None
    deaths: int = 0
    log: list[bytes] = field(default_factory=list)

    def start(self, kill: str = "") -> None:
        """Our process, connected; it kills itself at `kill`."""
        settings = environment(
            RAILPOST_DATA=str(self.folder),
            RAILPOST_PING_HOLDOFF="0",
            RAILPOST_PICTURE_WORKERS="1",
            RAILPOST_MAIL_IDLE="5",  # how soon mail is noticed is not tried here
            RAILPOST_DISCORD_TOKEN=self.fake.token,
            RAILPOST_DISCORD_API=self.fake.api_url,
            RAILPOST_DISCORD_GATEWAY=self.fake.gateway_url,
            RAILPOST_IMAP=f"imap://{self.mailbox.user}:{self.mailbox.password}@127.0.0.1:{self.mailbox.port}",
            RAILPOST_SMTP=f"smtp://127.0.0.1:{self.smtp.port}",
            RAILPOST_MAIL_ADDRESS=ADDRESS,
        )
        self.process = self.forks.start(self.folder, settings, kill)

    def revived(self) -> None:
        """Start a new process after the last one died."""
        if self.process is not None and self.process.returncode is not None:
            assert self.process.returncode == -9, (self.folder / "out.txt").read_text()
            self.deaths += 1
            self.start()

    async def view(self) -> TableView:
        """The table in the store, read from outside the process."""
        return await Service(self.office.store).queries.view(self.table)

    async def lines(self) -> list[str]:
        """The lines that were played and not undone."""
        rows = await Service(self.office.store).queries.log(self.table)
        return [row.line for row in rows if row.kind == "move" and row.is_live]

    async def until(self, moves: int, seconds: float = 60.0) -> None:
        """Wait for a number of moves, with restarts of a killed process."""
        async with asyncio.timeout(seconds):
            while len(await self.lines()) < moves:
                self.revived()
                await asyncio.sleep(0.05)

    def card(self) -> Message | None:
        """Ann's card, if it has the current decision."""
        for thread in self.fake.threads:
            found = [m for m in self.fake.messages_with_controls(thread, "Ann") if m.visible_to is None]
            if found:
                return found[-1]
        return None

    async def pressed(self, label: str, moves: int) -> None:
        """Ann presses a button, again if it had no effect."""
        async with asyncio.timeout(90):
            while len(await self.lines()) < moves:
                self.revived()
                card = self.card()
                if card and label in [c.label for c in self.fake.controls(card)]:
                    await self.fake.click("Ann", card, label)
                await asyncio.sleep(0.2)

    async def asked(self, bob: MailPlayer, moves: int) -> Delivery:
        """The email that asks Bob to act after this number of moves; he acts after every second move.

        His last email may still be an earlier one, to which he has replied, or a receipt.
        """
        async with asyncio.timeout(90):
            while True:
                asking = {each.message["Message-ID"]: each for each in bob.inbox if asks(each, "Bob")}
                if len(await self.lines()) == moves and len(asking) == (moves + 1) // 2:
                    return list(asking.values())[-1]
                self.revived()
                await asyncio.sleep(0.05)


@asynccontextmanager
async def site(folder: Path, forks: ForkServer, address: str = "") -> AsyncIterator[CrashHarness]:
    """Everything except the process. address: of the store, if it is not in the folder."""
    async with FakeDiscord(["Ann"]) as fake, pymap_server() as mailbox, smtp_server() as smtp:
        fake.default_timeout = 1.0
        async with await open_store(address or folder / "railpost.db") as store:
            service = Service(store)
            office = MailHarness(service, store, settings_for(folder, mailbox, smtp), mailbox, smtp)
            async with store.begin() as unit:
                ann = await people.person_by_discord(unit, fake.find_user("Ann").id, "Ann")
            bob = await office.person("Bob")
            place = {"guild": fake.guild_id, "channel": next(iter(fake.channels))}
            table = await service.lobby.create("1830", ann.id, name="Friday", location=place)
            await service.lobby.join(table.id, ann.id, "Ann")
            await service.lobby.join(table.id, bob.id, "Bob")
            await service.lobby.start(table.id, by=ann.id, order=("Ann", "Bob"))
            found = CrashHarness(folder, fake, mailbox, smtp, office, table.id, forks)
            try:
                yield found
            finally:
                if found.process:
                    found.process.kill()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("point", POINTS)
async def test_killed(tmp_path: Path, forks: ForkServer, point: str) -> None:
    async with site(tmp_path, forks) as here:
        bob = here.office.player("Bob")
        here.start(point)
        await here.pressed("Buy the SV for $20", 1)
        await bob.reply("bid MH 115", to=await here.asked(bob, 1))
        await here.until(2)
        await here.pressed("Pass", 3)
        await bob.reply("buy CS", to=await here.asked(bob, 3))
        await here.until(4)
        await here.pressed("Buy the DH for $70", 5)
        await here.asked(bob, 5)
        await quiet(here)
        assert here.deaths == 1, "the process did not die where it should"
        assert await here.lines() == LINES
        await assert_sent_once(here, bob)


async def quiet(here: CrashHarness) -> None:
    """Wait until nothing is left to send or read."""
    async with asyncio.timeout(60):
        while True:
            here.revived()
            async with here.office.store.read() as unit:
                waiting = [
                    (await unit.outbox.queue_status("mail")).pending,
                    (await unit.outbox.queue_status("discord")).pending,
                ]
            if waiting == [0, 0] and not await here.mailbox.count("INBOX"):
                return
            await asyncio.sleep(0.1)


async def assert_sent_once(here: CrashHarness, bob: MailPlayer) -> None:
    """Every email was sent with the same bytes each time, and none is missing."""
    by_id: dict[str, set[bytes]] = {}
    for letter in bob.inbox:
        by_id.setdefault(str(letter.message["Message-ID"]), set()).add(letter.raw)
    assert all(len(copies) == 1 for copies in by_id.values()), "the same letter differs from itself"
    first = {str(letter.message["Message-ID"]): headline(letter) for letter in bob.inbox}
    assert Counter(first.values()) == {
        "The game begins.": 1,
        "It is your turn, Bob.": 3,
        "OK: all lines were carried out.": 2,
    }
    assert len(bob.inbox) <= len(by_id) + here.deaths, "a letter was handed in again without need"
    assert await here.mailbox.count("Processed") == 2
    async with here.office.store.read() as unit:
        assert (
            (await unit.outbox.queue_status("mail")).dead
            == (await unit.outbox.queue_status("discord")).dead
            == 0
        )
    assert len(here.fake.threads) == 1
    # What was pressed when the process died; and a process that has only begun may take Discord's whole time.
    here.fake.check_violations(ack=3.0, ignoring=["was acknowledged never"])
