"""Moves: lines of the game are played and committed, all of them or none.

A move that would make its player bankrupt has to be confirmed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import engine
from bot.hub.cache import TableCache
from bot.hub.commit import CommitDraft
from bot.hub.notifications.messages import personal_messages
from bot.hub.polls import PollHandler, completed, poll_for, stale_decision
from bot.hub.request import (
    Announcement,
    CommandResult,
    LineAmbiguous,
    LineFailure,
    LineRefused,
    LineUnreadable,
    PlayedLine,
    Request,
    ask_to_confirm,
    not_running,
    refused,
)
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat, pending_decisions
from engine.core.events import PlayerBankrupt
from mail.reading.line_text import normalize_line
from storage import LogRow

TO_ACT = " to act: "
OFFERED_ALREADY = "That is offered already, and waits for an answer."

_LineError = engine.UnreadableError | engine.AmbiguousError | engine.RefusedError


class NotCarriedOut(Exception):
    """A line of a request cannot be carried out. index: of the line. state: the position in which a move was
    tried."""

    def __init__(self, error: ValueError | _LineError, index: int, state: engine.State | None = None) -> None:
        super().__init__(str(error))
        self._error, self._index, self._state = error, index, state

    def result(self, table: LiveTable, request: Request) -> LineFailure:
        """What is answered."""
        error = self._error
        if isinstance(error, ValueError):
            return refused(request, str(error), self._index)
        suggestions: Sequence[str] = ()
        if self._state is not None and isinstance(error, engine.RefusedError):
            line = request.lines[self._index]
            suggestions = engine.nearest_lines(self._state, engine_seat(request.seat), line)
            error = self._with_reason(table, request, self._state, str(error))
        return line_failure(error, *request.numbered_line(self._index), suggestions)

    def _with_reason(
        self, table: LiveTable, request: Request, state: engine.State, refusal: str
    ) -> engine.RefusedError:
        """A refusal of somebody who is not asked, which names who is: with why it is not their turn."""
        is_asked = any(p.seat == request.seat and p.is_main for p in pending_decisions(state, 0))
        if is_asked or TO_ACT not in refusal:
            return engine.RefusedError(refusal)
        was_asked = self._index and any(p.seat == request.seat and p.is_main for p in table.pending)
        if was_asked:
            return engine.RefusedError(f"Your turn has ended with the line before. {refusal}")
        played = table.log.line_of_play.played
        last = table.log.row(played[-1]) if played else None
        ended = f", which has ended with `{last.line}`" if last and last.seat == request.seat else ""
        return engine.RefusedError(f"It is not your turn{ended}. {refusal}")


class Beside(NamedTuple):
    """Lines of a request that are no moves, by their index, and what is done with them in the commit of its
    moves; without a move in one of their own.

    carry_out: is called once the moves are in the draft, and raises NotCarriedOut. It gives a function for
    the sentences that answer these lines, which is called once the draft is complete. answer: makes the
    result of these sentences, for a request without a move.
    """

    lines: frozenset[int]
    carry_out: Callable[[CommitDraft], Awaitable[Callable[[], tuple[str, ...]]]]
    answer: Callable[[str], CommandResult]


class MoveHandler:
    """Plays lines at a locked table."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache, self._polls = cache, polls

    async def play_lines(
        self, table: LiveTable, request: Request, beside: Beside | None = None
    ) -> CommandResult:
        """Play the lines of a request in order and commit them, with what is beside them."""
        if problem := not_running(table, "running"):
            return problem
        if not _is_current(table, request):
            return stale_decision(table, request)
        try:
            moves = _play(table, request, beside.lines if beside else frozenset())
            if moves.question and not request.confirmed:
                return ask_to_confirm(request, moves.question)
            return await self._commit(table, request, moves, beside)
        except NotCarriedOut as failure:
            return failure.result(table, request)

    async def carry_out(self, table: LiveTable, request: Request, beside: Beside) -> CommandResult:
        """Carry out lines that are no moves, with the moves of the same request, if it has any."""
        if len(beside.lines) < len(request.lines):
            return await self.play_lines(table, request, beside)
        try:
            async with self._cache.commit(table, request.request_id) as draft:
                answers = await beside.carry_out(draft)
                draft.make_result = lambda: beside.answer("\n".join(answers()))
        except NotCarriedOut as failure:
            return failure.result(table, request)
        assert draft.result is not None
        return draft.result

    async def try_lines(self, table: LiveTable, request: Request) -> CommandResult | None:
        """Play the lines of a request as `play_lines` does; None where they are not played."""
        if not_running(table, "running") or not _is_current(table, request):
            return None
        try:
            moves = _play(table, request)
        except NotCarriedOut:
            return None
        if moves.question and not request.confirmed:
            return None
        return await self._commit(table, request, moves)

    async def _commit(
        self, table: LiveTable, request: Request, moves: _Moves, beside: Beside | None = None
    ) -> CommandResult:
        async with self._cache.commit_request(table, request) as draft:
            if request.announcement:
                draft.add_note(request.transport, "time up", request.announcement.table)
            for row, played_line in zip(moves.rows, moves.played, strict=True):
                draft.add_row(row, moves.game.state, played_line.sentences)
            draft.game = moves.game
            answers = await beside.carry_out(draft) if beside else tuple[str]
            await self._polls.drop_after_move(draft, request.seat)
            if request.announcement:
                self._announce(draft, request, request.announcement)
            draft.make_result = lambda: completed(draft, answers(), tuple(moves.played))
        assert draft.result is not None
        return draft.result

    @staticmethod
    def _announce(draft: CommitDraft, request: Request, announcement: Announcement) -> None:
        """Tell the table what is played for a seat, and its player in words of their own."""
        draft.announce("news", announcement.table)
        table = draft.table
        if (player := table.metadata.recipients.get(request.seat)) is not None:
            draft.told_otherwise = player.person_id
            draft.messages += personal_messages(
                table.stored_info, "time_up", player, announcement.player,
                f"{table.stored_info.id}.{draft.seq}.time_up", draft.timestamp,
            )  # fmt: skip


