"""Names are taken out of our messages about a table, as far as Discord lets us read and edit them.

Cards, the ending and the lobby are made anew. Here are the others, at the places of the table and in direct
messages: lists of turns, news, lines of text, questions. The descriptions of pictures that are stored with
cards are renamed too.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
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
"""Of a channel, among which ours are looked for."""
NOBODY = Replacing((), ())  # changes no text
LINES = "custom_id", "value"
"""What holds the line of a control. Its first word is a command, whoever is called so."""


async def rename(service: Service, threads: TableThreads, table: TableInfo, replacing: Replacing) -> None:
    """Replace names in what is stored of the cards of a table, and in our messages about it."""
    async with service.store.begin(table=table.id) as unit:
        for card in await unit.tables.cards(table.id):
            if (renamed := replacing.value(card.message_ref)) != card.message_ref:
                await unit.tables.set_card(table.id, card.slot, renamed)
    cards = CardStore(service.store)
    for channel in threads.places(table):
        others = [each for each in await tables_at(service, channel.id) if each.id != table.id]
        kept = {card.ref.message_id for each in others for card in await cards.of_table(each.id)}
        await _rename_messages(threads.api, channel, replacing, partial(_is_other, kept))
    for user, sent in (await _sent_directly(service, table)).items():
        with suppress(discord.HTTPException):
            direct = await threads.dm_channel(user)
            first = discord.Object(min(sent) - 1)
            await _rename_messages(threads.api, direct, replacing, sent.__contains__, first)


def _is_other(kept: Collection[int], message: int) -> bool:
    return message not in kept


async def _sent_directly(service: Service, table: TableInfo) -> dict[str, set[int]]:
    """By user the ids of the direct messages about a table, as far as the store has them."""
    found = defaultdict[str, set[int]](set)
    async with service.store.read() as unit:
        for each in await unit.outbox.sent_about(table.id, "discord"):
            if each.external_id and not is_public(each):
                found[each.address["user"]].add(int(each.external_id))
    return found


async def _rename_messages(
    api: DiscordApi,
    channel: Any,
    replacing: Replacing,
    is_wanted: Callable[[int], bool],
    after: discord.Object | None = None,
) -> None:
    """Replace names in our messages of a channel. is_wanted: by the id of a message; others may edit the rest
    meanwhile. after: no earlier message is wanted."""
    own_id = api.client.user.id if api.client.user else None
    try:
        history = channel.history(limit=MESSAGES, after=after)
        found = [each async for each in history if each.author.id == own_id and is_wanted(each.id)]
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
