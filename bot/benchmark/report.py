"""The table that `railpost bench` prints: every figure beside what we aim for."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table

from bot.benchmark.games import BenchmarkGame
from bot.benchmark.rules import (
    BUDGET_FACTOR,
    DENSE_TARGET,
    LAYS_TARGET,
    MENUS_TARGET,
    OPTIONS_TARGET,
    ROUTES_TARGET,
    RulesMetrics,
)
from bot.benchmark.tables import TABLE_COUNT, TableMetrics
from bot.benchmark.timing import Timings
from engine import State

REPLAY_TARGET = 10_000
"""Actions a second with every check: three times what the engine of 18xx.games does."""

MOVE_TARGET, MOVE_P99_TARGET, RUN_TARGET, LOAD_TARGET = 0.1, 2.0, 2.0, 10.0
"""Milliseconds that we aim to stay below: for a move, a run on the average, the longest game loaded."""

DURABLE_TARGET = 500
"""Moves a second, on the disk when they are answered."""


class ReportRow(NamedTuple):
    """A line of the table: what, its figures, what we aim for, and whether that is met."""

    metric: str
    samples: str = ""
    mean: str = ""
    p99: str = ""
    worst: str = ""
    target: str = ""
    met: bool | None = None


def _timing_row(what: str, times: Timings, aim: str = "", met: bool | None = None) -> ReportRow:
    return ReportRow(
        what, str(len(times.samples)), _format_ms(times.mean), _format_ms(times.p99), _format_ms(times.worst),
        aim,
        met if aim and times.samples else None,
    )  # fmt: skip


def _limit_row(what: str, times: Timings, aim: float) -> ReportRow:
    return _timing_row(what, times, f"< {aim:,.0f}", times.worst < aim)


def _format_ms(milliseconds: float) -> str:
    return f"{milliseconds:,.1f}" if milliseconds >= 10 else f"{milliseconds:.3f}"


def _merged(each: Iterable[Timings]) -> Timings:
    together = Timings()
    for times in each:
        together.samples += times.samples
        if times.worst > together.worst:
            together.worst, together.worst_case = times.worst, times.worst_case
    return together


def _speed_rows(rules: RulesMetrics) -> Iterator[ReportRow]:
    """Actions and lines a second, by title."""
    files: list[BenchmarkGame] = [game for games in rules.replays.values() for game in games]
    if files:
        yield _speed_row("actions of recorded games a second, every check", files, REPLAY_TARGET)
        for title, games in sorted(rules.replays.items()):
            yield _speed_row(f"  {title}", games, REPLAY_TARGET)
        slowest = min(files, key=_actions_per_second)
        yield ReportRow(
            f"  slowest file, {slowest.name}",
            str(slowest.action_count),
            f"{_actions_per_second(slowest):,.0f}",
        )
    for title, times in sorted(rules.lines.items()):
        speed = 1000 * len(times.samples) / times.total if times.total else 0
        yield ReportRow(
            f"lines of {title} a second, read and judged", str(len(times.samples)), f"{speed:,.0f}"
        )


def _actions_per_second(game: BenchmarkGame) -> float:
    return 1000 * game.action_count / game.milliseconds


def _speed_row(what: str, games: Sequence[BenchmarkGame], aim: float) -> ReportRow:
    actions, seconds = sum(g.action_count for g in games), sum(g.milliseconds for g in games) / 1000
    speed = actions / seconds
    return ReportRow(what, str(actions), f"{speed:,.0f}", target=f"> {aim:,.0f}", met=speed >= aim)


def _route_rows(rules: RulesMetrics) -> Iterator[ReportRow]:
    for random, times in sorted(rules.runs.items()):
        games = "random" if random else "recorded"
        aim, met = (
            f"mean {RUN_TARGET:g}, < {ROUTES_TARGET:g}",
            times.mean < RUN_TARGET and times.worst < ROUTES_TARGET,
        )
        yield _timing_row(f"best routes of a run, {games} games", times, aim, met)
    asked = sum(len(times.samples) for times in rules.runs.values())
    if asked:
        yield _proven_row(asked, rules.unproven, f"all {asked}", not rules.unproven)
    if sets := len(rules.dense.samples):
        yield _limit_row("the densest boards, 3 and 4 of the longest trains", rules.dense, DENSE_TARGET)
        yield _proven_row(sets, rules.dense_unproven, "or a bound")
        if rules.dense_unproven:
            yield _limit_row(
                f"  {BUDGET_FACTOR} times the budget for the others", rules.dense_extended, DENSE_TARGET
            )
            yield _proven_row(sets, rules.dense_still_unproven, "or a bound")


def _proven_row(asked: int, others: Sequence[str], aim: str, met: bool | None = None) -> ReportRow:
    proven = asked - len(others)
    return ReportRow("  proven", str(proven), f"{100 * proven / asked:.1f} %", target=aim, met=met)


def report_rows(rules: RulesMetrics, tables: TableMetrics) -> Iterator[ReportRow]:
    """The figures of rules and tables."""
    yield from _speed_rows(rules)
    moves = _merged(rules.lines.values())
    met = moves.mean < MOVE_TARGET and moves.p99 < MOVE_P99_TARGET
    yield _timing_row(
        "a move: read, judged, played", moves, f"mean {MOVE_TARGET:g}, p99 {MOVE_P99_TARGET:g}", met
    )
    yield _timing_row("  judged and played only", rules.moves)
    yield _limit_row("all legal lays of a company", rules.lays, LAYS_TARGET)
    yield _limit_row("all options of a decision", _merged(rules.options_by_kind.values()), OPTIONS_TARGET)
    for kind, times in sorted(rules.options_by_kind.items(), key=lambda item: -item[1].worst):
        yield _limit_row(f"  {kind}", times, OPTIONS_TARGET)
    yield _limit_row("the same as menus, with lines and words", rules.menus, MENUS_TARGET)
    yield from _route_rows(rules)
    yield _limit_row("a finished game from its events", tables.fold_times, LOAD_TARGET)
    yield _timing_row("  as a table from the rows of its log", tables.load_times)
    if tables.kilobytes.samples:
        yield _timing_row("memory of an open table at its end, kB", tables.kilobytes)
    if tables.move_count:
        kept, moved = tables.move_count / tables.seconds, tables.move_count / tables.cpu_seconds
        what = f"durable moves a second at {TABLE_COUNT} tables, by the clock"
        yield ReportRow(
            what,
            str(tables.move_count),
            f"{kept:,.0f}",
            target=f"> {DURABLE_TARGET}",
            met=kept >= DURABLE_TARGET,
        )
        yield ReportRow("  a second of processor time", mean=f"{moved:,.0f}")


def picture_rows(states: Sequence[State]) -> Iterator[ReportRow]:
    """The figures of the pictures, on positions of one game that follow one another."""
    from renderers.timing import measure_rendering

    for figure in measure_rendering(states):
        aim = "" if figure.bound is None else f"< {figure.bound:g}"
        met = figure.bound is None or figure.value < figure.bound
        yield ReportRow(
            f"{figure.name}, {figure.unit}", mean=f"{figure.value:.1f}", target=aim, met=met if aim else None
        )


def machine_description() -> str:
    """What the figures were measured on."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, {sys.platform}, load {os.getloadavg()[0]:.1f}"
    )


