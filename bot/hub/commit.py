"""The draft of one commit: what is done at a table at once, before it is written.

`bot.hub.notifications.commit_messages` has what it tells the players.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import engine
from bot.hub.request import CommandResult, encode_result
from bot.hub.table import LiveTable, Position
from bot.position import text_views
from bot.position.pending import PendingDecision, pending_decisions
from engine.standing_orders import EndedOrder, SpokenLine
from storage import LogRow, MoveCommit, NewMessage, UnitOfWork, numbered


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
    done, and is told in the answer. told_otherwise: who has the news of it in other words.
    """

    table: LiveTable
    started_at: datetime
    begin_unit: Callable[[], Awaitable[UnitOfWork]]
    new_rows: list[LogRow] = field(default_factory=list)
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
    told_otherwise: int | None = None
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
    def log_rows(self) -> list[LogRow]:
        """The new rows as they will stand in the log."""
        return numbered(self.new_rows, self.table.seq, self.timestamp)

    # -- what is done ------------------------------------------------------------------------

    def add_row(
        self, new_row: LogRow, state: engine.State | None = None, sentences: tuple[str, ...] | None = None
    ) -> None:
        """Add a row, the position after it if it changes, and what happened, if that is already in words."""
        self.new_rows.append(new_row)
        self.sentences.append(sentences)
        self.state = state or self.state

    def add_note(self, transport: str, line: str, sentence: str, **details: Any) -> None:
        """Add a row that does not change the position."""
        self.add_row(LogRow(kind="note", transport=transport, line=line, raw_line=sentence, **details))

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
    rows = [LogRow(kind="note", transport="clock", line="clock", raw_line=each) for each in sentences]
    if not rows:
        return []
    return await unit.move_log.append(table.stored_info.id, table.seq, rows, engine.encode_state(table.state))
