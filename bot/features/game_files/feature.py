"""A game as a file: of 18xx.games, as a `.18xx` text, or its statistics as a CSV table; and games that
began elsewhere and go on here.

A file is played through the rules first, so what becomes a table is a game that was checked move by move.
Its table has the seats of the file, all empty. A person who claims a seat plays on in it, and once all
seats are claimed the game goes on. A game that is over becomes a table to look at.
"""

from __future__ import annotations

import asyncio
import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence

from bot.hub.command import Command, Form, Query, QueryRequest
from bot.hub.feature import EndingPart
from bot.hub.info import TableInfo
from bot.hub.request import QueryAnswer
from bot.hub.table import LiveTable
from bot.position.controls import ExportedFile
from engine.core.words import join_words
from engine.game_text import GameHistory, replay
from engine.game_text.history import history_script, round_statistics
from engine.site_18xx.export import SiteExportError, export_game
from engine.site_18xx.game_file import SiteFileError, read_site_file
from engine.site_18xx.names import site_names_of
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import SiteReplayError
from engine.title import SITE_CONVENTIONS

SITE, TEXT, STATISTICS = "18xx.games", "text", "csv"


def _site_json(history: GameHistory, name: str) -> str:
    return json.dumps(export_game(history, name), ensure_ascii=False)


def _partial_site_json(history: GameHistory, name: str) -> str:
    return json.dumps(export_game(history, name, as_far_as_possible=True), ensure_ascii=False)


def export_prospect(title: str, options: Sequence[str]) -> str:
    """Whether games of a table can be exported to 18xx.games, as a sentence for the person who creates it."""
    try:
        unknown = site_names_of(title).unknown_options(options)
    except SiteFileError:
        return f"18xx.games does not have {title}: its games stay here."
    if unknown:
        return f"18xx.games does not have the option {unknown[0]}: games of this table stay here."
    if SITE_CONVENTIONS in options:
        return "It plays as 18xx.games does, and can go on there at any time."
    return (
        f"It plays by the rulebook. The option `{SITE_CONVENTIONS}` is for a game that will move to "
        "18xx.games later."
    )


def _statistics_csv(history: GameHistory, name: str) -> str:
    out = io.StringIO()
    rows = round_statistics(history.start, (line.events for line in history.lines))
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


FORMATS: dict[str, tuple[str, str, Callable[[GameHistory, str], str]]] = {
    SITE: (".json", "application/json", _site_json),
    TEXT: (".18xx", "text/plain", history_script),
    STATISTICS: (".csv", "text/csv", _statistics_csv),
}
"""By format: the suffix of the file name, the media type, and the function that writes it."""


FAR = "as far as possible"
"""Asks for a file of 18xx.games up to the first move that the site does not have."""


def parse_format(name: str) -> str:
    """The name of a format as it is in FORMATS, the text format for an empty name. Raises ValueError."""
    format_name = name.strip().casefold() or TEXT
    if format_name not in FORMATS:
        raise ValueError(f"There is no format {name.strip()}; the formats are {', '.join(FORMATS)}.")
    return format_name


def parse_export(words: str) -> tuple[str, bool]:
    """The format of a line such as `18xx.games as far as possible`, and whether that was asked for.

    Raises ValueError for an unknown format.
    """
    format_name, asked, rest = words.replace("-", " ").partition("as far as possible")
    if asked and not rest.strip():
        return parse_format(words[: len(format_name)].strip(" -") or SITE), True
    return parse_format(words), False


def make_game_file(
    history: GameHistory, format_name: str, game_name: str, stem: str,
    *, as_far_as_possible: bool = False, far_line: str = "",
) -> ExportedFile:  # fmt: skip
    """A game in one of the formats. game_name: written into the file. stem: of the file name.

    as_far_as_possible: for 18xx.games the file ends with the first move that the site does not have; what
    follows is in it as chat messages. Otherwise raises ValueError with a sentence that names this move, and
    the line that asks for the rest: far_line.
    """
    suffix, media_type, write = FORMATS[format_name]
    if format_name == SITE and as_far_as_possible:
        write = _partial_site_json
    try:
        return ExportedFile(f"{stem}{suffix}", media_type, write(history, game_name).encode())
    except SiteExportError as error:
        hint = f" `{far_line}` writes the game up to that move." if error.move_number and far_line else ""
        raise ValueError(f"{error}{hint}") from None


def commands() -> list[Command]:
    """`export [FORMAT]`."""
    partial = Form(
        "export as far as possible", pattern=r"export(?: [\w.-]{1,20})? (?:--)?as[ -]far[ -]as[ -]possible"
    )
    formats = Form(f"export [{'|'.join(FORMATS)}]", "the game as a file; also text, csv", "export 18xx.games")
    other = Form("export [FORMAT]")
    return [Query("export", (formats, other, partial), _export)]


