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
from bot.answers import Asked
from bot.notices import Recipient
from bot.tables import TableInfo
from engine.events import RoundBegan
from engine.record.openly import opened
from engine.record.telling import ENDED, Telling, Told
from storage import Ballot, Line, LogRow, StoreError, resolve

STRIDE = 32  # moves from one kept position to the next
CHANGES = ("move", "replace")  # rows of which the events change the position before them


@dataclass(frozen=True, slots=True)
class Known:
    """What the store knows of a table beside its log, as of a mark: who sits there and how each seat
    is reached, and the open votes."""

    table: TableInfo
    votes: tuple[Ballot, ...] = ()
    reached: Mapping[int, Recipient] = field(default_factory=dict)
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Happening:
    """A row of the log in words. `live` is False for a move that was undone.

    Of what its speaker keeps to himself there is no line here, only what it has brought about.
    """

    seq: int
    at: datetime
    kind: str
    seat: int | None
    said: str
    line: str
    sentences: tuple[str, ...]
    live: bool = True

    @property
    def tells(self) -> bool:
        """Whether there is anything in it for others to read."""
        return bool(self.line or self.sentences)

    @property
    def words(self) -> str:
        """The line, or what came of it where that is kept from the others."""
        return self.line or " ".join(self.sentences)


@dataclass(frozen=True, slots=True)
class View:
    """A table as it stands. `asked`: whom it waits for; `votes`: open votes; `state` None in the lobby.

    `now` names the moment, for `seen` of an undo or a redo by somebody who is asked nothing.
    `may_undo` and `may_redo`: whose move is the last that holds, and the last that a redo brings back.
    """

    table: TableInfo
    state: engine.State | None
    seq: int
    now: str
    asked: tuple[Asked, ...]
    votes: tuple[Ballot, ...]
    may_undo: int | None = None
    may_redo: int | None = None

    def decision(self, seat: int) -> str | None:
        """What that seat is asked now, as `seen` wants it."""
        return next((a.decision for a in self.asked if a.seat == seat), None)

    def waiting(self) -> list[tuple[Ballot, int]]:
        """Each vote with each seat that has not answered it."""
        return [(b, seat) for b in self.votes for seat, said in b.voices.items() if said is None]


def seat_name(seat: int) -> str:
    """What the engine calls a seat."""
    return f"p{seat}"


def seat_number(name: str) -> int:
    """The seat that the engine calls so."""
    return int(name[1:])


def questions(state: engine.State, cuts: int) -> tuple[Asked, ...]:
    """Whom a position waits for, those asked by its question first."""
    if state.over:
        return ()
    decision = engine.decision(state)
    found = []
    for name in decision.all:
        main = name in decision.asked
        offers = [o for o in state.offers if o.asked == name]
        what = f"o{offers[0].number}" if offers and not main else str(state.question)
        told = "; ".join(engine.offer_words(engine.game_of(state), offer) for offer in offers)
        needs = decision.needs if main else f"to accept or decline: {told}"
        now = not main or name in decision.now
        found.append(Asked(seat_number(name), state.name(name), f"{cuts}.{what}", needs, main, now))
    return tuple(found)


def _full_round(short: re.Match[str]) -> str:
    names = {"sr": "stock", "or": "operating", "mr": "merger"}
    return f"{names.get(short[1], short[1])} round "


def _happening(row: LogRow, told: tuple[str, ...], live: bool) -> Happening:
    said, line = ("", "") if engine.is_secret(row.line) else (row.said, row.line)
    return Happening(row.seq, row.at, row.kind, row.seat, said, line, told, live)


def _told(row: LogRow, state: engine.State | None) -> tuple[str, ...]:
    """What a row brought about, in words; `state` is the position behind it, where it changes any."""
    if row.kind in CHANGES and state is not None:
        return tuple(engine.narrate(state, engine.decoded_events(row.events)))
    return (row.said,) if row.said else ()


