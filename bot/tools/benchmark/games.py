"""The games to measure: recorded games and random games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bot.cli.import_games import import_file, read_game_file
from bot.tools.benchmark.timing import clear_caches, timed
from bot.tools.simulation.simulate import simulate_game
from engine import AnyEvent, State, components_of, title_names
from engine.game_text import read_script, set_up_position
from engine.game_text.history import ENDED_LINE
from engine.game_text.script import ScriptMove
from engine.site_18xx.game_file import read_site_file as read_site
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import ReplayedLine

SUFFIXES = (".18xx", ".json", ".json.gz")


class BenchmarkError(Exception):
    """A game or a store that cannot be used; the message is a sentence."""


class BenchmarkGame(NamedTuple):
    """A game: its name, its first position, and the seat and line of each move.

    action_count: of a file of 18xx.games. milliseconds: for replaying them, with every check.
    recorded_events: the events of each line in a recorded game, which are used where the rules now refuse the
    line. is_random: whether it is a random game.
    """

    name: str
    start: State
    lines: list[tuple[str, str]]
    action_count: int = 0
    milliseconds: float = 0.0
    recorded_events: Sequence[Sequence[AnyEvent]] = ()
    is_random: bool = False


def load_game(path: Path) -> BenchmarkGame:
    """A game from a `.18xx` text or a file of 18xx.games. Raises BenchmarkError."""
    if path.suffix == ".18xx":
        return _load_script(path)
    start, moves, actions = imported_moves(path)
    lines, events = [(move.seat, move.line) for move in moves], [move.events for move in moves]
    return BenchmarkGame(path.name, start, lines, actions, _replay_milliseconds(path), events)


def imported_moves(path: Path) -> tuple[State, list[ReplayedLine], int]:
    """The start of the game in a file of 18xx.games, its moves without an agreed end, and how many actions
    the file has. Raises BenchmarkError."""
    report, game = import_file(path)
    if game is None or not report.ok:
        raise BenchmarkError(f"{path}: {report.error}")
    return game.start, [line for line in game.lines if line.line != ENDED_LINE], report.actions


def _replay_milliseconds(path: Path) -> float:
    """Milliseconds for replaying a file of 18xx.games, the better of two times."""
    file = read_site(read_game_file(path))
    times = []
    for _ in range(2):
        clear_caches()
        times.append(timed(lambda: [*SiteReplay(file).run()])[1])
    return min(times)


def _load_script(path: Path) -> BenchmarkGame:
    try:
        script = read_script(path.read_text(encoding="utf-8"))
        start = set_up_position(script.start, script.setup)
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{path}: {error}") from None
    moves = [item for item in script.items if isinstance(item, ScriptMove) and item.expectation == "must"]
    return BenchmarkGame(path.name, start, [(move.seat, move.text) for move in moves])


def random_games(games: int) -> Iterator[BenchmarkGame]:
    """So many random games of each title, with all numbers of players."""
    for title in title_names():
        seats = components_of(title).players
        for seed in range(games):
            players = seats["min"] + seed % (seats["max"] - seats["min"] + 1)
            game = simulate_game(title, players, seed)
            name = f"random {title}, {players} players, seed {seed}"
            yield BenchmarkGame(name, game.start, game.lines, is_random=True)


def find_game_files(folder: Path | None) -> list[Path]:
    """The files of games in a folder and its subfolders. Raises BenchmarkError if there is no such folder."""
    if folder is None:
        return []
    if not folder.is_dir():
        raise BenchmarkError(f"{folder} is not a folder.")
    return sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES))
