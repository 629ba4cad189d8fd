"""Prints the English texts of Discord's commands, from which a translation is begun."""

import json
from collections.abc import Iterator
from typing import Any

import discord

from bot.discord.commands import build_command_tree


def texts_of(payload: Any) -> Iterator[str]:
    """The names and descriptions in the payload of a command, of its options and choices."""
    for key in ("name", "description"):
        if payload.get(key):
            yield str(payload[key])
    for part in (*payload.get("options", ()), *payload.get("choices", ())):
        yield from texts_of(part)


if __name__ == "__main__":
    tree = build_command_tree(discord.Client(intents=discord.Intents.none()))
    found = (text for command in tree.get_commands() for text in texts_of(command.to_dict(tree)))
    texts = [text for text in found if not text.isdecimal()]  # neither titles nor symbols
    print(json.dumps(dict.fromkeys(texts, ""), indent=1, ensure_ascii=False))
