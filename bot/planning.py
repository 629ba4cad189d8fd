"""Where plans are kept: with the person, by table, until he throws them away."""

from __future__ import annotations

from collections.abc import Sequence

from bot.lobby import Lobby
from bot.plans import Planned, left
from bot.play import Play

PLANS = "plans"


class Planning(Lobby):
    """Tables, with what players have in mind there."""

    async def _plan_of(self, play: Play, person: int) -> list[Planned]:
        """What is left of somebody's plan at a table: what has been said since as planned is off it."""
        async with self.store.read() as unit:
            kept = (await unit.people.get(person)).preferences.get(PLANS, {})
        plan = kept.get(str(play.table.id))
        if not plan:
            return []
        lines = [(int(seat), str(line)) for seat, line in plan["lines"]]
        return left(lines, play.said(plan["since"]))

    async def _keep_plan(self, play: Play, person: int, lines: Sequence[Planned]) -> None:
        """Keep a plan from now on in place of the one before; without lines there is none."""
        table = str(play.table.id)
        async with self.store.begin() as unit:
            known = (await unit.people.get(person)).preferences
            others = {code: plan for code, plan in known.get(PLANS, {}).items() if code != table}
            plan = {"since": play.seq, "lines": [list(each) for each in lines]}
            plans = others | ({table: plan} if lines else {})
            await unit.people.change(person, preferences=known | {PLANS: plans})
