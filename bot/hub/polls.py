"""Polls: undo, redo and an early end, which need the consent of other players."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import engine
from bot.features.undo.rewind import (
    Rewind,
    RewindKind,
    current_rewind,
    poll_outcome,
    poll_question,
    rewind_for,
    rewind_sentence,
)
from bot.features.votes.reminders import set_vote_reminders
from bot.hub import notify
from bot.hub.cache import TableCache
from bot.hub.changes import check_allowed
from bot.hub.commands import POLL_PREFIX, Command, first_word, not_running, refused
from bot.hub.commit import CommitDraft
from bot.hub.pace import stored_pace
from bot.hub.result import (
    CommandResult,
    Completed,
    LineAmbiguous,
    PlayedLine,
    PollUpdated,
    StaleDecision,
    TableNotRunning,
)
from bot.hub.seating import seat_robot
from bot.hub.status import RunningTables, record_end, record_pace
from bot.hub.table import LiveTable
from bot.position import text_views
from bot.position.pending import engine_seat
from engine.orders import declines_votes
from storage import AlreadyExists, TablePoll


class PollHandler:
    """Carries out `undo`, `redo` and votes at a locked table, and proposals to end a game."""

    def __init__(self, cache: TableCache, running: RunningTables) -> None:
        self._cache = cache
        self._running = running

    # -- undo and redo -----------------------------------------------------------------------

    async def rewind(self, table: LiveTable, command: Command) -> CommandResult:
        """Undo or redo at once, or open a poll if moves of others are concerned."""
        if problem := not_running(table, "running", "finished"):
            return problem
        if command.decision_id and not command.answers_poll:
            rewind_count, _, _ = command.decision_id.partition(".")
            if rewind_count != str(table.rewind_count):
                return stale_decision(table, command)
        kind: RewindKind = "undo" if command.lines[0].casefold() == "undo" else "redo"
        rewind = rewind_for(table, kind, command.seat)
        if isinstance(rewind, str):
            return refused(table, command, rewind)
        if others := rewind.other_seats(table, command.seat):
            question = poll_question(table, rewind)
            return await self.open_poll(table, command, kind, others, question, {"target": rewind.target})
        async with self._cache.commit_command(table, command) as draft:
            sentence = await _apply_rewind(draft, command, rewind)
            draft.make_result = lambda: completed(draft, command, sentences=(sentence,))
        assert draft.result is not None
        return draft.result

    async def update_after_move(self, draft: CommitDraft, seat: int) -> None:
        """A seat has moved during a poll: that closes a poll on a redo, and adds the seat to a poll on an
        undo."""
        for open_poll in draft.table.polls:
            poll = open_poll.poll
            if poll.kind == "redo":
                await (await draft.unit()).polls.close(poll.id, "superseded")
            elif poll.kind == "undo" and seat not in (poll.proposer_seat, *open_poll.votes):
                polls = (await draft.unit()).polls
                await polls.close(poll.id, "renewed")
                voters = [*open_poll.votes, seat]
                renewed = await polls.open(poll.table_id, poll.kind, voters, poll.details, poll.proposer_seat)
                for voter, agrees in open_poll.votes.items():
                    if agrees is not None:
                        await polls.cast_vote(renewed.poll.id, voter, agrees)
                await _request_votes(draft, renewed)

    # -- the end of a game -------------------------------------------------------------------

    async def propose_end(
        self, table_id: int, *, by: int | None, request_id: str | None = None, transport: str = "terminal"
    ) -> CommandResult:
        """End the game unfinished: at once for the host or the operator, else by a poll of all other
        players."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
        if by is None or by == info.host_id:
            info = await self._running.end_now(table_id, by=by)
            return TableNotRunning(info.status, f"Table {info.code} is ended.")
        seat = info.seat_of(by)
        if seat is None:
            check_allowed(info, by, seated_players=True)
        async with self._cache.locked(table_id) as table:
            if result := await self._cache.stored_result(request_id):
                return result
            if problem := not_running(table, "running", "paused"):
                return problem
            others = [
                p.seat for p in table.stored_info.seated_players if p.seat is not None and p.person_id != by
            ]
            command = Command(seat or 0, ("end",), (0,), None, request_id, by, transport)
            question = f"{table.state.players[command.seat]} would like to end the game unfinished."
            return await self.open_poll(table, command, "end", others, question)

    # -- robots ------------------------------------------------------------------------------

    async def propose_robot(self, table: LiveTable, command: Command) -> CommandResult:
        """`robot Ann`: a robot plays on for Ann, whose seat is empty or the player's own, if all agree."""
        if problem := not_running(table, "running", "paused"):
            return problem
        info, names = table.stored_info, table.state.players
        wanted = command.lines[0].partition(" ")[2].strip().casefold()
        open_seats = [s for s in range(len(names)) if s == command.seat or info.player_at(s) is None]
        empty = [s for s in open_seats if info.player_at(s) is None]
        named = [s for s in open_seats if names[s].casefold() == wanted] if wanted else empty[:1]
        if not named:
            reason = "Name an empty seat, or your own: `robot NAME`. A robot takes no other."
            return refused(table, command, reason)
        seat = named[0]
        others = [
            p.seat
            for p in info.seated_players
            if p.seat is not None and p.seat != command.seat and not p.is_robot
        ]
        question = f"A robot shall play on for {names[seat]}."
        if others and command.person_id is not None:
            return await self.open_poll(table, command, "robot", others, question, {"seat": seat})
        async with self._cache.commit_command(table, command) as draft:
            sentence = await seat_robot(draft, seat, command.person_id)
            draft.result = completed(draft, command, sentences=(sentence,))
        return draft.result

    # -- polls -------------------------------------------------------------------------------

    async def open_poll(
        self,
        table: LiveTable,
        command: Command,
        kind: str,
        voters: Sequence[int],
        question: str,
        details: dict[str, Any] | None = None,
    ) -> CommandResult:
        """Ask seats for their votes."""
        names = [table.state.players[seat] for seat in voters]
        sentence = f"{text_views.join_words(names)} {'is' if len(names) == 1 else 'are'} asked to vote."
        try:
            async with self._cache.commit_command(table, command) as draft:
                opened = await (await draft.unit()).polls.open(
                    table.stored_info.id,
                    kind,
                    voters,
                    {**(details or {}), "question": question},
                    command.seat,
                )
                draft.add_row(command.new_row(kind="note", line=kind, raw_line=question))
                decliner = _declining_seat(table, voters)
                if decliner is not None:
                    return await self._decline_by_order(draft, command, opened, decliner)
                await _request_votes(draft, opened)
                draft.result = PollUpdated(
                    poll_id(opened), (question, sentence), tuple(voters), None, draft.next_pending(),
                    next_decision_id=table.decision_id_of(command.seat),
                )  # fmt: skip
        except AlreadyExists:
            reason = "A vote on that is already open; it waits for `accept` or `decline` from the others."
            return refused(table, command, reason)
        return draft.result

    async def _decline_by_order(
        self, draft: CommitDraft, command: Command, opened: TablePoll, seat: int
    ) -> CommandResult:
        """A voter has left an order to decline: the poll is over as it is opened."""
        question = opened.poll.details["question"]
        declining = Command(seat, ("decline",), (0,), None, None, None, command.transport)
        await (await draft.unit()).polls.cast_vote(opened.poll.id, seat, False)
        sentence = f"{draft.table.state.players[seat]} declines: {question}"
        draft.add_row(declining.new_row(kind="note", line="decline", raw_line=sentence))
        outcome, more = await self._close_poll(draft, declining, opened, "failed")
        draft.result = PollUpdated(
            poll_id(opened), (question, sentence, *more), (), outcome, draft.next_pending(),
            next_decision_id=draft.table.decision_id_of(command.seat),
        )  # fmt: skip
        return draft.result

    async def vote(self, table: LiveTable, command: Command) -> CommandResult | None:
        """Carry out `accept` or `decline` as a vote; None if the line is meant for the game."""
        word, _, rest = command.lines[0].casefold().partition(" ")
        if rest.strip() not in ("", "vote"):
            return None
        names_poll = bool(rest) or command.answers_poll
        game_lines = _game_lines(table, command, word)
        if names_poll or not game_lines:
            return await self._cast_vote(table, command, word, required=names_poll)
        if command.decision_id or poll_for(table, command) is None:
            return None
        choices = (f"{word} vote", *game_lines)
        reason = f"A vote and an offer both wait for you: use {text_views.join_words(choices, 'or')}."
        decision_id = table.decision_id_of(command.seat)
        return LineAmbiguous(0, command.lines[0], reason, choices, next_decision_id=decision_id)

    async def _cast_vote(
        self, table: LiveTable, command: Command, word: str, *, required: bool
    ) -> CommandResult | None:
        """Cast a vote. Without an open poll: None, or if a poll is `required` a stale decision."""
        open_poll = poll_for(table, command)
        decision_id = table.decision_id_of(command.seat)
        if open_poll is None:
            reason = "That vote is closed, or you have no vote in it."
            return (
                StaleDecision(reason, pending=table.pending, next_decision_id=decision_id)
                if required
                else None
            )
        async with self._cache.commit_command(table, command) as draft:
            agrees = word == "accept"
            polls = (await draft.unit()).polls
            open_poll = await polls.cast_vote(open_poll.poll.id, command.seat, agrees)
            outcome = poll_outcome(open_poll.votes.values())
            name, verb = table.state.players[command.seat], "accepts" if agrees else "declines"
            sentences = [f"{name} {verb}: {open_poll.poll.details['question']}"]
            draft.add_row(command.new_row(kind="note", line=word, raw_line=sentences[0]))
            waiting = tuple(seat for seat, vote in open_poll.votes.items() if vote is None)
            if outcome:
                outcome, more = await self._close_poll(draft, command, open_poll, outcome)
                sentences += more
                waiting = ()
            draft.result = PollUpdated(
                poll_id(open_poll), tuple(sentences), waiting, outcome, draft.next_pending(),
                next_decision_id=decision_id,
            )  # fmt: skip
        return draft.result

    async def _close_poll(
        self, draft: CommitDraft, command: Command, open_poll: TablePoll, outcome: str
    ) -> tuple[str, list[str]]:
        """Close a poll and do what it was about; its final outcome, and what happened in sentences."""
        table, poll, polls = draft.table, open_poll.poll, (await draft.unit()).polls
        if outcome == "failed":
            await polls.close(poll.id, outcome)
            sentence = f"Nothing changes: {table.state.players[command.seat]} declines."
            draft.announce("news", sentence)
            return outcome, [sentence]
        if poll.kind == "end":
            await record_end(draft, "All players agree to end the game.", command.person_id)
            await polls.close(poll.id, outcome)
            return outcome, ["The game is ended."]
        if poll.kind == "robot":
            await polls.close(poll.id, outcome)
            return outcome, [await seat_robot(draft, int(poll.details["seat"]), command.person_id)]
        if poll.kind == "pace":
            pace = stored_pace(str(poll.details["pace"]))
            sentence = f"All players agree to the pace {pace}."
            await record_pace(draft, pace, sentence, command.person_id, command.transport)
            await polls.close(poll.id, outcome)
            return outcome, [sentence]
        kind: RewindKind = "undo" if poll.kind == "undo" else "redo"
        rewind = current_rewind(table, kind, int(poll.details["target"]))
        await polls.close(poll.id, outcome if rewind else "superseded")
        if rewind is None:
            return "superseded", ["What the vote was about no longer exists."]
        proposer = poll.proposer_seat if poll.proposer_seat is not None else command.seat
        proposal = Command(proposer, (kind,), (0,), None, None, command.person_id, command.transport)
        names = [table.state.players[seat] for seat, agrees in open_poll.votes.items() if agrees]
        return outcome, [await _apply_rewind(draft, proposal, rewind, names)]


