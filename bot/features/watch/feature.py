"""Snapshots that people ask the service for: read from a file, drawn by its workers, known again by place.

The game of a post is kept beside it, so that its buttons can answer later: with changes, the map larger,
each round, an animation, a review. `watching on` is how the host of a table allows that it is shown in
other channels (`/watch table:`).
"""

from __future__ import annotations

import asyncio
import base64
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import engine
from bot.features.watch.address import GameAddresses
from bot.features.watch.snapshot import (
    Posted,
    Posts,
    Snapshot,
    changes,
    description,
    drawings,
    game_id,
    news,
    snapshot_of,
)
from bot.hub.cache import TableCache
from bot.hub.changes import check_allowed
from bot.hub.command import Command, Form, TableCommand
from bot.hub.info import TableInfo
from bot.hub.people import Limits
from bot.hub.request import CommandResult, QueryAnswer, Request, refused
from bot.hub.table import LiveTable
from bot.pictures.views import NamedPicture, draw_all
from bot.pictures.workers import Pictures
from bot.position.controls import ReviewChart, Show
from engine.game_text.history import GameHistory
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


class StoredGame(NamedTuple):
    """The game of a post as its setting of the store has it. since: the moves of the snapshot before, None
    where it was the first. packed: its file. url: of the page that it was read from, empty for a file."""

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
        read_game: ReadGame,
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

    async def look(
        self, raw: bytes, place: str, person_id: int | None, table: TableInfo | None = None
    ) -> WatchedGame:
        """Read a file for a place. table: whose game it is. Raises ValueError for one that is
        no game, LimitReached."""
        async with self._store.begin() as unit:
            await self._limits.count(unit, person_id, "snapshots")
            posts = Posts(await unit.settings.get(POSTS))
        id, status = (table.code, table.status) if table else (game_id(raw), "")
        snapshot = (await self._snapshot(raw))._replace(id=id, status=status)
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
        history, _ = await asyncio.to_thread(self._read_game, raw)
        return await asyncio.to_thread(snapshot_of, history)

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

    async def answer(
        self, place: str, message: str, person_id: int | None, question: str, pictures: Pictures
    ) -> SnapshotAnswer:
        """What a control of a post shows to a person. Raises ValueError where it is gone, LimitReached."""
        async with self._store.begin() as unit:
            await self._limits.count(unit, person_id, "pictures")
            stored = await _kept(unit, place, message)
        return await answer(await self._snapshot(stored.file), stored.since, question, pictures, self._review)

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


REFRESH = "refresh"
"""Reads the page of a game again, and edits the post."""
MOST_NEWS, NEWS_LENGTH = 40, 300
LARGE = (2560, 1920)  # pixels

ReadGame = Callable[[bytes], tuple[GameHistory, Sequence[str]]]
ReviewGame = Callable[[GameHistory], tuple[str, ReviewChart]]
"""Where the money came from, and the turning points; and what their picture shows."""


class SnapshotAnswer(NamedTuple):
    """What one person is shown of a snapshot. controls: what it may show next."""

    text: str = ""
    pictures: Sequence[NamedPicture] = ()
    controls: Sequence[Show] = ()


def controls_of(snapshot: Snapshot, *, is_read: bool) -> list[Show]:
    """The controls of a snapshot. is_read: from a page, which can be read again."""
    found = [
        Show("What changed", "changed"),
        Show("Map larger", "larger"),
        Show("◀ Rounds ▶", "rounds"),
        Show("Animation", "animation"),
    ]
    if snapshot.state.game_over:
        return [*found, Show("Review", "review")]
    return [*found, Show("Refresh", REFRESH)] if is_read else found


