"""What the tokens of our emails stand for: a person, a table, a seat, a decision.

The store has a row for each, found by the token's hash. What a token may do is decided when it is used. So a
token stops working without being revoked when the seat has another player or the address is no longer the
person's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

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


@dataclass(frozen=True, slots=True)
class ServiceToken(ReplyToken):
    """A token with the service's ids of its person, table and seat."""

    person_id: int = 0
    table_id: int | None = None
    seat_number: int | None = None


class SeatRef(NamedTuple):
    """The seat for which a player writes, and the decision that the email replies to."""

    table_id: int
    seat_number: int
    person_id: int
    decision_id: str | None


def service_token(token: ReplyToken) -> ServiceToken:
    if not isinstance(token, ServiceToken):
        raise TypeError("the token was not issued by this gateway")
    return token


def seat_ref(token: ReplyToken) -> SeatRef:
    seat_token = service_token(token)
    if seat_token.table_id is None or seat_token.seat_number is None:
        raise TypeError("the token has no seat")
    return SeatRef(seat_token.table_id, seat_token.seat_number, seat_token.person_id, seat_token.decision_id)


def table_label(table: TableInfo) -> str:
    """The name of a table in emails."""
    return f"{table.name} {table.code}"


def seat_key(table_id: int, seat: int) -> str:
    """A key for a seat that is unique among all tables."""
    return f"{table_id}.{seat}"


async def reply_token_for(
    unit: UnitOfWork, person_id: int, table: TableInfo | None, seat: int | None, decision_id: str | None
) -> ServiceToken | None:
    """The token for an email to a person; None for a person without a verified address."""
    verified = await unit.people.verified_addresses(person_id)
    if not verified:
        return None
    seat_name = seat_key(table.id, seat) if table and seat is not None else None
    return ServiceToken(
        "reply", verified[0], frozenset(verified), table_label(table) if table else "",
        table.code if table else "", seat_name, decision_id,
        person_id=person_id, table_id=table.id if table else None, seat_number=seat,
    )  # fmt: skip


async def live_token(unit: UnitOfWork, token: MailToken) -> ServiceToken | None:
    if not unit.mail_tokens.is_valid(token) or token.person_id is None or token.address is None:
        return None
    if token.purpose not in get_args(TokenPurpose):
        return None  # of another version
    verified = frozenset(await unit.people.verified_addresses(token.person_id))
    has_fixed_address = token.purpose in FIXED_ADDRESS_PURPOSES
    if not has_fixed_address and token.address not in verified:
        return None
    table = await load_info(unit, token.table_id) if token.table_id else None
    seat_name = seat_key(table.id, token.seat) if table and token.seat is not None else None
    if table and seat_name and not has_fixed_address:
        player = table.player_at(token.seat if token.seat is not None else -1)
        if player is None or token.seat not in table.seats_of(token.person_id):
            return None
    return ServiceToken(
        msgspec.convert(token.purpose, TokenPurpose), token.address,
        verified | {token.address} if has_fixed_address else verified,
        table_label(table) if table else "", table.code if table else "", seat_name, token.decision_id,
        token.message_id,
        person_id=token.person_id, table_id=token.table_id, seat_number=token.seat,
    )  # fmt: skip


async def token_owner(unit: UnitOfWork, token: ReplyToken) -> int | None:
    """The id of the person to whom a token belongs."""
    if isinstance(token, ServiceToken):
        return token.person_id
    person = await unit.people.find_by_identity("email", token.address)
    return person.id if person else None


async def table_token(
    service: Service, token: ReplyToken, person_id: int, table_id: int | None
) -> ReplyToken:
    """What a reply to the answer stands for: the seat or the table that it is about."""
    if table_id is None:
        return token
    table = await service.queries.table_info(table_id)
    seat = table.seat_of(person_id)
    view = await service.queries.view(table_id)
    decision_id = None
    if view.state is not None and seat is not None:
        decision_id = view.answered_decision_id(seat)
    async with service.store.read() as unit:
        made = await reply_token_for(
            unit, person_id, table, seat if view.state is not None else None, decision_id
        )
    return replace(made, address=token.address) if made else token
