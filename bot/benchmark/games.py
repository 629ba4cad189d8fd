"""The games that are measured: recorded ones, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bot.benchmark.timing import clear_caches, timed
from bot.cli.import_games import import_file as imported
from bot.cli.import_games import read_game_file
from bot.simulation.simulate import simulate_game
from engine import AnyEvent, State, components_of, title_names
from engine.game_text import read_script, set_up_position
from engine.game_text.script import ScriptMove
from engine.site_18xx.game_file import read_site_file as read_site
from engine.site_18xx.replay import SiteReplay

AGREED_END = "end"
"""What the importer notes where players of the site ended a game by agreement; it is no move."""

SUFFIXES = (".18xx", ".json", ".json.gz")


class BenchmarkError(Exception):
    """A file that cannot be used, with one sentence."""


class BenchmarkGame(NamedTuple):
    """A game as it was played: its name, its first position, and what each seat said.

    actions: of its file, if it is one of the site; milliseconds: of replaying them, with every check.
    recorded: what each line brought about there, which holds where the rules say otherwise. random:
    whether chance played it.
    """

    name: str
    start: State
    lines: list[tuple[str, str]]
    action_count: int = 0
    milliseconds: float = 0.0
    recorded_events: Sequence[Sequence[AnyEvent]] = ()
    is_random: bool = False


def load_game(path: Path) -> BenchmarkGame:
    """A game from a text (`.18xx`) or from a file of the site. Raises Unplayable."""
    if path.suffix == ".18xx":
        return _load_script(path)
    told, game = imported(path)
    if game is None or not told.ok:
        raise BenchmarkError(f"{path}: {told.error}")
    said = [each for each in game.lines if each.line != AGREED_END]
    lines, events = [(each.seat, each.line) for each in said], [each.events for each in said]
    return BenchmarkGame(path.name, game.start, lines, told.actions, _replay_milliseconds(path), events)


def _replay_milliseconds(path: Path) -> float:
    """Milliseconds for the actions of a file of the site: the less of two times."""
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
    except (OSError, ValueError) as wrong:
        raise BenchmarkError(f"{path}: {wrong}") from None
    moves = [item for item in script.items if isinstance(item, ScriptMove) and item.expectation == "must"]
    return BenchmarkGame(path.name, start, [(move.seat, move.text) for move in moves])


def random_games(games: int) -> Iterator[BenchmarkGame]:
    """So many random games of each title, over all numbers of players."""
    for title in title_names():
        seats = components_of(title).players
        for seed in range(games):
            players = seats["min"] + seed % (seats["max"] - seats["min"] + 1)
            game = simulate_game(title, players, seed)
            name = f"random {title}, {players} players, seed {seed}"
            yield BenchmarkGame(name, game.start, game.lines, is_random=True)


def find_game_files(folder: Path | None) -> list[Path]:
    """The games in a folder and those below it; the states that lie beside recorded games are none.

    Raises Unplayable where there is no such folder.
    """
    if folder is None:
        return []
    if not folder.is_dir():
        raise BenchmarkError(f"{folder} is no folder.")
    return sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES))
