"""Codec: the record of which connection runs are due (1870), as the site found them.

Our engine finds connections by itself, and in nearly all files it finds the recorded ones in the recorded
order. Where it does not, the file is followed: a run that only the site has found is opened, and companies
that are connected together run in the recorded order. Both are lines that nobody can type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.core.state import ConnectionRunTurn, OperatingRound
from engine.game import Game
from engine.game_text.history import CONNECTION_RUN_LINE
from engine.operating.connection_runs import can_do_connection_run
from engine.site_18xx.action_codec import CORPORATION, ActionCodec
from engine.site_18xx.game_file import SiteAction, SiteFileError

if TYPE_CHECKING:
    from engine.site_18xx.replay import SiteReplay

FIRST_CONNECTION_STEP = "destination"
"""The first step of a connection run on the site."""


def found_connections(g: Game) -> tuple[str, ...]:
    """The companies whose connection runs are about to begin, in their order."""
    turn, round = g.top, g.state.stack[0]
    if not isinstance(turn, ConnectionRunTurn) or turn.acted or not isinstance(round, OperatingRound):
        return ()
    return (turn.company, *round.due_connections)


def reorder_connections(g: Game, order: tuple[str, ...]) -> None:
    """Let the found connections run in that order."""
    turn = g.top
    g.pop()
    round = g.top
    assert isinstance(turn, ConnectionRunTurn) and isinstance(round, OperatingRound)
    g.replace_top(msgspec.structs.replace(round, due_connections=order[1:]))
    g.push(msgspec.structs.replace(turn, company=order[0]))


class ConnectionRecordOrder:
    """Whose records of connections the file has had: one as a company's turn begins, one as it ends."""

    def __init__(self) -> None:
        self.begun: str | None = None

    def note_record(self, replay: SiteReplay, company: str) -> None:
        """A record of that company: of the end of its turn if it has begun, else of the beginning."""
        if self.begun == company:
            self.begun = None
            return
        if self.begun is not None and not replay.game.company(self.begun).closed:
            replay.warn(f"the file has no record of connections at the end of the {self.begun}'s turn")
        self.begun = company

    def note_action(self, replay: SiteReplay, company: str) -> None:
        """An action of a company in its operating turn."""
        if self.begun != company:
            replay.warn(f"the file has no record of connections at the start of the {company}'s turn")
            self.begun = company


def _decode_destination_connection(replay: SiteReplay, action: SiteAction) -> None:
    recorded = tuple(map(replay.company, action.corporations or ()))
    if len(set(recorded)) < len(recorded):
        raise SiteFileError("it names a company twice")
    for company in (replay.company(action.entity_key), *recorded):
        if replay.state.companies[company].president is None:
            raise SiteFileError(f"the {company} is not in the game now, so it makes no connection run")
    replay.record_order.note_record(replay, replay.company(action.entity_key))
    found = found_connections(replay.game)
    if recorded != found and sorted(recorded) == sorted(found):
        replay.warn(f"the {', '.join(recorded)} connect in the recorded order")
        replay.game.events = []
        reorder_connections(replay.game, recorded)
        replay.append_line(replay.game.president(recorded[0]), CONNECTION_RUN_LINE, replay.game.events)
        return
    if left_out := [company for company in found if company not in recorded]:
        replay.warn(f"the file leaves out that the {', '.join(left_out)} can make a connection run")
    for company in recorded:
        if not replay.game.company(company).connected and not can_do_connection_run(replay.game, company):
            replay.warn(f"the {company} connects as recorded")
            replay.game.events = []
            replay.game.push(ConnectionRunTurn(company, FIRST_CONNECTION_STEP))
            replay.append_line(replay.game.president(company), CONNECTION_RUN_LINE, replay.game.events)


CODECS = (ActionCodec("destination_connection", (CORPORATION,), _decode_destination_connection, {}),)
