"""Pictures of a whole game from its log: charts by round, and the map as an animation.

A log is handed to the workers as it is stored: the first position and the events of each line, as bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import engine
from engine.game_text.history import round_statistics
from renderers import (
    PALETTES,
    Animator,
    ChartKind,
    Moment,
    PaletteName,
    Picture,
    chart_png,
    chart_view,
    review_png,
)


class NothingToDraw(ValueError):
    """A chart would be empty."""


def chart_of_game(
    start: engine.State, events: Sequence[bytes], kind: ChartKind, *, palette: PaletteName = "light"
) -> Picture:
    """A chart of a game. `events`: those of each line, as they are stored. Raises NothingToDraw."""
    statistics = round_statistics(start, map(engine.decode_events, events))
    if chart_view(start.title, statistics, kind).is_empty:
        raise NothingToDraw
    return chart_png(start.title, statistics, kind, palette=palette)


def review_of_game(
    start: engine.State,
    events: Sequence[bytes],
    marks: Sequence[tuple[str, str]],
    bars: Sequence[tuple[str, Sequence[tuple[str, int]]]],
    *,
    palette: PaletteName = "light",
) -> Picture:
    """The picture of a review: worth by round with `marks`, and `bars` of causes (`review_png`)."""
    statistics = round_statistics(start, map(engine.decode_events, events))
    return review_png(start.title, statistics, marks, bars, palette=palette)


def animation_of_game(
    start: engine.State, events: Sequence[bytes], *, palette: PaletteName = "light"
) -> Picture:
    """The map of a game turn by turn, as a GIF.

    Raises ValueError for a game whose animation would be too large.
    """
    state = engine.copy_state(start)
    animator = Animator(_moment(state), PALETTES[palette])
    turn, changed = _turn_of(state), set[str]()
    for raw in events:
        for event in engine.decode_events(raw):
            if isinstance(event, engine.TileLaid | engine.TokenPlaced):
                changed.add(event.hex)
            event.apply(state)
        after = _turn_of(state)
        if after != turn:
            # A new phase or round changes values, reservations and blocked hexes anywhere.
            everywhere = after[0] != turn[0] or after[2] != turn[2]
            if everywhere or changed:
                caption = _caption(turn[0], turn[1])
                animator.add(Moment(caption, state), None if everywhere else changed)
            turn = after
            changed.clear()
    animator.add(_moment(state))
    return animator.finish()


def _turn_of(state: engine.State) -> tuple[str, str | None, str]:
    """The round, the company in its turn, and the phase."""
    turn = next((f for f in reversed(state.stack) if isinstance(f, engine.OperatingTurn)), None)
    return engine.round_name(state), turn.company if turn else None, state.phase


def _moment(state: engine.State) -> Moment:
    round, company, _ = _turn_of(state)
    return Moment(_caption(round, company), state)


def _caption(round: str, company: str | None) -> str:
    name = "the end" if round == "over" else engine.short_round(round)
    return f"{name} · {company}" if company else name
