"""A service with mail, and players who use only their mail programs.

async with served(tmp_path) as office:
    ann = await office.player("Ann")
    table = await office.table("1830", ["Ann", "Bob"])
    turn = await ann.email()               # the next email to Ann, in order
    await ann.reply("buy SV")               # to the newest email with a reply address
    receipt = await ann.email()
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import parseaddr
from pathlib import Path
from types import MappingProxyType
from unittest.mock import patch

from bot.config import Settings, parse_settings
from bot.email import delivery
from bot.email.pages import refusal_pages
from bot.email.replies.reply_limits import ReplyLimits
from bot.hub import people
from bot.hub.info import TableInfo
from bot.hub.people import PrivacySettings
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from mail.inbox import InboxTiming
from mail.reading.parser_process import ParserProcess
from storage import Person, Store, open_store
from tests.fake_discord.running_bot import OnePixelPictures
from tests.mail.servers import Delivery, Mailbox, SmtpCatcher, pymap_server, smtp_server
from tests.tables import started

ADDRESS = "play@games.test"
QUICK = delivery.MailTiming(
    limits=ReplyLimits(replies_per_hour=10**6, breaker_replies=10**6),
    inbox=InboxTiming(
        command_timeout=60.0, idle_timeout=5.0, failed_mail_retry=0.1, first_reconnect=0.02, max_reconnect=0.2
    ),
    poll=0.5,
    spacing=0.0,
    lease=timedelta(minutes=10),
)

Server = Callable[[], AbstractAsyncContextManager[Mailbox]]


def settings_for(
    data: Path, mailbox: Mailbox, player: SmtpCatcher, environment: Mapping[str, str] = MappingProxyType({})
) -> Settings:
    """Settings as an operator would write them."""
    return parse_settings(
        {
            "RAILPOST_DATA": str(data),
            "RAILPOST_IMAP": f"imap://{mailbox.user}:{mailbox.password}@127.0.0.1:{mailbox.port}",
            "RAILPOST_SMTP": f"smtp://127.0.0.1:{player.port}",
            "RAILPOST_MAIL_ADDRESS": ADDRESS,
        }
        | dict(environment)
    )


@dataclass
class MailPlayer:
    """A player with their mail program. Emails are read in order, one by one.

    stale: how often they answered an email that a move had overtaken.
    """

    name: str
    address: str
    office: MailHarness
    read: int = 0
    stale: int = 0
    _emails: list[Delivery] = field(default_factory=list)
    _seen: int = 0
    _serial: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def inbox(self) -> list[Delivery]:
        """All emails that the player has received."""
        everybody = self.office.player_server.emails
        self._emails += [each for each in everybody[self._seen :] if self.address in each.recipients]
        self._seen = len(everybody)
        return self._emails

    async def email(self, seconds: float = 120.0) -> Delivery:
        """The next email."""
        try:
            async with asyncio.timeout(seconds):
                while len(self.inbox) <= self.read:  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
        except TimeoutError:
            headlines = [headline(email) for email in self.inbox]
            raise AssertionError(f"no further email to {self.name}; so far: {headlines}") from None
        self.read += 1
        return self.inbox[self.read - 1]

    async def quiet(self, seconds: float = 0.4) -> None:
        """Check that no email arrives."""
        await asyncio.sleep(seconds)
        assert len(self.inbox) == self.read, headline(self.inbox[self.read])

    def written(
        self,
        to: Delivery,
        *lines: str,
        sender: str | None = None,
        message_id: str | None = None,
        subject: str | None = None,
        quotes: bool = True,
        token: bool = True,
    ) -> bytes:
        """A reply as a mail program writes it, with the quoted email below."""
        original = to.message
        reply = EmailMessage(policy=SMTP)
        reply["From"] = sender or f"{self.name} <{self.address}>"
        reply["To"] = original["Reply-To"] if token else ADDRESS
        reply["Subject"] = subject or "Re: " + original["Subject"].removeprefix("Re: ")
        reply["Message-ID"] = message_id or f"<{next(self._serial)}.{self.address}>"
        if token:
            reply["In-Reply-To"] = original["Message-ID"]
            reply["References"] = f"{original['References'] or ''} {original['Message-ID']}".strip()
        body = "\n".join(lines)
        if quotes:
            quoted = "\n".join(f"> {line}" for line in to.text.splitlines())
            body += f"\n\nOn Friday the post office wrote:\n{quoted}"
        reply.set_content(body + "\n")
        return reply.as_bytes()

    async def reply(self, *lines: str, to: Delivery | None = None) -> None:
        """Reply to an email, by default to the last one read."""
        await self.office.mail(self.written(to or self.inbox[self.read - 1], *lines), sender=self.address)

    async def until_asked(self) -> None:
        """Read on until the newest email asks the player to act."""
        while not asks(self.inbox[-1], self.name):
            self.read = len(self.inbox)
            await self.email()
        self.read = len(self.inbox)

    async def answered(self, *lines: str, to: Delivery | None = None) -> Delivery:
        """Reply, to the newest email unless `to` is another, and read on until the receipt."""
        raw = self.written(to or self.inbox[-1], *lines)
        await self.office.mail(raw, sender=self.address)
        message_id = message_from_bytes(raw)["Message-ID"]
        while (email := await self.email()).message["In-Reply-To"] != message_id:
            pass
        return email

    async def answered_in_time(self, *lines: str) -> Delivery:
        """Reply; once more to the newest email where a move has overtaken the one that was answered. What has
        to be confirmed is confirmed."""
        for _ in range(3):
            receipt = await self.answered(*lines)
            if headline(receipt) != "NOT DONE: the game has moved on.":
                break
            self.stale += 1
        if headline(receipt) == refusal_pages.confirm_lines(lines, "", "").headline:
            return await self.answered(*copied(receipt, "To confirm, reply with"))
        return receipt

    async def said(self, *lines: str, to: Delivery | None = None) -> Delivery:
        """Reply and read the receipt, before any other email that the reply has brought."""
        raw = self.written(to or self.inbox[self.read - 1], *lines)
        await self.office.mail(raw, sender=self.address)
        message_id, after = message_from_bytes(raw)["Message-ID"], self.read
        while (receipt := await self.email()).message["In-Reply-To"] != message_id:
            pass
        self.inbox.insert(after, self.inbox.pop(self.read - 1))
        self.read = after + 1
        return receipt


@dataclass
class MailHarness:
    """A service with mail, and the IMAP and SMTP servers."""

    service: Service
    store: Store
    settings: Settings
    mailbox: Mailbox
    player_server: SmtpCatcher
    task: asyncio.Task[None] | None = None

    async def person(self, name: str, address: str | None = None) -> Person:
        """A person with a verified address."""
        async with self.store.begin() as unit:
            found = await people.person_by_address(unit, address or f"{name.lower()}@player.test", name)
            await unit.people.add_identity(found.id, "email", address or f"{name.lower()}@player.test")
        return found

    def player(self, name: str) -> MailPlayer:
        """The player's mail program."""
        return MailPlayer(name, f"{name.lower().replace(' ', '-')}@player.test", self)

    async def table(
        self, title: str, names: Sequence[str], options: Sequence[str] | None = None
    ) -> TableInfo:
        """A started game of players by email; the first is the host."""
        people = {name: (await self.person(name)).id for name in names}
        return await started(self.service, people, title, name="Friday", options=options)

    async def mail(self, raw: bytes, sender: str = "ann@player.test") -> None:
        """Deliver an email to the mailbox, by LMTP if the server has it."""
        if self.mailbox.lmtp is None:
            await self.mailbox.put(raw)
        else:
            to = message_from_bytes(raw)["To"]
            await self.mailbox.deliver(raw, parseaddr(to)[1], sender=sender)

    async def lines(self, table: TableInfo) -> list[str]:
        """The lines that were played and not undone."""
        return [
            row.line for row in await self.service.queries.log(table.id) if row.kind == "move" and row.is_live
        ]

    async def settled(self, count: int, folder: str = "Processed") -> None:
        """Wait until a folder has this many emails."""
        await self.mailbox.until(folder, count)


