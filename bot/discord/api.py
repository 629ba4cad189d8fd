"""The few things that are done on Discord: send, edit, find again, make and wake a thread.

Views are payloads that are finished before they are sent; mentions are exact; every message has a nonce.
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

ARCHIVE_AFTER_MINUTES: Literal[10080] = 10080  # minutes
SEARCHED_MESSAGES = 30
CLOCK_SKEW = timedelta(seconds=30)  # by which clocks may differ

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, MISSING_ACCESS, MISSING_PERMISSIONS = 10003, 10008, 50001, 50013
ARCHIVED, LOCKED, CANNOT_SEND_DM, TOO_MANY_OLD_EDITS, THREAD_EXISTS = 50083, 160005, 50007, 30046, 160004
THREADS_NOT_SUPPORTED = 50024
CANNOT_SEND_CODES = (MISSING_ACCESS, MISSING_PERMISSIONS, LOCKED)


class RawView(ui.LayoutView):
    """Components as they are. It is finished before it is sent, so that the library keeps nothing of it."""

    def __init__(self, components: Sequence[Json]) -> None:
        super().__init__(timeout=None)
        self._components = list(components)
        self.stop()

    def has_components_v2(self) -> bool:
        return True

    def to_components(self) -> list[dict[str, Any]]:
        return self._components


class CannotEdit(Exception):
    """A message that cannot be edited: it is `gone`, or too old to be edited now."""

    def __init__(self, gone: bool) -> None:
        super().__init__("gone" if gone else "too old")
        self.is_gone = gone


@dataclass(frozen=True, slots=True)
class ImageAttachment:
    """A picture with the name of its file."""

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
    """A file that is handed out."""

    source: ExportedFile

    @property
    def discord_file(self) -> discord.File:
        return discord.File(io.BytesIO(self.source.content), self.source.name)


OutgoingAttachment = ImageAttachment | FileAttachment


def make_nonce(key: str) -> str:
    """By what Discord sees that a message was sent before: at most 25 characters."""
    return hashlib.sha256(key.encode()).hexdigest()[:25]


def mention_only(user: str | int | None) -> discord.AllowedMentions:
    """Nobody but that person."""
    users = [discord.Object(int(user))] if user else []
    return discord.AllowedMentions(everyone=False, roles=False, users=users, replied_user=False)


def message_age(message: int) -> timedelta:
    """How old a message is, by its id."""
    return datetime.now(UTC) - discord.utils.snowflake_time(message)


class DiscordApi:
    """Discord as the courier uses it, through a client that is logged in."""

    def __init__(self, client: discord.Client) -> None:
        self.client = client

    def channel(self, channel: int) -> discord.PartialMessageable:
        """A channel or thread by its id."""
        return self.client.get_partial_messageable(int(channel))

    def message(self, channel: int, message: int) -> discord.PartialMessage:
        """A message by its ids."""
        return self.channel(channel).get_partial_message(message)

    async def send(
        self, channel: Any, payload: list[Json], key: str, user: str | None, shown: Sequence[ImageAttachment]
    ) -> discord.Message:
        """Send it; within some minutes the same `key` gives the message that is there already."""
        sent: discord.Message = await channel.send(
            view=RawView(payload),
            files=[each.discord_file for each in shown],
            nonce=make_nonce(key),
            allowed_mentions=mention_only(user),
        )
        return sent

    async def find_sent(self, channel: Any, marker: str, since: datetime) -> discord.Message | None:
        """The same message, where an earlier attempt has sent it after all."""
        me = self.client.user.id if self.client.user else None
        try:
            async for message in channel.history(
                limit=SEARCHED_MESSAGES, after=since - CLOCK_SKEW, oldest_first=False
            ):
                raw = json.dumps([part.to_dict() for part in message.components])
                if message.author.id == me and marker in raw:
                    found: discord.Message = message
                    return found
        except discord.HTTPException as wrong:
            log.info("Discord: the history of a channel could not be read: %s", wrong)
        return None

    async def edit(
        self, message: discord.PartialMessage, payload: list[Json], user: str | None, **files: Any
    ) -> None:
        """Edit in place, waking the thread if it sleeps. Raises Outdated where it cannot be edited."""
        for attempt in range(2):
            try:
                await message.edit(view=RawView(payload), allowed_mentions=mention_only(user), **files)
                return
            except discord.RateLimited as wrong:
                raise CannotEdit(gone=False) from wrong
            except discord.HTTPException as wrong:
                if wrong.code == ARCHIVED and attempt == 0:
                    await self.unarchive(message.channel.id)
                elif wrong.code in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL, MISSING_PERMISSIONS, MISSING_ACCESS):
                    raise CannotEdit(gone=True) from wrong
                elif wrong.code in (TOO_MANY_OLD_EDITS, ARCHIVED):
                    raise CannotEdit(gone=False) from wrong
                else:
                    raise

    async def unarchive(self, thread: int, **details: Any) -> None:
        """Let a thread sleep no more, if that can be done."""
        try:
            await self.client.http.edit_channel(thread, archived=False, **details)
        except (discord.DiscordException, aiohttp.ClientError, OSError) as wrong:
            log.info("Discord: a thread could not be woken: %s", wrong)

    async def create_thread(self, channel: int, name: str, lobby: int | None) -> int:
        """A thread, made of the message `lobby` so that it exists once; the channel where none may be."""
        http = self.client.http
        try:
            if lobby is None:
                made = await http.start_thread_without_message(
                    channel, name=name, auto_archive_duration=ARCHIVE_AFTER_MINUTES, type=11
                )
            else:
                made = await http.start_thread_with_message(
                    channel, lobby, name=name, auto_archive_duration=ARCHIVE_AFTER_MINUTES
                )
            return int(made["id"])
        except discord.HTTPException as wrong:
            if wrong.code == THREAD_EXISTS and lobby is not None:
                return lobby  # a thread has the id of the message it was made of
            if wrong.code == UNKNOWN_MESSAGE and lobby is not None:
                return await self.create_thread(channel, name, None)
            if wrong.code in (MISSING_PERMISSIONS, MISSING_ACCESS, THREADS_NOT_SUPPORTED):
                return channel
            raise

    async def pin(self, message: discord.Message) -> None:
        """Pin a message, where that is allowed."""
        try:
            await message.pin()
        except discord.HTTPException as wrong:
            log.info("Discord: a message was not pinned: %s", wrong)
