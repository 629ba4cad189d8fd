"""Moves: lines of the game are played and committed, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import engine
from bot.hub.cache import TableCache
from bot.hub.commands import Command, not_running
from bot.hub.polls import PollHandler, completed, poll_for, stale_decision
from bot.hub.result import (
    CommandResult,
    LineAmbiguous,
    LineFailure,
    LineRefused,
    LineUnreadable,
    PlayedLine,
)
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat
from storage import NewLogRow

_LineError = engine.UnreadableError | engine.AmbiguousError | engine.RefusedError


class MoveHandler:
    """Plays lines at a locked table."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache = cache
        self._polls = polls

    async def play_lines(self, table: LiveTable, command: Command) -> CommandResult:
        """Play the lines of a command in order and commit them."""
        if problem := not_running(table, "running"):
            return problem
        if not _is_current(table, command):
            return stale_decision(table, command)
        try:
            moves = _play(table, command)
        except _NotPlayed as failure:
            return failure.result(table, command)
        return await self._commit(table, command, moves)

    async def try_lines(self, table: LiveTable, command: Command) -> CommandResult | None:
        """Play the lines of a command as `play_lines` does; None where they are not played."""
        if not_running(table, "running") or not _is_current(table, command):
            return None
        try:
            moves = _play(table, command)
        except _NotPlayed:
            return None
        return await self._commit(table, command, moves)

    async def _commit(self, table: LiveTable, command: Command, moves: _Moves) -> CommandResult:
        async with self._cache.commit_command(table, command) as draft:
            if command.announcement:
                draft.add_note(command.transport, "time up", command.announcement)
            for row, played_line in zip(moves.rows, moves.played, strict=True):
                draft.add_row(row, moves.game.state, played_line.sentences)
            draft.game = moves.game
            await self._polls.update_after_move(draft, command.seat)
            if command.announcement:
                draft.announce("news", command.announcement)
            draft.make_result = lambda: completed(draft, command, played=tuple(moves.played))
        assert draft.result is not None
        return draft.result


class _Moves(NamedTuple):
    """Lines that were played: the game after them, and for each its row of the log and what is answered."""

    game: engine.Game
    rows: Sequence[NewLogRow]
    played: Sequence[PlayedLine]


class _NotPlayed(Exception):
    """A line of a command cannot be played. state: the position in which it was tried."""

    def __init__(self, error: _LineError, index: int, state: engine.State) -> None:
        super().__init__(str(error))
        self.error, self.index, self.state = error, index, state

    def result(self, table: LiveTable, command: Command) -> LineFailure:
        """What is answered."""
        suggestions: Sequence[str] = ()
        if isinstance(self.error, engine.RefusedError):
            line = command.lines[self.index]
            suggestions = engine.nearest_lines(self.state, engine_seat(command.seat), line)
        decision_id = table.decision_id_of(command.seat)
        return line_failure(self.error, *command.numbered_line(self.index), suggestions, decision_id)


def _play(table: LiveTable, command: Command) -> _Moves:
    """Play the lines of a command, one after the other, on the decoded position. Raises _NotPlayed."""
    g, seat = engine.game_of(table.give_state()), engine_seat(command.seat)
    first_seq = table.seq + (2 if command.announcement else 1)
    rows, played = list[NewLogRow](), list[PlayedLine]()
    for index, raw_line in enumerate(command.lines):
        try:
            line, _, events = engine.play_line_on(g, seat, raw_line)
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as error:
            raise _NotPlayed(error, index, g.state) from error
        sentences = tuple(engine.narrate(g, events))
        played.append(PlayedLine(first_seq + len(rows), raw_line, line, sentences))
        rows.append(command.new_row(index, line=line, events=engine.encode_events(events)))
    return _Moves(g, rows, played)


def _is_current(table: LiveTable, command: Command) -> bool:
    """Whether the decision that the command answers is still open. While a poll is open, its answer may also
    be a move."""
    if command.decision_id is None:
        return True
    if command.answers_poll:
        return poll_for(table, command) is not None
    return table.is_current(command.seat, command.decision_id)


def line_failure(
    error: _LineError,
    index: int,
    line: str,
    suggestions: Sequence[str],
    decision_id: str | None,
) -> LineFailure:
    """The result for a line that cannot be played. suggestions: legal lines, for one that is refused."""
    reason = str(error)
    match error:
        case engine.UnreadableError():
            return LineUnreadable(
                index, line, reason, tuple(error.nearest_lines), next_decision_id=decision_id
            )
        case engine.AmbiguousError():
            return LineAmbiguous(index, line, reason, tuple(error.choices), next_decision_id=decision_id)
        case _:
            return LineRefused(index, line, reason, tuple(suggestions), next_decision_id=decision_id)
