"""Slash commands as values: what they are called, their options, and what they do.

Each is acknowledged before anything else.

Their texts are translated by a file for each language, `languages/<locale>.json`. It has the English text of
every name, description and choice as its key. `python -m bot.tools.translation` prints the English texts,
from which another language is begun. A text without a translation stays English.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

from discord import app_commands
from discord.app_commands import Choice

from bot.discord.completion import Interaction, Suggestions, handler_of, suggest_tables
from bot.discord.interactions.replies import defer
from bot.discord.table_lookup import resolve_table
from storage import TableStatus

Act = Callable[..., Coroutine[Any, Any, None]]
"""Carries a command out: it is given the interaction, the table if it is about one, and what the options
are."""
REQUIRED = inspect.Parameter.empty


class Option(NamedTuple):
    """An option of a command. help: what it is. suggest: completes it. choices: the name of each of its
    values. default: where it is left out; `REQUIRED` if it may not be."""

    help: str
    suggest: Suggestions | None = None
    choices: Mapping[str, str] = MappingProxyType({})
    kind: Any = str
    default: Any = None


TABLE = Option("The table's code; needed only where several tables are possible", suggest_tables)
PUBLIC = Option("Everybody can see it", kind=bool, default=False)


class TableCommand(NamedTuple):
    """A command about a table. line: what it says there, or what makes that of the options. act: does
    something else instead. statuses: see `table_lookup.resolve_table`. public: the answer may be for
    everybody."""

    name: str
    description: str
    line: str | Callable[..., str] = ""
    options: Mapping[str, Option] = MappingProxyType({})
    statuses: Sequence[TableStatus] = ()
    public: bool = False
    act: Act | None = None


def table_command(command: TableCommand) -> app_commands.Command[Any, Any, Any]:
    """The command as the library knows it: with the option `table`, and where it has one the option
    `public`."""

    async def carry_out(interaction: Interaction, table: str | None, **given: Any) -> None:
        handler = handler_of(interaction)
        found = await resolve_table(handler.lines, interaction, table, command.statuses)
        if tuple(command.statuses) == ("lobby",) and found.status != "lobby":  # its word may begin a move
            raise ValueError(found.status_sentence)
        if command.act is not None:
            await command.act(interaction, found, **given)
            return
        line = command.line if isinstance(command.line, str) else command.line(**given)
        await handler.lines.say(interaction, found, [line])

    options = {**command.options, "table": TABLE, **({"public": PUBLIC} if command.public else {})}
    return slash_command(command.name, command.description, carry_out, options)


def group(
    name: str, description: str, commands: Iterable[app_commands.Command[Any, Any, Any]], **details: Any
) -> app_commands.Group:
    """Commands of one first word. details: of the group."""
    made = app_commands.Group(name=name, description=description, **details)
    for each in commands:
        made.add_command(each)
    return made


def slash_command(
    name: str, description: str, callback: Act, options: Mapping[str, Option] = MappingProxyType({})
) -> app_commands.Command[Any, Any, Any]:
    """A command with these options, which its callback gets by name."""

    async def run(interaction: Interaction, /, **given: Any) -> None:
        await defer(interaction, public=given.pop("public", False))
        await callback(interaction, **given)

    takes = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("interaction", takes, annotation=Interaction)]
    parameters += [
        inspect.Parameter(each, takes, annotation=option.kind, default=option.default)
        for each, option in options.items()
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app_commands.describe(**{each: option.help for each, option in options.items()})(run)
    app_commands.autocomplete(**{each: option.suggest for each, option in options.items() if option.suggest})(
        run
    )
    choices = {
        each: [Choice(name=shown, value=value) for value, shown in option.choices.items()]
        for each, option in options.items()
        if option.choices
    }
    app_commands.choices(**choices)(run)
    return app_commands.Command(name=name, description=description, callback=run)


# -- translations --------------------------------------------------------------------------

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
