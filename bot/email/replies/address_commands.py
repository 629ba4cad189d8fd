"""The addresses of a person by email: they may have several, play from each, and give each up.

    addresses                 which addresses are yours, and where your emails go
    link ann@example.org      another address; an email there asks for confirmation
    link ANN@WORK             with an address that is yours already: emails go there from now on
    unlink ann@example.org    it is no longer yours

The From of an email can be forged, so `link` and `unlink` count only in a reply to an email of ours, whose
reply address nobody else knows. The address that had the emails so far is told when another gets them.
"""

from __future__ import annotations

from bot.hub import people
from bot.hub.notifications.messages import unique_suffix
from bot.hub.people import load_standing
from bot.position import text_views
from bot.service import Service
from mail import normalize_address
from mail.reading.line_text import first_word
from storage import UnitOfWork

WORDS = frozenset({"addresses", "link", "unlink"})


def is_address_command(line: str) -> bool:
    """Whether a line is a command about addresses, and no prose that begins like one."""
    word, rest = first_word(line), line.split()[1:]
    if word == "addresses":
        return not rest
    return word in WORDS and len(rest) == 1 and "@" in rest[0]


async def run(service: Service, person_id: int, line: str, is_reply: bool) -> tuple[str, ...]:
    """Carry out a command about addresses; returns sentences. is_reply: to an email of ours.

    Raises ValueError with a sentence.
    """
    word = first_word(line)
    if word == "addresses":
        async with service.store.read() as unit:
            return (await addresses_text(unit, person_id),)
    address = normalize_address(line.split()[1].strip("<>").removeprefix("mailto:"))
    if not is_reply:
        raise ValueError(f"To protect your seats, reply to this email with `{word} {address}`.")
    return (await (link if word == "link" else unlink)(service, person_id, address),)


async def addresses_text(unit: UnitOfWork, person_id: int) -> str:
    """Which addresses a person has, and where their emails go."""
    verified = await unit.people.verified_addresses(person_id)
    if not verified:
        return "No email address is linked."
    standing = await load_standing(unit, person_id)
    where = f"Emails go to {standing.address}" if standing.wants_mail else "Emails are off"
    others = f"; orders may also come from {text_views.join_words(verified[1:])}" if verified[1:] else ""
    return f"{where}{others}."


async def link(service: Service, person_id: int, address: str) -> str:
    """Let emails go to an address of a person, or ask at a new one. Raises ValueError with a sentence."""
    async with service.store.begin() as unit:
        if address in await unit.people.verified_addresses(person_id):
            return await prefer(unit, person_id, address)
    await service.claim_address(person_id, address)
    return f"An email goes to {address}. Reply `yes` to it to confirm the address."


async def prefer(unit: UnitOfWork, person_id: int, address: str) -> str:
    """Let emails go to a verified address of a person; the address that had them so far is told."""
    former = (await load_standing(unit, person_id)).address
    await unit.people.prefer_address(person_id, address)
    await unit.people.record_bounces(person_id, address, {}, "")
    if former and former != address:
        sentence = (
            f"Your emails go to {address} from now on; you may still write from {former}. "
            f"If that was not you, reply `unlink {address}`."
        )
        key = f"prefer.{unique_suffix()}"
        await unit.outbox.enqueue(people.account_notice(person_id, former, sentence, key))
    return await addresses_text(unit, person_id)


async def unlink(service: Service, person_id: int, address: str) -> str:
    """Take an address from a person. Raises ValueError with a sentence."""
    async with service.store.begin() as unit:
        if address not in await unit.people.verified_addresses(person_id):
            raise ValueError(f"{address} is not linked. {await addresses_text(unit, person_id)}")
        if len(await unit.people.identities(person_id)) == 1:
            raise ValueError(f"{address} is the only way to its owner, so it stays. Emails can be stopped.")
        await unit.people.remove_identity(person_id, "email", address)
        return f"{address} is no longer linked. {await addresses_text(unit, person_id)}"
