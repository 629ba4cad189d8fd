"""Emails that were sent and came back: their words go out again, in one email for each seat.

A request to act is made anew (`bot.email.reachability`), since what is asked may have changed by then. The
outbox keeps the words of every other email (`OutboxMessage.text`). When it comes back, they wait with those
of others; if their email comes back too, they wait again, and longer. If the address does not work when they
are due, their email stays in the outbox until it does.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from bot.email.tokens import ServiceToken
from bot.hub.notifications import messages
from mail.port import OutgoingMail
from storage import NewMessage, UnitOfWork

ASKED_ANEW = ("turn", "reminder", "digest", "vote_reminder", "next")
"""Emails that are made anew once an address works again; their words are not kept."""
TO_STRANGERS = ("invite", "link", "host")  # what nobody has answered yet: the host is told
LONGEST_TEXT = 6_000  # characters that are kept of an email
MOST_TEXTS = 40  # in one email; the newest are kept
BETWEEN = "\f"  # two texts in one


def kept_text(mail: OutgoingMail) -> str | None:
    """What is kept of an email in case it comes back; None for one that is made anew."""
    return None if mail.reason in ASKED_ANEW else mail.text[:LONGEST_TEXT]


def texts_together(sentences: tuple[str, ...]) -> str:
    """What is kept of an email of texts that came back, so that they can be told apart."""
    return BETWEEN.join(sentences)


async def gather_lost(unit: UnitOfWork, token: ServiceToken, message_id: str, due: datetime) -> bool:
    """An email has come back: let its words go out again; returns whether it had any."""
    if token.purpose in TO_STRANGERS:
        return False
    text = await unit.outbox.take_text(message_id)
    if text is None:
        return False
    collapse_key = f"{_prefix(token.person_id)}{token.actor}"
    earlier = await unit.outbox.pending_with_collapse_key(collapse_key)
    former = messages.decode_notification(earlier.payload).sentences if earlier else ()
    notification = messages.Notification(
        "lost", token.table_id or 0, 0, token.seat_number, token.person_id,
        sentences=(*former, *text.split(BETWEEN))[-MOST_TEXTS:],
    )  # fmt: skip
    await unit.outbox.enqueue(
        NewMessage(
            idempotency_key=f"lost.{message_id}",
            channel="mail",
            address={"person": token.person_id, "email": token.address},
            payload=msgspec.json.encode(notification),
            collapse_key=collapse_key,
            not_before=earlier.not_before if earlier else due,
        )
    )
    return True


async def send_lost(unit: UnitOfWork, person_id: int) -> None:
    """The emails of a person arrive again: send the words that wait."""
    await unit.outbox.hasten(_prefix(person_id))


async def lost_lately(unit: UnitOfWork, address: str) -> int:
    """How many emails with words that had come back went to an address within a day."""
    return await unit.outbox.count("mail", unit.now - timedelta(days=1), to=address, reason="lost")


def _prefix(person_id: int) -> str:
    return f"lost:{person_id}:"
