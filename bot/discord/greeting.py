"""What the bot says first: the link that invites it, for the operator, and its greeting to a server."""

from __future__ import annotations

import base64
import binascii
import logging

import discord

from bot.config import SettingsError, load_settings
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
    """Say the sentence in the first channel where the bot may; returns whether there was one."""
    for channel in _candidates(guild):
        if not _may_write(channel):
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


def _candidates(guild: discord.Guild) -> list[discord.TextChannel]:
    """The channel for system messages, then the others from the top."""
    first = [guild.system_channel] if guild.system_channel else []
    return [*first, *guild.text_channels]


def _may_write(channel: discord.TextChannel) -> bool:
    rights = channel.permissions_for(channel.guild.me)
    return rights.view_channel and rights.send_messages


PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    manage_threads=True,
    attach_files=True,
)
SCOPES = ("bot", "applications.commands")


def application_id_of(token: str) -> int | None:
    """The id of the application, with which a bot's token begins; None where it is no such token."""
    start = token.partition(".")[0]
    try:
        digits = base64.urlsafe_b64decode(start + "=" * (-len(start) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    return int(digits) if digits.isdecimal() else None


def invite_link(token: str) -> str | None:
    """The address that asks for a server and adds the bot there; None if the token does not tell its id."""
    application_id = application_id_of(token)
    if application_id is None:
        return None
    return discord.utils.oauth_url(application_id, permissions=PERMISSIONS, scopes=SCOPES)


NO_APPLICATION = (
    "RAILPOST_DISCORD_TOKEN does not begin with the id of an application. Copy the token of the page *Bot* "
    "in Discord's developer portal, not the public key or the client secret."
)


def command() -> None:
    """Print the link that adds the bot to a Discord server. It needs no connection."""
    settings = load_settings().discord
    if settings is None:
        raise SettingsError("RAILPOST_DISCORD_TOKEN is not set; the link is made of it.")
    if (link := invite_link(settings.token.get_secret_value())) is None:
        raise SettingsError(NO_APPLICATION)
    print(link)