class _Moves(NamedTuple):
    """Lines that were played: the game after them, and for each its row of the log and what is answered.

    question: why they have to be confirmed."""

    game: engine.Game
    rows: Sequence[LogRow]
    played: Sequence[PlayedLine]
    question: str | None = None


def _play(table: LiveTable, request: Request, beside: Collection[int] = ()) -> _Moves:
    """Play the lines of a request but those `beside`, one after the other, on the decoded position.

    Raises NotCarriedOut.
    """
    g, seat = engine.game_of(table.give_state()), engine_seat(request.seat)
    first_seq = table.seq + (2 if request.announcement else 1)
    rows, played, question = list[LogRow](), list[PlayedLine](), None
    for index, raw_line in enumerate(request.lines):
        if index in beside:
            continue
        try:
            line, _, events = engine.play_line_on(g, seat, normalize_line(raw_line))
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as error:
            raise NotCarriedOut(error, index, g.state) from error
        if _is_offered_twice(g.state):
            raise NotCarriedOut(engine.RefusedError(OFFERED_ALREADY), index, g.state)
        sentences = tuple(engine.narrate(g, events))
        question = question or why_asked(g.state, events)
        played.append(PlayedLine(first_seq + len(rows), raw_line, line, sentences))
        rows.append(request.new_row(index, line=line, events=engine.encode_events(events)))
    return _Moves(g, rows, played, question)


def _is_offered_twice(state: engine.State) -> bool:
    """Whether the same deal is proposed by two open offers."""
    deals = [(offer.proposer, offer.deal) for offer in state.offers]
    return len(set(deals)) < len(deals)


def _is_current(table: LiveTable, request: Request) -> bool:
    """Whether the decision that the request answers is still open. While a poll is open, its answer may also
    be a move."""
    if request.decision_id is None:
        return True
    if request.answers_poll:
        return poll_for(table, request) is not None
    return table.is_current(request.seat, request.decision_id)


def line_failure(error: _LineError, index: int, line: str, suggestions: Sequence[str] = ()) -> LineFailure:
    """The result for a line that cannot be played. suggestions: legal lines, for one that is refused."""
    reason = str(error)
    match error:
        case engine.UnreadableError():
            return LineUnreadable(index, line, reason, tuple(error.nearest_lines))
        case engine.AmbiguousError():
            return LineAmbiguous(index, line, reason, tuple(error.choices))
        case _:
            return LineRefused(index, line, reason, tuple(suggestions))


def why_asked(state: engine.State, events: Iterable[engine.AnyEvent]) -> str | None:
    """Why a move has to be confirmed, as a sentence; None for one that is played at once.

    state: after the move. A bankruptcy is confirmed; the usual end of a game is not.
    """
    if not any(isinstance(event, PlayerBankrupt) for event in events) and not _ends_in_bankruptcy(state):
        return None
    return "You go bankrupt, and the game ends." if state.game_over else "You go bankrupt and leave the game."


def _ends_in_bankruptcy(state: engine.State) -> bool:
    return state.game_over is not None and state.game_over.bankrupt is not None
