"""A table with Ann on Discord and Bob by email, its servers, and the settings of a process that serves it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.hub import people
from bot.hub.table import TableView
from bot.service import Service
from storage import open_store
from tests.end_to_end.fork_server import environment
from tests.end_to_end.mail_players import ADDRESS, MailHarness, settings_for
from tests.fake_discord.server import FakeDiscord
from tests.mail.servers import Mailbox, SmtpCatcher, pymap_server, smtp_server
from tests.tables import started


@dataclass
class Site:
    """A store with a started game of 1830, a fake Discord, an IMAP and an SMTP server."""

    folder: Path
    fake: FakeDiscord
    mailbox: Mailbox
    smtp: SmtpCatcher
    office: MailHarness
    table: int

    def settings(self, **more: str) -> dict[str, str]:
        """The settings of a process at this site."""
        return environment(
            RAILPOST_DATA=str(self.folder),
            RAILPOST_PING_HOLDOFF="0",
            RAILPOST_DISCORD_TOKEN=self.fake.token,
            RAILPOST_DISCORD_API=self.fake.api_url,
            RAILPOST_DISCORD_GATEWAY=self.fake.gateway_url,
            RAILPOST_IMAP=f"imap://{self.mailbox.user}:{self.mailbox.password}@127.0.0.1:{self.mailbox.port}",
            RAILPOST_SMTP=f"smtp://127.0.0.1:{self.smtp.port}",
            RAILPOST_MAIL_ADDRESS=ADDRESS,
            RAILPOST_MAIL_ANSWERS_PER_HOUR="10000",
            **more,
        )

    async def view(self) -> TableView:
        """The table in the store, read by nobody's cache."""
        return await Service(self.office.store).queries.view(self.table)

    async def is_quiet(self) -> bool:
        """Whether nothing is left to send or read."""
        async with self.office.store.read() as unit:
            waiting = [(await unit.outbox.queue_status(each)).pending for each in ("mail", "discord")]
        return waiting == [0, 0] and not await self.mailbox.count("INBOX")


@asynccontextmanager
async def site(folder: Path, address: str = "") -> AsyncIterator[Site]:
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
            seated = {"Ann": ann.id, "Bob": bob.id}
            table = await started(service, seated, name="Friday", location=place)
            yield Site(folder, fake, mailbox, smtp, office, table.id)
