"""A game is read by its address only when somebody asks, seldom, and never from a private network."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import ClientTimeout, web
from aiohttp.test_utils import TestServer

from bot.features.watch import address
from bot.features.watch.address import GameAddresses
from storage import Store, open_store


class Site:
    """A site with a game. It counts its requests, and answers as `answer` says."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self.is_silent = False
        self.was_asked = asyncio.Event()
        self.answer: Callable[[web.Request], web.StreamResponse] = lambda _: web.Response(
            body=b'{"id":7}', headers={"ETag": '"one"'}
        )
        self.now = datetime(2026, 5, 1, tzinfo=UTC)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.was_asked.set()
        if self.is_silent:
            await asyncio.Event().wait()
        return self.answer(request)


@pytest.fixture
async def site() -> AsyncIterator[tuple[Site, str]]:
    site, app = Site(), web.Application()
    app.router.add_get("/{path:.*}", site.handle)
    async with TestServer(app) as server:
        yield site, str(server.make_url("/")).rstrip("/")


@pytest.fixture
async def store(site: tuple[Site, str], tmp_path: Path) -> AsyncIterator[Store]:
    async with await open_store(tmp_path / "railpost.db", now=lambda: site[0].now) as store:
        yield store


async def test_a_game_is_read_once_in_ten_minutes_and_only_if_it_has_changed(
    site: tuple[Site, str], store: Store
) -> None:
    asked, origin = site
    addresses = GameAddresses(store, [origin])
    assert (await addresses.read(f"{origin}/game/7")).file == b'{"id":7}'
    (first,) = asked.requests
    assert first.path == "/api/game/7" and first.headers["User-Agent"].startswith("Railpost/")
    assert "If-None-Match" not in first.headers and "Cookie" not in first.headers
    asked.now += timedelta(minutes=9)
    again = await GameAddresses(store, [origin]).read(f"{origin}/game/7?action=3#x")
    assert again.file == b'{"id":7}' and again.at == asked.now - timedelta(minutes=9)
    assert len(asked.requests) == 1, "a restart does not ask sooner"
    asked.now += timedelta(minutes=2)
    asked.answer = lambda _: web.Response(status=304)
    assert (await addresses.read(f"{origin}/game/7")).file == b'{"id":7}'
    assert asked.requests[1].headers["If-None-Match"] == '"one"'
    await addresses.read(f"{origin}/game/7")
    assert len(asked.requests) == 2, "an unchanged game waits ten minutes too"


async def test_only_games_of_the_sites_that_the_host_has_named(site: tuple[Site, str], store: Store) -> None:
    asked, origin = site
    with pytest.raises(ValueError, match="The host of this service has not allowed"):
        await GameAddresses(store).read(f"{origin}/game/7")
    addresses = GameAddresses(store, ["18xx.games"])
    assert addresses.check("https://18xx.games/game/29133") == "https://18xx.games/api/game/29133"
    for wrong in (
        f"{origin}/game/7", "http://18xx.games/game/7", "https://x.18xx.games/game/7", "file:///etc/passwd",
        "https://u@18xx.games/game/7", "https://18xx.games/profile/7", "https://18xx.games/game/7/../8",
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"Games are read from|The address of a game is"):
            await addresses.read(wrong)
    assert asked.requests == []


async def test_what_a_site_may_not_do(
    site: tuple[Site, str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, origin = site
    addresses = GameAddresses(store, [origin])

    async def refused(answer: Callable[[web.Request], web.StreamResponse]) -> str:
        asked.answer = answer
        asked.now += timedelta(minutes=11)
        with pytest.raises(ValueError) as error:
            await addresses.read(f"{origin}/game/7")
        return str(error.value)

    assert "127.0.0.1 sends more than 5 MB" in await refused(lambda _: web.Response(body=b"x" * 5_000_001))
    assert "has no public game" in await refused(lambda _: web.Response(status=404))
    assert "answers 500" in await refused(lambda _: web.Response(status=500))
    for target in ("http://localhost:9/", "http://10.0.0.1/api/game/7", "https://example.org/"):
        away = await refused(lambda _, to=target: web.Response(status=302, headers={"Location": to}))  # type: ignore[misc]
        assert "sends us elsewhere" in away
    loop = await refused(lambda _: web.Response(status=302, headers={"Location": "/api/game/8"}))
    assert "from one address to the next" in loop
    asked.is_silent = True
    monkeypatch.setattr(address, "TIMEOUT", ClientTimeout(total=0.05))
    assert "does not answer in 0 seconds" in await refused(lambda _: web.Response())


async def test_a_site_that_was_asked_in_vain_is_left_alone_too(site: tuple[Site, str], store: Store) -> None:
    asked, origin = site
    addresses, game, game_sent = GameAddresses(store, [origin]), f"{origin}/game/7", asked.answer
    asked.answer = lambda _: web.Response(status=500)
    with pytest.raises(ValueError, match="answers 500"):
        await addresses.read(game)
    asked.now += timedelta(minutes=3, seconds=1)
    with pytest.raises(ValueError, match="was asked for this game a moment ago; ask again in 7 minutes"):
        await GameAddresses(store, [origin]).read(game)
    assert len(asked.requests) == 1
    asked.now, asked.answer = asked.now + timedelta(minutes=7), game_sent
    read = await addresses.read(game)
    asked.now += timedelta(minutes=11)
    asked.answer = lambda _: web.Response(status=500)
    with pytest.raises(ValueError, match="answers 500"):
        await addresses.read(game)
    known = await addresses.read(game)
    assert (known.file, known.at) == (read.file, read.at) and len(asked.requests) == 3


async def test_two_who_ask_at_once_ask_the_site_once(site: tuple[Site, str], store: Store) -> None:
    asked, origin = site
    asked.is_silent = True
    first = asyncio.create_task(GameAddresses(store, [origin]).read(f"{origin}/game/7"))
    await asked.was_asked.wait()
    with pytest.raises(ValueError, match="a moment ago; ask again in 10 minutes"):
        await GameAddresses(store, [origin]).read(f"{origin}/game/7")
    assert len(asked.requests) == 1
    first.cancel()


async def test_a_name_that_leads_into_a_private_network_is_not_read(
    site: tuple[Site, str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, origin = site
    port = int(origin.rpartition(":")[2])

    async def private(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", private)
    addresses = GameAddresses(store, [f"http://games.example.org:{port}"])
    with pytest.raises(ValueError, match=r"games.example.org leads into a private network"):
        await addresses.read(f"http://games.example.org:{port}/game/7")
    assert asked.requests == []
