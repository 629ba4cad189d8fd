"""A game of another site, read by its public address when a person asks for it, and never by a timer.

The host names the sites; without that none is read. A site is asked for a game at most once in ten minutes,
and only whether it has changed. Its answer is limited in time and size, and neither an address nor a
redirect leads into a private network: only a site that the host has named by its number may lie there.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import re
import socket
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult

from storage import Store, UnitOfWork

KEPT = "snapshots.address"
"""The setting of the store with what was read last."""
MOST_KEPT = 50  # games; the oldest are forgotten
PAUSE = timedelta(minutes=10)
TIMEOUT = aiohttp.ClientTimeout(total=10)
MAX_BYTES = 5_000_000
MAX_REDIRECTS = 3
GAME = re.compile(r"/game/(\d{1,12})/?")
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class ReadGame(msgspec.Struct, frozen=True):
    """A game as a site has sent it. etag, modified: by which the site knows it; packed: the file, empty as
    long as it has sent none. asked: when it was asked last, also in vain."""

    address: str
    at: datetime
    etag: str = ""
    modified: str = ""
    packed: str = ""
    asked: datetime | None = None

    def waits(self, now: datetime) -> timedelta:
        """How long the site is not to be asked again; not above zero where it may be."""
        return (self.asked or self.at) + PAUSE - now

    @property
    def file(self) -> bytes:
        """The file of the game."""
        return zlib.decompress(base64.b64decode(self.packed))


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class GameAddresses:
    """Reads games of the sites that the host has named.

    sites: `18xx.games`, which is read by https, or an origin such as `http://127.0.0.1:9292`.
    """

    def __init__(self, store: Store, sites: Iterable[str] = ()) -> None:
        self._store = store
        self._origins = tuple(site if "://" in site else f"https://{site}" for site in sites)

    def check(self, url: str) -> str:
        """The address at which a site hands out the game of a page. Raises ValueError."""
        if not self._origins:
            raise ValueError("The host of this service has not allowed that games are read by their address.")
        parts = urlsplit(url.strip())
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._origins:
            raise ValueError(f"Games are read from {', '.join(self._origins)}, and not from {origin}.")
        if not (found := GAME.fullmatch(parts.path)):
            raise ValueError(f"The address of a game is {origin}/game/ and its number.")
        return f"{origin}/api/game/{found[1]}"

    async def read(self, url: str) -> ReadGame:
        """The game of a page: as it is now, or as it was read last where its site was asked in the last ten
        minutes. Raises ValueError."""
        address, now = self.check(url), self._store.now()
        async with self._store.begin() as unit:
            kept = {each.address: each for each in await _games(unit)}
            known = kept.get(address, ReadGame(address, now))
            if address in kept and (wait := known.waits(now)) > timedelta():
                if known.packed:
                    return known
                minutes = -(-wait // timedelta(minutes=1))
                host = urlsplit(address).hostname
                raise ValueError(
                    f"{host} was asked for this game a moment ago; ask again in {minutes} minutes."
                )
            # Nobody else asks meanwhile, nor soon if this is in vain.
            await _keep(unit, msgspec.structs.replace(known, asked=now))
        answer = await self._ask(address, known)
        if answer.status == 304 and known.packed:
            game = msgspec.structs.replace(known, at=now, asked=now)
        else:
            packed = base64.b64encode(zlib.compress(answer.body)).decode()
            headers = answer.headers
            game = ReadGame(
                address, now, headers.get("ETag", ""), headers.get("Last-Modified", ""), packed, now
            )
        async with self._store.begin() as unit:
            await _keep(unit, game)
        return game

    async def forget(self, unit: UnitOfWork, names_them: Callable[[str], bool]) -> None:
        """Delete the games whose files name a person."""
        games = await _games(unit)
        left = [e for e in games if not e.packed or not names_them(e.file.decode("utf-8", "replace"))]
        if len(left) < len(games):
            await _set_games(unit, left)

    async def _ask(self, address: str, known: ReadGame) -> _Answer:
        """What a site answers, after redirects within the sites. Raises ValueError."""
        headers = {"User-Agent": f"Railpost/{version('railpost')}", "Accept": "application/json"}
        headers |= {"If-None-Match": known.etag} if known.etag else {}
        headers |= {"If-Modified-Since": known.modified} if known.modified else {}
        host = urlsplit(address).hostname
        connector = aiohttp.TCPConnector(resolver=_PublicResolver(), use_dns_cache=False)
        try:
            async with asyncio.timeout(TIMEOUT.total), aiohttp.ClientSession(
                timeout=TIMEOUT, connector=connector, cookie_jar=aiohttp.DummyCookieJar()
            ) as session:  # fmt: skip
                for _ in range(MAX_REDIRECTS + 1):
                    answer = await _get(session, address, headers)
                    if answer.status not in REDIRECTS:
                        return _checked(answer, host)
                    address = self._redirected(address, answer.headers.get("Location", ""))
        except TimeoutError:
            raise ValueError(f"{host} does not answer in {TIMEOUT.total:.0f} seconds.") from None
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error.__cause__, _PrivateAddress):
                raise ValueError(f"{host} leads into a private network, which is not read.") from None
            raise ValueError(f"{host} cannot be reached.") from None
        raise ValueError(f"{host} sends us from one address to the next.")

    def _redirected(self, address: str, location: str) -> str:
        """Where a redirect leads, if it is one of the sites. Raises ValueError."""
        parts = urlsplit(target := urljoin(address, location))
        if f"{parts.scheme}://{parts.netloc}" not in self._origins:
            raise ValueError(f"{urlsplit(address).hostname} sends us elsewhere, where no games are read.")
        return target


class _PrivateAddress(OSError):
    """A name that stands for an address of a private network."""


class _PublicResolver(AbstractResolver):
    """Finds only addresses of the internet; a host that is given as a number needs no finding."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        if any(not ipaddress.ip_address(where[0]).is_global for *_, where in found):
            raise _PrivateAddress(host)
        return [
            ResolveResult(hostname=host, host=str(where[0]), port=port, family=kind, proto=proto, flags=0)
            for kind, _, proto, _, where in found
        ]

    async def close(self) -> None:
        pass


