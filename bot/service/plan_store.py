"""Where plans are kept: in the person's preferences, one for each table."""

from __future__ import annotations

from collections.abc import Sequence

from bot.service.live_table import LiveTable
from bot.service.plans import PlannedLine, remaining_lines
from storage import Store

PLANS_PREFERENCE = "plans"


class PlanStore:
    """Loads and saves plans."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def load(self, table: LiveTable, person_id: int) -> list[PlannedLine]:
        """The person's plan at a table, without the lines that have been played since as planned."""
        async with self._store.read() as unit:
            plans = (await unit.people.get(person_id)).preferences.get(PLANS_PREFERENCE, {})
        plan = plans.get(str(table.stored_info.id))
        if not plan:
            return []
        lines = [(int(seat), str(line)) for seat, line in plan["lines"]]
        return remaining_lines(lines, table.lines_after(plan["since"]))

    async def save(self, table: LiveTable, person_id: int, lines: Sequence[PlannedLine]) -> None:
        """Replace the person's plan at a table; without lines it is deleted."""
        key = str(table.stored_info.id)
        async with self._store.begin() as unit:
            preferences = (await unit.people.get(person_id)).preferences
            plans = {k: plan for k, plan in preferences.get(PLANS_PREFERENCE, {}).items() if k != key}
            if lines:
                plans[key] = {"since": table.seq, "lines": [list(line) for line in lines]}
            await unit.people.update(person_id, preferences=preferences | {PLANS_PREFERENCE: plans})
