"""How an interaction is answered: with a message, a sentence, or a form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import aiohttp
import discord
from discord import app_commands, ui

from bot.discord.api import (
    ALREADY_ACKNOWLEDGED,
    ARCHIVED,
    CANNOT_SEND_CODES,
    DISCORD_ERRORS,
    UNKNOWN_INTERACTION,
    DiscordApi,
    OutgoingAttachment,
    RawView,
    discord_file,
)
from bot.discord.cards import parts
from bot.discord.cards.parts import Json
from storage import StoreError

DEFERRED_MESSAGE = discord.InteractionResponseType.deferred_channel_message
ACKNOWLEDGED = "acknowledged"
"""The entry of an interaction that says how it is acknowledged, where Discord's answer to that was lost."""
SHARED = "shared"
"""The entry of an interaction that says that another process may answer it too."""


class RawModal(ui.Modal):
    """A finished payload of a modal. It is stopped before it is sent, so the library does not keep it."""

    def __init__(self, payload: Json) -> None:
        super().__init__(title="form", timeout=None)
        self._payload = payload
        self.stop()

    def to_dict(self) -> dict[str, Any]:
        return self._payload


def is_private(interaction: discord.Interaction) -> bool:
    """Whether the control that was used is on a message that only its user sees."""
    return interaction.message is not None and interaction.message.flags.ephemeral


def asks_publicly(interaction: discord.Interaction) -> bool:
    """Whether a command was asked with the option `public`."""
    return bool(getattr(interaction.namespace, "public", False))


def acknowledged_as(interaction: discord.Interaction) -> discord.InteractionResponseType | None:
    """How an interaction is acknowledged; None where it is not."""
    lost: discord.InteractionResponseType | None = interaction.extras.get(ACKNOWLEDGED)
    return interaction.response.type or lost


async def defer(interaction: discord.Interaction[Any], *, public: bool = False, answers: bool = True) -> None:
    """Acknowledge an interaction. answers: its answer follows in a new message.

    Where Discord's answer is lost it is acknowledged again, by the library or here, and Discord says that it
    is done.
    """
    acknowledge = partial(interaction.response.defer, ephemeral=not public, thinking=answers)
    try:
        try:
            await acknowledge()
        except (aiohttp.ClientError, OSError):  # the connection, for which the library does not try again
            if SHARED in interaction.extras:
                raise
            await acknowledge()
    except discord.HTTPException as error:
        if not is_answered_already(error) or SHARED in interaction.extras:
            raise
        kinds = discord.InteractionResponseType
        interaction.extras[ACKNOWLEDGED] = DEFERRED_MESSAGE if answers else kinds.deferred_message_update


async def defer_privately(interaction: discord.Interaction) -> None:
    """Acknowledge a control whose answer only its user sees: in its private message, or in a new one."""
    await defer(interaction, answers=not is_private(interaction))


async def reply(
    interaction: discord.Interaction,
    payload: list[Json],
    attachments: Sequence[OutgoingAttachment] = (),
    *,
    public: bool = False,
    plain: list[Json] | None = None,
) -> None:
    """Answer an interaction with a message: it replaces a deferred answer or a private menu, or is new.

    `public`: everybody sees it; otherwise only the user does. `plain`: the message where no files may be
    attached.
    """
    try:
        await _reply(interaction, payload, attachments, public)
    except discord.HTTPException as error:
        if error.code == ARCHIVED and interaction.channel_id:
            await DiscordApi(interaction.client).unarchive(interaction.channel_id)
        elif attachments and error.code in CANNOT_SEND_CODES:
            payload, attachments = plain or parts.without_files(payload), ()
        else:
            raise
        await _reply(interaction, payload, attachments, public)


async def _reply(
    interaction: discord.Interaction,
    payload: list[Json],
    attachments: Sequence[OutgoingAttachment],
    public: bool,
) -> None:
    files, view = [*map(discord_file, attachments)], RawView(payload)
    acknowledged = acknowledged_as(interaction)
    if acknowledged is None:
        await interaction.response.send_message(view=view, files=files, ephemeral=not public)
    elif acknowledged is DEFERRED_MESSAGE and not public and asks_publicly(interaction):
        await interaction.delete_original_response()  # an answer that was begun in public stays public
        await interaction.followup.send(view=view, files=files, ephemeral=True)
    elif acknowledged is DEFERRED_MESSAGE or is_private(interaction):
        await interaction.edit_original_response(view=view, attachments=files)
    else:
        await interaction.followup.send(view=view, files=files, ephemeral=not public)


async def reply_text(interaction: discord.Interaction, sentence: str) -> None:
    """Answer an interaction with a private sentence."""
    await reply(interaction, [parts.text_display(sentence)])


def is_too_late(error: BaseException) -> bool:
    """Whether Discord did not wait long enough for the acknowledgement; then nothing was done."""
    return isinstance(error, discord.HTTPException) and error.code == UNKNOWN_INTERACTION


def is_answered_already(error: BaseException) -> bool:
    """Whether the interaction was acknowledged before, such as by another process; then we did nothing."""
    return isinstance(error, discord.HTTPException) and error.code == ALREADY_ACKNOWLEDGED


def error_text(error: BaseException) -> str:
    """The sentence that a user reads about an error; an internal error is not explained."""
    if isinstance(error, ValueError | StoreError):
        return str(error)
    if isinstance(error, app_commands.AppCommandError):
        return "This command belongs to another version of Railpost. Reload Discord, then try again."
    fault = (
        "Discord did not take the answer."
        if isinstance(error, DISCORD_ERRORS)
        else "An internal error has occurred."
    )
    return f"{fault} What you wanted may be done; look at the card before you do it again."
