"""Who somebody is, by whichever way he speaks: one person for each Discord id and each address."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from bot.notices import Notice
from mail import addr_spec
from storage import Parcel, Person, Unit, hashed

CLAIM_HOLDS = timedelta(days=3)
LONGEST_NAME = 20


async def by_discord(unit: Unit, user: int, name: str) -> Person:
    """The person with that Discord id, made under that name where there is none yet."""
    return await unit.people.find_or_add("discord", str(user), name)


async def by_address(unit: Unit, address: str, name: str = "") -> Person:
    """The person with that mail address, made where there is none yet; the address is then unverified.

    Raises ValueError with a sentence where it is not one plain address.
    """
    plain = addr_spec(address)
    return await unit.people.find_or_add("email", plain, name or table_name(plain), verified=False)


async def claim_address(unit: Unit, person: int, address: str) -> str:
    """Somebody says that an address is his: a letter there asks for a confirming reply.

    The parcel is a notice of kind `claim`; the mail desk makes the letter of it. Gives the address as
    it is compared. Raises ValueError with a sentence where it is not one plain address.
    """
    plain = addr_spec(address)
    code = await unit.people.claim(person, plain, CLAIM_HOLDS)
    notice = Notice("claim", 0, 0, person=person)
    await unit.outbox.enqueue(
        Parcel(
            key=f"claim.{hashed(code)[:24]}",
            channel="mail",
            address={"person": person, "email": plain},
            payload=msgspec.json.encode(notice),
            lane=f"mail:{person}",
            supersedes=f"claim:{person}",
        )
    )
    return plain


def table_name(text: str) -> str:
    """A name as tables take it, from what somebody is called elsewhere: letters, digits, single spaces."""
    first = text.partition("@")[0]
    plain = "".join(sign if sign.isalnum() else " " for sign in first)
    return " ".join(plain.split())[:LONGEST_NAME].strip() or "Player"
