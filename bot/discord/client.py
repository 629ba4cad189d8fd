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

from bot.config import Discord, Settings, SettingsError
from bot.discord import controls
from bot.discord.commands import tree_of
from bot.discord.courier import LEASE, Courier
from bot.discord.front import Front, say_so, sentence_of
from bot.pictures import Pictures
from bot.service import Service

log = logging.getLogger(__name__)

REGISTERED = "discord.commands"
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
PATIENT = 30.0  # seconds that a rate limit may be slept out inside the library


async def run(
    service: Service, settings: Settings, pictures: Pictures | None, *, lease: float = LEASE
) -> None:
    """Serve Discord until cancelled. `lease`: seconds for which a message is one process's to send.

    Raises SettingsError where there is no token, or Discord refuses it.
    """
    found = settings.discord
    if found is None:
        raise SettingsError("RAILPOST_DISCORD_TOKEN is not set.")
    point_at(found)
    pictures = pictures or Pictures(settings.picture_workers)
    pause = FIRST_PAUSE
    while True:
        started = asyncio.get_running_loop().time()
        try:
            await _session(service, found.token.get_secret_value(), pictures, lease)
            log.warning("Discord: the connection has ended; it is made anew")
        except discord.LoginFailure as refused:
            raise SettingsError("RAILPOST_DISCORD_TOKEN is not accepted by Discord.") from refused
        except Exception as wrong:
            log.warning("Discord: %s; it is tried again in %g s", _told(wrong), pause, exc_info=_odd(wrong))
        if asyncio.get_running_loop().time() - started > LONGEST_PAUSE:
            pause = FIRST_PAUSE
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def point_at(settings: Discord) -> None:
    """Let the library speak to the addresses of the settings, where they give some."""
    if settings.api:
        discord.http.Route.BASE = settings.api.rstrip("/")
    if settings.gateway:
        discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway)


async def _session(service: Service, token: str, pictures: Pictures, lease: float) -> None:
    """One client, from its login until its connection ends."""
    async with Client(service, pictures) as client:
        await client.login(token)
        async with asyncio.TaskGroup() as group:
            courier = group.create_task(Courier(client, service, pictures, lease=lease).run())
            await client.connect()
            courier.cancel()


def _told(wrong: BaseException) -> str:
    inner = next(_leaves(wrong), wrong)
    return f"{type(inner).__name__}: {inner}"


def _odd(wrong: BaseException) -> bool:
    """Whether a traceback is of use in the log."""
    return not all(isinstance(each, discord.DiscordException | OSError) for each in _leaves(wrong))


def _leaves(wrong: BaseException) -> Iterator[BaseException]:
    if isinstance(wrong, BaseExceptionGroup):
        for each in wrong.exceptions:
            yield from _leaves(each)
    else:
        yield wrong


class Client(discord.Client):
    """The client: commands in a tree, everything else through `on_interaction`."""

    def __init__(self, service: Service, pictures: Pictures) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            max_ratelimit_timeout=PATIENT,
        )
        self.service = service
        self.front = Front(service, pictures)
        self.tree = tree_of(self, self.front)

    async def setup_hook(self) -> None:
        """Register the commands where they differ from those that were registered last."""
        payload = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        raw = json.dumps([self.application_id, payload], sort_keys=True)
        mark = hashlib.sha256(raw.encode()).hexdigest()
        async with self.service.store.read() as unit:
            if await unit.installation.get(REGISTERED) == mark:
                return
        try:
            await self.tree.sync()
        except discord.HTTPException as wrong:
            log.error("Discord: the commands could not be registered: %s", wrong)
            return
        async with self.service.store.begin() as unit:
            await unit.installation.put(REGISTERED, mark)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Every press, choice and form."""
        kinds = (discord.InteractionType.component, discord.InteractionType.modal_submit)
        if interaction.type not in kinds:
            return
        data: dict[str, Any] = dict(interaction.data or {})
        try:
            key = controls.read(_chosen(data))
            if key is None:
                await say_so(
                    interaction, "This control is of another version of Railpost; use `/do` instead."
                )
            else:
                await self.front.press(interaction, key, _fields(data.get("components", [])))
        except Exception as wrong:
            await self._failed(interaction, wrong)

    async def _failed(self, interaction: discord.Interaction, wrong: Exception) -> None:
        """Tell it to who acted; what is not his to know goes to the log."""
        if not isinstance(wrong, ValueError):
            self.front.wrong(wrong)
        try:
            await say_so(interaction, sentence_of(wrong))
        except discord.DiscordException as unsaid:
            log.warning("Discord: an answer could not be given: %s", unsaid)


def _chosen(data: dict[str, Any]) -> str:
    """The custom id of a control; what is chosen from a select stands in for its own act and argument."""
    custom_id = str(data.get("custom_id", ""))
    key = controls.read(custom_id)
    if key is None or key.act != controls.PICK or not data.get("values"):
        return custom_id
    act, _, arg = str(data["values"][0]).partition(":")
    return str(key._replace(act=act, arg=arg))


def _fields(components: list[dict[str, Any]]) -> dict[str, str]:
    """What was filled in, by the custom ids of the fields."""
    found: dict[str, str] = {}
    for part in components:
        inner = [part["component"]] if "component" in part else part.get("components", [])
        found |= {each["custom_id"]: str(each.get("value") or "") for each in inner if "custom_id" in each}
    return found
