"""People, and the Discord ids and addresses by which they are known."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any, TypedDict, Unpack

from sqlmodel import col, delete, select, update

from storage.errors import Missing, StoreError, Taken
from storage.tables import Claim, Identity, IdentityKind, Move, Person, Seat, Table, Token
from storage.work import Subject

ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def secret_word(length: int = 26) -> str:
    """A secret of 5 bits a letter, in letters that survive every mailer: lower-case base32."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def hashed(secret: str) -> str:
    """What is kept of a secret: the SHA-256 of its lower-case form."""
    return hashlib.sha256(secret.strip().lower().encode()).hexdigest()


def normal(kind: IdentityKind, value: str) -> str:
    """One spelling for one identity: addresses in lower case."""
    value = value.strip()
    return value.casefold() if kind == "email" else value


class PersonChange(TypedDict, total=False):
    """What of a person can change."""

    name: str
    language: str | None
    zone: str | None
    preferences: dict[str, Any]


class People(Subject):
    """Who plays."""

    async def add(self, name: str, language: str | None = None, zone: str | None = None) -> Person:
        """Somebody new."""
        return await self._work.add(Person(name=name, language=language, zone=zone, created=self._work.now))

    async def get(self, person_id: int) -> Person:
        """Raises Missing for somebody who is not there."""
        found = await self._work.first(select(Person).where(col(Person.id) == person_id))
        if found is None:
            raise Missing(f"There is no person {person_id}.")
        return found

    async def find(self, kind: IdentityKind, value: str) -> Person | None:
        """Whose identity this is, verified or not."""
        query = select(Person).join(Identity).where(
            col(Identity.kind) == kind, col(Identity.value) == normal(kind, value)
        )  # fmt: skip
        return await self._work.first(query)

    async def find_or_add(self, kind: IdentityKind, value: str, name: str, verified: bool = True) -> Person:
        """The person with this identity, made under this name where there is none yet."""
        if (known := await self.find(kind, value)) is not None:
            return known
        person = await self.add(name)
        await self.identify(person.id, kind, value, verified)
        return person

    async def change(self, person_id: int, **details: Unpack[PersonChange]) -> None:
        """Change what is named, leave the rest."""
        await self._work.do(update(Person).where(col(Person.id) == person_id).values(**details))

    async def identities(self, person_id: int) -> list[Identity]:
        """By what somebody is known, oldest first."""
        query = select(Identity).where(col(Identity.person_id) == person_id)
        return await self._work.all(query.order_by(col(Identity.id)))

    async def addresses(self, person_id: int) -> list[str]:
        """Somebody's verified addresses, oldest first."""
        found = await self.identities(person_id)
        return [identity.value for identity in found if identity.kind == "email" and identity.verified_at]

    async def identify(
        self, person_id: int, kind: IdentityKind, value: str, verified: bool = True
    ) -> Identity:
        """Give somebody an identity, or verify the one he has. Raises Taken where it is another's."""
        value = normal(kind, value)
        query = select(Identity).where(col(Identity.kind) == kind, col(Identity.value) == value)
        known = await self._work.first(query)
        when = self._work.now if verified else None
        if known is None:
            return await self._work.add(
                Identity(person_id=person_id, kind=kind, value=value, verified_at=when)
            )
        if known.person_id != person_id:
            raise Taken(f"{value} is already known as somebody else's.")
        if verified and known.verified_at is None:
            await self._work.do(update(Identity).where(col(Identity.id) == known.id).values(verified_at=when))
            known.verified_at = when
        return known

    async def forget(self, person_id: int, kind: IdentityKind, value: str) -> bool:
        """Take an identity away from somebody; whether it was his."""
        mine = col(Identity.person_id) == person_id
        which = (col(Identity.kind) == kind, col(Identity.value) == normal(kind, value))
        return await self._work.do(delete(Identity).where(mine, *which)) > 0

    async def claim(self, person_id: int, address: str, lasting: timedelta) -> str:
        """Somebody says that an address is his: the code to send there. It ends his earlier claims."""
        await self.disclaim(person_id)
        code = secret_word()
        now = self._work.now
        claim = Claim(
            code_hash=hashed(code),
            person_id=person_id,
            value=normal("email", address),
            created=now,
            expires=now + lasting,
        )
        await self._work.add(claim)
        return code

    async def claimed(self, code: str) -> Claim | None:
        """The claim that a code belongs to, while it holds."""
        query = select(Claim).where(col(Claim.code_hash) == hashed(code), col(Claim.expires) > self._work.now)
        return await self._work.first(query)

    async def claim_of(self, person_id: int) -> Claim | None:
        """What somebody claims, while it holds."""
        mine = (col(Claim.person_id) == person_id, col(Claim.expires) > self._work.now)
        return await self._work.first(select(Claim).where(*mine))

    async def confirm(self, code: str) -> Identity:
        """The code came back from the address: see `verify`. Raises StoreError for one that does not hold."""
        claim = await self.claimed(code)
        if claim is None:
            raise StoreError("This code is not known, or no longer holds; ask for a new one.")
        return await self.verify(claim)

    async def verify(self, claim: Claim) -> Identity:
        """The address has answered: it is the claimant's.

        Somebody who was known by that address alone was the same person all along and is merged into
        the claimant. Raises Taken where the address belongs to somebody with another identity too.
        """
        await self._work.do(delete(Claim).where(col(Claim.code_hash) == claim.code_hash))
        other = await self.find("email", claim.value)
        if other is not None and other.id != claim.person_id:
            if len(await self.identities(other.id)) > 1:
                raise Taken(f"{claim.value} belongs to {other.name}, who has to give it up first.")
            await self.merge(claim.person_id, other.id)
        return await self.identify(claim.person_id, "email", claim.value)

    async def disclaim(self, person_id: int) -> None:
        """Somebody claims nothing any more."""
        await self._work.do(delete(Claim).where(col(Claim.person_id) == person_id))

    async def merge(self, kept: int, gone: int) -> None:
        """Two people are one: all that the second had and did is the first's."""
        await self._work.do(update(Table).where(col(Table.host_id) == gone).values(host_id=kept))
        for kind in (Identity, Seat, Move, Token):
            await self._work.do(update(kind).where(col(kind.person_id) == gone).values(person_id=kept))
        await self._work.do(delete(Claim).where(col(Claim.person_id) == gone))
        await self._work.do(delete(Person).where(col(Person.id) == gone))
