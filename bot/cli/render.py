"""`railpost render`: pictures of a position, of a file or of a table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import engine
from bot.config import Settings
from bot.service.images import changed_hexes, repriced_companies
from engine.game_text import ScriptError, read_script, replay
from engine.game_text.script import ScriptMove
from renderers import Picture, map_png, market_png, sheet_png
from storage import open_store

PositionPair = tuple[engine.State, engine.State]
"""A position and the position before its last move."""

RENDERERS: dict[str, Callable[..., Picture]] = {"map": map_png, "market": market_png, "sheet": sheet_png}


def render_files(
    settings: Settings, source: str, at: int | None, paths: Mapping[str, Path]
) -> Iterator[Path]:
    """Draw pictures into files, with the changes of the last move highlighted; yields the files written.

    source: a file, or the code of a table. at: after so many moves, None for the current position. paths: by
    picture, `map`, `market` or `sheet`. Raises ValueError with a sentence.
    """
    file = Path(source)
    state, before = (
        positions_of_file(file, at)
        if file.is_file()
        else asyncio.run(positions_of_table(settings, source, at))
    )
    highlights = {"map": changed_hexes(before, state), "market": repriced_companies(before, state)}
    for kind, path in paths.items():
        picture = RENDERERS[kind](state, **({"highlight": highlights[kind]} if kind in highlights else {}))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture.png)
        except OSError as error:
            raise ValueError(f"{path} cannot be written: {error.strerror}.") from error
        yield path


async def positions_of_table(settings: Settings, code: str, at: int | None) -> PositionPair:
    """The position of a table after so many moves of its line of play. Raises ValueError."""
    from bot.service.service import Service

    async with await open_store(settings.database_url) as store:
        service = Service(store)
        try:
            table = await service.queries.find_table(code)
        except ValueError:
            raise ValueError(f"There is no file {code}, and no table of that code.") from None
        log = await service.queries.log(table.id)
        start = next((entry.seq for entry in log if entry.line == "start"), None)
        if start is None:
            raise ValueError(f"Table {table.code} has not started.")
        seqs = [start, *(entry.seq for entry in log if entry.kind == "move" and entry.is_live)]
        last = len(seqs) - 1 if at is None else at
        check_move_number(last, len(seqs) - 1)
        before = await service.queries.state_at(table.id, seqs[max(last - 1, 0)])
        return await service.queries.state_at(table.id, None if at is None else seqs[last]), before


def positions_of_file(path: Path, at: int | None) -> PositionPair:
    """The position after so many moves of a game in a file: a `.18xx` text or a file of 18xx.games."""
    from bot.cli.import_games import read_game_file
    from engine.site_18xx.game_file import SiteFileError

    try:
        raw = read_game_file(path)
        return (
            positions_of_site_game(raw, at)
            if raw.lstrip()[:1] == b"{"
            else positions_of_script(raw.decode(), at)
        )
    except (SiteFileError, ScriptError) as error:
        raise ValueError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is neither a `.18xx` text nor a file of 18xx.games.") from error


def positions_of_script(text: str, at: int | None) -> PositionPair:
    """The position after so many lines of players of a `.18xx` text."""
    line_numbers = [
        item.line
        for item in read_script(text).items
        if isinstance(item, ScriptMove) and item.expectation != "must not"
    ]
    last = len(line_numbers) if at is None else at
    check_move_number(last, len(line_numbers))

    def position(moves: int) -> engine.State:
        end = line_numbers[moves] - 1 if moves < len(line_numbers) else None
        report = replay("\n".join(text.splitlines()[:end]))
        if report.state is None or report.failure is not None:
            raise ValueError(f"The game cannot be played: {report.failure}")
        return report.state

    return position(last), position(max(last - 1, 0))


def positions_of_site_game(raw: bytes, at: int | None) -> PositionPair:
    """The position after so many moves of a file of 18xx.games."""
    from engine.site_18xx.game_file import read_site_file as read_site
    from engine.site_18xx.replay import SiteReplay, SiteReplayError

    game = SiteReplay(read_site(raw))
    try:
        for _ in game.run():
            if at is not None and len(game.lines) >= at:
                break
    except SiteReplayError as error:
        raise ValueError(str(error)) from error
    last = len(game.lines) if at is None else at
    check_move_number(last, len(game.lines))
    state = engine.copy_state(game.start)
    before = state
    for move in game.lines[:last]:
        before = engine.copy_state(state)
        engine.fold(move.events, state)
    return state, before


def check_move_number(at: int, moves: int) -> None:
    """Raises ValueError if the game has fewer moves."""
    if not 0 <= at <= moves:
        raise ValueError(f"The game has {moves} moves; --at {at} is not among them.")
