"""Codec: the record of which connection runs are due (1870), as the site found them.

Our engine finds connections by itself, and in nearly all files it finds the recorded ones in the recorded
order. Where it does not, the file is followed: a run that only the site has found is opened, and companies
that are connected together run in the recorded order. Both are lines that nobody can type.
"""

from __future__ import annotations

import msgspec

from engine.core.state import ConnectionRunTurn, OperatingRound
from engine.core.words import join_words
from engine.game import Game
from engine.game_text.history import CONNECTION_RUN_LINE
from engine.operating.connection_runs import can_do_connection_run
from engine.site_18xx.action_codec import CORPORATION, ActionCodec
from engine.site_18xx.game_file import SiteAction, SiteFileError
from engine.site_18xx.site_table import SiteTable

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
    g.change_top(round, due_connections=order[1:])
    g.push(msgspec.structs.replace(turn, company=order[0]))


def _decode_destination_connection(table: SiteTable, action: SiteAction) -> None:
    recorded = tuple(map(table.company, action.corporations or ()))
    if len(set(recorded)) < len(recorded):
        raise SiteFileError("it names a company twice")
    for company in (table.company(action.entity_key), *recorded):
        if table.state.companies[company].president is None:
            raise SiteFileError(f"the {company} is not in the game now, so it makes no connection run")
    table.note_connections(table.company(action.entity_key))
    found = found_connections(table.game)
    if recorded != found and sorted(recorded) == sorted(found):
        table.warn(f"the {join_words(recorded)} connect in the recorded order")
        table.game.events = []
        reorder_connections(table.game, recorded)
        table.append_line(table.game.president(recorded[0]), CONNECTION_RUN_LINE, table.game.events)
        return
    if left_out := [company for company in found if company not in recorded]:
        table.warn(f"the file leaves out that the {join_words(left_out)} can make a connection run")
    for company in recorded:
        if not table.game.company(company).connected and not can_do_connection_run(table.game, company):
            table.warn(f"the {company} connects as recorded")
            table.game.events = []
            table.game.push(ConnectionRunTurn(company, FIRST_CONNECTION_STEP))
            table.append_line(table.game.president(company), CONNECTION_RUN_LINE, table.game.events)


CODECS = (ActionCodec("destination_connection", (CORPORATION,), _decode_destination_connection, {}),)
