"""`railpost export`: a table, or a game in a file, in another form."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot import config
from bot.files import FORMS, TEXT, exported, form_of
from bot.offline.importing import file_bytes
from bot.offline.replaying import MOST_BYTES as LONGEST_TEXT
from bot.service import Service
from engine.interchange.site import Replay, Stopped
from engine.interchange.site_file import FileError, read
from engine.record import Telling, Told, replay
from storage import StoreError, open_store


def telling_of(path: Path) -> Telling:
    """The game of a file: a text, or a file of the site. Raises ValueError with a sentence."""
    try:
        raw = file_bytes(path)
        if raw.lstrip()[:1] == b"{":
            game = Replay(read(raw))
            for _ in game.run():
                pass
            return Telling(game.start, tuple(Told(s.seat, s.line, s.events) for s in game.said))
    except (FileError, Stopped) as wrong:
        raise ValueError(f"{path}: {wrong}") from None
    if len(raw) > LONGEST_TEXT:
        raise ValueError(f"{path}: the file is larger than {LONGEST_TEXT // 1_000_000} MB; a game is not.")
    try:
        report = replay(raw.decode())
    except UnicodeDecodeError:
        raise ValueError(f"{path}: the file is not UTF-8 text.") from None
    if report.failure is not None or report.telling is None:
        raise ValueError(f"{path}: {report.failure}")
    return report.telling


async def _of_table(code: str) -> tuple[Telling, str]:
    settings = config.load()
    async with await open_store(settings.database_url) as store:
        service = Service(store)
        table = await service.find(code)
        return await service.telling(table.id), f"{table.name} {table.code}"


def command(
    what: Annotated[str, typer.Argument(metavar="TABLE|FILE", help="A table's code, or a file of a game.")],
    to: Annotated[str, typer.Option(help=f"{', '.join(FORMS)}.")] = TEXT,
    out: Annotated[
        Path | None, typer.Option(help="Where to write it, a file or a folder; without it, it is shown.")
    ] = None,
) -> None:
    """Write a game as a file of 18xx.games, as a text, or its figures as a table."""
    try:
        form = form_of(to)
        path = Path(what)
        if path.exists():
            telling, name, stem = telling_of(path), "", path.name.partition(".")[0]
        else:
            telling, name = asyncio.run(_of_table(what))
            stem = what.upper()
        file = exported(telling, form, name, stem)
        if out is None:
            typer.echo(file.content.decode(), nl=False)
            return
        target = out / file.name if out.is_dir() else out
        target.write_bytes(file.content)
        typer.echo(f"{what} is written to {target}.")
    except OSError as wrong:
        typer.echo(f"{out} cannot be written: {wrong.strerror}.", err=True)
        raise typer.Exit(1) from None
    except (ValueError, config.SettingsError, StoreError) as wrong:
        typer.echo(str(wrong), err=True)
        raise typer.Exit(1) from None
