"""The command `railpost tune`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from bot.features.robots.weights import Weights
from bot.tools.arena.command import show_move
from bot.tools.arena.tuning import Tuning, tune
from bot.tools.simulation.simulate import table_options


def command(
    title: Annotated[str, typer.Argument(help="The title to play.")],
    weights: Annotated[
        str, typer.Option(help="The weights to vary, with commas between; all by default.")
    ] = ",".join(Weights.__struct_fields__),
    players: Annotated[int, typer.Option(min=2, help="How many sit at the table: an even number.")] = 2,
    seconds: Annotated[float, typer.Option(min=0, max=60, help="How long a robot may think.")] = 0.1,
    games: Annotated[int, typer.Option(min=2, help="Games of each trial; those in the file count.")] = 40,
    seed: Annotated[int, typer.Option(min=1, help="The seed of the first game.")] = 1,
    conventions: Annotated[
        str, typer.Option(help="rulebook, or other conventions of the title.")
    ] = "rulebook",
    out: Annotated[
        Path | None, typer.Option(help="A CSV file of results. Games in it are not played again.")
    ] = None,
) -> None:
    """Vary the robot's weights one by one by self-play, and say which values play better."""
    tuning = Tuning(
        title,
        players,
        seconds,
        table_options(conventions, ()),
        range(seed, seed + games),
        [name.strip() for name in weights.split(",")],
    )
    columns = TextColumn("{task.description}"), TimeElapsedColumn()
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=None)
            for trial in tune(tuning, out, partial(show_move, bar, task)):
                verdict = "better: kept" if trial.is_kept else "not better beyond doubt"
                typer.echo(
                    f"{trial.weight} {trial.value:g} instead of {trial.before:g}: {100 * trial.gain:+.1f} "
                    f"± {100 * trial.error:.1f} % of the net worth in {trial.games} games; {verdict}"
                )
    except (ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
