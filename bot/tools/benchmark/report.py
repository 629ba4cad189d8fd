"""The table that `railpost bench` prints: every result beside its target."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table

from bot.tools.benchmark.games import BenchmarkGame
from bot.tools.benchmark.rules import (
    DENSE_TARGET,
    LAYS_TARGET,
    MENUS_TARGET,
    ROUTES_TARGET,
    RulesMetrics,
)
from bot.tools.benchmark.thinking import Thinking
from bot.tools.benchmark.timing import Timings
from engine import State

REPLAY_TARGET = 10_000
"""Actions per second with every check: three times the speed of the engine of 18xx.games."""

MOVE_TARGET, MOVE_P99_TARGET, RUN_TARGET, LOAD_TARGET = 0.1, 2.0, 2.0, 10.0
"""Milliseconds: a move on average and its 99th percentile, a run on average, loading the longest game."""


class ReportRow(NamedTuple):
    """A row of the table. met: whether the target is met, None without a target."""

    metric: str
    samples: str = ""
    mean: str = ""
    p99: str = ""
    worst: str = ""
    target: str = ""
    met: bool | None = None


def _timing_row(metric: str, times: Timings, target: str = "", met: bool | None = None) -> ReportRow:
    return ReportRow(
        metric,
        str(len(times.samples)),
        _format_ms(times.mean),
        _format_ms(times.p99),
        _format_ms(times.worst),
        target,
        met if target and times.samples else None,
    )


def _limit_row(metric: str, times: Timings, limit: float) -> ReportRow:
    return _timing_row(metric, times, f"< {limit:,.0f}", times.worst < limit)


def _format_ms(milliseconds: float) -> str:
    return f"{milliseconds:,.1f}" if milliseconds >= 10 else f"{milliseconds:.3f}"


def _merged(timings: Iterable[Timings]) -> Timings:
    merged = Timings()
    for times in timings:
        merged.samples += times.samples
        if times.worst > merged.worst:
            merged.worst, merged.worst_case = times.worst, times.worst_case
    return merged


def _speed_rows(rules: RulesMetrics) -> Iterator[ReportRow]:
    """Actions per second, by title."""
    files: list[BenchmarkGame] = [game for games in rules.replays.values() for game in games]
    if files:
        yield _speed_row("actions of recorded games per second, every check", files, REPLAY_TARGET)
        for title, games in sorted(rules.replays.items()):
            yield _speed_row(f"  {title}", games, REPLAY_TARGET)


def _speed_row(metric: str, games: Sequence[BenchmarkGame], target: float) -> ReportRow:
    actions, seconds = sum(g.action_count for g in games), sum(g.milliseconds for g in games) / 1000
    speed = actions / seconds
    return ReportRow(metric, str(actions), f"{speed:,.0f}", target=f"> {target:,.0f}", met=speed >= target)


def _route_rows(rules: RulesMetrics) -> Iterator[ReportRow]:
    for random, times in sorted(rules.runs.items()):
        games = "random" if random else "recorded"
        target, met = (
            f"mean {RUN_TARGET:g}, < {ROUTES_TARGET:g}",
            times.mean < RUN_TARGET and times.worst < ROUTES_TARGET,
        )
        yield _timing_row(f"best routes of a run, {games} games", times, target, met)
    runs = sum(len(times.samples) for times in rules.runs.values())
    if runs:
        yield _proven_row(runs, rules.unproven, f"all {runs}", not rules.unproven)
    if searches := len(rules.dense.samples):
        yield _limit_row("the densest boards, 3 and 4 of the longest trains", rules.dense, DENSE_TARGET)
        yield _proven_row(searches, rules.dense_unproven, "or a bound")


def _proven_row(searches: int, unproven: Sequence[str], target: str, met: bool | None = None) -> ReportRow:
    proven = searches - len(unproven)
    return ReportRow("  proven", str(proven), f"{100 * proven / searches:.1f} %", target=target, met=met)


def report_rows(rules: RulesMetrics) -> Iterator[ReportRow]:
    """The results of the rules."""
    yield from _speed_rows(rules)
    moves = _merged(rules.lines.values())
    met = moves.mean < MOVE_TARGET and moves.p99 < MOVE_P99_TARGET
    yield _timing_row(
        "a move: parsed, checked, played", moves, f"mean {MOVE_TARGET:g}, p99 {MOVE_P99_TARGET:g}", met
    )
    for title, times in sorted(rules.lines.items()):
        yield _timing_row(f"  {title}", times)
    yield _limit_row("all legal lays of a company", rules.lays, LAYS_TARGET)
    yield _limit_row("all options of a decision, with lines and labels", rules.menus, MENUS_TARGET)
    yield from _route_rows(rules)
    yield _limit_row("a finished game from its events", rules.loads, LOAD_TARGET)


def thinking_rows(thinking: Thinking) -> Iterator[ReportRow]:
    """Positions a second for a robot, by title."""
    for (title, kind), times in thinking.items():
        speed = 1000 / times.mean if times.mean else 0.0
        yield ReportRow(f"positions of {title} per second: {kind}", str(len(times.samples)), f"{speed:,.0f}")


def picture_rows(states: Sequence[State]) -> Iterator[ReportRow]:
    """The results of pictures, on consecutive positions of one game."""
    from renderers.timing import measure_rendering

    for metric in measure_rendering(states):
        target = "" if metric.bound is None else f"< {metric.bound:g}"
        met = metric.bound is None or metric.value < metric.bound
        yield ReportRow(
            f"{metric.name}, {metric.unit}",
            mean=f"{metric.value:.1f}",
            target=target,
            met=met if target else None,
        )


def machine_description() -> str:
    """The machine and its load."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, {sys.platform}, load {os.getloadavg()[0]:.1f}"
    )


def report_table(games: int, rows: Iterable[ReportRow]) -> Table:
    """The rows as a table."""
    title = f"{games} games; milliseconds of processor time, unless otherwise stated; {machine_description()}"
    table = Table("metric", "samples", "mean", "p99", "worst", "target", "", title=title, box=box.SIMPLE)
    for column in table.columns[1:6]:
        column.justify = "right"
    for row in rows:
        met = "" if row.met is None else "[green]met[/]" if row.met else "[bold red]missed[/]"
        table.add_row(row.metric, row.samples, row.mean, row.p99, row.worst, row.target, met)
    return table


def slowest_lines(rules: RulesMetrics) -> Iterator[str]:
    """The worst case of each metric, and every search that is not proven."""
    for metric, times in (
        ("move", _merged(rules.lines.values())),
        ("lays", rules.lays),
        ("menu", rules.menus),
        ("run", _merged(rules.runs.values())),
        ("dense set", rules.dense),
        ("load", rules.loads),
    ):
        if times.samples:
            yield f"slowest {metric}: {_format_ms(times.worst)} ms, {times.worst_case}"
    yield from (f"not proven: {search}" for search in (*rules.unproven, *rules.dense_unproven))
