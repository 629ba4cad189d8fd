"""Random legal games to the end: `railpost simulate`.

Everything follows from the seed: the same one gives the same game on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bot.files import FORMS, SITE, TEXT, exported, form_of
from bot.offline.chance import Chance, Stuck
from bot.offline.invariants import move_faults, offer_faults, position_faults, trespass_faults
from bot.offline.kinds import CONSEQUENCES, WEIGHTS, consequences
from bot.offline.rows import rows
from engine import (
    State,
    copied,
    decision,
    encoded,
    fold,
    new_game,
    optional_rules,
    play,
    round_name,
    spell,
    title_of,
)
from engine.events import PhaseStarted
from engine.interchange.site_file import FileError
from engine.interchange.site_names import names_of
from engine.record import replay
from engine.record.telling import Telling, Told, text
from engine.state import Waterfall

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gil", "Hal", "Ida", "Jon", "Kay", "Lou")
MOST_MOVES = 8_000
DRAWS = 30
"""How often optional rules are drawn until they are for so many players."""


@dataclass
class Simulated:
    """A random game, as far as it went: its first state and its last.

    `told`: what was said and what it brought about. `failure`: what went wrong, and at which move;
    None where the game ended as games end.
    """

    title: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seed: int
    start: State
    state: State
    told: list[Told] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    failure: str | None = None

    @property
    def moves(self) -> int:
        return len(self.told)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Seats with what they said."""
        return [(told.seat, told.line) for told in self.told]

    @property
    def telling(self) -> Telling:
        """The game as it was told."""
        return Telling(self.start, tuple(self.told))

    @property
    def text(self) -> str:
        """The game as a `.18xx` file."""
        return text(self.telling, f"random play, seed {self.seed}")

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.failure:
            return self.failure
        return self.state.over.reason if self.state.over else "unfinished"


def simulated(
    title: str,
    players: int,
    seed: int,
    chosen: Sequence[str] = (),
    *,
    check_every: int = 0,
    most_moves: int = MOST_MOVES,
    watch: Callable[[Simulated], None] = lambda game: None,
) -> Simulated:
    """Play a random game of that many players to its end.

    `check_every`: every so many moves all that must hold is checked, 0 for never; `watch` is called
    after every move. A game that breaks off says so in `failure`. Raises ValueError for a title,
    option or number of players that there is not.
    """
    names = NAMES[:players]
    state, _ = new_game(title, names, chosen, seed)
    game = Simulated(title, names, state.options, seed, state, state)
    chance = Chance(seed, players)
    try:
        while game.state.over is None:
            if game.moves >= most_moves:
                raise Stuck(f"the game has not ended after {most_moves} moves")
            _step(game, chance, bool(check_every) and game.moves % check_every == 0)
            watch(game)
        if check_every:
            _complain(position_faults(game.state))
            _complain(offer_faults(game.state))
            _complain(_record_faults(game))
    except Exception as wrong:  # whatever a rule raises is a finding, to be told with its seed and move
        what = str(wrong) if isinstance(wrong, Stuck) else f"{type(wrong).__name__}: {wrong}"
        game.failure = f"seed {seed}, move {game.moves + 1}: {what}"
    return game


def _step(game: Simulated, chance: Chance, check: bool) -> None:
    before = game.state
    raw = encoded(before) if check else b""
    if check:
        _complain(position_faults(before))
        _complain(offer_faults(before))
    seat, action, kind = chance.decide(before)
    line = spell(before, action)
    played = play(before, seat, action)
    if check:
        said = f"{before.name(seat)}: {line}"
        _complain(trespass_faults(before, seat, action), said)
        _complain(move_faults(before, seat, action, raw, played), said)
    game.state = played.state
    game.told.append(Told(seat, line, played.events))
    game.kinds[kind] += 1
    game.seen.update(consequences(before, played.events))
    if _cut(played.state) > _cut(before):
        game.seen["private's price cut"] += 1
    if seat not in decision(before).all:
        game.seen["act beside the question"] += 1


def _record_faults(game: Simulated) -> Iterator[str]:
    """Whether the game can be loaded: from its events, and from its text with all checkpoints."""
    loaded = copied(game.start)
    for told in game.told:
        loaded = fold(told.events, loaded)
    if loaded != game.state:
        yield "folding all events does not lead to the last position"
    report = replay(game.text)
    if not report.ok:
        yield f"its text does not replay: {report.failure}"
    elif report.state != game.state:
        yield "its text leads to another position"


def _cut(state: State) -> int:
    return state.top.cut if isinstance(state.top, Waterfall) else 0


def _complain(faults: Iterator[str], line: str = "") -> None:
    """Raise Stuck with the first fault."""
    fault = next(faults, None)
    if fault is not None:
        raise Stuck(f"{line}: {fault}" if line else fault)


# -- the command -----------------------------------------------------------------------------


def options_of(conventions: str, option: Sequence[str]) -> tuple[str, ...]:
    """The options of a table: the set of conventions, unless it is the rulebook's, and the rest."""
    return (*(() if conventions == "rulebook" else (f"conventions {conventions}",)), *option)


def varied(
    title: str, players: int, seed: int, conventions: str = "rulebook", *, to_site: bool = False
) -> tuple[str, ...]:
    """The options of a table with optional rules that the seed draws, such that so many can play.

    `to_site`: only such as 18xx.games has. Raises ValueError where none let so many play.
    """
    chance = Random(f"options {seed}")
    for _ in range(DRAWS):
        chosen = options_of(conventions, ())
        for rule in optional_rules(title):
            drawn = chance.random() < 0.5
            if drawn and _go_together(title, (*chosen, rule)) and not (to_site and _only_ours(title, rule)):
                chosen = (*chosen, rule)
        seats = title_of(title, chosen).facts.players
        if seats["min"] <= players <= seats["max"]:
            return chosen
    raise ValueError(f"No optional rules of {title} are for {players} players.")


