"""The draft of one commit: what is done at a table at once, before it is written, and what that tells its
players: turns, news, the answer to an offer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import engine
from bot.hub.info import TableInfo
from bot.hub.notifications import messages
from bot.hub.notifications.notify import Recipient, is_told_at_once
from bot.hub.request import CommandResult, encode_result
from bot.hub.table import LiveTable, Position, TableMetadata
from bot.position import text_views
from bot.position.pending import PendingDecision, pending_decisions, seat_number
from engine.standing_orders import EndedOrder, SpokenLine
from storage import LogRow, MoveCommit, NewLogRow, NewMessage, UnitOfWork


@dataclass
class CommitDraft:
    """New rows of a table's log, the position they lead to, messages to players, and the result of the
    command.

    Most drafts hold nothing else and are written together with drafts of other tables. A draft that changes
    more (seats, status, polls) asks for its `unit`; then everything is written in that one transaction.

    begin_unit: opens the transaction. sentences: for each new row what happened, None if not yet in words.
    state: the position after the rows, None if they do not change it. game: the one in which the last row was
    played, with what was derived there. announcements: kind and sentences of notifications to everyone at
    the table. armed_orders: the ids of orders that are armed in it. spoken, ended_orders: what orders say in
    this commit, and which end. answered_in_advance: the seats that have left an order for what is asked
    before their turn. make_result: makes the result after that. answered_person: who has asked for what is
    done, and is told in the answer.
    """

    table: LiveTable
    started_at: datetime
    begin_unit: Callable[[], Awaitable[UnitOfWork]]
    new_rows: list[NewLogRow] = field(default_factory=list)
    sentences: list[tuple[str, ...] | None] = field(default_factory=list)
    state: engine.State | None = None
    game: engine.Game | None = None
    messages: list[NewMessage] = field(default_factory=list)
    announcements: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    result: CommandResult | None = None
    open_unit: UnitOfWork | None = None
    armed_orders: set[int] = field(default_factory=set)
    spoken: list[SpokenLine] = field(default_factory=list)
    ended_orders: list[EndedOrder] = field(default_factory=list)
    answered_in_advance: set[int] = field(default_factory=set)
    make_result: Callable[[], CommandResult] | None = None
    answered_person: int | None = None
    _next_pending: tuple[engine.State, tuple[PendingDecision, ...]] | None = None

    async def unit(self) -> UnitOfWork:
        """The transaction of this draft, begun on the first call."""
        if self.open_unit is None:
            self.open_unit = await self.begin_unit()
        return self.open_unit

    @property
    def timestamp(self) -> datetime:
        """The time of the commit."""
        return self.open_unit.now if self.open_unit else self.started_at

    @property
    def seq(self) -> int:
        """The number of the last row."""
        return self.table.seq + len(self.new_rows)

    @property
    def log_rows(self) -> Iterator[LogRow]:
        """The new rows as they will stand in the log."""
        for seq, new_row in enumerate(self.new_rows, self.table.seq + 1):
            yield LogRow(seq=seq, created_at=self.timestamp, **new_row._asdict())

    # -- what is done ------------------------------------------------------------------------

    def add_row(
        self, new_row: NewLogRow, state: engine.State | None = None, sentences: tuple[str, ...] | None = None
    ) -> None:
        """Add a row, the position after it if it changes, and what happened, if that is already in words."""
        self.new_rows.append(new_row)
        self.sentences.append(sentences)
        self.state = state or self.state

    def add_note(self, transport: str, line: str, sentence: str, **details: Any) -> None:
        """Add a row that does not change the position."""
        self.add_row(NewLogRow(kind="note", transport=transport, line=line, raw_line=sentence, **details))

    def announce(self, kind: str, *sentences: str) -> None:
        """Notify everyone at the table; of one kind at once."""
        if self.announcements and self.announcements[-1][0] == kind:
            sentences = (*self.announcements.pop()[1], *sentences)
        self.announcements.append((kind, sentences))

    @property
    def ends_game(self) -> bool:
        """Whether the game is over with this commit, was ended, or is not to begin."""
        is_over = self.state is not None and self.state.game_over is not None
        return is_over or any((row.transport, row.line) == ("service", "end") for row in self.new_rows)

    @property
    def changes_seats(self) -> bool:
        """Whether somebody takes or leaves a seat of a game in play."""
        return any(row.kind == "replace" or row.line == "resign" for row in self.new_rows)

    async def update_status(self) -> None:
        """Mark the table finished if the game has ended, or running if an undo has reopened it."""
        info, state = self.table.stored_info, self.state
        if state is None:
            return
        if state.game_over and info.status == "running":
            await (await self.unit()).tables.update(info.id, status="finished")
            self.announce("over", text_views.waiting_sentence(state, ()))
        elif not state.game_over and info.status == "finished":
            await (await self.unit()).tables.update(info.id, status="running")

    def sentences_of_orders(self) -> tuple[str, ...]:
        """What the lines of orders have brought about, in sentences that do not say that they are orders'."""
        return tuple(
            sentence
            for new_row, sentences in zip(self.new_rows, self.sentences, strict=True)
            if new_row.order_id is not None
            for sentence in sentences or ()
        )

    # -- what follows from it ----------------------------------------------------------------

    def next_pending(self) -> tuple[PendingDecision, ...]:
        """Whom the table waits for after the commit."""
        if self.state is None:
            return self.table.pending
        if self._next_pending is None or self._next_pending[0] is not self.state:
            rewinds = sum(new_row.rewinds_to is not None for new_row in self.new_rows)
            game = self.game if self.game and self.game.state is self.state else None
            position = game or self.state
            pending = pending_decisions(position, self.table.rewind_count + rewinds)
            self._next_pending = (self.state, pending)
        return self._next_pending[1]

    def next_position(self, encoded: bytes) -> Position | None:
        """The position after the commit, which is stored as `encoded`, where its one row is a move."""
        if self.state is None or [new_row.kind for new_row in self.new_rows] != ["move"]:
            return None
        return Position(self.state, encoded, self.next_pending())

    def next_decision_id(self, seat: int) -> str | None:
        """The decision that the seat has to make after the commit, if any."""
        return next((p.decision_id for p in self.next_pending() if p.seat == seat), None)

    def move_commit(
        self, messages: Sequence[NewMessage], request_id: str | None, store_id: str | None
    ) -> MoveCommit:
        """The draft as storage writes it. store_id: of the store that the table was read from, if it is
        known."""
        table = self.table
        state = self.state or (table.state if table.begun else None)
        return MoveCommit(
            table.stored_info.id, self.timestamp, table.seq, table.metadata.revision, self.new_rows,
            engine.encode_state(state) if state and self.new_rows else b"",
            [*self.messages, *messages],
            request_id if self.result else None,
            encode_result(self.result) if request_id and self.result else b"",
            store_id,
        )  # fmt: skip


