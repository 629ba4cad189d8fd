"""Tables of imported games: opened with empty seats, which the players of the game claim."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bot.features.lobby.tables import Lobby
from bot.hub.cache import TableCache
from bot.hub.changes import again_on_conflict
from bot.hub.info import IncomingGame, TableInfo, check_distinct
from bot.hub.notifications import messages
from bot.hub.seating import record_replacement
from bot.position import text_views


class GameImports:
    """Opens tables for games that come from elsewhere, and gives their seats to those who claim them."""

    def __init__(self, cache: TableCache, lobby: Lobby, read_game: Callable[[bytes], IncomingGame]) -> None:
        """read_game: plays a file; raises ValueError."""
        self._cache, self._lobby, self._read_game = cache, lobby, read_game

    async def open_table(
        self, raw: bytes, *, by: int | None, name: str = "", location: dict[str, Any] | None = None
    ) -> tuple[TableInfo, tuple[str, ...]]:
        """A table with the game of a file and empty seats, and the warnings about it. Raises ValueError.

        by: the host. location: where a transport shows the table. Playing the file takes seconds, so it is
        done in a thread.
        """
        game = await asyncio.to_thread(self._read_game, raw)
        info = await self._lobby.import_game(
            game.start,
            game.moves,
            name=name or game.start.title,
            by=by,
            open_seats=True,
            location=location,
        )
        return info, game.warnings

    @again_on_conflict
    async def claim_seat(self, table_id: int, seat: int, person_id: int, name: str) -> TableInfo:
        """A person whom the host admits plays on in an empty seat; with the last seat the game goes on.

        They play under their own name, or under the seat's where another seat has theirs. Raises ValueError.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if info.status != "paused" or not 0 <= seat < len(info.names):
                raise ValueError(f"No seat at table {info.code} waits for a player.")
            if taken := info.player_at(seat):
                raise ValueError(f"{taken.name} has that seat at table {info.code}; choose another.")
            if own := info.player_of(person_id):
                raise ValueError(f"You already sit at table {info.code} as {own.name}.")
            others = [other for number, other in enumerate(info.names) if number != seat]
            if name.casefold() in {other.casefold() for other in others}:
                name = info.names[seat]
            check_distinct(name, others)
            async with self._cache.commit(table) as draft:
                await record_replacement(draft, seat, person_id, name, by=person_id)
                draft.messages += messages.lobby_refreshes(info)
                if len(info.seated_players) + 1 == len(info.names):
                    await (await draft.unit()).tables.update(table_id, status="running")
                    assert draft.state is not None
                    seating = text_views.join_words(draft.state.players)
                    goes_on = "All seats are taken, and the game goes on."
                    draft.announce("started", f"{goes_on} Seating: {seating}.")
        return table.info
