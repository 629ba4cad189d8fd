"""`railpost export`: a table, or a game in a file, in another format."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot import config
from bot.cli.import_games import read_game_file
from bot.cli.replay import MAX_BYTES as LONGEST_TEXT
from bot.features.game_files.feature import FORMATS, TEXT, make_game_file, parse_format
from bot.service import Service
from engine.game_text import GameHistory, HistoryLine, replay
from engine.site_18xx.game_file import SiteFileError, read_site_file
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import SiteReplayError
from storage import StoreError, open_store


def history_of_file(path: Path) -> GameHistory:
    """The game in a file: a `.18xx` text or a file of 18xx.games. Raises ValueError with a sentence."""
    try:
        raw = read_game_file(path)
        if raw.lstrip()[:1] == b"{":
            game = SiteReplay(read_site_file(raw))
            for _ in game.run():
                pass
            return GameHistory(game.start, tuple(HistoryLine(s.seat, s.line, s.events) for s in game.lines))
    except (SiteFileError, SiteReplayError) as error:
        raise ValueError(f"{path}: {error}") from None
    if len(raw) > LONGEST_TEXT:
        raise ValueError(f"{path}: the file is larger than {LONGEST_TEXT // 1_000_000} MB; a game is not.")
    try:
        report = replay(raw.decode())
    except UnicodeDecodeError:
        raise ValueError(f"{path}: the file is not UTF-8 text.") from None
    if report.failure is not None or report.history is None:
        raise ValueError(f"{path}: {report.failure}")
    return report.history


def history_of_source(source: str) -> GameHistory:
    """The game of a file, or of a table by its code. Raises ValueError, StoreError."""
    path = Path(source)
    if path.exists():
        return history_of_file(path)
    return asyncio.run(_history_of_table(source))[0]


async def _history_of_table(code: str) -> tuple[GameHistory, str]:
    settings = config.load_settings()
    async with await open_store(settings.database_url) as store:
        service = Service(store)
        table = await service.queries.find_table(code)
        return await service.queries.history(table.id), f"{table.name} {table.code}"


def command(
    source: Annotated[str, typer.Argument(metavar="TABLE|FILE", help="A table's code, or a file of a game.")],
    to: Annotated[str, typer.Option(help=f"{', '.join(FORMATS)}.")] = TEXT,
    out: Annotated[
        Path | None, typer.Option(help="A file or a folder to write to; by default standard output.")
    ] = None,
    as_far_as_possible: Annotated[
        bool,
        typer.Option(
            "--as-far-as-possible",
            help="For 18xx.games: write the game up to the first move that the site does not have, and the "
            "rest as chat messages.",
        ),
    ] = False,
) -> None:
    """Write a game for 18xx.games, as a text, or as a CSV table."""
    try:
        format_name = parse_format(to)
        path = Path(source)
        if path.exists():
            history, name, stem = history_of_file(path), "", path.name.partition(".")[0]
        else:
            history, name = asyncio.run(_history_of_table(source))
            stem = source.upper()
        file = make_game_file(history, format_name, name, stem, as_far_as_possible=as_far_as_possible)
        if out is None:
            typer.echo(file.content.decode(), nl=False)
            return
        target = out / file.name if out.is_dir() else out
        target.write_bytes(file.content)
        typer.echo(f"{source} is written to {target}.")
    except OSError as error:
        typer.echo(f"{out} cannot be written: {error.strerror}.", err=True)
        raise typer.Exit(1) from None
    except (ValueError, config.SettingsError, StoreError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
