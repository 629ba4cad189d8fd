"""The `plan` request: make, extend, show, play and clear a plan. Its next steps are controls, and the page
of a turn has *Try…*.

A plan is a list of lines, played on a private copy of the position, each by a seat: the planner's own
unless a name stands before a colon. It is kept without a position and always played from the table's
current one, so a plan that the game has outdated names the line that is no longer possible. When any player
plays a line at the table as planned, it is removed from the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import NamedTuple

from msgspec.structs import replace as replace_fields

import engine
from bot.hub.command import Command, Form, Lines, TableCommand
from bot.hub.feature import Addition, TurnPage
from bot.hub.people import LimitReached, Limits
from bot.hub.play import MoveHandler, line_failure
from bot.hub.polls import PollHandler
from bot.hub.request import (
    CommandResult,
    Completed,
    LineFailure,
    QueryAnswer,
    Request,
    is_from_deputy,
    refused,
    split_lines,
    writer_of,
)
from bot.hub.table import LiveTable
from bot.position import text_views
from bot.position.controls import Ask, Choose, Control, Option, Say, Show
from bot.position.legal_lines import choice_effect
from bot.position.pending import engine_seat, pending_decisions
from engine.standing_orders import ArmedOrder, PlayedMove, run_orders
from storage import Store


class PlanHandler:
    """Carries out `plan …` (or `try …`) for a seated player."""

    def __init__(self, store: Store, limits: Limits, moves: MoveHandler, polls: PollHandler) -> None:
        """polls: knows the orders of the planner, which a plan plays too."""
        self._store, self._limits, self._moves, self._polls = store, limits, moves, polls

    def commands(self) -> list[Command]:
        """`plan LINES`, also as `try LINES`."""
        forms = (
            Form(
                "plan LINES",
                "try lines on a copy; `plan more LINE`, `show`, `play`, `clear`",
                "plan LINE; LINE",
            ),
            Form("plan [show|play|clear]"),
            Form("plan more LINES"),
        )
        other = (Form("try [LINES]"),)
        return [
            TableCommand("plan", forms, self.handle, Lines.ALL),
            TableCommand("try", other, self.handle, Lines.ALL),
        ]

    async def handle(self, table: LiveTable, request: Request) -> CommandResult:
        """`plan LINES` makes a plan, `plan more LINES` extends it; `plan show`, `plan play`, `plan clear`."""
        person_id = writer_of(table, request)
        if person_id is None or table.stored_info.player_at(request.seat) is None:
            return refused(request, "That seat is empty; nobody can plan for it.")
        _, _, first_line = request.lines[0].partition(" ")
        word, _, rest = first_line.strip().partition(" ")
        plan = await self._load(table, person_id)
        armed: Sequence[ArmedOrder] = ()
        if not is_from_deputy(table, request):
            armed = self._polls.orders.armed(table, request.seat, person_id)
        match word.casefold():
            case "" | "show":
                return _plan_result(table, request, plan, armed)
            case "clear":
                await self._save(table, person_id, ())
                return QueryAnswer("plan", "Your plan is deleted.")
            case "play":
                return await self._play(table, request, person_id, plan)
            case "more":
                former, text = plan, (rest, *request.lines[1:])
            case _:
                former, text = [], (first_line, *request.lines[1:])
        lines = [*former, *parse_plan(text, request.seat, table.state.players)]
        if len(lines) > MAX_LINES:
            raise ValueError(f"A plan has at most {MAX_LINES} lines.")
        trial = try_plan(table.state, lines, request.seat, armed)
        if trial.error is not None:
            failed = len(trial.steps)
            seat, line = lines[failed]
            nearest = engine.nearest_lines(trial.state, engine_seat(seat), line)
            failure = line_failure(trial.error, max(failed - len(former), 0), line, nearest)
            kept = len(former) if failed >= len(former) else 0  # lines of the plan that are still possible
            beside = lines[kept:failed], lines[failed + 1 :]
            return _within_plan(failure, table, request, beside, seat, extends=kept > 0)
        plan = [(step.seat, step.line) for step in trial.steps]
        await self._save(table, person_id, plan)
        return _plan_result(table, request, plan, armed)

    async def _play(
        self, table: LiveTable, request: Request, person_id: int, plan: list[PlannedLine]
    ) -> CommandResult:
        """Play the planner's own next lines and keep the rest of the plan.

        Lines of others before them are skipped if the planner is to act, whatever the others have played.
        """
        while table.decision_id_of(request.seat) and plan and plan[0][0] != request.seat:
            plan = plan[1:]
        own_lines = [line for _, line in takewhile(lambda each: each[0] == request.seat, plan)]
        if not own_lines:
            if not plan:
                return refused(request, "Your plan has no line of yours left.")
            seat, line = plan[0]
            return refused(request, f"Your plan waits for {table.state.players[seat]}: {line}.")
        numbers = request.line_numbers[:1] * len(own_lines)
        own_command = request._replace(lines=tuple(own_lines), line_numbers=numbers)
        result = await self._moves.play_lines(table, own_command)
        if isinstance(result, Completed):
            with suppress(LimitReached):  # they are played; the plan drops them when it is read again
                await self._save(table, person_id, plan[len(own_lines) :])
        if isinstance(result, LineFailure):
            return replace_fields(result, reason=f"`{result.line}`: {result.reason}")
        return result

    async def _load(self, table: LiveTable, person_id: int) -> list[PlannedLine]:
        """The person's plan at a table, without the lines that have been played since as planned."""
        async with self._store.read() as unit:
            plan = await unit.facts.get(FEATURE, table.stored_info.id, person_id)
        if plan is None:
            return []
        left = [(int(seat), str(line)) for seat, line in plan["lines"]]
        for played in table.log.lines_after(plan["since"]):
            if left[:1] == [played]:
                del left[0]
        return left

    async def _save(self, table: LiveTable, person_id: int, lines: Sequence[PlannedLine]) -> None:
        """Replace the person's plan at a table; without lines it is deleted. Raises LimitReached."""
        async with self._store.begin(table=table.stored_info.id) as unit:
            if lines:
                await self._limits.count(unit, person_id, "plans")
            plan = {"since": table.seq, "lines": [list(line) for line in lines]} if lines else None
            await unit.facts.set(FEATURE, table.stored_info.id, person_id, plan)


