"""Names are taken out of our messages about a table, as far as Discord lets us read and edit them.

Cards, the ending and the lobby are made anew. Here are the others, at the places of the table and in direct
messages: lists of turns, news, lines of text, questions. The descriptions of pictures that are stored with
cards are renamed too.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from typing import Any

import discord

from bot.discord.api import DISCORD_ERRORS, REFUSED_STATUSES, CannotEdit, DiscordApi
from bot.discord.cards.card_refs import CardStore
from bot.discord.places import tables_at
from bot.discord.threads import TableThreads
from bot.features.privacy.replacing import Replacing
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import is_public
from bot.service import Service

log = logging.getLogger(__name__)

MESSAGES = 1000
"""The newest of a channel, among which ours are looked for."""
Lock = Callable[[], AbstractAsyncContextManager[object]]
NOBODY = Replacing((), ())  # changes no text
LINES = "custom_id", "value"
"""What holds the line of a control. Its first word is a command, whoever is called so."""


async def rename_cards(service: Service, table: TableInfo, replacing: Replacing) -> None:
    """Replace names in what is stored of the cards of a table."""
    async with service.store.begin(table=table.id) as unit:
        for card in await unit.tables.cards(table.id):
            if (renamed := replacing.value(card.message_ref)) != card.message_ref:
                await unit.tables.set_card(table.id, card.slot, renamed)


async def rename_messages(
    service: Service, threads: TableThreads, table: TableInfo, replacing: Replacing, lock: Lock
) -> None:
    """Replace names in our messages about a table. The cards that ask somebody are made anew.

    What could not be edited for the moment is raised after all others; the next attempt goes on with it.
    lock: holds the messages of the table, here for one edit at a time.
    """
    cards = CardStore(service.store)
    asking = {card.ref.message_id for card in await cards.of_table(table.id) if card.asks}
    editing = _Editing(threads.api, replacing, lock)
    for channel in threads.places(table):
        others = [each for each in await tables_at(service, channel.id) if each.id != table.id]
        kept = asking | {card.ref.message_id for each in others for card in await cards.of_table(each.id)}
        history = channel.history(limit=MESSAGES)
        await editing.rename(each async for each in history if each.id not in kept)
    direct = await _sent_directly(service, table, asking)
    await asyncio.gather(  # Discord limits the edits of each channel
        *(_rename_direct(threads, user, sent, editing) for user, sent in direct.items())
    )
    if editing.failed:
        raise editing.failed[0]


async def _rename_direct(threads: TableThreads, user: str, sent: Collection[int], editing: _Editing) -> None:
    """Replace names in the direct messages with these ids to a user."""
    with editing.noting():
        channel, before = await threads.dm_channel(user), discord.Object(min(sent) - 1)
        history = channel.history(limit=None, after=before)
        await editing.rename(each async for each in history if each.id in sent)


async def _sent_directly(service: Service, table: TableInfo, besides: Collection[int]) -> dict[str, set[int]]:
    """By user the ids of the direct messages about a table, as far as the store has them, without these."""
    found = defaultdict[str, set[int]](set)
    async with service.store.read() as unit:
        for each in await unit.outbox.sent_about(table.id, "discord"):
            if not is_public(each) and (message := int(each.external_id or 0)) not in besides:
                found[each.address["user"]].add(message)
    return found


class _Editing:
    """Replaces names in messages. failed: what may be tried again."""

    def __init__(self, api: DiscordApi, replacing: Replacing, lock: Lock) -> None:
        self._api, self._replacing, self._lock = api, replacing, lock
        self.failed: list[Exception] = []

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note what Discord does not do for the moment; what it refuses stays as it is."""
        try:
            yield
        except CannotEdit as error:
            if error.is_passing and isinstance(error.__cause__, Exception):
                self.failed.append(error.__cause__)
        except DISCORD_ERRORS as error:
            log.info("Discord: a name could not be replaced: %s", error)
            if not (isinstance(error, discord.HTTPException) and error.status in REFUSED_STATUSES):
                self.failed.append(error)

    async def rename(self, history: AsyncIterator[discord.Message]) -> None:
        """Replace names in our messages among those of a channel."""
        own_id, found = self._api.client.user.id if self._api.client.user else None, list[discord.Message]()
        with self.noting():
            found = [each async for each in history if each.author.id == own_id and self._edit_of(each)]
        for message in found:
            with self.noting():
                async with self._lock():  # it may say more by now
                    if edit := self._edit_of(await message.fetch()):
                        await edit()

    def _edit_of(self, message: discord.Message) -> Callable[[], Awaitable[object]] | None:
        """What replaces names in a message; a card with pictures is made anew, and stays here as it is."""
        parts, replacing = [part.to_dict() for part in message.components], self._replacing
        if replacing.holds(message.content):
            edit = partial(message.edit, content=replacing.text(message.content))
            return partial(self._api.unarchiving, message.channel.id, edit)
        if not message.attachments and (renamed := _renamed(parts, replacing)) != _renamed(parts, NOBODY):
            return partial(self._api.edit, self._api.message(message.channel.id, message.id), renamed)
        return None


def _renamed(part: Any, replacing: Replacing, key: str = "") -> Any:
    """Components without the names, and without the numbers that Discord gives them. key: of this part."""
    match part:
        case list():
            return [_renamed(each, replacing) for each in part]
        case dict():
            return {name: _renamed(each, replacing, name) for name, each in part.items() if name != "id"}
        case str() if key in LINES:
            word, blank, rest = part.partition(" ")
            return f"{word}{blank}{replacing.text(rest)}"
        case str():
            return replacing.text(part)
    return part
