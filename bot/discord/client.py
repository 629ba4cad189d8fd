"""The Discord client: the unmodified discord.py, one router, and a supervisor around both.

Theory. The library remembers nothing of what is sent: views and forms are payloads that are finished
before they go out, and every press and every form comes back to one router, which reads all it needs
from the custom id. So a restart, or another process, changes nothing for who presses. Whatever ends
the client, other than a token that is refused, is logged, and a new one is started a little later.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Iterator
from typing import Any

import discord
import yarl

from bot.config import DiscordSettings, Settings, SettingsError
from bot.discord import controls
from bot.discord.commands import build_command_tree
from bot.discord.delivery import LEASE, DiscordDelivery
from bot.discord.interactions import InteractionHandler, error_text, reply_text
from bot.service.picture_workers import PictureWorkers
from bot.service.service import Service

log = logging.getLogger(__name__)

REGISTERED_COMMANDS_KEY = "discord.commands"
FIRST_RETRY_DELAY, MAX_RETRY_DELAY = 1.0, 60.0
MAX_RATE_LIMIT_WAIT = 30.0  # seconds that a rate limit may be slept out inside the library


async def run(
    service: Service, settings: Settings, pictures: PictureWorkers | None, *, lease: float = LEASE
) -> None:
    """Serve Discord until cancelled. `lease`: seconds for which a message is one process's to send.

    Raises SettingsError where there is no token, or Discord refuses it.
    """
    found = settings.discord
    if found is None:
        raise SettingsError("RAILPOST_DISCORD_TOKEN is not set.")
    override_endpoints(found)
    pictures = pictures or PictureWorkers(settings.picture_workers)
    pause = FIRST_RETRY_DELAY
    while True:
        started = asyncio.get_running_loop().time()
        try:
            await _run_session(service, found.token.get_secret_value(), pictures, lease)
            log.warning("Discord: the connection has ended; it is made anew")
        except discord.LoginFailure as refused:
            raise SettingsError("RAILPOST_DISCORD_TOKEN is not accepted by Discord.") from refused
        except Exception as wrong:
            log.warning(
                "Discord: %s; it is tried again in %g s",
                _error_summary(wrong),
                pause,
                exc_info=_needs_traceback(wrong),
            )
        if asyncio.get_running_loop().time() - started > MAX_RETRY_DELAY:
            pause = FIRST_RETRY_DELAY
        await asyncio.sleep(pause)
        pause = min(2 * pause, MAX_RETRY_DELAY)


def override_endpoints(settings: DiscordSettings) -> None:
    """Let the library speak to the addresses of the settings, where they give some."""
    if settings.api_url:
        discord.http.Route.BASE = settings.api_url.rstrip("/")
    if settings.gateway_url:
        discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway_url)


async def _run_session(service: Service, token: str, pictures: PictureWorkers, lease: float) -> None:
    """One client, from its login until its connection ends."""
    async with Client(service, pictures) as client:
        await client.login(token)
        async with asyncio.TaskGroup() as group:
            courier = group.create_task(DiscordDelivery(client, service, pictures, lease=lease).run())
            await client.connect()
            courier.cancel()


def _error_summary(wrong: BaseException) -> str:
    inner = next(_leaf_exceptions(wrong), wrong)
    return f"{type(inner).__name__}: {inner}"


def _needs_traceback(wrong: BaseException) -> bool:
    """Whether a traceback is of use in the log."""
    return not all(isinstance(each, discord.DiscordException | OSError) for each in _leaf_exceptions(wrong))


def _leaf_exceptions(wrong: BaseException) -> Iterator[BaseException]:
    if isinstance(wrong, BaseExceptionGroup):
        for each in wrong.exceptions:
            yield from _leaf_exceptions(each)
    else:
        yield wrong


class Client(discord.Client):
    """The client: commands in a tree, everything else through `on_interaction`."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            max_ratelimit_timeout=MAX_RATE_LIMIT_WAIT,
        )
        self.service = service
        self.handler = InteractionHandler(service, pictures)
        self.tree = build_command_tree(self, self.handler)

    async def setup_hook(self) -> None:
        """Register the commands where they differ from those that were registered last."""
        payload = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        raw = json.dumps([self.application_id, payload], sort_keys=True)
        mark = hashlib.sha256(raw.encode()).hexdigest()
        async with self.service.store.read() as unit:
            if await unit.settings.get(REGISTERED_COMMANDS_KEY) == mark:
                return
        try:
            await self.tree.sync()
        except discord.HTTPException as wrong:
            log.error("Discord: the commands could not be registered: %s", wrong)
            return
        async with self.service.store.begin() as unit:
            await unit.settings.set(REGISTERED_COMMANDS_KEY, mark)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Every press, choice and form."""
        kinds = (discord.InteractionType.component, discord.InteractionType.modal_submit)
        if interaction.type not in kinds:
            return
        data: dict[str, Any] = dict(interaction.data or {})
        try:
            key = controls.parse_custom_id(_effective_custom_id(data))
            if key is None:
                await reply_text(
                    interaction, "This control is of another version of Railpost; use `/do` instead."
                )
            else:
                await self.handler.handle_control(
                    interaction, key, _submitted_values(data.get("components", []))
                )
        except Exception as wrong:
            await self._report_failure(interaction, wrong)

    async def _report_failure(self, interaction: discord.Interaction, wrong: Exception) -> None:
        """Tell it to who acted; what is not his to know goes to the log."""
        if not isinstance(wrong, ValueError):
            self.handler.log_error(wrong)
        try:
            await reply_text(interaction, error_text(wrong))
        except discord.DiscordException as unsaid:
            log.warning("Discord: an answer could not be given: %s", unsaid)


def _effective_custom_id(data: dict[str, Any]) -> str:
    """The custom id of a control; what is chosen from a select stands in for its own act and argument."""
    custom_id = str(data.get("custom_id", ""))
    key = controls.parse_custom_id(custom_id)
    if key is None or key.action != controls.SELECT or not data.get("values"):
        return custom_id
    act, _, arg = str(data["values"][0]).partition(":")
    return str(key._replace(action=act, argument=arg))


def _submitted_values(components: list[dict[str, Any]]) -> dict[str, str]:
    """What was filled in, by the custom ids of the fields."""
    found: dict[str, str] = {}
    for part in components:
        inner = [part["component"]] if "component" in part else part.get("components", [])
        found |= {each["custom_id"]: str(each.get("value") or "") for each in inner if "custom_id" in each}
    return found
