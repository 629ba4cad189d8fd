"""A table that waits for a seat, as a due row says: what reminders and the end of a time have in common."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from bot.hub.cache import TableCache
from bot.hub.notifications.notify import Recipient
from bot.hub.table import LiveTable
from storage import DueRow, SeatClock, UnitOfWork

STANDSTILL = timedelta(minutes=10)  # after which the end of a time has been missed


@dataclass(frozen=True, slots=True)
class Wait:
    """A table that waits for a seat, as a due row says."""

    table: LiveTable
    seat: int
    clock: SeatClock
    recipient: Recipient


class WaitTimers:
    """Deals with due rows of seats, each in one transaction."""

    def __init__(self, cache: TableCache) -> None:
        self.cache, self.store = cache, cache.store

    @asynccontextmanager
    async def locked(self, row: DueRow) -> AsyncIterator[tuple[LiveTable, UnitOfWork]]:
        """The table of a row, held, with a transaction at it. Due rows need no log."""
        assert row.table_id is not None
        async with (
            self.cache.locked(row.table_id, with_log=False) as table,
            self.store.begin(table=row.table_id) as unit,
        ):
            yield table, unit

    async def open_wait(self, unit: UnitOfWork, row: DueRow) -> Wait | None:
        """The wait that a row is about; None if the decision was made, or the table is behind. A row about
        something that is over is taken."""
        assert row.table_id is not None and row.seat is not None
        table = self.cache.peek(row.table_id)
        clock = (await unit.clocks.seat_clocks(row.table_id)).get(row.seat)
        snapshot = await unit.move_log.snapshot(row.table_id)
        followed = await unit.clocks.followed_seq(row.table_id)
        if table is None or not table.seq == snapshot.seq == followed:
            return None
        recipient = table.metadata.recipients.get(row.seat)
        is_open = (
            clock is not None and clock.since is not None and recipient is not None
            and clock.since.isoformat() == row.details.get("since")
            and table.stored_info.status == "running"
        )  # fmt: skip
        if not is_open or clock is None or recipient is None:
            await unit.clocks.take_due(row)
            return None
        return Wait(table, row.seat, clock, recipient)
