"""The calls of Discord's API that delivery needs: send, edit and find messages, create and unarchive threads.

Messages are finished payloads, which the library does not keep. A message notifies only the users whom it is
meant for, and every message has a nonce. An edit names every file that the message has afterwards: those that
stay by their ids, new ones as uploads.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

import aiohttp
import discord
from discord import ui

from bot.discord.cards.card_refs import AttachedFile
from bot.discord.cards.parts import ImageAttachment, Json
from bot.position.controls import ExportedFile

log = logging.getLogger(__name__)

Result = TypeVar("Result")

ARCHIVE_AFTER_MINUTES: Literal[10080] = 10080
SEARCHED_MESSAGES = 30
CLOCK_SKEW = timedelta(seconds=30)  # by which our clock and Discord's may differ

# Discord's JSON error codes
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, MISSING_ACCESS, MISSING_PERMISSIONS = 10003, 10008, 50001, 50013
ARCHIVED, LOCKED, TOO_MANY_OLD_EDITS, THREAD_EXISTS = 50083, 160005, 30046, 160004
CANNOT_SEND_DM_CODES = (50007, 50278)  # we are blocked; they accept none, or no server is shared with them
UNKNOWN_INTERACTION, ALREADY_ACKNOWLEDGED = 10062, 40060
GONE_CODES = (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL)
CANNOT_SEND_CODES = (MISSING_ACCESS, MISSING_PERMISSIONS, LOCKED)

REFUSED_STATUSES = (400, 403, 404, 413)
"""HTTP statuses after which the same is not tried again."""
DISCORD_ERRORS = (discord.DiscordException, aiohttp.ClientError, OSError)
"""What a call of Discord raises that it refuses, or that does not reach it."""


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
    """A message cannot be edited. `is_gone`: it is deleted. `is_forbidden`: a permission is missing, or the
    thread stays archived. `is_passing`: it may be edited later. Otherwise Discord does not accept the
    content."""

    def __init__(self, reason: object, code: int = 0) -> None:
        """code: Discord's, of the error."""
        super().__init__(reason)
        self.is_gone = code in GONE_CODES
        self.is_forbidden = code in (*CANNOT_SEND_CODES, ARCHIVED)
        self.is_passing = isinstance(reason, discord.RateLimited) or code == TOO_MANY_OLD_EDITS


OutgoingAttachment = ImageAttachment | ExportedFile


def discord_file(attachment: OutgoingAttachment) -> discord.File:
    """A file as the library uploads it."""
    if isinstance(attachment, ExportedFile):
        return discord.File(io.BytesIO(attachment.content), attachment.name)
    png, alt = attachment.picture.png, attachment.alt
    return discord.File(io.BytesIO(png), attachment.filename, description=alt)


def make_nonce(key: str) -> str:
    """The nonce by which Discord recognizes a repeated message: 25 hexadecimal digits."""
    return hashlib.sha256(key.encode()).hexdigest()[:25]


