"""Where plans are kept: in the store, one for each person and table; others see nothing of them."""

from __future__ import annotations

from collections.abc import Sequence

from bot.service.limits import Limits
from bot.service.live_table import LiveTable
from bot.service.plans import PlannedLine, remaining_lines
from storage import Store


class PlanStore:
    """Loads and saves plans."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits

    async def load(self, table: LiveTable, person_id: int) -> list[PlannedLine]:
        """The person's plan at a table, without the lines that have been played since as planned."""
        async with self._store.read() as unit:
            plan = await unit.plans.get(table.stored_info.id, person_id)
        if plan is None:
            return []
        lines = [(int(seat), str(line)) for seat, line in plan.lines]
        return remaining_lines(lines, table.log.lines_after(plan.since))

    async def save(self, table: LiveTable, person_id: int, lines: Sequence[PlannedLine]) -> None:
        """Replace the person's plan at a table; without lines it is deleted. Raises LimitReached."""
        async with self._store.begin(table=table.stored_info.id) as unit:
            if lines:
                await self._limits.count(unit, person_id, "plans")
            await unit.plans.set(table.stored_info.id, person_id, table.seq, [list(line) for line in lines])
