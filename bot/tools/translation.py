"""Prints the English texts of Discord's commands, from which a translation is begun."""

import json

import discord

from bot.discord.commands import build_command_tree, english_texts

if __name__ == "__main__":
    tree = build_command_tree(discord.Client(intents=discord.Intents.none()))
    print(json.dumps(dict.fromkeys(english_texts(tree), ""), indent=1, ensure_ascii=False))
