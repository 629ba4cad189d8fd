"""How fast the rules are, on games that were played: `railpost bench`.

Theory of operation. Each game is played twice. First its lines are said one after the other, as a
table would hear them: read, judged, played, settled. Then every position is asked what a table asks
of it, with everything forgotten that the rules keep between moves, so that a figure is what a
service pays that has just been started; one that has served the table answers sooner. Nothing here
passes or fails: a bound stands beside its figure, and a figure beyond it is marked.
"""

from __future__ import annotations

import gc
import os
import platform
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from time import perf_counter, thread_time
from typing import Annotated, NamedTuple, TypeVar

import typer
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bot.importing import played as imported
from bot.simulate import simulated
from engine import (
    AnyEvent,
    OperatingTurn,
    State,
    choices,
    copied,
    decision,
    decoded,
    decoded_events,
    encoded,
    encoded_events,
    facts_of,
    fold,
    game_of,
    new_game,
    options,
    parse,
    play,
    titles,
)
from engine.board import network
from engine.operating import run
from engine.operating.track import lays
from engine.record import place, read
from engine.record.text import Move

LAYS, OPTIONS, MOVE, MOVE_P99, ROUTES = 20.0, 30.0, 1.0, 5.0, 100.0
"""Milliseconds that we aim to stay below."""

AGREED_END = "end"
"""What the importer notes where players of the site ended a game by agreement; it is no move."""

PICTURED = 12
"""Positions of a game whose pictures are drawn."""

Given = TypeVar("Given")


class Unplayable(Exception):
    """A file that cannot be used, with one sentence."""


class Recorded(NamedTuple):
    """A game as it was played: its name, its first position, and what each seat said."""

    name: str
    start: State
    lines: list[tuple[str, str]]


def recorded(path: Path) -> Recorded:
    """A game from a text (`.18xx`) or from a file of the site. Raises Unplayable."""
    if path.suffix == ".18xx":
        return _from_text(path)
    told, game = imported(path)
    if game is None or not told.ok:
        raise Unplayable(f"{path}: {told.error}")
    table = game.state
    start = new_game(table.title, table.players, table.options).state
    return Recorded(path.name, start, [(s.seat, s.line) for s in game.said if s.line != AGREED_END])


def _from_text(path: Path) -> Recorded:
    try:
        script = read(path.read_text(encoding="utf-8"))
        start = place(script.start, script.setup)
    except (OSError, ValueError) as wrong:
        raise Unplayable(f"{path}: {wrong}") from None
    moves = [item for item in script.items if isinstance(item, Move) and item.how == "must"]
    return Recorded(path.name, start, [(move.seat, move.text) for move in moves])


def by_chance(games: int) -> Iterator[Recorded]:
    """So many random games of each title, over all numbers of players."""
    for title in titles():
        seats = facts_of(title).players
        for seed in range(games):
            players = seats["min"] + seed % (seats["max"] - seats["min"] + 1)
            game = simulated(title, players, seed)
            yield Recorded(f"random {title}, {players} players, seed {seed}", game.start, game.lines)


# -- measuring -------------------------------------------------------------------------------


