"""Snapshots that people ask the service for: read from a file, drawn by its workers, known again by place.

The game of a post is kept beside it, so that its buttons can answer later.
"""

from __future__ import annotations

import asyncio
import base64
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bot.features.watch.address import GameAddresses
from bot.features.watch.answers import ReviewGame, SnapshotAnswer, answer, controls_of
from bot.features.watch.posted import Posted, Posts, changes
from bot.features.watch.snapshot import (
    Snapshot,
    description,
    drawings,
    game_id,
    snapshot_of,
)
from bot.hub.info import IncomingGame
from bot.hub.people import Limits
from bot.pictures.views import NamedPicture, draw_all
from bot.pictures.workers import Pictures
from bot.position.controls import Show
from bot.position.pending import engine_seat
from engine.game_text.history import GameHistory, HistoryLine
from storage import Store, UnitOfWork

POSTS = "snapshots"
"""The setting of the store that holds the posts."""

GONE = "This snapshot is too old: its game is not kept any more. Give its file again."


class WatchedGame(NamedTuple):
    """A game that somebody wants to be shown.

    file: as it was given. since: the moves of the last snapshot at that place, None for the first and where
    moves were taken back; message: its post. text: what is told. url: of the page that it was read from,
    empty for a file."""

    file: bytes
    snapshot: Snapshot
    since: int | None
    message: str
    text: str
    url: str = ""

    @property
    def controls(self) -> Sequence[Show]:
        """What can be shown of it."""
        return controls_of(self.snapshot, is_read=bool(self.url))


class KeptGame(NamedTuple):
    """The game of a post. since: the moves of the snapshot before, None where it was the first. url: of the
    page that it was read from, empty for a file."""

    snapshot: Snapshot
    since: int | None
    url: str = ""


class StoredGame(NamedTuple):
    """The game of a post as its setting of the store has it. since, url: as in KeptGame. packed: its file."""

    since: int | None
    packed: str
    url: str = ""

    @classmethod
    def decode(cls, stored: str) -> StoredGame:
        """What `encode` gave; one from before games were read by address has no url."""
        since, packed, *url = stored.split(" ", 2)
        return cls(int(since) if since else None, packed, *url)

    def encode(self) -> str:
        """The parts with a space between them; only the last can have one."""
        return f"{'' if self.since is None else self.since} {self.packed} {self.url}"

    @property
    def file(self) -> bytes:
        """The file as it was given."""
        return zlib.decompress(base64.b64decode(self.packed))


