"""What the tokens of our emails stand for: a person, a table, a seat, a decision.

The store has a row for each, found by the token's hash. What a token may do is decided when it is used. So a
token stops working without being revoked when the seat has another player or the address is no longer the
person's.

Which of our emails a mail answers is told by the tokens that it carries. With sub-addressing, the token is in
the address that the mail was sent to; without it in the message that it answers, by its Message-ID.

A provider without sub-addressing delivers one address only. Then a token stands as `code-<token>` in three
places, of which mail programs keep at least one: in the display part of the Reply-To, in the last lines of
our email, which a reply quotes, and in the Message-ID. What the sender wrote above the quoted email comes
first, then the email that is answered. A display part may be an older one that an address book has kept, so
where it and the quoted email mean different seats, the mail is ambiguous, and nothing is played. A quoted
token counts for its owner only: another player may have written theirs into what is quoted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import msgspec

from bot.hub.info import TableInfo
from bot.hub.loading import load_info
from bot.service import Service
from mail.reading.line_text import normalize_line
from mail.reading.parser import ParsedMail
from mail.reading.quotes import own_text
from mail.reply_address import ReplyToken, ServiceAddress, TokenPurpose, find_codes, hash_token
from storage import MailToken, Store, UnitOfWork

MAX_TOKENS = 10  # that are looked up for one mail
FIXED_ADDRESS_PURPOSES = ("link", "invite", "host", "bounce", "unsubscribe")
"""Tokens of these purposes belong to the address that the email went to, even if it is not verified."""


def table_label(table: TableInfo) -> str:
    """The name of a table in emails."""
    return f"{table.name} {table.code}"


async def reply_token_for(
    store: Store,
    person_id: int,
    table: TableInfo | None = None,
    seat: int | None = None,
    decision_id: str | None = None,
) -> ReplyToken | None:
    """The token for an email to a person; None for a person without a verified address."""
    async with store.read() as unit:
        verified = await unit.people.verified_addresses(person_id)
    if not verified:
        return None
    return ReplyToken(
        "reply", verified[0], frozenset(verified), table_label(table) if table else "",
        table.code if table else "", decision_id,
        person_id=person_id, table_id=table.id if table else None, seat_number=seat,
    )  # fmt: skip


async def seat_token(
    service: Service,
    person_id: int,
    table: TableInfo | None,
    seat: int | None,
    decision_id: str | None = None,
) -> ReplyToken | None:
    """The same; without a decision, for what the seat is asked now."""
    if table is not None and seat is not None:
        decision_id = decision_id or (await service.queries.view(table.id)).answered_decision_id(seat)
    return await reply_token_for(service.store, person_id, table, seat, decision_id)


class TokenLookup:
    """Finds the tokens of emails, as what they may do now; those that are not valid are none."""

    def __init__(self, service: Service, address: ServiceAddress) -> None:
        self._store, self._address = service.store, address

    async def tokens_of(self, mail: ParsedMail) -> list[ReplyToken]:
        """The valid tokens of a mail; several where it is ambiguous."""
        addressed = await self.find(self._address.find_tokens(mail.recipients))
        if self._address.has_subaddresses:
            return addressed or await self._of_parent(mail)
        lines = [normalize_line(line) for line in mail.text.splitlines()]
        own_codes = find_codes(line.text for line in own_text(lines, ()).above)
        if own := await self.find([*own_codes, *find_codes([mail.subject])]):
            return own[:1]
        if parent := await self._of_parent(mail):
            return parent
        found = await self.find(find_codes(mail.text.splitlines()))
        quoted = [token for token in found if token.own_address(mail.sender)][:1]
        is_same = quoted and addressed and quoted[0].actor == addressed[0].actor
        return quoted if is_same else [*quoted, *addressed]

    async def find(self, secrets: Sequence[str]) -> list[ReplyToken]:
        """What these tokens stand for."""
        async with self._store.read() as unit:
            found = [await token_of_secret(unit, each) for each in secrets[:MAX_TOKENS]]
        return [token for token in found if token]

    async def of_message(self, message_id: str) -> ReplyToken | None:
        """What the email of ours with this Message-ID stands for; None for one that is not ours."""
        if not self._address.is_own_message_id(message_id):
            return None
        async with self._store.read() as unit:
            return await token_of_message(unit, message_id)

    async def _of_parent(self, mail: ParsedMail) -> list[ReplyToken]:
        for parent in mail.parent_ids:
            if token := await self.of_message(parent):
                return [token]
        return []


async def token_of_secret(unit: UnitOfWork, secret: str) -> ReplyToken | None:
    """What a token stands for now."""
    row = await unit.mail_tokens.by_hash(hash_token(secret))
    return await live_token(unit, row) if row else None


async def token_of_message(unit: UnitOfWork, message_id: str) -> ReplyToken | None:
    """What an email stands for, by its Message-ID."""
    row = await unit.mail_tokens.by_message_id(message_id)
    return await live_token(unit, row) if row else None


async def live_token(unit: UnitOfWork, token: MailToken) -> ReplyToken | None:
    if not unit.mail_tokens.is_valid(token) or token.person_id is None or token.address is None:
        return None
    if token.purpose not in get_args(TokenPurpose):
        return None  # of another version
    verified = frozenset(await unit.people.verified_addresses(token.person_id))
    has_fixed_address = token.purpose in FIXED_ADDRESS_PURPOSES
    if not has_fixed_address and token.address not in verified:
        return None
    table = await load_info(unit, token.table_id) if token.table_id else None
    has_lost_seat = table and token.seat is not None and token.seat not in table.seats_of(token.person_id)
    if has_lost_seat and not has_fixed_address:
        return None
    return ReplyToken(
        msgspec.convert(token.purpose, TokenPurpose), token.address,
        verified | {token.address} if has_fixed_address else verified,
        table_label(table) if table else "", table.code if table else "", token.decision_id,
        token.message_id, person_id=token.person_id, table_id=token.table_id, seat_number=token.seat,
    )  # fmt: skip


async def table_token(service: Service, token: ReplyToken, table_id: int | None) -> ReplyToken:
    """What a reply to the answer stands for: the seat or the table that it is about."""
    if table_id is None:
        return token
    table = await service.queries.table_info(table_id)
    has_begun = (await service.queries.view(table_id)).state is not None
    made = await seat_token(
        service, token.person_id, table, table.seat_of(token.person_id) if has_begun else None
    )
    return replace(made, address=token.address) if made else token
