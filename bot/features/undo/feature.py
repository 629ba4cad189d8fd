"""`undo` and `redo`: at once for one's own moves, by a vote if moves of others are concerned."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.undo.rewind import (
    Rewind,
    RewindKind,
    current_rewind,
    poll_question,
    rewind_for,
    rewind_sentence,
)
from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.feature import Addition, TurnPage
from bot.hub.polls import REWIND_POLLS, Motion, PollHandler, completed, stale_decision
from bot.hub.request import CommandResult, Request, not_running, refused
from bot.hub.table import LiveTable
from bot.position.controls import Say
from storage import TablePoll


class UndoHandler:
    """Undoes and restores moves at a held table."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache, self._polls = cache, polls

    def motions(self) -> dict[str, Motion]:
        """What a poll about an undo or redo decides; any move ends it, as it is about the moves it names."""
        motion = Motion(_carry_out, _is_possible, ends_with_move=lambda poll, seat: True)
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
            return refused(table, request, rewind)
        info = table.stored_info
        if others := [seat for seat in rewind.other_seats(table, request.seat) if info.player_at(seat)]:
            question = poll_question(table, rewind)
            details = {"target": rewind.target}
            return await self._polls.open_poll(table, request, kind, others, question, details)
        async with self._cache.commit_request(table, request) as draft:
            sentence = await _apply(draft, request, rewind)
            draft.make_result = lambda: completed(draft, request, sentences=(sentence,))
        assert draft.result is not None
        return draft.result


def _rewind_of(table: LiveTable, open_poll: TablePoll) -> Rewind | None:
    """The rewind that a poll is about, from the current position."""
    kind: RewindKind = "undo" if open_poll.poll.kind == "undo" else "redo"
    return current_rewind(table, kind, int(open_poll.poll.details["target"]))


def _is_possible(table: LiveTable, open_poll: TablePoll) -> bool:
    return _rewind_of(table, open_poll) is not None


async def _carry_out(draft: CommitDraft, request: Request, open_poll: TablePoll) -> list[str]:
    """Undo or redo what all have agreed to."""
    rewind, poll = _rewind_of(draft.table, open_poll), open_poll.poll
    assert rewind is not None
    proposer = poll.proposer_seat if poll.proposer_seat is not None else request.seat
    proposal = Request(proposer, (poll.kind,), (0,), None, None, request.person_id, request.transport)
    names = [draft.table.state.players[seat] for seat, agrees in open_poll.votes.items() if agrees]
    return [await _apply(draft, proposal, rewind, names)]


async def _apply(draft: CommitDraft, request: Request, rewind: Rewind, agreed: Sequence[str] = ()) -> str:
    """Move the end of the line of play and close the polls about undo and redo; what happened, in a
    sentence. agreed: the players who have voted for it."""
    table = draft.table
    sentence = rewind_sentence(table, request.seat, rewind, agreed)
    row = request.new_row(kind=rewind.kind, line=rewind.kind, raw_line=sentence, rewinds_to=rewind.target)
    draft.add_row(row, table.log.state_after_move(rewind.target))
    for open_poll in table.polls:
        if open_poll.poll.kind in REWIND_POLLS:
            await (await draft.unit()).polls.close(open_poll.poll.id, "superseded")
    draft.announce("news", sentence)
    return sentence
