"""The one sentence in a server to which the bot has been added."""

from __future__ import annotations

from pathlib import Path

from bot.discord.greeting import GREETING
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord


def greetings(fake: FakeDiscord) -> list[str]:
    """The channels with the greeting, one for each time."""
    return [c.name for c in fake.channels.values() for m in c.messages if m.text == GREETING]


async def test_a_server_is_greeted_once(tmp_path: Path) -> None:
    async with FakeDiscord(["Ann"], channels=("rules", "general", "trains")) as fake:
        fake.find_channel("rules").denied.add("SEND_MESSAGES")
        running = RunningBot(fake, tmp_path / "railpost.db", greeted=False)
        for _ in range(2):  # the server is announced again after a restart
            async with running.online():
                await fake.wait_until(lambda: greetings(fake), "the greeting")
        assert greetings(fake) == ["general"]
        fake.check_violations(ignoring=["Missing Permissions"])  # of rules, which the fake does not announce


async def test_a_server_where_it_may_not_write_is_greeted_when_it_may(tmp_path: Path) -> None:
    async with FakeDiscord(["Ann"]) as fake:
        running = RunningBot(fake, tmp_path / "railpost.db", greeted=False)
        fake.find_channel("general").denied.add("SEND_MESSAGES")
        async with running.online():
            pass
        assert greetings(fake) == []
        fake.find_channel("general").denied.clear()
        async with running.online():
            await fake.wait_until(lambda: greetings(fake), "the greeting")
