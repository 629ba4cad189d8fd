"""Tokens of reply addresses. Only the hash of a token is stored, with what an answer to it may do."""

from datetime import datetime
from typing import TypedDict, Unpack

from sqlmodel import col, delete, select, update

from storage.models import MailToken
from storage.secret_tokens import hash_secret, new_secret
from storage.transaction import Repository


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
    """Mail tokens: issued, found, revoked."""

    async def issue(self, purpose: str, **fields: Unpack[MailTokenFields]) -> str:
        """Store and return a new token: 26 lower-case letters and digits (130 random bits)."""
        token = new_secret()
        await self.add(hash_secret(token), purpose, **fields)
        return token

    async def add(self, token_hash: str, purpose: str, **fields: Unpack[MailTokenFields]) -> None:
        """Store a token that was made elsewhere, by its hash."""
        await self._transaction.add(
            MailToken(token_hash=token_hash, purpose=purpose, created_at=self._transaction.now, **fields)
        )

    async def find(self, token: str) -> MailToken | None:
        """The row of a token, in upper or lower case, valid or not: see `is_valid`."""
        return await self.by_hash(hash_secret(token))

    async def by_hash(self, token_hash: str) -> MailToken | None:
        """The row with this hash."""
        return await self._transaction.first(select(MailToken).where(col(MailToken.token_hash) == token_hash))

    async def by_message_id(self, message_id: str) -> MailToken | None:
        """The token that went out in the email with this Message-ID."""
        return await self._transaction.first(select(MailToken).where(col(MailToken.message_id) == message_id))

    def is_valid(self, token: MailToken) -> bool:
        """Whether a token is neither revoked nor expired."""
        return token.revoked_at is None and (
            token.expires_at is None or token.expires_at > self._transaction.now
        )

    async def delete_expired(self, before: datetime) -> int:
        """Delete tokens that expired before a time; returns how many."""
        is_old = col(MailToken.expires_at) < before
        return await self._transaction.execute(delete(MailToken).where(is_old))

    async def revoke(
        self, *, table_id: int | None = None, seat: int | None = None, person_id: int | None = None,
        purpose: str | None = None,
    ) -> int:  # fmt: skip
        """Revoke the tokens that match all given values; returns how many. Raises ValueError for none."""
        filters = {
            MailToken.table_id: table_id,
            MailToken.seat: seat,
            MailToken.person_id: person_id,
            MailToken.purpose: purpose,
        }
        conditions = [col(column) == value for column, value in filters.items() if value is not None]
        if not conditions:
            raise ValueError("revoke() without a condition would end every token")
        valid = update(MailToken).where(*conditions, col(MailToken.revoked_at).is_(None))
        return await self._transaction.execute(valid.values(revoked_at=self._transaction.now))
