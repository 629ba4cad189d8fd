"""A game of the site played again through this engine, under the site's conventions.

Theory of operation. The file is brought to its live line (`site_file.live`), and each action with
its automatic followers is said to the engine as the line that it stands for. Two things differ in
how the site records: consent is never asked, so the other player's `accept` is said for him; and
what a company or player declined is not always written, so what the engine still asks of others
is declined for them before somebody acts, and a `pass` for a question that is past is nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from engine.core.actions import Accept, Action, Pass
from engine.core.events import AnyEvent
from engine.core.state import (
    BANK,
    MergerTurn,
    OperatingTurn,
    PostMergerLoans,
    State,
    TakeoverLoans,
    copy_state,
)
from engine.game import Game
from engine.kernel import apply, awaited_seats, game_of, new_game, refusal
from engine.language.notation import format_action
from engine.site_18xx.codecs import CODECS
from engine.site_18xx.codecs_turns import has_no_answer
from engine.site_18xx.game_file import SiteAction, SiteFile, SiteFileError, active_actions
from engine.site_18xx.names import site_names_of
from engine.site_18xx.numbering import PieceNumbering
from engine.site_18xx.snapshot import position_snapshot
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of

COMPANY_FRAMES = (OperatingTurn, MergerTurn, PostMergerLoans, TakeoverLoans)
"""Questions that are about one company."""


class ReplayedLine(NamedTuple):
    """One line of the replay: who said it, the line, and what it brought about."""

    action_id: int
    seat: str
    line: str
    events: list[AnyEvent]


class SiteReplayError(Exception):
    """The replay cannot go on: the action's id, the line where there is one, and the reason."""

    def __init__(self, id: int, line: str, reason: str) -> None:
        super().__init__(f"Action {id}: {line}: {reason}" if line else f"Action {id}: {reason}")
        self.action_id = id


