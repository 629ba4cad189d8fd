"""Emails and answers on their way into the outbox."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from bot.email import returned
from bot.email.tokens import ServiceToken, token_owner
from bot.hub.notifications import messages
from mail import OutgoingMail, ReplyToken
from mail.port import GatheredAnswer
from storage import (
    NewMessage,
    UnitOfWork,
)

REPLY_TOKEN_LIFETIME = timedelta(days=180)
INVITATION_TOKEN_LIFETIME = timedelta(days=30)
GATHERED_FOR = timedelta(hours=1)


async def enqueue_mail(
    unit: UnitOfWork, mail: OutgoingMail, kind: str, collapse_key: str | None = None
) -> None:
    """Put a finished email into the outbox and store its tokens by their hashes.

    `kind`: `answer` (counted where replies are limited) or `notice`. An unsent message with the same
    `collapse_key` is replaced.
    """
    for issued in mail.issued_tokens:
        token = issued.token
        lifetime = (
            INVITATION_TOKEN_LIFETIME if token.purpose in ("link", "invite", "host") else REPLY_TOKEN_LIFETIME
        )
        seat_token = token if isinstance(token, ServiceToken) else None
        owner = None if seat_token else await unit.people.find_by_identity("email", token.address)
        await unit.mail_tokens.add(
            issued.token_hash,
            token.purpose,
            table_id=seat_token.table_id if seat_token else None,
            seat=seat_token.seat_number if seat_token else None,
            person_id=seat_token.person_id if seat_token else owner.id if owner else None,
            decision_id=token.decision_id,
            address=mail.recipient,
            message_id=mail.message_id if token is mail.reply_token else None,
            expires_at=unit.now + lifetime,
        )
    address = {"to": mail.recipient, "sender": mail.envelope_sender, "kind": kind, "who": mail.actor}
    if mail.offered_code and mail.reply_token:
        key = offer_key(mail.reply_token, mail.message_id)
        await unit.move_log.save_request_result(key, mail.offered_code.encode())
    await unit.outbox.enqueue(
        NewMessage(
            idempotency_key=mail.message_id,
            channel="mail",
            address=address | {"reason": mail.reason},
            payload=mail.raw,
            collapse_key=collapse_key,
            text=returned.kept_text(mail),
        )
    )


async def gather_answer(unit: UnitOfWork, answer: GatheredAnswer, digest: str) -> None:
    """Add an answer to those that go to a seat or a person together, within an hour of the first."""
    token, table_id, seat = answer.token, 0, None
    if isinstance(token, ServiceToken):
        table_id, seat = token.table_id or 0, token.seat_number
    person_id = await token_owner(unit, token)
    collapse_key = f"gathered:{token.actor}"
    earlier = await unit.outbox.pending_with_collapse_key(collapse_key)
    former = messages.decode_notification(earlier.payload).sentences if earlier else ()
    notification = messages.Notification(
        "gathered", table_id, 0, seat, person_id, sentences=(*former, answer.text),
    )  # fmt: skip
    await unit.outbox.enqueue(
        NewMessage(
            idempotency_key=f"gathered.{digest}",
            channel="mail",
            address={"person": person_id, "email": token.address},
            payload=msgspec.json.encode(notification),
            collapse_key=collapse_key,
            not_before=earlier.not_before if earlier else unit.now + GATHERED_FOR,
        )
    )


def offer_key(token: ReplyToken, message_id: str) -> str:
    return f"offer:{token.actor}:{message_id}"