@dataclass
class Times:
    """Durations in milliseconds, with where the longest was."""

    each: list[float] = field(default_factory=list)
    worst: float = 0.0
    where: str = ""

    def add(self, milliseconds: float, where: str) -> None:
        if milliseconds > self.worst:
            self.worst, self.where = milliseconds, where
        self.each.append(milliseconds)

    @property
    def total(self) -> float:
        return sum(self.each)

    @property
    def mean(self) -> float:
        return self.total / len(self.each) if self.each else 0.0

    @property
    def p99(self) -> float:
        """What 99 of 100 stay below."""
        return sorted(self.each)[(len(self.each) * 99) // 100] if self.each else 0.0


@dataclass
class Measured:
    """Everything that was measured; `kinds`: options of a decision by what is asked."""

    games: int = 0
    said: Times = field(default_factory=Times)
    played: Times = field(default_factory=Times)
    processor: Times = field(default_factory=Times)
    lays: Times = field(default_factory=Times)
    options: Times = field(default_factory=Times)
    menus: Times = field(default_factory=Times)
    kinds: dict[str, Times] = field(default_factory=dict)
    runs: Times = field(default_factory=Times)
    unproven: list[str] = field(default_factory=list)
    loads: Times = field(default_factory=Times)
    events: int = 0
    memory: list[float] = field(default_factory=list)


def forget() -> None:
    """Drop what the rules keep between moves."""
    network.forget()
    run._best.cache_clear()


def _timed(work: Callable[[], Given]) -> tuple[Given, float]:
    start = perf_counter()
    found = work()
    return found, (perf_counter() - start) * 1000


def _least(aim: float, work: Callable[[], Given]) -> tuple[Given, float]:
    """What comes of it, and the least time of those tried: one, or three if that is beyond the aim."""
    forget()
    found, milliseconds = _timed(work)
    for _ in range(2 if milliseconds > aim else 0):
        forget()
        milliseconds = min(milliseconds, _timed(work)[1])
    return found, milliseconds


def replayed(game: Recorded, measured: Measured) -> list[bytes]:
    """Say every line of the game; the positions it went through, encoded. Raises Unplayable."""
    forget()
    state, states, events = game.start, [encoded(game.start)], list[AnyEvent]()
    for number, (seat, line) in enumerate(game.lines, 1):
        busy = thread_time()
        try:
            action, reading = _timed(lambda: parse(state, seat, line))  # noqa: B023
            after, playing = _timed(lambda: play(state, seat, action))  # noqa: B023
        except Exception as wrong:
            raise Unplayable(f"{game.name}: move {number}, {line!r}: {wrong}") from None
        where = f"{game.name}, move {number}: {line}"
        measured.processor.add((thread_time() - busy) * 1000, where)
        measured.said.add(reading + playing, where)
        measured.played.add(playing, where)
        state = after.state
        states.append(encoded(state))
        events += after.events
    measured.games += 1
    _load(game, events, state, measured)
    return states


def _load(game: Recorded, events: list[AnyEvent], end: State, measured: Measured) -> None:
    """Fold a whole game from what is stored of it, and see what the table takes in memory."""
    stored, first = encoded_events(events), encoded(game.start)
    state, milliseconds = _timed(lambda: fold(decoded_events(stored), decoded(first)))
    if state != end:
        raise Unplayable(f"{game.name}: the events do not lead to the position that was played")
    measured.loads.add(milliseconds, f"{game.name}, {len(events)} events")
    measured.events += len(events)
    forget()
    tracemalloc.start()
    table = copied(end)
    for seat in decision(table).asked:
        choices(table, seat)
    _ = game_of(table).network
    measured.memory.append(tracemalloc.get_traced_memory()[0] / 1000)
    tracemalloc.stop()


def examined(game: Recorded, states: Sequence[bytes], measured: Measured) -> None:
    """Ask what a table asks once for every question of the game."""
    question = 0
    for number, raw in enumerate(states):
        state = decoded(raw)
        if state.over or state.question == question:
            continue
        question = state.question
        asks = decision(state)
        for seat in asks.asked:
            where = f"{game.name}, after move {number}: {state.name(seat)} is asked {asks.needs}"
            _offers(state, seat, where, measured)
        if isinstance(state.top, OperatingTurn):
            _operating(state, state.top, f"{game.name}, after move {number}", measured)


def _offers(state: State, seat: str, where: str, measured: Measured) -> None:
    _, milliseconds = _least(OPTIONS, lambda: options(state, seat))
    measured.options.add(milliseconds, where)
    measured.kinds.setdefault(_asked_about(state), Times()).add(milliseconds, where)
    measured.menus.add(_least(OPTIONS, lambda: choices(state, seat))[1], where)


def _asked_about(state: State) -> str:
    top = state.top
    return f"{type(top).__name__}, {top.step}" if isinstance(top, OperatingTurn) else type(top).__name__


def _operating(state: State, turn: OperatingTurn, where: str, measured: Measured) -> None:
    g = game_of(state)
    if turn.step == "track":
        found, milliseconds = _least(LAYS, lambda: list(lays(g, turn.company)))
        measured.lays.add(milliseconds, f"{where}: {len(found)} lays of the {turn.company}")
    if turn.step == "run":
        best, milliseconds = _least(ROUTES, lambda: run.best_run(g, turn.company))
        trains = " ".join(g.company(turn.company).trains)
        what = f"{where}: {turn.company} with {trains}, ${best.revenue}"
        measured.runs.add(milliseconds, what)
        if not best.proven:
            measured.unproven.append(f"{what}, at most ${best.bound}, {milliseconds:.0f} ms")


# -- telling ---------------------------------------------------------------------------------


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
        what,
        str(len(times.each)),
        _ms(times.mean),
        _ms(times.p99),
        _ms(times.worst),
        aim,
        met if aim else None,
    )


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.1f}" if milliseconds >= 10 else f"{milliseconds:.3f}"


