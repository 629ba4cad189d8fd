"""A service by mail without servers: emails are handed to its policy, and taken from its outbox.

async with mail_desk(folder, pictures) as desk:
    table = await desk.table("1830", ["Ann", "Bob"])
    await desk.take()                # send what is due
    await desk.write("Ann", "buy SV")  # she replies to her newest email
    desk.newest["ann@player.test"].text
    await desk.arrive(reply(desk.newest["ann@player.test"], "pass"))  # the bytes of a reply, as you like them
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from hashlib import sha256
from pathlib import Path

import pytest

from bot.email.delivery import StoredMailOutbox
from bot.email.policy import MailPolicy
from bot.email.reachability import Correspondents
from bot.email.replies.reply_limits import ReplyLimits
from bot.email.stored_mail import InboundMail
from bot.email.tokens import TokenLookup
from bot.hub.people import person_by_address
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from mail.composing.compose import OutgoingMail
from mail.inbox import MailOutcome
from mail.reading.parser import parse_mail
from mail.reply_address import ReplyToken, ServiceAddress
from storage import open_store
from tests.mail.servers import Delivery
from tests.tables import started

KEY = b"k" * 32
ADDRESS = "play@games.test"
POST = ServiceAddress(ADDRESS, KEY)
ANN, BOB = "ann@player.test", "bob@player.test"
UNLIMITED = ReplyLimits(10**6, breaker_replies=10**6)


def alerts(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the operator was told."""
    return [each.getMessage() for each in caplog.records if each.name == "for the operator"]


def reply(
    answered: OutgoingMail | Delivery,
    text: str,
    *,
    sender: str = f"Ann Lee <{ANN}>",
    message_id: str = "<reply-1@player.test>",
    to: str | None = None,
    extra: str = "",
    subject: str = "Re: [Friday] Your turn",
) -> bytes:
    """A player's answer to an email of ours, as a plain mailer writes it; `to` defaults to its Reply-To."""
    original = message_from_bytes(answered.raw)
    head = (
        f"From: {sender}\nTo: {original['Reply-To'] if to is None else to}\nSubject: {subject}\n"
        f"Message-ID: {message_id}\n"
        f"In-Reply-To: {original['Message-ID']}\nReferences: {original['Message-ID']}\n"
        f"Date: Fri, 20 Nov 2026 09:00:00 +0100\n{extra}"
        'MIME-Version: 1.0\nContent-Type: text/plain; charset="utf-8"\nContent-Transfer-Encoding: 8bit\n'
    )
    return f"{head}\n{text}\n".replace("\n", "\r\n").encode()


