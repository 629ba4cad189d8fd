"""`railpost render`: pictures of a position of a file or of a table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import engine
from bot.config import Settings
from engine.record import Malformed, read, replay
from engine.record.text import Move
from renderers import Picture, map_png, market_png, sheet_png
from storage import open_store

DRAW: Mapping[str, Callable[[engine.State], Picture]] = {
    "map": map_png,
    "market": market_png,
    "sheet": sheet_png,
}


def drawn(settings: Settings, source: str, at: int | None, paths: Mapping[str, Path]) -> Iterator[Path]:
    """Draw `map`, `market`, `sheet` into files; those that were written.

    at: after so many moves; None for as it stands. Raises ValueError with a sentence.
    """
    file = Path(source)
    state = position_of_file(file, at) if file.is_file() else asyncio.run(of_table(settings, source, at))
    for what, path in paths.items():
        picture = DRAW[what](state)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture.png)
        except OSError as error:
            raise ValueError(f"{path} cannot be written: {error.strerror}.") from error
        yield path


async def of_table(settings: Settings, code: str, at: int | None) -> engine.State:
    """The position of a table after so many moves of its line of play."""
    from bot.service import Service

    async with await open_store(settings.database_url) as store:
        service = Service(store)
        try:
            table = await service.find(code)
        except ValueError:
            raise ValueError(f"There is no file {code}, and no table of that code.") from None
        if at is None:
            return await service.state_at(table.id)
        moves = [h.seq for h in await service.log(table.id) if h.kind == "move" and h.live]
        checked(at, len(moves))
        begun = next(h.seq for h in await service.log(table.id) if h.line == "start")
        return await service.state_at(table.id, moves[at - 1] if at else begun)


def position_of_file(path: Path, at: int | None) -> engine.State:
    """The position after so many moves of a game in a file, of the text form or of the site's."""
    from bot.importing import file_bytes
    from engine.interchange.site_file import FileError

    try:
        raw = file_bytes(path)
        return of_site(raw, at) if raw.lstrip()[:1] == b"{" else of_text(raw.decode(), at)
    except (FileError, Malformed) as error:
        raise ValueError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is neither a text game nor a recorded one.") from error


def of_text(text: str, at: int | None) -> engine.State:
    """A game in the text form, up to the last line of a player that is wanted."""
    said = [item.line for item in read(text).items if isinstance(item, Move) and item.how != "must not"]
    if at is not None:
        checked(at, len(said))
        behind = said[at] - 1 if at < len(said) else None
        text = "\n".join(text.splitlines()[:behind])
    report = replay(text)
    if report.state is None or report.failure is not None:
        raise ValueError(f"The game cannot be played: {report.failure}")
    return report.state


def of_site(raw: bytes, at: int | None) -> engine.State:
    """A recorded game of the site, by its moves."""
    from engine.interchange.site import Replay, Stopped
    from engine.interchange.site_file import read as read_site

    game = Replay(read_site(raw))
    try:
        for _ in game.run():
            if at is not None and len(game.said) >= at:
                break
    except Stopped as error:
        raise ValueError(str(error)) from error
    if at is None:
        return game.state
    checked(at, len(game.said))
    state = engine.copied(game.start)
    for move in game.said[:at]:
        engine.fold(move.events, state)
    return state


def checked(at: int, moves: int) -> None:
    """Raises ValueError for more moves than there are."""
    if not 0 <= at <= moves:
        raise ValueError(f"There are {moves} moves; --at {at} is not among them.")
