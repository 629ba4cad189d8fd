"""What a codec of the site's actions is, and the context in which an action is encoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.core.actions import Action
from engine.core.state import OperatingTurn, is_seat
from engine.game import Game
from engine.site_18xx.game_file import ActionRecord, SiteAction
from engine.site_18xx.names import SiteNames
from engine.site_18xx.piece_numbering import PieceNumbering
from engine.site_18xx.site_table import SiteTable

PLAYER, CORPORATION, PRIVATE = "player", "corporation", "company"
"""The types of entity of an action, as the site calls them: a company is a private there."""


class EncodingContext(NamedTuple):
    """The position before the action, the site's names, and the numbers of its pieces."""

    g: Game
    names: SiteNames
    numbering: PieceNumbering

    def entity(self, owner: str) -> ActionRecord:
        """A player or company as the entity of an action."""
        if is_seat(owner):
            return {"entity": site_player_id(owner), "entity_type": "player"}
        return {"entity": self.names.site_company(owner), "entity_type": "corporation"}

    def private_entity(self, private: str) -> ActionRecord:
        """A private as the entity of an action. (A company may have the same name.)"""
        return {"entity": self.names.site_private(private), "entity_type": "company"}

    def operating_company(self) -> str | None:
        """The company whose turn it is, or None."""
        turns = (f for f in reversed(self.g.state.stack) if isinstance(f, OperatingTurn))
        return next((turn.company for turn in turns), None)

    def corporation(self, company: str) -> ActionRecord:
        """A company as the object of an action."""
        return {"corporation": self.names.site_company(company)}

    def turn_entity(self, seat: str) -> ActionRecord:
        """The company whose turn it is, or else the player, as the entity of an action."""
        return self.entity(self.operating_company() or seat)

    def current_company(self) -> str:
        """The company that the current frame is about."""
        company = getattr(self.g.top, "company", None)
        assert isinstance(company, str)
        return company

    def place_token(self, entity: ActionRecord, hex: str, node: int) -> ActionRecord:
        """The record that places a token in a city: `node` counts the cities of the hex from 0."""
        return {
            "type": "place_token",
            **entity,
            "city": self.numbering.city_name(hex, node),
            "slot": self.numbering.slot(hex, node),
        }


def site_player_id(seat: str) -> int:
    """The player's id in the files that we write: the seat counted from 1."""
    return int(seat[1:]) + 1


Decoder = Callable[[SiteTable, SiteAction], None]


def in_turn(decoded: Callable[[SiteTable, SiteAction], Action]) -> Decoder:
    """The decoder of an action that is one of ours, played in a turn."""
    return lambda table, action: table.play_in_turn(action, decoded(table, action))


class ActionCodec(NamedTuple):
    """How one type of the site's actions is decoded, and which of our actions are encoded as it.

    The site's actions name the pieces that they move by number. So an action is encoded before it is played,
    while the numbering still shows where the pieces are; and decoding tells the numbering which piece moves
    next. `decode` plays the action. Each of the `encoders` takes (context, seat, action); its record needs no
    type, unless that is another. `entity_types`: the types of entity that may be the action's.
    """

    action_type: str
    entity_types: tuple[str, ...]
    decode: Decoder
    encoders: dict[type[Action], Callable[[EncodingContext, str, Any], ActionRecord | list[ActionRecord]]]
