"""The table that `railpost bench` prints: every figure beside what we aim for."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table

from bot.offline.bench.games import Recorded
from bot.offline.bench.rules import DENSE, LAYS, MENUS, OPTIONS, ROUTES, TIMES, Rules
from bot.offline.bench.tables import TABLES, Tables
from bot.offline.bench.times import Times
from engine import State

REPLAY = 10_000
"""Actions a second with every check: three times what the engine of 18xx.games does."""

MOVE, MOVE_P99, RUN, LOAD = 0.1, 2.0, 2.0, 10.0
"""Milliseconds that we aim to stay below: for a move, a run on the average, the longest game loaded."""

DURABLE = 500
"""Moves a second, on the disk when they are answered."""


class Row(NamedTuple):
    """A line of the table: what, its figures, what we aim for, and whether that is met."""

    what: str
    number: str = ""
    mean: str = ""
    p99: str = ""
    worst: str = ""
    aim: str = ""
    met: bool | None = None


def _row(what: str, times: Times, aim: str = "", met: bool | None = None) -> Row:
    return Row(
        what, str(len(times.each)), _ms(times.mean), _ms(times.p99), _ms(times.worst), aim,
        met if aim and times.each else None,
    )  # fmt: skip


def _below(what: str, times: Times, aim: float) -> Row:
    return _row(what, times, f"< {aim:,.0f}", times.worst < aim)


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:,.1f}" if milliseconds >= 10 else f"{milliseconds:.3f}"


def _all(each: Iterable[Times]) -> Times:
    together = Times()
    for times in each:
        together.each += times.each
        if times.worst > together.worst:
            together.worst, together.where = times.worst, times.where
    return together


def _speeds(rules: Rules) -> Iterator[Row]:
    """Actions and lines a second, by title."""
    files: list[Recorded] = [game for games in rules.replays.values() for game in games]
    if files:
        yield _speed("actions of recorded games a second, every check", files, REPLAY)
        for title, games in sorted(rules.replays.items()):
            yield _speed(f"  {title}", games, REPLAY)
        slowest = min(files, key=_per_second)
        yield Row(f"  slowest file, {slowest.name}", str(slowest.actions), f"{_per_second(slowest):,.0f}")
    for title, times in sorted(rules.said.items()):
        speed = 1000 * len(times.each) / times.total if times.total else 0
        yield Row(f"lines of {title} a second, read and judged", str(len(times.each)), f"{speed:,.0f}")


def _per_second(game: Recorded) -> float:
    return 1000 * game.actions / game.milliseconds


def _speed(what: str, games: Sequence[Recorded], aim: float) -> Row:
    actions, seconds = sum(g.actions for g in games), sum(g.milliseconds for g in games) / 1000
    speed = actions / seconds
    return Row(what, str(actions), f"{speed:,.0f}", aim=f"> {aim:,.0f}", met=speed >= aim)


def _routes(rules: Rules) -> Iterator[Row]:
    for random, times in sorted(rules.runs.items()):
        games = "random" if random else "recorded"
        aim, met = f"mean {RUN:g}, < {ROUTES:g}", times.mean < RUN and times.worst < ROUTES
        yield _row(f"best routes of a run, {games} games", times, aim, met)
    asked = sum(len(times.each) for times in rules.runs.values())
    if asked:
        yield _proven(asked, rules.unproven, f"all {asked}", not rules.unproven)
    if sets := len(rules.dense.each):
        yield _below("the densest boards, 3 and 4 of the longest trains", rules.dense, DENSE)
        yield _proven(sets, rules.bounded, "or a bound")
        if rules.bounded:
            yield _below(f"  {TIMES} times the budget for the others", rules.longer, DENSE)
            yield _proven(sets, rules.open, "or a bound")


def _proven(asked: int, others: Sequence[str], aim: str, met: bool | None = None) -> Row:
    proven = asked - len(others)
    return Row("  proven", str(proven), f"{100 * proven / asked:.1f} %", aim=aim, met=met)


def rows(rules: Rules, tables: Tables) -> Iterator[Row]:
    """The figures of rules and tables."""
    yield from _speeds(rules)
    moves = _all(rules.said.values())
    met = moves.mean < MOVE and moves.p99 < MOVE_P99
    yield _row("a move: read, judged, played", moves, f"mean {MOVE:g}, p99 {MOVE_P99:g}", met)
    yield _row("  judged and played only", rules.played)
    yield _below("all legal lays of a company", rules.lays, LAYS)
    yield _below("all options of a decision", _all(rules.kinds.values()), OPTIONS)
    for kind, times in sorted(rules.kinds.items(), key=lambda item: -item[1].worst):
        yield _below(f"  {kind}", times, OPTIONS)
    yield _below("the same as menus, with lines and words", rules.menus, MENUS)
    yield from _routes(rules)
    yield _below("a finished game from its events", tables.folds, LOAD)
    yield _row("  as a table from the rows of its log", tables.loads)
    if tables.kilobytes.each:
        yield _row("memory of an open table at its end, kB", tables.kilobytes)
    if tables.moves:
        kept, moved = tables.moves / tables.seconds, tables.moves / tables.busy
        what = f"durable moves a second at {TABLES} tables, by the clock"
        yield Row(what, str(tables.moves), f"{kept:,.0f}", aim=f"> {DURABLE}", met=kept >= DURABLE)
        yield Row("  a second of processor time", mean=f"{moved:,.0f}")


def pictures(states: Sequence[State]) -> Iterator[Row]:
    """The figures of the pictures, on positions of one game that follow one another."""
    from renderers.timing import bench

    for figure in bench(states):
        aim = "" if figure.bound is None else f"< {figure.bound:g}"
        met = figure.bound is None or figure.value < figure.bound
        yield Row(
            f"{figure.name}, {figure.unit}", mean=f"{figure.value:.1f}", aim=aim, met=met if aim else None
        )


def machine() -> str:
    """What the figures were measured on."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, {sys.platform}, load {os.getloadavg()[0]:.1f}"
    )


def report(games: int, figures: Iterable[Row]) -> Table:
    """The table."""
    title = f"{games} games; milliseconds of processor time, where nothing else is said; {machine()}"
    table = Table("what", "number", "mean", "p99", "worst", "aim", "", title=title, box=box.SIMPLE)
    for column in table.columns[1:6]:
        column.justify = "right"
    for row in figures:
        met = "" if row.met is None else "[green]met[/]" if row.met else "[bold red]beyond[/]"
        table.add_row(row.what, row.number, row.mean, row.p99, row.worst, row.aim, met)
    return table


def slowest(rules: Rules, tables: Tables) -> Iterator[str]:
    """Where the longest of each was, and every run that is not proven."""
    for what, times in (
        ("move", _all(rules.said.values())),
        ("lays", rules.lays),
        ("options", _all(rules.kinds.values())),
        ("menu", rules.menus),
        ("run", _all(rules.runs.values())),
        ("dense set", rules.dense),
        ("load", tables.folds),
    ):
        if times.each:
            yield f"slowest {what}: {_ms(times.worst)} ms, {times.where}"
    yield from (f"not proven: {what}" for what in (*rules.unproven, *rules.open))
