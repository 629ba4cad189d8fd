"""The service: the one way in for moves, beside the lobby and the views that transports show.

Theory. A table has a lock; whatever is said at it waits there its turn, so that no two moves start
from the same position, while other tables go on. Inside the lock the lines are read and played in
memory, and then written down in one transaction: rows of the log, the state, the answer to the
request, and in the outbox what others are to be told. Memory follows only when that is committed. A
process that dies has therefore either done all of it or nothing, and what is still to be sent is
sent by the next.

A decision is named by how often the line of play was cut (by undo and redo) and the number of the
question in it, `0.17`; an offer that is put to somebody beside the question by `0.o3`, a vote by
`v5`. `seen` is the name of what was answered. An act out of turn leaves the question and thus its
name; an undo gives new names to all.

Persons are ids of the store. `person=None` is the operator at the terminal of this machine, who may
do everything. Every method for the lobby raises ValueError with a sentence where it is not possible,
`storage.Missing` for a table that is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import engine
from bot.service import notifications, plans, rewind, text_views
from bot.service.commands import (
    PLAN_WORDS,
    QUERIES,
    STANDALONE,
    Command,
    first_word,
    run_query,
    without_comments,
)
from bot.service.live_table import LiveTable, engine_seat
from bot.service.lobby import check_allowed, status_text
from bot.service.plan_store import PlanStore
from bot.service.results import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineAmbiguous,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    PlayedLine,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
    decode_result,
)
from bot.service.table_cache import CommitDraft
from storage import AlreadyExists, DuplicateRequest, TablePoll
from storage import WriteConflict as Overtaken

MAX_ATTEMPTS = 5  # against another process that writes at the same table


class Service(PlanStore):
    """All tables of one store. Make one for each process, and let `run` go on beside it."""

    async def submit(
        self,
        table: int,
        seat: int | None,
        lines: Sequence[str],
        seen: str | None,
        request: str | None,
        *,
        person: int | None = None,
        transport: str = "terminal",
    ) -> CommandResult:
        """Say lines of notation for a seat: all of them are played, in order, or none.

        seat: None finds the seat of `person`. seen: the decision that is answered, None for whatever
        stands now. request: a name unique to this request; said again it gets the same answer and
        has no second effect. person: who speaks; None is the operator, who may speak for every seat.
        Beside the game's lines it understands `undo`, `redo`, `resign`, `help`, `status`, `map`,
        `market`, `log [N]`, `company X`, `player X`, `at ROUND`, `export [FORM]`, `plan LINES`, and
        `accept` / `decline` (also `accept vote`) while a vote asks the seat; each of these stands alone.
        Raises storage.Missing for a table that is not there, StoreError where nothing could be kept.
        """
        for attempt in range(MAX_ATTEMPTS):
            try:
                async with self.lock(table):
                    glance = await self.store.table_version(table, request)
                    if glance.stored_result is not None:
                        return decode_result(glance.stored_result)
                    play = await self.up_to_date(table, glance)
                    return await self._handle(play, seat, lines, seen, request, person, transport)
            except Overtaken:
                if attempt == MAX_ATTEMPTS - 1:
                    raise
            except DuplicateRequest:
                if former := await self.stored_result(request):
                    return former
                raise
        raise AssertionError("unreachable")

    async def _handle(
        self,
        play: LiveTable,
        seat: int | None,
        lines: Sequence[str],
        seen: str | None,
        request: str | None,
        person: int | None,
        transport: str,
    ) -> CommandResult:
        info = play.stored_info
        if seat is None and person is not None:
            seat = info.seat_of(person)
        if not play.begun:
            return TableNotRunning(info.status, f"Table {info.code} is {status_text(info.status)}.")
        if seat is None or not 0 <= seat < len(play.state.players):
            return NotYourSeat(f"You have no seat at table {info.code}.")
        sitter = info.player_at(seat)
        if person is not None and (sitter is None or sitter.person_id != person):
            return NotYourSeat(f"That is for {play.state.players[seat]}, not for you.")
        places, plain = tuple(zip(*without_comments(lines), strict=True)) or ((), ())
        saying = Command(seat, plain, places, seen, request, person, transport)
        answer = await self._dispatch(play, saying)
        if request and not isinstance(answer, Completed | PollUpdated | QueryAnswer | ConfirmationRequired):
            async with self.commit(play, request) as draft:
                draft.result = answer
        return answer

    async def _dispatch(self, play: LiveTable, said: Command) -> CommandResult:
        if not said.lines:
            return LineUnreadable(
                index=0,
                line="",
                reason="Nothing was said.",
                next_decision_id=self._next_decision_id(play, said),
            )
        if first_word(said.lines[0]) in PLAN_WORDS:
            return await self._plan_command(play, said)
        if len(said.lines) > 1:
            for index, line in enumerate(said.lines):
                if first_word(line) in STANDALONE:
                    reason = f"`{line}` has to be said by itself."
                    return LineRefused(
                        *said.numbered_line(index),
                        reason,
                        next_decision_id=self._next_decision_id(play, said),
                    )
            return await self._play_lines(play, said)
        line = said.lines[0]
        word = first_word(line)
        if word in QUERIES:
            try:
                if answer := run_query(play, said.seat, line):
                    return answer
            except ValueError as wrong:
                return LineRefused(0, line, str(wrong), next_decision_id=self._next_decision_id(play, said))
        if word in ("accept", "decline"):
            answer_or_none = await self._answer_poll(play, said)
            if answer_or_none:
                return answer_or_none
        if line.casefold() in ("undo", "redo"):
            return await self._rewind(play, said)
        if word == "resign":
            return await self._resign(play, said)
        return await self._play_lines(play, said)

    @staticmethod
    def _next_decision_id(play: LiveTable, said: Command) -> str | None:
        return next((a.decision_id for a in play.pending if a.seat == said.seat), None)

    @staticmethod
    def _not_running(play: LiveTable, *open_to: str) -> TableNotRunning | None:
        """The answer where the table is not in one of these states."""
        status = play.stored_info.status
        if status in open_to:
            return None
        return TableNotRunning(status, f"Table {play.stored_info.code} is {status_text(status)}.")

    # -- moves -------------------------------------------------------------------------------

    async def _play_lines(self, play: LiveTable, said: Command) -> CommandResult:
        if closed := self._not_running(play, "running"):
            return closed
        if not self._is_current(play, said):
            return self._stale_decision(play, said)
        state, moves = play.state, []
        name = engine_seat(said.seat)
        entries = []
        for index, line in enumerate(said.lines):
            try:
                full, state, events = engine.play_line(state, name, line)
            except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as error:
                near = (
                    engine.nearest_lines(state, name, line) if isinstance(error, engine.RefusedError) else ()
                )
                return self._line_failure(
                    error, *said.numbered_line(index), near, self._next_decision_id(play, said)
                )
            entries.append(said.new_row(index, line=full, events=engine.encode_events(events)))
            seq = play.seq + len(entries)
            moves.append(PlayedLine(seq, line, full, tuple(engine.narrate(state, events))))
        async with self.commit(play, said.request_id) as draft:
            for entry, moved in zip(entries, moves, strict=True):
                draft.add_row(entry, state, moved.sentences)
            await self._update_polls_after_move(draft, said.seat)
            draft.result = self._completed(draft, said, moves=tuple(moves))
        return draft.result

    @staticmethod
    def _line_failure(
        error: engine.UnreadableError | engine.AmbiguousError | engine.RefusedError,
        index: int,
        line: str,
        near: Sequence[str],
        decision: str | None,
    ) -> CommandResult:
        """The answer to a line that cannot be played; `near` are lines for one that is refused."""
        match error:
            case engine.UnreadableError():
                return LineUnreadable(
                    index, line, str(error), tuple(error.nearest_lines), next_decision_id=decision
                )
            case engine.AmbiguousError():
                return LineAmbiguous(index, line, str(error), tuple(error.choices), next_decision_id=decision)
            case _:
                return LineRefused(index, line, str(error), tuple(near), next_decision_id=decision)

    # -- plans -------------------------------------------------------------------------------

    async def _plan_command(self, play: LiveTable, said: Command) -> CommandResult:
        """`plan LINES` makes a plan, `plan more LINES` goes on with it; `plan show`, `play`, `clear`."""
        sitter = play.stored_info.player_at(said.seat)
        if sitter is None:
            return LineRefused(0, said.lines[0], "Nobody sits there who could plan.")
        _, _, first = said.lines[0].partition(" ")
        word, _, rest = first.strip().partition(" ")
        kept = await self.load_plan(play, sitter.person_id)
        match word.casefold():
            case "" | "show":
                return self._plan_result(play, said, kept)
            case "clear":
                await self.save_plan(play, sitter.person_id, ())
                return QueryAnswer(
                    "plan", "Your plan is thrown away.", next_decision_id=self._next_decision_id(play, said)
                )
            case "play":
                return await self._play_plan(play, said, sitter.person_id, kept)
            case "more":
                former, new = kept, (rest, *said.lines[1:])
            case _:
                former, new = [], (first, *said.lines[1:])
        try:
            lines = [*former, *plans.parse_plan(new, said.seat, play.state.players)]
        except ValueError as wrong:
            return LineRefused(
                0, said.lines[0], str(wrong), next_decision_id=self._next_decision_id(play, said)
            )
        trial = plans.try_plan(play.state, lines, said.seat)
        if trial.error is not None:
            at, now = len(trial.lines), self._next_decision_id(play, said)
            seat, line = lines[at]
            near = engine.nearest_lines(trial.state, engine_seat(seat), line)
            return self._line_failure(trial.error, max(at - len(former), 0), line, near, now)
        await self.save_plan(play, sitter.person_id, trial.lines)
        return self._plan_result(play, said, list(trial.lines))

    def _plan_result(self, play: LiveTable, said: Command, lines: list[plans.PlannedLine]) -> CommandResult:
        """What a plan leads to from where the table stands."""
        decision = self._next_decision_id(play, said)
        if not lines:
            return QueryAnswer(
                "plan", "You have no plan here: `plan LINES` makes one.", next_decision_id=decision
            )
        trial = plans.try_plan(play.state, lines, said.seat)
        text = plans.trial_text(play.state, trial, lines)
        return QueryAnswer("plan", text, "map", engine.encode_state(trial.state), next_decision_id=decision)

    async def _play_plan(
        self, play: LiveTable, said: Command, person: int, kept: list[plans.PlannedLine]
    ) -> CommandResult:
        """Say the next lines of a plan that are one's own, where one is asked whatever others were to
        say before them; what is left of it stays."""
        now = self._next_decision_id(play, said)
        while now and kept and kept[0][0] != said.seat:
            kept = kept[1:]
        own = plans.leading_own_lines(kept, said.seat)
        if not own:
            waits = f"Your plan waits for {play.state.players[kept[0][0]]}: {kept[0][1]}." if kept else ""
            return LineRefused(
                0, said.lines[0], waits or "Your plan has no line of yours left.", next_decision_id=now
            )
        meant = replace(said, lines=tuple(own), line_numbers=tuple(range(len(own))))
        answer = await self._play_lines(play, meant)
        if isinstance(answer, Completed):
            await self.save_plan(play, person, kept[len(own) :])
        return answer

    def _is_current(self, play: LiveTable, said: Command) -> bool:
        """Whether what was answered still stands; the answer to a vote may be a move while it is open."""
        if said.decision_id is None:
            return True
        if said.decision_id.startswith("v"):
            return self._poll_for(play, said) is not None
        return play.is_current(said.seat, said.decision_id)

    def _completed(
        self,
        draft: CommitDraft,
        said: Command,
        *,
        moves: tuple[PlayedLine, ...] = (),
        sentences: tuple[str, ...] = (),
    ) -> Completed:
        asked = draft.next_pending()
        state = draft.state or draft.table.state
        over = (text_views.waiting_sentence(state, ()),) if state.game_over else ()
        mine = next((a.decision_id for a in asked if a.seat == said.seat), None)
        return Completed(
            moves, (*sentences, *over), asked, state.game_over is not None, next_decision_id=mine
        )

    def _stale_decision(self, play: LiveTable, said: Command) -> StaleDecision:
        """What was answered stands no more: what has happened since it did."""
        since = play.log(play.row_of_decision(said.decision_id or "") or play.last_move_of(said.seat))
        names = play.state.players
        lines = [
            f"{names[h.seat]}: {h.text}"
            for h in since
            if h.seat is not None and h.kind != "note" and h.has_text
        ]
        sentences = [s for h in since if h.is_live for s in h.sentences]
        return StaleDecision(
            f"That question is no longer open. {text_views.waiting_sentence(play.state, play.pending)}",
            tuple(sentences), tuple(lines), play.pending, next_decision_id=self._next_decision_id(play, said),
        )  # fmt: skip

    # -- undo and redo -----------------------------------------------------------------------

    async def _rewind(self, play: LiveTable, said: Command) -> CommandResult:
        if closed := self._not_running(play, "running", "finished"):
            return closed
        if (
            said.decision_id
            and not said.decision_id.startswith("v")
            and said.decision_id.partition(".")[0] != str(play.rewind_count)
        ):
            return self._stale_decision(play, said)
        line = said.lines[0].casefold()
        shift = rewind.rewind_for(play, "undo" if line == "undo" else "redo", said.seat)
        decision = self._next_decision_id(play, said)
        if isinstance(shift, str):
            return LineRefused(0, line, shift, next_decision_id=decision)
        if others := shift.other_seats(play, said.seat):
            return await self._open_poll(
                play, said, shift.kind, others, {"to": shift.target}, rewind.poll_question(play, shift)
            )
        async with self.commit(play, said.request_id) as draft:
            sentence = await self._apply_rewind(draft, said, shift)
            draft.result = self._completed(draft, said, sentences=(sentence,))
        return draft.result

    async def _apply_rewind(self, draft: CommitDraft, said: Command, shift: rewind.Rewind) -> str:
        """The line of play stands elsewhere; votes about it are overtaken. The sentence that says so."""
        play = draft.table
        sentence = rewind.rewind_sentence(play, said.seat, shift)
        entry = said.new_row(kind=shift.kind, line=shift.kind, said=sentence, stands_at=shift.target)
        draft.add_row(entry, play.state_after_move(shift.target))
        for ballot in play.polls:
            if ballot.poll.kind in ("undo", "redo"):
                await (await draft.unit()).polls.close(ballot.poll.id, "overtaken")
        draft.announce("told", sentence)
        return sentence

    async def _update_polls_after_move(self, draft: CommitDraft, seat: int) -> None:
        """A move while a shift is being voted on: it ends a redo, and joins what an undo would take."""
        for ballot in draft.table.polls:
            vote = ballot.poll
            if vote.kind == "redo":
                await (await draft.unit()).polls.close(vote.id, "overtaken")
            elif vote.kind == "undo" and seat not in (vote.proposer_seat, *ballot.votes):
                await (await draft.unit()).polls.close(vote.id, "renewed")
                asked = [*ballot.votes, seat]
                new = await (await draft.unit()).polls.open(
                    vote.table_id, vote.kind, asked, vote.details, vote.proposer_seat
                )
                for former, agrees in ballot.votes.items():
                    if agrees is not None:
                        await (await draft.unit()).polls.cast_vote(new.poll.id, former, agrees)
                self._request_votes(draft, new, str(vote.details.get("wish", "")))

    # -- votes -------------------------------------------------------------------------------

    async def _open_poll(
        self,
        play: LiveTable,
        said: Command,
        kind: str,
        others: Sequence[int],
        subject: dict[str, object],
        wish: str,
    ) -> CommandResult:
        """Open a vote among others."""
        names = play.state.players
        verb = "is" if len(others) == 1 else "are"
        sentence = f"{text_views.join_words([names[s] for s in others])} {verb} asked."
        try:
            async with self.commit(play, said.request_id) as draft:
                wanted = subject | {"wish": wish}
                ballot = await (await draft.unit()).polls.open(
                    play.stored_info.id, kind, others, wanted, said.seat
                )
                draft.add_row(said.new_row(kind="note", line=kind, said=wish))
                self._request_votes(draft, ballot, wish)
                draft.result = PollUpdated(
                    f"v{ballot.poll.id}", (wish, sentence), tuple(others), None, draft.next_pending(),
                    next_decision_id=self._next_decision_id(play, said),
                )  # fmt: skip
        except AlreadyExists:
            reason = "That is already being voted on; it waits for the others' `accept` or `decline`."
            return LineRefused(0, said.lines[0], reason, next_decision_id=self._next_decision_id(play, said))
        return draft.result

    def _request_votes(self, draft: CommitDraft, ballot: TablePoll, wish: str) -> None:
        table = draft.table.stored_info
        for seat, agrees in ballot.votes.items():
            sitter = table.player_at(seat)
            if agrees is None and sitter:
                to = draft.table.metadata.recipients.get(seat)
                text = f"{wish} Say `accept` or `decline`."
                draft.messages += notifications.vote_requests(
                    table, draft.seq, ballot.poll.id, seat, text, to
                )

    @staticmethod
    def _poll_for(play: LiveTable, said: Command) -> TablePoll | None:
        """The open vote that is meant: the one that was seen, or the first that this seat has to answer."""
        asking = [b for b in play.polls if said.seat in b.votes]
        if said.decision_id and said.decision_id.startswith("v"):
            return next((b for b in asking if f"v{b.poll.id}" == said.decision_id), None)
        return next((b for b in asking if b.votes[said.seat] is None), None)

    async def _answer_poll(self, play: LiveTable, said: Command) -> CommandResult | None:
        """`accept` and `decline` where a vote asks the seat; None where they are meant for the game."""
        word, _, rest = said.lines[0].casefold().partition(" ")
        if rest.strip() not in ("", "vote"):
            return None
        about_vote = bool(rest) or (said.decision_id is not None and said.decision_id.startswith("v"))
        if said.decision_id and not about_vote:
            return None if self._game_lines(play, said, word) else await self._cast_vote(play, said, word)
        if about_vote or not self._game_lines(play, said, word):
            return await self._cast_vote(play, said, word, must=about_vote)
        if self._poll_for(play, said) is None:
            return None
        choices = (f"{word} vote", *self._game_lines(play, said, word))
        reason = f"A vote and an offer both wait for you: say {text_views.join_words(choices, 'or')}."
        return LineAmbiguous(
            0, said.lines[0], reason, choices, next_decision_id=self._next_decision_id(play, said)
        )

    @staticmethod
    def _game_lines(play: LiveTable, said: Command, word: str) -> list[str]:
        """The game's own lines that begin with the word."""
        if play.stored_info.status != "running":
            return []
        lines = engine.legal_lines(play.state, engine_seat(said.seat))
        return [line for line in lines if first_word(line) == word]

    async def _cast_vote(
        self, play: LiveTable, said: Command, word: str, must: bool = False
    ) -> CommandResult | None:
        ballot = self._poll_for(play, said)
        if ballot is None:
            reason = "That vote is closed, or it does not ask you."
            return (
                StaleDecision(
                    reason, pending=play.pending, next_decision_id=self._next_decision_id(play, said)
                )
                if must
                else None
            )
        async with self.commit(play, said.request_id) as draft:
            ballot = await (await draft.unit()).polls.cast_vote(ballot.poll.id, said.seat, word == "accept")
            closed = rewind.poll_outcome(ballot.votes.values())
            names, wish = play.state.players, str(ballot.poll.details.get("wish", ""))
            sentences = [f"{names[said.seat]} {'agrees' if word == 'accept' else 'does not agree'}: {wish}"]
            draft.add_row(said.new_row(kind="note", line=word, said=sentences[0]))
            if closed:
                closed, more = await self._close_poll(draft, said, ballot, closed)
                sentences += more
            draft.result = PollUpdated(
                f"v{ballot.poll.id}", tuple(sentences),
                tuple(s for s, agrees in ballot.votes.items() if agrees is None) if not closed else (),
                closed, draft.next_pending(), next_decision_id=self._next_decision_id(play, said),
            )  # fmt: skip
        return draft.result

    async def _close_poll(
        self, draft: CommitDraft, said: Command, ballot: TablePoll, closed: str
    ) -> tuple[str, list[str]]:
        """A vote is over: its outcome, and what that brings about in sentences."""
        play, vote = draft.table, ballot.poll
        wanted_by = vote.proposer_seat if vote.proposer_seat is not None else said.seat
        if closed == "failed":
            await (await draft.unit()).polls.close(vote.id, closed)
            text = f"It stays as it is: {play.state.players[said.seat]} does not agree."
            draft.announce("told", text)
            return closed, [text]
        if vote.kind == "end":
            await self.record_end(draft, "All agree to end the game.", said.person_id)
            await (await draft.unit()).polls.close(vote.id, closed)
            return closed, ["The game is ended."]
        way: rewind.RewindKind = "undo" if vote.kind == "undo" else "redo"
        shift = rewind.current_rewind(play, way, int(vote.details["to"]))
        await (await draft.unit()).polls.close(vote.id, closed if shift else "overtaken")
        if shift is None:
            return "overtaken", ["There is nothing left of what the vote was about."]
        asker = Command(wanted_by, (way,), (0,), None, None, said.person_id, said.transport)
        return closed, [await self._apply_rewind(draft, asker, shift)]

    async def propose_end(
        self, table: int, *, by: int | None, request: str | None = None, transport: str = "terminal"
    ) -> CommandResult:
        """End the game unfinished: at once by the host or operator, else by a vote of all others."""
        info = await self.table_info(table)
        seat = info.seat_of(by) if by is not None else None
        if by is None or by == info.host_id:
            ended = await self.end_now(table, by=by)
            return TableNotRunning(ended.status, f"Table {ended.code} is ended.")
        if seat is None:
            check_allowed(info, by, sitters=True)
        async with self.locked(table) as play:
            if former := await self.stored_result(request):
                return former
            if closed := self._not_running(play, "running", "paused"):
                return closed
            others = tuple(
                s.seat for s in play.stored_info.seated_players if s.seat is not None and s.person_id != by
            )
            said = Command(seat or 0, ("end",), (0,), None, request, by, transport)
            wish = f"{play.state.players[said.seat]} would like to end the game unfinished."
            return await self._open_poll(play, said, "end", others, {}, wish)

    # -- resigning ---------------------------------------------------------------------------

    async def _resign(self, play: LiveTable, said: Command) -> CommandResult:
        if closed := self._not_running(play, "running", "paused"):
            return closed
        decision = self._next_decision_id(play, said)
        sitter = play.stored_info.player_at(said.seat)
        if sitter is None:
            return LineRefused(0, "resign", "That seat is empty already.", next_decision_id=decision)
        if said.lines[0].casefold().split() != ["resign", "yes"]:
            reason = "To resign is to give up your seat; the game then waits until somebody takes it."
            return ConfirmationRequired(reason, "resign yes", next_decision_id=decision)
        async with self.commit(play, said.request_id) as draft:
            await (await draft.unit()).tables.vacate_seat(sitter.seat_id)
            await (await draft.unit()).tables.update(play.stored_info.id, status="paused")
            sentence = f"{sitter.name} resigns. The game waits until somebody takes that seat."
            draft.add_row(said.new_row(kind="note", line="resign", said=sentence))
            draft.announce("told", sentence)
            draft.result = Completed((), (sentence,), ())
        return draft.result


__all__ = ["Service"]
