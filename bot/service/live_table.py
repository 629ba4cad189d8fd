"""One table in memory: its log, its position, and every position that it ever had.

Theory. The moves of a log are a tree: each continues the one at which the line of play stood when it
was made, and an undo or a redo only says at which move the line stands now. So the position after a
move is that after its parent with the events of the move folded in, whatever was undone since; a
position is kept at every so many moves, and from there any other is a few folds away. What changes
who sits in a seat is on no line: it holds for everything behind it in the log. No rule is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import engine
from bot.service.notifications import Recipient
from bot.service.results import PendingDecision
from bot.service.tables import TableInfo
from engine.core.events import RoundStarted
from engine.game_text.history import ENDED_LINE, GameHistory, HistoryLine
from engine.game_text.redaction import redacted
from storage import (
    LineOfPlay,
    LogRow,
    StoreError,
    TablePoll,
    resolve_line_of_play,
)

SNAPSHOT_INTERVAL = 32  # moves from one kept position to the next
STATE_CHANGING_KINDS = ("move", "replace")  # rows of which the events change the position before them


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """What the store knows of a table beside its log, as of a mark: who sits there and how each seat
    is reached, and the open votes."""

    info: TableInfo
    polls: tuple[TablePoll, ...] = ()
    recipients: Mapping[int, Recipient] = field(default_factory=dict)
    data_revision: str = ""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A row of the log in words. `live` is False for a move that was undone.

    Of what its speaker keeps to himself there is no line here, only what it has brought about.
    """

    seq: int
    created_at: datetime
    kind: str
    seat: int | None
    raw_line: str
    line: str
    sentences: tuple[str, ...]
    is_live: bool = True

    @property
    def has_text(self) -> bool:
        """Whether there is anything in it for others to read."""
        return bool(self.line or self.sentences)

    @property
    def text(self) -> str:
        """The line, or what came of it where that is kept from the others."""
        return self.line or " ".join(self.sentences)


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as it stands. `asked`: whom it waits for; `votes`: open votes; `state` None in the lobby.

    `now` names the moment, for `seen` of an undo or a redo by somebody who is asked nothing.
    `may_undo` and `may_redo`: whose move is the last that holds, and the last that a redo brings back.
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
        """What that seat is asked now, as `seen` wants it."""
        return next((a.decision_id for a in self.pending if a.seat == seat), None)

    def missing_votes(self) -> list[tuple[TablePoll, int]]:
        """Each vote with each seat that has not answered it."""
        return [(b, seat) for b in self.polls for seat, said in b.votes.items() if said is None]


def engine_seat(seat: int) -> str:
    """What the engine calls a seat."""
    return f"p{seat}"


def seat_number(name: str) -> int:
    """The seat that the engine calls so."""
    return int(name[1:])


def pending_decisions(state: engine.State, cuts: int) -> tuple[PendingDecision, ...]:
    """Whom a position waits for, those asked by its question first."""
    if state.game_over:
        return ()
    decision = engine.decision(state)
    found = []
    for name in decision.awaited:
        main = name in decision.asked
        offers = [o for o in state.offers if o.recipient == name]
        what = f"o{offers[0].number}" if offers and not main else str(state.question_number)
        told = "; ".join(engine.offer_label(engine.game_of(state), offer) for offer in offers)
        needs = decision.prompt if main else f"to accept or decline: {told}"
        now = not main or name in decision.acting
        found.append(PendingDecision(seat_number(name), state.name(name), f"{cuts}.{what}", needs, main, now))
    return tuple(found)


def _full_round_name(short: re.Match[str]) -> str:
    names = {"sr": "stock", "or": "operating", "mr": "merger"}
    return f"{names.get(short[1], short[1])} round "


def _log_entry(row: LogRow, told: tuple[str, ...], live: bool) -> LogEntry:
    said, line = ("", "") if engine.is_secret(row.line) else (row.raw_line, row.line)
    return LogEntry(row.seq, row.created_at, row.kind, row.seat, said, line, told, live)


