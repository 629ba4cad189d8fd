"""Letters in: what their address may do, and the ledger by which each takes effect once."""

from datetime import datetime
from typing import TypedDict, Unpack

from sqlmodel import col, select, update

from storage.errors import NotFound
from storage.models import InboundMail, MailToken
from storage.repositories.people import hash_secret, new_secret
from storage.transaction import Repository


class MailTokenFields(TypedDict, total=False):
    """What a token may stand for, beside its purpose.

    `address`: where the letter with it went. `carrier`: the Message-ID of that letter, which an answer
    names too.
    """

    table_id: int | None
    seat: int | None
    person_id: int | None
    decision_id: str | None
    address: str | None
    message_id: str | None
    expires_at: datetime | None


class InboundMailRepository(Repository):
    """Tokens and the ledger."""

    async def issue_token(self, purpose: str, **meaning: Unpack[MailTokenFields]) -> str:
        """A new token of 26 lower-case letters and digits (130 bits); only its hash is kept."""
        token = new_secret()
        await self.add_token(hash_secret(token), purpose, **meaning)
        return token

    async def add_token(self, hash: str, purpose: str, **meaning: Unpack[MailTokenFields]) -> None:
        """Keep what a token stands for that somebody else made, by its hash."""
        await self._transaction.add(
            MailToken(token_hash=hash, purpose=purpose, created_at=self._transaction.now, **meaning)
        )

    async def find_token(self, text: str) -> MailToken | None:
        """What is known of a token, in whatever case; `holds` tells whether it still does."""
        return await self.token_by_hash(hash_secret(text))

    async def token_by_hash(self, hash: str) -> MailToken | None:
        """The same by the token's hash."""
        return await self._transaction.first(select(MailToken).where(col(MailToken.token_hash) == hash))

    async def token_by_message_id(self, carrier: str) -> MailToken | None:
        """The token that went out in the letter of this Message-ID."""
        return await self._transaction.first(select(MailToken).where(col(MailToken.message_id) == carrier))

    def is_token_valid(self, token: MailToken) -> bool:
        """Whether a token is neither revoked nor too old."""
        return token.revoked_at is None and (
            token.expires_at is None or token.expires_at > self._transaction.now
        )

    async def revoke_tokens(
        self, *, table_id: int | None = None, seat: int | None = None, person_id: int | None = None,
        purpose: str | None = None,
    ) -> int:  # fmt: skip
        """End the tokens to which all of this applies; how many. Raises ValueError for no condition."""
        asked = {
            MailToken.table_id: table_id, MailToken.seat: seat, MailToken.person_id: person_id,
            MailToken.purpose: purpose,
        }  # fmt: skip
        where = [col(column) == value for column, value in asked.items() if value is not None]
        if not where:
            raise ValueError("revoke() without a condition would end every token")
        ended = update(MailToken).where(*where, col(MailToken.revoked_at).is_(None))
        return await self._transaction.execute(ended.values(revoked_at=self._transaction.now))

    async def record_attempt(self, key: str, sha: str, path: str) -> InboundMail:
        """Enter a letter, or one more attempt at it; to be committed before it is read.

        `outcome` is set where it has taken effect already. A letter that comes under the key of
        another has its own `sha`, which the row then does not show.
        """
        here = col(InboundMail.key) == key
        again = update(InboundMail).where(here).values(attempts=col(InboundMail.attempts) + 1)
        if not await self._transaction.execute(again):
            await self._transaction.add(
                InboundMail(key=key, sha256=sha, path=path, received_at=self._transaction.now)
            )
        return await self.get(key)

    async def get(self, key: str) -> InboundMail:
        """A row of the ledger. Raises Missing for a letter that was not entered."""
        found = await self._transaction.first(select(InboundMail).where(col(InboundMail.key) == key))
        if found is None:
            raise NotFound(f"The letter {key} was not entered.")
        return found

    async def record_outcome(self, key: str, outcome: str, reply: bytes | None = None) -> bool:
        """What became of a letter, and what it was answered; False where that was settled before."""
        open_ = (col(InboundMail.key) == key, col(InboundMail.outcome).is_(None))
        settled = {"outcome": outcome, "reply": reply, "finished_at": self._transaction.now}
        return await self._transaction.execute(update(InboundMail).where(*open_).values(settled)) > 0

    async def unfinished(self) -> list[InboundMail]:
        """Letters that were entered and have no outcome, oldest first: what a crash left."""
        query = select(InboundMail).where(col(InboundMail.outcome).is_(None))
        return await self._transaction.all(query.order_by(col(InboundMail.received_at), col(InboundMail.key)))
