"""Undo and redo: what they would do, and whose consent they need (pure).

A player who undoes only their own moves does it at once. If moves of others would be undone too, those
players vote with `accept` or `decline`, and one `decline` is enough to reject it. Redo works the other way
round: it restores what the last undo removed, until the next move. A vote is about the moves that it names,
so the next move closes it; robots and orders wait meanwhile (`bot.hub.polls.holds_table`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.hub.table import LiveTable
from bot.position.text_views import join_words

RewindKind = Literal["undo", "redo"]

MAX_LISTED = 6  # moves in a sentence; of more, the first three and the last two are listed


@dataclass(frozen=True, slots=True)
class Rewind:
    """The move at which the line of play would end (0: before the first), and the moves removed or
    restored."""

    kind: RewindKind
    target: int
    moves: tuple[int, ...]

    def other_seats(self, table: LiveTable, seat: int) -> tuple[int, ...]:
        """The seats whose consent is needed: the players of those moves, except the one who asks."""
        seats = {move_seat for move in self.moves if (move_seat := table.log.seat_at(move)) is not None}
        return tuple(sorted(seats - {seat}))

    def moves_text(self, table: LiveTable, seat: int | None = None) -> str:
        """The moves as a list of lines, with names except for those of one seat."""
        names = table.state.players
        lines = [
            f"{names[entry.seat]}: {entry.text}" if entry.seat not in (None, seat) else entry.text
            for move in self.moves
            for entry in table.log.entries(move - 1, move)
            if entry.has_text
        ]
        if len(lines) > MAX_LISTED:
            lines = [*lines[:3], f"{len(lines) - 5} more", *lines[-2:]]
        return "; ".join(lines)


def rewind_for(table: LiveTable, kind: RewindKind, seat: int) -> Rewind | str:
    """What `undo` or `redo` would do for a seat, or the reason why it is not possible."""
    if kind == "undo":
        move = table.log.last_move_of(seat)
        return undo_to(table, table.log.parent_of(move)) if move else "You have no move to undo."
    if not table.log.redo_targets:
        return "There is nothing to redo: a redo is possible after an undo, until the next move."
    return redo_to(table, table.log.redo_targets[-1])


def undo_to(table: LiveTable, target: int) -> Rewind:
    """Undo everything after a move, or with 0 the whole game."""
    return Rewind("undo", target, tuple(m for m in table.log.line_of_play.played if m > target))


def redo_to(table: LiveTable, target: int) -> Rewind:
    """Redo the undone moves up to this one."""
    return Rewind("redo", target, tuple(m for m in table.log.line_of_play.undone if m <= target))


def current_rewind(table: LiveTable, kind: RewindKind, target: int) -> Rewind | None:
    """The rewind that a poll is about, from the current position; None if it would do nothing any more."""
    if kind == "redo":
        return redo_to(table, target) if table.log.redo_targets[-1:] == [target] else None
    if target and target not in table.log.line_of_play.played:
        return None
    rewind = undo_to(table, target)
    return rewind if rewind.moves else None


def poll_question(table: LiveTable, rewind: Rewind) -> str:
    """The question to the players of those moves."""
    number = len(rewind.moves)
    moves = f"{number} move{'s' * (number != 1)}"
    return f"{rewind.kind.capitalize()} {moves}? {rewind.moves_text(table)}."


def rewind_sentence(table: LiveTable, seat: int, rewind: Rewind, agreed: Sequence[str] = ()) -> str:
    """What was done, by whom, and which players have agreed to it."""
    verb = "undoes" if rewind.kind == "undo" else "redoes"
    consent = f" {join_words(agreed)} agreed." if agreed else ""
    return f"{table.state.players[seat]} {verb} {rewind.moves_text(table, seat)}.{consent}"