class SiteReplay:
    """A site's game being played. `state` is where it stands; `said` what was said so far.

    `id`: the action that is being read; `ahead`: some that follow it. `starting`: a company whose home
    the file places only in its next action. What a file calls numbered things is in the `ledger`.
    """

    def __init__(self, file: SiteFile) -> None:
        self.names = site_names_of(file.title)
        unknown = [rule for rule in file.settings.optional_rules if rule not in self.names.known_options]
        if unknown:
            raise SiteFileError(f"The optional rule {unknown[0]!r} is not known.")
        self.file = file
        self.player_keys = [p.key for p in file.players]
        options = (SITE_CONVENTIONS, *file.settings.optional_rules)
        try:
            self.state, _ = new_game(file.title, _player_names(file), options)
        except ValueError as wrong:
            raise SiteFileError(str(wrong)) from None
        self.start: State = copy_state(self.state)
        self.game: Game = game_of(self.state)
        usual = title_of(file.title, (SITE_CONVENTIONS,)).components.tiles
        self.numbering = PieceNumbering(self.names, self.game.title, usual)
        self.lines: list[ReplayedLine] = []
        self.warnings: list[str] = []
        self.action_id = 0
        self.starting_company: str | None = None
        self.upcoming: list[SiteAction] = []

    def run(self) -> Iterator[SiteAction]:
        """Play action after action, yielding each that has been played. Raises Stopped."""
        line = active_actions(self.file.actions)
        for at, action in enumerate(line):
            self.action_id = action.id
            self.upcoming = line[at + 1 : at + 4]
            for each in (action, *action.auto_actions):
                self._play_site_action(each)
            yield action

    def snapshot(self, id: int) -> dict[str, Any]:
        """What the position shows, in the site's names."""
        return position_snapshot(self.game, self.names, self.player_keys, id, self.starting_company)

    # -- saying ------------------------------------------------------------------------

    def play(self, seat: str, action: Action) -> None:
        """Say something. Raises Stopped where it is refused."""
        if why := refusal(self.game, seat, action):
            raise SiteReplayError(
                self.action_id, f"{self.state.name(seat)}: {format_action(self.game, action)}", why
            )
        self.apply(seat, action)

    def try_pass(self, seat: str) -> bool:
        """Decline, if that can be done."""
        if refusal(self.game, seat, Pass()):
            return False
        self.apply(seat, Pass())
        return True

    def apply(self, seat: str, action: Action) -> None:
        line = format_action(self.game, action)
        self.game.events = []
        apply(self.game, seat, action)
        self.state = self.game.state
        self.append_line(seat, line, self.game.events)
        self.numbering.update(self.game.events)

    def append_line(self, seat: str, line: str, events: list[AnyEvent]) -> None:
        """Put a line and what it brought about behind what was said so far."""
        self.lines.append(ReplayedLine(self.action_id, seat, line, events))

    # -- names -------------------------------------------------------------------------

    def seat(self, key: str) -> str:
        """The seat of a player of the file. Raises Stopped for nobody's key."""
        if key not in self.player_keys:
            raise SiteReplayError(self.action_id, "", f"{key} is no player of this game")
        return self.state.seats[self.player_keys.index(key)]

    def company(self, symbol: str | None) -> str:
        """Our name for a company. Raises Stopped for none."""
        ours = self.names.our_company(symbol or "")
        if ours not in self.state.companies:
            raise SiteReplayError(self.action_id, "", f"{symbol!r} is no company of this title")
        return ours

    def private(self, symbol: str | None) -> str:
        """Our name for a private. Raises Stopped for none."""
        ours = self.names.our_private(symbol or "")
        if ours not in self.state.private_owners:
            raise SiteReplayError(self.action_id, "", f"{symbol!r} is no private of this title")
        return ours

    def acting_seat(self, action: SiteAction) -> str:
        """The seat that speaks for the entity of an action. Raises Stopped where nobody does."""
        seat = self.controlling_seat(action)
        if seat is None:
            raise SiteReplayError(self.action_id, "", f"nobody speaks for {action.entity_key} now")
        return seat

    def controlling_seat(self, action: SiteAction) -> str | None:
        """The seat that speaks for the entity of an action, if any does."""
        if action.entity_type == "player":
            return self.seat(action.entity_key)
        if action.entity_type == "corporation":
            return self.state.companies[self.company(action.entity_key)].president
        owner = self.state.private_owners[self.private(action.entity_key)]
        return self.game.controller(owner) if owner in self.state.cash and owner != BANK else None

    def pass_for_others(self, action: SiteAction) -> None:
        """Decline what is still asked of others than the one who acts."""
        for _ in range(100):
            top, seats = self.game.top, awaited_seats(self.game)
            if isinstance(top, COMPANY_FRAMES) and action.entity_type == "corporation":
                waiting = top.company != self.company(action.entity_key)
            elif isinstance(top, PostMergerLoans | TakeoverLoans) or (
                isinstance(top, MergerTurn) and top.stage == "convert"
            ):
                waiting = True
            else:
                waiting = self.acting_seat(action) not in seats
            if not waiting or not seats or not self.try_pass(seats[0]):
                return

    # -- actions -----------------------------------------------------------------------

    def _play_site_action(self, action: SiteAction) -> None:
        if action.type != "end_game" and has_no_answer(self.game):
            self.try_pass(awaited_seats(self.game)[0])
        if action.type in ("message", "log") or action.type.startswith("program_"):
            return
        form = CODECS.get(action.type)
        if form is None:
            raise SiteReplayError(self.action_id, "", f"{action.type!r} is no action of this title")
        try:
            form.decode(self, action)
        except SiteFileError as wrong:
            raise SiteReplayError(self.action_id, "", str(wrong)) from None

    def play_in_turn(self, action: SiteAction, said: Action) -> None:
        """Something that belongs to a turn, said by whoever speaks for the entity."""
        self.pass_for_others(action)
        self.play(self.acting_seat(action), said)

    def acting_company(self, action: SiteAction) -> str | None:
        """The company that acts, if it is one."""
        return self.company(action.entity_key) if action.entity_type == "corporation" else None

    def accept_offer(self) -> None:
        """The site asks nobody: the other says `accept`."""
        if self.state.offers:
            self.play(self.state.offers[-1].recipient, Accept())


def _player_names(file: SiteFile) -> list[str]:
    """Names that can be spoken at a table, as near to the file's as that allows."""
    names: list[str] = []
    for i, player in enumerate(file.players, 1):
        plain = " ".join("".join(c if c.isalnum() else " " for c in player.name).split())[:20].strip()
        taken = {n.casefold() for n in names}
        names.append(plain if plain and plain.casefold() not in taken else f"Player {i}")
    return names
