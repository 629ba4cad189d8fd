"""A game as a file: of 18xx.games, as a `.18xx` text, or its statistics as a CSV table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

from bot.service.results import ExportedFile
from engine.game_text import GameHistory
from engine.game_text.history import history_script, round_statistics
from engine.site_18xx.export import SiteExportError, export_game

SITE, TEXT, STATISTICS = "18xx.games", "text", "csv"


def _site_json(history: GameHistory, name: str) -> str:
    return json.dumps(export_game(history, name), ensure_ascii=False)


def _script_text(history: GameHistory, name: str) -> str:
    return history_script(history, name)


def _statistics_csv(history: GameHistory, name: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(round_statistics(history))
    return out.getvalue()


FORMATS: dict[str, tuple[str, str, Callable[[GameHistory, str], str]]] = {
    SITE: (".json", "application/json", _site_json),
    TEXT: (".18xx", "text/plain", _script_text),
    STATISTICS: (".csv", "text/csv", _statistics_csv),
}
"""By format: the suffix of the file name, the media type, and the function that writes it."""


def parse_format(name: str) -> str:
    """The name of a format as it is in FORMATS, the text format for an empty name. Raises ValueError."""
    format_name = name.strip().casefold() or TEXT
    if format_name not in FORMATS:
        raise ValueError(f"There is no format {name.strip()}; the formats are {', '.join(FORMATS)}.")
    return format_name


def make_game_file(history: GameHistory, format_name: str, game_name: str, stem: str) -> ExportedFile:
    """A game in one of the formats. game_name: written into the file. stem: of the file name.

    Raises ValueError with a sentence; for 18xx.games it names the first move that the site does not have.
    """
    suffix, media_type, write = FORMATS[format_name]
    try:
        return ExportedFile(f"{stem}{suffix}", media_type, write(history, game_name).encode())
    except SiteExportError as error:
        raise ValueError(str(error)) from None
