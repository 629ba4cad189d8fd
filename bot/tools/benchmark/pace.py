"""`railpost bench --pace FOLDER`: what orders would have saved in the games of a folder, as a table.

Files that people played are those whose names begin with `played`; where a folder has none, all its files
are read. A file that cannot be read is skipped with a sentence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich import box
from rich.table import Table

from bot.cli.import_games import read_game_file
from bot.features.game_files.feature import read_game
from bot.tools.benchmark.games import BenchmarkError, find_game_files, imported_moves
from bot.tools.benchmark.pace_model import PaceResult, RecordedGame, RecordedMove, measure_pace

PLAYED = "played"
COUNTED = ("without", "with orders", "and turns")
AIM = 0.5
"""The part of the waits of the median game that orders should save."""


def pace_files(folder: Path) -> list[Path]:
    """The files to measure. Raises BenchmarkError where there are none."""
    files = find_game_files(folder)
    played = [path for path in files if path.name.startswith(PLAYED)]
    if not files:
        raise BenchmarkError(f"{folder} has no games.")
    return played or files


def recorded_game(path: Path) -> RecordedGame:
    """A game with the times of its moves, where the file has them. Raises BenchmarkError."""
    if path.suffix == ".18xx":
        return _of_script(path)
    start, lines, _ = imported_moves(path)
    actions: dict[Any, dict[str, Any]] = {
        action["id"]: action
        for action in json.loads(read_game_file(path)).get("actions", ())
        if "id" in action
    }
    moves = []
    for line in lines:
        action = actions.get(line.action_id, {})
        by = action.get("user", action.get("entity"))
        moves.append(RecordedMove(line.seat, line.line, line.events, by))
    return RecordedGame(f"{path.parent.name}/{path.name}", start, moves)


def _of_script(path: Path) -> RecordedGame:
    try:
        game, _ = read_game(read_game_file(path))
    except ValueError as error:
        raise BenchmarkError(f"{path}: {error}") from None
    moves = [RecordedMove(line.seat, line.line, line.events, line.seat) for line in game.lines]
    return RecordedGame(path.name, game.start, moves)


def measure_folder(
    folder: Path, skipped: Callable[[str], None], done: Callable[[str], None] = lambda name: None
) -> list[PaceResult]:
    """The results of the games of a folder; `skipped` is told of each that cannot be read."""
    results = []
    for path in pace_files(folder):
        try:
            results.append(measure_pace(recorded_game(path)))
        except (BenchmarkError, ValueError) as error:
            skipped(f"Skipped: {error}")
        done(path.name)
    return results


def saved_part(result: PaceResult, *, planned_turns: bool = False) -> float:
    """The part of a game's waits that orders save; with planned turns or, as the aim has it, without."""
    before, after = result.before.total(), (result.with_turns if planned_turns else result.after).total()
    return 1 - after / before if before else 0.0


def pace_tables(results: Sequence[PaceResult]) -> Iterator[Table]:
    """One row for each game, and one for each kind of wait."""
    games = Table("game", "moves", "on the site", *COUNTED, "saved", "same end", box=box.SIMPLE)
    for result in sorted(results, key=saved_part):
        counts = [str(waits.total()) for waits in (result.before, result.after, result.with_turns)]
        same = "yes" if result.same else "NO"
        games.add_row(result.name, str(result.moves), str(result.as_played), *counts, _saved([result]), same)
    if results:
        site = median(result.as_played for result in results)
        waits = [[counted.total() for counted in (r.before, r.after, r.with_turns)] for r in results]
        medians = [f"{median(column):g}" for column in zip(*waits, strict=True)]
        games.add_section()
        games.add_row("median", "", f"{site:g}", *medians, _saved(results), "")
    yield games
    kinds = Table("what ended the wait", *COUNTED, box=box.SIMPLE)
    totals = [
        sum((getattr(result, counted) for result in results), Counter[str]())
        for counted in ("before", "after", "with_turns")
    ]
    for kind in sorted(set().union(*totals), key=lambda kind: -totals[0][kind]):
        kinds.add_row(kind, *(str(total[kind]) for total in totals))
    yield kinds


def _saved(results: Sequence[PaceResult]) -> str:
    """What the median game loses of its waits: with orders, and with planned turns too."""
    parts = [
        median(saved_part(result, planned_turns=planned) for result in results) for planned in (False, True)
    ]
    return " / ".join(f"{part:.0%}" for part in parts)


def verdict(results: Sequence[PaceResult]) -> str:
    """Whether the aim is met, as a sentence."""
    if not results:
        return "No game could be read."
    part = median(map(saved_part, results))
    planned = median(saved_part(result, planned_turns=True) for result in results)
    same = sum(result.same for result in results)
    met = "met" if part >= AIM and same == len(results) else "not met"
    saved = f"Aim {met}: the median game loses {part:.0%} of its waits, with planned turns {planned:.0%}"
    return f"{saved}; {same} of {len(results)} games end in the same position."
