"""`railpost export`: a table, or a game in a file, in another format."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from bot import config
from bot.cli import errors_in_sentences
from bot.cli.import_games import read_game_file
from bot.features.game_files.feature import FORMATS, TEXT, make_game_file, parse_format, read_game
from bot.service import Service
from engine.game_text import GameHistory
from storage import StoreError, open_store, write_whole

FAR_OPTION = "--as-far-as-possible"


def history_of_file(path: Path) -> GameHistory:
    """The game in a file: a `.18xx` text or a file of 18xx.games. Raises ValueError with a sentence."""
    try:
        return read_game(read_game_file(path))[0]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


class NamedGame(NamedTuple):
    """A game, what it is called, its code or the first part of the name of its file, and the status of its
    table."""

    history: GameHistory
    name: str
    stem: str
    status: str = ""


def game_of_source(source: str) -> NamedGame:
    """The game of a file, or of a table by its code or name. Raises ValueError, StoreError."""
    path = Path(source)
    if path.exists():
        return NamedGame(history_of_file(path), "", path.name.partition(".")[0])
    try:
        return asyncio.run(_game_of_table(source))
    except StoreError as error:
        raise ValueError(
            f"There is no file {source}, and no table of that code or name can be looked up: {error}"
        ) from None


async def _game_of_table(source: str) -> NamedGame:
    async with await open_store(config.load_settings().database_url, migrated=False) as store:
        service = Service(store)
        try:
            table = await service.queries.find_table(source)
        except LookupError:
            raise ValueError(f"There is no file {source}, and no table of that code or name.") from None
        history, name = await service.queries.history(table.id), f"{table.name} {table.code}"
        return NamedGame(history, name, table.code, table.status)


def command(
    source: Annotated[str, typer.Argument(metavar="TABLE|FILE", help="A table's code or name, or a file.")],
    to: Annotated[str, typer.Option(help=f"{', '.join(FORMATS)}.")] = TEXT,
    out: Annotated[
        Path | None, typer.Option(help="A file or a folder to write to; by default standard output.")
    ] = None,
    as_far_as_possible: Annotated[
        bool,
        typer.Option(
            FAR_OPTION,
            help="For 18xx.games: write the game up to the first move that the site does not have, and the "
            "rest as chat messages.",
        ),
    ] = False,
) -> None:
    """Write a game for 18xx.games, as a text, or as a CSV table."""
    with errors_in_sentences():
        format_name = parse_format(to)
        game = game_of_source(source)
        file = make_game_file(
            game.history, format_name, game.name, game.stem, as_far_as_possible=as_far_as_possible,
            far_line=f"railpost export {source} --to {format_name} {FAR_OPTION}",
        )  # fmt: skip
        if out is None:
            typer.echo(file.content.decode(), nl=False)
            return
        target = out / file.name if out.is_dir() else out
        write_whole(target, file.content)
        typer.echo(f"{source} is written to {target}.")
