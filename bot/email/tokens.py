"""What the tokens of our emails stand for: a person, a table, a seat, a decision.

The store has a row for each, found by the token's hash. What a token may do is decided when it is used. So a
token stops working without being revoked when the seat has another player or the address is no longer the
person's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import msgspec

from bot.hub.info import TableInfo
from bot.hub.loading import load_info
from bot.service import Service
from mail import ReplyToken
from mail.reply_address import TokenPurpose
from storage import (
    MailToken,
    UnitOfWork,
)

FIXED_ADDRESS_PURPOSES = ("link", "invite", "host", "bounce", "unsubscribe")
"""Tokens of these purposes belong to the address that the email went to, even if it is not verified."""


def table_label(table: TableInfo) -> str:
    """The name of a table in emails."""
    return f"{table.name} {table.code}"


async def reply_token_for(
    unit: UnitOfWork, person_id: int, table: TableInfo | None, seat: int | None, decision_id: str | None
) -> ReplyToken | None:
    """The token for an email to a person; None for a person without a verified address."""
    verified = await unit.people.verified_addresses(person_id)
    if not verified:
        return None
    return ReplyToken(
        "reply", verified[0], frozenset(verified), table_label(table) if table else "",
        table.code if table else "", decision_id,
        person_id=person_id, table_id=table.id if table else None, seat_number=seat,
    )  # fmt: skip


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
    seat = table.seat_of(token.person_id)
    view = await service.queries.view(table_id)
    decision_id = None
    if view.state is not None and seat is not None:
        decision_id = view.answered_decision_id(seat)
    async with service.store.read() as unit:
        made = await reply_token_for(
            unit, token.person_id, table, seat if view.state is not None else None, decision_id
        )
    return replace(made, address=token.address) if made else token
