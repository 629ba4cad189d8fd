"""The table at which a game file of the site is played: what the codecs of its actions read and do.

The site never asks for consent, so the other player's `accept` is played for them. It does not always record
that a company or player passed, so everybody whom the engine still asks passes before somebody else acts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple, TypeAlias

from engine.core.actions import Accept, Action, Pass
from engine.core.events import AnyEvent
from engine.core.state import (
    BANK,
    IPO,
    POOL,
    MergerTurn,
    OperatingTurn,
    PostMergerLoans,
    State,
    TakeoverLoans,
    copy_state,
)
from engine.game import Game
from engine.kernel import apply, awaited_seats, new_game, refusal
from engine.language.forms import format_action
from engine.language.notation import made_explicit
from engine.operating.stations import UNDECIDED_CITY
from engine.operating.turn import OperatingTurnQuestion
from engine.site_18xx.file_title import file_game
from engine.site_18xx.game_file import ActionRecord, NoCounterpartError, SiteAction, SiteFile, SiteFileError
from engine.site_18xx.names import SiteNames, site_names_of
from engine.site_18xx.piece_numbering import PieceNumbering
from engine.site_18xx.record_check import COMPARED, compare_record
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of

NO_PRESIDENT = "market"
"""What the site calls the president of a company that has none."""


def position_snapshot(
    g: Game, names: SiteNames, player_keys: list[str], action_id: int, starting_company: str | None = None
) -> dict[str, Any]:
    """The visible position after the action of that id: dollars, percent, hexes.

    `player_keys`: in seating order. `starting_company`: a company whose home token the file places only in
    its next action; it is shown without the token.
    """
    s = g.state
    seats = dict(zip(s.seats, player_keys, strict=True))

    def privates(owner: str) -> list[str]:
        return sorted(names.privates.get(p, p) for p in g.privates_of(owner))

    def shares(seat: str) -> dict[str, int]:
        return {names.site_company(c): co.shares[seat] for c, co in s.companies.items() if seat in co.shares}

    companies = {}
    for sym, co in s.companies.items():
        if co.par is not None:
            companies[names.site_company(sym)] = {
                "cash": s.cash[sym],
                "price": g.price(sym),
                "cell": list(co.cell or ()),
                "president": seats.get(co.president or "", NO_PRESIDENT),
                "own": co.shares.get(IPO, 0) + co.shares.get(sym, 0),
                "pool": co.shares.get(POOL, 0),
                "trains": sorted(co.trains),
                "tokens": [] if sym == starting_company else sorted(_token_hexes(g, sym)),
                "privates": privates(sym),
                "loans": co.loans,
            }
    return {
        "id": action_id,
        "phase": s.phase,
        "bank": s.cash[BANK],
        "players": {
            key: {"cash": s.cash[seat], "shares": shares(seat), "privates": privates(seat)}
            for seat, key in seats.items()
        },
        "companies": companies,
        "tiles": {hex: [names.tiles.get(tile, tile), turn] for hex, (tile, turn) in s.tiles.items()},
        "over": s.game_over is not None,
    }


def _token_hexes(g: Game, company: str) -> Iterator[str]:
    """The hexes of a company's tokens, without one whose city is still being chosen."""
    for hex, tokens in g.state.tokens.items():
        for node, owner in tokens:
            if owner == company and not (node == UNDECIDED_CITY and hex in g.state.tiles):
                yield hex


Encoder: TypeAlias = Callable[[Game, SiteNames, PieceNumbering, str, Action], list[ActionRecord]]
"""The site's records for an action of a seat in a position."""

COMPANY_FRAMES = (OperatingTurn, MergerTurn, PostMergerLoans, TakeoverLoans)
"""Frames that ask about one company."""


class ReplayedLine(NamedTuple):
    """One line of the replay: the id of the site's action, the seat, the line in notation and its events."""

    action_id: int
    seat: str
    line: str
    events: list[AnyEvent]


class SiteReplayError(Exception):
    """The replay cannot go on. The message names the action's id, the line (if any) and the reason."""

    def __init__(self, action_id: int, line: str, reason: str) -> None:
        place = f"Action {action_id}: {line}" if line else f"Action {action_id}"
        super().__init__(f"{place}: {reason.rstrip('.')}.")
        self.action_id = action_id


