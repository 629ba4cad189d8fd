"""`railpost status`: what the running service says of itself."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
import typer

from bot.config import load_settings
from bot.operations.status import status_text
from bot.operations.status_server import NotAnswering, ask_status


def command(
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    health: Annotated[bool, typer.Option(help="Print the problems only.")] = False,
) -> None:
    """Show the connections, tables and errors of the service.

    It exits with 1 if something is to be done, with --health only if the service is not healthy.
    """
    try:
        report = asyncio.run(ask_status(load_settings().data))
    except NotAnswering as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if report is None:
        typer.echo("No service is running with this data folder.", err=True)
        raise typer.Exit(1)
    if json:
        typer.echo(msgspec.json.encode(report).decode())
    elif health:
        typer.echo("\n".join(report.troubles) or report.verdict)
    else:
        typer.echo(status_text(report))
    if not report.is_healthy or (report.troubles and not health):
        raise typer.Exit(1)
