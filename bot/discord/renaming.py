"""Names are taken out of our messages about a table, as far as Discord lets us read and edit them.

Cards, the ending and the lobby are made anew. Here are the others, at the places of the table and in direct
messages: lists of turns, news, lines of text, questions. The descriptions of pictures that are stored with
cards are renamed too.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from typing import Any

import discord

from bot.discord.api import CannotEdit, DiscordApi
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
NOBODY = Replacing((), ())  # changes no text
LINES = "custom_id", "value"
"""What holds the line of a control. Its first word is a command, whoever is called so."""


async def rename(service: Service, threads: TableThreads, table: TableInfo, replacing: Replacing) -> None:
    """Replace names in what is stored of the cards of a table, and in our messages about it. The cards that
    ask somebody are made anew."""
    async with service.store.begin(table=table.id) as unit:
        for card in await unit.tables.cards(table.id):
            if (renamed := replacing.value(card.message_ref)) != card.message_ref:
                await unit.tables.set_card(table.id, card.slot, renamed)
    cards = CardStore(service.store)
    asking = {card.ref.message_id for card in await cards.of_table(table.id) if card.asks}
    for channel in threads.places(table):
        others = [each for each in await tables_at(service, channel.id) if each.id != table.id]
        kept = asking | {card.ref.message_id for each in others for card in await cards.of_table(each.id)}
        history = (each async for each in channel.history(limit=MESSAGES) if each.id not in kept)
        await _rename_messages(threads.api, history, replacing)
    direct = await _sent_directly(service, table, asking)
    await asyncio.gather(  # Discord limits the edits of each channel
        *(_rename_direct(threads, user, sent, replacing) for user, sent in direct.items())
    )


async def _rename_direct(
    threads: TableThreads, user: str, sent: Collection[int], replacing: Replacing
) -> None:
    """Replace names in the direct messages with these ids to a user."""
    with suppress(discord.HTTPException):
        channel, before = await threads.dm_channel(user), discord.Object(min(sent) - 1)
        history = channel.history(limit=None, after=before)
        await _rename_messages(threads.api, (each async for each in history if each.id in sent), replacing)


async def _sent_directly(service: Service, table: TableInfo, besides: Collection[int]) -> dict[str, set[int]]:
    """By user the ids of the direct messages about a table, as far as the store has them, without these."""
    found = defaultdict[str, set[int]](set)
    async with service.store.read() as unit:
        for each in await unit.outbox.sent_about(table.id, "discord"):
            if not is_public(each) and (message := int(each.external_id or 0)) not in besides:
                found[each.address["user"]].add(message)
    return found


async def _rename_messages(
    api: DiscordApi, history: AsyncIterator[discord.Message], replacing: Replacing
) -> None:
    """Replace names in our messages among those of a channel."""
    own_id = api.client.user.id if api.client.user else None
    try:
        found = [each async for each in history if each.author.id == own_id]
    except discord.HTTPException as error:
        log.info("Discord: the history of a channel could not be read: %s", error)
        return
    for message in found:
        with suppress(CannotEdit, discord.HTTPException):
            await _rename(api, message, replacing)


async def _rename(api: DiscordApi, message: discord.Message, replacing: Replacing) -> None:
    """Replace names in a message; a card with pictures is made anew, and stays here as it is."""
    parts = [part.to_dict() for part in message.components]
    if replacing.holds(message.content):
        await message.edit(content=replacing.text(message.content))
    elif not message.attachments and (renamed := _renamed(parts, replacing)) != _renamed(parts, NOBODY):
        await api.edit(api.message(message.channel.id, message.id), renamed)


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
