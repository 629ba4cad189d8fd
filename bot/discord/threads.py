"""Where a table is shown on Discord: its thread, its channel, or the direct messages of a player."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import discord

from bot.discord.api import ARCHIVE_AFTER_MINUTES, DISCORD_ERRORS, DiscordApi
from bot.discord.cards import parts
from bot.discord.cards.card_refs import LOBBY, NO_MESSAGE, CardStore
from bot.hub.info import TableInfo
from bot.service import Service
from storage import GameTable, GuildShards

log = logging.getLogger(__name__)

SEPARATOR = " · "
LOST_THREAD = "lost_thread"
"""The entry of a location where the thread of the table was deleted once, and made again."""
KEEP_ACTIVE_INTERVAL = 12 * 3600.0  # seconds


def has_own_thread(table: TableInfo | GameTable) -> bool:
    """Whether the table has a thread that is not its channel itself."""
    thread, channel = table.location.get("thread"), table.location.get("channel")
    return None not in (thread, channel) and thread != channel


def thread_name(table: TableInfo) -> str:
    """The name of a table's thread, which begins with the table's code."""
    return parts.truncate(SEPARATOR.join(dict.fromkeys((table.code, table.title, table.name))), 100)


def code_in(name: str) -> str:
    """The code with which the name of a thread begins."""
    return name.partition(SEPARATOR)[0].strip()


class TableThreads:
    """The threads of all tables."""

    def __init__(self, service: Service, api: DiscordApi) -> None:
        self.service, self.api = service, api

    async def ensure(self, table: TableInfo) -> TableInfo:
        """Create the table's thread when its game starts, with its Discord players as members."""
        if "thread" in table.location or "channel" not in table.location:
            return table
        lobby = await CardStore(self.service.store).get(table.id, LOBBY)
        await self._create(table, lobby.ref.message_id if lobby else None)
        return await self.service.queries.table_info(table.id)

    async def replace(self, table: TableInfo) -> discord.PartialMessageable:
        """Create another thread for a table whose thread was deleted."""
        return self.api.channel(await self._create(table, None, {LOST_THREAD: True}))

    async def _create(
        self, table: TableInfo, lobby_message: int | None, details: Mapping[str, Any] = MappingProxyType({})
    ) -> int:
        """Create a thread, or use the channel where there can be none. details: of the table's location."""
        channel, guild = int(table.location["channel"]), table.location.get("guild")
        thread = await self.api.create_thread(channel, thread_name(table), lobby_message, guild)
        await self.service.lobby.set_location(table.id, {"thread": thread, **details})
        for player in table.seated_players if thread != channel else ():
            if user := await self.discord_id(player.person_id):
                try:
                    await self.api.client.http.add_user_to_thread(thread, int(user))
                except DISCORD_ERRORS as error:
                    log.info("Discord: %s was not added to the thread: %s", player.name, error)
        return thread

    def places(self, table: TableInfo) -> list[discord.PartialMessageable]:
        """Where the table may be shown: its thread, then its channel; a locked thread is left out."""
        ids = [table.location.get("thread"), table.location.get("channel")]
        known = [int(each) for each in dict.fromkeys(ids) if each is not None]
        return [self.api.channel(each) for each in known if not self.is_locked(each)]

    def is_locked(self, channel_id: int) -> bool:
        """Whether it is a locked thread, in which nobody can use controls."""
        channel = self.api.client.get_channel(channel_id)
        return isinstance(channel, discord.Thread) and channel.locked

    async def dm_channel(self, user: str) -> Any:
        """The direct messages with a user."""
        return await self.api.client.create_dm(discord.Object(int(user)))

    async def discord_id(self, person_id: int | None) -> str | None:
        """The Discord account of a person, if they have one."""
        if person_id is None:
            return None
        async with self.service.store.read() as unit:
            identities = await unit.people.identities(person_id)
        return next((each.value for each in identities if each.kind == "discord"), None)

    async def keep_active(self, shards: GuildShards | None) -> None:
        """Keep the threads of running tables from being archived, because controls fail there; never returns.

        A changed archive duration counts as activity, and notifies nobody.
        """
        minutes: Literal[4320, 10080] = ARCHIVE_AFTER_MINUTES
        while True:
            await asyncio.sleep(KEEP_ACTIVE_INTERVAL)
            minutes = 4320 if minutes == ARCHIVE_AFTER_MINUTES else ARCHIVE_AFTER_MINUTES
            async with self.service.store.read() as unit:
                threads = await unit.tables.threads("running", "paused", shards=shards)
            for thread in threads:
                await self.api.unarchive(thread, auto_archive_duration=minutes)


async def card_link(service: Service, table: TableInfo, seat: int | None) -> str | None:
    """A link to the open card of that seat, or to any open card; without one, to the table's thread."""
    guild, thread = table.location.get("guild"), table.location.get("thread")
    if guild is None or thread is None:
        return None
    cards = await CardStore(service.store).of_table(table.id)
    open_cards = [card.ref for card in cards if card.asks and card.ref.message_id != NO_MESSAGE]
    ref = next((each for each in open_cards if each.seat == seat), open_cards[0] if open_cards else None)
    target = f"{ref.channel_id}/{ref.message_id}" if ref else thread
    return f"https://discord.com/channels/{guild}/{target}"
