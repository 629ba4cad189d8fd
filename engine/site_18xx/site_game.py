"""The second game of an export: by the site's conventions, with the actions that record it.

Every action that is played here is written as the site writes it, by whom and with the pieces by number. In
1870 the connections that the site looks for at the start and the end of each turn are recorded too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.core.actions import Accept, Action
from engine.core.events import AnyEvent, FramePushed
from engine.core.state import AnyFrame, OperatingTurn, State, StockTurn
from engine.game import Game
from engine.kernel import apply, end_by_agreement, game_of, new_game
from engine.language.notation import made_explicit
from engine.site_18xx.codec_registry import encode_action
from engine.site_18xx.connection_records import ConnectionRecords
from engine.site_18xx.names import SiteNames
from engine.site_18xx.piece_numbering import PieceNumbering
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of


class SiteGame:
    """`game` by the site's conventions, its `actions` as records of the file, and the turns begun in it."""

    def __init__(self, start: State, names: SiteNames) -> None:
        options = (SITE_CONVENTIONS, *names.site_options(start.options))
        self.names = names
        self.game: Game = game_of(new_game(start.title, start.players, options).state)
        standard_tiles = title_of(start.title, (SITE_CONVENTIONS,)).components.tiles
        self.numbering = PieceNumbering(names, self.game.title, standard_tiles)
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
        self.game = game_of(end_by_agreement(self.game.state, "It was ended by agreement.").state)

    def write(self, record: dict[str, Any]) -> None:
        """Add a record to the actions, with its id and time."""
        head = {"id": len(self.actions) + 1} | self.time_fields()
        self.actions.append({k: record.pop(k) for k in ("type", "entity", "entity_type")} | head | record)

    def time_fields(self) -> dict[str, int]:
        """The time of our line as a field of a record."""
        return {} if self.timestamp is None else {"created_at": self.timestamp}


def turns_begun(events: Iterable[AnyEvent] | Sequence[AnyEvent]) -> int:
    """How many stock and operating turns these events start."""
    return sum(isinstance(e, FramePushed) and isinstance(e.frame, StockTurn | OperatingTurn) for e in events)
