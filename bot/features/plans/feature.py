"""The `plan` request: make, extend, show, play and clear a plan. Its next steps are controls.

The page of a turn has *Try…*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from msgspec.structs import replace as replace_fields

import engine
from bot.features.plans import plans
from bot.features.plans.plans import PlanStore
from bot.hub.command import Command, Form, Lines, TableCommand
from bot.hub.feature import Addition, TurnPage
from bot.hub.people import LimitReached
from bot.hub.play import MoveHandler, line_failure
from bot.hub.request import (
    CommandResult,
    Completed,
    LineFailure,
    LineRefused,
    LineUnreadable,
    QueryAnswer,
    Request,
    is_from_deputy,
    refused,
    writer_of,
)
from bot.hub.table import LiveTable
from bot.position.controls import Ask, Choose, Control, Option, Say, Show
from bot.position.legal_lines import choice_effect
from bot.position.pending import engine_seat
from engine.standing_orders import ArmedOrder

ArmedOrders = Callable[[LiveTable, int, int], list[ArmedOrder]]


class PlanHandler:
    """Carries out `plan …` (or `try …`) for a seated player."""

    def __init__(self, plan_store: PlanStore, moves: MoveHandler, armed_orders: ArmedOrders) -> None:
        """armed_orders: those of a person in a seat, which a plan plays too."""
        self._plan_store, self._moves, self._armed_orders = plan_store, moves, armed_orders

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
            return refused(table, request, "That seat is empty; nobody can plan for it.")
        _, _, first_line = request.lines[0].partition(" ")
        word, _, rest = first_line.strip().partition(" ")
        plan = await self._plan_store.load(table, person_id)
        armed: list[ArmedOrder] = []
        if not is_from_deputy(table, request):
            armed = self._armed_orders(table, request.seat, person_id)
        match word.casefold():
            case "" | "show":
                return _plan_result(table, request, plan, armed)
            case "clear":
                await self._plan_store.save(table, person_id, ())
                return _answer(table, request, "Your plan is deleted.")
            case "play":
                return await self._play(table, request, person_id, plan)
            case "more":
                former, text = plan, (rest, *request.lines[1:])
            case _:
                former, text = [], (first_line, *request.lines[1:])
        lines = [*former, *plans.parse_plan(text, request.seat, table.state.players)]
        if len(lines) > plans.MAX_LINES:
            return refused(table, request, f"A plan has at most {plans.MAX_LINES} lines.")
        trial = plans.try_plan(table.state, lines, request.seat, armed)
        if trial.error is not None:
            failed = len(trial.lines)
            seat, line = lines[failed]
            nearest = engine.nearest_lines(trial.state, engine_seat(seat), line)
            decision_id = table.decision_id_of(request.seat)
            failure = line_failure(trial.error, max(failed - len(former), 0), line, nearest, decision_id)
            return _within_plan(failure, table, request, lines[len(former) : failed], seat, bool(former))
        try:
            await self._plan_store.save(table, person_id, trial.lines)
        except LimitReached as error:
            return refused(table, request, str(error))
        return _plan_result(table, request, list(trial.lines), armed)

    async def _play(
        self, table: LiveTable, request: Request, person_id: int, plan: list[plans.PlannedLine]
    ) -> CommandResult:
        """Play the planner's own next lines and keep the rest of the plan.

        Lines of others before them are skipped if the planner is to act, whatever the others have played.
        """
        while table.decision_id_of(request.seat) and plan and plan[0][0] != request.seat:
            plan = plan[1:]
        own_lines = plans.leading_own_lines(plan, request.seat)
        if not own_lines:
            if not plan:
                return refused(table, request, "Your plan has no line of yours left.")
            seat, line = plan[0]
            return refused(table, request, f"Your plan waits for {table.state.players[seat]}: {line}.")
        own_command = replace(request, lines=tuple(own_lines), line_numbers=tuple(range(len(own_lines))))
        result = await self._moves.play_lines(table, own_command)
        if isinstance(result, Completed):
            with suppress(LimitReached):  # they are played; the plan drops them when it is read again
                await self._plan_store.save(table, person_id, plan[len(own_lines) :])
        return result


def _within_plan(
    failure: LineFailure,
    table: LiveTable,
    request: Request,
    before: list[plans.PlannedLine],
    seat: int,
    extends: bool,
) -> LineFailure:
    """The failure with suggestions that stay in the plan, as lines that can be submitted: `plan …`."""
    names, own = table.state.players, request.seat
    start = [line if each == own else f"{names[each]}: {line}" for each, line in before]
    name = "" if seat == own else f"{names[seat]}: "
    word = "plan more" if extends else "plan"

    def planned(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{word} {'; '.join([*start, name + line])}" for line in lines)

    match failure:
        case LineUnreadable():
            return replace_fields(failure, nearest=planned(failure.nearest))
        case LineRefused():
            return replace_fields(failure, suggestions=planned(failure.suggestions))
    return replace_fields(failure, choices=planned(failure.choices))


def _plan_result(
    table: LiveTable, request: Request, plan: list[plans.PlannedLine], armed: list[ArmedOrder]
) -> CommandResult:
    """What a plan leads to from the table's position."""
    if not plan:
        nothing = "You have no plan at this table: `plan LINES` makes one, and nobody else sees it."
        controls = plan_controls(table.state, request.seat, has_steps=False)
        return replace_fields(_answer(table, request, nothing), controls=controls)
    trial = plans.try_plan(table.state, plan, request.seat, armed)
    text = plans.trial_text(table.state, trial, plan)
    return QueryAnswer(
        "plan",
        text,
        "map",
        engine.encode_state(trial.state),
        next_decision_id=table.decision_id_of(request.seat),
        ran=trial.ran,
        controls=plan_controls(trial.state, request.seat, has_steps=True),
    )


def _answer(table: LiveTable, request: Request, text: str) -> QueryAnswer:
    return QueryAnswer("plan", text, next_decision_id=table.decision_id_of(request.seat))


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
