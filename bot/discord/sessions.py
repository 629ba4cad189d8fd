"""Which process has which sessions with Discord, and when it may start one.

Of all processes at a store one serves a shard: Discord sends the events of a guild to its shard only, and
the delivery worker takes the messages about tables of its guilds only (`guild_shards_of`). So one
process keeps the cards of a table. Another process with the same shards stands by, and goes on where the
first ends.

Discord divides the guilds among the shards: `(guild >> 22) % count`; direct messages belong to shard 0. A
table belongs to the shard of its guild, one without a guild to shard 0. Discord limits how many sessions a
bot starts in a day, and how fast: of the shards with the same `id % max_concurrency`, one in five seconds
(the gateway's documentation, "session start limit"). All processes keep to that together, by turns in the
store.
"""

from __future__ import annotations

import logging
from asyncio import sleep
from datetime import timedelta

from discord.http import HTTPClient

from bot.config import Shards
from storage import GuildShards, Store, StoreError

log = logging.getLogger(__name__)

JOB = "discord"
"""The job of a process that has a session (`bot.hub.timers.Jobs`)."""
IDENTIFY_INTERVAL = timedelta(seconds=5)
MIN_SESSION_WAIT = 1.0  # seconds
SHORTEST_WAIT = 0.05  # seconds


def job_names(shards: Shards | None) -> list[str]:
    """The jobs of a process that serves these shards; None for all."""
    if shards is None:
        return ["discord"]
    return [f"discord-{shard}-of-{shards.count}" for shard in shards.ids]


def guild_shards_of(shards: Shards | None) -> GuildShards | None:
    """The messages that a process with these shards delivers; None for all."""
    return GuildShards(shards.first, shards.last, shards.count) if shards else None


class SessionStarts:
    """Waits until a session may be started."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def within_limit(self, http: HTTPClient) -> int:
        """Wait until a session of the day is left; how many may be started at once."""
        while True:
            _, _, limit = await http.get_bot_gateway()
            if limit["remaining"] > 0:
                return max(int(limit["max_concurrency"]), 1)
            wait = max(limit["reset_after"] / 1000, MIN_SESSION_WAIT)
            log.error("Discord: no session may be started for another %.0f s; waiting", wait)
            await sleep(wait)

    async def wait(self, http: HTTPClient, shard: int) -> None:
        """Wait until a session of the day is left, and no process has just started another."""
        turn = f"discord.identify.{shard % await self.within_limit(http)}"
        while True:
            wait = await self._seconds_until(turn)
            if not wait:
                return
            await sleep(wait)

    async def _seconds_until(self, turn: str) -> float:
        """Take the next five seconds; if somebody has them, how long to wait. Also where the store cannot
        say."""
        try:
            async with self._store.begin() as unit:
                end = await unit.settings.take_turn(turn, IDENTIFY_INTERVAL)
                return max((end - unit.now).total_seconds(), SHORTEST_WAIT) if end else 0
        except StoreError as error:
            log.warning("Discord: the turn to start a session is not known: %s", error)
            return IDENTIFY_INTERVAL.total_seconds()
