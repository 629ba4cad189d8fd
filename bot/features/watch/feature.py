"""Snapshots that people ask the service for: read from a file, drawn by its workers, known again by place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from bot.features.watch.posted import Posts
from bot.features.watch.snapshot import Snapshot, description, drawings, news, snapshot_of
from bot.hub.info import IncomingGame
from bot.hub.limits import Limits
from bot.pictures.workers import Pictures
from bot.position.pending import engine_seat
from engine.game_text.history import GameHistory, HistoryLine
from renderers import Picture
from storage import Store

POSTS = "snapshots"
"""The setting of the store that holds the posts."""


class WatchedGame(NamedTuple):
    """A game that somebody wants to be shown.

    since: the moves of the last snapshot at that place, None for the first; message: its post. text: what is
    told."""

    snapshot: Snapshot
    since: int | None
    message: str
    text: str


class Watcher:
    """Makes snapshots of games that are given as files."""

    def __init__(self, store: Store, limits: Limits, read_game: Callable[[bytes], IncomingGame]) -> None:
        """read_game: plays a file; raises ValueError."""
        self._store, self._limits, self._read_game = store, limits, read_game

    async def look(self, raw: bytes, place: str, person_id: int | None) -> WatchedGame:
        """Read a file for a place. Raises ValueError for one that is no game, LimitReached."""
        async with self._store.begin() as unit:
            await self._limits.count(unit, person_id, "snapshots")
            posts = Posts(await unit.settings.get(POSTS))
        game = await asyncio.to_thread(self._read_game, raw)
        moves = (HistoryLine(engine_seat(seat), line, [*events]) for seat, line, events in game.moves)
        snapshot = await asyncio.to_thread(snapshot_of, GameHistory(game.start, tuple(moves)))
        last = posts.last(snapshot, place)
        since = last.moves if last else None
        changed = [] if since is None else news(snapshot, since)
        text = "\n".join([*description(snapshot), *changed])
        return WatchedGame(snapshot, since, last.message if last else "", text)

    async def draw(self, game: WatchedGame, pictures: Pictures) -> list[tuple[str, Picture]]:
        """The map, the market and the sheet; without those that cannot be drawn."""
        wanted = drawings(game.snapshot, game.since)
        drawn = [await pictures.request(kind, game.snapshot.state, (), details) for kind, details in wanted]
        return [(kind, each) for (kind, _), each in zip(wanted, drawn, strict=True) if each]

    async def keep(self, game: WatchedGame, place: str, message: str) -> None:
        """Remember the post at a place."""
        async with self._store.begin() as unit:
            posts = Posts(await unit.settings.get(POSTS))
            posts.keep(game.snapshot, place, message)
            await unit.settings.set(POSTS, posts.encode().decode())
