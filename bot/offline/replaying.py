"""`railpost replay`: text games played with their positions, refusals and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.record import Report, replay

MOST_BYTES = 10_000_000


def replayed(path: Path) -> Report | str:
    """The report on a file, or the sentence that says why it cannot be read."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return f"the file is larger than {MOST_BYTES // 1_000_000} MB; a game is not."
        return replay(path.read_text(encoding="utf-8"))
    except OSError as wrong:
        return f"the file cannot be read: {wrong.strerror}."
    except UnicodeDecodeError:
        return "the file is not UTF-8 text."


def told(report: Report) -> str:
    """What a replay came to, in words: with both values where a checkpoint did not hold."""
    if report.failure is None:
        return f"ok, {report.moves} moves, {report.checks} checkpoints"
    return f"failed, {report.failure}"


def command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE.18xx...", help="Text games.", show_default=False)
    ],
) -> None:
    """Play text games with their checkpoints; stop with 1 at the first that does not hold."""
    for path in files:
        report = replayed(path)
        if isinstance(report, str):
            typer.echo(f"{path}: failed, {report}")
            raise typer.Exit(1)
        typer.echo(f"{path}: {told(report)}")
        if not report.ok:
            raise typer.Exit(1)