def mention_only(users: Iterable[str | int | None]) -> discord.AllowedMentions:
    """Allow mentions of these users and of nobody else."""
    allowed = [discord.Object(int(user)) for user in users if user]
    return discord.AllowedMentions(everyone=False, roles=False, users=allowed, replied_user=False)


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
        self,
        channel: Any,
        payload: list[Json] | str,
        key: str,
        users: Iterable[str | None] = (),
        images: Sequence[ImageAttachment] = (),
        *,
        silent: bool = False,
    ) -> discord.Message:
        """Send a message; a repeated call with the same `key` within some minutes returns the first one.

        payload: its components, or one line of plain text, which phones show in their notifications. silent:
        not even direct messages notify.
        """
        sent: discord.Message = await channel.send(
            **{"content": payload} if isinstance(payload, str) else {"view": RawView(payload)},
            files=[*map(discord_file, images)],
            nonce=make_nonce(key),
            allowed_mentions=mention_only(users),
            silent=silent,
        )
        return sent

    async def find_sent(
        self,
        channel: Any,
        is_wanted: Callable[[str, str], bool],
        since: datetime | None,
        besides: Collection[int],
    ) -> discord.Message | None:
        """Our newest message that an earlier attempt has sent since then, if `is_wanted` recognizes one.

        `is_wanted` gets the JSON of a message's components and its text. besides: ids of other messages.
        """
        own_id = self.client.user.id if self.client.user else None
        after = since - CLOCK_SKEW if since else None
        try:
            async for message in channel.history(limit=SEARCHED_MESSAGES, after=after, oldest_first=False):
                raw = json.dumps([part.to_dict() for part in message.components])
                is_ours = message.author.id == own_id and message.id not in besides
                if is_ours and is_wanted(raw, message.content):
                    found: discord.Message = message
                    return found
        except (discord.Forbidden, discord.NotFound) as error:
            log.info("Discord: the history of a channel may not be read: %s", error)
        return None

    async def edit(
        self,
        message: discord.PartialMessage,
        payload: list[Json],
        users: Iterable[str | None] = (),
        files: Sequence[OutgoingAttachment | AttachedFile] = (),
    ) -> list[discord.Attachment]:
        """Replace a message's content in place and return its files; an archived thread is unarchived first.

        `files` are all the files that it has afterwards. Raises CannotEdit.
        """

        async def edit() -> list[discord.Attachment]:
            attached: list[Any] = [
                each if isinstance(each, AttachedFile) else discord_file(each) for each in files
            ]
            view, mentions = RawView(payload), mention_only(users)
            return (
                await message.edit(content=None, view=view, allowed_mentions=mentions, attachments=attached)
            ).attachments

        try:
            return await self.unarchiving(message.channel.id, edit)
        except discord.RateLimited as error:
            raise CannotEdit(error) from error
        except discord.HTTPException as error:
            if error.code != TOO_MANY_OLD_EDITS and error.status not in REFUSED_STATUSES:
                raise
            log.info("Discord: a message could not be edited: %s", error)
            raise CannotEdit(error, error.code) from error

    async def delete(self, message: discord.PartialMessage) -> bool:
        """Delete one of our messages, if Discord allows it; whether it is gone."""
        try:
            await self.unarchiving(message.channel.id, message.delete)
        except discord.HTTPException as error:
            if error.code not in GONE_CODES:
                log.info("Discord: a message could not be deleted: %s", error)
                return False
        return True

    async def unarchiving(self, thread_id: int, call: Callable[[], Awaitable[Result]]) -> Result:
        """Make a call about a thread; where it is archived, once more after it is unarchived."""
        try:
            return await call()
        except discord.HTTPException as error:
            if error.code != ARCHIVED:
                raise
        await self.unarchive(thread_id)
        return await call()

    async def unarchive(self, thread_id: int, **details: Any) -> None:
        """Unarchive a thread and change its `details`, if Discord allows it."""
        try:
            await self.client.http.edit_channel(thread_id, archived=False, **details)
        except DISCORD_ERRORS as error:
            log.info("Discord: a thread could not be unarchived: %s", error)

    async def create_thread(
        self, channel_id: int, name: str, lobby_message: int | None, guild_id: int | None
    ) -> int:
        """Create a thread and return its id, or the channel's id where Discord refuses a thread.

        `lobby_message`: the message to start the thread from; a message can have one thread only. Without one
        our oldest open thread of this name in the channel is the table's: an earlier call has created it.
        """
        http = self.client.http
        try:
            if lobby_message is None:
                return await self._create_free_thread(channel_id, name, guild_id)
            created = await http.start_thread_with_message(
                channel_id, lobby_message, name=name, auto_archive_duration=ARCHIVE_AFTER_MINUTES
            )
            return int(created["id"])
        except discord.HTTPException as error:
            if error.code == THREAD_EXISTS and lobby_message is not None:
                return lobby_message  # a thread has the id of the message that it was started from
            if error.code == UNKNOWN_MESSAGE and lobby_message is not None:
                return await self.create_thread(channel_id, name, None, guild_id)
            if error.status in (400, 403):  # no permission, a channel without threads, too many of them
                log.info("Discord: a table is shown in its channel, because it gets no thread: %s", error)
                return channel_id
            raise

    async def _create_free_thread(self, channel_id: int, name: str, guild_id: int | None) -> int:
        """A thread without a message to start from; one of this name that exists already is kept.

        The library repeats a request whose answer is lost, so there may be two afterwards: the later goes.
        """
        if existing := await self._own_threads(guild_id, channel_id, name):
            return existing[0]
        created = await self.client.http.start_thread_without_message(
            channel_id, name=name, auto_archive_duration=ARCHIVE_AFTER_MINUTES, type=11
        )
        kept, *repeated = await self._own_threads(guild_id, channel_id, name) or [int(created["id"])]
        for each in repeated:
            try:
                await self.client.http.delete_channel(each)
            except discord.HTTPException as error:
                log.info("Discord: a second thread was not deleted: %s", error)
        return kept

    async def _own_threads(self, guild_id: int | None, channel_id: int, name: str) -> list[int]:
        """Our open threads of this name in a channel, oldest first."""
        if guild_id is None or self.client.user is None:
            return []
        wanted = (str(channel_id), name, str(self.client.user.id))
        active = await self.client.http.get_active_threads(guild_id)
        return sorted(
            int(each["id"])
            for each in active["threads"]
            if (str(each["parent_id"]), each["name"], str(each["owner_id"])) == wanted
        )

    async def pin(self, message: discord.PartialMessage) -> None:
        """Pin a message, if Discord allows it."""
        try:
            await message.pin()
        except discord.HTTPException as error:
            log.info("Discord: a message was not pinned: %s", error)