async def answer(
    snapshot: Snapshot, since: int | None, question: str, pictures: Pictures, review: ReviewGame
) -> SnapshotAnswer:
    """The answer to a control. since: the moves of the snapshot before, None where this is the first."""
    what, _, number = question.partition(" ")
    start, events = snapshot.history.start, _events(snapshot)
    match what:
        case "changed":
            return SnapshotAnswer("\n".join(_changes(snapshot, since)))
        case "larger":
            return SnapshotAnswer("", await draw_all([("map", pictures.map(snapshot.state, size=LARGE))]))
        case "rounds":
            return await _round(snapshot, number, pictures)
        case "animation":
            return SnapshotAnswer(
                "", await draw_all([("animation", pictures.of_game("animation", start, events))])
            )
        case _:
            text, chart = await asyncio.to_thread(review, snapshot.history)
            drawn = pictures.review(start, events, chart)
            return SnapshotAnswer(text, await draw_all([("review", drawn)]))


async def _round(snapshot: Snapshot, number: str, pictures: Pictures) -> SnapshotAnswer:
    """The map and the market at the end of a round, with what has changed in it marked."""
    rounds = snapshot.rounds()
    at = min(max(int(number), 0), len(rounds) - 1) if number.isdecimal() else len(rounds) - 1
    moves, name = rounds[at]
    then = snapshot.at(moves)
    wanted = drawings(then, rounds[at - 1][0] if at else 0, ("map", "market"))
    drawn = await draw_all([(kind, pictures.request(kind, then.state, (), how)) for kind, how in wanted])
    steps = [
        Show(label, f"rounds {to}") for label, to in (("◀", at - 1), ("▶", at + 1)) if 0 <= to < len(rounds)
    ]
    return SnapshotAnswer(f"{name}, {at + 1} of {len(rounds)}, after {moves} moves", drawn, steps)


def _changes(snapshot: Snapshot, since: int | None) -> list[str]:
    """What has changed since the snapshot before; where that is not known, in the round that is on."""
    if since is not None:
        return news(snapshot, since, MOST_NEWS, NEWS_LENGTH)
    rounds = snapshot.rounds()
    begun = rounds[-2][0] if len(rounds) > 1 else 0
    name = rounds[-1][1].replace("opening", "the opening")
    if begun == snapshot.moves:
        return [f"Nothing has been played since {name} began."]
    _, *told = news(snapshot, begun, MOST_NEWS, NEWS_LENGTH)
    return [f"Since {name} began:", *told]


def _events(snapshot: Snapshot) -> tuple[bytes, ...]:
    """The events of each move, as they are stored."""
    return tuple(engine.encode_events(line.events) for line in snapshot.history.lines)


FEATURE = "watching"


async def may_be_shown_elsewhere(unit: UnitOfWork, info: TableInfo) -> bool:
    """Whether the host has allowed it. A table without a host is the operator's, who need not ask."""
    if info.host_id is None:
        return True
    return bool(await unit.facts.get(FEATURE, info.id, info.host_id))


MAY_SHOW = "Other channels of the server may show this table now, with what everybody at it may know."
MAY_NOT_SHOW = "Only the channel of this table may show it."


class WatchingPermission:
    """Keeps what the host of each table allows."""

    def __init__(self, cache: TableCache) -> None:
        self._cache = cache

    def commands(self) -> list[Command]:
        """`watching on`, `watching off`."""
        form = Form(
            "watching on|off", "whether other channels may show this table; only the host", "watching on"
        )
        return [TableCommand("watching", (form,), self._set)]

    async def _set(self, table: LiveTable, request: Request) -> CommandResult:
        """Allow or forbid it."""
        info, words = table.stored_info, request.lines[0].casefold().split()[1:]
        if words not in (["on"], ["off"]):
            return refused(request, "Write `watching on` or `watching off`.")
        is_allowed = words == ["on"]
        check_allowed(info, request.person_id)
        async with self._cache.commit(table, request.request_id) as draft:
            if info.host_id is not None:
                facts = (await draft.unit()).facts
                await facts.set(FEATURE, info.id, info.host_id, is_allowed or None)
            draft.result = QueryAnswer("watching", MAY_SHOW if is_allowed else MAY_NOT_SHOW)
        return draft.result
