"""`railpost import`: games of the site 18xx.games, played through the engine from their files.

Each file is told in one line, whatever is wrong with it, and a bad one changes nothing. With
`--save` a game becomes a table that goes on where the file ends.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

import engine
from bot import config
from bot.service.live_table import seat_number
from bot.service.service import Service
from engine.site_18xx.game_file import SiteFileError, read_site_file
from engine.site_18xx.replay import SiteReplay, SiteReplayError
from storage import StoreError, open_store

MAX_BYTES = 64 * 1024 * 1024


class ImportReport(msgspec.Struct, omit_defaults=False):
    """What became of one file; `scores` by player as the file's `result` has them, `table` the code
    of the one that it was saved as."""

    file: str
    title: str | None = None
    actions: int = 0
    finished: bool = False
    scores: dict[str, int] = {}
    ok: bool = False
    error: str | None = None
    warnings: list[str] = []
    table: str | None = None

    def summary(self) -> str:
        """The same as a line for people."""
        if not self.ok:
            return f"{self.file}: {self.error}"
        end = "finished" if self.finished else "not finished"
        scores = ", ".join(f"{player} ${dollars}" for player, dollars in self.scores.items())
        kept = f"; it is table {self.table}" if self.table else ""
        return f"{self.file}: {self.title}, {self.actions} moves, {end}: {scores}{kept}"

    def to_json(self) -> str:
        """The same as one JSON object; `table` only where there is one."""
        said = msgspec.to_builtins(self)
        return json.dumps(said if self.table else {k: v for k, v in said.items() if k != "table"})


def read_game_file(path: Path) -> bytes:
    """The bytes of a plain or gzipped file. Raises FileError with one sentence."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if raw[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                raw = packed.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as wrong:
        reason = wrong.strerror if isinstance(wrong, OSError) and wrong.strerror else "it is damaged"
        raise SiteFileError(f"The file cannot be read: {reason}.") from None
    if len(raw) > MAX_BYTES:
        raise SiteFileError(f"The file is larger than {MAX_BYTES >> 20} MB.")
    return raw


def import_file(
    path: Path, states: list[dict[str, Any]] | None = None
) -> tuple[ImportReport, SiteReplay | None]:
    """Play one file through the engine; `states` collects what it shows after every action."""
    told = ImportReport(str(path))
    game: SiteReplay | None = None
    last = 0
    try:
        file = read_site_file(read_game_file(path))
        told.title = file.title
        game = SiteReplay(file)
        for action in game.run():
            last = action.id
            if action.type == "message":
                continue
            told.actions += 1
            if states is not None:
                states.append(game.snapshot(action.id))
        told.ok = True
    except (SiteFileError, SiteReplayError) as wrong:
        told.error = str(wrong)
    except Exception as wrong:  # a hostile file may be wrong in ways that nobody has thought of
        told.error = f"After action {last}: it cannot be played ({type(wrong).__name__})."
    if game is not None:
        told.finished = game.state.game_over is not None
        told.scores = _scores(game)
        told.warnings = game.warnings + (_score_warnings(game, told) if told.ok else [])
    return told, game


def _scores(game: SiteReplay) -> dict[str, int]:
    by_seat = engine.standings(game.state)
    keys = _result_keys(game)
    return {key: by_seat[seat] for key, seat in zip(keys, game.state.seats, strict=True)}


def _result_keys(game: SiteReplay) -> list[str]:
    """How the file's `result` names the players: by id, or by name."""
    names = [p.name for p in game.file.players]
    return names if set(game.file.result or ()) == set(names) else game.player_keys


def _score_warnings(game: SiteReplay, told: ImportReport) -> list[str]:
    result = game.file.result or {}
    return [
        f"The file has {key} at ${result[key]}, and the game gives ${dollars}."
        for key, dollars in told.scores.items()
        if told.finished and key in result and result[key] != dollars
    ]


def _write_states(path: Path, states: Iterable[dict[str, Any]]) -> None:
    with path.open("w") as out:
        for state in states:
            out.write(json.dumps(state) + "\n")


def command(
    files: Annotated[list[Path], typer.Argument(help="Files of games, plain or gzipped.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    states: Annotated[
        Path | None, typer.Option(help="Write the observable state after every action, one a line.")
    ] = None,
    save: Annotated[str | None, typer.Option(help="Keep the game as a table of that name.")] = None,
) -> None:
    """Play games of 18xx.games from their files."""
    if save and len(files) > 1:
        raise typer.BadParameter("One file at a time can be saved as a table.")
    seen: list[dict[str, Any]] | None = [] if states else None
    failed = False
    for path in files:
        told, game = import_file(path, seen)
        if told.ok and save and game is not None:
            told = _save(told, game, save)
        failed |= not told.ok
        typer.echo(told.to_json() if as_json else told.summary())
        if not as_json:
            for warning in told.warnings:
                typer.echo(f"  {warning}")
    if states and seen is not None:
        try:
            _write_states(states, seen)
        except OSError as wrong:
            typer.echo(f"{states} cannot be written: {wrong.strerror}.", err=True)
            failed = True
    raise typer.Exit(1 if failed else 0)


def _save(told: ImportReport, game: SiteReplay, name: str) -> ImportReport:
    """Keep the game in the installation's store; what goes wrong becomes the file's error."""
    try:
        code = asyncio.run(_save_as_table(game, name))
    except (config.SettingsError, StoreError, ValueError) as wrong:
        return msgspec.structs.replace(told, ok=False, error=str(wrong))
    return msgspec.structs.replace(told, table=code)


async def _save_as_table(game: SiteReplay, name: str) -> str:
    settings = config.load_settings()
    settings.data.mkdir(parents=True, exist_ok=True)
    async with await open_store(settings.database_url) as store:
        moves = ((seat_number(said.seat), said.line, said.events) for said in game.lines)
        return (await Service(store).lobby.import_game(game.start, moves, name=name)).code
