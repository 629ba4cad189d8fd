"""Fixtures of tests of the Discord client: a fake Discord, our client beside it, a game that has begun."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from discord.state import ConnectionState

from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord
from tests.stores import StoreFactory


@pytest.fixture(autouse=True)
def _tried_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.discord.client.FIRST_RETRY_DELAY", 0.05)
    monkeypatch.setattr("bot.discord.sessions.MIN_SESSION_WAIT", 0.05)
    # The library waits so many seconds for servers that do not come before it says that it is ready.
    brief = property(lambda state: 0.05, lambda state, seconds: None)
    monkeypatch.setattr(ConnectionState, "guild_ready_timeout", brief, raising=False)


@pytest.fixture
def users() -> tuple[str, ...]:
    """The users of the server; a module of tests may have others."""
    return "Ann", "Bob", "Cid", "Dan"


@pytest.fixture
async def fake(users: tuple[str, ...]) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord(users) as server:
        yield server


@pytest.fixture
def running(fake: FakeDiscord, tmp_path: Path, places: StoreFactory) -> RunningBot:
    """Our client with a store, not connected yet."""
    with places.empty_store("sqlite", tmp_path):
        return RunningBot(fake, tmp_path / "railpost.db")


@pytest.fixture
async def online(running: RunningBot) -> AsyncIterator[RunningBot]:
    """Our client, connected."""
    async with running.online():
        yield running


@pytest.fixture
async def started(online: RunningBot) -> RunningBot:
    """A game of Ann, Bob and Cid; Ann acts first."""
    await online.start_game("Ann", "Bob", "Cid")
    return online


@pytest.fixture
async def pair(online: RunningBot) -> RunningBot:
    """A game of Ann and Bob; Ann acts first."""
    await online.start_game("Ann", "Bob")
    return online
