"""One table in memory: its log, its position, and every earlier position.

The moves of a log form a tree. Each move continues the one at which the line of play ended when it was made;
an undo or a redo only says at which move the line of play ends now. So the position after a move is the
position after its parent with the events of the move applied, whatever was undone since. A snapshot is kept
every few moves, and from there any other position is a few moves away. Replacements of players belong to no
line of play: they hold for everything after them in the log. No rule is consulted.

A move needs the position and some counts, and not the log. So a table can also be made from its stored
snapshot alone: `from_snapshot`. What needs the log then raises LogNotLoaded, and whoever holds the table
loads it with the log and begins again.

The position is kept encoded, as it is stored, and decoded when somebody asks. A move is played on the decoded
position, which is the table's again once the move is committed, and is dropped if it is not. A table that
nobody has used for a while is made compact: it keeps nothing but the encoded position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

import engine
from bot.service.preferences import PersonSettings
from bot.service.results import PendingDecision
from bot.service.routing import Recipient
from bot.service.tables import TableInfo
from engine.core.events import RoundStarted
from engine.game_text.history import ENDED_LINE, GameHistory, HistoryLine
from engine.game_text.redaction import redacted
from storage import (
    LineOfPlay,
    LogRow,
    OrderRecord,
    StoreError,
    TablePoll,
    resolve_line_of_play,
)

BASE_SIZE, COMPACT_SIZE, ROW_SIZE = 36_000, 12_000, 900
"""Bytes of memory, about: of a table with its position, decoded and encoded, of one whose position is only
encoded, and of a row of its log without its events. Measured: 29,000 and 11,000."""

SNAPSHOT_INTERVAL = 32  # moves from one snapshot to the next
STATE_CHANGING_KINDS = ("move", "replace")  # kinds of rows whose events change the position before them


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """What the store holds about a table apart from its log, as of a revision of the table.

    polls: the open polls. recipients: by seat, how its player or deputy is reached. settings: by seat, those
    of its player. orders: those that are armed. has_stand_ins: a robot or a deputy may act there.
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


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A row of the log in words. is_live: False for a move that was undone. by_own_order: an order of the
    reader has said it; always False where the reader is not known.

    A hidden order has no line here, only the sentences about what it brought about.
    """

    seq: int
    created_at: datetime
    kind: str
    seat: int | None
    raw_line: str
    line: str
    sentences: tuple[str, ...]
    is_live: bool = True
    by_own_order: bool = False

    @property
    def has_text(self) -> bool:
        """Whether the entry says anything to other players."""
        return bool(self.line or self.sentences)

    @property
    def text(self) -> str:
        """The line, or what happened if the line is hidden."""
        return self.line or " ".join(self.sentences)


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as it is now.

    state: None in the lobby. current_decision_id: what an undo or a redo refers to if its player has no
    pending decision. undo_seat: who made the last move; redo_seat: who made the last move that a redo
    restores.
    """

    table: TableInfo
    state: engine.State | None
    seq: int
    current_decision_id: str
    pending: tuple[PendingDecision, ...]
    polls: tuple[TablePoll, ...]
    undo_seat: int | None = None
    redo_seat: int | None = None

    def decision_id_of(self, seat: int) -> str | None:
        """The decision that the seat has to make now, if any."""
        return next((p.decision_id for p in self.pending if p.seat == seat), None)

    def missing_votes(self) -> list[tuple[TablePoll, int]]:
        """Every open poll with each seat that has not voted."""
        return [(poll, seat) for poll in self.polls for seat, vote in poll.votes.items() if vote is None]


def engine_seat(seat: int) -> str:
    """The engine's name of a seat, `p0` for 0."""
    return f"p{seat}"


def seat_number(engine_name: str) -> int:
    """The number of a seat by the engine's name."""
    return int(engine_name[1:])


