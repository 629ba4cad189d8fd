"""Mail from the terminal: addresses of players are linked, stopped and started."""

from __future__ import annotations

import re

from bot.email.reachability import Reachability, waiting_sentence
from bot.email.replies import personal_commands
from bot.hub import people
from bot.hub.info import TableInfo
from bot.hub.people import load_standing
from bot.service import Service
from mail import normalize_address

_PLAYER_MAIL = re.compile(r"(.{1,40}?) mail(?: (\S+(?: off)?))?", re.IGNORECASE)


def player_mail(rest: str) -> tuple[str, str] | None:
    """The name and the argument of `player NAME mail ADDRESS [off]|on|off`; None for another line."""
    match = _PLAYER_MAIL.fullmatch(rest.strip())
    return (match[1].strip(), match[2] or "") if match else None


async def set_mail(service: Service, table: TableInfo, name: str, argument: str) -> str:
    """Link an address of a player, or stop or start their emails. Raises ValueError with a sentence."""
    player = next((p for p in table.seated_players if p.name.casefold() == name.casefold()), None)
    if player is None:
        raise ValueError(f"There is no player {name} at table {table.code}.")
    match argument.casefold():
        case "":
            return await _mail_text(service, player.person_id, player.name)
        case "on":
            waiting = await Reachability(service).restore(player.person_id)
            return f"Emails go to {player.name} again.{waiting_sentence(waiting, player.name)}"
        case "off":
            async with service.store.begin() as unit:
                person = await unit.people.get(player.person_id)
                await unit.people.update(person.id, preferences=person.preferences | {"mail": False})
            await Reachability(service).mail_stopped(person.id)
            return f"{player.name} gets no more emails."
    if argument.casefold().endswith(" off"):
        return await personal_commands.unlink(
            service, player.person_id, normalize_address(argument[: -len(" off")])
        )
    async with service.store.begin() as unit:
        address = await people.claim_address(unit, player.person_id, argument)
    service.wake_subscribers()
    return f"An email goes to {address}. {player.name} confirms the address by replying `yes`."


async def _mail_text(service: Service, person_id: int, name: str) -> str:
    async with service.store.read() as unit:
        standing = await load_standing(unit, person_id)
        addresses = await unit.people.verified_addresses(person_id)
    if not addresses:
        return f"{name} has no email address. `player {name} mail ADDRESS` links one."
    if standing.fault:
        why = f"Emails to {name} ({standing.address}) do not arrive: {standing.fault}."
        return f"{why} `player {name} mail on` tries again."
    return f"{name}: {', '.join(addresses)}{'' if standing.wants_mail else ', emails are off'}."
