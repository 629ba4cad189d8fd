"""`railpost host add ADDRESS`: who may open tables by email, before anybody has confirmed an address."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot import config
from bot.hub import people
from bot.hub.seating import check_no_robot_name
from storage import open_store

NO_HOST = (
    "Nobody may open a table by email yet. `railpost host add ann@example.org` makes the first host; "
    "RAILPOST_MAIL_HOSTS says who else may host."
)


def _only_add(action: str) -> str:
    if action != "add":
        raise typer.BadParameter("a host can only be added: `railpost host add ann@example.org`.")
    return action


async def add_host(url: str, address: str, name: str) -> str:
    """Let a person open tables by email; their address counts as verified. name: also of one who is known.

    Raises ValueError with a sentence for a text that is no address, and for the name of a robot."""
    name = people.player_name(name) if name else ""
    check_no_robot_name(name)
    async with await open_store(url) as store, store.begin() as unit:
        person = await people.person_by_address(unit, address, name)
        if name and name != person.name:
            await unit.people.update(person.id, name=name)
        await unit.people.add_identity(person.id, "email", address.strip())
        return name or person.name


def command(
    action: Annotated[str, typer.Argument(help="add.", callback=_only_add)],
    address: Annotated[str, typer.Argument(help="An email address: ann@example.org.")],
    name: Annotated[str, typer.Option(help="Their name at the tables.")] = "",
) -> None:
    """Let a person open tables by email. The service may be running."""
    settings = config.load_settings()
    try:
        host = asyncio.run(add_host(settings.database_url, address, name))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    service = settings.mail.address if settings.mail else "the service"
    typer.echo(f"{host} may open tables now. An email to {service} with the line `help` tells how.")