def rows(m: Measured) -> Iterator[Row]:
    """The figures of the rules."""
    speed = 1000 * len(m.said.each) / m.said.total if m.said.total else 0
    yield Row("moves a second, every line read and judged", str(len(m.said.each)), f"{speed:,.0f}")
    yield _row(
        "a move: read, judged, played",
        m.said,
        f"mean {MOVE:g}, p99 {MOVE_P99:g}",
        m.said.mean < MOVE and m.said.p99 < MOVE_P99,
    )
    yield _row("  in processor time", m.processor)
    yield _row("  judged and played only", m.played)
    yield _row("all legal lays of a company", m.lays, f"{LAYS:g}", m.lays.worst < LAYS)
    yield _row("all options of a decision", m.options, f"{OPTIONS:g}", m.options.worst < OPTIONS)
    for kind, times in sorted(m.kinds.items(), key=lambda item: -item[1].worst):
        yield _row(f"  {kind}", times)
    yield _row("the same as menus, with lines and words", m.menus)
    yield _row("best routes of a run", m.runs, f"{ROUTES:g}", m.runs.worst < ROUTES)
    proven = len(m.runs.each) - len(m.unproven)
    yield Row("  proven", str(proven), aim=f"all {len(m.runs.each)}", met=not m.unproven)
    yield Row("  in all, seconds", mean=f"{m.runs.total / 1000:.2f}")
    yield _row(f"loading a whole game, {m.events // max(m.games, 1)} events on the average", m.loads)
    if m.memory:
        mean = sum(m.memory) / len(m.memory)
        yield Row(
            "memory of an open table, kB", str(len(m.memory)), f"{mean:.0f}", "", f"{max(m.memory):.0f}"
        )


def pictures(states: Sequence[State]) -> Iterator[Row]:
    """The figures of the pictures, on positions of one game that follow one another."""
    from renderers.timing import bench

    for figure in bench(states):
        aim = "" if figure.bound is None else f"{figure.bound:g}"
        value = f"{figure.value:.1f}"
        met = figure.bound is None or figure.value < figure.bound
        yield Row(f"{figure.name}, {figure.unit}", mean=value, aim=aim, met=met if aim else None)


def machine() -> str:
    """What the figures were measured on."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, {sys.platform}, load {os.getloadavg()[0]:.1f}"
    )


def report(measured: Measured, drawn: Iterable[Row]) -> Table:
    """The table: milliseconds, where nothing else is said."""
    title = f"{measured.games} games; milliseconds; {machine()}"
    table = Table("what", "number", "mean", "p99", "worst", "aim below", "", title=title, box=box.SIMPLE)
    for column in table.columns[1:6]:
        column.justify = "right"
    for row in chain(rows(measured), drawn):
        met = "" if row.met is None else "[green]ok[/]" if row.met else "[bold red]beyond[/]"
        table.add_row(row.what, row.number, row.mean, row.p99, row.worst, row.aim, met)
    return table


def slowest(m: Measured) -> Iterator[str]:
    """Where the longest of each was, and every run that is not proven."""
    for what, times in (
        ("move", m.said),
        ("lays", m.lays),
        ("options", m.options),
        ("menu", m.menus),
        ("run", m.runs),
    ):
        if times.each:
            yield f"slowest {what}: {_ms(times.worst)} ms, {times.where}"
    yield from (f"not proven: {what}" for what in m.unproven)


def command(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Games: .18xx texts, or files of the site, plain or gzipped.")
    ] = None,
    games: Annotated[Path | None, typer.Option(help="A folder of such files.")] = None,
    by_lot: Annotated[
        int | None, typer.Option("--simulated", min=0, help="Random games of each title as well.")
    ] = None,
) -> None:
    """Measure the rules and the pictures over games, and print a table."""
    paths = [*(files or ()), *_games_in(games)]
    count = by_lot if by_lot is not None else (0 if paths else 10)
    measured = Measured()
    last: list[bytes] = []
    console = Console() if sys.stdout.isatty() else Console(width=120, color_system=None)
    try:
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("playing", total=len(paths) + count * len(titles()))
            for game in chain(map(recorded, paths), by_chance(count)):
                bar.update(task, description=game.name)
                gc.collect()
                gc.disable()
                last = replayed(game, measured)
                examined(game, last, measured)
                gc.enable()
                bar.advance(task)
    except Unplayable as wrong:
        typer.echo(str(wrong), err=True)
        raise typer.Exit(1) from None
    console.print(report(measured, pictures(_drawn(list(map(decoded, last)))) if last else ()))
    for line in slowest(measured):
        typer.echo(line)


def _games_in(folder: Path | None) -> list[Path]:
    """The games in a folder and those below it; the states that lie beside recorded games are none."""
    if folder is None:
        return []
    if not folder.is_dir():
        typer.echo(f"{folder} is no folder.", err=True)
        raise typer.Exit(1)
    found = (p for p in folder.rglob("*") if p.name.endswith((".18xx", ".json", ".json.gz")))
    return sorted(found)


def _drawn(states: Sequence[State]) -> list[State]:
    """The last positions after which the map looks different."""
    found = [states[-1]]
    for state in reversed(states):
        if (state.tiles, state.tokens) != (found[-1].tiles, found[-1].tokens):
            found.append(state)
        if len(found) == PICTURED:
            break
    return found[::-1]