def _go_together(title: str, chosen: tuple[str, ...]) -> bool:
    try:
        title_of(title, chosen)
    except ValueError:
        return False
    return True


def _only_ours(title: str, rule: str) -> bool:
    """Whether 18xx.games has the title without that rule."""
    try:
        return bool(names_of(title).unknown(options_of(SITE, (rule,))))
    except FileError:
        return False


def spread(players: str) -> range:
    """`4` or `3-12` as numbers of players. Raises ValueError for anything else."""
    low, dash, high = players.partition("-")
    high = high if dash else low
    if not (low.isdecimal() and high.isdecimal()) or int(low) > int(high):
        raise ValueError(f"Say a number of players, like 4 or 3-6, not {players!r}.")
    return range(int(low), int(high) + 1)


def command(
    title: Annotated[str, typer.Option(help="The title to play.")],
    players: Annotated[str, typer.Option(help="How many seats: 4, or 3-6 in turn.")] = "4",
    seed: Annotated[int, typer.Option(help="The seed of the first game; each next has the next.")] = 1,
    games: Annotated[int, typer.Option(min=1, help="How many games.")] = 1,
    conventions: Annotated[
        str | None,
        typer.Option(help=f"rulebook, or another set that the title has; {SITE} for files of that form."),
    ] = None,
    option: Annotated[list[str] | None, typer.Option(help="An optional rule; may be repeated.")] = None,
    vary: Annotated[
        bool, typer.Option("--vary", help="Optional rules as each game's seed draws them.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the games, a file each.")] = None,
    to: Annotated[str, typer.Option(help=f"The form of these files: {', '.join(FORMS)}.")] = TEXT,
    check: Annotated[bool, typer.Option("--check", help="Check at every step all that must hold.")] = False,
) -> None:
    """Play random legal games to the end."""
    console = Console()
    try:
        form = form_of(to)
        conventions = conventions or (SITE if form == SITE else "rulebook")
        chosen = options_of(conventions, option or ())
        title_of(title, chosen)
        seats = spread(players)
        tables = [
            (at, n, varied(title, n, at, conventions, to_site=form == SITE) if vary else chosen)
            for at, n in zip(range(seed, seed + games), cycle(seats), strict=False)
        ]
        for _, n, rules in tables:
            new_game(title, NAMES[:n], rules)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as wrong:
        typer.echo(str(wrong), err=True)
        raise typer.Exit(1) from None
    played = []
    with Progress(
        TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as bar:
        task = bar.add_task("", total=games)
        for at, n, rules in tables:

            def watch(game: Simulated) -> None:
                if game.moves % 25 == 0:
                    where = round_name(game.state)
                    bar.update(task, description=f"seed {game.seed}, move {game.moves}, {where}")

            game = simulated(title, n, at, rules, check_every=int(check), watch=watch)
            played.append(game)
            if out is not None:
                _write(game, form, out)
            bar.advance(task)
    console.print(report(played))
    failed = [game for game in played if game.failure]
    for game in failed:
        typer.echo(game.failure, err=True)
    if failed:
        raise typer.Exit(1)


def _write(game: Simulated, form: str, out: Path) -> None:
    """Write a game into a folder; one that cannot be written in that form is a failure."""
    try:
        file = exported(game.telling, form, f"random play, seed {game.seed}", file_stem(game))
        (out / file.name).write_bytes(file.content)
    except (ValueError, OSError) as wrong:
        game.failure = game.failure or f"seed {game.seed}: {wrong}"


def file_stem(game: Simulated) -> str:
    """A file name that says what the game is: `4p-17`, `3p-5-18xx.games-optional_6_train`."""
    said = [option.rpartition(" ")[2] for option in game.options]
    return "-".join([f"{len(game.players)}p", str(game.seed), *said])


def report(played: Sequence[Simulated]) -> Table:
    """How often each kind of decision was made and each rare thing happened, how far games went, and how
    they ended. What cannot come up at any of the tables has no row."""
    table = Table(
        "what", "times", "in games", title=f"{len(played)} games, {sum(g.moves for g in played)} moves"
    )
    table.columns[1].justify = table.columns[2].justify = "right"
    open_to = frozenset[str]().union(*(rows(g.title, g.options) for g in played))
    for names, counted in (
        ([name for name in WEIGHTS if name in open_to], [g.kinds for g in played]),
        ([name for name in CONSEQUENCES if name in open_to], [g.seen for g in played]),
        (_phases(played), [_reached(g) for g in played]),
        (sorted({_short(g) for g in played}), [Counter([_short(g)]) for g in played]),
    ):
        for name in names:
            times = sum(c[name] for c in counted)
            table.add_row(name, str(times), str(sum(name in c for c in counted)))
        table.add_section()
    return table


def _phases(played: Sequence[Simulated]) -> list[str]:
    """The phases after the first that there are at these tables, in their order."""
    facts = (title_of(g.title, g.options).facts for g in played)
    return list(dict.fromkeys(f"phase {phase.name}" for each in facts for phase in each.phases[1:]))


def _reached(game: Simulated) -> Counter[str]:
    events = (event for told in game.told for event in told.events)
    return Counter(f"phase {event.phase}" for event in events if isinstance(event, PhaseStarted))


def _short(game: Simulated) -> str:
    if game.failure:
        return "ended as a failure"
    over = game.state.over
    alone = len(game.state.active) < 2
    return "ended by a bankruptcy" if alone or (over and over.bankrupt) else "ended in its last round"
