"""People, their Discord ids and email addresses, and claims to addresses."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, TypedDict, Unpack

from sqlalchemy import or_
from sqlalchemy.orm import aliased
from sqlmodel import col, delete, func, select, update

from storage.errors import AlreadyExists
from storage.models import (
    AddressClaim,
    Fact,
    GameTable,
    Identity,
    IdentityKind,
    Person,
    Seat,
    SeatRequest,
    Usage,
    columns_of_people,
)
from storage.repositories.mail import hash_secret, new_secret
from storage.transaction import Repository


def normalize_identity(kind: IdentityKind, value: str) -> str:
    """The form in which an identity is stored and compared: email addresses in lower case."""
    value = value.strip()
    return value.casefold() if kind == "email" else value


def mail_order(identities: Iterable[Identity]) -> list[Identity]:
    """The email addresses among these, the one that emails go to first: verified before unverified, working
    before faulty, then the one that was chosen last, then the oldest."""

    def rank(one: Identity) -> tuple[bool, bool, float, int]:
        chosen = one.preferred_at.timestamp() if one.preferred_at else 0.0
        return one.verified_at is None, bool(one.fault), -chosen, one.id

    return sorted((one for one in identities if one.kind == "email"), key=rank)


class PersonUpdate(TypedDict, total=False):
    """The columns of a person that can be updated."""

    name: str
    language: str | None
    time_zone: str | None
    preferences: dict[str, Any]


class PeopleRepository(Repository):
    """People and their identities."""

    async def add(self, name: str, language: str | None = None, time_zone: str | None = None) -> Person:
        """Add a person."""
        return await self._db.add(
            Person(name=name, language=language, time_zone=time_zone, created_at=self._db.now)
        )

    async def get(self, person_id: int) -> Person:
        """The person with this id. Raises NotFound."""
        return await self._db.get(Person, f"There is no person {person_id}.", id=person_id)

    async def find_by_identity(self, kind: IdentityKind, value: str) -> Person | None:
        """The person with this identity, verified or not."""
        query = select(Person).join(Identity)
        return await self._db.first(query.filter_by(kind=kind, value=normalize_identity(kind, value)))

    async def by_name(self, name: str) -> list[Person]:
        """The people with a name, in upper or lower case, and those who play under it."""
        plain = name.strip().casefold()
        seated = select(Seat.person_id).where(func.lower(Seat.name) == plain, col(Seat.left_at).is_(None))
        query = select(Person).where(or_(func.lower(Person.name) == plain, col(Person.id).in_(seated)))
        return await self._db.all(query.order_by(col(Person.id)))

    async def get_or_create(self, kind: IdentityKind, value: str, name: str, verified: bool = True) -> Person:
        """The person with this identity; added under this name where there is none."""
        if (existing := await self.find_by_identity(kind, value)) is not None:
            return existing
        person = await self.add(name)
        await self.add_identity(person.id, kind, value, verified)
        return person

    async def update(self, person_id: int, **values: Unpack[PersonUpdate]) -> None:
        """Update the given columns."""
        await self._db.renew_revisions_of_person(person_id)
        await self._db.execute(update(Person).filter_by(id=person_id).values(**values))

    async def identities(self, person_id: int) -> list[Identity]:
        """All identities of a person, oldest first."""
        return await self._db.all(select(Identity).filter_by(person_id=person_id).order_by(col(Identity.id)))

    async def verified_addresses(self, person_id: int) -> list[str]:
        """The verified email addresses of a person, the one that emails go to first."""
        return [one.value for one in mail_order(await self.identities(person_id)) if one.verified_at]

    async def all_verified_addresses(self) -> frozenset[str]:
        """The email addresses that anybody has verified."""
        query = select(Identity).filter_by(kind="email").where(col(Identity.verified_at).is_not(None))
        return frozenset(each.value for each in await self._db.all(query))

    async def prefer_address(self, person_id: int, address: str) -> None:
        """Emails to a person go to this one of their addresses from now on."""
        await self._update_address(person_id, address, preferred_at=self._db.now)

    async def record_bounces(self, person_id: int, address: str, bounces: dict[str, Any], fault: str) -> None:
        """What came back from an address, and why no emails go there; empty if they do."""
        await self._update_address(person_id, address, bounces=bounces, fault=fault)

    async def _update_address(self, person_id: int, address: str, **values: Any) -> None:
        await self._db.renew_revisions_of_person(person_id)
        value = normalize_identity("email", address)
        own = update(Identity).filter_by(person_id=person_id, kind="email", value=value)
        await self._db.execute(own.values(**values))

    async def add_identity(
        self, person_id: int, kind: IdentityKind, value: str, verified: bool = True
    ) -> Identity:
        """Give a person an identity, or verify it. Raises AlreadyExists where it is another person's."""
        value = normalize_identity(kind, value)
        existing = await self._db.first(select(Identity).filter_by(kind=kind, value=value))
        verified_at = self._db.now if verified else None
        await self._db.renew_revisions_of_person(person_id)
        if existing is None:
            return await self._db.add(
                Identity(person_id=person_id, kind=kind, value=value, verified_at=verified_at)
            )
        if existing.person_id != person_id:
            raise AlreadyExists(f"{value} belongs to somebody else.")
        if verified and existing.verified_at is None:
            await self._db.execute(update(Identity).filter_by(id=existing.id).values(verified_at=verified_at))
            existing.verified_at = verified_at
        return existing

    async def remove_identity(self, person_id: int, kind: IdentityKind, value: str) -> bool:
        """Remove an identity of a person; returns whether they had it."""
        await self._db.renew_revisions_of_person(person_id)
        value = normalize_identity(kind, value)
        owned = delete(Identity).filter_by(person_id=person_id, kind=kind, value=value)
        return await self._db.execute(owned) > 0

    async def create_address_claim(self, person_id: int, address: str, duration: timedelta) -> str:
        """A person claims an address; returns the code to send there. It replaces their earlier claims."""
        await self.delete_claims(person_id)
        code, now = new_secret(), self._db.now
        claim = AddressClaim(
            code_hash=hash_secret(code), person_id=person_id, address=normalize_identity("email", address),
            created_at=now, expires_at=now + duration,
        )  # fmt: skip
        await self._db.add(claim)
        return code

    async def claim_of_person(self, person_id: int) -> AddressClaim | None:
        """The claim of a person, unless it has expired."""
        query = select(AddressClaim).filter_by(person_id=person_id)
        return await self._db.first(query.where(col(AddressClaim.expires_at) > self._db.now))

    async def accept_claim(self, claim: AddressClaim) -> Identity:
        """The owner of the address has answered: it becomes a verified identity of the claimant.

        A person who has this address as their only identity is the same person, and is merged into the
        claimant. Raises AlreadyExists where the owner of the address has other identities too, or both have
        seats at one table.
        """
        await self._db.execute(delete(AddressClaim).filter_by(code_hash=claim.code_hash))
        other = await self.find_by_identity("email", claim.address)
        if other is not None and other.id != claim.person_id:
            if len(await self.identities(other.id)) > 1:
                raise AlreadyExists(f"{claim.address} belongs to {other.name}, who must give it up first.")
            if (code := await self._common_table(claim.person_id, other.id)) is not None:
                raise AlreadyExists(f"{claim.address} has a seat of its own at table {code}.")
            await self.merge(claim.person_id, other.id)
        return await self.add_identity(claim.person_id, "email", claim.address)

    async def _common_table(self, *person_ids: int) -> str | None:
        """The code of a table that is not over, at which two people have seats."""
        seated = select(GameTable.code).join(Seat, col(Seat.table_id) == col(GameTable.id))
        there = (col(Seat.person_id).in_(person_ids), col(Seat.left_at).is_(None))
        open_tables = seated.where(*there, col(GameTable.status).in_(("lobby", "running", "paused")))
        return await self._db.first(open_tables.group_by(col(GameTable.code)).having(func.count() > 1))

    async def delete_claims(self, person_id: int) -> None:
        """Delete all claims of a person."""
        await self._db.execute(delete(AddressClaim).filter_by(person_id=person_id))

    async def merge(self, kept_id: int, merged_id: int) -> None:
        """Give everything of the second person to the first, and delete the second.

        Where both have chosen something, the first's choice stays.
        """
        await self._db.renew_revisions_of_person(kept_id, merged_id)
        hosted = select(GameTable.id).filter_by(host_id=merged_id)
        await self._db.renew_revisions(*await self._db.all(hosted))
        await self._merge_facts(kept_id, merged_id)
        await self._db.execute(delete(Usage).filter_by(person_id=merged_id))
        asked = select(SeatRequest.table_id).filter_by(person_id=kept_id, answered_at=None)
        twice = delete(SeatRequest).filter_by(person_id=merged_id, answered_at=None)
        await self._db.execute(twice.where(col(SeatRequest.table_id).in_(asked)))
        await self.delete_claims(merged_id)
        for column in columns_of_people():
            theirs = update(column.table).where(column == merged_id)
            await self._db.execute(theirs.values({column: kept_id}))
        kept, merged = await self.get(kept_id), await self.get(merged_id)
        await self.update(
            kept_id,
            language=kept.language or merged.language,
            time_zone=kept.time_zone or merged.time_zone,
            preferences=merged.preferences | kept.preferences,
        )
        await self._db.execute(delete(Person).filter_by(id=merged_id))

    async def _merge_facts(self, kept_id: int, merged_id: int) -> None:
        """Facts of the second person become the first's, who keeps their own where both have one."""
        kept = aliased(Fact)
        same = select(kept.feature).where(
            col(kept.person_id) == kept_id,
            col(kept.feature) == col(Fact.feature),
            col(kept.table_id) == col(Fact.table_id),
        )
        await self._db.execute(delete(Fact).filter_by(person_id=merged_id).where(same.exists()))
        await self._db.execute(update(Fact).filter_by(person_id=merged_id).values(person_id=kept_id))