async def _apply_rewind(
    draft: CommitDraft, command: Command, rewind: Rewind, agreed: Sequence[str] = ()
) -> str:
    """Move the end of the line of play and close the polls about undo and redo; what happened, in a
    sentence. agreed: the players who have voted for it."""
    table = draft.table
    sentence = rewind_sentence(table, command.seat, rewind, agreed)
    row = command.new_row(kind=rewind.kind, line=rewind.kind, raw_line=sentence, rewinds_to=rewind.target)
    draft.add_row(row, table.log.state_after_move(rewind.target))
    for open_poll in table.polls:
        if open_poll.poll.kind in ("undo", "redo"):
            await (await draft.unit()).polls.close(open_poll.poll.id, "superseded")
    draft.announce("news", sentence)
    return sentence


def _declining_seat(table: LiveTable, voters: Sequence[int]) -> int | None:
    """The first voter who has left an order to decline votes."""
    owners = {player.seat: player.person_id for player in table.stored_info.seated_players}
    declining = {
        order.seat
        for order in table.metadata.orders
        if owners.get(order.seat) == order.person_id and declines_votes(order.line)
    }
    return next((seat for seat in voters if seat in declining), None)


async def _request_votes(draft: CommitDraft, open_poll: TablePoll) -> None:
    """Ask every seat that has not voted, and remind them later."""
    await set_vote_reminders(await draft.unit(), open_poll)
    info, recipients = draft.table.stored_info, draft.table.metadata.recipients
    text = f"{open_poll.poll.details['question']} Answer `accept` or `decline`."
    for seat, vote in open_poll.votes.items():
        if vote is None and info.player_at(seat):
            draft.messages += notify.vote_requests(
                info, draft.seq, poll_id(open_poll), seat, text, recipients.get(seat), draft.timestamp
            )


