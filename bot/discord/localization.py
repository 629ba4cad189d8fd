"""Names and descriptions of commands in other languages: one file for each, `languages/<locale>.json`.

A file has the English text of every name, description and choice as its key. `python -m
bot.tools.translation` prints the English texts, from which another language is begun. A text without a
translation stays English.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from discord import app_commands

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


def texts_of(payload: Any) -> Iterator[str]:
    """The names and descriptions in the payload of a command, of its options and choices."""
    for key in ("name", "description"):
        if payload.get(key):
            yield str(payload[key])
    for part in (*payload.get("options", ()), *payload.get("choices", ())):
        yield from texts_of(part)


def english_texts(tree: app_commands.CommandTree[Any]) -> list[str]:
    """Every text of a tree that can be translated, without titles and symbols."""
    found = (text for command in tree.get_commands() for text in texts_of(command.to_dict(tree)))
    return [text for text in dict.fromkeys(found) if not text.isdecimal()]
