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

from engine.actions import (
    Accept,
    Action,
    Pass,
)
from engine.events import AnyEvent
from engine.game import Game
from engine.interchange.forms_turns import in_vain
from engine.interchange.ledger import Ledger
from engine.interchange.observe import observed
from engine.interchange.site_actions import FORMS
from engine.interchange.site_file import FileError, SiteAction, SiteFile, live
from engine.interchange.site_names import names_of
from engine.kernel import asked, game_of, new_game, refusal, take
from engine.notation import spell
from engine.state import (
    BANK,
    Borrowing,
    MergerTurn,
    OperatingTurn,
    State,
    Takeover,
    copied,
)
from engine.title import SITE
from engine.titles import title_of

COMPANY_FRAMES = (OperatingTurn, MergerTurn, Borrowing, Takeover)
"""Questions that are about one company."""


class Said(NamedTuple):
    """One line of the replay: who said it, the line, and what it brought about."""

    id: int
    seat: str
    line: str
    events: list[AnyEvent]


class Stopped(Exception):
    """The replay cannot go on: the action's id, the line where there is one, and the reason."""

    def __init__(self, id: int, line: str, reason: str) -> None:
        super().__init__(f"Action {id}: {line}: {reason}" if line else f"Action {id}: {reason}")
        self.id = id


class Replay:
    """A site's game being played. `state` is where it stands; `said` what was said so far.

    `id`: the action that is being read; `ahead`: some that follow it. `starting`: a company whose home
    the file places only in its next action. What a file calls numbered things is in the `ledger`.
    """

    def __init__(self, file: SiteFile) -> None:
        self.names = names_of(file.title)
        unknown = [rule for rule in file.settings.optional_rules if rule not in self.names.options]
        if unknown:
            raise FileError(f"The optional rule {unknown[0]!r} is not known.")
        self.file = file
        self.keys = [p.key for p in file.players]
        options = (SITE, *file.settings.optional_rules)
        try:
            self.state, _ = new_game(file.title, _table_names(file), options)
        except ValueError as wrong:
            raise FileError(str(wrong)) from None
        self.start: State = copied(self.state)
        self.game: Game = game_of(self.state)
        usual = title_of(file.title, (SITE,)).facts.tiles
        self.ledger = Ledger(self.names, self.game.title, usual)
        self.said: list[Said] = []
        self.warnings: list[str] = []
        self.id = 0
        self.starting: str | None = None
        self.ahead: list[SiteAction] = []

    def run(self) -> Iterator[SiteAction]:
        """Play action after action, yielding each that has been played. Raises Stopped."""
        line = live(self.file.actions)
        for at, action in enumerate(line):
            self.id = action.id
            self.ahead = line[at + 1 : at + 4]
            for each in (action, *action.auto):
                self._act(each)
            yield action

    def observed(self, id: int) -> dict[str, Any]:
        """What the position shows, in the site's names."""
        return observed(self.game, self.names, self.keys, id, self.starting)

    # -- saying ------------------------------------------------------------------------

    def say(self, seat: str, action: Action) -> None:
        """Say something. Raises Stopped where it is refused."""
        if why := refusal(self.game, seat, action):
            raise Stopped(self.id, f"{self.state.name(seat)}: {spell(self.game, action)}", why)
        self._take(seat, action)

    def declines(self, seat: str) -> bool:
        """Decline, if that can be done."""
        if refusal(self.game, seat, Pass()):
            return False
        self._take(seat, Pass())
        return True

    def _take(self, seat: str, action: Action) -> None:
        line = spell(self.game, action)
        self.game.events = []
        take(self.game, seat, action)
        self.state = self.game.state
        self.note(seat, line, self.game.events)
        self.ledger.follow(self.game.events)

    def note(self, seat: str, line: str, events: list[AnyEvent]) -> None:
        """Put a line and what it brought about behind what was said so far."""
        self.said.append(Said(self.id, seat, line, events))

    # -- names -------------------------------------------------------------------------

    def seat(self, key: str) -> str:
        """The seat of a player of the file. Raises Stopped for nobody's key."""
        if key not in self.keys:
            raise Stopped(self.id, "", f"{key} is no player of this game")
        return self.state.seats[self.keys.index(key)]

    def company(self, symbol: str | None) -> str:
        """Our name for a company. Raises Stopped for none."""
        ours = self.names.ours(symbol or "")
        if ours not in self.state.companies:
            raise Stopped(self.id, "", f"{symbol!r} is no company of this title")
        return ours

    def private(self, symbol: str | None) -> str:
        """Our name for a private. Raises Stopped for none."""
        ours = self.names.our_private(symbol or "")
        if ours not in self.state.privates:
            raise Stopped(self.id, "", f"{symbol!r} is no private of this title")
        return ours

    def speaker(self, action: SiteAction) -> str:
        """The seat that speaks for the entity of an action. Raises Stopped where nobody does."""
        seat = self.voice(action)
        if seat is None:
            raise Stopped(self.id, "", f"nobody speaks for {action.actor} now")
        return seat

    def voice(self, action: SiteAction) -> str | None:
        """The seat that speaks for the entity of an action, if any does."""
        if action.entity_type == "player":
            return self.seat(action.actor)
        if action.entity_type == "corporation":
            return self.state.companies[self.company(action.actor)].president
        owner = self.state.privates[self.private(action.actor)]
        return self.game.voice(owner) if owner in self.state.cash and owner != BANK else None

    def decline_for_others(self, action: SiteAction) -> None:
        """Decline what is still asked of others than the one who acts."""
        for _ in range(100):
            top, seats = self.game.top, asked(self.game)
            if isinstance(top, COMPANY_FRAMES) and action.entity_type == "corporation":
                waiting = top.company != self.company(action.actor)
            elif isinstance(top, Borrowing | Takeover) or (
                isinstance(top, MergerTurn) and top.stage == "convert"
            ):
                waiting = True
            else:
                waiting = self.speaker(action) not in seats
            if not waiting or not seats or not self.declines(seats[0]):
                return

    # -- actions -----------------------------------------------------------------------

    def _act(self, action: SiteAction) -> None:
        if action.type != "end_game" and in_vain(self.game):
            self.declines(asked(self.game)[0])
        if action.type in ("message", "log") or action.type.startswith("program_"):
            return
        form = FORMS.get(action.type)
        if form is None:
            raise Stopped(self.id, "", f"{action.type!r} is no action of this title")
        try:
            form.read(self, action)
        except FileError as wrong:
            raise Stopped(self.id, "", str(wrong)) from None

    def ordinary(self, action: SiteAction, said: Action) -> None:
        """Something that belongs to a turn, said by whoever speaks for the entity."""
        self.decline_for_others(action)
        self.say(self.speaker(action), said)

    def company_of(self, action: SiteAction) -> str | None:
        """The company that acts, if it is one."""
        return self.company(action.actor) if action.entity_type == "corporation" else None

    def consent(self) -> None:
        """The site asks nobody: the other says `accept`."""
        if self.state.offers:
            self.say(self.state.offers[-1].asked, Accept())


def _table_names(file: SiteFile) -> list[str]:
    """Names that can be spoken at a table, as near to the file's as that allows."""
    names: list[str] = []
    for i, player in enumerate(file.players, 1):
        plain = " ".join("".join(c if c.isalnum() else " " for c in player.name).split())[:20].strip()
        taken = {n.casefold() for n in names}
        names.append(plain if plain and plain.casefold() not in taken else f"Player {i}")
    return names