def pending_decisions(position: engine.State | engine.Game, rewind_count: int) -> tuple[PendingDecision, ...]:
    """Whom a position waits for, those of the main question first."""
    g = engine.game_of(position)
    state = g.state
    if state.game_over:
        return ()
    decision = engine.decision(g)
    pending = []
    for name in decision.awaited:
        is_main = name in decision.asked
        prompt, number = decision.prompt, str(state.question_number)
        offers = [offer for offer in state.offers if offer.recipient == name]
        if not is_main:
            labels = "; ".join(engine.offer_label(g, offer) for offer in offers)
            prompt = f"accept or decline ({labels})"
            number = f"o{offers[0].number}" if offers else number
        acts_now = not is_main or name in decision.acting
        decision_id = f"{rewind_count}.{number}"
        numbers = tuple(offer.number for offer in offers)
        seat, full_name = seat_number(name), state.name(name)
        pending.append(PendingDecision(seat, full_name, decision_id, prompt, is_main, acts_now, numbers))
    return tuple(pending)


def _full_round_name(short: re.Match[str]) -> str:
    names = {"sr": "stock", "or": "operating", "mr": "merger"}
    return f"{names.get(short[1], short[1])} round "


def _log_entry(row: LogRow, sentences: tuple[str, ...], is_live: bool) -> LogEntry:
    raw_line, line = ("", "") if engine.is_secret(row.line) else (row.raw_line, row.line)
    return LogEntry(row.seq, row.created_at, row.kind, row.seat, raw_line, line, sentences, is_live)


def _sentences_of(row: LogRow, state: engine.State | None) -> tuple[str, ...]:
    """What a row brought about; `state` is the position after it, if it changes the position."""
    if row.kind in STATE_CHANGING_KINDS and state is not None:
        return tuple(engine.narrate(state, engine.decode_events(row.events)))
    return (row.raw_line,) if row.raw_line else ()


class LogNotLoaded(Exception):
    """The table was made from its snapshot, and what was asked needs its log."""


