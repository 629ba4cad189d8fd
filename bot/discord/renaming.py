"""Names are taken out of our messages in a channel, as far as Discord lets us read and edit them.

Cards, the ending and the lobby are made anew. Here are the others: lists of turns, news, lines of text. The
descriptions of pictures that are stored with cards are renamed too.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import discord

from bot.discord.api import CannotEdit, DiscordApi
from bot.discord.cards.card_refs import CardStore
from bot.discord.places import tables_at
from bot.discord.threads import TableThreads
from bot.features.privacy.replacing import Replacing
from bot.hub.info import TableInfo
from bot.service import Service

log = logging.getLogger(__name__)

MESSAGES = 1000
"""The newest of a channel, among which ours are looked for."""
TEXT = 10
"""The type of a component that is text."""


async def rename(service: Service, threads: TableThreads, table: TableInfo, replacing: Replacing) -> None:
    """Replace names in what is stored of the cards of a table, and in our messages at its places."""
    async with service.store.begin(table=table.id) as unit:
        for card in await unit.tables.cards(table.id):
            if replacing.holds(str(card.message_ref)):
                await unit.tables.set_card(table.id, card.slot, replacing.value(card.message_ref))
    cards = CardStore(service.store)
    for channel in threads.places(table):
        others = [each for each in await tables_at(service, channel.id) if each.id != table.id]
        kept = {card.ref.message_id for each in others for card in await cards.of_table(each.id)}
        await _rename_messages(threads.api, channel, replacing, kept)


async def _rename_messages(
    api: DiscordApi, channel: Any, replacing: Replacing, besides: Collection[int]
) -> None:
    """Replace names in our messages of a channel that are nothing but text. besides: ids of messages that
    others may edit meanwhile."""
    own_id = api.client.user.id if api.client.user else None
    try:
        history = channel.history(limit=MESSAGES)
        found = [each async for each in history if each.author.id == own_id and each.id not in besides]
    except discord.HTTPException as error:
        log.info("Discord: the history of a channel could not be read: %s", error)
        return
    for message in found:
        with suppress(CannotEdit, discord.HTTPException):
            await _rename(api, message, replacing)


async def _rename(api: DiscordApi, message: discord.Message, replacing: Replacing) -> None:
    parts: list[Any] = [part.to_dict() for part in message.components]
    if replacing.holds(message.content):
        await message.edit(content=replacing.text(message.content))
    elif all(part["type"] == TEXT for part in parts) and any(
        replacing.holds(each["content"]) for each in parts
    ):
        payload = [{"type": TEXT, "content": replacing.text(part["content"])} for part in parts]
        await api.edit(api.message(message.channel.id, message.id), payload)