async def write_notes(unit: UnitOfWork, table: LiveTable, sentences: Sequence[str]) -> list[LogRow]:
    """Append notes to the log of a locked table; the rows, to add to it in memory after the transaction."""
    rows = [NewLogRow(kind="note", transport="clock", line="clock", raw_line=each) for each in sentences]
    if rows:
        state = engine.encode_state(table.state)
        await unit.move_log.append(table.stored_info.id, table.seq, rows, state)
    return [
        LogRow(seq=seq, created_at=unit.now, **row._asdict()) for seq, row in enumerate(rows, table.seq + 1)
    ]


# -- what the players are told ---------------------------------------------------------------


def commit_messages(draft: CommitDraft, metadata: TableMetadata, ping_holdoff: float) -> list[NewMessage]:
    """What is sent with a draft: announcements, a turn for each newly pending decision, and updates of the
    card for the others.

    metadata: seats and settings after the commit. ping_holdoff: seconds after which a turn pings, if the
    table has no pace of its own.
    """
    table, info, recipients = draft.table, metadata.info, metadata.recipients
    before = table.pending if table.stored_info.status == "running" else ()
    after = draft.next_pending() if info.status == "running" else ()
    answered = _answered_proposers(draft, after)
    asked = [
        pending
        for pending in newly_pending(info, before, after, table.stored_info, answered)
        if pending.acts_now or pending.seat not in draft.answered_in_advance
    ]
    holdoff = ping_holdoff if info.pace.holdoff is None else info.pace.holdoff
    due = draft.timestamp + timedelta(seconds=holdoff)
    acting_seats = {new_row.seat for new_row in draft.new_rows}
    former_ids = {pending.decision_id for pending in before}
    continuing = [p for p in after if p.is_main and p not in asked and p.decision_id not in former_ids]
    updated = [
        message
        for pending in continuing
        if pending.seat not in acting_seats and pending.seat in recipients
        for message in messages.updated_turn_messages(info, draft.seq, pending, recipients[pending.seat], due)
    ]
    mailed = {message.address["person"] for message in updated}
    sent = [*_announcements(draft, metadata, {pending.seat for pending in asked}, mailed)]
    own = {seat for seat, each in recipients.items() if each.person_id == draft.answered_person}
    answered = own if len(own) == 1 else own & acting_seats  # a deputy may play for several
    sent += messages.turn_messages(info, draft.seq, asked, recipients, due, answered)
    sent += _votes_of_new_players(draft, metadata)
    sent += updated
    sent += _withdrawn_questions(draft, metadata, after, acting_seats, due)
    for pending in continuing[:1]:
        sent += messages.card_refreshes(info, draft.seq, pending)
    return sent


