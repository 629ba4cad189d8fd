"""`railpost bench`, as it is called."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from bot.offline.bench.games import Recorded, Unplayable, by_chance, games_in, recorded
from bot.offline.bench.rules import Played, Rules, crowded, densest, examined, replayed
from bot.offline.bench.tables import TABLES, Tables, durable, opened
from bot.offline.bench.telling import pictures, report, rows, slowest
from engine import State, decoded, titles
from storage import StoreError

RANDOM = 20
"""Random games of each title."""

PICTURED = 12
"""Positions of a game whose pictures are drawn."""


def command(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Games: .18xx texts, or files of the site, plain or gzipped.")
    ] = None,
    games: Annotated[Path | None, typer.Option(help="A folder of such files.")] = None,
    by_lot: Annotated[
        int, typer.Option("--simulated", min=0, help="Random games of each title, besides.")
    ] = RANDOM,
    store: Annotated[
        Path, typer.Option(help="The folder in which moves are kept, while they are measured.")
    ] = Path(),
) -> None:
    """Measure the rules, the tables and the pictures over games, and print a table."""
    rules, tables, kept = Rules(), Tables(), list[Played]()
    longest = list[bytes]()
    console = Console() if sys.stdout.isatty() else Console(width=130, color_system=None)
    try:
        paths = [*(files or ()), *games_in(games)]
        if not store.is_dir() or not os.access(store, os.W_OK):
            raise Unplayable(f"{store} is no folder that can be written; name one with --store.")
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("playing", total=len(paths) + by_lot * len(titles()) + 1)
            for game in chain(map(recorded, paths), by_chance(by_lot)):
                bar.update(task, description=game.name)
                played, states = _measured(game, rules, tables)
                kept.append(played)
                longest = max(longest, states, key=len)
                bar.advance(task)
            bar.update(task, description="the densest boards, and moves that are kept")
            crowded(densest(_ends(kept)), rules)
            if kept:
                durable(_spread(kept), tables, store)
    except (Unplayable, StoreError) as wrong:
        typer.echo(str(wrong), err=True)
        raise typer.Exit(1) from None
    drawn = pictures(_drawn(list(map(decoded, longest)))) if kept else ()
    console.print(report(len(kept), chain(rows(rules, tables), drawn)))
    for line in slowest(rules, tables):
        typer.echo(line)


def _measured(game: Recorded, rules: Rules, tables: Tables) -> tuple[Played, list[bytes]]:
    gc.collect()
    gc.disable()
    try:
        played, states = replayed(game, rules)
        opened(played, tables)
        examined(game, states, rules)
    finally:
        gc.enable()
    return played, states


def _ends(kept: Sequence[Played]) -> Iterator[tuple[str, State]]:
    for played in kept:
        yield played.game.name, decoded(played.end)


def _spread(kept: Sequence[Played]) -> list[Played]:
    """As many games as there are tables, evenly from all of them."""
    return [kept[len(kept) * n // TABLES] for n in range(TABLES)]


def _drawn(states: Sequence[State]) -> list[State]:
    """The last positions after which the map looks different."""
    found = [states[-1]]
    for state in reversed(states):
        if (state.tiles, state.tokens) != (found[-1].tiles, found[-1].tokens):
            found.append(state)
        if len(found) == PICTURED:
            break
    return found[::-1]
