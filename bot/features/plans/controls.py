"""The next steps of a plan as controls, and *Try…* on the page of a turn."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.hub.feature import Addition, TurnPage
from bot.position.controls import Ask, Choose, Control, Option, Say, Show
from bot.position.effects import choice_effect
from bot.position.pending import engine_seat

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


async def add_to_turn(page: TurnPage) -> Addition:
    """The plan of the person who presses."""
    return Addition(controls=(Show("Try…", "plan"),) if page.pending else ())
