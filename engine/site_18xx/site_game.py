"""The second game of an export: by the site's conventions, with the actions that record it.

Theory of operation. Every action that is played here is written as the site writes it, by whom and with the
pieces by number.

In 1870 the site looks for connections at the start and the end of each turn (1870 §11). It finds them by
itself, so a record of them is an automatic action of the action that caused it. The record at the start of a
turn has the runs that are left over from before; that at its end those that the turn has made possible. A
turn ends once all price protection is decided. A company that has closed in its own turn has no record of
its end. While runs are due before the first turn of a round, the record of that turn's start comes before
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.core.actions import Accept, Action
from engine.core.events import AnyEvent, FramePopped, FramePushed, FrameReplaced
from engine.core.state import (
    AnyFrame,
    ConnectionRunTurn,
    OperatingRound,
    OperatingTurn,
    PriceProtection,
    State,
    StockTurn,
)
from engine.game import Game
from engine.kernel import apply, end_by_agreement, game_of, new_game
from engine.language.notation import made_explicit
from engine.operating.connection_runs import due_connections
from engine.site_18xx.codec_registry import encode_action
from engine.site_18xx.codecs_connections import reorder_connections
from engine.site_18xx.file_title import file_game
from engine.site_18xx.names import SiteNames
from engine.site_18xx.piece_numbering import PieceNumbering
from engine.title import SITE_CONVENTIONS


class SiteGame:
    """`game` by the site's conventions, its `actions` as records of the file, and the turns begun in it."""

    def __init__(self, start: State, names: SiteNames) -> None:
        options = (SITE_CONVENTIONS, *names.site_options(start.options))
        self.names = names
        self.game: Game = file_game(new_game(start.title, start.players, options).state)
        self.numbering = PieceNumbering(names, self.game.title)
        self.actions: list[dict[str, Any]] = []
        self.connections = ConnectionRecords(self)
        self.turn_count = 0
        self.timestamp: int | None = None
        """When the line of our game was played that is exported now, if it is known."""

    @property
    def top(self) -> AnyFrame:
        return self.game.top

    def play(self, seat: str, action: Action) -> None:
        """Play a legal action and write its records. NoCounterpartError: the site has no such action."""
        explicit = made_explicit(self.game, action)
        records = encode_action(self.game, self.names, self.numbering, seat, explicit)
        stack = list(self.game.state.stack)
        self.apply(seat, action)
        if offers := self.game.state.offers:
            self.apply(offers[0].recipient, Accept())
        for record in records:
            self.write(record)
        if self.names.records_connections:
            self.connections.record(stack, self.game.events)

    def apply(self, seat: str, action: Action) -> None:
        """Play a legal action without a record of its own."""
        self.game.events = []
        apply(self.game, seat, action)
        self.numbering.update(self.game.events)
        self.turn_count += turns_begun(self.game.events)

    def end(self) -> None:
        """End the game as its players have agreed to."""
        self.game = game_of(end_by_agreement(self.game.state).state)

    def write(self, record: dict[str, Any]) -> None:
        """Add a record to the actions, with its id and time."""
        head = {"id": len(self.actions) + 1} | self.time_fields()
        self.actions.append({k: record.pop(k) for k in ("type", "entity", "entity_type")} | head | record)

    def time_fields(self) -> dict[str, int]:
        """The time of our line as a field of a record."""
        return {} if self.timestamp is None else {"created_at": self.timestamp}


class ConnectionRecords:
    """Writes the records of one game. `_begun`: a company with the record of its start before due runs."""

    def __init__(self, site: SiteGame) -> None:
        self._site = site
        self._begun: str | None = None
        self._postponed: str | None = None
        self.ended_turn: str | None = None
        """The company whose turn is over, while the record of its end is still to be written."""

    def record(self, stack: list[AnyFrame], events: Sequence[AnyEvent]) -> None:
        """Write the records that follow from events; `stack` is that before them, and is changed."""
        due = self._due()
        for event in events:
            match event:
                case FramePushed(frame):
                    below = stack[-1]
                    stack.append(frame)
                    if isinstance(frame, OperatingTurn):
                        self.write_turn_end(due)
                        self._write_turn_start(frame, below, due)
                case FrameReplaced(frame):
                    stack[-1] = frame
                case FramePopped():
                    self._note_end(stack.pop())
        if not isinstance(self._site.top, PriceProtection):
            self.write_turn_end(due)

    def add_found_in_file(self, events: Sequence[AnyEvent]) -> None:
        """Record what only a file of the site has found: a connection run, or another order of those due.

        A run is due at the end of the last turn; the next turn starts after it.
        """
        site = self._site
        frame = next(event.frame for event in events if isinstance(event, FramePushed))
        assert isinstance(frame, ConnectionRunTurn)
        records = site.actions[-1]["auto_actions"]
        if isinstance(events[0], FramePopped):
            [round] = [event.frame for event in events if isinstance(event, FrameReplaced)]
            assert isinstance(round, OperatingRound)
            order = (frame.company, *round.due_connections)
            reorder_connections(site.game, order)
            records[-1]["corporations"] = [site.names.site_company(company) for company in order]
            return
        self._postponed = records.pop()["entity"]
        records[-1]["corporations"].append(site.names.site_company(frame.company))
        site.game.push(frame)

    def write_turn_end(self, due: list[str]) -> None:
        """Write the record of the end of a turn, if a turn has ended and its company is still open."""
        if self.ended_turn and not self._site.game.company(self.ended_turn).closed:
            self._write(self.ended_turn, due)
        self.ended_turn = None

    def _due(self) -> list[str]:
        g = self._site.game
        round = g.state.stack[0]
        if not isinstance(round, OperatingRound) or not isinstance(g.top, ConnectionRunTurn):
            return []
        due = due_connections(g, round.last_operated, round.operated)
        return [self._site.names.site_company(company) for company in due]

    def _note_end(self, popped: AnyFrame) -> None:
        if isinstance(popped, ConnectionRunTurn) and self._postponed:
            self._write(self._site.names.our_company(self._postponed), [])
            self._postponed = None
        if type(popped) is OperatingTurn:
            self.ended_turn = popped.company

    def _write_turn_start(self, turn: OperatingTurn, below: AnyFrame, due: list[str]) -> None:
        if not isinstance(turn, ConnectionRunTurn):
            if self._begun != turn.company:
                self._write(turn.company, [])
            self._begun = None
        elif isinstance(below, OperatingRound) and below.last_operated is None and not self._begun:
            order = self._site.game.operating_order()
            self._begun = next(company for company in order if company in below.yet_to_operate)
            self._write(self._begun, due)

    def _write(self, company: str, due: list[str]) -> None:
        entity = {"entity": self._site.names.site_company(company), "entity_type": "corporation"}
        record = {"type": "destination_connection", **entity, **self._site.time_fields(), "corporations": due}
        self._site.actions[-1].setdefault("auto_actions", []).append(record)


def turns_begun(events: Iterable[AnyEvent] | Sequence[AnyEvent]) -> int:
    """How many stock and operating turns these events start."""
    return sum(isinstance(e, FramePushed) and isinstance(e.frame, StockTurn | OperatingTurn) for e in events)