@dataclass
class MailDesk:
    """A service by mail without servers: emails are handed to its policy, and taken from its outbox."""

    service: Service
    outbox: StoredMailOutbox
    arrivals: InboundMail
    people: Correspondents
    policy: MailPolicy
    clock: list[datetime] = field(default_factory=list)
    emails: list[Delivery] = field(default_factory=list)
    newest: dict[str, Delivery] = field(default_factory=dict)
    serial: int = 0

    async def person(self, name: str, *others: str) -> int:
        """The id of a person with an address of their name, and with others."""
        address = f"{name.lower()}@player.test"
        async with self.service.store.begin() as unit:
            found = await person_by_address(unit, address, name)
            for each in (address, *others):
                await unit.people.add_identity(found.id, "email", each)
        return found.id

    async def table(self, title: str, names: Sequence[str], name: str = "Friday") -> int:
        """The id of a running table; the first is its host."""
        people = {each: await self.person(each) for each in names}
        return (await started(self.service, people, title, name=name)).id

    async def take(self) -> list[Delivery]:
        """Send what is due; returns it."""
        sent = []
        while due := (await self.outbox.lease_due(20)).mails:
            for mail in due:
                await self.outbox.mark_sent(mail)
                sent.append(Delivery(mail.envelope_sender, (mail.recipient,), mail.raw))
                self.newest[mail.recipient] = sent[-1]
        self.emails += sent
        return sent

    def asking(self, address: str) -> Delivery:
        """The newest email that asks the owner of an address to act."""
        to_them = (each for each in reversed(self.emails) if each.recipients == (address,))
        return next(each for each in to_them if "Your turn" in each.message["Subject"])

    async def write(
        self,
        name: str,
        *lines: str,
        to: str | None = None,
        sender: str = "",
        subject: str = "",
        original: Delivery | str = "",
        take: bool = True,
    ) -> MailOutcome:
        """A player replies to their newest email, or writes to `to`.

        original: another email, or whose newest. take: send what is due afterwards.
        """
        address = f"{name.lower()}@player.test"
        if isinstance(original, Delivery):
            sender = sender or str(original.message["To"])
        else:
            sender = sender or original
        mail = EmailMessage(policy=SMTP)
        self.serial += 1
        mail["From"] = f"{name} <{sender or address}>"
        mail["Message-ID"] = f"<{self.serial}@player.test>"
        if to is None:
            answered = original if isinstance(original, Delivery) else self.newest[original or address]
            mail["To"], mail["In-Reply-To"] = answered.message["Reply-To"], answered.message["Message-ID"]
            mail["Subject"] = "Re: " + answered.message["Subject"]
        else:
            mail["To"], mail["Subject"] = to, subject
        mail.set_content("\n".join(lines) + "\n")
        outcome = await self.arrive(mail.as_bytes())
        if take:
            await self.take()
        return outcome

    async def answered(self, email: Delivery, *lines: str) -> Delivery:
        """Its reader replies to an email of ours; the receipt."""
        await self.write(email.recipients[0].partition("@")[0], *lines, original=email)
        answered = f"<{self.serial}@player.test>"
        return next(each for each in self.emails if each.message["In-Reply-To"] == answered)

    async def arrive(self, raw: bytes, authserv_id: str = "") -> MailOutcome:
        """What the inbox does with a mail, without a mailbox. What is sent waits for `take`."""
        digest = sha256(raw).hexdigest()
        arrival = await self.arrivals.record_arrival(digest, raw)
        if arrival.folder:
            return MailOutcome("known", arrival.folder)
        mail = replace(parse_mail(raw, authserv_id), is_repeated=arrival.attempts > 1)
        outcome = await self.policy.handle(mail)
        await self.arrivals.record_outcome(digest, outcome)
        return outcome

    async def tokens(self, *texts: str) -> list[ReplyToken]:
        """What the tokens in texts stand for, such as in the Reply-To of an email."""
        return await TokenLookup(self.service, POST).find(POST.find_tokens(texts))

    async def begun(self, *names: str) -> Delivery:
        """A game of 1830 between Ann and Bob, or others; returns the email that asks the first."""
        await self.table("1830", names or ("Ann", "Bob"))
        await self.take()
        return self.newest[f"{(names or ('Ann',))[0].lower()}@player.test"]

    async def played(self) -> list[str]:
        """The lines that were played at all tables and not undone."""
        tables = await self.service.queries.list_tables()
        rows = [row for table in tables for row in await self.service.queries.log(table.id)]
        return [row.line for row in rows if row.kind == "move" and row.is_live]


def desk_of(
    service: Service,
    folder: Path,
    pictures: PictureWorkers,
    limits: ReplyLimits = UNLIMITED,
    address: ServiceAddress = POST,
) -> MailDesk:
    """A desk of a service; hosts may be anyone."""
    arrivals, people = InboundMail(service, folder / "mails"), Correspondents(service)
    outbox = StoredMailOutbox(service, people, address, pictures)
    policy = MailPolicy(service, pictures, address, people, KEY, hosts="anyone", limits=limits)
    return MailDesk(service, outbox, arrivals, people, policy)


@asynccontextmanager
async def mail_desk(
    folder: Path,
    pictures: PictureWorkers,
    limits: ReplyLimits = UNLIMITED,
    address: ServiceAddress = POST,
) -> AsyncIterator[MailDesk]:
    """A desk on a store of its own, at noon."""
    clock = [datetime(2026, 6, 1, 12, tzinfo=UTC)]
    async with await open_store(folder / "railpost.db", now=lambda: clock[0]) as store:
        service = Service(store, ping_holdoff=0)
        desk = desk_of(service, folder, pictures, limits, address)
        desk.clock = clock
        yield desk
