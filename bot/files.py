"""A game as a file that is handed out: of 18xx.games, as a text, or its figures as a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

from bot.answers import File
from engine.interchange.export import NoCounterpart, export
from engine.record import Telling
from engine.record.telling import figures, text

SITE, TEXT, FIGURES = "18xx.games", "text", "csv"


def _as_site(telling: Telling, name: str) -> str:
    return json.dumps(export(telling, name), ensure_ascii=False)


def _as_text(telling: Telling, name: str) -> str:
    return text(telling, name)


def _as_figures(telling: Telling, name: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(figures(telling))
    return out.getvalue()


FORMS: dict[str, tuple[str, str, Callable[[Telling, str], str]]] = {
    SITE: (".json", "application/json", _as_site),
    TEXT: (".18xx", "text/plain", _as_text),
    FIGURES: (".csv", "text/csv", _as_figures),
}
"""By form: the end of a file's name, its media type, and how it is written."""


def form_of(said: str) -> str:
    """The form that somebody means, the text where he says nothing. Raises ValueError."""
    form = said.strip().casefold() or TEXT
    if form not in FORMS:
        raise ValueError(f"There is no form {said.strip()}; a game is exported as {', '.join(FORMS)}.")
    return form


def exported(telling: Telling, form: str, name: str, stem: str) -> File:
    """A game in one of the forms; `name` is written into it, `stem` begins the file's name.

    Raises ValueError with a sentence, for the site with the first move that it does not know.
    """
    end, media, write = FORMS[form]
    try:
        return File(f"{stem}{end}", media, write(telling, name).encode())
    except NoCounterpart as wrong:
        raise ValueError(str(wrong)) from None
