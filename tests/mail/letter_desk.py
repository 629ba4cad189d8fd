"""A service by mail without servers: emails are handed to its policy, and taken from its outbox.

async with letter_desk(folder, pictures) as desk:
    table = await desk.table("1830", ["Ann", "Bob"])
    await desk.take("turn")                   # send what is due
    await desk.write("done", "Ann", "buy SV")  # Ann replies to her newest email
    desk.newest["ann@player.test"].text
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import SMTP, default
from hashlib import sha256
from pathlib import Path

from bot.email.delivery import StoredMailOutbox
from bot.email.policy import MailGateway, MailPolicy
from bot.email.replies.reply_limits import ReplyLimits
from bot.hub import people
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from mail import ServiceAddress
from mail.inbox import MailOutcome
from mail.reading.parser import parse_mail
from storage import open_store

KEY = b"k" * 32
ADDRESS = "play@games.test"
UNLIMITED = ReplyLimits(10**6, breaker_replies=10**6)


@dataclass
class SentLetter:
    """An email and what it is an example of."""

    kind: str
    message: EmailMessage

    def part(self, subtype: str) -> str:
        body = self.message.get_body((subtype,))
        assert body is not None
        return str(body.get_content()).replace("\r\n", "\n")


@dataclass
class LetterDesk:
    """A service by mail without servers: emails are handed to its policy, and taken from its outbox."""

    service: Service
    outbox: StoredMailOutbox
    gateway: MailGateway
    policy: MailPolicy
    clock: list[datetime]
    letters: list[SentLetter] = field(default_factory=list)
    newest: dict[str, SentLetter] = field(default_factory=dict)
    serial: int = 0

    async def person(self, name: str) -> int:
        address = f"{name.lower()}@player.test"
        async with self.service.store.begin() as unit:
            found = await people.person_by_address(unit, address, name)
            await unit.people.add_identity(found.id, "email", address)
        return found.id

    async def table(self, title: str, names: Sequence[str], name: str = "Friday") -> int:
        """The id of a running table; the first is its host."""
        ids = [await self.person(each) for each in names]
        info = await self.service.lobby.create(title, ids[0], name=name)
        for each, id in zip(names, ids, strict=True):
            await self.service.lobby.join(info.id, id, each)
        await self.service.lobby.start(info.id, by=ids[0], order=names)
        return info.id

    async def take(self, kind: str) -> None:
        """Send what is due; the first email of each subject is an example of this kind."""
        while due := (await self.outbox.lease_due(20)).mails:
            for mail in due:
                await self.outbox.mark_sent(mail)
                message = BytesParser(policy=default).parsebytes(mail.raw)
                assert isinstance(message, EmailMessage)
                letter = SentLetter(f"{kind}: {message['Subject']}", message)
                self.newest[mail.recipient] = letter
                if letter.kind not in {each.kind for each in self.letters}:
                    self.letters.append(letter)

    def asking(self, address: str) -> SentLetter:
        """The newest email that asks the owner of an address to act."""
        return [
            each
            for each in self.letters
            if each.message["To"] == address and "Your turn" in each.message["Subject"]
        ][-1]

    async def write(
        self,
        kind: str,
        name: str,
        *lines: str,
        to: str | None = None,
        sender: str = "",
        subject: str = "",
        original: SentLetter | str = "",
        take: bool = True,
    ) -> MailOutcome:
        """A player replies to their newest email, or writes to `to`; the answer is an example.

        original: another email, or whose newest. take: send what is due afterwards.
        """
        address = f"{name.lower()}@player.test"
        if isinstance(original, SentLetter):
            sender = sender or str(original.message["To"])
        else:
            sender = sender or original
        mail = EmailMessage(policy=SMTP)
        self.serial += 1
        mail["From"] = f"{name} <{sender or address}>"
        mail["Message-ID"] = f"<{self.serial}@player.test>"
        if to is None:
            answered = original if isinstance(original, SentLetter) else self.newest[original or address]
            mail["To"], mail["In-Reply-To"] = answered.message["Reply-To"], answered.message["Message-ID"]
            mail["Subject"] = "Re: " + answered.message["Subject"]
        else:
            mail["To"], mail["Subject"] = to, subject
        mail.set_content("\n".join(lines) + "\n")
        raw = mail.as_bytes()
        digest = sha256(raw).hexdigest()
        await self.gateway.arrivals.record_arrival(digest, raw, self.clock[0])
        outcome = await self.policy.handle(parse_mail(raw))
        await self.gateway.arrivals.record_outcome(digest, outcome)
        if take:
            await self.take(kind)
        return outcome


@asynccontextmanager
async def letter_desk(
    folder: Path, pictures: PictureWorkers, limits: ReplyLimits = UNLIMITED
) -> AsyncIterator[LetterDesk]:
    """A desk on a store of its own, at noon; hosts may be anyone."""
    clock = [datetime(2026, 6, 1, 12, tzinfo=UTC)]
    async with await open_store(folder / "railpost.db", now=lambda: clock[0]) as store:
        service = Service(store, ping_holdoff=0)
        address = ServiceAddress(ADDRESS, KEY, "+")
        gateway = MailGateway(service, pictures, folder / "mails", KEY, hosts="anyone")
        outbox = StoredMailOutbox(service, gateway.people, address, pictures, now=lambda: clock[0])
        policy = MailPolicy(address, gateway, now=lambda: clock[0], limits=limits)
        yield LetterDesk(service, outbox, gateway, policy, clock)
