"""`railpost bench --pace FOLDER`: what orders would have saved in the games of a folder, as a table.

Files that people played are those whose names begin with `played`; where a folder has none, all its files
are read. A file that cannot be read is skipped with a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich import box
from rich.table import Table

from bot.benchmark.games import AGREED_END, BenchmarkError, find_game_files, load_game
from bot.benchmark.pace_model import PaceResult, RecordedGame, RecordedMove, measure_pace
from bot.cli.import_games import import_file, read_game_file

PLAYED = "played"
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
    report, game = import_file(path)
    if game is None or not report.ok:
        raise BenchmarkError(f"{path}: {report.error}")
    actions: dict[Any, dict[str, Any]] = {
        action["id"]: action
        for action in json.loads(read_game_file(path)).get("actions", ())
        if "id" in action
    }
    moves = []
    for line in game.lines:
        if line.line != AGREED_END:
            action = actions.get(line.action_id, {})
            by, time = action.get("user", action.get("entity")), action.get("created_at")
            moves.append(
                RecordedMove(line.seat, line.line, line.events, by, time if isinstance(time, int) else None)
            )
    return RecordedGame(f"{path.parent.name}/{path.name}", game.start, moves)


def _of_script(path: Path) -> RecordedGame:
    import engine

    game = load_game(path)
    state, moves = engine.copy_state(game.start), list[RecordedMove]()
    for seat, line in game.lines:
        try:
            full, state, events = engine.play_line(state, seat, line)
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as error:
            raise BenchmarkError(f"{path}: {line}: {error}") from None
        moves.append(RecordedMove(seat, full, events, seat))
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


def saved_part(result: PaceResult) -> float:
    """The part of a game's waits that orders save."""
    before = sum(result.before.values())
    return 1 - sum(result.after.values()) / before if before else 0.0


def pace_tables(results: Sequence[PaceResult]) -> Iterator[Table]:
    """One row for each game, and one for each kind of wait."""
    games = Table(
        "game", "moves", "on the site", "without", "with orders", "saved", "same end", box=box.SIMPLE
    )
    for result in sorted(results, key=saved_part):
        before, after = sum(result.before.values()), sum(result.after.values())
        games.add_row(
            result.name, str(result.moves), str(result.as_played), str(before), str(after),
            f"{saved_part(result):.0%}", "yes" if result.same else "NO",
        )  # fmt: skip
    if results:
        waits = [median(sum(getattr(r, which).values()) for r in results) for which in ("before", "after")]
        site = median(result.as_played for result in results)
        part = median(map(saved_part, results))
        games.add_section()
        games.add_row("median", "", f"{site:g}", f"{waits[0]:g}", f"{waits[1]:g}", f"{part:.0%}", "")
    yield games
    kinds = Table("what ended the wait", "without", "with orders", box=box.SIMPLE)
    names = {kind: sum(r.before[kind] for r in results) for r in results for kind in (r.before | r.after)}
    for kind in sorted(names, key=lambda name: -names[name]):
        kinds.add_row(kind, str(names[kind]), str(sum(r.after[kind] for r in results)))
    yield kinds


def verdict(results: Sequence[PaceResult]) -> str:
    """Whether the aim is met, as a sentence."""
    if not results:
        return "No game could be read."
    part = median(map(saved_part, results))
    same = sum(result.same for result in results)
    met = "met" if part >= AIM and same == len(results) else "not met"
    saved = f"Aim {met}: the median game loses {part:.0%} of its waits"
    return f"{saved}; {same} of {len(results)} games end in the same position."
