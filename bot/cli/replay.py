"""`railpost replay`: games are played; of `.18xx` texts the checkpoints and refusals are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.import_games import import_file, is_site_file, read_game_file
from bot.features.game_files.feature import text_of
from engine.core.words import counted
from engine.game_text import ReplayReport, replay


def replay_file(path: Path) -> ReplayReport | str:
    """The report on a text game, or a sentence why it cannot be read."""
    try:
        return replay(text_of(read_game_file(path)))
    except ValueError as error:
        return str(error)


def report_text(report: ReplayReport) -> str:
    """The result of a replay, with both values of a checkpoint that failed."""
    if report.failure is None:
        return f"ok, {counted(report.move_count, 'move')}, {counted(report.checkpoint_count, 'checkpoint')}"
    return f"failed, {report.failure}"


def command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Text games, or files of 18xx.games.", show_default=False),
    ],
) -> None:
    """Play games from files, and check the checkpoints of texts.

    It exits with 1 at the first failure.
    """
    for path in files:
        if is_site_file(path):
            site_report, _ = import_file(path)
            typer.echo(site_report.summary())
            if not site_report.ok:
                raise typer.Exit(1)
            continue
        report = replay_file(path)
        if isinstance(report, str):
            typer.echo(f"{path}: {report}")
            raise typer.Exit(1)
        typer.echo(f"{path}: {report_text(report)}")
        if not report.ok:
            raise typer.Exit(1)
