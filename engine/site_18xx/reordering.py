"""Lines that the site has to have earlier than our game, where only the order differs.

A bridge token may be placed until the turn ends (1817 §1.2.6), on the site before the interest is paid. It
changes nothing until the next run, so it goes before the line with which the turn comes to the interest.
"""

from __future__ import annotations

from engine.core.events import MineOrBridgeBuilt, TrainsRan, fold
from engine.core.state import OperatingTurn, State, copy_state
from engine.game_text.history import GameHistory, HistoryLine
from engine.kernel import game_of
from engine.operating.turn import OperatingTurnQuestion
from engine.title import SITE_CONVENTIONS

LAST_STEP = "trains"
"""The last step of a turn in which the site takes bridge tokens."""
_WORD = "bridge "


def in_the_sites_order(history: GameHistory) -> list[tuple[int, HistoryLine]]:
    """The lines of a game with their numbers, from 1, in the order in which the site can have them."""
    lines = list(enumerate(history.lines, 1))
    by_book = SITE_CONVENTIONS not in history.start.options
    if not by_book or not any(line.line.startswith(_WORD) for _, line in lines):
        return lines
    state, ordered = copy_state(history.start), list[tuple[int, HistoryLine]]()
    place: int | None = None  # among the ordered lines, where the turn came to the interest
    for number, line in lines:
        was, turn = _turn_past_trains(state), _operating_turn(state)
        fold(line.events, state)
        is_bridge = all(isinstance(event, MineOrBridgeBuilt) for event in line.events)
        if is_bridge and line.line.startswith(_WORD) and place is not None:
            ordered.insert(place, (number, line))
            place += 1
            continue
        now = _turn_past_trains(state)
        if now != was:
            in_turn = turn is not None and turn.company == now
            place = len(ordered) if in_turn and not _runs(line) else None
        ordered.append((number, line))
    return ordered


def _operating_turn(state: State) -> OperatingTurn | None:
    return next((frame for frame in state.stack if isinstance(frame, OperatingTurn)), None)


def _turn_past_trains(state: State) -> str | None:
    """The company whose turn has come to a step after the last one in which the site takes bridge tokens."""
    turn = _operating_turn(state)
    if turn is None:
        return None
    question = game_of(state).title.questions[OperatingTurn]
    assert isinstance(question, OperatingTurnQuestion)
    names = [step.name for step in question.steps]
    return turn.company if names.index(turn.step) > names.index(LAST_STEP) else None


def _runs(line: HistoryLine) -> bool:
    """Whether trains run in that line: a bridge before it would change what they earn."""
    return any(isinstance(event, TrainsRan) for event in line.events)