def poll_id(open_poll: TablePoll) -> str:
    """The decision id of a poll."""
    return f"{POLL_PREFIX}{open_poll.poll.id}"


def poll_for(table: LiveTable, command: Command) -> TablePoll | None:
    """The open poll that a command answers: the one that it names, else the first that waits for the seat."""
    polls = [open_poll for open_poll in table.polls if command.seat in open_poll.votes]
    if command.answers_poll:
        return next((open_poll for open_poll in polls if poll_id(open_poll) == command.decision_id), None)
    return next((open_poll for open_poll in polls if open_poll.votes[command.seat] is None), None)


def _game_lines(table: LiveTable, command: Command, word: str) -> list[str]:
    """The legal lines of the game that begin with this word."""
    if table.stored_info.status != "running":
        return []
    lines = engine.legal_lines(table.state, engine_seat(command.seat))
    return [line for line in lines if first_word(line) == word]


# -- results ---------------------------------------------------------------------------------


def completed(
    draft: CommitDraft,
    command: Command,
    *,
    played: tuple[PlayedLine, ...] = (),
    sentences: tuple[str, ...] = (),
) -> Completed:
    """The result of a draft in which everything was done."""
    state = draft.state or draft.table.state
    sentences = (*sentences, *draft.sentences_of_orders())
    if state.game_over:
        sentences = (*sentences, text_views.waiting_sentence(state, ()))
    return Completed(
        played, sentences, draft.next_pending(), state.game_over is not None,
        next_decision_id=draft.next_decision_id(command.seat),
    )  # fmt: skip


def stale_decision(table: LiveTable, command: Command) -> StaleDecision:
    """The result for a decision that is no longer open: what has happened since it was."""
    log = table.log
    entries = log.entries(log.row_of_decision(command.decision_id or "") or log.last_move_of(command.seat))
    names = table.state.players
    lines = [
        f"{names[entry.seat]}: {entry.text}"
        for entry in entries
        if entry.seat is not None and entry.kind != "note" and entry.has_text
    ]
    sentences = [sentence for entry in entries if entry.is_live for sentence in entry.sentences]
    return StaleDecision(
        f"That decision is no longer open. {text_views.waiting_sentence(table.state, table.pending)}",
        tuple(sentences), tuple(lines), table.pending, next_decision_id=table.decision_id_of(command.seat),
    )  # fmt: skip
