"""Random legal games to the end: `railpost simulate`.

The same seed gives the same game on every machine.
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

from bot.cli import errors_in_sentences
from bot.features.game_files.feature import FORMATS, SITE, TEXT, make_game_file, parse_format
from bot.tools.simulation.action_kinds import CONSEQUENCES, WEIGHTS, consequences
from bot.tools.simulation.invariants import (
    move_violations,
    options_violations,
    permission_violations,
    position_violations,
)
from bot.tools.simulation.random_player import RandomPlayer, SimulationError
from engine import (
    State,
    copy_state,
    decision,
    encode_state,
    fold,
    format_action,
    new_game,
    optional_rules,
    play,
    round_name,
    title_of,
)
from engine.core.events import PhaseStarted
from engine.core.state import Waterfall
from engine.game_text import replay
from engine.game_text.history import GameHistory, HistoryLine, history_script
from engine.site_18xx.game_file import SiteFileError
from engine.site_18xx.names import site_names_of
from storage import write_whole

PLAYER_NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gil", "Hal", "Ida", "Jon", "Kay", "Lou")
MAX_MOVES = 8_000
MAX_DRAWS = 30
"""How often optional rules are drawn until they allow the number of players."""


@dataclass
class SimulatedGame:
    """A random game as far as it went, with its first and last position.

    history_lines: the lines that were played, with their events. kind_counts, consequence_counts: how often
    each occurred. failure: what went wrong and at which move, None for a game that ended by the rules.
    """

    title: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seed: int
    start: State
    state: State
    history_lines: list[HistoryLine] = field(default_factory=list)
    kind_counts: Counter[str] = field(default_factory=Counter)
    consequence_counts: Counter[str] = field(default_factory=Counter)
    failure: str | None = None

    @property
    def move_count(self) -> int:
        return len(self.history_lines)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The seat and the line of each move."""
        return [(played.seat, played.line) for played in self.history_lines]

    @property
    def history(self) -> GameHistory:
        """The game with its events."""
        return GameHistory(self.start, tuple(self.history_lines))

    @property
    def text(self) -> str:
        """The game as a `.18xx` file."""
        return history_script(self.history, f"random play, seed {self.seed}")


def simulate_game(
    title: str,
    players: int,
    seed: int,
    chosen: Sequence[str] = (),
    *,
    check_every: int = 0,
    max_moves: int = MAX_MOVES,
    watch: Callable[[SimulatedGame], None] = lambda game: None,
) -> SimulatedGame:
    """Play a random game to its end, see `simulate_from`.

    Raises ValueError for an unknown title or option, or a wrong number of players.
    """
    start, _ = new_game(title, PLAYER_NAMES[:players], chosen, seed)
    return simulate_from(start, seed, check_every=check_every, max_moves=max_moves, watch=watch)


def simulate_from(
    start: State,
    seed: int,
    *,
    check_every: int = 0,
    max_moves: int = MAX_MOVES,
    watch: Callable[[SimulatedGame], None] = lambda game: None,
) -> SimulatedGame:
    """Play on at random from a position, to the end of the game.

    check_every: every so many moves all invariants are checked, 0 for never. watch: called after every move.
    A game that breaks off has a `failure`.
    """
    game = SimulatedGame(start.title, tuple(start.players), start.options, seed, start, start)
    player = RandomPlayer(seed, len(start.players))
    try:
        while game.state.game_over is None:
            if game.move_count >= max_moves:
                raise SimulationError(f"the game has not ended after {max_moves} moves")
            _play_move(game, player, bool(check_every) and game.move_count % check_every == 0)
            watch(game)
        if check_every:
            _raise_first(position_violations(game.state))
            _raise_first(options_violations(game.state))
            _raise_first(_replay_violations(game))
    except Exception as error:  # any error of a rule is a finding, reported with its seed and move
        reason = str(error) if isinstance(error, SimulationError) else f"{type(error).__name__}: {error}"
        game.failure = f"seed {seed}, move {game.move_count + 1}: {reason}"
    return game


