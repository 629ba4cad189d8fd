"""The file of the store: whether it is there at the start and later, and whether all is in that one file."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.hub.loading import operator_log
from bot.operations.backups import existing_backups
from engine.core.words import counted
from storage import FORMER_STORE_IDS, InvalidStore, Store, StoreError, StoreLost

log = logging.getLogger(__name__)

LOOK_EVERY = 5.0  # seconds
WRITE_BACK_EVERY = 60.0  # seconds; so long nothing was committed before the log is written back


def check_start(path: Path, data: Path) -> None:
    """Refuse to begin with an empty store, or another one, beside a copy that has games.

    path: of the store. data: the folder with `backups/`. Raises InvalidStore.
    """
    newest, kept = _newest_games(path, data)
    if kept is None:
        return
    found = _read(path)
    if found is None and path.is_file() and path.stat().st_size:
        return  # it is damaged, which opening it says
    if found is None:
        what = f"{path} is a new store"
    elif kept.ids and not kept.ids & found.ids:
        what = f"{path} is another store"
    else:
        return
    games = counted(kept.tables, "table")
    raise InvalidStore(
        f"{what}, and {newest} has {games}. Restore it: railpost restore {newest}. "
        "Or begin with this store: railpost --new."
    )


async def accept_store(store: Store, data: Path) -> None:
    """Remember that the store was begun beside a copy of another, so that later starts need no `--new`."""
    _, kept = _newest_games(store.path, data) if store.path else (None, None)
    if kept is None:
        return
    async with store.begin() as unit:
        given_up = {*(await unit.settings.get(FORMER_STORE_IDS) or "").split(), *kept.ids}
        await unit.settings.set(FORMER_STORE_IDS, " ".join(sorted(given_up)))


class _Contents:
    """What a file of a store holds. tables: how many games. ids: of the store and of its backups' stores."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        (self.tables,) = connection.execute("SELECT count(*) FROM game_tables").fetchone()
        settings = dict(connection.execute("SELECT key, value FROM settings WHERE key LIKE '%store_id%'"))
        self.ids = {settings.get("store_id", ""), *settings.get(FORMER_STORE_IDS, "").split()} - {""}


def _read(path: Path) -> _Contents | None:
    """What a file holds; None for a file that is missing, empty or no store."""
    try:
        if not path.stat().st_size:
            return None
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return _Contents(connection)
    except (OSError, sqlite3.Error):
        return None


def _newest_games(path: Path, data: Path) -> tuple[Path, _Contents] | tuple[None, None]:
    """The newest copy that has games, by the time in its name: a backup of the store, or what was rescued of
    it when it was lost. One that is damaged or has gone meanwhile is passed over."""
    copies = [backup for _, backup in existing_backups(data)]
    copies += path.parent.glob(f"{path.stem}-rescued-*{path.suffix}")
    for copy in sorted(copies, key=lambda copy: copy.stem[-15:], reverse=True):
        if (kept := _read(copy)) and kept.tables:
            return copy, kept
    return None, None


class StoreWatch:
    """Looks at the file of the store every few seconds, and keeps it whole while nobody plays."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._told = ""  # to the operator, while the file is lost
        self._is_rescued = False
        self._log_size = 0

    async def run(self) -> None:
        """Never returns; there is nothing to do for PostgreSQL."""
        if self._store.path is None:
            return
        looks = 0
        while True:
            await asyncio.sleep(LOOK_EVERY)
            looks += 1
            await self.look()
            if looks * LOOK_EVERY >= WRITE_BACK_EVERY:
                looks = 0
                await self.write_back_if_idle()

    async def look(self) -> None:
        """Tell the operator once where the file is lost, and write out what is still held of it: again where
        there was no room."""
        try:
            self._store.check_file()
        except StoreLost as lost:
            if not self._is_rescued:
                told = f"{lost.operator}. Moves are refused. {await self._rescue()}"
                if told != self._told:
                    operator_log.error("%s", told)
                self._told = told
        else:
            if self._told:
                log.info("the file of the store is back")
            self._told, self._is_rescued = "", False

    async def _rescue(self) -> str:
        try:
            target = await self._store.rescue()
        except StoreError as error:
            return str(error)
        self._is_rescued = True
        return f"What the open file holds is in {target}: stop the service, and put that file in its place."

    async def write_back_if_idle(self) -> None:
        """Write the write-ahead log into the file, if it has not grown since the last call.

        A copy of the file alone then holds every move.
        """
        assert self._store.path is not None
        write_ahead_log = self._store.path.with_name(f"{self._store.path.name}-wal")
        size = write_ahead_log.stat().st_size if write_ahead_log.exists() else 0
        if size and size == self._log_size:
            try:
                await self._store.write_back()
            except StoreError as error:
                log.warning("the write-ahead log could not be written back: %s", error)
        self._log_size = size