def _sentences_of(row: LogRow, state: engine.State | None) -> tuple[str, ...]:
    """What a row brought about, in words; `state` is the position behind it, where it changes any."""
    if row.kind in STATE_CHANGING_KINDS and state is not None:
        return tuple(engine.narrate(state, engine.decode_events(row.events)))
    return (row.raw_line,) if row.raw_line else ()


class LiveTable:
    """A table that has begun. Rows come in by `add`, when loading and when playing alike."""

    def __init__(self, known: TableMetadata, rows: Iterable[LogRow] = ()) -> None:
        self.metadata = known
        self.line_of_play = LineOfPlay()
        self.rewind_count = 0
        self.redo_targets: list[int] = []  # where the line stood before each undo that a redo can take back
        self._rows: list[LogRow] = []
        self._sentences: dict[int, tuple[str, ...]] = {}
        self._last_move_at: list[int] = [0]
        self._parents: dict[int, int] = {}
        self._snapshots: dict[int, bytes] = {}
        self._row_of_decision: dict[str, int] = {}
        self._state: engine.State | None = None
        self._pending: tuple[PendingDecision, ...] | None = None
        for row in rows:
            self._apply_row(row)

    # -- rows --------------------------------------------------------------------------------

    def add(self, row: LogRow, told: tuple[str, ...] | None = None) -> None:
        """Take a row in: the next of the log, `told` where it was put into words already.

        Raises StoreError for one out of order.
        """
        self._apply_row(row)
        self._sentences[row.seq] = _sentences_of(row, self._state) if told is None else told

    def _apply_row(self, row: LogRow) -> None:
        if row.seq != self.seq + 1:
            raise StoreError(f"Row {row.seq} of the log of {self.stored_info.code} follows row {self.seq}.")
        if row.kind == "note" and row.events:
            self._state = engine.decode_state(row.events)
            self._snapshots[0] = row.events
        elif row.kind == "move":
            self._apply_move(row)
        elif row.rewinds_to is not None:
            self._apply_rewind(row, row.rewinds_to)
        elif row.kind == "replace":
            engine.fold(engine.decode_events(row.events), self.state)
        self._rows.append(row)
        self._last_move_at.append(self.line_of_play.current_move)
        self._pending = None
        if self._state is not None:
            self._row_of_decision[self.current_decision_id] = row.seq
            for offer in self._state.offers:
                self._row_of_decision[f"{self.rewind_count}.o{offer.number}"] = row.seq

    def _apply_move(self, row: LogRow) -> None:
        self._parents[row.seq] = self.line_of_play.current_move
        self.line_of_play = resolve_line_of_play([row], self.line_of_play)
        self.redo_targets.clear()
        engine.fold(engine.decode_events(row.events), self.state)
        if len(self.line_of_play.played) % SNAPSHOT_INTERVAL == 0:
            self._snapshots[row.seq] = engine.encode_state(self.state)

    def _apply_rewind(self, row: LogRow, to: int) -> None:
        if row.kind == "undo":
            self.redo_targets.append(self.line_of_play.current_move)
        elif self.redo_targets:
            self.redo_targets.pop()
        self.line_of_play = resolve_line_of_play([row], self.line_of_play)
        self.rewind_count += 1
        self._state = self.state_after_move(to)

    def state_after_move(self, move: int) -> engine.State:
        """The position after a move (0: at the start), by the names of now; a copy."""
        return self._apply_renames(self._state_from_snapshot(move), self.seq)

    def _state_from_snapshot(self, move: int) -> engine.State:
        """The position after a move, by the names of whenever."""
        chain = []
        while move not in self._snapshots:
            chain.append(move)
            move = self._parents[move]
        state = engine.decode_state(self._snapshots[move])
        for seq in reversed(chain):
            engine.fold(engine.decode_events(self._rows[seq - 1].events), state)
        return state

    def _apply_renames(self, state: engine.State, seq: int) -> engine.State:
        for row in self._rows[:seq]:
            if row.kind == "replace":
                engine.fold(engine.decode_events(row.events), state)
        return state

    # -- what is there -----------------------------------------------------------------------

    @property
    def stored_info(self) -> TableInfo:
        """The table as the store knows it; where its game is, `info` says."""
        return self.metadata.info

    @property
    def polls(self) -> tuple[TablePoll, ...]:
        """Open votes."""
        return self.metadata.polls

    @property
    def state(self) -> engine.State:
        """The position now; not to be changed. Raises ValueError before the start."""
        if self._state is None:
            raise ValueError(f"Table {self.stored_info.code} has not begun.")
        return self._state

    @property
    def begun(self) -> bool:
        """Whether there is a position."""
        return self._state is not None

    @property
    def seq(self) -> int:
        """The number of the last row of the log."""
        return len(self._rows)

    @property
    def current_decision_id(self) -> str:
        """The name of the question that stands."""
        return f"{self.rewind_count}.{self.state.question_number if self._state else 0}"

    @property
    def pending(self) -> tuple[PendingDecision, ...]:
        """Whom the table waits for."""
        if self._pending is None:
            self._pending = pending_decisions(self._state, self.rewind_count) if self._state else ()
        return self._pending

    @property
    def info(self) -> TableInfo:
        """The table as it is told of."""
        if self._state is None:
            return self.stored_info
        return replace(
            self.stored_info,
            names=tuple(self._state.players),
            round=engine.round_name(self._state),
            acting_seats=tuple(a.seat for a in self.pending),
            seq=self.seq,
        )

    def view(self) -> TableView:
        """The table as it stands; the state is a copy."""
        return TableView(
            self.info,
            engine.copy_state(self._state) if self._state else None,
            self.seq,
            self.current_decision_id,
            self.pending,
            self.polls,
            self.seat_at(self.line_of_play.current_move) if self.line_of_play.played else None,
            self.seat_at(self.redo_targets[-1]) if self.redo_targets else None,
        )

    def state_at(self, seq: int) -> engine.State:
        """The position after that row of the log, a copy. Raises ValueError for a row that is not there."""
        begun = next((row.seq for row in self._rows if row.events), None)
        if begun is None or not begun <= seq <= self.seq:
            raise ValueError(f"The log of table {self.stored_info.code} has no position {seq}.")
        return self._apply_renames(self._state_from_snapshot(self._last_move_at[seq]), seq)

    def history(self) -> GameHistory:
        """The game as the line of play has it, by the names of now; what was undone is left out, and
        what was said in secret is said as it came out.

        Raises ValueError before the start.
        """
        if self._state is None:
            raise ValueError(f"Table {self.stored_info.code} has not begun.")
        start = self._state_from_snapshot(0)
        before, moves = engine.copy_state(start), list[HistoryLine]()
        start.players = self._state.players.copy()
        renamed = before.players != start.players
        named = engine.copy_state(start)
        for seq in self.line_of_play.played:
            row = self._rows[seq - 1]
            events = engine.decode_events(row.events)
            line = row.line
            seat = engine_seat(row.seat or 0)
            if renamed and line != ENDED_LINE:
                before.players = self._names_at(seq)
                line = engine.format_action(named, engine.parse(before, seat, line))
            moves.append(HistoryLine(seat, line, events, int(row.created_at.timestamp())))
            if renamed:
                engine.fold(events, before)
                engine.fold(events, named)
        return redacted(GameHistory(start, tuple(moves)))

    def find_row(self, place: str) -> tuple[int, str]:
        """The row of the log that is meant, and what it is: `120`, `stock round 2`, `or 3.1`, `start`.

        A round is where the line of play begins it. Raises ValueError for anything else.
        """
        begun = next((row.seq for row in self._rows if row.events), None)
        if begun is None:
            raise ValueError(f"Table {self.stored_info.code} has not begun.")
        wanted = " ".join(place.casefold().split())
        wanted = re.sub(r"^(row|move) (?=\d+$)", "", wanted)
        if wanted.isdecimal():
            if not begun <= int(wanted) <= self.seq:
                raise ValueError(f"The log has rows {begun} to {self.seq}; there is no row {wanted}.")
            return int(wanted), f"After row {wanted}"
        if wanted in ("start", "opening"):
            return begun, "At the start"
        wanted = re.sub(r"^([a-z]+)(?: round)? ?(?=\d)", _full_round_name, wanted)
        for seq in self.line_of_play.played:
            for event in engine.decode_events(self._rows[seq - 1].events):
                if isinstance(event, RoundStarted) and event.round.partition(" of ")[0] == wanted:
                    return seq, f"At the beginning of {wanted}, row {seq}"
        if re.fullmatch(r"(stock|operating|merger) round [\d.]+", wanted):
            raise ValueError(f"The game has come to no {wanted} so far.")
        raise ValueError(
            f"{place.strip() or 'Nothing'} is no round of this game, and no row of its log: "
            "say `at 120`, `at stock round 2` or `at or 3.1`."
        )

    def _names_at(self, seq: int) -> list[str]:
        """Who played when a row was written."""
        return self._apply_renames(self._state_from_snapshot(0), seq).players

    def is_current(self, seat: int, seen: str) -> bool:
        """Whether what was answered still stands for that seat."""
        cut, _, question = seen.partition(".")
        if cut != str(self.rewind_count):
            return False
        if question.startswith("o"):
            name = engine_seat(seat)
            return any(f"o{o.number}" == question and o.recipient == name for o in self.state.offers)
        return question == str(self.state.question_number)

    def row_of_decision(self, decision: str) -> int:
        """The last row of the log behind which that decision stood; 0 for one that is unknown."""
        return self._row_of_decision.get(decision, 0)

    def log(self, after: int = 0, until: int | None = None) -> list[LogEntry]:
        """The rows behind `after`, up to `until`, in words."""
        played = set(self.line_of_play.played)
        rows = self._rows[after:until]
        self._narrate_rows(rows)
        return [
            _log_entry(row, self._sentences[row.seq], row.kind != "move" or row.seq in played) for row in rows
        ]

    def _narrate_rows(self, rows: Sequence[LogRow]) -> None:
        """Put rows that follow one another into words, as far as nobody has yet: loading tells nothing."""
        state: engine.State | None = None
        for row in rows:
            if row.kind not in STATE_CHANGING_KINDS or row.seq in self._sentences:
                state = None
            else:
                state = state or self.state_at(row.seq - 1)
                engine.fold(engine.decode_events(row.events), state)
            if row.seq not in self._sentences:
                self._sentences[row.seq] = _sentences_of(row, state)

    def lines_after(self, after: int) -> list[tuple[int, str]]:
        """The lines of play behind a row of the log, with their seats, secret ones too."""
        rows = [self._rows[seq - 1] for seq in self.line_of_play.played if seq > after]
        return [(row.seat, row.line) for row in rows if row.seat is not None]

    def last_move_of(self, seat: int, until: int | None = None) -> int:
        """The row of a seat's last move that holds, 0 where it has none."""
        limit = self.seq if until is None else until
        return next(
            (s for s in reversed(self.line_of_play.played) if s <= limit and self.seat_at(s) == seat), 0
        )

    def seat_at(self, seq: int) -> int | None:
        """Whose row of the log that is."""
        return self._rows[seq - 1].seat

    def parent_of(self, move: int) -> int:
        """The move before a move on its line."""
        return self._parents[move]

    def next_move_after(self, move: int) -> int:
        """The first move behind a move on the line of play, played or undone."""
        path = [*self.line_of_play.played, *self.line_of_play.undone]
        return path[path.index(move) + 1] if move else path[0]
