"""The emails of a driven table, as its players read them, and what they reply."""

from __future__ import annotations

from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import parseaddr
from pathlib import Path

from bot.email.confirmations import Confirmations
from bot.email.delivery import StoredMailOutbox
from bot.email.pages.answer_pages import PlayResult
from bot.email.reachability import Correspondents
from bot.email.replies.seat_replies import SeatReplies
from bot.email.replies.table_replies import TableReplies
from bot.email.stored_mail import HeldLineStore
from bot.email.tokens import TokenLookup, table_label
from mail.composing.page import summary
from mail.reading.parser import ParsedMail
from mail.reply_address import ReplyToken, ServiceAddress
from tests.fake_discord.running_bot import OnePixelPictures
from tests.pace.conftest import DrivenTable

KEY = b"k" * 32


@dataclass
class Letter:
    """An email that was sent."""

    to: str
    subject: str
    text: str
    reply_to: str


class MailDesk:
    """Sends the emails of a table that are due, and takes replies."""

    def __init__(self, driven: DrivenTable, folder: Path) -> None:
        self.driven = driven
        self._address = ServiceAddress("play@games.test", KEY, "+")
        pictures = OnePixelPictures()
        self._pictures = pictures
        self._outbox = StoredMailOutbox(
            driven.service, Correspondents(driven.service), self._address, pictures, now=lambda: driven.now
        )
        self._replies = 0

    async def letters(self) -> list[Letter]:
        """The emails that are due now."""
        found = []
        while due := (await self._outbox.lease_due(20)).mails:
            for mail in due:
                await self._outbox.mark_sent(mail)
                message = message_from_bytes(mail.raw, EmailMessage, policy=SMTP)
                body = message.get_body(("plain",))
                assert body is not None
                text = "\n".join(body.get_content().splitlines()).replace("\xa0", " ")
                reply_to = parseaddr(str(message["Reply-To"]))[1]
                found.append(Letter(str(message["To"]), str(message["Subject"]), text, reply_to))
        return found

    async def reply(self, address: str, *lines: str) -> PlayResult:
        """Send lines to a reply address of an email."""
        token = await self._token(address)
        self._replies += 1
        seats = SeatReplies(self.driven.service, self._pictures)
        return await seats.play(token, lines, f"mail-{self._replies}")

    async def command(self, address: str, line: str) -> list[str]:
        """Reply with a command about tables; the sentences that come back."""
        token = await self._token(address)
        self._replies += 1
        held = HeldLineStore(self.driven.service.store, KEY)
        tables = TableReplies(self.driven.service, self._pictures, held, "verified")
        answer = await tables.table_command(token, [line], ParsedMail("<m>"), f"mail-{self._replies}")
        assert answer is not None
        return summary(answer.page).splitlines()[1:]

    async def confirm(self, address: str, yes: bool = True) -> str:
        """Answer yes or no; the sentence that comes back."""
        answer = await Confirmations(self.driven.service).confirm(await self._token(address), yes)
        return summary(answer.page).splitlines()[1]

    async def _token(self, address: str) -> ReplyToken:
        secrets = self._address.find_tokens([address])
        (token,) = await TokenLookup(self.driven.service, self._address).find(secrets)
        return token

    async def label(self, table_id: int) -> str:
        """The name of a table in emails."""
        return table_label(await self.driven.service.queries.table_info(table_id))