class Play:
    """A table that has begun. Rows come in by `add`, when loading and when playing alike."""

    def __init__(self, known: Known, rows: Iterable[LogRow] = ()) -> None:
        self.known = known
        self.line = Line()
        self.cuts = 0
        self.undos: list[int] = []  # where the line stood before each undo that a redo can take back
        self._rows: list[LogRow] = []
        self._told: dict[int, tuple[str, ...]] = {}
        self._stands: list[int] = [0]
        self._parent: dict[int, int] = {}
        self._kept: dict[int, bytes] = {}
        self._stood: dict[str, int] = {}
        self._state: engine.State | None = None
        self._asked: tuple[Asked, ...] | None = None
        for row in rows:
            self._take(row)

    # -- rows --------------------------------------------------------------------------------

    def add(self, row: LogRow, told: tuple[str, ...] | None = None) -> None:
        """Take a row in: the next of the log, `told` where it was put into words already.

        Raises StoreError for one out of order.
        """
        self._take(row)
        self._told[row.seq] = _told(row, self._state) if told is None else told

    def _take(self, row: LogRow) -> None:
        if row.seq != self.seq + 1:
            raise StoreError(f"Row {row.seq} of the log of {self.table.code} follows row {self.seq}.")
        if row.kind == "note" and row.events:
            self._state = engine.decoded(row.events)
            self._kept[0] = row.events
        elif row.kind == "move":
            self._moved(row)
        elif row.stands_at is not None:
            self._shifted(row, row.stands_at)
        elif row.kind == "replace":
            engine.fold(engine.decoded_events(row.events), self.state)
        self._rows.append(row)
        self._stands.append(self.line.stands_at)
        self._asked = None
        if self._state is not None:
            self._stood[self.now] = row.seq
            for offer in self._state.offers:
                self._stood[f"{self.cuts}.o{offer.number}"] = row.seq

    def _moved(self, row: LogRow) -> None:
        self._parent[row.seq] = self.line.stands_at
        self.line = resolve([row], self.line)
        self.undos.clear()
        engine.fold(engine.decoded_events(row.events), self.state)
        if len(self.line.played) % STRIDE == 0:
            self._kept[row.seq] = engine.encoded(self.state)

    def _shifted(self, row: LogRow, to: int) -> None:
        if row.kind == "undo":
            self.undos.append(self.line.stands_at)
        elif self.undos:
            self.undos.pop()
        self.line = resolve([row], self.line)
        self.cuts += 1
        self._state = self.position(to)

    def position(self, move: int) -> engine.State:
        """The position after a move (0: at the start), by the names of now; a copy."""
        return self._named(self._after(move), self.seq)

    def _after(self, move: int) -> engine.State:
        """The position after a move, by the names of whenever."""
        chain = []
        while move not in self._kept:
            chain.append(move)
            move = self._parent[move]
        state = engine.decoded(self._kept[move])
        for seq in reversed(chain):
            engine.fold(engine.decoded_events(self._rows[seq - 1].events), state)
        return state

    def _named(self, state: engine.State, seq: int) -> engine.State:
        for row in self._rows[:seq]:
            if row.kind == "replace":
                engine.fold(engine.decoded_events(row.events), state)
        return state

    # -- what is there -----------------------------------------------------------------------

    @property
    def table(self) -> TableInfo:
        """The table as the store knows it; where its game is, `info` says."""
        return self.known.table

    @property
    def votes(self) -> tuple[Ballot, ...]:
        """Open votes."""
        return self.known.votes

    @property
    def state(self) -> engine.State:
        """The position now; not to be changed. Raises ValueError before the start."""
        if self._state is None:
            raise ValueError(f"Table {self.table.code} has not begun.")
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
    def now(self) -> str:
        """The name of the question that stands."""
        return f"{self.cuts}.{self.state.question if self._state else 0}"

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Whom the table waits for."""
        if self._asked is None:
            self._asked = questions(self._state, self.cuts) if self._state else ()
        return self._asked

    @property
    def info(self) -> TableInfo:
        """The table as it is told of."""
        if self._state is None:
            return self.table
        return replace(
            self.table,
            names=tuple(self._state.players),
            round=engine.round_name(self._state),
            asked=tuple(a.seat for a in self.asked),
            seq=self.seq,
        )

    def view(self) -> View:
        """The table as it stands; the state is a copy."""
        return View(
            self.info,
            engine.copied(self._state) if self._state else None,
            self.seq,
            self.now,
            self.asked,
            self.votes,
            self.seat_at(self.line.stands_at) if self.line.played else None,
            self.seat_at(self.undos[-1]) if self.undos else None,
        )

    def state_at(self, seq: int) -> engine.State:
        """The position after that row of the log, a copy. Raises ValueError for a row that is not there."""
        begun = next((row.seq for row in self._rows if row.events), None)
        if begun is None or not begun <= seq <= self.seq:
            raise ValueError(f"The log of table {self.table.code} has no position {seq}.")
        return self._named(self._after(self._stands[seq]), seq)

    def telling(self) -> Telling:
        """The game as the line of play has it, by the names of now; what was undone is left out, and
        what was said in secret is said as it came out.

        Raises ValueError before the start.
        """
        if self._state is None:
            raise ValueError(f"Table {self.table.code} has not begun.")
        start = self._after(0)
        before, moves = engine.copied(start), list[Told]()
        start.players = self._state.players.copy()
        renamed = before.players != start.players
        named = engine.copied(start)
        for seq in self.line.played:
            row = self._rows[seq - 1]
            events = engine.decoded_events(row.events)
            line = row.line
            seat = seat_name(row.seat or 0)
            if renamed and line != ENDED:
                before.players = self._named_at(seq)
                line = engine.spell(named, engine.parse(before, seat, line))
            moves.append(Told(seat, line, events, int(row.at.timestamp())))
            if renamed:
                engine.fold(events, before)
                engine.fold(events, named)
        return opened(Telling(start, tuple(moves)))

    def find(self, place: str) -> tuple[int, str]:
        """The row of the log that is meant, and what it is: `120`, `stock round 2`, `or 3.1`, `start`.

        A round is where the line of play begins it. Raises ValueError for anything else.
        """
        begun = next((row.seq for row in self._rows if row.events), None)
        if begun is None:
            raise ValueError(f"Table {self.table.code} has not begun.")
        wanted = " ".join(place.casefold().split())
        wanted = re.sub(r"^(row|move) (?=\d+$)", "", wanted)
        if wanted.isdecimal():
            if not begun <= int(wanted) <= self.seq:
                raise ValueError(f"The log has rows {begun} to {self.seq}; there is no row {wanted}.")
            return int(wanted), f"After row {wanted}"
        if wanted in ("start", "opening"):
            return begun, "At the start"
        wanted = re.sub(r"^([a-z]+)(?: round)? ?(?=\d)", _full_round, wanted)
        for seq in self.line.played:
            for event in engine.decoded_events(self._rows[seq - 1].events):
                if isinstance(event, RoundBegan) and event.round.partition(" of ")[0] == wanted:
                    return seq, f"At the beginning of {wanted}, row {seq}"
        if re.fullmatch(r"(stock|operating|merger) round [\d.]+", wanted):
            raise ValueError(f"The game has come to no {wanted} so far.")
        raise ValueError(
            f"{place.strip() or 'Nothing'} is no round of this game, and no row of its log: "
            "say `at 120`, `at stock round 2` or `at or 3.1`."
        )

    def _named_at(self, seq: int) -> list[str]:
        """Who played when a row was written."""
        return self._named(self._after(0), seq).players

    def stands(self, seat: int, seen: str) -> bool:
        """Whether what was answered still stands for that seat."""
        cut, _, question = seen.partition(".")
        if cut != str(self.cuts):
            return False
        if question.startswith("o"):
            name = seat_name(seat)
            return any(f"o{o.number}" == question and o.asked == name for o in self.state.offers)
        return question == str(self.state.question)

    def seq_of(self, decision: str) -> int:
        """The last row of the log behind which that decision stood; 0 for one that is unknown."""
        return self._stood.get(decision, 0)

    def log(self, after: int = 0, until: int | None = None) -> list[Happening]:
        """The rows behind `after`, up to `until`, in words."""
        played = set(self.line.played)
        rows = self._rows[after:until]
        self._tell(rows)
        return [_happening(row, self._told[row.seq], row.kind != "move" or row.seq in played) for row in rows]

    def _tell(self, rows: Sequence[LogRow]) -> None:
        """Put rows that follow one another into words, as far as nobody has yet: loading tells nothing."""
        state: engine.State | None = None
        for row in rows:
            if row.kind not in CHANGES or row.seq in self._told:
                state = None
            else:
                state = state or self.state_at(row.seq - 1)
                engine.fold(engine.decoded_events(row.events), state)
            if row.seq not in self._told:
                self._told[row.seq] = _told(row, state)

    def said(self, after: int) -> list[tuple[int, str]]:
        """The lines of play behind a row of the log, with their seats, secret ones too."""
        rows = [self._rows[seq - 1] for seq in self.line.played if seq > after]
        return [(row.seat, row.line) for row in rows if row.seat is not None]

    def last_move_of(self, seat: int, until: int | None = None) -> int:
        """The row of a seat's last move that holds, 0 where it has none."""
        limit = self.seq if until is None else until
        return next((s for s in reversed(self.line.played) if s <= limit and self.seat_at(s) == seat), 0)

    def seat_at(self, seq: int) -> int | None:
        """Whose row of the log that is."""
        return self._rows[seq - 1].seat

    def parent(self, move: int) -> int:
        """The move before a move on its line."""
        return self._parent[move]

    def next_on_line(self, move: int) -> int:
        """The first move behind a move on the line of play, played or undone."""
        path = [*self.line.played, *self.line.undone]
        return path[path.index(move) + 1] if move else path[0]
