"""Plans: lines played on a private copy of the position, and what they would lead to (pure).

A plan is a list of lines, each by a seat: the planner's own unless a name stands before a colon. It is kept
without a position and always played from the table's current one, so a plan that the game has outdated names
the line that is no longer possible. When any player plays a line at the table as planned, it is removed from
the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import engine
from bot.hub.people import Limits
from bot.hub.table import LiveTable
from bot.position import text_views
from bot.position.pending import engine_seat, pending_decisions
from engine.standing_orders import ArmedOrder, PlayedMove, run_orders
from storage import Store

PlannedLine = tuple[int, str]
"""The seat and the line in full."""

MAX_LINES = 40
FEATURE = "plans"


class PlanTrial(NamedTuple):
    """How far a plan could be played: the last position, the lines in full, and what each brought about.

    said: after each line, what the planner's own orders would say, with what it brings about. error: why
    the next line cannot be played, None if all could. ran: the last run that a line brought about.
    """

    state: engine.State
    lines: tuple[PlannedLine, ...]
    sentences: tuple[tuple[str, ...], ...]
    said: tuple[tuple[str, ...], ...] = ()
    error: engine.UnreadableError | engine.AmbiguousError | engine.RefusedError | None = None
    ran: engine.TrainsRan | None = None


def parse_plan(lines: Sequence[str], seat: int, names: Sequence[str]) -> list[PlannedLine]:
    """Planned lines from text; semicolons separate several in one."""
    parts = [part.strip() for line in lines for part in line.split(";") if part.strip()]
    seat_by_name = {name.casefold(): number for number, name in enumerate(names)}
    planned = []
    for part in parts:
        name, colon, line = part.partition(":")
        named_seat = seat_by_name.get(name.strip().casefold()) if colon else None
        planned.append((seat, part) if named_seat is None else (named_seat, line.strip()))
    return planned


def try_plan(
    state: engine.State, lines: Sequence[PlannedLine], planner: int, armed: Sequence[ArmedOrder] = ()
) -> PlanTrial:
    """Play lines from a position as the planner's seat sees it, up to the first that cannot be played.

    armed: the planner's own orders, which speak as they would at the table. Orders of other players are left
    out: their effect would reveal them.
    """
    state = engine.visible_to(state, engine_seat(planner))
    played: list[PlannedLine] = []
    sentences: list[tuple[str, ...]] = []
    said: list[tuple[str, ...]] = []
    ran: engine.TrainsRan | None = None
    for seat, line in lines:
        try:
            result = engine.play_line(state, engine_seat(seat), line)
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as error:
            return PlanTrial(state, tuple(played), tuple(sentences), tuple(said), error, ran)
        ran = next((e for e in reversed(result.events) if isinstance(e, engine.TrainsRan)), ran)
        move = PlayedMove(engine_seat(seat), result.line, tuple(result.events))
        run = run_orders(result.state, [each.with_move(move) for each in armed])
        armed, state = run.armed, run.state
        said.append(
            tuple(f"{each.line} — {' '.join(engine.narrate(each.state, each.events))}" for each in run.spoken)
        )
        played.append((seat, result.line))
        sentences.append(tuple(engine.narrate(result.state, result.events)))
    return PlanTrial(state, tuple(played), tuple(sentences), tuple(said), ran=ran)


def trial_text(before: engine.State, trial: PlanTrial, plan: Sequence[PlannedLine]) -> str:
    """The result of a plan: its lines, changes of cash, the standings, and who acts next."""
    rows = []
    steps = zip(trial.lines, trial.sentences, trial.said, strict=True)
    for number, ((seat, line), outcome, said) in enumerate(steps, 1):
        dash = " — " if outcome else ""
        rows.append(f"{number}. {before.name(engine_seat(seat))}: {line}{dash}{' '.join(outcome)}")
        rows += [f"   Your order would say: {each}" for each in said]
    if trial.error is not None:
        seat, line = plan[len(trial.lines)]
        name = before.name(engine_seat(seat))
        rows.append(f"{len(trial.lines) + 1}. {name}: {line} is not possible there: {trial.error}")
    cash = list(text_views.cash_changes(before, trial.state))
    next_turn = text_views.waiting_sentence(trial.state, pending_decisions(trial.state, 0))
    return "\n".join(
        [
            *rows,
            "",
            *(["Cash:", *(f"  {change}" for change in cash)] if cash else ["No cash changes hands."]),
            f"Standings: {text_views.standings_sentence(trial.state)}",
            f"Then: {next_turn}",
        ]
    )


def remaining_lines(plan: Sequence[PlannedLine], played: Iterable[PlannedLine]) -> list[PlannedLine]:
    """The plan without the lines that have been played in its order, possibly among others."""
    remaining = list(plan)
    for line in played:
        if remaining and remaining[0] == line:
            remaining.pop(0)
    return remaining


def leading_own_lines(plan: Sequence[PlannedLine], seat: int) -> list[str]:
    """The lines at the start of a plan that belong to the planner's own seat."""
    own_lines = []
    for line_seat, line in plan:
        if line_seat != seat:
            break
        own_lines.append(line)
    return own_lines


class PlanStore:
    """Loads and saves plans."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits

    async def load(self, table: LiveTable, person_id: int) -> list[PlannedLine]:
        """The person's plan at a table, without the lines that have been played since as planned."""
        async with self._store.read() as unit:
            plan = await unit.facts.get(FEATURE, table.stored_info.id, person_id)
        if plan is None:
            return []
        lines = [(int(seat), str(line)) for seat, line in plan["lines"]]
        return remaining_lines(lines, table.log.lines_after(plan["since"]))

    async def save(self, table: LiveTable, person_id: int, lines: Sequence[PlannedLine]) -> None:
        """Replace the person's plan at a table; without lines it is deleted. Raises LimitReached."""
        async with self._store.begin(table=table.stored_info.id) as unit:
            if lines:
                await self._limits.count(unit, person_id, "plans")
            plan = {"since": table.seq, "lines": [list(line) for line in lines]} if lines else None
            await unit.facts.set(FEATURE, table.stored_info.id, person_id, plan)
