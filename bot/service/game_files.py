"""A game as a file that is handed out: of 18xx.games, as a text, or its figures as a table."""

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


def _site_json(telling: GameHistory, name: str) -> str:
    return json.dumps(export_game(telling, name), ensure_ascii=False)


def _script_text(telling: GameHistory, name: str) -> str:
    return history_script(telling, name)


def _statistics_csv(telling: GameHistory, name: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(round_statistics(telling))
    return out.getvalue()


FORMATS: dict[str, tuple[str, str, Callable[[GameHistory, str], str]]] = {
    SITE: (".json", "application/json", _site_json),
    TEXT: (".18xx", "text/plain", _script_text),
    STATISTICS: (".csv", "text/csv", _statistics_csv),
}
"""By form: the end of a file's name, its media type, and how it is written."""


def parse_format(said: str) -> str:
    """The form that somebody means, the text where he says nothing. Raises ValueError."""
    form = said.strip().casefold() or TEXT
    if form not in FORMATS:
        raise ValueError(f"There is no form {said.strip()}; a game is exported as {', '.join(FORMATS)}.")
    return form


def make_game_file(telling: GameHistory, form: str, name: str, stem: str) -> ExportedFile:
    """A game in one of the forms; `name` is written into it, `stem` begins the file's name.

    Raises ValueError with a sentence, for the site with the first move that it does not know.
    """
    end, media, write = FORMATS[form]
    try:
        return ExportedFile(f"{stem}{end}", media, write(telling, name).encode())
    except SiteExportError as wrong:
        raise ValueError(str(wrong)) from None
