"""The calls of Discord's API that delivery needs: send, edit and find messages, create and unarchive threads.

Messages are finished payloads, which the library does not keep. A message mentions one person at most, and
every message has a nonce.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import aiohttp
import discord
from discord import ui

from bot.discord import cards
from bot.discord.cards import ImageRef, Json
from bot.service.results import ExportedFile
from renderers import Picture

log = logging.getLogger(__name__)

ARCHIVE_AFTER_MINUTES: Literal[10080] = 10080
SEARCHED_MESSAGES = 30
CLOCK_SKEW = timedelta(seconds=30)  # by which our clock and Discord's may differ

# Discord's JSON error codes
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, MISSING_ACCESS, MISSING_PERMISSIONS = 10003, 10008, 50001, 50013
ARCHIVED, LOCKED, CANNOT_SEND_DM, TOO_MANY_OLD_EDITS, THREAD_EXISTS = 50083, 160005, 50007, 30046, 160004
THREADS_NOT_SUPPORTED = 50024
CANNOT_SEND_CODES = (MISSING_ACCESS, MISSING_PERMISSIONS, LOCKED)


class RawView(ui.LayoutView):
    """A finished payload of components. It is stopped before it is sent, so the library does not keep it."""

    def __init__(self, components: Sequence[Json]) -> None:
        super().__init__(timeout=None)
        self._components = list(components)
        self.stop()

    def has_components_v2(self) -> bool:
        return True

    def to_components(self) -> list[dict[str, Any]]:
        return self._components


class CannotEdit(Exception):
    """A message cannot be edited: it is gone, or too old to be edited now."""

    def __init__(self, gone: bool) -> None:
        super().__init__("gone" if gone else "too old")
        self.is_gone = gone


@dataclass(frozen=True, slots=True)
class ImageAttachment:
    """A picture to upload, with its file name."""

    filename: str
    picture: Picture

    @property
    def ref(self) -> ImageRef:
        return ImageRef(self.filename, cards.truncate(self.picture.alt, cards.MAX_ALT_TEXT))

    @property
    def discord_file(self) -> discord.File:
        return discord.File(io.BytesIO(self.picture.png), self.filename, description=self.ref.alt)


@dataclass(frozen=True, slots=True)
class FileAttachment:
    """An exported file to upload."""

    source: ExportedFile

    @property
    def discord_file(self) -> discord.File:
        return discord.File(io.BytesIO(self.source.content), self.source.name)


OutgoingAttachment = ImageAttachment | FileAttachment


def make_nonce(key: str) -> str:
    """The nonce by which Discord recognizes a repeated message: 25 hexadecimal digits."""
    return hashlib.sha256(key.encode()).hexdigest()[:25]


def mention_only(user: str | int | None) -> discord.AllowedMentions:
    """Allow a mention of this user and of nobody else."""
    users = [discord.Object(int(user))] if user else []
    return discord.AllowedMentions(everyone=False, roles=False, users=users, replied_user=False)


def message_age(message_id: int) -> timedelta:
    """How old a message is, by the time in its id."""
    return datetime.now(UTC) - discord.utils.snowflake_time(message_id)


class DiscordApi:
    """Discord's API, through a client that is logged in."""

    def __init__(self, client: discord.Client) -> None:
        self.client = client

    def channel(self, channel_id: int) -> discord.PartialMessageable:
        """A channel or thread by its id."""
        return self.client.get_partial_messageable(int(channel_id))

    def message(self, channel_id: int, message_id: int) -> discord.PartialMessage:
        """A message by its ids."""
        return self.channel(channel_id).get_partial_message(message_id)

    async def send(
        self, channel: Any, payload: list[Json], key: str, user: str | None, images: Sequence[ImageAttachment]
    ) -> discord.Message:
        """Send a message; a repeated call with the same `key` within some minutes returns the first one."""
        sent: discord.Message = await channel.send(
            view=RawView(payload),
            files=[each.discord_file for each in images],
            nonce=make_nonce(key),
            allowed_mentions=mention_only(user),
        )
        return sent

    async def find_sent(self, channel: Any, marker: str, since: datetime) -> discord.Message | None:
        """Our message with `marker` in its components, if an earlier attempt has sent it since then."""
        own_id = self.client.user.id if self.client.user else None
        try:
            async for message in channel.history(
                limit=SEARCHED_MESSAGES, after=since - CLOCK_SKEW, oldest_first=False
            ):
                raw = json.dumps([part.to_dict() for part in message.components])
                if message.author.id == own_id and marker in raw:
                    found: discord.Message = message
                    return found
        except discord.HTTPException as error:
            log.info("Discord: the history of a channel could not be read: %s", error)
        return None

    async def edit(
        self, message: discord.PartialMessage, payload: list[Json], user: str | None, **files: Any
    ) -> None:
        """Edit a message in place; an archived thread is unarchived first. Raises CannotEdit."""
        for attempt in range(2):
            try:
                await message.edit(view=RawView(payload), allowed_mentions=mention_only(user), **files)
                return
            except discord.RateLimited as error:
                raise CannotEdit(gone=False) from error
            except discord.HTTPException as error:
                if error.code == ARCHIVED and attempt == 0:
                    await self.unarchive(message.channel.id)
                elif error.code in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL, MISSING_PERMISSIONS, MISSING_ACCESS):
                    raise CannotEdit(gone=True) from error
                elif error.code in (TOO_MANY_OLD_EDITS, ARCHIVED):
                    raise CannotEdit(gone=False) from error
                else:
                    raise

    async def unarchive(self, thread_id: int, **details: Any) -> None:
        """Unarchive a thread and change its `details`, if Discord allows it."""
        try:
            await self.client.http.edit_channel(thread_id, archived=False, **details)
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            log.info("Discord: a thread could not be unarchived: %s", error)

    async def create_thread(self, channel_id: int, name: str, lobby_message: int | None) -> int:
        """Create a thread and return its id, or the channel's id where threads are not allowed.

        `lobby_message`: the message to start the thread from; a message can have one thread only, so a
        repeated call returns the same thread.
        """
        http = self.client.http
        try:
            if lobby_message is None:
                created = await http.start_thread_without_message(
                    channel_id, name=name, auto_archive_duration=ARCHIVE_AFTER_MINUTES, type=11
                )
            else:
                created = await http.start_thread_with_message(
                    channel_id, lobby_message, name=name, auto_archive_duration=ARCHIVE_AFTER_MINUTES
                )
            return int(created["id"])
        except discord.HTTPException as error:
            if error.code == THREAD_EXISTS and lobby_message is not None:
                return lobby_message  # a thread has the id of the message that it was started from
            if error.code == UNKNOWN_MESSAGE and lobby_message is not None:
                return await self.create_thread(channel_id, name, None)
            if error.code in (MISSING_PERMISSIONS, MISSING_ACCESS, THREADS_NOT_SUPPORTED):
                return channel_id
            raise

    async def pin(self, message: discord.Message) -> None:
        """Pin a message, if Discord allows it."""
        try:
            await message.pin()
        except discord.HTTPException as error:
            log.info("Discord: a message was not pinned: %s", error)
