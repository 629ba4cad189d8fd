"""People, and the Discord ids and addresses by which they are known."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any, TypedDict, Unpack

from sqlmodel import col, delete, select, update

from storage.errors import AlreadyExists, NotFound, StoreError
from storage.models import (
    AddressClaim,
    GameTable,
    Identity,
    IdentityKind,
    MailToken,
    MoveRecord,
    Person,
    Seat,
)
from storage.transaction import Repository

BASE32_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def new_secret(length: int = 26) -> str:
    """A secret of 5 bits a letter, in letters that survive every mailer: lower-case base32."""
    return "".join(secrets.choice(BASE32_ALPHABET) for _ in range(length))


def hash_secret(secret: str) -> str:
    """What is kept of a secret: the SHA-256 of its lower-case form."""
    return hashlib.sha256(secret.strip().lower().encode()).hexdigest()


def normalize_identity(kind: IdentityKind, value: str) -> str:
    """One spelling for one identity: addresses in lower case."""
    value = value.strip()
    return value.casefold() if kind == "email" else value


class PersonUpdate(TypedDict, total=False):
    """What of a person can change."""

    name: str
    language: str | None
    time_zone: str | None
    preferences: dict[str, Any]


class PeopleRepository(Repository):
    """Who plays."""

    async def add(self, name: str, language: str | None = None, zone: str | None = None) -> Person:
        """Somebody new."""
        return await self._transaction.add(
            Person(name=name, language=language, time_zone=zone, created_at=self._transaction.now)
        )

    async def get(self, person_id: int) -> Person:
        """Raises Missing for somebody who is not there."""
        found = await self._transaction.first(select(Person).where(col(Person.id) == person_id))
        if found is None:
            raise NotFound(f"There is no person {person_id}.")
        return found

    async def find_by_identity(self, kind: IdentityKind, value: str) -> Person | None:
        """Whose identity this is, verified or not."""
        query = select(Person).join(Identity).where(
            col(Identity.kind) == kind, col(Identity.value) == normalize_identity(kind, value)
        )  # fmt: skip
        return await self._transaction.first(query)

    async def get_or_create(self, kind: IdentityKind, value: str, name: str, verified: bool = True) -> Person:
        """The person with this identity, made under this name where there is none yet."""
        if (known := await self.find_by_identity(kind, value)) is not None:
            return known
        person = await self.add(name)
        await self.add_identity(person.id, kind, value, verified)
        return person

    async def update(self, person_id: int, **details: Unpack[PersonUpdate]) -> None:
        """Change what is named, leave the rest."""
        await self._transaction.execute(update(Person).where(col(Person.id) == person_id).values(**details))

    async def identities(self, person_id: int) -> list[Identity]:
        """By what somebody is known, oldest first."""
        query = select(Identity).where(col(Identity.person_id) == person_id)
        return await self._transaction.all(query.order_by(col(Identity.id)))

    async def verified_addresses(self, person_id: int) -> list[str]:
        """Somebody's verified addresses, oldest first."""
        found = await self.identities(person_id)
        return [identity.value for identity in found if identity.kind == "email" and identity.verified_at]

    async def add_identity(
        self, person_id: int, kind: IdentityKind, value: str, verified: bool = True
    ) -> Identity:
        """Give somebody an identity, or verify the one he has. Raises Taken where it is another's."""
        value = normalize_identity(kind, value)
        query = select(Identity).where(col(Identity.kind) == kind, col(Identity.value) == value)
        known = await self._transaction.first(query)
        when = self._transaction.now if verified else None
        if known is None:
            return await self._transaction.add(
                Identity(person_id=person_id, kind=kind, value=value, verified_at=when)
            )
        if known.person_id != person_id:
            raise AlreadyExists(f"{value} is already known as somebody else's.")
        if verified and known.verified_at is None:
            await self._transaction.execute(
                update(Identity).where(col(Identity.id) == known.id).values(verified_at=when)
            )
            known.verified_at = when
        return known

    async def remove_identity(self, person_id: int, kind: IdentityKind, value: str) -> bool:
        """Take an identity away from somebody; whether it was his."""
        mine = col(Identity.person_id) == person_id
        which = (col(Identity.kind) == kind, col(Identity.value) == normalize_identity(kind, value))
        return await self._transaction.execute(delete(Identity).where(mine, *which)) > 0

    async def create_address_claim(self, person_id: int, address: str, lasting: timedelta) -> str:
        """Somebody says that an address is his: the code to send there. It ends his earlier claims."""
        await self.delete_claims(person_id)
        code = new_secret()
        now = self._transaction.now
        claim = AddressClaim(
            code_hash=hash_secret(code),
            person_id=person_id,
            address=normalize_identity("email", address),
            created_at=now,
            expires_at=now + lasting,
        )
        await self._transaction.add(claim)
        return code

    async def claim_by_code(self, code: str) -> AddressClaim | None:
        """The claim that a code belongs to, while it holds."""
        query = select(AddressClaim).where(
            col(AddressClaim.code_hash) == hash_secret(code),
            col(AddressClaim.expires_at) > self._transaction.now,
        )
        return await self._transaction.first(query)

    async def claim_of_person(self, person_id: int) -> AddressClaim | None:
        """What somebody claims, while it holds."""
        mine = (
            col(AddressClaim.person_id) == person_id,
            col(AddressClaim.expires_at) > self._transaction.now,
        )
        return await self._transaction.first(select(AddressClaim).where(*mine))

    async def confirm_claim(self, code: str) -> Identity:
        """The code came back from the address: see `verify`. Raises StoreError for one that does not hold."""
        claim = await self.claim_by_code(code)
        if claim is None:
            raise StoreError("This code is not known, or no longer holds; ask for a new one.")
        return await self.accept_claim(claim)

    async def accept_claim(self, claim: AddressClaim) -> Identity:
        """The address has answered: it is the claimant's.

        Somebody who was known by that address alone was the same person all along and is merged into
        the claimant. Raises Taken where the address belongs to somebody with another identity too.
        """
        await self._transaction.execute(
            delete(AddressClaim).where(col(AddressClaim.code_hash) == claim.code_hash)
        )
        other = await self.find_by_identity("email", claim.address)
        if other is not None and other.id != claim.person_id:
            if len(await self.identities(other.id)) > 1:
                raise AlreadyExists(f"{claim.address} belongs to {other.name}, who has to give it up first.")
            await self.merge(claim.person_id, other.id)
        return await self.add_identity(claim.person_id, "email", claim.address)

    async def delete_claims(self, person_id: int) -> None:
        """Somebody claims nothing any more."""
        await self._transaction.execute(delete(AddressClaim).where(col(AddressClaim.person_id) == person_id))

    async def merge(self, kept: int, gone: int) -> None:
        """Two people are one: all that the second had and did is the first's."""
        await self._transaction.execute(
            update(GameTable).where(col(GameTable.host_id) == gone).values(host_id=kept)
        )
        for kind in (Identity, Seat, MoveRecord, MailToken):
            await self._transaction.execute(
                update(kind).where(col(kind.person_id) == gone).values(person_id=kept)
            )
        await self._transaction.execute(delete(AddressClaim).where(col(AddressClaim.person_id) == gone))
        await self._transaction.execute(delete(Person).where(col(Person.id) == gone))
