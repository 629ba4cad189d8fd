"""`railpost export`: a game as a file of 18xx.games, as a text, or its figures as a table.

The same files are handed to players on Discord, by mail and at the terminal.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bot import config
from bot.importing import file_bytes
from bot.replaying import MOST_BYTES as LONGEST_TEXT
from bot.service import Service
from engine.interchange.export import NoCounterpart, export
from engine.interchange.site import Replay, Stopped
from engine.interchange.site_file import FileError, read
from engine.record import Telling, Told, replay
from engine.record.telling import figures, text
from storage import StoreError, open_store

SITE, TEXT, FIGURES = "18xx.games", "text", "csv"


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that is handed out."""

    name: str
    media: str
    content: bytes


def _as_site(telling: Telling, name: str) -> str:
    return json.dumps(export(telling, name), ensure_ascii=False)


def _as_text(telling: Telling, name: str) -> str:
    return text(telling, name)


def _as_figures(telling: Telling, name: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(figures(telling))
    return out.getvalue()


FORMS: dict[str, tuple[str, str, Callable[[Telling, str], str]]] = {
    SITE: (".json", "application/json", _as_site),
    TEXT: (".18xx", "text/plain", _as_text),
    FIGURES: (".csv", "text/csv", _as_figures),
}
"""By form: the end of a file's name, its media type, and how it is written."""


def form_of(said: str) -> str:
    """The form that somebody means, the text where he says nothing. Raises ValueError."""
    form = said.strip().casefold() or TEXT
    if form not in FORMS:
        raise ValueError(f"There is no form {said.strip()}; a game is exported as {', '.join(FORMS)}.")
    return form


def exported(telling: Telling, form: str, name: str, stem: str) -> Exported:
    """A game in one of the forms; `name` is written into it, `stem` begins the file's name.

    Raises ValueError with a sentence, for the site with the first move that it does not know.
    """
    end, media, write = FORMS[form]
    try:
        return Exported(f"{stem}{end}", media, write(telling, name).encode())
    except (NoCounterpart, FileError) as wrong:
        raise ValueError(str(wrong)) from None


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
