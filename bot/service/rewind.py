"""What needs whose consent (pure): taking back, playing again, ending.

Whoever takes back only moves of his own does it at once; where moves of others would go, those others
are asked, each by `accept` or `decline`, and one `decline` is enough to let them stay. A redo is the
same the other way round: it brings back what the last undo took, until somebody moves. A move that is
made while an undo is being voted on joins what would go, and who made it joins those who are asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bot.service.live_table import LiveTable

RewindKind = Literal["undo", "redo"]


@dataclass(frozen=True, slots=True)
class Rewind:
    """Where the line of play would stand (0: before the first move), and the moves that go or return."""

    kind: RewindKind
    target: int
    moves: tuple[int, ...]

    def other_seats(self, play: LiveTable, seat: int) -> tuple[int, ...]:
        """Whose consent it takes: the seats of those moves, other than the one that wants it."""
        return tuple(sorted({s for m in self.moves if (s := play.seat_at(m)) is not None} - {seat}))

    def moves_text(self, play: LiveTable, seat: int | None = None) -> str:
        """The moves, as a table reads them; those of one seat without its name."""
        names = play.state.players
        said = [
            f"{names[h.seat]}: {h.text}" if h.seat not in (None, seat) else h.text
            for m in self.moves
            for h in play.log(m - 1, m)
            if h.has_text
        ]
        return "; ".join(said if len(said) <= 6 else [*said[:3], f"{len(said) - 5} more", *said[-2:]])


def rewind_for(play: LiveTable, way: RewindKind, seat: int) -> Rewind | str:
    """What that word would do for that seat, or why it cannot be done."""
    if way == "undo":
        move = play.last_move_of(seat)
        return undo_to(play, play.parent_of(move)) if move else "You have no move that could be taken back."
    if not play.redo_targets:
        return "There is nothing to play again: a redo is possible after an undo, until the next move."
    return redo_to(play, play.redo_targets[-1])


def undo_to(play: LiveTable, to: int) -> Rewind:
    """Back to behind a move of the line of play, or to 0."""
    return Rewind("undo", to, tuple(m for m in play.line_of_play.played if m > to))


def redo_to(play: LiveTable, to: int) -> Rewind:
    """On to a move that was undone."""
    return Rewind("redo", to, tuple(m for m in play.line_of_play.undone if m <= to))


def current_rewind(play: LiveTable, way: RewindKind, to: int) -> Rewind | None:
    """The shift that a vote is about as it would be now; None where it would do nothing any more."""
    if way == "redo":
        return redo_to(play, to) if play.redo_targets and play.redo_targets[-1] == to else None
    if to and to not in play.line_of_play.played:
        return None
    shift = undo_to(play, to)
    return shift if shift.moves else None


def poll_outcome(voices: Iterable[bool | None]) -> str | None:
    """`passed` once all agree, `failed` once one does not, None while it is open."""
    said = list(voices)
    if False in said:
        return "failed"
    return None if None in said else "passed"


def poll_question(play: LiveTable, shift: Rewind) -> str:
    """What the moves' owners are asked, as a sentence without who asks."""
    verb = "Take back" if shift.kind == "undo" else "Play again"
    return f"{verb} {shift.moves_text(play)}?"


def rewind_sentence(play: LiveTable, seat: int, shift: Rewind) -> str:
    """What was done, as a sentence."""
    verb = "takes back" if shift.kind == "undo" else "plays again"
    return f"{play.state.players[seat]} {verb} {shift.moves_text(play, seat)}."