def _play_move(game: SimulatedGame, player: RandomPlayer, check: bool) -> None:
    before = game.state
    raw = encode_state(before) if check else b""
    if check:
        _raise_first(position_violations(before))
        _raise_first(options_violations(before))
    seat, action, kind = player.choose_action(before)
    line = format_action(before, action)
    played = play(before, seat, action)
    if check:
        named_line = f"{before.name(seat)}: {line}"
        _raise_first(permission_violations(before, seat, action), named_line)
        _raise_first(move_violations(before, seat, action, raw, played), named_line)
    game.state = played.state
    game.history_lines.append(HistoryLine(seat, line, played.events))
    game.kind_counts[kind] += 1
    game.consequence_counts.update(consequences(before, played.events))
    if _price_cut(played.state) > _price_cut(before):
        game.consequence_counts["private's price cut"] += 1
    if seat not in decision(before).awaited:
        game.consequence_counts["act out of turn"] += 1


def _replay_violations(game: SimulatedGame) -> Iterator[str]:
    """What is wrong with loading the game, from its events and from its text with all checkpoints.

    A game that begins from a set-up position has no text.
    """
    loaded = copy_state(game.start)
    for played in game.history_lines:
        loaded = fold(played.events, loaded)
    if loaded != game.state:
        yield "folding all events does not lead to the last position"
    try:
        report = replay(game.text)
    except ValueError:
        return
    if not report.ok:
        yield f"its text does not replay: {report.failure}"
    elif report.state != game.state:
        yield "its text leads to another position"


def _price_cut(state: State) -> int:
    return state.top.discount if isinstance(state.top, Waterfall) else 0


def _raise_first(faults: Iterator[str], line: str = "") -> None:
    """Raise SimulationError with the first violation, if there is one."""
    fault = next(faults, None)
    if fault is not None:
        raise SimulationError(f"{line}: {fault}" if line else fault)


# -- the command -----------------------------------------------------------------------------


def table_options(conventions: str, option: Sequence[str]) -> tuple[str, ...]:
    """The options of a table: the conventions, unless they are the rulebook's, and the others."""
    return (*(() if conventions == "rulebook" else (f"conventions {conventions}",)), *option)


def random_options(
    title: str, players: int, seed: int, conventions: str = "rulebook", *, to_site: bool = False
) -> tuple[str, ...]:
    """The options of a table, with optional rules drawn from the seed that allow the number of players.

    to_site: only rules that 18xx.games has. Raises ValueError if no rules allow the number.
    """
    rng = Random(f"options {seed}")
    for _ in range(MAX_DRAWS):
        chosen = table_options(conventions, ())
        for rule in optional_rules(title):
            drawn = rng.random() < 0.5
            if (
                drawn
                and _are_compatible(title, (*chosen, rule))
                and not (to_site and _is_unknown_to_site(title, rule))
            ):
                chosen = (*chosen, rule)
        seats = title_of(title, chosen).components.players
        if seats["min"] <= players <= seats["max"]:
            return chosen
    raise ValueError(f"No optional rules of {title} allow {players} players.")


def _are_compatible(title: str, chosen: tuple[str, ...]) -> bool:
    try:
        title_of(title, chosen)
    except ValueError:
        return False
    return True


def _is_unknown_to_site(title: str, rule: str) -> bool:
    """Whether 18xx.games does not have that rule of the title."""
    try:
        return bool(site_names_of(title).unknown_options(table_options(SITE, (rule,))))
    except SiteFileError:
        return False


def parse_player_counts(players: str) -> range:
    """The numbers of players of `4` or `3-12`. Raises ValueError for anything else."""
    low, dash, high = players.partition("-")
    high = high if dash else low
    if not (low.isdecimal() and high.isdecimal()) or int(low) > int(high):
        raise ValueError(f"The number of players should look like 4 or 3-6, not {players!r}.")
    return range(int(low), int(high) + 1)


