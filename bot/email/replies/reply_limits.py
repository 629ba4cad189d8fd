"""The one reply that a mail gets: at once, or gathered with others where there are too many.

A mail program that answers by itself, or somebody who forges addresses, must not make us send without end.
So replies are counted, to each seat and to everybody. Replies above a limit are sent later, in one email.
Receipts of moves are sent in any case, so that nobody waits for a turn because of another's loop.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from mail.composing.compose import compose, plain_words
from mail.composing.page import MailPage
from mail.imap import Folder
from mail.inbox import GatheredAnswer, MailOutcome, OperatorAlerts
from mail.reading.parser import ParsedMail
from mail.reading.reply_text import ReplyText
from mail.reply_address import ReplyToken, ServiceAddress
from storage import Store

PLAYED = "played"
"""The reason of a reply to lines that were played."""
REPEATED = "repeated"
"""The reason of a mail that is not answered, because the same text was answered lately."""
ERASED = "erased"
"""The reason of a mail that is not answered, because its writer was deleted at their wish."""
ECHO_WINDOW = timedelta(hours=1)
MAX_ECHOES = 1000
BREAKER_MINUTES = 10
NOTICES_PER_DAY = 3
"""To one seat, about mail from a wrong address or that cannot be read."""


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """How many replies are sent at once. Lines are carried out all the same, and no answer is dropped.

    replies_per_hour: to one seat; above it, receipts after which somebody else is to act are gathered
    into one email, and above three times as many all replies to this seat. breaker_replies: above this many
    replies in `BREAKER_MINUTES`, those to everybody are gathered. The two last neither count nor hold
    receipts of moves.
    """

    replies_per_hour: int
    breaker_replies: int


class Ruling(NamedTuple):
    """The ruling on a mail: the page to reply with, and the token that a reply to this page will carry.
    daily: how many replies for this reason a seat gets in a day; 0 for any number."""

    reason: str
    page: MailPage
    token: ReplyToken
    folder: Folder = Folder.PROCESSED
    lines: tuple[str, ...] = ()
    offered_code: str | None = None
    can_wait: bool = False
    daily: int = 0


def is_from(mail: ParsedMail, token: ReplyToken) -> bool:
    """Whether a mail comes from the player of its reply token."""
    return token.own_address(mail.sender) is not None


def tokens_of_sender(mail: ParsedMail, tokens: Sequence[ReplyToken]) -> list[ReplyToken]:
    """Those of the tokens of a mail that are its sender's: of the exact address, else of one that differs in
    a tag."""
    exact = [token for token in tokens if mail.sender in token.verified_addresses]
    return exact or [token for token in tokens if is_from(mail, token)]


def idempotency_key(mail: ParsedMail, token: ReplyToken, lines: Sequence[str]) -> str:
    """The same for a mail that arrives twice, and different for each seat."""
    parts = (token.actor, mail.message_id, *lines)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def _text_key(mail: ParsedMail, token: ReplyToken, text: ReplyText) -> tuple[str, str]:
    """Of a player and what they wrote."""
    own = "\n".join((mail.subject if not text.lines else "", *text.lines))
    return token.actor, hashlib.sha256(own.encode("utf-8", "replace")).hexdigest()


class Replies:
    """Composes replies within the limits."""

    def __init__(
        self,
        address: ServiceAddress,
        store: Store,
        alerts: OperatorAlerts,
        limits: ReplyLimits,
    ) -> None:
        self._limits = limits
        self._address = address
        self._store = store
        self._alerts = alerts
        self._answered: dict[tuple[str, str], tuple[datetime, str]] = {}

    def is_echo(self, mail: ParsedMail, token: ReplyToken, text: ReplyText) -> bool:
        """Whether the same text, which cannot be read or says `away`, came from the same player within the
        hour, and nothing else of theirs was read in between (`forget_other_texts`).

        So a mail program that answers by itself without saying so gets one answer, and the operator is told.
        The same mail once more, after a crash, is no echo.
        """
        now = self._store.now()
        for key, (when, _) in list(self._answered.items()):
            if now - when >= ECHO_WINDOW or len(self._answered) >= MAX_ECHOES:
                del self._answered[key]
        _, first = self._answered.setdefault(_text_key(mail, token, text), (now, mail.message_id))
        if first == mail.message_id:
            return False
        self._alerts.send(
            f"echo {token.actor}",
            f"{mail.sender} sends the same text again within an hour: it is answered once. "
            "It may be a mail program that answers by itself.",
        )
        return True

    def forget_other_texts(self, mail: ParsedMail, token: ReplyToken, text: ReplyText) -> None:
        """A text of a player was read: any other of theirs is answered when it comes again."""
        own = _text_key(mail, token, text)
        for key in [key for key in self._answered if key[0] == token.actor and key != own]:
            del self._answered[key]

    async def reply(self, mail: ParsedMail, ruling: Ruling) -> MailOutcome:
        """The outcome of a mail with this ruling."""
        if ruling.reason in (REPEATED, ERASED):
            return MailOutcome(ruling.reason, ruling.folder)
        page, token = ruling.page, ruling.token
        key = idempotency_key(mail, token, ruling.lines)
        reason = ruling.reason
        if ruling.daily and await self.count(86_400, token.actor, reason) >= ruling.daily:
            return MailOutcome(reason, ruling.folder, key)
        is_busy = ruling.can_wait and await self.count(3_600, token.actor) >= self._limits.replies_per_hour
        if is_busy or (reason != PLAYED and await self._is_loop(token.actor)):
            gathered = GatheredAnswer(token, plain_words(page)) if is_from(mail, token) else None
            return MailOutcome(reason, ruling.folder, key, gathered=gathered)
        # The notice about a stranger's mail must not carry the stranger's Message-ID into the owner's thread.
        has_id = is_from(mail, token) and not mail.message_id.startswith("<sha256.")
        thread = [id for id in reversed(mail.parent_ids) if self._address.is_own_message_id(id)]
        answer = compose(
            self._address,
            page,
            token,
            self._store.now(),
            reason,
            parent=mail.message_id if has_id else None,
            thread=thread,
            offered_code=ruling.offered_code,
        )
        return MailOutcome(reason, ruling.folder, key, (answer,))

    async def count(self, seconds: int, actor: str | None = None, reason: str | None = None) -> int:
        """How many replies were sent in the last seconds, to one seat or address, for one reason."""
        of_them = {"who": actor, "reason": reason}
        fields = {name: value for name, value in of_them.items() if value is not None}
        async with self._store.read() as unit:
            since = unit.now - timedelta(seconds=seconds)
            return await unit.outbox.count("mail", since, kind="answer", **fields)

    async def _is_loop(self, actor: str) -> bool:
        """Whether so many replies were sent lately, to one or to all, that it must be a loop or an attack.

        Receipts of moves do not count: a loop plays none.
        """
        one, everybody = 3 * self._limits.replies_per_hour, self._limits.breaker_replies
        if await self._count_without_moves(3_600, actor) >= one:
            said = f"{one} replies by email to one player in an hour: the next ones to them"
        elif await self._count_without_moves(60 * BREAKER_MINUTES) >= everybody:
            said = f"{everybody} replies by email in {BREAKER_MINUTES} minutes: the next ones"
        else:
            return False
        self._alerts.send("breaker", f"{said} are sent together later.")
        return True

    async def _count_without_moves(self, seconds: int, actor: str | None = None) -> int:
        return await self.count(seconds, actor) - await self.count(seconds, actor, PLAYED)
