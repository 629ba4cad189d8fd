"""The command `railpost bench`."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from bot.hub.cache import KEEP_MEGABYTES
from bot.tools.benchmark.games import (
    BenchmarkError,
    BenchmarkGame,
    find_game_files,
    load_game,
    random_games,
)
from bot.tools.benchmark.many_tables import measure_many_tables
from bot.tools.benchmark.pace import measure_folder, pace_files, pace_tables, verdict
from bot.tools.benchmark.processes import comparison_text, measure_processes
from bot.tools.benchmark.report import picture_rows, report_rows, report_table, slowest_lines, thinking_rows
from bot.tools.benchmark.rules import (
    PlayedGame,
    RulesMetrics,
    densest_boards,
    measure_decisions,
    measure_dense_boards,
    measure_loading,
    play_through,
)
from bot.tools.benchmark.thinking import Thinking, measure_thinking
from engine import State, decode_state, title_names
from storage import StoreError

RANDOM_GAMES = 20
"""Random games of each title, by default."""

PICTURE_POSITIONS = 12
"""Positions of a game whose pictures are measured."""


def command(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Games: .18xx texts or files of 18xx.games, plain or gzipped.")
    ] = None,
    games: Annotated[Path | None, typer.Option(help="A folder of such files.")] = None,
    simulated_games: Annotated[
        int, typer.Option("--simulated", min=0, help="How many random games of each title, too.")
    ] = RANDOM_GAMES,
    store: Annotated[Path, typer.Option(help="The folder for the store, with --tables.")] = Path(),
    pace: Annotated[
        Path | None,
        typer.Option(help="A folder of games: only count the waits that orders save in them."),
    ] = None,
    table_count: Annotated[
        int, typer.Option("--tables", min=0, help="Only measure random moves at so many running tables.")
    ] = 0,
    moves: Annotated[int, typer.Option(min=1, help="How many moves, with --tables.")] = 5000,
    keep: Annotated[float, typer.Option(help="Megabytes of tables in memory, with --tables.")] = (
        KEEP_MEGABYTES
    ),
    database: Annotated[
        str,
        typer.Option(
            help="An empty PostgreSQL database: for --tables in place of a file; alone, compare one process "
            "there with two."
        ),
    ] = "",
    seconds: Annotated[float, typer.Option(min=1, help="For how long, when processes are compared.")] = 20,
) -> None:
    """Measure rules, tables and pictures on games, as a table."""
    console = Console() if sys.stdout.isatty() else Console(width=130, color_system=None)
    try:
        if pace is not None:
            _report_pace(console, pace)
        elif table_count:
            _report_many_tables(table_count, moves, keep, database, store)
        elif database:
            typer.echo(comparison_text(measure_processes(database, seconds)))
        else:
            _report_games(console, [*(files or ()), *find_game_files(games)], simulated_games)
    except* (BenchmarkError, StoreError, OSError) as errors:
        typer.echo(str(errors.exceptions[0]), err=True)
        raise typer.Exit(1) from None


def _report_games(console: Console, paths: Sequence[Path], simulated_games: int) -> None:
    """Print what rules and pictures cost in these games and random ones."""
    rules, thinking, played_games = RulesMetrics(), Thinking(), list[PlayedGame]()
    longest = list[bytes]()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("playing", total=len(paths) + simulated_games * len(title_names()) + 1)
        for game in chain(map(load_game, paths), random_games(simulated_games)):
            bar.update(task, description=game.name)
            played, states = _measure(game, rules)
            measure_thinking(states, thinking)
            played_games.append(played)
            longest = max(longest, states, key=len)
            bar.advance(task)
        bar.update(task, description="the densest boards")
        measure_dense_boards(densest_boards(_final_positions(played_games)), rules)
    pictures = picture_rows(_last_distinct_maps(list(map(decode_state, longest)))) if played_games else ()
    console.print(
        report_table(len(played_games), chain(report_rows(rules), thinking_rows(thinking), pictures))
    )
    for line in slowest_lines(rules):
        typer.echo(line)


def _report_many_tables(tables: int, moves: int, keep: float, database: str, folder: Path) -> None:
    """Print what random moves at many tables cost."""
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BenchmarkError(f"{folder} is not a writable folder; name one with --store.")
    with (
        TemporaryDirectory(prefix="railpost-bench-", dir=folder) as name,
        Progress(console=Console(stderr=True)) as bar,
    ):
        url = database or str(Path(name) / "railpost.db")
        metrics = asyncio.run(measure_many_tables(url, tables, moves, keep, bar))
    for line in metrics.lines():
        typer.echo(line)


def _report_pace(console: Console, folder: Path) -> None:
    """Print what orders would have saved in the games of a folder."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("playing", total=len(pace_files(folder)))
        results = measure_folder(
            folder, lambda text: typer.echo(text, err=True), lambda name: bar.advance(task)
        )
    for table in pace_tables(results):
        console.print(table)
    typer.echo(verdict(results))


def _measure(game: BenchmarkGame, rules: RulesMetrics) -> tuple[PlayedGame, list[bytes]]:
    gc.collect()
    gc.disable()
    try:
        played, states = play_through(game, rules)
        measure_loading(played, rules)
        measure_decisions(game, states, rules)
    finally:
        gc.enable()
    return played, states


def _final_positions(games: Sequence[PlayedGame]) -> Iterator[tuple[str, State]]:
    for played in games:
        yield played.game.name, decode_state(played.final_state)


def _last_distinct_maps(states: Sequence[State]) -> list[State]:
    """The last positions with different maps, in order."""
    distinct = [states[-1]]
    for state in reversed(states):
        if (state.tiles, state.tokens) != (distinct[-1].tiles, distinct[-1].tokens):
            distinct.append(state)
        if len(distinct) == PICTURE_POSITIONS:
            break
    return distinct[::-1]
