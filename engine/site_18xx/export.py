"""Writes one of our games as a game file of 18xx.games.

Theory of operation. The game is played once more, line by line, as a second game under the site's
conventions (`site_game.py`). What is played there becomes the actions of the file, so each action is checked
as it is written. The two games differ in when they ask. Where our line skips a question silently, the file
has an explicit pass, as the site wants it. A turn or step that only one of the two games has is passed there,
or left out (`two_games.py`). What the site has in another form is translated (`line_translation.py`), and
what it has to have earlier is moved before the lines are played (`reordering.py`).

Where the rules of our game allow what the site's do not, the second game refuses a line or reaches
another position than the first. That line is the first without a counterpart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.events import fold
from engine.core.state import State, copy_state
from engine.game_text.history import CONNECTION_RUN_LINE, ENDED_LINE, GameHistory, HistoryLine
from engine.kernel import RefusedError, game_of, new_game
from engine.language.notation import AmbiguousError, UnreadableError, parse
from engine.site_18xx.action_codec import site_player_id
from engine.site_18xx.game_file import NoCounterpartError, SiteFileError
from engine.site_18xx.line_translation import LineTranslation
from engine.site_18xx.names import site_names_of
from engine.site_18xx.position_difference import position_difference
from engine.site_18xx.reordering import in_the_sites_order
from engine.site_18xx.site_game import SiteGame, turns_begun
from engine.site_18xx.two_games import TwoGames
from engine.title import SITE_CONVENTIONS


class SiteExportError(Exception):
    """The game has no counterpart on the site.

    `move_number`: the first move without one, counted from 1; 0 is the set-up.
    """

    def __init__(self, move_number: int, line: str, reason: str) -> None:
        place = f"Move {move_number} ({line})" if move_number else "The table"
        super().__init__(f"{place} has no counterpart on 18xx.games: {reason}")
        self.move_number = move_number


def export_game(history: GameHistory, name: str = "", *, as_far_as_possible: bool = False) -> dict[str, Any]:
    """The game as a game file of the site, ready to be encoded as JSON.

    Raises SiteExportError with the first move that the site does not have. With `as_far_as_possible` the file
    has the game up to that move, and then the reason and all further lines as chat messages; the error is
    raised only if not even the set-up has a counterpart.
    """
    exporter = SiteExporter(history.start)
    lines = in_the_sites_order(history)
    for index, (number, line) in enumerate(lines):
        done = exporter.mark()
        try:
            exporter.add_line(line, number)
        except SiteExportError as error:
            if not as_far_as_possible:
                raise
            exporter.drop_after(done)
            exporter.add_remarks(str(error), [line for _, line in lines[index:]])
            return exporter.build_partial_file(name)
    done = exporter.mark()
    try:
        return exporter.build_file(name)
    except SiteExportError as error:
        if not as_far_as_possible:
            raise
        exporter.drop_after(done)
        exporter.add_remarks(str(error), [])
        return exporter.build_partial_file(name)


class SiteExporter:
    """An export in progress: both `games`, and the line of ours that is exported now."""

    def __init__(self, start: State) -> None:
        try:
            names = site_names_of(start.title)
        except SiteFileError:
            raise SiteExportError(0, "", f"the site does not have {start.title}.") from None
        if unknown := names.unknown_options(start.options):
            raise SiteExportError(0, "", f"the site does not have the option {unknown[0]}.")
        fresh = new_game(start.title, start.players, start.options).state
        if difference := position_difference(start, fresh):
            raise SiteExportError(0, "", f"it does not start from the opening position: {difference}")
        self.start = start
        self.site = SiteGame(start, names)
        self.games = TwoGames(start, self.site)
        self._translation = LineTranslation(self.games)
        self._current_line = HistoryLine("", "", ())
        self._move_number = 0

    @property
    def actions(self) -> list[dict[str, Any]]:
        """The records of the file so far."""
        return self.site.actions

    # -- line by line ------------------------------------------------------------------

    def add_line(self, line: HistoryLine, number: int | None = None) -> None:
        """Export the next line of the game; `number`: its number there. Raises SiteExportError."""
        try:
            self.games.catch_up()
            self.games.compare()
            self._current_line, self._move_number = line, number or self._move_number + 1
            self.site.timestamp = line.timestamp
            self._play(line)
            fold(line.events, self.games.our_state)
            self.games.turn_count += turns_begun(line.events)
            self.games.held.note_our_events(line.events)
        except NoCounterpartError as error:
            raise self._error(str(error)) from None

    def _play(self, line: HistoryLine) -> None:
        """Play on the site what a line of our game means there."""
        if line.line == ENDED_LINE:
            self._write_player_record("end_game", line.seat)
            self.site.end()
        elif line.line == CONNECTION_RUN_LINE:
            self.site.connections.add_found_in_file(line.events)
            self.site.turn_count += turns_begun(line.events)
        else:
            before = game_of(copy_state(self.games.our_state))
            try:
                action = parse(before, line.seat, line.line)
            except (UnreadableError, AmbiguousError, RefusedError) as error:
                raise NoCounterpartError(str(error)) from None
            self._translation.play(before, line, action)

    def mark(self) -> int:
        """How many actions there are before the next line."""
        return len(self.actions)

    def drop_after(self, mark: int) -> None:
        """Take back the actions of a line that could not be exported as a whole."""
        del self.actions[mark:]

    def add_remarks(self, reason: str, lines: Sequence[HistoryLine]) -> None:
        """Add a reason and lines that are not exported as chat messages, which the site does not play."""
        texts = [(self.start.seats[0], reason)]
        texts += [(line.seat, f"{self.start.name(line.seat)}: {line.line}") for line in lines]
        for seat, text in texts:
            self._write_player_record("message", seat, message=text)

    def _write_player_record(self, kind: str, seat: str, **fields: str) -> None:
        player = {"entity": site_player_id(seat), "entity_type": "player"}
        self.site.write({"type": kind, **player, **fields})

    # -- the file ----------------------------------------------------------------------

    def build_partial_file(self, name: str = "") -> dict[str, Any]:
        """The file of a game that is exported up to some move only: an active game without a result."""
        return self._file(name, over=False)

    def build_file(self, name: str = "") -> dict[str, Any]:
        """The file, once all lines are added. Raises SiteExportError where the last positions differ."""
        try:
            self.games.end()
        except NoCounterpartError as error:
            raise self._error(str(error)) from None
        over = self.games.our_state.game_over
        file = self._file(name, over=over is not None)
        if over:
            scores = self.site.game.title.scores(self.site.game, over.bankrupt)
            file["result"] = {str(site_player_id(seat)): dollars for seat, dollars in scores.items()}
        return file

    def _file(self, name: str, *, over: bool) -> dict[str, Any]:
        state = self.games.our_state
        return {
            "id": "hs_railpost_1",
            "description": name,
            "user": {"id": 0, "name": "You"},
            "min_players": len(state.players),
            "max_players": len(state.players),
            "title": state.title,
            "players": [{"id": number, "name": player} for number, player in enumerate(state.players, 1)],
            "settings": {
                "seed": 1,
                "is_async": True,
                "unlisted": True,
                "optional_rules": [o for o in self.site.game.state.options if o != SITE_CONVENTIONS],
            },
            "mode": "hotseat",
            "status": "finished" if over else "active",
            "actions": self.actions,
            "loaded": True,
        }

    def _error(self, reason: str) -> SiteExportError:
        line = self._current_line
        player = self.games.our_state.name(line.seat) if line.seat else ""
        if SITE_CONVENTIONS not in self.start.options:
            reason += " The table does not play by the site's conventions."
        return SiteExportError(self._move_number, f"{player}: {line.line}", reason)
