"""The link that adds the bot to a Discord server: `railpost invite-link`."""

from __future__ import annotations

import base64
import binascii

import discord

from bot.config import SettingsError, load_settings

PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    manage_threads=True,
    attach_files=True,
    read_message_history=True,
    pin_messages=True,
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
