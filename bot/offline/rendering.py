"""`railpost render`: pictures of a position of a file or of a table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import engine
from bot.config import Settings
from bot.figures import changed_hexes, changed_prices
from engine.record import Malformed, read, replay
from engine.record.text import Move
from renderers import Picture, map_png, market_png, sheet_png
from storage import open_store

Around = tuple[engine.State, engine.State]
"""A position, and the one before the last move."""

DRAW: dict[str, Callable[..., Picture]] = {"map": map_png, "market": market_png, "sheet": sheet_png}


def drawn(settings: Settings, source: str, at: int | None, paths: Mapping[str, Path]) -> Iterator[Path]:
    """Draw `map`, `market`, `sheet` into files, what the last move changed being marked; those written.

    at: after so many moves; None for as it stands. Raises ValueError with a sentence.
    """
    file = Path(source)
    state, before = (
        position_of_file(file, at) if file.is_file() else asyncio.run(of_table(settings, source, at))
    )
    marked = {"map": changed_hexes(before, state), "market": changed_prices(before, state)}
    for what, path in paths.items():
        picture = DRAW[what](state, **({"highlight": marked[what]} if what in marked else {}))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture.png)
        except OSError as error:
            raise ValueError(f"{path} cannot be written: {error.strerror}.") from error
        yield path


async def of_table(settings: Settings, code: str, at: int | None) -> Around:
    """The position of a table after so many moves of its line of play."""
    from bot.service import Service

    async with await open_store(settings.database_url) as store:
        service = Service(store)
        try:
            table = await service.find(code)
        except ValueError:
            raise ValueError(f"There is no file {code}, and no table of that code.") from None
        log = await service.log(table.id)
        begun = next((h.seq for h in log if h.line == "start"), None)
        if begun is None:
            raise ValueError(f"Table {table.code} has not begun.")
        seqs = [begun, *(h.seq for h in log if h.kind == "move" and h.live)]
        last = len(seqs) - 1 if at is None else at
        checked(last, len(seqs) - 1)
        before = await service.state_at(table.id, seqs[max(last - 1, 0)])
        return await service.state_at(table.id, None if at is None else seqs[last]), before


def position_of_file(path: Path, at: int | None) -> Around:
    """The position after so many moves of a game in a file, of the text form or of the site's."""
    from bot.offline.importing import file_bytes
    from engine.interchange.site_file import FileError

    try:
        raw = file_bytes(path)
        return of_site(raw, at) if raw.lstrip()[:1] == b"{" else of_text(raw.decode(), at)
    except (FileError, Malformed) as error:
        raise ValueError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is neither a text game nor a recorded one.") from error


def of_text(text: str, at: int | None) -> Around:
    """A game in the text form, up to the last line of a player that is wanted."""
    said = [item.line for item in read(text).items if isinstance(item, Move) and item.how != "must not"]
    last = len(said) if at is None else at
    checked(last, len(said))

    def position(moves: int) -> engine.State:
        behind = said[moves] - 1 if moves < len(said) else None
        report = replay("\n".join(text.splitlines()[:behind]))
        if report.state is None or report.failure is not None:
            raise ValueError(f"The game cannot be played: {report.failure}")
        return report.state

    return position(last), position(max(last - 1, 0))


def of_site(raw: bytes, at: int | None) -> Around:
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
    last = len(game.said) if at is None else at
    checked(last, len(game.said))
    state = engine.copied(game.start)
    before = state
    for move in game.said[:last]:
        before = engine.copied(state)
        engine.fold(move.events, state)
    return state, before


def checked(at: int, moves: int) -> None:
    """Raises ValueError for more moves than there are."""
    if not 0 <= at <= moves:
        raise ValueError(f"There are {moves} moves; --at {at} is not among them.")
