"""Posting new messages of a table: where Discord refuses one way, the next is tried.

The places of a table are its thread, then its channel, then the direct messages of the player concerned. A
deleted thread is replaced. Where files may not be attached, the message goes out without them, with the board
as text.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

import discord

from bot.discord.api import (
    CANNOT_SEND_CODES,
    CANNOT_SEND_DM_CODES,
    UNKNOWN_CHANNEL,
    CannotEdit,
    DiscordApi,
    OutgoingAttachment,
)
from bot.discord.cards import layouts
from bot.discord.cards.card_refs import (
    SAID_FILES,
    AttachedFile,
    CardRef,
    CardStore,
    TableCard,
    attached_files,
)
from bot.discord.cards.parts import ImageAttachment, Json
from bot.discord.threads import LOST_THREAD, TableThreads, has_own_thread
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.service import Service
from storage import OutboxMessage

log = logging.getLogger(__name__)

MARKED = re.compile(r'"(?:content|custom_id)": "(?:[^"\\]|\\.)*"')
MAY_NOT_ATTACH = (
    "I may not attach files here, so the cards have the board as text. "
    "Give me the permission *Attach Files* to see pictures."
)


class Outgoing(NamedTuple):
    """A message of the outbox that is being sent, and what it says. user: to whose direct messages it goes;
    None for where the table is shown."""

    queued: OutboxMessage
    notification: Notification
    user: str | None

    @property
    def key(self) -> str:
        """That by which a repeated sending is recognized."""
        return self.queued.idempotency_key


class Unreachable(Exception):
    """Discord does not let us write where a message belongs; the text says why."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A message to be posted.

    `plain` is its content where files may not be attached. `line`: the text of a notification, which the
    message has at first; `users` are notified. `digest`: of what it shows. `silent`: nobody is notified, also
    in direct messages.
    """

    payload: list[Json]
    images: Sequence[ImageAttachment] = ()
    plain: list[Json] | None = None
    line: str | None = None
    users: Sequence[str] = ()
    digest: str = ""
    silent: bool = False

    def notifying(self, users: Sequence[str]) -> Draft:
        """The message that notifies only these users, by its line first; none: it is silent and has no
        line."""
        return replace(self, users=users, line=self.line if users else None, silent=not users)


def shows(message: discord.Message, payload: list[Json]) -> bool:
    """Whether a message has the texts and the controls of a payload."""
    shown = [part.to_dict() for part in message.components]
    return MARKED.findall(json.dumps(shown, sort_keys=True)) == MARKED.findall(
        json.dumps(payload, sort_keys=True)
    )


class Poster:
    """Posts messages."""

    def __init__(self, service: Service, api: DiscordApi, threads: TableThreads) -> None:
        self.service, self.api, self.threads = service, api, threads
        self.cards = CardStore(service.store)

    async def post(self, table: TableInfo, key: str, draft: Draft, dm_user: str | None = None) -> CardRef:
        """Post a message of a table, or to a user's direct messages. Raises Unreachable."""
        refused: Exception | str = "the table has no channel on Discord"
        for channel in await self._places(table, dm_user):
            try:
                return await self._post_there(table, channel, key, draft)
            except discord.HTTPException as error:
                if error.code == UNKNOWN_CHANNEL and not dm_user:
                    try:
                        return await self._post_in_new_thread(table, channel, key, draft)
                    except discord.HTTPException as second:
                        error = second
                if error.code not in (*CANNOT_SEND_CODES, *CANNOT_SEND_DM_CODES, UNKNOWN_CHANNEL):
                    raise
                refused = error
        raise Unreachable(f"the bot may not write there: {refused}")

    async def _places(self, table: TableInfo, dm_user: str | None) -> list[Any]:
        """Where a message of a table may be posted: one place in direct messages, else those of the table.
        Raises Unreachable where Discord opens no direct messages with the user."""
        if not dm_user:
            return self.threads.places(table)
        try:
            return [await self.threads.dm_channel(dm_user)]
        except discord.Forbidden as error:
            raise Unreachable(f"there are no direct messages: {error}") from None

    async def _post_in_new_thread(self, table: TableInfo, lost: Any, key: str, draft: Draft) -> CardRef:
        """Post in another thread, if the thread of the table was deleted."""
        if not has_own_thread(table) or lost.id != int(table.location["thread"]):
            return await self._post_there(table, lost, key, draft)
        if table.location.get(LOST_THREAD):
            raise Unreachable("its thread was deleted twice")
        return await self._post_there(table, await self.threads.replace(table), key, draft)

    async def _post_there(self, table: TableInfo, channel: Any, key: str, draft: Draft) -> CardRef:
        if draft.line is not None:
            message = await self.api.send(channel, draft.line, key, draft.users)
            return CardRef(message.channel.id, message.id)
        try:
            message = await self.api.send(
                channel, draft.payload, key, draft.users, draft.images, silent=draft.silent
            )
            if not shows(message, draft.payload):  # an earlier attempt has sent it
                return CardRef(message.channel.id, message.id)
            files = attached_files(draft.images, message.attachments)
            return CardRef(message.channel.id, message.id, files=files, payload_digest=draft.digest)
        except discord.HTTPException as error:
            if not draft.images or error.code not in CANNOT_SEND_CODES:
                raise
        plain = draft.plain or draft.payload
        message = await self.api.send(channel, plain, key, draft.users, silent=draft.silent)
        await self.say_files_are_refused(table, channel)
        return CardRef(message.channel.id, message.id, is_plain=True, payload_digest=draft.digest)

    async def post_once(
        self, sent: Outgoing, table: TableInfo, draft: Draft, is_wanted: Callable[[str, str], bool]
    ) -> CardRef:
        """Post the message of the outbox, or find the one that an earlier attempt has posted; what that one
        shows is not known. is_wanted: see `DiscordApi.find_sent`. Raises Unreachable."""
        queued = sent.queued
        if queued.attempts > 1 and (found := await self.find(table, is_wanted, queued.created_at, sent.user)):
            return CardRef(found.channel.id, found.id)
        return await self.post(table, sent.key, draft, sent.user)

    async def find(
        self,
        table: TableInfo,
        is_wanted: Callable[[str, str], bool],
        since: datetime | None,
        dm_user: str | None,
    ) -> discord.Message | None:
        """A message that was posted since then, and that the store does not know. since: None for any
        time. Raises Unreachable."""
        stored = {card.ref.message_id for card in await self.cards.of_table(table.id)}
        for channel in await self._places(table, dm_user):
            if found := await self.api.find_sent(channel, is_wanted, since, besides=stored):
                return found
        return None

    async def edit(
        self,
        table: TableInfo,
        ref: CardRef,
        draft: Draft,
        files: Sequence[OutgoingAttachment | AttachedFile],
    ) -> list[discord.Attachment] | None:
        """Edit a message, and return its files; None where it gets its plain content, because none may be
        attached. Raises CannotEdit."""
        message = self.api.message(ref.channel_id, ref.message_id)
        if not ref.is_plain:
            try:
                return await self.api.edit(message, draft.payload, draft.users, files)
            except CannotEdit as failure:
                if not failure.is_forbidden or not files:
                    raise
        await self.api.edit(message, draft.plain or draft.payload, draft.users)
        if not ref.is_plain:
            await self.say_files_are_refused(table, message.channel)
        return None

    # -- files that may not be attached ------------------------------------------------------

    async def say_files_are_refused(self, table: TableInfo, channel: Any) -> None:
        """Say once at a table that files may not be attached."""
        if await self.cards.get(table.id, SAID_FILES):
            return
        key = f"t{table.id}.{table.seq}.{SAID_FILES}"
        try:
            message = await self.api.send(channel, layouts.notification([MAY_NOT_ATTACH]), key)
        except discord.HTTPException as error:
            log.info("Discord: the remark on files could not be sent: %s", error)
            return
        ref = CardRef(message.channel.id, message.id)
        await self.cards.change(table.id, TableCard(table.id, SAID_FILES, ref))
