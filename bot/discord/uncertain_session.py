"""Who answers an interaction where two processes may have a session of the same shard.

While the store cannot be asked who has the job (`storage.leadership`), a session lives on, so that players
read why nothing happens. Should only this process be cut off from the store, another takes over, and Discord
sends interactions to both. So this process waits a moment before it answers, and ends its session when it
finds that somebody has answered. Discord takes one acknowledgement of each interaction.
"""

from __future__ import annotations

import asyncio
import logging

import discord

from bot.service.service import Service

log = logging.getLogger(__name__)

JOB = "discord"
PATIENCE = 1.0  # seconds; Discord waits three for an acknowledgement


class UncertainSession:
    """Lets another process answer first while this one may not be the only one."""

    def __init__(self, service: Service, client: discord.Client) -> None:
        self._service, self._client = service, client

    async def let_others_answer(self) -> None:
        """Before an answer: wait a moment, if another process may have a session."""
        if self._service.jobs.is_uncertain(JOB):
            await asyncio.sleep(PATIENCE)

    async def end_if_others_answer(self) -> None:
        """Where somebody else had answered: end the session, if another process may have one."""
        if self._service.jobs.is_uncertain(JOB):
            log.warning("Discord: another process answers, and the database does not; this session ends")
            await self._client.close()
