"""A whole turn of a company as one line to send: `run best; pay; pass`, with what it brings (pure)."""

from __future__ import annotations

import engine
from bot.service.live_table import engine_seat

BUNDLES = (("run best", "pay", "pass"), ("run best", "withhold", "pass"))
MAX_COMMENT = 100


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
            comment = told if len(told) <= MAX_COMMENT else told[: MAX_COMMENT - 1] + "…"
            found.append(f"{'; '.join(played)}   # {comment}")
    return tuple(found)


def short_round(name: str) -> str:
    """`OR 2.1` for `operating round 2.1`."""
    for long, short in (("operating round", "OR"), ("stock round", "SR"), ("merger round", "MR")):
        name = name.replace(long, short)
    return name


def turn_subject(state: engine.State, prompt: str) -> str:
    """`Your turn: OR 2.1, lay track for the PRR`."""
    task = prompt.split(", ", maxsplit=1)[0]
    return f"Your turn: {short_round(engine.round_name(state))}, {task}"