class SiteTable:
    """The position that a file has come to, and how its actions are played there.

    `start` and `state`: the first and the current position. `lines`: what was played so far. `action_id`: the
    action that is being decoded; `upcoming`: those that follow, without chat. `starting_company`: a company
    whose home token the file places only in its next action. `encode`: the site's records of an action, by
    which the file's are checked. Raises SiteFileError for an unknown title, option or table size.
    """

    def __init__(self, file: SiteFile, encode: Encoder) -> None:
        self.names = site_names_of(file.title)
        self.file = file
        self.player_keys = [p.key for p in file.players]
        options = (SITE_CONVENTIONS, *file.settings.optional_rules)
        try:
            title_of(file.title, options)
        except ValueError as error:
            raise SiteFileError(str(error)) from None
        unknown = [rule for rule in file.settings.optional_rules if rule not in self.names.known_options]
        if unknown:
            raise SiteFileError(f"18xx.games does not have the optional rule {unknown[0]!r}.")
        try:
            self.state, _ = new_game(file.title, _player_names(file), options)
        except ValueError as error:
            raise SiteFileError(str(error)) from None
        self.start: State = copy_state(self.state)
        self.game: Game = file_game(self.state)
        self.numbering = PieceNumbering(self.names, self.game.title)
        self.lines: list[ReplayedLine] = []
        self.warnings: list[str] = []
        self.action_id = 0
        self.starting_company: str | None = None
        self.upcoming = deque[SiteAction]()
        self.expected_token: ActionRecord | None = None
        self.record: SiteAction | None = None
        """The record that is being decoded."""
        self._encode = encode
        self._connections_noted_for: str | None = None

    def snapshot(self, action_id: int) -> dict[str, Any]:
        """The position after that action, in the site's names."""
        return position_snapshot(self.game, self.names, self.player_keys, action_id, self.starting_company)

    # -- playing -----------------------------------------------------------------------

    def play(self, seat: str, action: Action) -> None:
        """Play an action. Raises SiteReplayError where it is refused."""
        self._note_missing_steps(action)
        if why := refusal(self.game, seat, action):
            raise self._error_in(seat, action, why)
        if self.record is not None and self.record.type in COMPARED:
            self._check_record(self.record, seat, made_explicit(self.game, action))
        self.apply(seat, action)

    def _check_record(self, record: SiteAction, seat: str, action: Action) -> None:
        """Raise SiteReplayError where the file's record is not the one that the action has."""
        if isinstance(action, Accept):  # the site asks for no consent, so there is no record of it
            return
        try:
            encoded = self._encode(self.game, self.names, self.numbering, seat, action)
            compare_record(self, record, encoded[0])
        except (SiteFileError, NoCounterpartError) as error:
            raise self._error_in(seat, action, str(error).rstrip(".")) from None
        self.expected_token = encoded[1] if len(encoded) > 1 else None

    def _error_in(self, seat: str, action: Action, why: str) -> SiteReplayError:
        line = f"{self.state.name(seat)}: {format_action(self.game, action)}"
        return SiteReplayError(self.action_id, line, why)

    def try_pass(self, seat: str) -> bool:
        """Pass for that seat. False: it may not pass."""
        if refusal(self.game, seat, Pass()):
            return False
        self.apply(seat, Pass())
        return True

    def add_missing_pass(self, seat: str) -> bool:
        """Pass for a seat that the file does not let pass, with a warning. False: it may not pass."""
        asked = self.state.name(seat)
        if not self.try_pass(seat):
            return False
        self.warn(f"{asked} is asked first; the file does not have their pass, and it is added")
        return True

    def warn(self, sentence: str) -> None:
        """Note what is taken otherwise than the file has it, in the current action."""
        self.warnings.append(f"Action {self.action_id}: {sentence}.")

    def _note_missing_steps(self, action: Action) -> None:
        """Warn where an action is of a later step of the turn: the file should pass the steps before it."""
        turn, question = self.game.top, self.game.title.questions.get(type(self.game.top))
        if not isinstance(turn, OperatingTurn) or not isinstance(question, OperatingTurnQuestion):
            return
        if isinstance(action, Pass) or self.game.title.out_of_turn_for(self.game, action) is not None:
            return
        current, *later = question.steps_left(turn)
        if not isinstance(action, current.handles) and any(isinstance(action, s.handles) for s in later):
            self.warn(f"the file has no pass of the {turn.company} in the step before ({turn.step})")

    # -- records of connections (1870) -----------------------------------------------------

    def note_connections(self, company: str) -> None:
        """Note a record of connections: of the end of the company's turn if its start is noted, else of its
        start.
        """
        noted = self._connections_noted_for
        if noted == company:
            self._connections_noted_for = None
            return
        if noted is not None and not self.game.company(noted).closed:
            self.warn(f"the file has no record of connections at the end of the {noted}'s turn")
        self._connections_noted_for = company

    def expect_connections(self, company: str) -> None:
        """Warn where the file has no record of connections at the start of the company's turn."""
        if self._connections_noted_for != company:
            self.warn(f"the file has no record of connections at the start of the {company}'s turn")
            self._connections_noted_for = company

    # -- playing, once an action is known to be legal ---------------------------------------

    def apply(self, seat: str, action: Action) -> None:
        """Play an action that is known to be legal."""
        line = format_action(self.game, action)
        self.game.events = []
        apply(self.game, seat, action)
        self.state = self.game.state
        self.append_line(seat, line, self.game.events)
        self.numbering.update(self.game.events)

    def append_line(self, seat: str, line: str, events: list[AnyEvent]) -> None:
        """Add a line with its events to `lines`."""
        self.lines.append(ReplayedLine(self.action_id, seat, line, events))

    # -- names -------------------------------------------------------------------------

    def seat(self, key: str) -> str:
        """The seat of a player of the file. Raises SiteReplayError for an unknown key."""
        if key not in self.player_keys:
            raise SiteReplayError(self.action_id, "", f"{key} is not a player of this game")
        return self.state.seats[self.player_keys.index(key)]

    def company(self, symbol: str | None) -> str:
        """Our name for a company. Raises SiteReplayError for an unknown one."""
        return self._named("company", symbol, self.names.our_company, self.state.companies)

    def private(self, symbol: str | None) -> str:
        """Our name for a private. Raises SiteReplayError for an unknown one."""
        return self._named("private", symbol, self.names.our_private, self.state.private_owners)

    def _named(
        self, kind: str, symbol: str | None, our_name: Callable[[str], str], known: Container[str]
    ) -> str:
        if symbol is None:
            raise SiteReplayError(self.action_id, "", f"it names no {kind}")
        if (ours := our_name(symbol)) not in known:
            raise SiteReplayError(self.action_id, "", f"{symbol!r} is not a {kind} of this title")
        return ours

    def acting_seat(self, action: SiteAction) -> str:
        """The seat that acts for the entity of an action. Raises SiteReplayError if there is none."""
        seat = self.controlling_seat(action)
        if seat is None:
            raise SiteReplayError(self.action_id, "", f"nobody acts for {action.entity_key} now")
        return seat

    def controlling_seat(self, action: SiteAction) -> str | None:
        """The seat that acts for the entity of an action, or None."""
        if action.entity_type == "player":
            return self.seat(action.entity_key)
        if action.entity_type == "corporation":
            return self.state.companies[self.company(action.entity_key)].president
        owner = self.state.private_owners[self.private(action.entity_key)]
        return self.game.controller(owner) if owner in self.state.cash and owner != BANK else None

    def pass_for_others(self, action: SiteAction) -> None:
        """Pass for everybody else who is still asked before this action."""

        def is_asked() -> bool:
            top = self.game.top
            if isinstance(top, COMPANY_FRAMES) and action.entity_type == "corporation":
                return top.company == self.company(action.entity_key)
            if isinstance(top, PostMergerLoans | TakeoverLoans) or (
                isinstance(top, MergerTurn) and top.stage == "convert"
            ):
                return False
            return self.acting_seat(action) in awaited_seats(self.game)

        self.pass_until(is_asked)
        self._check_company(action)

    def pass_until(self, is_reached: Callable[[], bool]) -> None:
        """Pass for whoever is asked, until that is so or one may not pass."""
        for _ in range(100):
            if is_reached() or not (seats := awaited_seats(self.game)) or not self.add_missing_pass(seats[0]):
                return

    def _check_company(self, action: SiteAction) -> None:
        """Raise SiteReplayError for the action of a company while another company has its turn."""
        top, company = self.game.top, self.acting_company(action)
        if company and isinstance(top, COMPANY_FRAMES) and top.company != company:
            raise SiteReplayError(
                self.action_id, "", f"it is the turn of the {top.company}, not of the {company}"
            )

    def play_in_turn(self, site_action: SiteAction, action: Action) -> None:
        """Play an action that belongs to a turn, for the entity of the site's action."""
        self.pass_for_others(site_action)
        self.play(self.acting_seat(site_action), action)

    def acting_company(self, action: SiteAction) -> str | None:
        """The company that is the entity of an action, or None."""
        return self.company(action.entity_key) if action.entity_type == "corporation" else None

    def accept_offer(self) -> None:
        """Accept the offer that was just made: the site asks for no consent."""
        if self.state.offers:
            self.play(self.state.offers[-1].recipient, Accept())


def _player_names(file: SiteFile) -> list[str]:
    """Names that are allowed at a table, as near to the file's as possible."""
    names: list[str] = []
    for i, player in enumerate(file.players, 1):
        plain = " ".join("".join(c if c.isalnum() else " " for c in player.name).split())[:20].strip()
        taken = {n.casefold() for n in names}
        names.append(plain if plain and plain.casefold() not in taken else f"Player {i}")
    return names
