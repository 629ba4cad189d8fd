"""What-if: lines said to a private copy of the position, and what they would lead to.

A plan is a list of lines, each by a seat: the planner's own where nobody is named before a colon. It
is kept without a position and always played on from the table as it stands, so a plan that the game
has overtaken says which of its lines is no longer possible. What is said at the table as it was planned
comes off the plan, whoever says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import engine
from bot.service import text_views
from bot.service.live_table import engine_seat, pending_decisions

PlannedLine = tuple[int, str]
"""A line of a plan: the seat, the line in full."""

MAX_LINES = 40


class PlanTrial(NamedTuple):
    """A plan that was tried: how far it went. `wrong` stopped it, at the line behind those that went well."""

    state: engine.State
    lines: tuple[PlannedLine, ...]
    sentences: tuple[tuple[str, ...], ...]
    error: engine.UnreadableError | engine.AmbiguousError | engine.RefusedError | None = None


def parse_plan(lines: Sequence[str], seat: int, names: Sequence[str]) -> list[PlannedLine]:
    """Lines as somebody says them, several in one with semicolons. Raises ValueError where too many."""
    parts = [part.strip() for line in lines for part in line.split(";") if part.strip()]
    if len(parts) > MAX_LINES:
        raise ValueError(f"A plan has at most {MAX_LINES} lines.")
    known = {name.casefold(): number for number, name in enumerate(names)}
    found = []
    for part in parts:
        name, colon, said = part.partition(":")
        named = known.get(name.strip().casefold()) if colon else None
        found.append((seat, part) if named is None else (named, said.strip()))
    return found


def try_plan(state: engine.State, lines: Sequence[PlannedLine], planner: int) -> PlanTrial:
    """Play lines on from a position as the planner's seat sees it, up to the first that cannot be played.

    What others have left in secret answers nothing in a plan: it would tell what it is.
    """
    state = engine.visible_to(state, engine_seat(planner))
    full: list[PlannedLine] = []
    sentences: list[tuple[str, ...]] = []
    for seat, line in lines:
        try:
            said = engine.play_line(state, engine_seat(seat), line)
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as wrong:
            return PlanTrial(state, tuple(full), tuple(sentences), wrong)
        state = said.state
        full.append((seat, said.line))
        sentences.append(tuple(engine.narrate(state, said.events)))
    return PlanTrial(state, tuple(full), tuple(sentences))


def trial_text(before: engine.State, trial: PlanTrial, whole: Sequence[PlannedLine]) -> str:
    """What a plan leads to: its lines, whose money changes, how everybody would stand, who is next."""
    rows = [
        f"{number}. {before.name(engine_seat(seat))}: {line}{' — ' if said else ''}{' '.join(said)}"
        for number, ((seat, line), said) in enumerate(zip(trial.lines, trial.sentences, strict=True), 1)
    ]
    if trial.error is not None:
        seat, line = whole[len(trial.lines)]
        name = before.name(engine_seat(seat))
        rows.append(f"{len(trial.lines) + 1}. {name}: {line} is not possible there: {trial.error}")
    money = list(text_views.cash_changes(before, trial.state))
    waits = text_views.waiting_sentence(trial.state, pending_decisions(trial.state, 0))
    return "\n".join(
        [
            *rows,
            "",
            *(["Money:", *(f"  {change}" for change in money)] if money else ["No money moves."]),
            f"Standings: {text_views.standings_sentence(trial.state)}",
            f"Then: {waits}",
        ]
    )


def remaining_lines(lines: Sequence[PlannedLine], said: Iterable[PlannedLine]) -> list[PlannedLine]:
    """What is left of a plan when those lines have been said since, among others perhaps."""
    rest = list(lines)
    for each in said:
        if rest and rest[0] == each:
            rest.pop(0)
    return rest


def leading_own_lines(lines: Sequence[PlannedLine], seat: int) -> list[str]:
    """The lines at the beginning of a plan that are the planner's, and so can be played by him."""
    found = []
    for by, line in lines:
        if by != seat:
            break
        found.append(line)
    return found
