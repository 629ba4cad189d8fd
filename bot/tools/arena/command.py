"""The command `railpost arena`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from bot.tools.arena.agreement import Agreement, measure
from bot.tools.arena.contestants import robot
from bot.tools.arena.match import GameSetup, SeatResult
from bot.tools.arena.results import HEADINGS, cells, markdown, summaries
from bot.tools.arena.series import Series, play_series
from bot.tools.benchmark.games import find_game_files
from bot.tools.simulation.simulate import table_options
from engine import State, round_name, title_names


def command(
    title: Annotated[str, typer.Argument(help="The title to play; not needed with --people.")] = "",
    players: Annotated[
        str, typer.Option(help="random, simulate, robot, robot:SECONDS, judgement:SECONDS; commas between.")
    ] = "robot,simulate,simulate,simulate",
    games: Annotated[int, typer.Option(min=1, help="How many games; those in the file count.")] = 40,
    seed: Annotated[
        int, typer.Option(help="The seed of the first game; later games have the next seeds.")
    ] = 1,
    conventions: Annotated[
        str, typer.Option(help="rulebook, or other conventions of the title.")
    ] = "rulebook",
    option: Annotated[list[str] | None, typer.Option(help="An optional rule; may be repeated.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="A CSV file of results. Games in it are not played again.")
    ] = None,
    people: Annotated[
        Path | None, typer.Option(help="Compare with the people of recorded games in this folder.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="With --people: look at every so many questions.")] = 1,
    plain: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
) -> None:
    """Play matches between computer players, with the seats rotated."""
    console = Console()
    try:
        if people is not None:
            _agreement(console, people, players.split(",")[0], every)
            return
        if not title:
            titles = ", ".join(title_names())
            raise ValueError(f"Name the title: `railpost arena {title_names()[0]}`; the titles are {titles}.")
        options = table_options(conventions, option or ())
        series = Series(title, tuple(players.split(",")), options, range(seed, seed + games))
        _match(console, series, out, plain)
    except (ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


def _match(console: Console, series: Series, out: Path | None, plain: bool) -> None:
    series.check()
    columns = TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn()
    rows: list[SeatResult] = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(series.title, total=len(series.seeds))
        for game in play_series(series, out, partial(show_move, bar, task)):
            rows += game
            bar.advance(task)
    if plain:
        typer.echo(markdown(summaries(rows)))
        return
    for summary in summaries(rows):
        console.print(f"{summary.title}, {summary.player} against {summary.opponents}", soft_wrap=False)
        for heading, cell in list(zip(HEADINGS, cells(summary), strict=True))[3:]:
            console.print(f"  {heading:24}{cell}")


def show_move(bar: Progress, task: TaskID, setup: GameSetup, state: State, moves: int) -> None:
    """Show now and then where a game is."""
    if moves % 25 == 0:
        where = f"{setup.title}, seed {setup.seed}, move {moves}, {round_name(state)}"
        bar.update(task, description=where)


def _agreement(console: Console, folder: Path, player: str, every: int) -> None:
    judge = robot(player, 0)
    agreement = Agreement()
    files = find_game_files(folder)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=len(files))
        for path in files:
            for seen in measure(path, judge, agreement, every):
                bar.update(task, description=f"{path.name}, question {seen}")
            bar.advance(task)
    n = max(agreement.questions, 1)
    table = Table("free questions", "top 1", "top 5", "uniform guess 1", "uniform guess 5")
    parts = agreement.top1, agreement.top5, agreement.uniform1, agreement.uniform5
    table.add_row(str(agreement.questions), *(f"{100 * part / n:.1f} %" for part in parts))
    console.print(table)
