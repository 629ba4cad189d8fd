"""Translations of the slash commands, one file for each language: `languages/<locale>.json`.

A file has the English text of every name, description and choice as its key. `python -m
bot.tools.translation` prints the English texts, from which another language is begun. A text without a
translation stays English.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = "languages"


@cache
def translations() -> dict[str, dict[str, str]]:
    """The translations by locale, then by English text."""
    folder = files("bot.discord").joinpath(LANGUAGES)
    return {
        file.name.removesuffix(".json"): json.loads(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".json")
    }


def localized(payload: Any) -> dict[str, Any]:
    """The payload of a command, of an option or of a choice, with its texts in all languages.

    The library asks a translator for each text in thirty languages, which holds up the event loop.
    """
    result = dict(payload)
    for key in ("name", "description"):
        texts = {locale: texts.get(payload.get(key)) for locale, texts in translations().items()}
        if found := {locale: text for locale, text in texts.items() if text}:
            result[f"{key}_localizations"] = found
    for key in ("options", "choices"):
        if key in payload:
            result[key] = [localized(part) for part in payload[key]]
    return result