def _within_plan(
    failure: LineFailure,
    table: LiveTable,
    request: Request,
    beside: tuple[list[PlannedLine], list[PlannedLine]],
    seat: int,
    *,
    extends: bool,
) -> LineFailure:
    """The failure with suggestions that stay in the plan, as lines that can be submitted: `plan …`. beside:
    the planned lines before and behind the one that failed."""
    names, own = table.state.players, request.seat
    before, behind = (
        [line if each == own else f"{names[each]}: {line}" for each, line in lines] for lines in beside
    )
    name = "" if seat == own else f"{names[seat]}: "
    word = "plan more" if extends else "plan"

    def planned(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{word} {'; '.join([*before, name + line, *behind])}" for line in lines)

    return replace_fields(failure, suggestions=planned(failure.suggestions))


def _plan_result(
    table: LiveTable, request: Request, plan: list[PlannedLine], armed: Sequence[ArmedOrder]
) -> CommandResult:
    """What a plan leads to from the table's position."""
    if not plan:
        nothing = "You have no plan at this table: `plan LINES` makes one, and nobody else sees it."
        controls = plan_controls(table.state, request.seat, has_steps=False)
        return QueryAnswer("plan", nothing, controls=controls)
    trial = try_plan(table.state, plan, request.seat, armed)
    text = trial_text(table.state, trial, plan)
    return QueryAnswer(
        "plan",
        text,
        "map",
        engine.encode_state(trial.state),
        ran=trial.ran,
        controls=plan_controls(trial.state, request.seat, has_steps=True),
    )


MAX_MENUS, MAX_OPTIONS = 5, 25


def plan_controls(state: engine.State, seat: int, *, has_steps: bool) -> tuple[Control, ...]:
    """What may come next in a plan that has led to `state`, and the buttons of the plan."""
    own, choices = engine_seat(seat), list[engine.Choice]()
    if not state.game_over and own in engine.decision(state).awaited:
        choices = engine.choices(state, own)
    by_verb: dict[str, list[engine.Choice]] = {}
    for choice in choices:
        by_verb.setdefault(choice.path[0], []).append(choice)
    menus = [_menu(state, own, verb, each) for verb, each in list(by_verb.items())[:MAX_MENUS]]
    buttons: list[Control] = [Ask("Write", "plan more ", choices[0].line if choices else "pass")]
    if has_steps:
        buttons = [Say("Play this", "plan play", "good"), *buttons, Say("Start over", "plan clear")]
    return (*menus, *buttons)


def _menu(state: engine.State, seat: str, verb: str, choices: Sequence[engine.Choice]) -> Choose:
    options = [
        Option(each.label, f"plan more {each.line}", choice_effect(state, seat, each))
        for each in choices[:MAX_OPTIONS]
    ]
    rest = len(choices) - len(options)
    more = f", {rest} more by Write…" if rest else ""
    return Choose(f"Try: {verb[:1].upper()}{verb[1:]}{more}", tuple(options))


async def add_try_button(page: TurnPage) -> Addition:
    """The plan of the person who presses."""
    return Addition(controls=(Show("Try…", "plan"),) if page.pending else ())


PlannedLine = tuple[int, str]
"""The seat and the line in full."""

MAX_LINES = 40
FEATURE = "plans"


class PlanStep(NamedTuple):
    """A line that was played, in full, and what it brought about. said: what the planner's own orders would
    say then, with what that brings about."""

    seat: int
    line: str
    sentences: Sequence[str]
    said: Sequence[str]


class PlanTrial(NamedTuple):
    """How far a plan could be played: the last position, and the lines that led there.

    error: why the next line cannot be played, None if all could. ran: the last run that a line brought about.
    """

    state: engine.State
    steps: Sequence[PlanStep]
    error: engine.UnreadableError | engine.AmbiguousError | engine.RefusedError | None = None
    ran: engine.TrainsRan | None = None


def parse_plan(lines: Sequence[str], seat: int, names: Sequence[str]) -> list[PlannedLine]:
    """Planned lines from text; semicolons separate several in one."""
    parts = [part for line in lines for part in split_lines(line)]
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
    steps, ran = list[PlanStep](), None
    for seat, line in lines:
        try:
            result = engine.play_line(state, engine_seat(seat), line)
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as error:
            return PlanTrial(state, steps, error, ran)
        ran = next((e for e in reversed(result.events) if isinstance(e, engine.TrainsRan)), ran)
        move = PlayedMove(engine_seat(seat), result.line, tuple(result.events))
        run = run_orders(result.state, [each.with_move(move) for each in armed])
        armed, state = run.armed, run.state
        said = [f"{e.line} — {' '.join(engine.narrate(e.state, e.events))}" for e in run.spoken]
        steps.append(PlanStep(seat, result.line, engine.narrate(result.state, result.events), said))
    return PlanTrial(state, steps, ran=ran)


def trial_text(before: engine.State, trial: PlanTrial, plan: Sequence[PlannedLine]) -> str:
    """The result of a plan: its lines, changes of cash, the standings, and who acts next."""
    rows = []
    for number, (seat, line, outcome, said) in enumerate(trial.steps, 1):
        dash = " — " if outcome else ""
        rows.append(f"{number}. {before.name(engine_seat(seat))}: {line}{dash}{' '.join(outcome)}")
        rows += [f"   Your order would say: {each}" for each in said]
    if trial.error is not None:
        seat, line = plan[len(trial.steps)]
        name = before.name(engine_seat(seat))
        rows.append(f"{len(trial.steps) + 1}. {name}: {line} is not possible there: {trial.error}")
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
