"""`undo` and `redo`: at once for one's own moves, by a vote if moves of others are concerned.

A player who undoes only their own moves does it at once. If moves of others would be undone too, those
players vote with `accept` or `decline`, and one `decline` is enough to reject it. Redo works the other way
round: it restores what the last undo removed, until the next move. A vote is about the moves that it names,
so the next move closes it; robots and orders wait meanwhile (`bot.hub.polls.holds_table`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.feature import Addition, TurnPage
from bot.hub.info import TableInfo
from bot.hub.polls import REWIND_POLLS, Motion, PollHandler, completed, stale_decision
from bot.hub.request import CommandResult, Request, not_running, refused
from bot.hub.table import LiveTable
from bot.position.controls import Say
from engine.core.words import counted, join_words
from storage import TablePoll


class UndoHandler:
    """Undoes and restores moves at a held table."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache, self._polls = cache, polls

    def motions(self) -> dict[str, Motion]:
        """What a poll about an undo or redo decides; any move ends it, as it is about the moves it names, and
        only their players are asked."""
        motion = Motion(
            self._carry_out, _is_possible, ends_with_move=lambda poll, seat: True, asks_all=lambda poll: False
        )
        return dict.fromkeys(REWIND_POLLS, motion)

    def commands(self) -> list[Command]:
        """`undo`, `redo`."""
        meaning = "undo your last move; by a vote if others have moved since"
        return [
            TableCommand("undo", (Form("undo", meaning, "undo, redo"),), self.rewind),
            TableCommand("redo", (Form("redo"),), self.rewind),
        ]

    @staticmethod
    async def add_to_turn(page: TurnPage) -> Addition:
        """*Undo*, where one player is asked."""
        return Addition(controls=(Say("Undo", "undo"),) if page.pending else ())

    async def rewind(self, table: LiveTable, request: Request) -> CommandResult | None:
        """Undo or redo at once, or open a poll if moves of others are concerned; robots vote too."""
        if request.lines[0].casefold() != request.word:
            return None
        if problem := not_running(table, "running", "finished"):
            return problem
        if request.decision_id and not request.answers_poll:
            rewind_count, _, _ = request.decision_id.partition(".")
            if rewind_count != str(table.rewind_count):
                return stale_decision(table, request)
        kind: RewindKind = "undo" if request.word == "undo" else "redo"
        rewind = rewind_for(table, kind, request.seat)
        if isinstance(rewind, str):
            return refused(request, rewind)
        info = table.stored_info
        if others := [seat for seat in rewind.other_seats(table, request.seat) if info.player_at(seat)]:
            question = poll_question(table, request.seat, rewind)
            details = {"target": rewind.target}
            return await self._polls.open_poll(table, request, kind, others, question, details)
        async with self._cache.commit_request(table, request) as draft:
            sentence = await self._apply(draft, request, rewind, table.polls)
            draft.make_result = lambda: completed(draft, (sentence,))
        assert draft.result is not None
        return draft.result

    async def _carry_out(self, draft: CommitDraft, request: Request, open_poll: TablePoll) -> list[str]:
        """Undo or redo what all have agreed to."""
        rewind, poll = _rewind_of(draft.table, open_poll), open_poll.poll
        assert rewind is not None
        proposer = poll.proposer_seat if poll.proposer_seat is not None else request.seat
        proposal = Request(proposer, (poll.kind,), (0,), None, None, request.person_id, request.transport)
        names = [draft.table.state.players[seat] for seat, agrees in open_poll.votes.items() if agrees]
        others = [each for each in draft.table.polls if each.poll.id != poll.id]
        return [await self._apply(draft, proposal, rewind, others, names)]

    async def _apply(
        self,
        draft: CommitDraft,
        request: Request,
        rewind: Rewind,
        open_polls: Sequence[TablePoll],
        agreed: Sequence[str] = (),
    ) -> str:
        """Move the end of the line of play and close the polls about undo and redo; what happened, in a
        sentence. agreed: the players who have voted for it."""
        table = draft.table
        sentence = rewind_sentence(table, request.seat, rewind, agreed)
        row = request.new_row(kind=rewind.kind, line=rewind.kind, raw_line=sentence, rewinds_to=rewind.target)
        draft.add_row(row, table.log.state_after_move(rewind.target))
        draft.announce("news", sentence)
        for open_poll in open_polls:
            if open_poll.poll.kind in REWIND_POLLS:
                what = "has undone moves" if rewind.kind == "undo" else "has restored moves"
                await self._polls.drop_noted(draft, open_poll, f"{table.state.players[request.seat]} {what}")
        return sentence


def _rewind_of(table: LiveTable, open_poll: TablePoll) -> Rewind | None:
    """The rewind that a poll is about, from the current position; None if it would do nothing any more."""
    target, log = int(open_poll.poll.details["target"]), table.log
    if open_poll.poll.kind == "undo":
        rewind, is_there = rewind_to(table, "undo", target), target in (0, *log.line_of_play.played)
    else:
        rewind, is_there = rewind_to(table, "redo", target), log.redo_targets[-1:] == [target]
    return rewind if is_there and rewind.moves else None


def _is_possible(table: LiveTable, info: TableInfo, open_poll: TablePoll) -> bool:
    return _rewind_of(table, open_poll) is not None


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
        return rewind_to(table, kind, table.log.parent_of(move)) if move else "You have no move to undo."
    if not table.log.redo_targets:
        return "There is nothing to redo: a redo is possible after an undo, until the next move."
    return rewind_to(table, kind, table.log.redo_targets[-1])


def rewind_to(table: LiveTable, kind: RewindKind, target: int) -> Rewind:
    """Undo everything after a move, with 0 the whole game; or redo the undone moves up to this one."""
    line = table.log.line_of_play
    if kind == "undo":
        return Rewind(kind, target, tuple(move for move in line.played if move > target))
    return Rewind(kind, target, tuple(move for move in line.undone if move <= target))


def poll_question(table: LiveTable, seat: int, rewind: Rewind) -> str:
    """What the players of those moves are asked, and by whom."""
    moves = counted(len(rewind.moves), "move")
    return f"{table.state.players[seat]} would like to {rewind.kind} {moves} ({rewind.moves_text(table)})."


def rewind_sentence(table: LiveTable, seat: int, rewind: Rewind, agreed: Sequence[str] = ()) -> str:
    """What was done, by whom, and which players have agreed to it."""
    verb = "undoes" if rewind.kind == "undo" else "redoes"
    consent = f" {join_words(agreed)} agreed." if agreed else ""
    return f"{table.state.players[seat]} {verb} {rewind.moves_text(table, seat)}.{consent}"
