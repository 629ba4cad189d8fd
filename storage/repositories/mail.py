"""Mail that came in, and the tokens of reply addresses, which are stored as hashes.

Each mail has one row, so that it takes effect once, however often it is read.
"""

import hashlib
import secrets
from datetime import datetime
from typing import TypedDict, Unpack

from sqlmodel import col, delete, select, update

from storage.models import InboundMail, MailToken
from storage.transaction import Repository

BASE32_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def new_secret() -> str:
    """A random secret of 26 characters in lower-case base32, 5 bits each: mail programs that change case do
    no harm."""
    return "".join(secrets.choice(BASE32_ALPHABET) for _ in range(26))


def hash_secret(secret: str) -> str:
    """The hex SHA-256 of the secret's lower-case form: all that is stored of it."""
    return hashlib.sha256(secret.strip().lower().encode()).hexdigest()


class InboundMailRepository(Repository):
    """Inbound mail: attempts and outcomes."""

    async def record_attempt(self, key: str, sha256: str, path: str) -> InboundMail:
        """Count an attempt at a mail, the first or another; commit this before the mail is read.

        `outcome` is set where the mail has taken effect before. Where two mails have the same key, the
        row keeps the `sha256` of the first.
        """
        mail = update(InboundMail).filter_by(key=key)
        if not await self._db.execute(mail.values(attempts=col(InboundMail.attempts) + 1)):
            await self._db.add(InboundMail(key=key, sha256=sha256, path=path, received_at=self._db.now))
        return await self.get(key)

    async def get(self, key: str) -> InboundMail:
        """The row of a mail. Raises NotFound for a mail without an attempt."""
        return await self._db.get(InboundMail, f"There is no mail {key}.", key=key)

    async def record_outcome(self, key: str, outcome: str, reply: bytes | None = None) -> bool:
        """Store the outcome of a mail and the reply to it; False where it has an outcome already."""
        unfinished = update(InboundMail).filter_by(key=key, outcome=None)
        finished = unfinished.values(outcome=outcome, reply=reply, finished_at=self._db.now)
        return await self._db.execute(finished) > 0

    async def delete_finished(self, before: datetime) -> list[str]:
        """Delete the rows of mail that was finished before a time; returns their keys."""
        is_old = col(InboundMail.finished_at) < before
        keys = await self._db.all(select(InboundMail.key).where(is_old))
        await self._db.execute(delete(InboundMail).where(is_old))
        return keys


class MailTokenFields(TypedDict, total=False):
    """What a token stands for, beside its purpose.

    address: where the email with the token was sent. message_id: the Message-ID of that email, by which
    an answer is recognised when the token was lost on the way.
    """

    table_id: int | None
    seat: int | None
    person_id: int | None
    decision_id: str | None
    address: str | None
    message_id: str | None
    expires_at: datetime | None


class MailTokenRepository(Repository):
    """Mail tokens."""

    async def add(self, token_hash: str, purpose: str, **fields: Unpack[MailTokenFields]) -> None:
        """Store a token that was made elsewhere, by its hash."""
        await self._db.add(
            MailToken(token_hash=token_hash, purpose=purpose, created_at=self._db.now, **fields)
        )

    async def by_hash(self, token_hash: str) -> MailToken | None:
        """The row of a token by its hash, valid or not: see `is_valid`."""
        return await self._db.first(select(MailToken).filter_by(token_hash=token_hash))

    async def by_message_id(self, message_id: str) -> MailToken | None:
        """The token that went out in the email with this Message-ID."""
        return await self._db.first(select(MailToken).filter_by(message_id=message_id))

    def is_valid(self, token: MailToken) -> bool:
        """Whether a token has not expired."""
        return token.expires_at is None or token.expires_at > self._db.now
