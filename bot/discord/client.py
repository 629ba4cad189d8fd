"""The Discord client: unmodified discord.py, one handler of interactions, and a supervisor around both.

Theory of operation. The library keeps no views or modals: messages are sent as finished payloads, and every
interaction goes to one handler, which reads all it needs from the custom id. So controls work after a
restart and in another process. An end of the client is logged, and a new client is started after a delay,
also where Discord has not accepted the token.

A session lives on while the database is away: where another process may have one too, that answers first
(`InteractionHandler.let_others_answer`).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import sys
from collections.abc import Collection, Iterator
from typing import Any, cast

import aiohttp
import discord
import yarl

from bot.config import DiscordSettings, Settings, SettingsError, Shards
from bot.discord.api import DISCORD_ERRORS
from bot.discord.commands import build_command_tree
from bot.discord.delivery import DiscordDelivery
from bot.discord.greeting import greet
from bot.discord.interactions.interactions import InteractionHandler
from bot.discord.invite_link import NO_APPLICATION, invite_link
from bot.discord.sessions import JOB, SessionStarts, guild_shards_of, job_names
from bot.discord.slash import localized
from bot.hub.loading import operator_log
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from storage import StoreError

log = logging.getLogger(__name__)

REGISTERED_COMMANDS_KEY = "discord.commands"
TOKEN_REFUSED = "Discord does not accept RAILPOST_DISCORD_TOKEN"
FIRST_REFUSED_DELAY, MAX_REFUSED_DELAY = 60.0, 3600.0  # seconds until a refused token is tried again
FIRST_RETRY_DELAY, MAX_RETRY_DELAY = 1.0, 60.0
MAX_RATE_LIMIT_WAIT = 30.0  # seconds; a longer rate limit is raised by the library instead of waited for


async def run(service: Service, settings: Settings, pictures: PictureWorkers | None) -> None:
    """Serve Discord until cancelled.

    Raises SettingsError where there is no token. A token that Discord does not accept is tried again, because
    the refusal may pass; the operator is told.
    """
    discord_settings = settings.discord
    if discord_settings is None:
        raise SettingsError("RAILPOST_DISCORD_TOKEN is not set.")
    override_endpoints(discord_settings)
    if link := invite_link(discord_settings.token.get_secret_value()):
        print(f"Add the bot to a Discord server: {link}", flush=True)
    else:
        operator_log.error("%s", NO_APPLICATION)
    pictures = pictures or PictureWorkers()
    detail = "another process has the session"
    await service.jobs.lead(
        JOB,
        job_names(discord_settings.shards),
        lambda: _run_sessions(service, discord_settings, pictures),
        lambda: service.report_connection("discord", "standing by", detail),
    )


async def _run_sessions(service: Service, settings: DiscordSettings, pictures: PictureWorkers) -> None:
    """Run one client after the other. Never returns."""
    delay, refused_delay = FIRST_RETRY_DELAY, FIRST_REFUSED_DELAY
    while True:
        # a session needs the store, and another process may have one
        while service.jobs.is_uncertain(JOB):  # noqa: ASYNC110
            await asyncio.sleep(FIRST_RETRY_DELAY)
        started = asyncio.get_running_loop().time()
        try:
            await _run_session(service, settings, pictures)
            log.warning("Discord: the connection has ended; connecting again")
            refused_delay = FIRST_REFUSED_DELAY
        except discord.LoginFailure:  # before any IDENTIFY, of which Discord allows few
            service.report_connection("discord", "away", TOKEN_REFUSED)
            operator_log.error("%s; trying again in %g s", TOKEN_REFUSED, refused_delay)
            await asyncio.sleep(refused_delay)
            refused_delay = min(2 * refused_delay, MAX_REFUSED_DELAY)
            continue
        except Exception as error:
            summary = _error_summary(error)
            service.report_connection("discord", "away", summary)
            log.warning("Discord: %s; trying again in %g s", summary, delay, exc_info=_needs_traceback(error))
        if asyncio.get_running_loop().time() - started > MAX_RETRY_DELAY:
            delay = FIRST_RETRY_DELAY
        await asyncio.sleep(delay)
        delay = min(2 * delay, MAX_RETRY_DELAY)


def override_endpoints(settings: DiscordSettings) -> None:
    """Point the library at the URLs of the settings, where there are any (tests use a fake Discord)."""
    if settings.api_url:
        discord.http.Route.BASE = settings.api_url.rstrip("/")
    if settings.gateway_url:
        discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway_url)


async def _run_session(service: Service, settings: DiscordSettings, pictures: PictureWorkers) -> None:
    """Run one client and its delivery worker, from login until the connection ends."""
    async with Client(service, pictures, settings.shards) as client:
        await client.login(settings.token.get_secret_value())
        await client.session_starts.within_limit(client.http)
        async with asyncio.TaskGroup() as group:
            client.delivering = group.create_task(client.delivery.run())
            await client.connect()
            client.delivering.cancel()


def _error_summary(error: BaseException) -> str:
    first = next(_leaf_exceptions(error), error)
    if isinstance(first, aiohttp.ClientConnectorError):
        number = first.errno or 0
        why = os.strerror(number) if number > 0 else first.strerror
        return f"{first.host} cannot be reached: {why}"
    return f"{type(first).__name__}: {first}"


def _needs_traceback(error: BaseException) -> bool:
    """Whether the log should have a traceback: not where Discord, the network or the store is at fault."""
    return not all(isinstance(each, (*DISCORD_ERRORS, StoreError)) for each in _leaf_exceptions(error))


def _leaf_exceptions(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaf_exceptions(each)
    else:
        yield error


class Client(discord.AutoShardedClient):
    """The client of some shards, or of all.

    Slash commands are in the command tree, components and modals in `on_interaction`. Nothing that people
    write is read.
    """

    def __init__(self, service: Service, pictures: PictureWorkers, shards: Shards | None) -> None:
        """shards: None for all, as many as Discord wants."""
        super().__init__(
            shard_ids=cast("list[int]", list(shards.ids) if shards else None),
            shard_count=shards.count if shards else None,
            intents=discord.Intents(guilds=True, guild_messages=True, dm_messages=True),
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            max_ratelimit_timeout=MAX_RATE_LIMIT_WAIT,
        )
        self.service = service
        self.session_starts = SessionStarts(service.store)
        self.delivery = DiscordDelivery(self, service, pictures, guild_shards_of(shards))
        self.handler = InteractionHandler(service, pictures, self.delivery.builder, self)
        self.delivering: asyncio.Task[None] | None = None
        self.tree = build_command_tree(self)

    async def close(self) -> None:
        """End delivery, then the connection that it uses."""
        if self.delivering is not None:
            self.delivering.cancel()
            await asyncio.wait([self.delivering])
        await super().close()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait until Discord allows another session: within a day's limit, and five seconds after the last,
        of all processes where several share the shards."""
        if self.shard_ids is None:
            await super().before_identify_hook(shard_id, initial=initial)
            await self.session_starts.within_limit(self.http)
        else:
            await self.session_starts.wait(self.http, shard_id or 0)

    async def setup_hook(self) -> None:
        """Register the slash commands if they have changed since the last registration."""
        assert self.application_id is not None
        payload = [localized(command.to_dict(self.tree)) for command in self.tree.get_commands()]
        raw = json.dumps([self.application_id, payload], sort_keys=True)
        digest = hashlib.sha256(raw.encode()).hexdigest()
        async with self.service.store.read() as unit:
            if await unit.settings.get(REGISTERED_COMMANDS_KEY) == digest:
                return
        try:
            await self.http.bulk_upsert_global_commands(self.application_id, payload)
        except discord.HTTPException as error:
            log.error("Discord: the commands could not be registered: %s", error)
            return
        async with self.service.store.begin() as unit:
            await unit.settings.set(REGISTERED_COMMANDS_KEY, digest)

    async def on_ready(self) -> None:
        """The session has begun, or goes on after an interruption."""
        self.service.report_connection("discord", "connected")

    on_resumed = on_ready

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """The bot has been added to a server, or a server is announced: the bot may have been added while it
        was not connected."""
        await greet(guild, self.service.store)

    on_guild_join = on_guild_available

    async def on_disconnect(self) -> None:
        """The connection is lost; the library connects again."""
        self.service.report_connection("discord", "away", "the connection is lost")

    async def on_error(self, event_method: str, /, *_: Any, **__: Any) -> None:
        """Log what an event has raised, such as a connection that was lost while it was answered."""
        if (error := sys.exception()) is not None:
            summary = _error_summary(error)
            is_fault = _needs_traceback(error) and not self.is_closed()
            log.warning("Discord: %s: %s", event_method, summary, exc_info=is_fault)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Handle a button, a select menu or a submitted modal."""
        if interaction.type in (discord.InteractionType.component, discord.InteractionType.modal_submit):
            await self.handler.handle(interaction)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        """A message was deleted."""
        await self._deleted(event.channel_id, [event.message_id])

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        """Many messages were deleted at once."""
        await self._deleted(event.channel_id, event.message_ids)

    async def _deleted(self, channel_id: int, message_ids: Collection[int]) -> None:
        channel = self.get_channel(channel_id)
        user = channel.recipient if isinstance(channel, discord.DMChannel) else None
        deleted = self.delivery.deleted_messages
        await deleted.messages(channel_id, message_ids, user.id if user else None)

    async def on_message(self, message: discord.Message) -> None:
        """Somebody has written a message."""
        if not message.author.bot:
            await self.delivery.deleted_messages.chat(message.channel.id, message.id)

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        """A thread was deleted."""
        await self.delivery.deleted_messages.thread(event.thread_id)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """A channel was deleted."""
        await self.delivery.deleted_messages.channel(channel.id)
