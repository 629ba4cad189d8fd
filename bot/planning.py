"""Where plans are kept: with the person, by table, until he throws them away."""

from __future__ import annotations

from collections.abc import Sequence

from bot.lobby import Lobby
from bot.plans import Planned

PLANS = "plans"


class Planning(Lobby):
    """Tables, with what players have in mind there."""

    async def plan_of(self, table: int, person: int) -> list[Planned]:
        """The lines of somebody's plan at a table."""
        async with self.store.read() as unit:
            kept = (await unit.people.get(person)).preferences.get(PLANS, {})
        return [(int(seat), str(line)) for seat, line in kept.get(str(table), [])]

    async def _keep_plan(self, table: int, person: int, lines: Sequence[Planned]) -> None:
        """Keep a plan in place of the one before; without lines there is none."""
        async with self.store.begin() as unit:
            known = (await unit.people.get(person)).preferences
            others = {code: plan for code, plan in known.get(PLANS, {}).items() if code != str(table)}
            plans = others | ({str(table): [list(each) for each in lines]} if lines else {})
            await unit.people.change(person, preferences=known | {PLANS: plans})
