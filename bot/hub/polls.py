"""Polls: what needs the consent of other players.

A feature opens a poll of its kind and registers the motion that is carried out when all have accepted. One
`decline` is enough to reject it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import engine
from bot.hub.cache import TableCache
from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo
from bot.hub.loading import load_info, load_recipient
from bot.hub.notifications import messages
from bot.hub.notifications.notify import Recipient, wanted_channels
from bot.hub.notifications.preferences import not_quiet
from bot.hub.pace import Pace
from bot.hub.request import (
    UNKNOWN_SEAT,
    CommandResult,
    Completed,
    LineAmbiguous,
    PlayedLine,
    PollUpdated,
    Request,
    StaleDecision,
    first_word,
    own_seat_sentence,
    refused,
)
from bot.hub.seating import is_robot
from bot.hub.table import LiveTable
from bot.position import text_views
from bot.position.controls import Say
from bot.position.pending import engine_seat
from engine.core.words import join_words, names_are
from engine.standing_orders import ArmedOrder
from storage import NewMessage, TablePoll, UnitOfWork

VOTE_CONTROLS = (Say("Accept", "accept vote", "good"), Say("Decline", "decline vote", "danger"))
UNDO_POLL, HOLD_KIND = "undo", "hold"
"""The kind of poll for which robots and orders wait, and the kind of the timer at the end of that time."""
VOTE_KIND = "vote"
"""The kind of the timer that reminds of a vote."""
DAY = timedelta(days=1)
REWIND_POLLS = UNDO_POLL, "redo"
"""Kinds of polls whose details name the last move of the line of play that they lead to, as `target`."""


def holds_table(polls: Iterable[TablePoll], pace: Pace, now: datetime) -> bool:
    """Whether robots and orders wait, because of a vote on an undo."""
    return held_until(polls, pace, now) is not None


def held_until(polls: Iterable[TablePoll], pace: Pace, now: datetime) -> datetime | None:
    """Until when robots, orders and what is played for absent players wait; None if they do not."""
    ends = (_hold_end(each, pace) for each in polls if each.poll.kind == UNDO_POLL)
    return max((end for end in ends if end > now), default=None)


def _hold_end(poll: TablePoll, pace: Pace) -> datetime:
    """Until when robots and orders wait for a vote: for the allowance of a decision, by default a day."""
    wait = timedelta(seconds=pace.seconds) if pace.kind == "each" else DAY
    return poll.poll.opened_at + wait


async def _tell_nobody(draft: CommitDraft, open_poll: TablePoll, why: str) -> None:
    """Nobody beside the table waits for the poll."""


class Motion(NamedTuple):
    """What a poll of one kind decides. carry_out: does it when all have accepted; what happened, in
    sentences. is_possible: whether there is still something to do, with the seats of this table info. drop:
    tells those who do not sit at the table that nothing comes of it, and why. ends_with_move: whether it is
    closed once a seat has moved. asks_all: whether it also asks who takes a seat that had no vote."""

    carry_out: Callable[[CommitDraft, Request, TablePoll], Awaitable[list[str]]]
    is_possible: Callable[[LiveTable, TableInfo, TablePoll], bool] = lambda table, info, poll: True
    drop: Callable[[CommitDraft, TablePoll, str], Awaitable[None]] = _tell_nobody
    ends_with_move: Callable[[TablePoll, int], bool] = lambda poll, seat: False
    asks_all: Callable[[TablePoll], bool] = lambda poll: True


def _about(kind: str, details: dict[str, Any]) -> tuple[str, Any]:
    """The motion of a poll, and the seat that it is about. Former versions stored `robot` for `robot:2`."""
    return kind.partition(":")[0], details.get("seat")


class LeftOrders(NamedTuple):
    """What players have left beforehand. declining_seat: the first of some voters who has declined. armed:
    the orders of a person in a seat; raises LogNotLoaded."""

    declining_seat: Callable[[LiveTable, Sequence[int]], int | None] = lambda table, voters: None
    armed: Callable[[LiveTable, int, int], Sequence[ArmedOrder]] = lambda table, seat, person_id: ()


class PollHandler:
    """Opens polls at a held table, takes votes, and carries out what was decided. motions: by kind."""

    def __init__(self, cache: TableCache) -> None:
        self._cache = cache
        self.motions: dict[str, Motion] = {}
        self.orders = LeftOrders()

    async def open_poll(
        self,
        table: LiveTable,
        request: Request,
        kind: str,
        voters: Sequence[int],
        question: str,
        details: dict[str, Any] | None = None,
        *,
        instead_of: TablePoll | None = None,
    ) -> CommandResult:
        """Ask seats for their votes.

        kind: of the motion. At a table one poll of a kind is open, of `replace:2` one about that seat.
        instead_of: a poll that is closed, because others are asked now.
        """
        about = _about(kind, details or {})
        for each in table.polls:
            if each is not instead_of and _about(each.poll.kind, each.poll.details) == about:
                open_question = each.poll.details["question"]
                reason = f"A vote is already open, and waits for `accept` or `decline`: {open_question}"
                return refused(request, reason)
        names = [table.state.players[seat] for seat in voters]
        sentence = f"{names_are(names)} asked to vote."
        async with self._cache.commit_request(table, request) as draft:
            polls = (await draft.unit()).polls
            if instead_of is not None:
                await polls.close(instead_of.poll.id, "superseded")
            opened = await polls.open(
                table.stored_info.id,
                kind,
                voters,
                {**(details or {}), "question": question},
                request.proposer,
            )
            draft.add_row(request.new_row(kind="note", line="vote", raw_line=question))
            decliner = self.orders.declining_seat(table, voters)
            if decliner is not None:
                return await self._decline_by_order(draft, request, opened, decliner)
            await self.request_votes(draft, opened)
            if kind == UNDO_POLL:
                table_id, end = table.stored_info.id, _hold_end(opened, table.stored_info.pace)
                clocks = (await draft.unit()).clocks
                await clocks.set_due(f"{table_id}.{HOLD_KIND}", HOLD_KIND, end, table_id=table_id)
            draft.result = PollUpdated(messages.poll_id(opened), (question, sentence), tuple(voters))
        return draft.result

    async def _decline_by_order(
        self, draft: CommitDraft, request: Request, opened: TablePoll, seat: int
    ) -> CommandResult:
        """A voter has left an order to decline: the poll is over as it is opened."""
        question = opened.poll.details["question"]
        declining = Request(seat, ("decline",), (0,), None, None, None, request.transport)
        await (await draft.unit()).polls.cast_vote(opened.poll.id, seat, False)
        declines = f"{draft.table.state.players[seat]} declines"
        draft.add_row(declining.new_row(kind="note", line="decline", raw_line=f"{declines}: {question}"))
        outcome, more = await self._close_poll(draft, declining, opened, "failed")
        draft.result = PollUpdated(messages.poll_id(opened), (question, f"{declines}.", *more), (), outcome)
        return draft.result

    def _motion(self, open_poll: TablePoll) -> Motion | None:
        """What a poll decides; None for one of a feature that is not here."""
        return self.motions.get(open_poll.poll.kind.partition(":")[0])

    async def vote(self, table: LiveTable, request: Request) -> CommandResult | None:
        """Carry out `accept` or `decline` as a vote; None if the line is meant for the game."""
        word, _, rest = request.lines[0].casefold().partition(" ")
        if rest.strip() not in ("", "vote"):
            return None
        names_poll = bool(rest) or request.answers_poll
        game_lines = _game_lines(table, request)
        if names_poll or not game_lines:
            return await self._cast_vote(table, request, word, required=names_poll)
        if request.decision_id or poll_for(table, request) is None:
            return None
        choices = (f"{word} vote", *game_lines)
        reason = f"A vote and an offer both wait for you: use {join_words(choices, 'or')}."
        return LineAmbiguous(0, request.lines[0], reason, choices)

    async def _cast_vote(
        self, table: LiveTable, request: Request, word: str, *, required: bool
    ) -> CommandResult | None:
        """Cast a vote. Without an open poll: None, or if a poll is `required` a stale decision."""
        open_poll = poll_for(table, request) or _cast_already(table, request)
        if open_poll is None:
            reason = "That vote is closed, or you have no vote in it."
            return StaleDecision(reason) if required else None
        agrees = word == "accept"
        if agrees and self._motion(open_poll) is None:
            return refused(request, "This service cannot do what the vote is about; ask its operator.")
        info = table.stored_info
        if not _may_vote(info, open_poll, request):
            name = table.state.players[request.seat]
            is_end = open_poll.poll.kind == messages.END_POLL
            ends_alone = f"You play for {name}; only {name} can agree to end the game."
            return refused(request, ends_alone if is_end else own_seat_sentence(name))
        async with self._cache.commit_request(table, request) as draft:
            polls = (await draft.unit()).polls
            open_poll = await polls.cast_vote(open_poll.poll.id, request.seat, agrees)
            outcome = poll_outcome(open_poll.votes.values())
            name, verb = table.state.players[request.seat], "accepts" if agrees else "declines"
            sentences = [f"{name} {verb}: {open_poll.poll.details['question']}"]
            draft.add_row(request.new_row(kind="note", line=word, raw_line=sentences[0]))
            waiting = tuple(seat for seat, vote in open_poll.votes.items() if vote is None)
            if outcome:
                outcome, more = await self._close_poll(draft, request, open_poll, outcome)
                sentences += more
                waiting = ()
            if not (draft.ends_game or draft.changes_seats):
                sentences += _next_votes(info, await polls.open_polls(info.id), request)
            draft.make_result = lambda: PollUpdated(
                messages.poll_id(open_poll), (*sentences, *draft.sentences_of_orders()), waiting, outcome
            )
        return draft.result

    async def _close_poll(
        self, draft: CommitDraft, request: Request, open_poll: TablePoll, outcome: str
    ) -> tuple[str, list[str]]:
        """Close a poll and do what it was about; its final outcome, and what happened in sentences."""
        table, poll, polls = draft.table, open_poll.poll, (await draft.unit()).polls
        if outcome == "failed":
            await self.drop(draft, open_poll, f"{table.state.players[request.seat]} declines", outcome)
            return outcome, ["Nothing changes."]
        motion = self._motion(open_poll)
        assert motion is not None
        if not motion.is_possible(table, table.stored_info, open_poll):
            await polls.close(poll.id, "superseded")
            return "superseded", ["What the vote was about no longer exists."]
        await polls.close(poll.id, outcome)
        return outcome, await motion.carry_out(draft, request, open_poll)

    async def drop(
        self, draft: CommitDraft, open_poll: TablePoll, why: str, outcome: str = "superseded"
    ) -> str:
        """Close a poll of which nothing comes, and tell the table why; the sentence."""
        await (await draft.unit()).polls.close(open_poll.poll.id, outcome)
        if (motion := self._motion(open_poll)) is not None:
            await motion.drop(draft, open_poll, why)
        sentence = f"The vote is over, because {why}: {open_poll.poll.details['question']}"
        draft.announce("news", sentence)
        return sentence

    async def drop_after_move(self, draft: CommitDraft, seat: int) -> None:
        """A seat has moved: close the polls that end with that, unless this commit has closed them."""
        unit, table = draft.open_unit, draft.table
        for open_poll in await unit.polls.open_polls(table.stored_info.id) if unit else table.polls:
            motion = self._motion(open_poll)
            if motion is not None and motion.ends_with_move(open_poll, seat):
                await self.drop_noted(draft, open_poll, f"{table.state.players[seat]} has moved")

    async def drop_noted(self, draft: CommitDraft, open_poll: TablePoll, why: str) -> None:
        """Close a poll of which nothing comes; whoever acts next reads it with their turn."""
        draft.add_note("service", "vote", await self.drop(draft, open_poll, why))

    async def drop_moot(self, draft: CommitDraft) -> None:
        """Close the polls that end as seats change, and all with the end of the game; who plays on in a seat
        is asked for its vote."""
        if not draft.table.polls or not (draft.ends_game or draft.changes_seats):
            return
        unit, table = await draft.unit(), draft.table
        info = await load_info(unit, table.stored_info.id)
        for open_poll in await unit.polls.open_polls(info.id):
            motion = self._motion(open_poll)
            if draft.ends_game:  # the table is told of that
                await unit.polls.close(open_poll.poll.id, "superseded")
                if motion is not None:
                    await motion.drop(draft, open_poll, "the game is over")
            elif why := _why_moot(draft, info, open_poll, motion):
                await self.drop(draft, open_poll, why)
            else:
                await _ask_new_players(draft, info, open_poll, motion)

    async def request_votes(self, draft: CommitDraft, open_poll: TablePoll) -> None:
        """Ask every seat that has not voted, and remind them later."""
        unit, info = await draft.unit(), draft.table.stored_info
        for seat, vote in open_poll.votes.items():
            recipient = await voter_of(unit, draft.table, open_poll, seat)
            if vote is None and recipient:
                draft.messages += await ask_to_vote(unit, info, draft.seq, open_poll, seat, recipient)


def _new_seats(draft: CommitDraft, info: TableInfo) -> list[int]:
    """The seats that somebody takes or leaves. info: with the new players."""
    former = {player.seat: player.person_id for player in draft.table.stored_info.seated_players}
    new = {player.seat: player.person_id for player in info.seated_players}
    return [seat for seat in range(len(info.names)) if former.get(seat) != new.get(seat)]


def _why_moot(draft: CommitDraft, info: TableInfo, open_poll: TablePoll, motion: Motion | None) -> str:
    """Why nothing comes of a poll now that the seats have changed; empty where it goes on.

    A proposal ends with its proposer: once they have left, nobody wants it any more. Whoever is replaced by
    another person leaves it to them. No poll waits for a player who has left, nor for a robot that plays on
    for them. info: with the new players.
    """
    state, proposer = draft.state or draft.table.state, open_poll.poll.proposer_seat
    for seat in _new_seats(draft, info):
        player = info.player_at(seat)
        if (player is None or player.is_robot) and (
            seat == proposer or open_poll.votes.get(seat, True) is None
        ):
            return "the seats have changed" if player else f"{state.players[seat]} has left"
    is_possible = motion is None or motion.is_possible(draft.table, info, open_poll)
    return "" if is_possible else "the seats have changed"


async def _ask_new_players(
    draft: CommitDraft, info: TableInfo, open_poll: TablePoll, motion: Motion | None
) -> None:
    """Ask who plays on in a seat for its vote, also where the former player has cast it or has opened the
    poll: they have agreed to nothing. info: with the new players."""
    unit, poll = await draft.unit(), open_poll.poll
    asks_all = motion is not None and motion.asks_all(open_poll)
    for seat in _new_seats(draft, info):
        player = info.player_at(seat)
        has_vote = asks_all or seat in open_poll.votes or seat == poll.proposer_seat
        if player and not player.is_robot and has_vote:
            open_poll = await unit.polls.ask_anew(poll.id, seat)
            recipient = await load_recipient(unit, player.person_id, seat)
            absence = recipient.settings.absence
            if absence and absence.deputy_id is not None and recipient.settings.is_away(unit.now):
                continue  # their deputy is asked when appointed
            draft.messages += await ask_to_vote(unit, info, draft.seq, open_poll, seat, recipient)


async def voter_of(unit: UnitOfWork, table: LiveTable, open_poll: TablePoll, seat: int) -> Recipient | None:
    """Who is asked for the vote of a seat: the player where it is no question for their deputy, or a robot
    plays for them, unless they are away."""
    info, recipient = table.stored_info, table.metadata.recipients.get(seat)
    player = info.player_at(seat)
    if not recipient or not player or recipient.person_id == player.person_id:
        return recipient
    is_asked = messages.may_vote(info, open_poll, seat, recipient.person_id)
    if is_asked and not await is_robot(unit, recipient.person_id):
        return recipient
    recipient = await load_recipient(unit, player.person_id, seat)
    return None if recipient.settings.is_away(unit.now) else recipient


async def ask_to_vote(
    unit: UnitOfWork,
    info: TableInfo,
    seq: int,
    open_poll: TablePoll,
    seat: int,
    recipient: Recipient,
    suffix: str = "",
) -> list[NewMessage]:
    """The messages that ask a seat for its vote; the first reminder is set. seq: the row of the log that it
    is about. suffix: tells the messages of those who are asked once more.

    Who sleeps is not pinged in the thread. Where they are told there alone, they are reminded when they wake.
    """
    if not messages.may_vote(info, open_poll, seat, recipient.person_id):
        return []
    at = not_quiet(unit.now, recipient.settings.quiet_hours)
    if at == unit.now or wanted_channels(info, recipient) != {"table"}:
        at = unit.now + DAY
    await unit.clocks.set_due(
        f"{info.id}.{seat}.{VOTE_KIND}.{open_poll.poll.id}", VOTE_KIND, at,
        table_id=info.id, seat=seat, details={"poll": open_poll.poll.id},
    )  # fmt: skip
    key, question = messages.poll_id(open_poll), str(open_poll.poll.details["question"])
    notification = messages.Notification("vote", info.id, seq, seat, decision_id=key, sentences=(question,))
    return messages.sent(info, notification, recipient, now=unit.now, suffix=key + suffix)


def _may_vote(info: TableInfo, open_poll: TablePoll, request: Request) -> bool:
    """Whether a request may answer a poll for its seat; the operator may."""
    writer = request.person_id
    return writer is None or messages.may_vote(info, open_poll, request.seat, writer)


def _next_votes(info: TableInfo, polls: Iterable[TablePoll], request: Request) -> list[str]:
    """The next vote that waits for somebody who has named none, in the same seat."""
    if request.answers_poll:
        return []
    waiting = (poll for poll in polls if poll.votes.get(request.seat, True) is None)
    own = (poll for poll in waiting if _may_vote(info, poll, request))
    return [f"Another vote waits for you: {poll.poll.details['question']}" for poll in own][:1]


def poll_outcome(votes: Iterable[bool | None]) -> str | None:
    """`passed` once all have accepted, `failed` once one has declined, None while the poll is open."""
    cast = list(votes)
    if False in cast:
        return "failed"
    return None if None in cast else "passed"


def poll_for(table: LiveTable, request: Request) -> TablePoll | None:
    """The open poll that a request answers: the one that it names, else the first that waits for the seat."""
    polls = [open_poll for open_poll in table.polls if request.seat in open_poll.votes]
    if request.answers_poll:
        named = (poll for poll in polls if messages.poll_id(poll) == request.decision_id)
        return next(named, None)
    return next((open_poll for open_poll in polls if open_poll.votes[request.seat] is None), None)


def in_voting_seat(table: LiveTable, request: Request) -> Request:
    """A vote of somebody who plays for several seats, in the first of them whose vote is missing."""
    person_id = request.person_id
    if request.seat != UNKNOWN_SEAT or person_id is None or request.word not in ("accept", "decline"):
        return request
    in_seats = [request._replace(seat=seat) for seat in table.info.seats_of(person_id)]
    names_vote = request.rest.casefold() == "vote" or request.answers_poll
    if len(in_seats) < 2 or (not names_vote and any(_game_lines(table, each) for each in in_seats)):
        return request
    missing = (
        each
        for poll in table.polls
        for each in in_seats
        if not request.answers_poll or messages.poll_id(poll) == request.decision_id
        if poll.votes.get(each.seat, True) is None and _may_vote(table.info, poll, each)
    )
    return next(missing, request)


def _cast_already(table: LiveTable, request: Request) -> TablePoll | None:
    """The one open poll in which the seat has voted: its vote may be changed, as with the button."""
    polls = [] if request.answers_poll else [each for each in table.polls if request.seat in each.votes]
    return polls[0] if len(polls) == 1 else None


def can_only_vote(table: LiveTable, request: Request, line: str) -> bool:
    """Whether a line is `accept` or `decline` where a vote is open to its seat, and no offer."""
    word = line.strip().casefold()
    may_vote = word in ("accept", "decline") and poll_for(table, request) is not None
    return may_vote and not _game_lines(table, request._replace(lines=(line,)))


def _game_lines(table: LiveTable, request: Request) -> list[str]:
    """The legal lines of the game that begin with the word of the request."""
    if table.stored_info.status != "running":
        return []
    lines = engine.legal_lines(table.state, engine_seat(request.seat))
    return [line for line in lines if first_word(line) == request.word]


# -- results ---------------------------------------------------------------------------------


def completed(
    draft: CommitDraft, sentences: tuple[str, ...], played: tuple[PlayedLine, ...] = ()
) -> Completed:
    """The result of a draft in which everything was done."""
    state = draft.state or draft.table.state
    sentences = (*sentences, *draft.sentences_of_orders())
    if state.game_over:
        sentences = (*sentences, text_views.waiting_sentence(state, ()))
    return Completed(played, sentences, state.game_over is not None)


def stale_decision(table: LiveTable, request: Request) -> StaleDecision:
    """The result for a decision that is no longer open: what has happened since it was."""
    log = table.log
    entries = log.entries(log.row_of_decision(request.decision_id or "") or log.last_move_of(request.seat))
    names = table.state.players
    lines = [
        f"{names[entry.seat]}: {entry.text}"
        for entry in entries
        if entry.seat is not None and entry.kind != "note" and entry.has_text
    ]
    sentences = [sentence for entry in entries if entry.is_live for sentence in entry.sentences]
    return StaleDecision(
        f"That decision is no longer open. {text_views.waiting_sentence(table.state, table.pending)}",
        tuple(sentences),
        tuple(lines),
    )
