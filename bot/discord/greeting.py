"""The greeting of the bot to a server."""

from __future__ import annotations

import logging

import discord

from bot.discord.api import DISCORD_ERRORS
from storage import Store

log = logging.getLogger(__name__)

GREETING = "`/table new` opens a table for a railway game in this channel; `/help` explains the rest."


def greeting_key(guild_id: int) -> str:
    """The setting that says that a server has been greeted."""
    return f"discord.greeted.{guild_id}"


async def greet(guild: discord.Guild, store: Store) -> None:
    """Say the sentence, once for each server, where the bot may. Where it may nowhere, it tries again at the
    next connection."""
    key = greeting_key(guild.id)
    async with store.read() as unit:
        if await unit.settings.get(key):
            return
    if not await _say(guild):
        return
    async with store.begin() as unit:
        await unit.settings.set(key, "yes")


async def _say(guild: discord.Guild) -> bool:
    """Say the sentence in the first channel where the bot may, that for system messages before the others;
    returns whether there was one."""
    first = [guild.system_channel] if guild.system_channel else []
    for channel in (*first, *guild.text_channels):
        rights = channel.permissions_for(guild.me)
        if not (rights.view_channel and rights.send_messages):
            continue
        try:
            await channel.send(GREETING, nonce=f"greeting{guild.id}"[:25])  # Discord drops a second one
        except discord.Forbidden:
            continue
        except DISCORD_ERRORS as error:
            log.info("Discord: a new server could not be greeted: %s", error)
            return False
        return True
    return False
