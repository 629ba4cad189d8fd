"""Letters in: what their address may do, and the ledger by which each takes effect once."""

from datetime import datetime
from typing import TypedDict, Unpack

from sqlmodel import col, select, update

from storage.errors import Missing
from storage.people import hashed, secret_word
from storage.tables import Letter, Token
from storage.work import Subject


class Meaning(TypedDict, total=False):
    """What a token may stand for, beside its purpose.

    `address`: where the letter with it went. `carrier`: the Message-ID of that letter, which an answer
    names too.
    """

    table_id: int | None
    seat: int | None
    person_id: int | None
    decision: str | None
    address: str | None
    carrier: str | None
    expires: datetime | None


class Letters(Subject):
    """Tokens and the ledger."""

    async def issue(self, purpose: str, **meaning: Unpack[Meaning]) -> str:
        """A new token of 26 lower-case letters and digits (130 bits); only its hash is kept."""
        token = secret_word()
        await self.enter(hashed(token), purpose, **meaning)
        return token

    async def enter(self, hash: str, purpose: str, **meaning: Unpack[Meaning]) -> None:
        """Keep what a token stands for that somebody else made, by its hash."""
        await self._work.add(Token(hash=hash, purpose=purpose, created=self._work.now, **meaning))

    async def token(self, text: str) -> Token | None:
        """What is known of a token, in whatever case; `holds` tells whether it still does."""
        return await self.entered(hashed(text))

    async def entered(self, hash: str) -> Token | None:
        """The same by the token's hash."""
        return await self._work.first(select(Token).where(col(Token.hash) == hash))

    async def carried(self, carrier: str) -> Token | None:
        """The token that went out in the letter of this Message-ID."""
        return await self._work.first(select(Token).where(col(Token.carrier) == carrier))

    def holds(self, token: Token) -> bool:
        """Whether a token is neither revoked nor too old."""
        return token.revoked is None and (token.expires is None or token.expires > self._work.now)

    async def revoke(
        self, *, table_id: int | None = None, seat: int | None = None, person_id: int | None = None,
        purpose: str | None = None,
    ) -> int:  # fmt: skip
        """End the tokens to which all of this applies; how many. Raises ValueError for no condition."""
        asked = {
            Token.table_id: table_id, Token.seat: seat, Token.person_id: person_id, Token.purpose: purpose,
        }  # fmt: skip
        where = [col(column) == value for column, value in asked.items() if value is not None]
        if not where:
            raise ValueError("revoke() without a condition would end every token")
        ended = update(Token).where(*where, col(Token.revoked).is_(None))
        return await self._work.do(ended.values(revoked=self._work.now))

    async def receive(self, key: str, sha: str, path: str) -> Letter:
        """Enter a letter, or one more attempt at it; to be committed before it is read.

        `outcome` is set where it has taken effect already. A letter that comes under the key of
        another has its own `sha`, which the row then does not show.
        """
        here = col(Letter.key) == key
        again = update(Letter).where(here).values(attempts=col(Letter.attempts) + 1)
        if not await self._work.do(again):
            await self._work.add(Letter(key=key, sha=sha, path=path, received=self._work.now))
        return await self.letter(key)

    async def letter(self, key: str) -> Letter:
        """A row of the ledger. Raises Missing for a letter that was not entered."""
        found = await self._work.first(select(Letter).where(col(Letter.key) == key))
        if found is None:
            raise Missing(f"The letter {key} was not entered.")
        return found

    async def settle(self, key: str, outcome: str, receipt: bytes | None = None) -> bool:
        """What became of a letter, and what it was answered; False where that was settled before."""
        open_ = (col(Letter.key) == key, col(Letter.outcome).is_(None))
        settled = {"outcome": outcome, "receipt": receipt, "settled": self._work.now}
        return await self._work.do(update(Letter).where(*open_).values(settled)) > 0

    async def unsettled(self) -> list[Letter]:
        """Letters that were entered and have no outcome, oldest first: what a crash left."""
        query = select(Letter).where(col(Letter.outcome).is_(None))
        return await self._work.all(query.order_by(col(Letter.received), col(Letter.key)))
