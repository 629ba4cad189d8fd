"""The games that are measured: recorded ones, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bot.offline.bench.times import forget, spent
from bot.offline.importing import file_bytes
from bot.offline.importing import played as imported
from bot.offline.simulate import simulated
from engine import AnyEvent, State, facts_of, titles
from engine.interchange.site import Replay
from engine.interchange.site_file import read as read_site
from engine.record import place, read
from engine.record.text import Move

AGREED_END = "end"
"""What the importer notes where players of the site ended a game by agreement; it is no move."""

SUFFIXES = (".18xx", ".json", ".json.gz")


class Unplayable(Exception):
    """A file that cannot be used, with one sentence."""


class Recorded(NamedTuple):
    """A game as it was played: its name, its first position, and what each seat said.

    actions: of its file, if it is one of the site; milliseconds: of replaying them, with every check.
    recorded: what each line brought about there, which holds where the rules say otherwise. random:
    whether chance played it.
    """

    name: str
    start: State
    lines: list[tuple[str, str]]
    actions: int = 0
    milliseconds: float = 0.0
    recorded: Sequence[Sequence[AnyEvent]] = ()
    random: bool = False


def recorded(path: Path) -> Recorded:
    """A game from a text (`.18xx`) or from a file of the site. Raises Unplayable."""
    if path.suffix == ".18xx":
        return _from_text(path)
    told, game = imported(path)
    if game is None or not told.ok:
        raise Unplayable(f"{path}: {told.error}")
    said = [each for each in game.said if each.line != AGREED_END]
    lines, events = [(each.seat, each.line) for each in said], [each.events for each in said]
    return Recorded(path.name, game.start, lines, told.actions, _replaying(path), events)


def _replaying(path: Path) -> float:
    """Milliseconds for the actions of a file of the site: the less of two times."""
    file = read_site(file_bytes(path))
    times = []
    for _ in range(2):
        forget()
        times.append(spent(lambda: [*Replay(file).run()])[1])
    return min(times)


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
            name = f"random {title}, {players} players, seed {seed}"
            yield Recorded(name, game.start, game.lines, random=True)


def games_in(folder: Path | None) -> list[Path]:
    """The games in a folder and those below it; the states that lie beside recorded games are none.

    Raises Unplayable where there is no such folder.
    """
    if folder is None:
        return []
    if not folder.is_dir():
        raise Unplayable(f"{folder} is no folder.")
    return sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES))