class Watcher:
    """Makes snapshots of games that are given as files, or by their address."""

    def __init__(
        self,
        store: Store,
        limits: Limits,
        read_game: Callable[[bytes], IncomingGame],
        addresses: GameAddresses,
        review: ReviewGame,
    ) -> None:
        """read_game: plays a file; raises ValueError."""
        self._store, self._limits, self._read_game, self._addresses = store, limits, read_game, addresses
        self._review = review

    async def look_at(self, url: str, place: str, person_id: int | None) -> WatchedGame:
        """Read the game of a page for a place. Raises ValueError, LimitReached."""
        self._addresses.check(url)
        await self._limits.count_query(self._store, person_id, "snapshots")
        read = await self._addresses.read(url)
        watched = await self.look(read.file, place, None)
        text = f"{watched.text}\n-# {url.strip()} as of <t:{int(read.at.timestamp())}:f>"
        return watched._replace(url=url.strip(), text=text)

    async def look(self, raw: bytes, place: str, person_id: int | None) -> WatchedGame:
        """Read a file for a place. Raises ValueError for one that is no game, LimitReached."""
        async with self._store.begin() as unit:
            await self._limits.count(unit, person_id, "snapshots")
            posts = Posts(await unit.settings.get(POSTS))
        snapshot = (await self._snapshot(raw))._replace(id=game_id(raw))
        last = posts.last(snapshot, place)
        since = last.since(snapshot) if last else None
        text = "\n".join([*description(snapshot), *changes(last, snapshot)])
        return WatchedGame(raw, snapshot, since, last.message if last else "", text)

    async def show(
        self, raw: bytes, place: str, person_id: int | None, pictures: Pictures | None
    ) -> tuple[str, Sequence[NamedPicture]]:
        """What is told of the game of a file, and its pictures, at a place without posts. Raises ValueError,
        LimitReached."""
        game = await self.look(raw, place, person_id)
        drawn = await self.draw(game, pictures) if pictures else ()
        await self.keep(game, place, "")
        return game.text, drawn

    async def _snapshot(self, raw: bytes) -> Snapshot:
        game = await asyncio.to_thread(self._read_game, raw)
        moves = (HistoryLine(engine_seat(seat), line, [*events]) for seat, line, events in game.moves)
        return await asyncio.to_thread(snapshot_of, GameHistory(game.start, tuple(moves)))

    async def draw(self, game: WatchedGame, pictures: Pictures) -> tuple[NamedPicture, ...]:
        """The map, the market and the sheet; without those that cannot be drawn."""
        wanted, state = drawings(game.snapshot, game.since), game.snapshot.state
        return await draw_all([(kind, pictures.request(kind, state, (), how)) for kind, how in wanted])

    async def keep(self, game: WatchedGame, place: str, message: str) -> None:
        """Remember the post at a place, with its game."""
        packed = base64.b64encode(zlib.compress(game.file)).decode()
        stored = StoredGame(game.since, packed, game.url)
        async with self._store.begin() as unit:
            posts = Posts(await unit.settings.get(POSTS))
            for each in posts.keep(game.snapshot, place, message):
                await unit.settings.delete(_game_key(each.where, each.message))
            await unit.settings.set(POSTS, posts.encode().decode())
            await unit.settings.set(_game_key(place, message), stored.encode())

    async def kept(self, place: str, message: str, person_id: int | None) -> KeptGame:
        """The game of a post, which somebody looks at. Raises ValueError where it is gone, LimitReached."""
        async with self._store.begin() as unit:
            await self._limits.count(unit, person_id, "pictures")
            stored = await _kept(unit, place, message)
        return KeptGame(await self._snapshot(stored.file), stored.since, stored.url)

    async def answer(
        self, place: str, message: str, person_id: int | None, question: str, pictures: Pictures
    ) -> SnapshotAnswer:
        """What a control of a post shows to a person. Raises ValueError, LimitReached."""
        kept = await self.kept(place, message, person_id)
        return await answer(kept.snapshot, kept.since, question, pictures, self._review)

    async def url_of(self, place: str, message: str) -> str:
        """The page from which the game of a post was read. Raises ValueError where it is not kept."""
        async with self._store.read() as unit:
            return (await _kept(unit, place, message)).url

    async def forget(self, unit: UnitOfWork, person_id: int, names_them: Callable[[str], bool]) -> None:
        """Delete what a person was shown by email, and games whose files name them."""
        posts, gone = Posts(await unit.settings.get(POSTS)), list[Posted]()
        for each in posts:
            key = _game_key(each.where, each.message)
            stored = await unit.settings.get(key)
            file = StoredGame.decode(stored).file.decode("utf-8", "replace") if stored else ""
            if each.where == f"mail:{person_id}" or names_them(file):
                await unit.settings.delete(key)
                gone.append(each)
        await self._addresses.forget(unit, names_them)
        if gone:
            posts.remove(gone)
            await unit.settings.set(POSTS, posts.encode().decode())


async def _kept(unit: UnitOfWork, place: str, message: str) -> StoredGame:
    stored = await unit.settings.get(_game_key(place, message))
    if stored is None:
        raise ValueError(GONE)
    return StoredGame.decode(stored)


def _game_key(place: str, message: str) -> str:
    """The setting of the store that holds the game of a post."""
    return f"{POSTS}.{place}.{message}"
