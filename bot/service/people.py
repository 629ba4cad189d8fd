"""Who somebody is, by whichever way he speaks: one person for each Discord id and each address."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from bot.service.notifications import Notification
from mail import normalize_address
from storage import NewMessage, Person, UnitOfWork, hash_secret

CLAIM_LIFETIME = timedelta(days=3)
MAX_NAME_LENGTH = 20


async def person_by_discord(unit: UnitOfWork, user: int, name: str) -> Person:
    """The person with that Discord id, made under that name where there is none yet."""
    return await unit.people.get_or_create("discord", str(user), name)


async def person_by_address(unit: UnitOfWork, address: str, name: str = "") -> Person:
    """The person with that mail address, made where there is none yet; the address is then unverified.

    Raises ValueError with a sentence where it is not one plain address.
    """
    plain = normalize_address(address)
    return await unit.people.get_or_create("email", plain, name or player_name(plain), verified=False)


async def claim_address(unit: UnitOfWork, person: int, address: str) -> str:
    """Somebody says that an address is his: a letter there asks for a confirming reply.

    The parcel is a notice of kind `claim`; the mail desk makes the letter of it. Gives the address as
    it is compared. Raises ValueError with a sentence where it is not one plain address.
    """
    plain = normalize_address(address)
    code = await unit.people.create_address_claim(person, plain, CLAIM_LIFETIME)
    notice = Notification("claim", 0, 0, person_id=person)
    await unit.outbox.enqueue(
        NewMessage(
            idempotency_key=f"claim.{hash_secret(code)[:24]}",
            channel="mail",
            address={"person": person, "email": plain},
            payload=msgspec.json.encode(notice),
            ordering_key=f"mail:{person}",
            collapse_key=f"claim:{person}",
        )
    )
    return plain


def player_name(text: str) -> str:
    """A name as tables take it, from what somebody is called elsewhere: letters, digits, single spaces."""
    first = text.partition("@")[0]
    plain = "".join(sign if sign.isalnum() else " " for sign in first)
    return " ".join(plain.split())[:MAX_NAME_LENGTH].strip() or "Player"