def report_table(games: int, figures: Iterable[ReportRow]) -> Table:
    """The table."""
    title = (
        f"{games} games; milliseconds of processor time, where nothing else is said; {machine_description()}"
    )
    table = Table("what", "number", "mean", "p99", "worst", "aim", "", title=title, box=box.SIMPLE)
    for column in table.columns[1:6]:
        column.justify = "right"
    for row in figures:
        met = "" if row.met is None else "[green]met[/]" if row.met else "[bold red]beyond[/]"
        table.add_row(row.metric, row.samples, row.mean, row.p99, row.worst, row.target, met)
    return table


def slowest_lines(rules: RulesMetrics, tables: TableMetrics) -> Iterator[str]:
    """Where the longest of each was, and every run that is not proven."""
    for what, times in (
        ("move", _merged(rules.lines.values())),
        ("lays", rules.lays),
        ("options", _merged(rules.options_by_kind.values())),
        ("menu", rules.menus),
        ("run", _merged(rules.runs.values())),
        ("dense set", rules.dense),
        ("load", tables.fold_times),
    ):
        if times.samples:
            yield f"slowest {what}: {_format_ms(times.worst)} ms, {times.worst_case}"
    yield from (f"not proven: {what}" for what in (*rules.unproven, *rules.dense_still_unproven))
