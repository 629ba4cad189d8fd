"""The email addresses of a person: `addresses` lists them, `link` adds one or lets emails go there, `unlink`
gives one up.

An email to a new address asks for confirmation, and so does one to an address whose emails came back or were
stopped. The address that had the emails so far is told when another gets them.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, Lines, PersonCommand
from bot.hub.notifications.waiting import waiting_tables
from bot.hub.people import (
    Limits,
    addresses_text,
    claim_address,
    load_standing,
    prefer_address,
)
from bot.hub.request import QueryAnswer
from bot.hub.timers import PING_KIND, recall
from mail.reply_address import normalize_address
from storage import UnitOfWork


class AddressCommands:
    """Carries out lines about a person's own email addresses."""

    def __init__(self, cache: TableCache, limits: Limits) -> None:
        """limits: how often on one day a person may name a new address."""
        self._cache, self._store, self._limits = cache, cache.store, limits

    def commands(self) -> list[Command]:
        """`addresses`, `link`, `unlink`."""
        listing = Form("addresses", "which email addresses are yours, and where your emails go")
        linking = Form("link ADDRESS", "get your emails at an address, once you have confirmed it")
        giving_up = Form("unlink ADDRESS", "an address is no longer yours")
        return [
            PersonCommand("addresses", (listing,), self._list, Lines.NONE),
            PersonCommand("link", (linking,), self._link, Lines.NONE),
            PersonCommand("unlink", (giving_up,), self._unlink, Lines.NONE),
        ]

    async def _list(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        async with self._store.read() as unit:
            return QueryAnswer("addresses", await addresses_text(unit, person_id))

    async def _link(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        async with self._store.begin() as unit:
            address = _address_in(lines[0])
            if await _gets_emails(unit, person_id, address):
                told = await prefer_address(unit, person_id, address)
            else:
                await self._limits.count(unit, person_id, "claims")
                await claim_address(unit, person_id, address)
                told = f"An email goes to {address}. Reply `yes` to it to confirm the address."
        self._cache.wake_subscribers()
        return QueryAnswer("addresses", told)

    async def _unlink(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        async with self._store.begin() as unit:
            told = await _given_up(unit, person_id, _address_in(lines[0]))
        self._cache.wake_subscribers()
        return QueryAnswer("addresses", told)


def _address_in(line: str) -> str:
    """The address behind the word of a line. Raises ValueError with a sentence."""
    return normalize_address("".join(line.split()[1:]).strip("<>").removeprefix("mailto:"))


async def _gets_emails(unit: UnitOfWork, person_id: int, address: str) -> bool:
    """Whether an address of a person works, and emails are wanted: nothing is to be confirmed then."""
    own = await unit.people.identities(person_id)
    works = any(each.value == address and each.verified_at and not each.fault for each in own)
    return works and (await load_standing(unit, person_id)).wants_mail


async def _given_up(unit: UnitOfWork, person_id: int, address: str) -> str:
    """Take an address from a person. Raises ValueError with a sentence."""
    if address not in await unit.people.verified_addresses(person_id):
        raise ValueError(f"{address} is not linked. {await addresses_text(unit, person_id)}")
    if len(await unit.people.identities(person_id)) == 1:
        raise ValueError(f"{address} is the only way to its owner, so it stays. Emails can be stopped.")
    await unit.people.remove_identity(person_id, "email", address)
    unsent = await _send_elsewhere(unit, person_id, address)
    told = f"{address} is no longer linked. {await addresses_text(unit, person_id)}"
    return "\n\n".join([told, *(["These emails were on their way there:"] if unsent else []), *unsent])


async def _send_elsewhere(unit: UnitOfWork, person_id: int, former: str) -> list[str]:
    """Let emails that wait for an address that is given up go to another of the person. Who has none is asked
    on Discord instead; returns what the other emails would have said."""
    if others := await unit.people.verified_addresses(person_id):
        await unit.outbox.redirect(person_id, former, others[0])
        return []
    if withdrawn := await unit.outbox.withdraw(person_id, former):
        for clock in [each.clock for each in await waiting_tables(unit, person_id) if each.clock]:
            await recall(unit, PING_KIND, clock, unit.now)
    return list(filter(None, withdrawn))