class LiveTable:
    """A table with its log. Rows are added with `add`, when loading and after commits alike.

    rewind_count: how many undos and redos there were.
    """

    def __init__(self, metadata: TableMetadata, rows: Iterable[LogRow] = ()) -> None:
        self.metadata = metadata
        self.has_log = True
        self._log_size = 0
        self.rewind_count = 0
        self._seq = 0
        self._last_mover: int | None = None
        self._line_of_play = LineOfPlay()
        self._redo_targets: list[int] = []
        self._rows: list[LogRow] = []
        self._sentences: dict[int, tuple[str, ...]] = {}
        self._last_move_at: list[int] = [0]  # by row: the last move of the line of play then
        self._parents: dict[int, int] = {}  # by move
        self._snapshots: dict[int, bytes] = {}  # by move; 0 is the start
        self._row_of_decision: dict[str, int] = {}
        self._decoded: engine.State | None = None  # None before the start, and while the table is compact
        self._encoded = b""  # the same position, as soon as somebody has asked for it
        self._pending: tuple[PendingDecision, ...] | None = None
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
        table.has_log = False
        table._seq, table.rewind_count, table._last_mover = metadata.info.seq, rewind_count, last_mover
        table._take_position(position)
        return table

    @property
    def size(self) -> int:
        """Bytes of memory, about."""
        return self._log_size + (COMPACT_SIZE if self._is_compact else BASE_SIZE)

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

    def _fold(self, row: LogRow) -> None:
        """Apply the events of a row to the position."""
        self._state = engine.fold(engine.decode_events(row.events), self.state)

    @property
    def encoded_state(self) -> bytes:
        """The position as it is stored. Raises ValueError before the start."""
        if not self._encoded:
            self._encoded = engine.encode_state(self.state)
        return self._encoded

    def copy_state(self) -> engine.State:
        """A copy of the position. Raises ValueError before the start."""
        return engine.decode_state(self.encoded_state)

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

    def _require_log(self) -> None:
        if not self.has_log:
            raise LogNotLoaded

    @property
    def line_of_play(self) -> LineOfPlay:
        """The moves that hold, and those that a redo can restore."""
        self._require_log()
        return self._line_of_play

    @property
    def redo_targets(self) -> list[int]:
        """Where the line of play ended before each undo that a redo can take back."""
        self._require_log()
        return self._redo_targets

    # -- rows --------------------------------------------------------------------------------

    def add(
        self, row: LogRow, sentences: tuple[str, ...] | None = None, position: Position | None = None
    ) -> None:
        """Add the next row of the log, with what it brought about if that is already in words.

        position: the one after a move, if it is known; else the row is applied to the position before.
        Raises StoreError for a row that is not the next.
        """
        self._apply_row(row, position)
        if self.has_log:
            self._sentences[row.seq] = _sentences_of(row, self._state) if sentences is None else sentences

    def _apply_row(self, row: LogRow, position: Position | None = None) -> None:
        if row.seq != self.seq + 1:
            raise StoreError(f"Row {row.seq} of the log of {self.stored_info.code} follows row {self.seq}.")
        if not self.has_log:
            self._apply_to_position(row, position)
            return
        if row.kind == "note" and row.events:
            self._state = engine.decode_state(row.events)
            self._snapshots[0] = row.events
        elif row.kind == "move":
            self._apply_move(row, position)
        elif row.rewinds_to is not None:
            self._apply_rewind(row, row.rewinds_to)
        elif row.kind == "replace":
            self._fold(row)
        self._rows.append(row)
        self._seq = row.seq
        self._log_size += ROW_SIZE + 2 * len(row.events)  # with its part of the snapshots
        self._last_move_at.append(self._line_of_play.current_move)
        if self._state is not None:
            self._row_of_decision[self.current_decision_id] = row.seq
            for offer in self._state.offers:
                self._row_of_decision[f"{self.rewind_count}.o{offer.number}"] = row.seq

    def _apply_to_position(self, row: LogRow, position: Position | None) -> None:
        """Apply a row that continues the line of play, where there is no log."""
        if row.rewinds_to is not None:
            raise LogNotLoaded
        if position is not None:
            self._take_position(position)
        elif row.kind in STATE_CHANGING_KINDS:
            self._fold(row)
        if row.kind == "move":
            self._last_mover = row.seat
        self._seq = row.seq

    def _apply_move(self, row: LogRow, position: Position | None) -> None:
        self._parents[row.seq] = self._line_of_play.current_move
        self._line_of_play = resolve_line_of_play([row], self._line_of_play)
        self._redo_targets.clear()
        if position is not None:
            self._take_position(position)
        else:
            self._fold(row)
        if len(self._line_of_play.played) % SNAPSHOT_INTERVAL == 0:
            self._snapshots[row.seq] = self.encoded_state

    def _apply_rewind(self, row: LogRow, target: int) -> None:
        if row.kind == "undo":
            self._redo_targets.append(self._line_of_play.current_move)
        elif self._redo_targets:
            self._redo_targets.pop()
        self._line_of_play = resolve_line_of_play([row], self._line_of_play)
        self.rewind_count += 1
        self._state = self.state_after_move(target)

    def state_after_move(self, move: int) -> engine.State:
        """The position after a move (0: at the start), with the current names; a copy."""
        self._require_log()
        return self._apply_renames(self._state_from_snapshot(move), self.seq)

    def _state_from_snapshot(self, move: int) -> engine.State:
        """The position after a move, with the names of some earlier time."""
        moves = []
        while move not in self._snapshots:
            moves.append(move)
            move = self._parents[move]
        state = engine.decode_state(self._snapshots[move])
        for seq in reversed(moves):
            engine.fold(engine.decode_events(self._rows[seq - 1].events), state)
        return state

    def _apply_renames(self, state: engine.State, seq: int) -> engine.State:
        """Apply the replacements of players up to row `seq`."""
        for row in self._rows[:seq]:
            if row.kind == "replace":
                engine.fold(engine.decode_events(row.events), state)
        return state

    # -- the table now -----------------------------------------------------------------------

    @property
    def stored_info(self) -> TableInfo:
        """The table as it was loaded; round, acting seats and seq may be out of date, see `info`."""
        return self.metadata.info

    @property
    def info(self) -> TableInfo:
        """The table with its current names, round, acting seats and seq."""
        if self._state is None:
            return self.stored_info
        return replace(
            self.stored_info,
            names=tuple(self._state.players),
            round=engine.round_name(self._state),
            acting_seats=tuple(p.seat for p in self.pending),
            seq=self.seq,
        )

    @property
    def polls(self) -> tuple[TablePoll, ...]:
        """The open polls."""
        return self.metadata.polls

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
        """The table as it is now; the state is a copy."""
        return TableView(
            self.info,
            self.copy_state() if self.begun else None,
            self.seq,
            self.current_decision_id,
            self.pending,
            self.polls,
            self._undo_seat(),
            self.seat_at(self._redo_targets[-1]) if self._redo_targets else None,
        )

    def runs(self, after: int = 0) -> Iterator[tuple[int, engine.TrainsRan]]:
        """The runs of companies after row `after` of the log, the latest first, each with the number of its
        row, without what was undone."""
        for seq in reversed(self.line_of_play.played):
            if seq <= after:
                return
            for event in reversed(engine.decode_events(self._rows[seq - 1].events)):
                if isinstance(event, engine.TrainsRan):
                    yield seq, event

    def _undo_seat(self) -> int | None:
        """The seat of the last move that holds."""
        if not self.has_log:
            return self._last_mover
        return self.seat_at(self._line_of_play.current_move) if self._line_of_play.played else None

    def stored_game(self) -> tuple[engine.State, tuple[bytes, ...]]:
        """The first position, with the current names, and the stored events of each move that holds."""
        self._require_log()
        start = self._state_from_snapshot(0)
        start.players = self.state.players.copy()
        return start, tuple(self._rows[seq - 1].events for seq in self.line_of_play.played)

    # -- earlier positions -------------------------------------------------------------------

    def state_at(self, seq: int) -> engine.State:
        """The position after row `seq` of the log, a copy. Raises ValueError if there is no such position."""
        if seq == self.seq and self._state is not None:
            return self.copy_state()
        self._require_log()
        start = self._start_row()
        if start is None or not start <= seq <= self.seq:
            raise ValueError(f"The log of table {self.stored_info.code} has no position {seq}.")
        return self._apply_renames(self._state_from_snapshot(self._last_move_at[seq]), seq)

    def history(self) -> GameHistory:
        """The game along its line of play, with the current names, without what was undone; hidden orders are
        replaced by what they did.

        Raises ValueError before the start.
        """
        names = self.state.players.copy()
        self._require_log()
        start = self._state_from_snapshot(0)
        original = engine.copy_state(start)  # with the names of each time, for reading the lines
        start.players = names
        renamed = original.players != names
        current = engine.copy_state(start)
        lines = list[HistoryLine]()
        for seq in self.line_of_play.played:
            row = self._rows[seq - 1]
            events = engine.decode_events(row.events)
            line, seat = row.line, engine_seat(row.seat or 0)
            if renamed and line != ENDED_LINE:
                original.players = self._names_at(seq)
                line = engine.format_action(current, engine.parse(original, seat, line))
            lines.append(HistoryLine(seat, line, events, int(row.created_at.timestamp())))
            if renamed:
                engine.fold(events, original)
                engine.fold(events, current)
        return redacted(GameHistory(start, tuple(lines)))

    def _names_at(self, seq: int) -> list[str]:
        """The names of the players when row `seq` was written."""
        return self._apply_renames(self._state_from_snapshot(0), seq).players

    def _start_row(self) -> int | None:
        return next((row.seq for row in self._rows if row.events), None)

    def find_row(self, moment: str) -> tuple[int, str]:
        """The row of the log that is meant, with a heading: `120`, `stock round 2`, `or 3.1`, `start`.

        A round is found where the line of play starts it. Raises ValueError for anything else.
        """
        self._require_log()
        start = self._start_row()
        if start is None:
            raise ValueError(f"Table {self.stored_info.code} has not started.")
        name = " ".join(moment.casefold().split())
        name = re.sub(r"^(row|move) (?=\d+$)", "", name)
        if name.isdecimal():
            if not start <= int(name) <= self.seq:
                raise ValueError(f"The log has rows {start} to {self.seq}; there is no row {name}.")
            return int(name), f"After row {name}"
        if name in ("start", "opening"):
            return start, "At the start"
        name = re.sub(r"^([a-z]+)(?: round)? ?(?=\d)", _full_round_name, name)
        for seq in self.line_of_play.played:
            for event in engine.decode_events(self._rows[seq - 1].events):
                if isinstance(event, RoundStarted) and event.round.partition(" of ")[0] == name:
                    return seq, f"At the start of {name}, row {seq}"
        if re.fullmatch(r"(stock|operating|merger) round [\d.]+", name):
            raise ValueError(f"The game has not reached {name}.")
        raise ValueError(
            f"{moment.strip() or 'Nothing'} is neither a round of this game nor a row of its log. "
            "Examples: `at 120`, `at stock round 2`, `at or 3.1`."
        )

    # -- the log -----------------------------------------------------------------------------

    def log(self, after: int = 0, until: int | None = None) -> list[LogEntry]:
        """The rows after row `after` up to row `until`, in words."""
        if after >= self.seq:
            return []
        played = set(self.line_of_play.played)
        rows = self._rows[after:until]
        self._narrate_rows(rows)
        return [
            _log_entry(row, self._sentences[row.seq], row.kind != "move" or row.seq in played) for row in rows
        ]

    def _narrate_rows(self, rows: Sequence[LogRow]) -> None:
        """Put consecutive rows into words where that is missing; loading a table does not do it."""
        state: engine.State | None = None
        for row in rows:
            if row.kind not in STATE_CHANGING_KINDS or row.seq in self._sentences:
                state = None
            else:
                state = state or self.state_at(row.seq - 1)
                engine.fold(engine.decode_events(row.events), state)
            if row.seq not in self._sentences:
                self._sentences[row.seq] = _sentences_of(row, state)

    def row_of_decision(self, decision_id: str) -> int:
        """The last row of the log after which that decision was open; 0 if it is unknown."""
        self._require_log()
        return self._row_of_decision.get(decision_id, 0)

    def lines_after(self, after: int) -> list[tuple[int, str]]:
        """Seats and lines of the line of play after a row of the log, hidden orders included."""
        rows = [self._rows[seq - 1] for seq in self.line_of_play.played if seq > after]
        return [(row.seat, row.line) for row in rows if row.seat is not None]

    def last_move_of(self, seat: int, until: int | None = None, *, by_hand: bool = False) -> int:
        """The row of a seat's last move that holds; 0 if it has none. by_hand: that no order has said."""
        limit = self.seq if until is None else until
        for seq in reversed(self.line_of_play.played):
            row = self.row(seq)
            if seq <= limit and row.seat == seat and not (by_hand and row.order_id):
                return seq
        return 0

    def row(self, seq: int) -> LogRow:
        """A row of the log."""
        self._require_log()
        return self._rows[seq - 1]

    def rows_said_by(self, order_id: int, after: int) -> list[int]:
        """The rows of the log after a row that an order has said, undone ones too."""
        self._require_log()
        return [row.seq for row in self._rows[after:] if row.order_id == order_id]

    def seat_at(self, seq: int) -> int | None:
        """The seat of a row of the log."""
        self._require_log()
        return self._rows[seq - 1].seat

    def parent_of(self, move: int) -> int:
        """The move before a move on its line of play."""
        self._require_log()
        return self._parents[move]