def command(
    title: Annotated[str, typer.Option(help="The title to play.")],
    players: Annotated[str, typer.Option(help="The number of players: 4, or 3-6 for each in turn.")] = "4",
    seed: Annotated[
        int, typer.Option(help="The seed of the first game; later games have the next seeds.")
    ] = 1,
    games: Annotated[int, typer.Option(min=1, help="How many games.")] = 1,
    conventions: Annotated[
        str | None,
        typer.Option(
            help=f"rulebook, or other conventions of the title; {SITE} by default for files of that format."
        ),
    ] = None,
    option: Annotated[list[str] | None, typer.Option(help="An optional rule; may be repeated.")] = None,
    vary: Annotated[bool, typer.Option("--vary", help="Draw optional rules from each game's seed.")] = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the games, one file for each.")] = None,
    to: Annotated[str, typer.Option(help=f"The format of these files: {', '.join(FORMATS)}.")] = TEXT,
    check: Annotated[bool, typer.Option("--check", help="Check all invariants at every step.")] = False,
) -> None:
    """Play random legal games to the end."""
    console = Console()
    with errors_in_sentences():
        format_name = parse_format(to)
        conventions = conventions or (SITE if format_name == SITE else "rulebook")
        chosen = table_options(conventions, option or ())
        title_of(title, chosen)
        seats = parse_player_counts(players)
        tables = [
            (
                at,
                n,
                random_options(title, n, at, conventions, to_site=format_name == SITE) if vary else chosen,
            )
            for at, n in zip(range(seed, seed + games), cycle(seats), strict=False)
        ]
        for _, n, rules in tables:
            new_game(title, PLAYER_NAMES[:n], rules)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
    played = []
    with Progress(
        TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as bar:
        task = bar.add_task("", total=games)
        for at, n, rules in tables:

            def watch(game: SimulatedGame) -> None:
                if game.move_count % 25 == 0:
                    where = round_name(game.state)
                    bar.update(task, description=f"seed {game.seed}, move {game.move_count}, {where}")

            game = simulate_game(title, n, at, rules, check_every=int(check), watch=watch)
            played.append(game)
            if out is not None:
                with errors_in_sentences():
                    _write_game(game, format_name, out)
            bar.advance(task)
    console.print(report_table(played))
    failed = [game for game in played if game.failure]
    for game in failed:
        typer.echo(game.failure, err=True)
    if failed:
        raise typer.Exit(1)


def _write_game(game: SimulatedGame, format_name: str, out: Path) -> None:
    """Write a game into a folder; if the format cannot hold it, that is a failure."""
    try:
        file = make_game_file(game.history, format_name, f"random play, seed {game.seed}", file_stem(game))
        write_whole(out / file.name, file.content)
    except ValueError as error:
        game.failure = game.failure or f"seed {game.seed}: {error}"


def file_stem(game: SimulatedGame) -> str:
    """A file name with players, seed and options: `4p-17`, `3p-5-18xx.games-optional_6_train`."""
    options = [option.rpartition(" ")[2] for option in game.options]
    return "-".join([f"{len(game.players)}p", str(game.seed), *options])


def report_table(played: Sequence[SimulatedGame]) -> Table:
    """How often each kind of decision and each rare consequence occurred, which phases were reached, and
    how games ended. What did not occur has no row."""
    table = Table(
        "what", "times", "in games", title=f"{len(played)} games, {sum(g.move_count for g in played)} moves"
    )
    table.columns[1].justify = table.columns[2].justify = "right"
    for names, counted in (
        (WEIGHTS, [g.kind_counts for g in played]),
        (CONSEQUENCES, [g.consequence_counts for g in played]),
        (_later_phases(played), [_phases_reached(g) for g in played]),
        (sorted({_ending_kind(g) for g in played}), [Counter([_ending_kind(g)]) for g in played]),
    ):
        for name in names:
            if times := sum(c[name] for c in counted):
                table.add_row(name, str(times), str(sum(name in c for c in counted)))
        table.add_section()
    return table


def _later_phases(played: Sequence[SimulatedGame]) -> list[str]:
    """The phases after the first at these tables, in their order."""
    components = (title_of(g.title, g.options).components for g in played)
    return list(dict.fromkeys(f"phase {phase.name}" for each in components for phase in each.phases[1:]))


def _phases_reached(game: SimulatedGame) -> Counter[str]:
    events = (event for line in game.history_lines for event in line.events)
    return Counter(f"phase {event.phase}" for event in events if isinstance(event, PhaseStarted))


def _ending_kind(game: SimulatedGame) -> str:
    if game.failure:
        return "ended as a failure"
    game_over = game.state.game_over
    one_left = len(game.state.active_seats) < 2
    return (
        "ended by a bankruptcy"
        if one_left or (game_over and game_over.bankrupt)
        else "ended in its last round"
    )
