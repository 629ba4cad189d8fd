"""Read-only queries: lists of tables, views of one, its log and its positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import engine
from bot.hub.cache import TableCache
from bot.hub.info import TableInfo
from bot.hub.loading import load_info
from bot.hub.log import LogEntry
from bot.hub.table import TableView
from bot.position.pending import engine_seat
from engine.core.words import join_words
from engine.game_text.history import GameHistory
from storage import TableStatus


def is_visible(info: TableInfo, person_id: int, guild: int | None) -> bool:
    """Whether a person finds a table: its members do, and everybody in the Discord server that shows it."""
    in_guild = guild is not None and info.location.get("guild") == guild
    return in_guild or info.host_id == person_id or info.player_of(person_id) is not None


class NoSuchTable(ValueError, LookupError):
    """There is no table that a text means, or none that its author finds."""


class TableQueries:
    """Queries about tables. Methods that take a table id raise NotFound."""

    def __init__(self, cache: TableCache) -> None:
        self._cache = cache

    async def find_table(
        self,
        text: str,
        *,
        person_id: int | None = None,
        guild: int | None = None,
        code_is_enough: bool = False,
    ) -> TableInfo:
        """The table whose code is the first word of a text, or else whose name is the text, as the operator
        finds it, or a person.

        person_id: who asks; they find the tables at which they sit, are invited or are the host, and those of
        the Discord server `guild` in which they ask. code_is_enough: whether they also find a table whose
        code they know. Raises NoSuchTable with a sentence if there is none, and ValueError if several have
        that name.
        """
        places: list[dict[str, Any]] = [{}] if person_id is None else [{"person_id": person_id}]
        places += [{"location": ("guild", guild)}] if guild is not None else []
        async with self._cache.store.read() as unit:
            table = await unit.tables.by_code(text.strip().partition(" ")[0])
            info = await load_info(unit, table.id) if table else None
            if info and (person_id is None or code_is_enough or is_visible(info, person_id, guild)):
                return info
            tables = {each.id: each for place in places for each in await unit.tables.find(**place)}
            name = text.strip().casefold()
            named = [each for each in tables.values() if name and each.name.casefold() == name]
            if person_id is not None:
                named = [each for each in named if each.status != "ended"] or named
            if len(named) == 1:
                return await load_info(unit, named[0].id)
        if named:
            codes = join_words([each.code for each in named])
            raise ValueError(f"Several tables are named {named[0].name}: {codes}. Say the code.")
        raise NoSuchTable(f"There is no table {text.strip().upper()}.")

    async def table_info(self, table_id: int) -> TableInfo:
        """A table as it is stored."""
        async with self._cache.store.read() as unit:
            return await load_info(unit, table_id)

    async def list_tables(
        self,
        *,
        person_id: int | None = None,
        location: tuple[str, Any] | None = None,
        statuses: Sequence[TableStatus] = (),
    ) -> list[TableInfo]:
        """All tables, oldest first, or those that match.

        person_id: tables where the person sits, is invited or is the host. location: tables whose location
        has this entry, such as `("guild", 5)`.
        """
        async with self._cache.store.read() as unit:
            tables = await unit.tables.find(*statuses, person_id=person_id, location=location)
            return [await load_info(unit, table.id) for table in tables]

    async def table_ids(self, statuses: Sequence[TableStatus]) -> list[int]:
        """The ids of all tables with one of the statuses, oldest first; cheap also for many."""
        async with self._cache.store.read() as unit:
            return await unit.tables.ids(*statuses)

    async def view(self, table_id: int) -> TableView:
        """The table now: position, pending decisions, open polls."""
        return (await self._cache.get(table_id, with_log=False)).view()

    def peek(self, table_id: int) -> TableView | None:
        """The same at once, for autocompletion; None if the table is not in memory."""
        table = self._cache.peek(table_id)
        return table.view() if table else None

    async def choices(self, table_id: int, seat: int, *, other_runs: bool = False) -> list[engine.Choice]:
        """The legal choices of a seat now; none if the table is not running. other_runs: the routes that it
        may run instead of the best too."""
        table = await self._cache.get(table_id, with_log=False)
        if not table.begun or table.stored_info.status != "running" or table.state.game_over:
            return []
        choices = engine.choices(table.state, engine_seat(seat))
        return [*choices, *engine.other_runs(table.state, engine_seat(seat))] if other_runs else choices

    async def state_at(self, table_id: int, seq: int | None = None) -> engine.State:
        """The position after row `seq` of the log, None for the last. Raises ValueError before the start."""
        table = await self._cache.get(table_id, with_log=seq is not None)
        return table.state_at(table.seq if seq is None else seq)

    async def history(self, table_id: int) -> GameHistory:
        """The game without what was undone. Raises ValueError before the start."""
        return (await self._cache.get(table_id)).log.history()

    async def stored_game(self, table_id: int) -> tuple[engine.State, tuple[bytes, ...]]:
        """The first position and the stored events of each move, for pictures of the whole game.

        Raises ValueError before the start.
        """
        return (await self._cache.get(table_id)).log.stored_game()

    async def last_runs(self, table_id: int) -> dict[str, engine.TrainsRan]:
        """The last run of each company."""
        return (await self._cache.get(table_id)).last_runs()

    async def last_revenues(self, table_id: int) -> dict[str, int]:
        """What each company earned in its last run, in dollars."""
        return (await self._cache.get(table_id)).last_revenues()

    async def run_since(self, table_id: int, seq: int = 0, company: str = "") -> RoutesRun | None:
        """The latest run after row `seq` of the log, of a company or of any, with what each train earned."""
        table = await self._cache.get(table_id)
        found = ((row, run) for row, run in table.log.runs(seq) if company in ("", run.company))
        if (latest := next(found, None)) is None:
            return None
        row, run = latest
        return RoutesRun(run.company, engine.train_runs(table.state_at(row), run.company, run.routes))

    async def log(self, table_id: int, after: int = 0, until: int | None = None) -> list[LogEntry]:
        """The log after row `after` up to row `until`."""
        return (await self._cache.get(table_id)).log.entries(after, until)

    async def log_since_last_move(
        self, table_id: int, seat: int, seq: int | None = None, *, by_hand: bool = False
    ) -> list[LogEntry]:
        """The log after that seat's last move, up to row `seq`.

        by_hand: after the last that no order has said; only for the player's own eyes.
        """
        log = (await self._cache.get(table_id)).log
        entries = log.entries(log.last_move_of(seat, seq, by_hand=by_hand), seq)
        if not by_hand:
            return entries
        return [
            replace(entry, by_own_order=entry.seat == seat and log.row(entry.seq).order_id is not None)
            for entry in entries
        ]


class RoutesRun(NamedTuple):
    """A run of a company: each train with its route and what it earned when it ran."""

    company: str
    trains: tuple[engine.TrainRun, ...]
