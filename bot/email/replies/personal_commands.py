"""What a person sets for themselves by email, at no table in particular.

    settings                         how and when they are told
    settings quiet 22:00-07:00       changed; each line of the answer to `settings` can be sent back changed
    away until 2026-12-24, back
    turns, list                      the tables that wait for them, and all
    my data, erase me                all that is stored about them, and its end, after `yes` to an email
    addresses                        which addresses are theirs, and where their emails go
    link ann@example.org             another address; an email there asks for confirmation
    link ANN@WORK                    with an address that is theirs already: emails go there from now on
    unlink ann@example.org           it is no longer theirs

In a reply for a seat the same lines are read with those of the game. The From of an email can be forged, so
changes count only in a reply to an email of ours, whose reply address nobody else knows. The address that had
the emails so far is told when another gets them.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.features.privacy.person import Wanted
from bot.hub import people
from bot.hub.notifications.messages import unique_suffix
from bot.hub.people import load_standing
from bot.hub.request import QueryAnswer
from bot.service import Service
from engine.core.words import join_words
from mail.reading.line_text import first_word
from mail.reply_address import ReplyToken, normalize_address
from storage import UnitOfWork

WANTED: Mapping[str, Wanted] = {"my data": "export", "erase me": "erase"}
SHOWING = ("settings", "turns", "list")
"""Lines that change nothing, and count in any email."""
ADDRESS_WORDS = frozenset({"addresses", "link", "unlink"})


def is_about_oneself(service: Service, token: ReplyToken, line: str) -> bool:
    """Whether a line is a command about oneself: no prose that begins like one, and none that a game reads in
    a reply for a seat."""
    if _is_about_addresses(line) or line.strip().casefold() in WANTED:
        return True
    return token.seat is None and service.commands.is_personal(line)


def _is_about_addresses(line: str) -> bool:
    word, rest = first_word(line), line.split()[1:]
    if word == "addresses":
        return not rest
    return word in ADDRESS_WORDS and len(rest) == 1 and "@" in rest[0]


async def carry_out(service: Service, person_id: int, line: str, is_reply: bool) -> tuple[str, ...]:
    """Carry out a command about oneself; returns sentences. is_reply: to an email of ours.

    Raises ValueError with a sentence.
    """
    if _is_about_addresses(line):
        return (await _about_addresses(service, person_id, line, is_reply),)
    word = line.strip().casefold()
    if word in WANTED:
        text = await service.personal_data.ask_by_mail(person_id, WANTED[word])
    elif word not in SHOWING and not is_reply:
        raise ValueError(f"To protect your settings, reply to this email with `{line.strip()}`.")
    else:
        result = await service.submit_personal(person_id, [line])
        if not isinstance(result, QueryAnswer):
            raise ValueError(getattr(result, "reason", ""))
        text = result.text
    return tuple(filter(None, (each.strip() for each in text.splitlines())))


async def _about_addresses(service: Service, person_id: int, line: str, is_reply: bool) -> str:
    word = first_word(line)
    if word == "addresses":
        async with service.store.read() as unit:
            return await addresses_text(unit, person_id)
    address = normalize_address(line.split()[1].strip("<>").removeprefix("mailto:"))
    if not is_reply:
        raise ValueError(f"To protect your seats, reply to this email with `{word} {address}`.")
    return await (link if word == "link" else unlink)(service, person_id, address)


async def addresses_text(unit: UnitOfWork, person_id: int) -> str:
    """Which addresses a person has, and where their emails go."""
    verified = await unit.people.verified_addresses(person_id)
    if not verified:
        return "No email address is linked."
    standing = await load_standing(unit, person_id)
    where = f"Emails go to {standing.address}" if standing.wants_mail else "Emails are off"
    others = f"; orders may also come from {join_words(verified[1:])}" if verified[1:] else ""
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
