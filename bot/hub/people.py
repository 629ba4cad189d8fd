"""Persons: one for each Discord id and each mail address; what each may ask of the service on one day, and
what the host has set about their data.
"""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from bot.hub.notifications.messages import Notification, unique_suffix
from bot.position.times import duration_text
from engine.core.words import join_words
from mail.reply_address import normalize_address
from storage import Identity, NewMessage, Person, Store, UnitOfWork, hash_secret, mail_order

CLAIM_LIFETIME = timedelta(days=3)
INVITATIONS_TO_STRANGER = 3  # that an unverified address gets in `STRANGER_WINDOW`, from all hosts together
STRANGER_WINDOW = timedelta(days=7)
MAX_NAME_LENGTH = 20


async def person_by_discord(unit: UnitOfWork, user: int, name: str) -> Person:
    """The person with a Discord id, created under that name, or what a player's name may have of it, if there
    is none."""
    return await unit.people.get_or_create("discord", str(user), player_name(name))


async def person_by_address(unit: UnitOfWork, address: str, name: str = "") -> Person:
    """The person with a mail address, created if there is none; the address is then unverified.

    Raises ValueError with a sentence if it is not one plain address.
    """
    plain = normalize_address(address)
    return await unit.people.get_or_create("email", plain, name or player_name(plain), verified=False)


@asynccontextmanager
async def new_person(store: Store, name: str) -> AsyncIterator[int]:
    """The id of a person without an account and an address, who is added for what the block does, and deleted
    again where it raises ValueError."""
    async with store.begin() as unit:
        person_id = (await unit.people.add(name)).id
    try:
        yield person_id
    except ValueError:
        async with store.begin() as unit:
            await unit.personal_data.forget(person_id, ())
        raise


async def fault_of(unit: UnitOfWork, address: str) -> str:
    """Why emails to a verified address do not arrive; empty if they do, or the address is nobody's."""
    person = await unit.people.find_by_identity("email", address)
    identities = await unit.people.identities(person.id) if person else []
    return next((one.fault for one in identities if one.value == address.casefold()), "")


async def check_invitable(unit: UnitOfWork, person: Person, address: str, name: str) -> None:
    """Raises ValueError with a sentence where no invitation may go to the address of a person."""
    plain = normalize_address(address)
    is_stranger = plain not in await unit.people.verified_addresses(person.id)
    if person.preferences.get("mail") is False:
        raise ValueError(f"{plain} wants no emails, so {name} cannot be invited by email.")
    if fault := await fault_of(unit, plain):
        if not is_stranger:
            raise ValueError(f"Emails to {plain} do not arrive: {fault}.")
        await unit.people.record_bounces(person.id, plain, {}, "")  # tried once more
    asked = await unit.outbox.count("mail", unit.now - STRANGER_WINDOW, email=plain)
    if is_stranger and asked >= INVITATIONS_TO_STRANGER:
        raise ValueError(f"{plain} has had enough invitations this week, and has not answered.")


async def claim_address(unit: UnitOfWork, person_id: int, address: str) -> str:
    """A person claims an address: a `claim` notification there asks for a confirming reply.

    Returns the normalized address. Raises ValueError with a sentence if it is not one plain address.
    """
    plain = normalize_address(address)
    code = await unit.people.create_address_claim(person_id, plain, CLAIM_LIFETIME)
    email = personal_email(
        person_id, plain, "claim", f"claim.{hash_secret(code)[:24]}", collapse=f"claim:{person_id}"
    )
    await unit.outbox.enqueue(email._replace(ordering_key=f"mail:{person_id}"))
    return plain


async def prefer_address(unit: UnitOfWork, person_id: int, address: str) -> str:
    """Let emails go to a verified address of a person; the address that had them so far is told. Returns
    where they go."""
    former = (await load_standing(unit, person_id)).address
    await unit.people.prefer_address(person_id, address)
    await unit.people.record_bounces(person_id, address, {}, "")
    if former and former != address:
        sentence = (
            f"Your emails go to {address} from now on; you may still write from {former}. "
            f"If that was not you, reply `unlink {address}`."
        )
        key = f"account.{person_id}.prefer.{unique_suffix()}"
        await unit.outbox.enqueue(personal_email(person_id, former, "account", key, sentence))
    return await addresses_text(unit, person_id)


async def addresses_text(unit: UnitOfWork, person_id: int) -> str:
    """Which addresses a person has, and where their emails go."""
    verified = await unit.people.verified_addresses(person_id)
    if not verified:
        return "No email address is linked."
    standing = await load_standing(unit, person_id)
    where = f"Emails go to {standing.address}" if standing.wants_mail else "Emails are off"
    others = f"; you may also write from {join_words(verified[1:])}" if verified[1:] else ""
    return f"{where}{others}."


