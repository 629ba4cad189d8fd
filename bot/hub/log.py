"""The log of a table in memory: its rows, and the position after each of them.

The moves of a log form a tree. Each move continues the one at which the line of play ended when it was made;
an undo or a redo only says at which move the line of play ends now. So the position after a move is the
position after its parent with the events of the move applied, whatever was undone since. A snapshot is kept
every few moves, and from there any other position is a few moves away. Replacements of players belong to no
line of play: they hold for everything after them in the log. No rule is consulted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import engine
from bot.position.pending import engine_seat
from engine.core.events import RoundStarted
from engine.game_text.history import GameHistory, HistoryLine
from engine.game_text.redaction import redacted
from storage import LineOfPlay, LogRow, resolve_line_of_play

MAX_EVENTS = 50
"""Events that a notification tells at most."""
ROW_SIZE = 900
"""Bytes of memory of a row without its events, about."""

SNAPSHOT_INTERVAL = 32  # moves from one snapshot to the next
STATE_CHANGING_KINDS = ("move", "replace")  # kinds of rows whose events change the position before them


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

    def listed(self, names: Sequence[str]) -> str:
        """The row in one line; undone moves are marked. names: of all seats. Who sat there when a note was
        written, it says itself."""
        is_own = self.seat is not None and self.line and self.kind == "move"
        name = f"{names[self.seat or 0]}: " if is_own else ""
        undone = "" if self.is_live else "(undone) "
        has_more = self.line and self.sentences not in ((), (self.line,))
        sentences = f" — {' '.join(self.sentences)}" if has_more else ""
        return f"{self.seq:>4}  {undone}{name}{self.text}{sentences}"


def _full_round_name(short: re.Match[str]) -> str:
    names = {"sr": "stock", "or": "operating", "mr": "merger"}
    return f"{names.get(short[1], short[1])} round "


def _log_entry(row: LogRow, sentences: tuple[str, ...], is_live: bool) -> LogEntry:
    raw_line, line = ("", "") if engine.is_secret(row.line) else (row.raw_line, row.line)
    return LogEntry(row.seq, row.created_at, row.kind, row.seat, raw_line, line, sentences, is_live)


def row_sentences(row: LogRow, state: engine.State | None) -> tuple[str, ...]:
    """What a row brought about; `state` is the position after it, if it changes the position."""
    if row.kind == "move" and state is not None:
        return tuple(engine.narrate(state, engine.decode_events(row.events)))
    return (row.raw_line,) if row.raw_line else ()


class LogNotLoaded(Exception):
    """The table was made from its snapshot, and what was asked needs its log."""


class TableLog:
    """The rows of a table. Every row is added with `append`, when loading and after commits alike.

    code: of the table, for messages. size: bytes of memory, about.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.rows: list[LogRow] = []
        self.line_of_play = LineOfPlay()
        """The moves that hold, and those that a redo can restore."""
        self.redo_targets: list[int] = []
        """Where the line of play ended before each undo that a redo can take back."""
        self.size = 0
        self._sentences: dict[int, tuple[str, ...]] = {}
        self._last_move_at: list[int] = [0]  # by row: the last move of the line of play then
        self._parents: dict[int, int] = {}  # by move
        self._snapshots: dict[int, bytes] = {}  # by move; 0 is the start
        self._row_of_decision: dict[str, int] = {}

    # -- adding rows -------------------------------------------------------------------------

    def append(self, row: LogRow, decision_ids: Sequence[str], encoded: Callable[[], bytes]) -> None:
        """Add the next row. decision_ids: the decisions that are open after it. encoded: gives the position
        after it, as it is stored."""
        before = self.line_of_play.current_move
        if row.kind == "note" and row.events:
            self._snapshots[0] = row.events
        elif row.kind == "move":
            self._parents[row.seq] = before
            self.redo_targets.clear()
        elif row.kind == "undo":
            self.redo_targets.append(before)
        elif row.kind == "redo" and self.redo_targets:
            self.redo_targets.pop()
        self.line_of_play = resolve_line_of_play([row], self.line_of_play)
        self.rows.append(row)
        self.size += ROW_SIZE + 2 * len(row.events)  # with its part of the snapshots
        self._last_move_at.append(self.line_of_play.current_move)
        self._row_of_decision |= dict.fromkeys(decision_ids, len(self.rows))
        if row.kind == "move" and len(self.line_of_play.played) % SNAPSHOT_INTERVAL == 0:
            self._snapshots[self.line_of_play.current_move] = encoded()

    def keep_sentences(self, sentences: tuple[str, ...]) -> None:
        """What the row that was added last brought about."""
        self._sentences[len(self.rows)] = sentences

    # -- rows --------------------------------------------------------------------------------

    def row(self, seq: int) -> LogRow:
        """A row of the log."""
        return self.rows[seq - 1]

    def seat_at(self, seq: int) -> int | None:
        """The seat of a row."""
        return self.rows[seq - 1].seat

    def parent_of(self, move: int) -> int:
        """The move before a move on its line of play."""
        return self._parents[move]

    @property
    def undo_seat(self) -> int | None:
        """The seat of the last move that holds."""
        return self.seat_at(self.line_of_play.current_move) if self.line_of_play.played else None

    @property
    def redo_seat(self) -> int | None:
        """The seat of the last move that a redo restores."""
        return self.seat_at(self.redo_targets[-1]) if self.redo_targets else None

    def row_of_decision(self, decision_id: str) -> int:
        """The last row after which that decision was open; 0 if it is unknown."""
        return self._row_of_decision.get(decision_id, 0)

    def lines_after(self, after: int) -> list[tuple[int, str]]:
        """Seats and lines of the line of play after a row, hidden orders included."""
        rows = [self.row(seq) for seq in self.line_of_play.played if seq > after]
        return [(row.seat, row.line) for row in rows if row.seat is not None]

    def last_move_of(self, seat: int, until: int | None = None, *, by_hand: bool = False) -> int:
        """The row of a seat's last move that holds; 0 if it has none. by_hand: that no order has said."""
        limit = len(self.rows) if until is None else until
        for seq in reversed(self.line_of_play.played):
            row = self.row(seq)
            if seq <= limit and row.seat == seat and not (by_hand and row.order_id):
                return seq
        return 0

    def rows_said_by(self, order_id: int, after: int) -> list[int]:
        """The rows after a row that an order has said, undone ones too."""
        return [row.seq for row in self.rows[after:] if row.order_id == order_id]

    def runs(self, after: int = 0) -> Iterator[tuple[int, engine.TrainsRan]]:
        """The runs of companies after a row, the latest first, each with the number of its row, without what
        was undone."""
        for seq in reversed(self.line_of_play.played):
            if seq <= after:
                return
            for event in reversed(engine.decode_events(self.row(seq).events)):
                if isinstance(event, engine.TrainsRan):
                    yield seq, event

    def find_row(self, moment: str) -> tuple[int, str]:
        """The row that is meant, with a heading: `120`, `stock round 2`, `or 3.1`, `start`.

        A round is found where the line of play starts it. Raises ValueError for anything else.
        """
        start = self._start_row()
        if start is None:
            raise ValueError(f"Table {self.code} has not started.")
        name = " ".join(moment.casefold().split())
        name = re.sub(r"^(row|move) (?=\d+$)", "", name)
        if name.isdecimal():
            if not start <= int(name) <= len(self.rows):
                raise ValueError(f"The log has rows {start} to {len(self.rows)}; there is no row {name}.")
            return int(name), f"After row {name}"
        if name in ("start", "opening"):
            return start, "At the start"
        name = re.sub(r"^([a-z]+)(?: round)? ?(?=\d)", _full_round_name, name)
        name = re.sub(r"^(operating|merger) round \d+$", r"\g<0>.1", name)  # the first of its set
        for seq in self.line_of_play.played:
            events = engine.decode_events(self.row(seq).events)
            rounds = [e.name for e in events if isinstance(e, RoundStarted)]
            if name in rounds[:-1]:
                return seq, f"After row {seq}, in which {name} began and ended"
            if name in rounds:
                return seq, f"At the start of {name}, row {seq}"
        if re.fullmatch(r"(stock|operating|merger) round [\d.]+", name):
            raise ValueError(f"The game has not reached {name}.")
        raise ValueError(
            f"`{moment.strip()}` is neither a round of this game nor a row of its log. "
            "Examples: `at 120`, `at stock round 2`, `at or 3.1`."
        )

    def _start_row(self) -> int | None:
        return next((row.seq for row in self.rows if row.events), None)

    # -- positions ---------------------------------------------------------------------------

    def state_at(self, seq: int) -> engine.State:
        """The position after a row, a copy. Raises ValueError if there is no such position."""
        start = self._start_row()
        if start is None or not start <= seq <= len(self.rows):
            raise ValueError(f"The log of table {self.code} has no position {seq}.")
        return self._rename(self._state_from_snapshot(self._last_move_at[seq]), seq)

    def state_after_move(self, move: int) -> engine.State:
        """The position after a move (0: at the start), with the current names; a copy."""
        return self._rename(self._state_from_snapshot(move), len(self.rows))

    def _state_from_snapshot(self, move: int) -> engine.State:
        """The position after a move, with the names of some earlier time."""
        moves = []
        while move not in self._snapshots:
            moves.append(move)
            move = self._parents[move]
        state = engine.decode_state(self._snapshots[move])
        for seq in reversed(moves):
            engine.fold(engine.decode_events(self.row(seq).events), state)
        return state

    def _rename(self, state: engine.State, seq: int) -> engine.State:
        """Apply the replacements of players up to a row."""
        for row in self.rows[:seq]:
            if row.kind == "replace":
                engine.fold(engine.decode_events(row.events), state)
        return state

    def _names_at(self, seq: int) -> list[str]:
        """The names of the players when a row was written."""
        return self._rename(self._state_from_snapshot(0), seq).players

    def stored_game(self) -> tuple[engine.State, tuple[bytes, ...]]:
        """The first position, with the current names, and the stored events of each move that holds."""
        start = self._state_from_snapshot(0)
        start.players = self._names_at(len(self.rows))
        return start, tuple(self.row(seq).events for seq in self.line_of_play.played)

    def history(self) -> GameHistory:
        """The game along its line of play, with the current names, without what was undone; hidden orders are
        replaced by what they did.

        Raises ValueError before the start.
        """
        if self._start_row() is None:
            raise ValueError(f"Table {self.code} has not started.")
        names = self._names_at(len(self.rows))
        start = self._state_from_snapshot(0)
        original = engine.copy_state(start)  # with the names of each time, for reading the lines
        start.players = names
        renamed = original.players != names
        current = engine.copy_state(start)
        lines = list[HistoryLine]()
        for seq in self.line_of_play.played:
            row = self.row(seq)
            events = engine.decode_events(row.events)
            line, seat = row.line, engine_seat(row.seat or 0)
            if renamed:
                original.players = self._names_at(seq)
                # A line that only a file has, or that today's rules do not take, stays as it is.
                with suppress(engine.UnreadableError, engine.RefusedError, engine.AmbiguousError):
                    line = engine.format_action(current, engine.parse(original, seat, line))
            lines.append(HistoryLine(seat, line, events, int(row.created_at.timestamp())))
            if renamed:
                engine.fold(events, original)
                engine.fold(events, current)
        return redacted(GameHistory(start, tuple(lines)))

    # -- in words ----------------------------------------------------------------------------

    def entries(self, after: int = 0, until: int | None = None) -> list[LogEntry]:
        """The rows after row `after` up to row `until`, in words."""
        played = set(self.line_of_play.played)
        rows = self.rows[after:until]
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
                self._sentences[row.seq] = row_sentences(row, state)


def recent_events(entries: Sequence[LogEntry], most: int = MAX_EVENTS) -> tuple[str, ...]:
    """Log entries as sentences; of many only the last."""
    events = [
        " ".join([*entry.sentences, *(["(Your order said this.)"] if entry.by_own_order else [])])
        for entry in entries
        if entry.is_live and entry.sentences
    ]
    left_out = len(events) - most
    return tuple(events if left_out <= 0 else [f"… and {left_out} earlier events", *events[-most:]])
