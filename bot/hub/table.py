"""One table in memory: its position, whom it waits for, and its log where that is loaded.

A move needs the position and some counts, and not the log. So a table can also be made from its stored
snapshot alone: `from_snapshot`. A method that needs the log then raises LogNotLoaded; its caller loads the
table with the log and begins again.

The position is kept encoded, as it is stored, and decoded when somebody asks. A move is played on the decoded
position, which is the table's again once the move is committed, and is dropped if it is not. A table that
nobody has used for a while is made compact: it keeps nothing but the encoded position.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import engine
from bot.hub.info import TableInfo
from bot.hub.log import STATE_CHANGING_KINDS, LogNotLoaded, TableLog, row_sentences
from bot.hub.notifications.notify import Recipient
from bot.hub.notifications.preferences import PersonSettings
from bot.position import text_views
from bot.position.boards import last_runs
from bot.position.pending import PendingDecision, engine_seat, pending_decisions
from storage import LogRow, OrderRecord, StoreError, TablePoll

BASE_SIZE, COMPACT_SIZE = 38_000, 14_000
"""Bytes of memory, about: of a table without its log, with its position decoded and encoded, and of one whose
position is only encoded. Measured: 29,000 and 11,000, and up to 2,400 for the rows that are remembered."""
RECENT_ROWS = 8
"""Of so many rows a table remembers whom it waited for after them, where that is known: the clock then needs
no log for them."""


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """What the store holds about a table apart from its log, as of a revision of the table.

    polls: the open polls. recipients: by seat, how its player or deputy is reached. settings: by seat, those
    of its player, as far as they hold at this table. orders: those that are armed. has_stand_ins: a robot or
    a deputy may act there.
    """

    info: TableInfo
    polls: tuple[TablePoll, ...] = ()
    recipients: Mapping[int, Recipient] = field(default_factory=dict)
    revision: int = 0
    settings: Mapping[int, PersonSettings] = field(default_factory=dict)
    orders: tuple[OrderRecord, ...] = ()
    has_stand_ins: bool = False


class Position(NamedTuple):
    """A position as a commit has stored it: decoded, encoded, and whom it waits for."""

    state: engine.State
    encoded: bytes
    pending: tuple[PendingDecision, ...]


@dataclass(frozen=True)
class TableView:
    """A table as it is now.

    encoded_state: empty in the lobby. current_decision_id: what an undo or a redo refers to if its player has
    no pending decision. undo_seat: who made the last move; redo_seat: who made the last move that a redo
    restores. recipients: by seat, how its player or deputy is reached.
    """

    table: TableInfo
    encoded_state: bytes
    seq: int
    current_decision_id: str
    pending: tuple[PendingDecision, ...]
    polls: tuple[TablePoll, ...]
    undo_seat: int | None = None
    redo_seat: int | None = None
    recipients: Mapping[int, Recipient] = field(default_factory=dict)

    @cached_property
    def state(self) -> engine.State | None:
        """The position, None in the lobby; decoded when somebody asks."""
        return engine.decode_state(self.encoded_state) if self.encoded_state else None

    def decision_id_of(self, seat: int) -> str | None:
        """The decision that the seat has to make now, if any."""
        return next((p.decision_id for p in self.pending if p.seat == seat), None)

    def answered_decision_id(self, seat: int) -> str:
        """What a reply of the seat answers: its decision, else what an undo or a redo refers to."""
        return self.decision_id_of(seat) or self.current_decision_id

    @property
    def waiting_sentence(self) -> str:
        """Whom the table waits for, or how the game is over; empty where nobody can move."""
        goes_on = self.table.status == "running"
        if self.state is None or not (goes_on or self.state.game_over):
            return ""
        return text_views.waiting_sentence(self.state, self.pending)

    def missing_votes(self) -> list[tuple[TablePoll, int]]:
        """Every open poll with each seat that has not voted."""
        return [(poll, seat) for poll in self.polls for seat, vote in poll.votes.items() if vote is None]


class LiveTable:
    """A table. Rows are added with `add`, when loading and after commits alike.

    rewind_count: how many undos and redos there were.
    """

    def __init__(self, metadata: TableMetadata, rows: Iterable[LogRow] = ()) -> None:
        self.metadata = metadata
        self.rewind_count = 0
        self._seq = 0
        self._last_mover: int | None = None  # of a table without its log
        self._log: TableLog | None = TableLog(metadata.info.code)
        self._decoded: engine.State | None = None  # None before the start, and while the table is compact
        self._encoded = b""  # the same position, as soon as somebody has asked for it
        self._pending: tuple[PendingDecision, ...] | None = None
        self._info: tuple[TableMetadata, int, TableInfo] | None = None
        self._pending_after = deque[tuple[int, tuple[PendingDecision, ...]]](maxlen=RECENT_ROWS)
        for row in rows:
            self._apply_row(row)

    @classmethod
    def from_snapshot(
        cls,
        metadata: TableMetadata,
        position: Position,
        rewind_count: int,
        last_mover: int | None,
    ) -> LiveTable:
        """A table without its log, at whose line of play nothing can be redone.

        last_mover: the seat of the last move that holds, None if there is none.
        """
        table = cls(metadata)
        table._log = None
        table._seq, table.rewind_count, table._last_mover = metadata.info.seq, rewind_count, last_mover
        table._take_position(position)
        return table

    @property
    def size(self) -> int:
        """Bytes of memory, about."""
        return (self._log.size if self._log else 0) + (COMPACT_SIZE if self._is_compact else BASE_SIZE)

    # -- the log -----------------------------------------------------------------------------

    @property
    def has_log(self) -> bool:
        """Whether the log is loaded."""
        return self._log is not None

    @property
    def log(self) -> TableLog:
        """The log. Raises LogNotLoaded."""
        if self._log is None:
            raise LogNotLoaded
        return self._log

    def add(
        self, row: LogRow, sentences: tuple[str, ...] | None = None, position: Position | None = None
    ) -> None:
        """Add the next row of the log, with what it brought about if that is already in words.

        position: the one after a move, if it is known; else the row is applied to the position before.
        Raises StoreError for a row that is not the next, LogNotLoaded for one that rewinds.
        """
        self._apply_row(row, position)
        if self._log:
            self._log.keep_sentences(row_sentences(row, self._state) if sentences is None else sentences)

    def _apply_row(self, row: LogRow, position: Position | None = None) -> None:
        if row.seq != self.seq + 1:
            raise StoreError(f"Row {row.seq} of the log of {self.stored_info.code} follows row {self.seq}.")
        if row.rewinds_to is not None:
            self._state = self.log.state_after_move(row.rewinds_to)
            self.rewind_count += 1
        elif row.kind == "note" and row.events:
            self._state = engine.decode_state(row.events)
        elif position is not None:
            self._take_position(position)
        elif row.kind in STATE_CHANGING_KINDS:
            self._state = engine.fold(engine.decode_events(row.events), self.state)
        self._seq = row.seq
        if self._pending is not None:
            self._pending_after.append((row.seq, self._pending))
        if row.kind == "move":
            self._last_mover = row.seat
        if self._log:
            self._log.append(row, self._open_decisions(), lambda: self.encoded_state)

    def _open_decisions(self) -> list[str]:
        """The ids of the main question and of the offers; none before the start."""
        if self._state is None:
            return []
        offers = [f"{self.rewind_count}.o{offer.number}" for offer in self._state.offers]
        return [self.current_decision_id, *offers]

    # -- the position ------------------------------------------------------------------------

    @property
    def _is_compact(self) -> bool:
        return self._decoded is None and bool(self._encoded)

    @property
    def _state(self) -> engine.State | None:
        if self._is_compact:
            self._decoded = engine.decode_state(self._encoded)
        return self._decoded

    @_state.setter
    def _state(self, state: engine.State | None) -> None:
        self._decoded, self._encoded, self._pending = state, b"", None

    def _take_position(self, position: Position) -> None:
        self._decoded, self._encoded, self._pending = position

    @property
    def begun(self) -> bool:
        """Whether the game has started."""
        return bool(self._encoded) or self._decoded is not None

    @property
    def state(self) -> engine.State:
        """The position now; do not change it. Raises ValueError before the start."""
        if self._state is None:
            raise ValueError(f"Table {self.stored_info.code} has not started.")
        return self._state

    @property
    def encoded_state(self) -> bytes:
        """The position as it is stored. Raises ValueError before the start."""
        if not self._encoded:
            self._encoded = engine.encode_state(self.state)
        return self._encoded

    def give_state(self) -> engine.State:
        """The position, to be changed by the caller; the table keeps the encoded one.

        Raises ValueError before the start.
        """
        state = self.state
        self.make_compact()
        return state

    def make_compact(self) -> None:
        """Keep the position encoded until somebody asks."""
        if self._decoded is not None:
            self._decoded, self._encoded = None, self.encoded_state

    def last_runs(self) -> dict[str, engine.TrainsRan]:
        """The last run of each company, the latest first."""
        moves = reversed(self.log.line_of_play.played)
        return last_runs(self.state, (engine.decode_events(self.log.row(seq).events) for seq in moves))

    def last_revenues(self) -> dict[str, int]:
        """What each company earned in its last run, in dollars."""
        return {company: run.revenue for company, run in self.last_runs().items()}

    def state_at(self, seq: int) -> engine.State:
        """The position after row `seq` of the log, a copy. Raises ValueError if there is no such position."""
        if seq == self.seq and self._state is not None:
            return engine.decode_state(self.encoded_state)
        return self.log.state_at(seq)

    # -- the table now -----------------------------------------------------------------------

    @property
    def stored_info(self) -> TableInfo:
        """The table as it was loaded; round, acting seats and seq may be out of date, see `info`."""
        return self.metadata.info

    @property
    def info(self) -> TableInfo:
        """The table with its current names, round, acting seats and seq."""
        if self._info is not None and self._info[0] is self.metadata and self._info[1] == self.seq:
            return self._info[2]
        info = self.stored_info
        if self._state is not None:
            acting = tuple(p.seat for p in self.pending)
            names, round = tuple(self._state.players), engine.round_name(self._state)
            info = info._replace(names=names, round=round, acting_seats=acting, seq=self.seq)
        self._info = (self.metadata, self.seq, info)
        return info

    @property
    def polls(self) -> tuple[TablePoll, ...]:
        """The open polls."""
        return self.metadata.polls

    @property
    def seq(self) -> int:
        """The number of the last row of the log."""
        return self._seq

    @property
    def current_decision_id(self) -> str:
        """The id of the main question."""
        return f"{self.rewind_count}.{self.state.question_number if self._state else 0}"

    @property
    def pending(self) -> tuple[PendingDecision, ...]:
        """Whom the table waits for."""
        if self._pending is None:
            self._pending = pending_decisions(self._state, self.rewind_count) if self._state else ()
        return self._pending

    def pending_after(self, seq: int) -> tuple[PendingDecision, ...]:
        """Whom the table waited for after a row of the log. Raises LogNotLoaded where the log is needed."""
        if seq == self.seq:
            return self.pending
        for row, pending in self._pending_after:
            if row == seq:
                return pending
        return pending_decisions(self.state_at(seq), self.rewind_count)

    def decision_id_of(self, seat: int) -> str | None:
        """The decision that the seat has to make now, if any."""
        return next((p.decision_id for p in self.pending if p.seat == seat), None)

    def is_current(self, seat: int, decision_id: str) -> bool:
        """Whether a decision of that seat is still open."""
        rewind_count, _, number = decision_id.partition(".")
        if rewind_count != str(self.rewind_count):
            return False
        if number.startswith("o"):
            recipient = engine_seat(seat)
            return any(f"o{o.number}" == number and o.recipient == recipient for o in self.state.offers)
        return number == str(self.state.question_number)

    def view(self) -> TableView:
        """The table as it is now; its state is a copy."""
        return TableView(
            self.info,
            self.encoded_state if self.begun else b"",
            self.seq,
            self.current_decision_id,
            self.pending,
            self.polls,
            self._log.undo_seat if self._log else self._last_mover,
            self._log.redo_seat if self._log else None,
            self.metadata.recipients,
        )
