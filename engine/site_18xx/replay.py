"""Plays a game file of the site through this engine, under the site's conventions.

Theory of operation. Undo and redo are resolved first (`active_actions`). Then each action, with the automatic
actions nested in it, is decoded into an action of the engine and played at the table (`site_table.py`). A
recorded `pass` for a question that is no longer open is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.core.actions import Pass
from engine.core.state import ConnectionRunTurn, OperatingTurn
from engine.game_text.history import GameHistory, HistoryLine
from engine.kernel import awaited_seats
from engine.site_18xx.codec_registry import CODECS, encode_action
from engine.site_18xx.file_title import has_no_answer
from engine.site_18xx.game_file import SiteAction, SiteFile, SiteFileError, active_actions
from engine.site_18xx.record_check import check_whole
from engine.site_18xx.site_table import SiteReplayError, SiteTable


class SiteReplay(SiteTable):
    """The replay of one file."""

    def __init__(self, file: SiteFile) -> None:
        super().__init__(file, encode_action)

    def run(self) -> Iterator[SiteAction]:
        """Play action after action, yielding each once it has been played. Raises SiteReplayError."""
        actions = active_actions(self.file.actions)
        self.upcoming.extend(action for action in actions if not _is_chat(action))
        for action in actions:
            self.action_id = action.id
            if not _is_chat(action):
                self.upcoming.popleft()
            for each in (action, *action.auto_actions):
                self._play_site_action(each)
            yield action
        self._answer_in_vain()

    @property
    def history(self) -> GameHistory:
        """The game as far as it has been played."""
        return GameHistory(self.start, tuple(HistoryLine(s.seat, s.line, s.events) for s in self.lines))

    def _play_site_action(self, action: SiteAction) -> None:
        if action.type != "end_game":
            self._answer_in_vain()
        if _is_chat(action):
            return
        if self.starting_company is not None and action.type != "place_token":
            reason = f"the home token of the {self.starting_company} would have to be placed first"
            raise SiteReplayError(self.action_id, "", reason)
        codec = CODECS.get(action.type)
        if codec is None:
            raise SiteReplayError(self.action_id, "", f"{action.type!r} is not an action of this title")
        if action.entity_type not in codec.entity_types:
            entity = f"a {action.entity_type or 'thing without a type'}"
            raise SiteReplayError(self.action_id, "", f"{action.type!r} is not an action of {entity}")
        self.record = action
        self._note_connection_records(action)
        try:
            check_whole(action)
            codec.decode(self, action)
        except SiteFileError as error:
            raise SiteReplayError(self.action_id, "", str(error)) from None

    def _answer_in_vain(self) -> None:
        """Pass where nothing else is possible: at our tables that belongs to the line before."""
        if has_no_answer(self.game):
            line = self.lines[-1]
            self.apply(awaited_seats(self.game)[0], Pass())
            passed = self.lines.pop()
            self.lines[-1] = line._replace(events=[*line.events, *passed.events])

    def _note_connection_records(self, action: SiteAction) -> None:
        """Warn where a company acts in a turn for which the file has no record of connections."""
        top = self.game.top
        if not self.names.records_connections or action.entity_type != "corporation":
            return
        if isinstance(top, ConnectionRunTurn) or not isinstance(top, OperatingTurn):
            return
        in_turn = top.company == self.names.our_company(action.entity_key)
        if in_turn and action.type != "destination_connection":
            self.expect_connections(top.company)


def _is_chat(action: SiteAction) -> bool:
    """Whether an action changes nothing: chat, and orders of which the file has the results too."""
    return action.type in ("message", "log") or action.type.startswith("program_")
