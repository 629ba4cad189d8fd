"""Games that began elsewhere and go on here: files of 18xx.games, and game texts.

A file is played through the rules first, so what becomes a table is a game that was checked move by move. Its
table has the seats of the file, all empty; whoever claims a seat plays on in it, and with the last seat the
game goes on. A game that is over becomes a table to look at.
"""

from __future__ import annotations

import asyncio
import codecs
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import engine
from bot.service import notifications, text_views
from bot.service.lobby import Lobby
from bot.service.names import check_distinct
from bot.service.replacement import record_replacement
from bot.service.seat_numbers import seat_number
from bot.service.table_cache import TableCache
from bot.service.table_changes import again_on_conflict
from bot.service.tables import TableInfo
from engine.game_text import replay
from engine.site_18xx.game_file import SiteFileError, read_site_file
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import SiteReplayError

MAX_BYTES = 16 * 1024 * 1024
"""The largest file, packed or not. Long games of 18xx.games have about 1 MB."""
MAX_WARNINGS, MAX_WARNING = 5, 200
"""How many warnings are told, and of how many characters."""


class IncomingGame(NamedTuple):
    """A game as it was read: its first position, (seat number, line, events) of each move, and warnings."""

    start: engine.State
    moves: Sequence[tuple[int, str, Sequence[engine.AnyEvent]]]
    warnings: tuple[str, ...]


def read_game(raw: bytes) -> IncomingGame:
    """Play a file: JSON of 18xx.games, or a game text; plain or gzipped. Raises ValueError."""
    content = _unpacked(raw).removeprefix(codecs.BOM_UTF8)
    start = content.lstrip()[:1]
    if not start:
        raise ValueError("The file is empty.")
    if start in b"{[":
        return _read_site_game(content)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("This is neither a file of 18xx.games nor a game text.") from None
    return _read_text_game(text)


def _unpacked(raw: bytes) -> bytes:
    if raw[:2] == b"\x1f\x8b":
        try:
            with gzip.open(io.BytesIO(raw)) as packed:
                raw = packed.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error):
            raise ValueError("The file cannot be unpacked: it is damaged.") from None
    if len(raw) > MAX_BYTES:
        raise ValueError(f"The file is larger than {MAX_BYTES >> 20} MB.")
    return raw


def _read_site_game(content: bytes) -> IncomingGame:
    try:
        game = SiteReplay(read_site_file(content))
        for _ in game.run():
            pass
    except (SiteFileError, SiteReplayError) as error:
        raise ValueError(str(error)) from None
    except Exception as error:  # a hostile file may be wrong in unexpected ways
        raise ValueError(f"The file cannot be played ({type(error).__name__}).") from None
    moves = [(seat_number(move.seat), move.line, move.events) for move in game.lines]
    return IncomingGame(game.start, moves, tuple(game.warnings))


def _read_text_game(text: str) -> IncomingGame:
    try:
        report = replay(text)
    except Exception as error:
        raise ValueError(f"The text cannot be played ({type(error).__name__}).") from None
    if report.failure is not None:
        raise ValueError(f"The text cannot be played: {report.failure}")
    if report.history is None:
        raise ValueError("The text has no game.")
    moves = [(seat_number(line.seat), line.line, line.events) for line in report.history.lines]
    return IncomingGame(report.history.start, moves, ())


def imported_sentences(table: TableInfo, warnings: Sequence[str], how_to_sit: str) -> Iterator[str]:
    """What the person reads who has brought a game. how_to_sit: how its players come to their seats."""
    yield f"Table {table.code} has the game: {table.title}, {text_views.join_words(table.names)}."
    yield "It is over; `show` shows it." if table.status == "finished" else how_to_sit
    if warnings:
        several = f"{len(warnings)} things were" if len(warnings) > 1 else "One thing was"
        yield f"{several} not as in the file:"
        yield from (f"- {each[:MAX_WARNING]}" for each in warnings[:MAX_WARNINGS])


class MoveIn:
    """Opens tables for games that come from elsewhere, and gives their seats to those who claim them."""

    def __init__(self, cache: TableCache, lobby: Lobby) -> None:
        self._cache, self._lobby = cache, lobby

    async def open_table(
        self, raw: bytes, *, by: int | None, name: str = "", location: dict[str, Any] | None = None
    ) -> tuple[TableInfo, tuple[str, ...]]:
        """A table with the game of a file and empty seats, and the warnings about it. Raises ValueError.

        by: the host. location: where a transport shows the table. Playing the file takes seconds, so it is
        done in a thread.
        """
        game = await asyncio.to_thread(read_game, raw)
        info = await self._lobby.import_game(
            game.start,
            game.moves,
            name=name or game.start.title,
            by=by,
            open_seats=True,
            location=location,
        )
        return info, game.warnings

    @again_on_conflict
    async def claim_seat(
        self, table_id: int, seat: int, person_id: int, name: str, *, offered: bool = False
    ) -> TableInfo:
        """A person plays on in an empty seat of a paused table; with the last seat the game goes on.

        They play under their own name, or under the seat's where another seat has theirs. Raises ValueError.
        offered: somebody at the table has offered it to them; without that a seat that was given up is asked
        for.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if info.status != "paused" or not 0 <= seat < len(info.names):
                raise ValueError(f"No seat at table {info.code} waits for a player.")
            if taken := info.player_at(seat):
                raise ValueError(f"{taken.name} has that seat at table {info.code}; choose another.")
            async with self._cache.store.read() as reading:
                if not offered and await reading.tables.was_seat_taken(table_id, seat):
                    raise ValueError(f"{info.names[seat]}'s seat was given up: `ask` asks the host for it.")
            if own := info.player_of(person_id):
                raise ValueError(f"You already sit at table {info.code} as {own.name}.")
            others = [other for number, other in enumerate(info.names) if number != seat]
            if name.casefold() in {other.casefold() for other in others}:
                name = info.names[seat]
            check_distinct(name, others)
            async with self._cache.commit(table) as draft:
                await record_replacement(draft, seat, person_id, name, by=person_id)
                draft.messages += notifications.lobby_refreshes(info)
                if len(info.seated_players) + 1 == len(info.names):
                    await (await draft.unit()).tables.update(table_id, status="running")
                    assert draft.state is not None
                    seating = text_views.join_words(draft.state.players)
                    goes_on = "All seats are taken, and the game goes on."
                    draft.announce("started", f"{goes_on} Seating: {seating}.")
        return table.info