async def _games(unit: UnitOfWork) -> list[ReadGame]:
    """The games that are kept, the newest first."""
    return msgspec.json.decode(await unit.settings.get(KEPT) or "[]", type=list[ReadGame])


async def _keep(unit: UnitOfWork, game: ReadGame) -> None:
    others = [each for each in await _games(unit) if each.address != game.address]
    await _set_games(unit, [game, *others[: MOST_KEPT - 1]])


async def _set_games(unit: UnitOfWork, games: Sequence[ReadGame]) -> None:
    await unit.settings.set(KEPT, msgspec.json.encode(games).decode())


async def _get(session: aiohttp.ClientSession, address: str, headers: Mapping[str, str]) -> _Answer:
    """One request, whose body is read as far as a game can go. Raises ValueError for more."""
    async with session.get(address, headers=headers, allow_redirects=False) as answer:
        body = bytearray()
        async for chunk in answer.content.iter_any():
            body += chunk
            if len(body) > MAX_BYTES:
                host = urlsplit(address).hostname
                raise ValueError(f"{host} sends more than {MAX_BYTES // 1_000_000} MB; that is no game.")
        return _Answer(answer.status, answer.headers, bytes(body))


def _checked(answer: _Answer, host: str | None) -> _Answer:
    """An answer with a game. Raises ValueError."""
    if answer.status in (200, 304):
        return answer
    if answer.status in (401, 403, 404):
        raise ValueError(f"{host} has no public game at this address.")
    raise ValueError(f"{host} answers {answer.status}; try again later.")
