"""Games that began elsewhere and go on here: files of 18xx.games, and game texts.

A file is played through the rules first, so what becomes a table is a game that was checked move by move. Its
table has the seats of the file, all empty. A person who claims a seat plays on in it, and once all seats are
claimed the game goes on. A game that is over becomes a table to look at.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence

from bot.hub.info import IncomingGame, TableInfo
from bot.position import text_views
from bot.position.pending import seat_number
from engine.game_text import replay
from engine.site_18xx.game_file import SiteFileError, read_site_file
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import SiteReplayError

MAX_BYTES = 16 * 1024 * 1024
"""The largest file, packed or not. Long games of 18xx.games have about 1 MB."""
NO_GAME = "This is neither a file of 18xx.games nor a game text."
MAX_WARNINGS, MAX_WARNING = 5, 200
"""How many warnings are told, and of how many characters."""


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
        raise ValueError(NO_GAME) from None
    if not any(line.split()[:1] in (["title"], ["---"]) for line in text.splitlines()):
        raise ValueError(NO_GAME)  # such as the page of a game in place of its file
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
    return incoming_game(game)


def incoming_game(game: SiteReplay) -> IncomingGame:
    """A game of 18xx.games that was played, as the store takes it."""
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
    over = "It is over; `show` shows it, and `review` says what decided it."
    yield over if table.status == "finished" else how_to_sit
    if warnings:
        several = f"{len(warnings)} things were" if len(warnings) > 1 else "One thing was"
        yield f"{several} not as in the file:"
        yield from (f"- {each[:MAX_WARNING]}" for each in warnings[:MAX_WARNINGS])
