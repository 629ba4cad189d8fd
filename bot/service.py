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
from bot import notices, plans, votes, words
from bot.answers import (
    Ambiguous,
    Answer,
    Closed,
    Confirm,
    Done,
    Moved,
    NotYours,
    Refused,
    Shown,
    Stale,
    Unreadable,
    Voted,
    decoded,
)
from bot.lobby import allowed, told_status
from bot.memory import Draft
from bot.planning import Planning
from bot.play import Play, seat_name
from bot.sayings import ALONE, PLANS, SHOWS, Saying, first_word, kept, shown
from storage import Ballot, Repeated, Taken
from storage import Stale as Overtaken

ATTEMPTS = 5  # against another process that writes at the same table


class Service(Planning):
    """All tables of one store. Make one for each process, and let `run` go on beside it."""

    async def say(
        self,
        table: int,
        seat: int | None,
        lines: Sequence[str],
        seen: str | None,
        request: str | None,
        *,
        person: int | None = None,
        transport: str = "terminal",
    ) -> Answer:
        """Say lines of notation for a seat: all of them are played, in order, or none.

        seat: None finds the seat of `person`. seen: the decision that is answered, None for whatever
        stands now. request: a name unique to this request; said again it gets the same answer and
        has no second effect. person: who speaks; None is the operator, who may speak for every seat.
        Beside the game's lines it understands `undo`, `redo`, `resign`, `help`, `status`, `map`,
        `market`, `log [N]`, `company X`, `player X`, `at ROUND`, `export [FORM]`, `plan LINES`, and
        `accept` / `decline` (also `accept vote`) while a vote asks the seat; each of these stands alone.
        Raises storage.Missing for a table that is not there, StoreError where nothing could be kept.
        """
        for attempt in range(ATTEMPTS):
            try:
                async with self._alone(table):
                    glance = await self.store.glance(table, request)
                    if glance.answer is not None:
                        return decoded(glance.answer)
                    play = await self._current(table, glance)
                    return await self._heard(play, seat, lines, seen, request, person, transport)
            except Overtaken:
                if attempt == ATTEMPTS - 1:
                    raise
            except Repeated:
                if former := await self._answered(request):
                    return former
                raise
        raise AssertionError("unreachable")

    async def _heard(
        self,
        play: Play,
        seat: int | None,
        lines: Sequence[str],
        seen: str | None,
        request: str | None,
        person: int | None,
        transport: str,
    ) -> Answer:
        info = play.table
        if seat is None and person is not None:
            seat = info.seat_of(person)
        if not play.begun:
            return Closed(info.status, f"Table {info.code} is {told_status(info.status)}.")
        if seat is None or not 0 <= seat < len(play.state.players):
            return NotYours(f"You have no seat at table {info.code}.")
        sitter = info.at(seat)
        if person is not None and (sitter is None or sitter.person != person):
            return NotYours(f"That is for {play.state.players[seat]}, not for you.")
        places, plain = tuple(zip(*kept(lines), strict=True)) or ((), ())
        saying = Saying(seat, plain, places, seen, request, person, transport)
        answer = await self._dispatched(play, saying)
        if request and not isinstance(answer, Done | Voted | Shown | Confirm):
            async with self._writing(play, request) as draft:
                draft.answer = answer
        return answer

    async def _dispatched(self, play: Play, said: Saying) -> Answer:
        if not said.lines:
            return Unreadable(
                index=0, line="", reason="Nothing was said.", decision=self._decision(play, said)
            )
        if first_word(said.lines[0]) in PLANS:
            return await self._plan(play, said)
        if len(said.lines) > 1:
            for index, line in enumerate(said.lines):
                if first_word(line) in ALONE:
                    reason = f"`{line}` has to be said by itself."
                    return Refused(*said.place(index), reason, decision=self._decision(play, said))
            return await self._moves(play, said)
        line = said.lines[0]
        word = first_word(line)
        if word in SHOWS:
            try:
                if answer := shown(play, said.seat, line):
                    return answer
            except ValueError as wrong:
                return Refused(0, line, str(wrong), decision=self._decision(play, said))
        if word in ("accept", "decline"):
            answer_or_none = await self._answer_vote(play, said)
            if answer_or_none:
                return answer_or_none
        if line.casefold() in ("undo", "redo"):
            return await self._shift(play, said)
        if word == "resign":
            return await self._resign(play, said)
        return await self._moves(play, said)

    @staticmethod
    def _decision(play: Play, said: Saying) -> str | None:
        return next((a.decision for a in play.asked if a.seat == said.seat), None)

    @staticmethod
    def _closed(play: Play, *open_to: str) -> Closed | None:
        """The answer where the table is not in one of these states."""
        status = play.table.status
        if status in open_to:
            return None
        return Closed(status, f"Table {play.table.code} is {told_status(status)}.")

    # -- moves -------------------------------------------------------------------------------

    async def _moves(self, play: Play, said: Saying) -> Answer:
        if closed := self._closed(play, "running"):
            return closed
        if not self._current_for(play, said):
            return self._stale(play, said)
        state, moves = play.state, []
        name = seat_name(said.seat)
        entries = []
        for index, line in enumerate(said.lines):
            try:
                full, state, events = engine.say(state, name, line)
            except (engine.Unreadable, engine.Ambiguous, engine.Refused) as error:
                near = engine.nearest(state, name, line) if isinstance(error, engine.Refused) else ()
                return self._failed(error, *said.place(index), near, self._decision(play, said))
            entries.append(said.entry(index, line=full, events=engine.encoded_events(events)))
            seq = play.seq + len(entries)
            moves.append(Moved(seq, line, full, tuple(engine.narrate(state, events))))
        async with self._writing(play, said.request) as draft:
            for entry, moved in zip(entries, moves, strict=True):
                draft.add(entry, state, moved.sentences)
            await self._joined_by(draft, said.seat)
            draft.answer = self._done(draft, said, moves=tuple(moves))
        return draft.answer

    @staticmethod
    def _failed(
        error: engine.Unreadable | engine.Ambiguous | engine.Refused,
        index: int,
        line: str,
        near: Sequence[str],
        decision: str | None,
    ) -> Answer:
        """The answer to a line that cannot be played; `near` are lines for one that is refused."""
        match error:
            case engine.Unreadable():
                return Unreadable(index, line, str(error), tuple(error.nearest), decision=decision)
            case engine.Ambiguous():
                return Ambiguous(index, line, str(error), tuple(error.choices), decision=decision)
            case _:
                return Refused(index, line, str(error), tuple(near), decision=decision)

    # -- plans -------------------------------------------------------------------------------

    async def _plan(self, play: Play, said: Saying) -> Answer:
        """`plan LINES` makes a plan, `plan more LINES` goes on with it; `plan show`, `play`, `clear`."""
        sitter = play.table.at(said.seat)
        if sitter is None:
            return Refused(0, said.lines[0], "Nobody sits there who could plan.")
        _, _, first = said.lines[0].partition(" ")
        word, _, rest = first.strip().partition(" ")
        kept = await self._plan_of(play, sitter.person)
        match word.casefold():
            case "" | "show":
                return self._planned(play, said, kept)
            case "clear":
                await self._keep_plan(play, sitter.person, ())
                return Shown("plan", "Your plan is thrown away.", decision=self._decision(play, said))
            case "play":
                return await self._play_plan(play, said, sitter.person, kept)
            case "more":
                former, new = kept, (rest, *said.lines[1:])
            case _:
                former, new = [], (first, *said.lines[1:])
        try:
            lines = [*former, *plans.read(new, said.seat, play.state.players)]
        except ValueError as wrong:
            return Refused(0, said.lines[0], str(wrong), decision=self._decision(play, said))
        trial = plans.tried(play.state, lines, said.seat)
        if trial.wrong is not None:
            at, now = len(trial.lines), self._decision(play, said)
            seat, line = lines[at]
            near = engine.nearest(trial.state, seat_name(seat), line)
            return self._failed(trial.wrong, max(at - len(former), 0), line, near, now)
        await self._keep_plan(play, sitter.person, trial.lines)
        return self._planned(play, said, list(trial.lines))

    def _planned(self, play: Play, said: Saying, lines: list[plans.Planned]) -> Answer:
        """What a plan leads to from where the table stands."""
        decision = self._decision(play, said)
        if not lines:
            return Shown("plan", "You have no plan here: `plan LINES` makes one.", decision=decision)
        trial = plans.tried(play.state, lines, said.seat)
        text = plans.told(play.state, trial, lines)
        return Shown("plan", text, "map", engine.encoded(trial.state), decision=decision)

    async def _play_plan(self, play: Play, said: Saying, person: int, kept: list[plans.Planned]) -> Answer:
        """Say the next lines of a plan that are one's own, where one is asked whatever others were to
        say before them; what is left of it stays."""
        now = self._decision(play, said)
        while now and kept and kept[0][0] != said.seat:
            kept = kept[1:]
        own = plans.own(kept, said.seat)
        if not own:
            waits = f"Your plan waits for {play.state.players[kept[0][0]]}: {kept[0][1]}." if kept else ""
            return Refused(0, said.lines[0], waits or "Your plan has no line of yours left.", decision=now)
        meant = replace(said, lines=tuple(own), places=tuple(range(len(own))))
        answer = await self._moves(play, meant)
        if isinstance(answer, Done):
            await self._keep_plan(play, person, kept[len(own) :])
        return answer

    def _current_for(self, play: Play, said: Saying) -> bool:
        """Whether what was answered still stands; the answer to a vote may be a move while it is open."""
        if said.seen is None:
            return True
        if said.seen.startswith("v"):
            return self._ballot(play, said) is not None
        return play.stands(said.seat, said.seen)

    def _done(
        self, draft: Draft, said: Saying, *, moves: tuple[Moved, ...] = (), sentences: tuple[str, ...] = ()
    ) -> Done:
        asked = draft.coming()
        state = draft.state or draft.play.state
        over = (words.waiting(state, ()),) if state.over else ()
        mine = next((a.decision for a in asked if a.seat == said.seat), None)
        return Done(moves, (*sentences, *over), asked, state.over is not None, decision=mine)

    def _stale(self, play: Play, said: Saying) -> Stale:
        """What was answered stands no more: what has happened since it did."""
        since = play.log(play.seq_of(said.seen or "") or play.last_move_of(said.seat))
        names = play.state.players
        lines = [
            f"{names[h.seat]}: {h.words}"
            for h in since
            if h.seat is not None and h.kind != "note" and h.tells
        ]
        sentences = [s for h in since if h.live for s in h.sentences]
        return Stale(
            f"That question is no longer open. {words.waiting(play.state, play.asked)}",
            tuple(sentences), tuple(lines), play.asked, decision=self._decision(play, said),
        )  # fmt: skip

    # -- undo and redo -----------------------------------------------------------------------

    async def _shift(self, play: Play, said: Saying) -> Answer:
        if closed := self._closed(play, "running", "finished"):
            return closed
        if said.seen and not said.seen.startswith("v") and said.seen.partition(".")[0] != str(play.cuts):
            return self._stale(play, said)
        line = said.lines[0].casefold()
        shift = votes.shift_for(play, "undo" if line == "undo" else "redo", said.seat)
        decision = self._decision(play, said)
        if isinstance(shift, str):
            return Refused(0, line, shift, decision=decision)
        if others := shift.others(play, said.seat):
            return await self._ask(play, said, shift.way, others, {"to": shift.to}, votes.wish(play, shift))
        async with self._writing(play, said.request) as draft:
            sentence = await self._carry_out(draft, said, shift)
            draft.answer = self._done(draft, said, sentences=(sentence,))
        return draft.answer

    async def _carry_out(self, draft: Draft, said: Saying, shift: votes.Shift) -> str:
        """The line of play stands elsewhere; votes about it are overtaken. The sentence that says so."""
        play = draft.play
        sentence = votes.done(play, said.seat, shift)
        entry = said.entry(kind=shift.way, line=shift.way, said=sentence, stands_at=shift.to)
        draft.add(entry, play.position(shift.to))
        for ballot in play.votes:
            if ballot.vote.kind in ("undo", "redo"):
                await (await draft.unit()).votes.close(ballot.vote.id, "overtaken")
        draft.announce("told", sentence)
        return sentence

    async def _joined_by(self, draft: Draft, seat: int) -> None:
        """A move while a shift is being voted on: it ends a redo, and joins what an undo would take."""
        for ballot in draft.play.votes:
            vote = ballot.vote
            if vote.kind == "redo":
                await (await draft.unit()).votes.close(vote.id, "overtaken")
            elif vote.kind == "undo" and seat not in (vote.seat, *ballot.voices):
                await (await draft.unit()).votes.close(vote.id, "renewed")
                asked = [*ballot.voices, seat]
                new = await (await draft.unit()).votes.open(
                    vote.table_id, vote.kind, asked, vote.subject, vote.seat
                )
                for former, agrees in ballot.voices.items():
                    if agrees is not None:
                        await (await draft.unit()).votes.answer(new.vote.id, former, agrees)
                self._invite_to_vote(draft, new, str(vote.subject.get("wish", "")))

    # -- votes -------------------------------------------------------------------------------

    async def _ask(
        self,
        play: Play,
        said: Saying,
        kind: str,
        others: Sequence[int],
        subject: dict[str, object],
        wish: str,
    ) -> Answer:
        """Open a vote among others."""
        names = play.state.players
        sentence = f"{words.listed([names[s] for s in others])} {'is' if len(others) == 1 else 'are'} asked."
        try:
            async with self._writing(play, said.request) as draft:
                wanted = subject | {"wish": wish}
                ballot = await (await draft.unit()).votes.open(play.table.id, kind, others, wanted, said.seat)
                draft.add(said.entry(kind="note", line=kind, said=wish))
                self._invite_to_vote(draft, ballot, wish)
                draft.answer = Voted(
                    f"v{ballot.vote.id}", (wish, sentence), tuple(others), None, draft.coming(),
                    decision=self._decision(play, said),
                )  # fmt: skip
        except Taken:
            reason = "That is already being voted on; it waits for the others' `accept` or `decline`."
            return Refused(0, said.lines[0], reason, decision=self._decision(play, said))
        return draft.answer

    def _invite_to_vote(self, draft: Draft, ballot: Ballot, wish: str) -> None:
        table = draft.play.table
        for seat, agrees in ballot.voices.items():
            sitter = table.at(seat)
            if agrees is None and sitter:
                to = draft.play.known.reached.get(seat)
                text = f"{wish} Say `accept` or `decline`."
                draft.parcels += notices.vote(table, draft.seq, ballot.vote.id, seat, text, to)

    @staticmethod
    def _ballot(play: Play, said: Saying) -> Ballot | None:
        """The open vote that is meant: the one that was seen, or the first that this seat has to answer."""
        asking = [b for b in play.votes if said.seat in b.voices]
        if said.seen and said.seen.startswith("v"):
            return next((b for b in asking if f"v{b.vote.id}" == said.seen), None)
        return next((b for b in asking if b.voices[said.seat] is None), None)

    async def _answer_vote(self, play: Play, said: Saying) -> Answer | None:
        """`accept` and `decline` where a vote asks the seat; None where they are meant for the game."""
        word, _, rest = said.lines[0].casefold().partition(" ")
        if rest.strip() not in ("", "vote"):
            return None
        about_vote = bool(rest) or (said.seen is not None and said.seen.startswith("v"))
        if said.seen and not about_vote:
            return None if self._also(play, said, word) else await self._cast(play, said, word)
        if about_vote or not self._also(play, said, word):
            return await self._cast(play, said, word, must=about_vote)
        if self._ballot(play, said) is None:
            return None
        choices = (f"{word} vote", *self._also(play, said, word))
        reason = f"A vote and an offer both wait for you: say {words.listed(choices, 'or')}."
        return Ambiguous(0, said.lines[0], reason, choices, decision=self._decision(play, said))

    @staticmethod
    def _also(play: Play, said: Saying, word: str) -> list[str]:
        """The game's own lines that begin with the word."""
        if play.table.status != "running":
            return []
        lines = engine.legal_lines(play.state, seat_name(said.seat))
        return [line for line in lines if first_word(line) == word]

    async def _cast(self, play: Play, said: Saying, word: str, must: bool = False) -> Answer | None:
        ballot = self._ballot(play, said)
        if ballot is None:
            reason = "That vote is closed, or it does not ask you."
            return Stale(reason, asked=play.asked, decision=self._decision(play, said)) if must else None
        async with self._writing(play, said.request) as draft:
            ballot = await (await draft.unit()).votes.answer(ballot.vote.id, said.seat, word == "accept")
            closed = votes.outcome(ballot.voices.values())
            names, wish = play.state.players, str(ballot.vote.subject.get("wish", ""))
            sentences = [f"{names[said.seat]} {'agrees' if word == 'accept' else 'does not agree'}: {wish}"]
            draft.add(said.entry(kind="note", line=word, said=sentences[0]))
            if closed:
                closed, more = await self._settle(draft, said, ballot, closed)
                sentences += more
            draft.answer = Voted(
                f"v{ballot.vote.id}", tuple(sentences),
                tuple(s for s, agrees in ballot.voices.items() if agrees is None) if not closed else (),
                closed, draft.coming(), decision=self._decision(play, said),
            )  # fmt: skip
        return draft.answer

    async def _settle(self, draft: Draft, said: Saying, ballot: Ballot, closed: str) -> tuple[str, list[str]]:
        """A vote is over: its outcome, and what that brings about in sentences."""
        play, vote = draft.play, ballot.vote
        wanted_by = vote.seat if vote.seat is not None else said.seat
        if closed == "failed":
            await (await draft.unit()).votes.close(vote.id, closed)
            text = f"It stays as it is: {play.state.players[said.seat]} does not agree."
            draft.announce("told", text)
            return closed, [text]
        if vote.kind == "end":
            await self._end(draft, "All agree to end the game.", said.person)
            await (await draft.unit()).votes.close(vote.id, closed)
            return closed, ["The game is ended."]
        way: votes.Way = "undo" if vote.kind == "undo" else "redo"
        shift = votes.still(play, way, int(vote.subject["to"]))
        await (await draft.unit()).votes.close(vote.id, closed if shift else "overtaken")
        if shift is None:
            return "overtaken", ["There is nothing left of what the vote was about."]
        asker = Saying(wanted_by, (way,), (0,), None, None, said.person, said.transport)
        return closed, [await self._carry_out(draft, asker, shift)]

    async def end(
        self, table: int, *, by: int | None, request: str | None = None, transport: str = "terminal"
    ) -> Answer:
        """End the game unfinished: at once by the host or operator, else by a vote of all others."""
        info = await self.table(table)
        seat = info.seat_of(by) if by is not None else None
        if by is None or by == info.host:
            ended = await self.end_at_once(table, by=by)
            return Closed(ended.status, f"Table {ended.code} is ended.")
        if seat is None:
            allowed(info, by, sitters=True)
        async with self._held(table) as play:
            if former := await self._answered(request):
                return former
            if closed := self._closed(play, "running", "paused"):
                return closed
            others = tuple(s.seat for s in play.table.sitters if s.seat is not None and s.person != by)
            said = Saying(seat or 0, ("end",), (0,), None, request, by, transport)
            wish = f"{play.state.players[said.seat]} would like to end the game unfinished."
            return await self._ask(play, said, "end", others, {}, wish)

    # -- resigning ---------------------------------------------------------------------------

    async def _resign(self, play: Play, said: Saying) -> Answer:
        if closed := self._closed(play, "running", "paused"):
            return closed
        decision = self._decision(play, said)
        sitter = play.table.at(said.seat)
        if sitter is None:
            return Refused(0, "resign", "That seat is empty already.", decision=decision)
        if said.lines[0].casefold().split() != ["resign", "yes"]:
            reason = "To resign is to give up your seat; the game then waits until somebody takes it."
            return Confirm(reason, "resign yes", decision=decision)
        async with self._writing(play, said.request) as draft:
            await (await draft.unit()).games.leave(sitter.row)
            await (await draft.unit()).games.change(play.table.id, status="paused")
            sentence = f"{sitter.name} resigns. The game waits until somebody takes that seat."
            draft.add(said.entry(kind="note", line="resign", said=sentence))
            draft.announce("told", sentence)
            draft.answer = Done((), (sentence,), ())
        return draft.answer


__all__ = ["Service"]
