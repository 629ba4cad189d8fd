"""Our service and client in a process of their own, which tests kill: STORE API GATEWAY TOKEN LEASE
[SHARDS]."""

from __future__ import annotations

import asyncio
import logging
import sys

from bot.config import parse_settings
from bot.discord import client
from bot.service import Service
from storage import open_store
from tests.fake_discord.running_bot import OnePixelPictures


async def main(path: str, api: str, gateway: str, token: str, lease: str, shards: str = "") -> None:
    given = {
        "RAILPOST_DISCORD_TOKEN": token,
        "RAILPOST_DISCORD_API": api,
        "RAILPOST_DISCORD_GATEWAY": gateway,
    }
    if shards:
        given |= {"RAILPOST_SHARDS": shards, "RAILPOST_DATABASE": path}
    async with await open_store(path) as store:
        service = Service(store)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(service.run())
            tasks.create_task(
                client.run(service, parse_settings(given), OnePixelPictures(), lease=float(lease))
            )


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main(*sys.argv[1:]))
