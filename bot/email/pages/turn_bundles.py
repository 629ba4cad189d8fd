"""Lines to send with what they bring: runs, dividends, and a whole turn as one line (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.position import legal_lines
from bot.position.legal_lines import line_effect
from bot.position.pending import engine_seat

BUNDLES = (("run best", "pay", "pass"), ("run best", "withhold", "pass"))
OTHER_RUNS = "runs   # asks which other routes can be run, and what they earn"
MAX_COMMENT = 100
WITH_OUTCOME = ("run", "pay", "half", "withhold")  # verbs whose lines say in sentences what they bring


def bundle_lines(state: engine.State, seat: int) -> tuple[str, ...]:
    """Bundles that can be played now, with a comment on what running, paying or withholding does.

    `pass` is left out where the turn has ended without it.
    """
    found = []
    for bundle in BUNDLES:
        played, told, position = [], "", state
        for line in bundle:
            try:
                result = engine.play_line(position, engine_seat(seat), line)
            except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
                break
            played.append(line)
            if line != "pass":
                told = f"{told} {' '.join(engine.narrate(result.state, result.events))}".strip()
            position = result.state
        if len(played) >= 2:
            found.append(_commented("; ".join(played), told))
    return tuple(found)


def offered_lines(state: engine.State, seat: int, choices: Sequence[engine.Choice]) -> tuple[str, ...]:
    """The lines that an email offers, with comments on what they stand for and what they bring."""
    lines = with_outcomes(state, seat, legal_lines.copyable_lines(choices))
    return (*lines, OTHER_RUNS) if engine.other_runs(state, engine_seat(seat)) else lines


def with_outcomes(state: engine.State, seat: int, lines: Sequence[str]) -> tuple[str, ...]:
    """The lines, with a comment on what each costs or brings and changes; those that stand for several keep
    theirs."""
    return tuple(line if "#" in line else _commented(line, _outcome(state, seat, line)) for line in lines)


def _outcome(state: engine.State, seat: int, line: str) -> str:
    if line.split(maxsplit=1)[0] not in WITH_OUTCOME:
        return line_effect(state, engine_seat(seat), line)
    try:
        result = engine.play_line(state, engine_seat(seat), line)
    except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
        return ""
    return " ".join(engine.narrate(result.state, result.events))


def _commented(line: str, told: str) -> str:
    """The line with a comment that is not too long; as it is without one."""
    comment = told if len(told) <= MAX_COMMENT else told[: MAX_COMMENT - 1] + "…"
    return f"{line}   # {comment}" if told else line


def short_round(name: str) -> str:
    """`OR 2.1` for `operating round 2.1`."""
    for long, short in (("operating round", "OR"), ("stock round", "SR"), ("merger round", "MR")):
        name = name.replace(long, short)
    return name


def turn_subject(state: engine.State, prompt: str) -> str:
    """`Your turn: OR 2.1, lay track for the PRR`; `Your turn: SR 1, buy or pass`."""
    task = prompt.split(", ", maxsplit=1)[0].split(": ", maxsplit=1)[0]
    if " " not in task:
        task = prompt.split(" (", maxsplit=1)[0].replace(", or ", " or ")
    return f"Your turn: {short_round(engine.round_name(state))}, {task}"
