"""What needs a second word: the one place where every transport learns that a line has to be confirmed.

A line is confirmed by the same line with `yes` behind it: `resign yes`, `bankrupt yes`. Discord has a button
for that line, an email holds it until the player replies `yes`, and at the terminal it is typed. Lines
of the clock, of robots and of orders count as confirmed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import engine
from bot.hub.result import ConfirmationRequired
from engine.core.events import PlayerBankrupt

_YES = " yes"


def confirmed_lines(lines: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The lines without the `yes` behind the last, and whether it was there."""
    if not lines or not lines[-1].casefold().endswith(_YES):
        return tuple(lines), False
    return (*lines[:-1], lines[-1][: -len(_YES)].rstrip()), True


def ask(lines: Sequence[str], reason: str, decision_id: str | None) -> ConfirmationRequired:
    """The question, and the line that answers it."""
    return ConfirmationRequired(reason, "; ".join(lines) + _YES, next_decision_id=decision_id)


def why_asked(state: engine.State, events: Iterable[engine.AnyEvent]) -> str | None:
    """Why a move has to be confirmed, as a sentence; None for one that is played at once.

    state: after the move. A bankruptcy is confirmed; the usual end of a game is not.
    """
    if not any(isinstance(event, PlayerBankrupt) for event in events) and not _ends_in_bankruptcy(state):
        return None
    return "You go bankrupt, and the game ends." if state.game_over else "You go bankrupt and leave the game."


def _ends_in_bankruptcy(state: engine.State) -> bool:
    return state.game_over is not None and state.game_over.bankrupt is not None