async def _export(query: QueryRequest) -> QueryAnswer:
    """The game as a file, written in a thread, because it plays the whole game again.

    Raises ValueError for an unknown format, or if the format cannot hold the game.
    """
    info, (format_name, partial) = query.table.stored_info, parse_export(query.argument)
    title = f"{info.name} {info.code}"
    file = await asyncio.to_thread(
        make_game_file, query.table.log.history(), format_name, title, info.code,
        as_far_as_possible=partial, far_line=f"export {SITE} {FAR}",
    )  # fmt: skip
    return QueryAnswer("export", f"Here is {file.name}.", files=(file,))


async def game_text_file(history: GameHistory, table: TableInfo) -> ExportedFile | None:
    """A game as a text; None for one that cannot be written: it began from a position that was set up."""
    name = f"{table.name} {table.code}"
    try:
        return await asyncio.to_thread(make_game_file, history, TEXT, name, table.code)
    except ValueError:
        return None


async def add_to_ending(table: LiveTable) -> EndingPart:
    """The game as a file; none where it cannot be written without hidden orders, by the rules of today."""
    try:
        file = await game_text_file(table.log.history(), table.stored_info)
    except ValueError:
        file = None
    return EndingPart(files=[file] if file else [])


MAX_BYTES = 16 * 1024 * 1024
"""The largest file, packed or not. Long games of 18xx.games have about 1 MB."""
MAX_TEXT = 10_000_000
NO_GAME = "This is neither a file of 18xx.games nor a game text."
MAX_WARNINGS, MAX_WARNING = 5, 200
"""How many warnings are told, and of how many characters."""


def read_game(raw: bytes) -> tuple[GameHistory, Sequence[str]]:
    """Play a file: JSON of 18xx.games, or a game text; plain or gzipped. Returns the game, and warnings
    about the file. Raises ValueError."""
    content = unpacked(raw)
    if content.lstrip()[:1] in (b"{", b"["):
        return _read_site_game(content)
    return _read_text_game(text_of(content)), ()


def text_of(content: bytes) -> str:
    """A game text that may be played. Raises ValueError for what is none, such as the page of a game."""
    if not content.strip():
        raise ValueError("The file is empty.")
    if len(content) > MAX_TEXT:
        raise ValueError(f"The file is larger than {MAX_TEXT // 1_000_000} MB; a game text is not.")
    text = content.decode("utf-8", "replace")
    if not any(line.split()[:1] in (["title"], ["---"]) for line in text.splitlines()):
        raise ValueError(NO_GAME)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line} is not UTF-8 text; save the file as UTF-8.") from None


def unpacked(raw: bytes) -> bytes:
    """The bytes of a plain or gzipped file, without a byte order mark. Raises SiteFileError."""
    if raw[:2] == b"\x1f\x8b":
        try:
            with gzip.open(io.BytesIO(raw)) as packed:
                raw = packed.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error):
            raise SiteFileError("The file cannot be unpacked: it is damaged.") from None
    if len(raw) > MAX_BYTES:
        raise SiteFileError(f"The file is larger than {MAX_BYTES >> 20} MB.")
    return raw.removeprefix(codecs.BOM_UTF8)


def _read_site_game(content: bytes) -> tuple[GameHistory, Sequence[str]]:
    try:
        game = SiteReplay(read_site_file(content))
        for _ in game.run():
            pass
    except (SiteFileError, SiteReplayError) as error:
        raise ValueError(str(error)) from None
    except Exception as error:  # a hostile file may be wrong in unexpected ways
        raise ValueError(f"The file cannot be played ({type(error).__name__}).") from None
    return game.history, game.warnings


def _read_text_game(text: str) -> GameHistory:
    try:
        report = replay(text)
    except Exception as error:
        raise ValueError(f"The text cannot be played ({type(error).__name__}).") from None
    if report.failure is not None:
        raise ValueError(f"The text cannot be played: {report.failure}")
    if report.history is None:
        raise ValueError("The text has no game.")
    return report.history


def imported_sentences(table: TableInfo, warnings: Sequence[str], how_to_sit: str) -> Iterator[str]:
    """What the person reads who has brought a game. how_to_sit: how its players come to their seats."""
    yield f"Table {table.code} has the game: {table.title}, {join_words(table.names)}."
    over = "It is over; `show map` and `show sheet` show it, and `show review` says what decided it."
    yield over if table.status == "finished" else how_to_sit
    if warnings:
        several = f"{len(warnings)} things were" if len(warnings) > 1 else "One thing was"
        first = f"; the first {MAX_WARNINGS}" if len(warnings) > MAX_WARNINGS else ""
        yield f"{several} not as in the file{first}:"
        yield from (f"- {each[:MAX_WARNING]}" for each in warnings[:MAX_WARNINGS])
