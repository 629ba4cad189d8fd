"""The command `railpost arena`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from bot.cli import errors_in_sentences
from bot.tools.arena.agreement import Agreement, Compared, Ranker, measure
from bot.tools.arena.contestants import robot
from bot.tools.arena.development import HEADINGS as DEVELOPMENT_HEADINGS
from bot.tools.arena.development import played_starts, recorded_starts
from bot.tools.arena.development import table as development_table
from bot.tools.arena.greedy import PassAndPay
from bot.tools.arena.match import GameSetup, SeatResult
from bot.tools.arena.results import HEADINGS, cells, markdown, summaries
from bot.tools.arena.series import Series, play_series
from bot.tools.benchmark.games import find_game_files
from bot.tools.simulation.simulate import table_options
from engine import State, round_name, title_names


def command(
    title: Annotated[str, typer.Argument(help="The title to play; not needed with --people.")] = "",
    players: Annotated[
        str,
        typer.Option(
            help="random, simulate, greedy, pass-and-pay, robot, robot:SECONDS, judgement:SECONDS, "
            "CHECKOUT@PLAYER for the player of another version; "
            "commas between."
        ),
    ] = "robot,simulate,simulate,simulate",
    games: Annotated[int, typer.Option(min=1, help="How many games, those in the file too.")] = 40,
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
    every: Annotated[int, typer.Option(min=1, help="With --people: look at every Nth question.")] = 1,
    rounds: Annotated[
        bool, typer.Option("--rounds", help="Show how far the games have come at the start of each round.")
    ] = False,
    plain: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
) -> None:
    """Play matches between computer players, with rotated seats."""
    console = Console()
    with errors_in_sentences():
        if people is not None and not rounds:
            _agreement(console, people, players.split(",")[0], every)
            return
        if not title:
            titles = ", ".join(title_names())
            raise ValueError(f"Name the title: `railpost arena {title_names()[0]}`; the titles are {titles}.")
        options = table_options(conventions, option or ())
        series = Series(title, tuple(players.split(",")), options, range(seed, seed + games))
        if rounds:
            _development(console, series, people)
            return
        _match(console, series, out, plain)


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
    names: dict[str, Ranker] = {player: robot(player, 0), "pass-and-pay": PassAndPay()}
    compared = [Compared(each, Agreement(), Agreement()) for each in names.values()]
    files = find_game_files(folder)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=len(files))
        for path in files:
            for seen in measure(path, compared, every):
                bar.update(task, description=f"{path.name}, question {seen}")
            bar.advance(task)
    table = Table("player", "questions", "count", "top 1", "top 5")
    for name, (_, forced, free) in zip(names, compared, strict=True):
        for kind, found in (("free", free), ("forced", forced)):
            table.add_row(name, kind, *_agreement_cells(found.questions, found.top1, found.top5))
    free = compared[0].free
    table.add_row("uniform guess", "free", *_agreement_cells(free.questions, free.uniform1, free.uniform5))
    console.print(table)


def _agreement_cells(questions: int, top1: float, top5: float) -> tuple[str, ...]:
    n = max(questions, 1)
    return str(questions), f"{100 * top1 / n:.1f} %", f"{100 * top5 / n:.1f} %"


def _development(console: Console, series: Series, people: Path | None) -> None:
    """Print how far the games have come at the start of each round, beside those of people."""
    series.check()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        setups = [GameSetup(series.title, series.players, series.options, seed) for seed in series.seeds]
        games = [played_starts(setup) for setup in bar.track(setups, description=series.title)]
        files = find_game_files(people) if people else []
        recorded = [recorded_starts(path) for path in bar.track(files, description="people")]
    rounds = list(dict.fromkeys(name for game in (*games, *recorded) for name in game.by_round))
    for who, found in ((", ".join(series.players), games), ("people", recorded)):
        table = Table(title=f"{series.title}, {who}")
        for heading in DEVELOPMENT_HEADINGS:
            table.add_column(heading, no_wrap=heading == "round")
        for row in development_table(found, sorted(rounds, key=_round_order)):
            table.add_row(*row)
        console.print(table)


def _round_order(name: str) -> tuple[float, bool, str]:
    """The opening, then each stock round before the operating rounds that follow it, then the end."""
    number = name.rpartition(" ")[2]
    at = float(number) if number[0].isdigit() else (0.0 if name == "opening" else 1e9)
    return at // 1, not name.startswith("stock"), name.rpartition(" ")[2] + name