def personal_email(
    person_id: int, address: str, kind: str, key: str, *sentences: str, collapse: str | None = None
) -> NewMessage:
    """An email to a person at one of their addresses, about no table. key: two emails with the same one are
    one. collapse: a later one with the same takes the place of one that waits."""
    return NewMessage(
        idempotency_key=key,
        channel="mail",
        address={"person": person_id, "email": address},
        payload=msgspec.json.encode(Notification(kind, 0, 0, person_id=person_id, sentences=sentences)),
        collapse_key=collapse,
    )


def player_name(text: str) -> str:
    """A name that is valid at a table, from a Discord name or a mail address: letters, digits, single
    spaces. Letters of fancy fonts become plain ones, which others can type; marks that no letter has are left
    out."""
    name = unicodedata.normalize("NFKC", text).partition("@")[0]
    letters = (each for each in name if not unicodedata.combining(each))
    plain = "".join(each if each.isalnum() else " " for each in letters)
    return " ".join(plain.split())[:MAX_NAME_LENGTH].strip() or "Player"


@dataclass(frozen=True, slots=True)
class Standing:
    """How the mail of a person stands. fault: why none of their addresses works; empty if one does.

    address: where their emails go, or would go; empty without a verified address.
    """

    wants_mail: bool
    fault: str
    address: str


def standing_of(person: Person, identities: Iterable[Identity]) -> Standing:
    """How the mail of a person stands."""
    verified = [one for one in mail_order(identities) if one.verified_at]
    wants_mail = person.preferences.get("mail") is not False
    return Standing(wants_mail, verified[0].fault if verified else "", verified[0].value if verified else "")


async def load_standing(unit: UnitOfWork, person_id: int) -> Standing:
    """How the mail of a person stands, from the store."""
    return standing_of(await unit.people.get(person_id), await unit.people.identities(person_id))


Kind = Literal["tables", "invitations", "claims", "plans", "pictures", "exports", "requests", "snapshots"]

LIMITS: Mapping[Kind, tuple[int, str]] = {
    "tables": (10, "You have opened {limit} tables today"),
    "invitations": (30, "You have invited {limit} players today"),
    "claims": (5, "You have named {limit} email addresses today"),
    "plans": (1000, "You have made {limit} plans today"),
    "pictures": (300, "You have asked for {limit} pictures today"),
    "requests": (10, "You have asked for {limit} seats today"),
    "exports": (30, "You have asked for {limit} files today"),
    "snapshots": (20, "You have shown {limit} games today"),
}
"""How often a person may do each on one day, and what they read then."""


class LimitReached(ValueError):
    """A person has done something as often as they may on one day; the message is for them."""


class Limits:
    """Counts what each person does on a day, of UTC. Kinds that are not given have their default.

    A count is kept in the store, in the transaction of what is counted, so neither a restart nor a second
    process forgets it. The operator has no limits.
    """

    def __init__(self, limits: Mapping[Kind, int] | None = None) -> None:
        self._limits = {kind: most for kind, (most, _) in LIMITS.items()} | dict(limits or {})

    async def count(self, unit: UnitOfWork, person_id: int | None, kind: Kind) -> None:
        """Count one in the transaction of what is done. Raises LimitReached."""
        if person_id is None:
            return
        limit = self._limits[kind]
        if await unit.usage.add(person_id, kind, f"{unit.now:%Y-%m-%d}") > limit:
            left = datetime.combine(unit.now.date() + timedelta(days=1), time(), UTC) - unit.now
            raise LimitReached(
                f"{LIMITS[kind][1].format(limit=limit)}, the most on one day. More is possible again in "
                f"{duration_text(left)}, at 00:00 UTC; or ask the operator."
            )

    async def count_query(self, store: Store, person_id: int | None, kind: Kind) -> None:
        """Count one of what writes nothing else. Raises LimitReached."""
        if person_id is not None:
            async with store.begin(excludes_others=False) as unit:
                await self.count(unit, person_id, kind)


class PrivacySettings(NamedTuple):
    """url: where the host says what is kept of people; empty for none. game_days, log_days: for how many days
    games that are over and lines of the log are kept; 0 without an end. data: the folder of this process.
    has_mailbox: mail of people lies in a mailbox."""

    url: str = ""
    game_days: int = 0
    log_days: int = 0
    data: Path | None = None
    has_mailbox: bool = False
