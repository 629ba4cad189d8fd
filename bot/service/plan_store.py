"""Where plans are kept: with the person, by table, until he throws them away."""

from __future__ import annotations

from collections.abc import Sequence

from bot.service.live_table import LiveTable
from bot.service.lobby import Lobby
from bot.service.plans import PlannedLine, remaining_lines

PLANS_PREFERENCE = "plans"


class PlanStore(Lobby):
    """Tables, with what players have in mind there."""

    async def load_plan(self, play: LiveTable, person: int) -> list[PlannedLine]:
        """What is left of somebody's plan at a table: what has been said since as planned is off it."""
        async with self.store.read() as unit:
            kept = (await unit.people.get(person)).preferences.get(PLANS_PREFERENCE, {})
        plan = kept.get(str(play.stored_info.id))
        if not plan:
            return []
        lines = [(int(seat), str(line)) for seat, line in plan["lines"]]
        return remaining_lines(lines, play.lines_after(plan["since"]))

    async def save_plan(self, play: LiveTable, person: int, lines: Sequence[PlannedLine]) -> None:
        """Keep a plan from now on in place of the one before; without lines there is none."""
        table = str(play.stored_info.id)
        async with self.store.begin() as unit:
            known = (await unit.people.get(person)).preferences
            others = {code: plan for code, plan in known.get(PLANS_PREFERENCE, {}).items() if code != table}
            plan = {"since": play.seq, "lines": [list(each) for each in lines]}
            plans = others | ({table: plan} if lines else {})
            await unit.people.update(person, preferences=known | {PLANS_PREFERENCE: plans})
