"""Moves: lines of the game are played and committed, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.service.commands import Command, not_running
from bot.service.live_table import LiveTable, engine_seat
from bot.service.polls import PollHandler, completed, poll_for, stale_decision
from bot.service.results import (
    CommandResult,
    LineAmbiguous,
    LineFailure,
    LineRefused,
    LineUnreadable,
    PlayedLine,
)
from bot.service.table_cache import TableCache
from storage import NewLogRow


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
        state, seat = table.state, engine_seat(command.seat)
        first_seq = table.seq + (2 if command.announcement else 1)
        rows, played = list[NewLogRow](), list[PlayedLine]()
        for index, raw_line in enumerate(command.lines):
            try:
                line, state, events = engine.play_line(state, seat, raw_line)
            except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as error:
                is_refused = isinstance(error, engine.RefusedError)
                suggestions = engine.nearest_lines(state, seat, raw_line) if is_refused else ()
                decision_id = table.decision_id_of(command.seat)
                return line_failure(error, *command.numbered_line(index), suggestions, decision_id)
            sentences = tuple(engine.narrate(state, events))
            played.append(PlayedLine(first_seq + len(rows), raw_line, line, sentences))
            rows.append(command.new_row(index, line=line, events=engine.encode_events(events)))
        async with self._cache.commit_command(table, command) as draft:
            if command.announcement:
                draft.add_note(command.transport, "time up", command.announcement)
            for row, played_line in zip(rows, played, strict=True):
                draft.add_row(row, state, played_line.sentences)
            await self._polls.update_after_move(draft, command.seat)
            if command.announcement:
                draft.announce("news", command.announcement)
            draft.make_result = lambda: completed(draft, command, played=tuple(played))
        assert draft.result is not None
        return draft.result


def _is_current(table: LiveTable, command: Command) -> bool:
    """Whether the decision that the command answers is still open. While a poll is open, its answer may also
    be a move."""
    if command.decision_id is None:
        return True
    if command.answers_poll:
        return poll_for(table, command) is not None
    return table.is_current(command.seat, command.decision_id)


def line_failure(
    error: engine.UnreadableError | engine.AmbiguousError | engine.RefusedError,
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
