"""`railpost host add ADDRESS`: who may open tables by email, before anybody has confirmed an address."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

import typer

from bot import config
from bot.hub import people
from bot.service import Service
from storage import open_store

NO_HOST = (
    "Nobody may open a table by email yet. `railpost host add ann@example.org` makes the first host; "
    "RAILPOST_MAIL_HOSTS says who else may host."
)


async def has_hosts(service: Service) -> bool:
    """Whether anybody has a verified address, and so may open a table by email."""
    async with service.store.read() as unit:
        return await unit.people.has_verified_address()


class HostAction(StrEnum):
    """What is done with a host."""

    ADD = "add"


async def add_host(url: str, address: str, name: str) -> str:
    """Let a person open tables by email; their address counts as verified. Raises ValueError with a sentence
    for a text that is no address."""
    async with await open_store(url) as store, store.begin() as unit:
        person = await people.person_by_address(unit, address, people.player_name(name) if name else "")
        await unit.people.add_identity(person.id, "email", address.strip())
        return person.name


def command(
    action: Annotated[HostAction, typer.Argument(help="add.")],
    address: Annotated[str, typer.Argument(help="An email address: ann@example.org.")],
    name: Annotated[str, typer.Option(help="Their name at the tables.")] = "",
) -> None:
    """Let a person open tables by email. The service may be running."""
    settings = config.load_settings()
    settings.data.mkdir(0o700, parents=True, exist_ok=True)
    try:
        host = asyncio.run(add_host(settings.database_url, address, name))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    service = settings.mail.address if settings.mail else "the service"
    typer.echo(f"{host} may open tables now. An email to {service} with the line `help` tells how.")
