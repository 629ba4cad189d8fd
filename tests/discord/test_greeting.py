"""The one sentence in a server to which the bot has been added."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

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


async def test_a_greeting_that_is_lost_on_its_way_is_said_at_the_next_connection(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with FakeDiscord(["Ann"]) as fake:
        running = RunningBot(fake, tmp_path / "railpost.db", greeted=False)
        caplog.set_level("INFO")
        lost = fake.rest.inject_fault("POST", "messages", 0)
        async with running.online():
            await fake.wait_until(lambda: "could not be greeted" in caplog.text, "the fault")
        assert not lost.times and "Traceback" not in caplog.text and greetings(fake) == []
        async with running.online():
            await fake.wait_until(lambda: greetings(fake), "the greeting")


async def test_an_event_that_fails_is_one_line_of_the_log(
    running: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise aiohttp.ServerDisconnectedError

    monkeypatch.setattr("bot.discord.client.greet", fail)
    async with running.online():
        await fake.wait_until(lambda: "on_guild_available" in caplog.text, "the fault")
    assert "Traceback" not in caplog.text
