"""The names that the engine has for seats, and their numbers."""

from __future__ import annotations

import engine


def engine_seat(seat: int) -> str:
    """The engine's name of a seat, `p0` for 0."""
    return f"p{seat}"


def seat_number(engine_name: str) -> int:
    """The number of a seat by the engine's name."""
    return int(engine_name[1:])


MAX_STEPS = 12


def next_seat(state: engine.State) -> int | None:
    """The seat that is asked after the one that is asked now, if that one does little; None if it cannot be
    said, and while several are asked."""
    if state.game_over:
        return None
    asked = engine.decision(state).asked
    if len(asked) != 1:
        return None
    now, position = asked[0], state
    for _ in range(MAX_STEPS):
        lines = engine.legal_lines(position, now)
        line = "pass" if "pass" in lines else next(iter(lines), None)
        if line is None:
            return None
        try:
            _, position, _ = engine.play_line(position, now, line)
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
            return None
        if position.game_over:
            return None
        after = engine.decision(position).asked
        if now not in after:
            return seat_number(after[0]) if len(after) == 1 else None
    return None
