"""Once a day what has been kept long enough is deleted: games that are over, and lines of the log."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from bot.features.privacy.files import DataFolder
from bot.hub.people import PrivacySettings
from storage import Store, StoreError

log = logging.getLogger(__name__)

INTERVAL = timedelta(hours=24)


class Retainer:
    """Deletes games for all processes of a store, and the lines of the log of this one."""

    def __init__(self, store: Store, settings: PrivacySettings) -> None:
        self._store, self._settings = store, settings
        self._folder = DataFolder(settings.data) if settings.data else None

    async def run(self) -> None:
        """Delete games once a day. One process of a store does it. Never returns."""
        while True:
            try:
                await self.delete_games()
            except (StoreError, OSError) as error:
                log.warning("what has been kept long enough could not be deleted: %s", error)
            await asyncio.sleep(INTERVAL.total_seconds())

    async def run_log(self) -> None:
        """Delete lines of the log once a day. Every process does it. Never returns."""
        while True:
            try:
                await self.delete_log_lines()
            except OSError as error:
                log.warning("the log could not be shortened: %s", error)
            await asyncio.sleep(INTERVAL.total_seconds())

    async def delete_games(self) -> int:
        """Delete the games that have been over for long enough; how many."""
        if not self._settings.game_days:
            return 0
        async with self._store.read() as unit:
            before = unit.now - timedelta(days=self._settings.game_days)
            found = await unit.personal_data.tables_over_before(before)
        for table_id in found:
            async with self._store.begin(table=table_id) as unit:
                await unit.personal_data.delete_table(table_id)
        if found:
            log.info("%d games that ended before %s are deleted", len(found), f"{before:%Y-%m-%d}")
        return len(found)

    async def delete_log_lines(self) -> None:
        """Delete the lines of the log that are old enough."""
        if self._settings.log_days and self._folder is not None:
            before = self._store.now() - timedelta(days=self._settings.log_days)
            await asyncio.to_thread(self._folder.delete_log_before, before)
