"""Records of the connections that the site looks for, at the start and the end of each turn (1870 §11).

Theory of operation. The site finds connections by itself, so a record is an automatic action of the action
that caused it. The record at the start of a turn has the runs that are left over from before; that at its
end those that the turn has made possible. A turn ends once all price protection is decided. A company that
has closed in its own turn has no record of its end. While runs are due before the first turn of a round, the
record of that turn's start comes before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.core.events import AnyEvent, FramePopped, FramePushed, FrameReplaced
from engine.core.state import AnyFrame, ConnectionRunTurn, OperatingRound, OperatingTurn, PriceProtection
from engine.operating.connection_runs import due_connections
from engine.site_18xx.codecs_connections import reorder_connections

if TYPE_CHECKING:
    from engine.site_18xx.site_game import SiteGame


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
