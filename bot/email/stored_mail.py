"""Emails as the store keeps them: what came in, ours on their way out, lines that wait for `yes`, and what
came back.

The bytes of an email that came in are in a file named by their SHA-256, and a row counts the attempts. It
is stored before it is read, and finished once: the outcome, our reply and the reply's tokens are stored in
one transaction, with the key by which the same email is recognized when it arrives in another way.

The words of an email that was sent and came back go out again, in one email for each seat. A request to act
is made anew (`bot.email.reachability`), since what is asked may have changed by then. The outbox keeps the
words of every other email (`OutboxMessage.text`). When it comes back, they wait with those of others; if
their email comes back too, they wait again, and longer. If the address does not work when they are due,
their email stays in the outbox until it does.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec

from bot.hub.notifications.messages import Notification, decode_notification
from bot.service import Service
from mail.composing.compose import OutgoingMail
from mail.imap import Folder
from mail.inbox import Arrival, GatheredAnswer, MailOutcome
from mail.reply_address import ReplyToken
from storage import (
    NewMessage,
    Store,
    UnitOfWork,
    write_whole,
)


class InboundMail:
    """What arrives, and what came of it. `folder` has the bytes of emails that are not finished."""

    def __init__(self, service: Service, folder: Path) -> None:
        self._service, self._store, self._folder = service, service.store, folder

    async def record_arrival(self, digest: str, raw: bytes) -> Arrival:
        """Store the bytes and count the attempt, before anything is read."""
        path = self._mail_path(digest)
        if not path.exists():
            write_whole(path, raw)
        async with self._store.begin(excludes_others=False) as unit:
            row = await unit.inbound_mail.record_attempt(digest, digest, path.name)
        folder = Folder(row.outcome.partition(":")[0]) if row.outcome else None
        return Arrival(row.attempts, folder)

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        """Store the outcome with our replies and their tokens; no replies for a key stored already."""
        async with self._store.begin(excludes_others=False) as unit:
            is_new = await unit.inbound_mail.record_outcome(digest, f"{outcome.folder}: {outcome.reason}")
            if outcome.idempotency_key is not None and is_new:
                request_id = f"mail:{outcome.idempotency_key}"
                is_new = await unit.move_log.request_result(request_id) is None
                if is_new:
                    await unit.move_log.save_request_result(request_id, outcome.reason.encode())
            for reply in outcome.replies if is_new else ():
                await enqueue_mail(unit, reply, "answer")
            if outcome.gathered and is_new:
                await gather_answer(unit, outcome.gathered, digest)
        if outcome.folder is not Folder.QUARANTINE:
            with suppress(OSError):
                self._mail_path(digest).unlink()
        self._service.wake_subscribers()

    async def delete_before(self, age: timedelta) -> None:
        """Delete what is kept of emails that were finished so long ago."""
        async with self._store.begin() as unit:
            digests = await unit.inbound_mail.delete_finished(unit.now - age)
        for digest in digests:
            self._mail_path(digest).unlink(missing_ok=True)

    def _mail_path(self, digest: str) -> Path:
        return self._folder / f"{digest}.eml"


# -- on their way out ------------------------------------------------------------------------

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
        lifetime = INVITATION_TOKEN_LIFETIME if token.purpose in TO_STRANGERS else REPLY_TOKEN_LIFETIME
        await unit.mail_tokens.add(
            issued.token_hash,
            token.purpose,
            table_id=token.table_id,
            seat=token.seat_number,
            person_id=token.person_id,
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
            text=kept_text(mail),
        )
    )


async def gather_answer(unit: UnitOfWork, answer: GatheredAnswer, digest: str) -> None:
    """Add an answer to those that go to a seat or a person together, within an hour of the first."""
    waiting = f"gathered:{answer.token.actor}"
    due = unit.now + GATHERED_FOR
    await _gather(unit, "gathered", answer.token, waiting, digest, [answer.text], due)


async def _gather(
    unit: UnitOfWork, kind: str, token: ReplyToken, collapse_key: str, name: str, texts: Sequence[str],
    due: datetime,
) -> None:  # fmt: skip
    """Add texts to the email of this kind that waits for a seat or a person; the first says when it goes."""
    earlier = await unit.outbox.pending_with_collapse_key(collapse_key)
    former = decode_notification(earlier.payload).sentences if earlier else ()
    sentences = (*former, *texts)[-MOST_TEXTS:] if kind == "lost" else (*former, *texts)
    notification = Notification(
        kind, token.table_id or 0, 0, token.seat_number, token.person_id, sentences=sentences
    )
    await unit.outbox.enqueue(
        NewMessage(
            idempotency_key=f"{kind}.{name}",
            channel="mail",
            address={"person": token.person_id, "email": token.address},
            payload=msgspec.json.encode(notification),
            collapse_key=collapse_key,
            not_before=earlier.not_before if earlier else due,
        )
    )


def offer_key(token: ReplyToken, message_id: str) -> str:
    return f"offer:{token.actor}:{message_id}"


# -- what came back --------------------------------------------------------------------------

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


async def gather_lost(unit: UnitOfWork, token: ReplyToken, message_id: str, due: datetime) -> bool:
    """An email has come back: let its words go out again; returns whether it had any."""
    if token.purpose in TO_STRANGERS:
        return False
    text = await unit.outbox.take_text(message_id)
    if text is None:
        return False
    waiting = f"{_prefix(token.person_id)}{token.actor}"
    await _gather(unit, "lost", token, waiting, message_id, text.split(BETWEEN), due)
    return True


async def send_lost(unit: UnitOfWork, person_id: int) -> None:
    """The emails of a person arrive again: send the words that wait."""
    await unit.outbox.hasten(_prefix(person_id))


async def lost_lately(unit: UnitOfWork, address: str) -> int:
    """How many emails with words that had come back went to an address within a day."""
    return await unit.outbox.count("mail", unit.now - timedelta(days=1), to=address, reason="lost")


def _prefix(person_id: int) -> str:
    return f"lost:{person_id}:"


# -- what waits for `yes` --------------------------------------------------------------------


def held_key(token: ReplyToken, code: str) -> str:
    return f"hold:{token.actor}:{code}"


def played_key(token: ReplyToken, code: str) -> str:
    """The request that plays the lines of a code."""
    return f"held:{token.actor}:{code}"


def host_request(code: str) -> str:
    """The request that opens the table of a new host."""
    return f"host:{code}"


def command_key(request_id: str) -> str:
    """Under which the answer to a command about tables is stored."""
    return f"table:{request_id}"


class HeldLines(NamedTuple):
    """Lines that wait for `yes` to the email that offers them, or for `yes CODE`, and the decision that they
    answer. figures: what the offer has said that they do, a sentence for each line; empty where it has said
    nothing."""

    lines: tuple[str, ...]
    decision_id: str | None
    figures: tuple[str, ...] = ()


class Offer(NamedTuple):
    """What a code stands for. is_open: it has not been played, and has opened no table."""

    code: str
    held: HeldLines
    is_open: bool


class HeldLineStore:
    """Lines that are held until their player confirms them. key: signs the codes."""

    def __init__(self, store: Store, key: bytes) -> None:
        self._store, self._key = store, key

    async def hold_lines(
        self, token: ReplyToken, lines: Sequence[str], request_id: str, figures: Sequence[str] = ()
    ) -> str:
        """Store lines until the player confirms them; returns the code, which only we can compute."""
        mac = hmac.digest(self._key, f"hold:{request_id}".encode(), "sha256")
        code = base64.b32encode(mac).decode().lower()[:12]
        async with self._store.begin() as unit:
            key = held_key(token, code)
            if await unit.move_log.request_result(key) is None:
                held = HeldLines(tuple(lines), token.decision_id, tuple(figures))
                await unit.move_log.save_request_result(key, msgspec.json.encode(held))
        return code

    async def find(self, token: ReplyToken, code: str) -> Offer | None:
        """The lines that are held under a code."""
        keys = held_key(token, code), played_key(token, code), command_key(host_request(code))
        async with self._store.read() as unit:
            held, *used = [await unit.move_log.request_result(key) for key in keys]
        return Offer(code, msgspec.json.decode(held, type=HeldLines), used == [None, None]) if held else None

    async def find_offered(self, token: ReplyToken) -> Offer | None:
        """What the email with this token offered; emails before it in its thread do not count."""
        async with self._store.read() as unit:
            code = await unit.move_log.request_result(offer_key(token, token.message_id or ""))
        return await self.find(token, code.decode()) if code else None
