"""Writes one of our games as a game file of 18xx.games.

Theory of operation. The game is replayed line by line in a second game under the site's conventions
(`site_game.py`), each line as the actions that it is there (`line_translation.py`). What is played becomes
the actions of the file, so each action is checked as it is written. At a table that plays by the site's
conventions both games ask for the same things. Where the rulebook's game skips a question that the site asks,
the player or company passes there.

Where the rules of our game allow what the site's do not, the second game refuses a line or reaches
another position than the first. That line is the first without a counterpart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from engine.core.actions import Action, ChooseHome, Pass, ProtectPrice
from engine.core.events import PriceProtected, fold
from engine.core.state import (
    AnyFrame,
    HomeToken,
    MergerPoll,
    OperatingTurn,
    ParPriceChoice,
    PriceProtection,
    State,
    copy_state,
)
from engine.core.words import join_words
from engine.game_text.history import CONNECTION_RUN_LINE, ENDED_LINE, GameHistory, HistoryLine
from engine.kernel import RefusedError, awaited_seats, game_of, new_game, refusal
from engine.language.notation import AmbiguousError, UnreadableError, parse
from engine.operating.stations import printed_home
from engine.operating.turn import OperatingTurnQuestion
from engine.site_18xx.action_codec import site_player_id
from engine.site_18xx.differences import other_turn, refusal_on_site
from engine.site_18xx.file_title import file_game
from engine.site_18xx.game_file import NoCounterpartError, SiteFileError
from engine.site_18xx.line_translation import actions_on_site
from engine.site_18xx.names import site_names_of
from engine.site_18xx.position_difference import position_difference
from engine.site_18xx.site_game import SiteGame, turns_begun
from engine.title import SITE_CONVENTIONS

MAX_PASSES = 200
"""How many passes may be added for one line. A whole round needs far fewer."""


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
    for at, line in enumerate(history.lines):
        done = len(exporter.actions)
        try:
            exporter.add_line(line)
        except SiteExportError as error:
            if not as_far_as_possible:
                raise
            del exporter.actions[done:]
            exporter.add_remarks(str(error), history.lines[at:])
            return exporter.build_file(name, whole=False)
    return exporter.build_file(name)


class SiteExporter:
    """An export in progress: the position of our game, `our_state`, and the site's game, `site`."""

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
        self.our_state = copy_state(start)
        self.site = SiteGame(start, names)
        self._turn_count = 0
        self._move_number = 0
        self._line = HistoryLine("", "", ())
        self._protections = Counter[str]()
        """By company how many sales the line has answered by a protection that is not played there yet."""

    @property
    def actions(self) -> list[dict[str, Any]]:
        """The records of the file so far."""
        return self.site.actions

    # -- line by line ------------------------------------------------------------------

    def add_line(self, line: HistoryLine) -> None:
        """Export the next line of the game. Raises SiteExportError."""
        self._line, self.site.timestamp = line, line.timestamp
        self._move_number += 1
        self._protections = Counter(e.company for e in line.events if isinstance(e, PriceProtected))
        try:
            self._play_line(line)
            fold(line.events, self.our_state)
            self._turn_count += turns_begun(line.events)
            self._catch_up()
            self._compare()
        except NoCounterpartError as error:
            raise self._error(str(error)) from None

    def _play_line(self, line: HistoryLine) -> None:
        """Play on the site what a line of our game means there."""
        if line.line == ENDED_LINE:
            self._write_player_record("end_game", line.seat)
            self.site.end()
        elif line.line == CONNECTION_RUN_LINE:
            self.site.connections.add_found_in_file(line.events)
            self.site.turn_count += turns_begun(line.events)
        else:
            before = file_game(self.our_state)
            try:
                action = parse(before, line.seat, line.line)
            except (UnreadableError, AmbiguousError, RefusedError) as error:
                raise NoCounterpartError(str(error)) from None
            for seat, each in actions_on_site(before, self.site, line, action):
                if not isinstance(each, Pass):
                    self._pass_for_others(seat, each)
                    self._play(seat, each)
                elif self._asks_the_same(seat):
                    self._play(seat, each)

    def _play(self, seat: str, action: Action) -> None:
        """Play an action in the site's game. Raises NoCounterpartError."""
        if why := refusal(self.site.game, seat, action):
            raise NoCounterpartError(self._refusal_sentence(seat, action, why))
        self.site.play(seat, action)
        self._protections.subtract(e.company for e in self.site.game.events if isinstance(e, PriceProtected))

    # -- keeping level -----------------------------------------------------------------

    def _asks_the_same(self, seat: str) -> bool:
        """Whether the site asks the seat what our game asks."""
        same = _question(self.our_state.top) == _question(self.site.top) and self._steps_ahead() == 0
        return same and awaited_seats(self.site.game)[:1] == (seat,)

    def _pass_for_others(self, seat: str, action: Action) -> None:
        """Pass for those whom the site asks before that action, and our game does not ask any more."""
        g, ours = self.site.game, game_of(self.our_state)
        for _ in range(MAX_PASSES):
            asked = awaited_seats(g)
            if refusal(g, seat, action) is None or not asked:
                return
            is_open = self._is_open() and self._steps_ahead() <= 0
            if (is_open and asked[0] in awaited_seats(ours)) or refusal(g, asked[0], Pass()):
                return
            self._play(asked[0], Pass())

    def _catch_up(self) -> None:
        """Answer what the site still asks and our game does not ask any more. Raises NoCounterpartError."""
        for _ in range(MAX_PASSES):
            if not self._is_behind():
                return
            seat, top = next(iter(awaited_seats(self.site.game)), None), self.site.top
            if seat is None:
                raise NoCounterpartError("the site asks nobody now.")
            if isinstance(top, HomeToken):
                hex = printed_home(self.site.game, top.company).hex
                node = next(n for n, owner in self.our_state.tokens[hex] if owner == top.company)
                self._play(seat, ChooseHome(top.company, hex, node))
            elif isinstance(top, PriceProtection) and self._protections[top.pending_sales[0].company] > 0:
                self._play(seat, ProtectPrice(top.pending_sales[0].company))
            else:
                self._play(seat, Pass())
        raise NoCounterpartError("the site takes the turns in another order.")

    def _is_behind(self) -> bool:
        """Whether the site still asks what our game does not ask any more."""
        if self.site.game.state.game_over:
            return False
        if turns := self._turn_count - self.site.turn_count:
            return turns > 0
        if self.our_state.game_over:
            return True
        if isinstance(self.our_state.top, MergerPoll):  # it asks at once whom the site asks one by one
            return False
        if self._is_open():
            return self._steps_ahead() > 0
        seats = awaited_seats(self.site.game)
        if isinstance(self.site.top, HomeToken):
            return True
        return bool(seats) and refusal(self.site.game, seats[0], Pass()) is None

    def _is_open(self) -> bool:
        """Whether our game still asks what the site asks, if perhaps in another step of the turn."""
        return _question(self.site.top) in map(_question, self.our_state.stack)

    def _steps_ahead(self) -> int:
        """How many steps of the same operating turn our game is ahead of the site's."""
        ours, site = self.our_state.top, self.site.top
        question = self.site.game.title.questions[type(site)]
        if not isinstance(ours, OperatingTurn) or not isinstance(site, OperatingTurn):
            return 0
        assert isinstance(question, OperatingTurnQuestion)
        names = [step.name for step in question.steps]
        return names.index(ours.step) - names.index(site.step) if ours.step in names else 0

    # -- what differs ------------------------------------------------------------------

    def _compare(self) -> None:
        """Raise NoCounterpartError where the two positions differ.

        While a par price is asked in the opening, the site may already have sold the next privates.
        """
        difference = position_difference(self.our_state, self.site.game.state)
        if difference and not isinstance(self.our_state.top, ParPriceChoice):
            raise NoCounterpartError(f"afterwards {difference}")

    def _refusal_sentence(self, seat: str, action: Action, why: str) -> str:
        """What differs on the site, where its game refuses an action."""
        g = self.site.game
        if seat in (seats := awaited_seats(g)):
            return refusal_on_site(action, why, position_difference(self.our_state, g.state))
        asked = join_words([self.our_state.name(each) for each in seats]) or "nobody"
        return other_turn(action, asked, getattr(g.top, "company", None), len(seats) > 1)

    def _error(self, reason: str) -> SiteExportError:
        player = self.our_state.name(self._line.seat) if self._line.seat else ""
        if SITE_CONVENTIONS not in self.start.options:
            reason += " The table does not play by the site's conventions."
        return SiteExportError(self._move_number, f"{player}: {self._line.line}", reason)

    # -- the file ----------------------------------------------------------------------

    def add_remarks(self, reason: str, lines: Sequence[HistoryLine]) -> None:
        """Add a reason and lines that are not exported as chat messages, which the site does not play."""
        texts = [(self.start.seats[0], reason)]
        texts += [(line.seat, f"{self.start.name(line.seat)}: {line.line}") for line in lines]
        for seat, text in texts:
            self._write_player_record("message", seat, message=text)

    def _write_player_record(self, kind: str, seat: str, **fields: str) -> None:
        player = {"entity": site_player_id(seat), "entity_type": "player"}
        self.site.write({"type": kind, **player, **fields})

    def build_file(self, name: str = "", *, whole: bool = True) -> dict[str, Any]:
        """The file. One of a game that is exported up to some move only is active, without a result."""
        state = self.our_state
        over = state.game_over if whole else None
        file = {
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
        if over:
            scores = self.site.game.title.scores(self.site.game, over.bankrupt)
            file["result"] = {str(site_player_id(seat)): dollars for seat, dollars in scores.items()}
        return file


def _question(frame: AnyFrame) -> tuple[object, ...]:
    """What a frame asks, beside the step of an operating turn."""
    if isinstance(frame, PriceProtection):
        return PriceProtection, len(frame.pending_sales)
    names = ("company", "item", "seat", "current_seat", "stage")
    return type(frame), *(getattr(frame, name, None) for name in names)
