"""`railpost import`: files of 18xx.games, and text games, are played through the engine.

Every file gets one line of output, whatever is wrong with it, and a bad file changes nothing. With `--save` a
game becomes a table that goes on where the file ends.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

import engine
from bot import config
from bot.cli import errors_in_sentences
from bot.features.game_files.feature import MAX_BYTES, read_game, unpacked
from bot.service import Service
from engine.core.words import counted
from engine.game_text.history import GameHistory
from engine.site_18xx.game_file import SiteFileError, read_site_file
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import SiteReplayError
from storage import StoreError, open_store, write_whole

NO_STATES = "--states is for files of 18xx.games, and this is a game text."


class ImportReport(msgspec.Struct, omit_defaults=False):
    """The result for one file; its fields are the keys of `--json`.

    actions: how many were played. scores: by player, as the file's `result` names them. table: the code of
    the table that the game was saved as. standings: dollars by the name of each player; not in `--json`.
    """

    file: str
    title: str | None = None
    actions: int = 0
    finished: bool = False
    scores: dict[str, int] = {}
    ok: bool = False
    error: str | None = None
    warnings: list[str] = []
    table: str | None = None
    standings: dict[str, int] = {}

    def summary(self) -> str:
        """The result in one line."""
        if not self.ok:
            return f"{self.file}: {self.error}"
        status = "finished" if self.finished else "not finished"
        scores = ", ".join(f"{player} ${dollars:,}" for player, dollars in self.standings.items())
        table = f"; saved as table {self.table}" if self.table else ""
        return f"{self.file}: {self.title}, {counted(self.actions, 'move')}, {status}: {scores}{table}"

    def to_json(self) -> str:
        """The result as one JSON object; without `table` if the game was not saved."""
        left_out = {"standings"} if self.table else {"standings", "table"}
        return json.dumps({k: v for k, v in msgspec.to_builtins(self).items() if k not in left_out})


def read_game_file(path: Path) -> bytes:
    """The bytes of a plain or gzipped file, without a byte order mark. Raises SiteFileError."""
    try:
        with path.open("rb") as file:
            return unpacked(file.read(MAX_BYTES + 1))
    except OSError as error:
        raise SiteFileError(f"The file cannot be read: {error.strerror}.") from None


def is_site_file(path: Path) -> bool:
    """Whether a file is of 18xx.games, and not a text game; also one that cannot be read."""
    try:
        return not path.is_file() or read_game_file(path).lstrip()[:1] in (b"{", b"[")
    except SiteFileError:
        return True


def import_text(path: Path) -> tuple[ImportReport, GameHistory | None]:
    """Play a text game through the engine."""
    report = ImportReport(str(path))
    try:
        history, _ = read_game(read_game_file(path))
    except ValueError as error:
        report.error = str(error)
        return report, None
    state = engine.copy_state(history.start)
    for line in history.lines:
        engine.fold(line.events, state)
    report.title, report.finished = state.title, state.game_over is not None
    report.actions = len(history.lines)
    report.scores = report.standings = _standings(state)
    report.ok = True
    return report, history


def import_file(
    path: Path, states: list[dict[str, Any]] | None = None
) -> tuple[ImportReport, SiteReplay | None]:
    """Play one file through the engine; the observable state after every action is added to `states`."""
    report = ImportReport(str(path))
    game: SiteReplay | None = None
    last = 0
    try:
        file = read_site_file(read_game_file(path))
        report.title = file.title
        game = SiteReplay(file)
        for action in game.run():
            last = action.id
            if action.type == "message":
                continue
            report.actions += 1
            if states is not None:
                states.append(game.snapshot(action.id))
        report.ok = True
    except (SiteFileError, SiteReplayError) as error:
        report.error = str(error)
    except Exception as error:  # a hostile file may be wrong in unexpected ways
        report.error = f"After action {last}: it cannot be played ({type(error).__name__})."
    if game is not None:
        report.finished = game.state.game_over is not None
        report.scores, report.standings = _scores(game), _standings(game.state)
        report.warnings = game.warnings + (_score_warnings(game, report) if report.ok else [])
    return report, game


def _standings(state: engine.State) -> dict[str, int]:
    return {state.name(seat): dollars for seat, dollars in engine.standings(state).items()}


def _scores(game: SiteReplay) -> dict[str, int]:
    by_seat = engine.standings(game.state)
    keys = _result_keys(game)
    return {key: by_seat[seat] for key, seat in zip(keys, game.state.seats, strict=True)}


def _result_keys(game: SiteReplay) -> list[str]:
    """The keys by which the file's `result` names the players: ids or names."""
    names = [p.name for p in game.file.players]
    return names if set(game.file.result or ()) == set(names) else game.player_keys


def _score_warnings(game: SiteReplay, report: ImportReport) -> list[str]:
    result = game.file.result or {}
    return [
        f"{key} has ${result[key]:,} in the file and ${dollars:,} in the replayed game."
        for key, dollars in report.scores.items()
        if report.finished and key in result and result[key] != dollars
    ]


def command(
    files: Annotated[list[Path], typer.Argument(help="Files of games, plain or gzipped.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on each line.")] = False,
    states: Annotated[
        Path | None, typer.Option(help="Write the observable state after every action, one on each line.")
    ] = None,
    save: Annotated[str | None, typer.Option(help="Save the game as a table of that name.")] = None,
) -> None:
    """Play games of 18xx.games, or text games, from their files."""
    if save is not None and not save.strip():
        raise typer.BadParameter("A table that is saved needs a name: --save Friday.")
    if save and len(files) > 1:
        raise typer.BadParameter("One file at a time can be saved as a table.")
    observed: list[dict[str, Any]] | None = [] if states else None
    failed = False
    for path in files:
        game: GameHistory | None
        if is_site_file(path):
            report, replayed = import_file(path, observed)
            game = replayed.history if replayed else None
        else:
            report, game = import_text(path)
            if states and report.ok:
                report.ok, report.error = False, NO_STATES
        if report.ok and save and game is not None:
            report = _save(report, game, save)
        failed |= not report.ok
        typer.echo(report.to_json() if as_json else report.summary())
        if not as_json:
            for warning in report.warnings:
                typer.echo(f"  {warning}")
    if states and observed is not None:
        with errors_in_sentences():
            write_whole(states, "".join(f"{json.dumps(state)}\n" for state in observed).encode())
    raise typer.Exit(1 if failed else 0)


def _save(report: ImportReport, game: GameHistory, name: str) -> ImportReport:
    """Save the game in the store of the settings; an error becomes the error of the report."""
    try:
        code = asyncio.run(_save_as_table(game, name))
    except (config.SettingsError, StoreError, ValueError) as error:
        return msgspec.structs.replace(report, ok=False, error=str(error))
    return msgspec.structs.replace(report, table=code)


async def _save_as_table(game: GameHistory, name: str) -> str:
    async with await open_store(config.load_settings().database_url) as store:
        return (await Service(store).lobby.import_game(game, name=name)).code