def _withdrawn_questions(
    draft: CommitDraft,
    metadata: TableMetadata,
    after: Sequence[PendingDecision],
    acting_seats: Collection[int | None],
    due: datetime,
) -> Iterator[NewMessage]:
    """An email to each who was asked about an offer that has ended without their answer, unless they act next
    or news tell it. On Discord their card says it."""
    offered = _offers_of(draft.table.pending)
    if not offered or draft.state is None or any(kind == "news" for kind, _ in draft.announcements):
        return
    still_open = {offer.number for offer in draft.state.offers}
    next_seats = {pending.seat for pending in after}
    for offer in draft.table.state.offers:
        seat = seat_number(offer.recipient)
        recipient = metadata.recipients.get(seat)
        has_ended = offer.number in offered - still_open
        if has_ended and recipient and seat not in acting_seats and seat not in next_seats:
            deal = engine.offer_label(engine.game_of(draft.table.state), offer)
            sentences = ("An offer to you has ended.", f"You need not answer it any more: {deal}.")
            yield from messages.withdrawn_question(
                metadata.info, draft.seq, recipient, sentences, str(offer.number), due
            )


def _votes_of_new_players(draft: CommitDraft, metadata: TableMetadata) -> Iterator[NewMessage]:
    """The votes that wait for a seat in which somebody else plays on."""
    before, info = draft.table.stored_info, metadata.info
    for open_poll in metadata.polls:
        for seat, vote in open_poll.votes.items():
            player, recipient = info.player_at(seat), metadata.recipients.get(seat)
            if vote is None and player and recipient and before.seat_of(player.person_id) != seat:
                yield from messages.vote_requests(
                    info, draft.seq, open_poll, seat, recipient, draft.timestamp
                )


def newly_pending(
    table: TableInfo,
    before: Sequence[PendingDecision],
    after: Sequence[PendingDecision],
    former_table: TableInfo,
    answered_seats: Collection[int],
) -> list[PendingDecision]:
    """The decisions of players that the table did not wait for before, whose turn had not come, who have
    been made another offer, or whose own offer was answered: they go on with what they know now.

    former_table: the table before, if its players have changed. answered_seats: whose offers were answered.
    """
    former = {_pending_key(former_table, pending) for pending in before}
    offered = {(pending.seat, number) for pending in before for number in pending.offers}
    return [
        pending
        for pending in after
        if _pending_key(table, pending) not in former
        or not offered.issuperset((pending.seat, number) for number in pending.offers)
        or (pending.seat in answered_seats and pending.is_main)
    ]


def _pending_key(table: TableInfo, pending: PendingDecision) -> tuple[int, int | None, str, bool]:
    player = table.player_at(pending.seat)
    person_id = player.person_id if player else None
    return pending.seat, person_id, "" if pending.is_main else pending.decision_id, pending.acts_now


def _announcements(
    draft: CommitDraft, metadata: TableMetadata, asked_seats: set[int], mailed: set[int]
) -> Iterator[NewMessage]:
    """mailed: the persons who get an email about their turn, which says what has happened."""
    everybody = metadata.recipients.values()
    for number, (kind, sentences) in enumerate(draft.announcements):
        known = {r.person_id for r in everybody if _knows(draft, r, kind, asked_seats)}
        told = {r.person_id: r for r in everybody if r.person_id not in known}.values()
        suffix = str(number or "") if draft.new_rows else messages.unique_suffix()
        for message in messages.announcements(
            metadata.info, kind, draft.seq, sentences, told, suffix, draft.timestamp
        ):
            is_mailed = message.channel == "mail" and message.address["person"] in mailed
            if not (kind == "news" and is_mailed):
                yield message


def _knows(draft: CommitDraft, recipient: Recipient, kind: str, asked_seats: set[int]) -> bool:
    """Whether a person learns of this commit otherwise: news by the answer to their request, or because they
    get a seat by it; news and the start by the notification of their turn, which says what has happened."""
    is_new = recipient.seat not in draft.table.stored_info.seats_of(recipient.person_id)
    if kind == "news" and (is_new or recipient.person_id == draft.answered_person):
        return True
    by_turn = kind in ("news", "started") and recipient.seat in asked_seats
    return by_turn and is_told_at_once(draft.table.stored_info, recipient)


def _answered_proposers(draft: CommitDraft, after: Sequence[PendingDecision]) -> set[int]:
    """The seats whose offers this commit has ended, unless they did so themselves."""
    ended = _offers_of(draft.table.pending) - _offers_of(after)
    if not ended:
        return set()  # the usual case, in which the position before need not be decoded
    acting = {row.seat for row in draft.new_rows}
    offers = (offer for offer in draft.table.state.offers if offer.number in ended)
    return {seat_number(offer.proposer) for offer in offers} - acting


def _offers_of(pending: Sequence[PendingDecision]) -> set[int]:
    return {number for each in pending for number in each.offers}