@asynccontextmanager
async def served(
    data: Path,
    server: Server = pymap_server,
    timing: delivery.MailTiming = QUICK,
    pictures: PictureWorkers | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    login: tuple[str, str] | None = None,
    address: str = "",
) -> AsyncIterator[MailHarness]:
    """The service with mail in this process; the mail channel must not end by itself.

    login: what the SMTP server asks for. address: of the store; else it is a file among the data.

    Pictures have one pixel unless `pictures` are given.
    """
    async with server() as mailbox, smtp_server(login=login) as player:
        if login:
            smtp = f"smtp://{login[0]}:{login[1]}@127.0.0.1:{player.port}"
            environment = {**environment, "RAILPOST_SMTP": smtp}
        settings = settings_for(data, mailbox, player, environment)
        async with await open_store(address or settings.data / "railpost.db") as store:
            privacy = PrivacySettings(settings.privacy_url or "", data=settings.data, has_mailbox=True)
            service = Service(store, privacy=privacy)
            office = MailHarness(service, store, settings, mailbox, player)
            with pictures or OnePixelPictures() as drawing:
                async with attached(office, drawing, timing):
                    yield office


class KeptParser(ParserProcess):
    """A parser for many tests, one after the other: its process remembers nothing of a mail."""

    async def __aexit__(self, *_: object) -> None:
        pass


kept_parser = functools.cache(KeptParser)


@asynccontextmanager
async def attached(
    office: MailHarness, pictures: PictureWorkers, timing: delivery.MailTiming = QUICK
) -> AsyncIterator[None]:
    """Run the mail channel until the block ends."""
    run = delivery.run(office.service, office.settings, pictures, timing=timing)
    with patch.object(delivery, "ParserProcess", kept_parser):
        task = asyncio.create_task(run)
        try:
            yield
            assert not task.done(), task
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def headline(email: Delivery) -> str:
    """The first sentence of an email, after the delimiter."""
    return next(line for line in email.text.splitlines()[1:] if line.strip())


def asks(email: Delivery, name: str) -> bool:
    """Whether an email asks its reader to act, or to answer in advance."""
    text = email.text
    named = re.search(rf"\b{name}\b(?:(?:, | and )[\w ]+)* to act: ", text)
    starts = "You to act: ", "You may answer in advance: ", "Please answer: ", "Next, for example"
    return bool(named) or any(each in text for each in (*starts, f"{name} is asked "))


def copied(email: Delivery, title: str) -> list[str]:
    """The lines in the block of an email with that title."""
    text = "\n".join(email.text.splitlines())
    _, found, rest = text.partition(f"{title}\n")
    assert found, f"no {title!r} in:\n{text}"
    block = re.split(r"\n\n", rest.lstrip("\n"), maxsplit=1)[0]
    return [line for line in block.splitlines() if line.strip()]
