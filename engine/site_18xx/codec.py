"""From what an action of the site is written, and what the table of actions is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.core.actions import Action
from engine.core.state import OperatingTurn, is_seat
from engine.game import Game
from engine.site_18xx.game_file import SiteAction
from engine.site_18xx.names import SiteNames
from engine.site_18xx.numbering import PieceNumbering

if TYPE_CHECKING:
    from engine.site_18xx.replay import SiteReplay

ActionRecord = dict[str, Any]


class EncodingContext(NamedTuple):
    """What an action is written from: the position before it, the site's names, the numbered things."""

    g: Game
    names: SiteNames
    numbering: PieceNumbering

    def entity(self, owner: str) -> ActionRecord:
        """The owner as the one who acts."""
        if is_seat(owner):
            return {"entity": site_player_id(owner), "entity_type": "player"}
        return {"entity": self.names.site_company(owner), "entity_type": "corporation"}

    def private_entity(self, private: str) -> ActionRecord:
        """The private as the one who acts; a company may have the same name."""
        return {"entity": self.names.site_private(private), "entity_type": "company"}

    def operating_company(self) -> str | None:
        """The company whose turn it is."""
        turns = (f for f in reversed(self.g.state.stack) if isinstance(f, OperatingTurn))
        return next((turn.company for turn in turns), None)

    def turn_entity(self, seat: str) -> ActionRecord:
        """The company whose turn it is as the one who acts, or else the player."""
        return self.entity(self.operating_company() or seat)

    def current_company(self) -> str:
        """The company that the question is about."""
        company = getattr(self.g.top, "company", None)
        assert isinstance(company, str)
        return company

    def place_token(self, by: ActionRecord, hex: str, node: int) -> ActionRecord:
        return {
            "type": "place_token",
            **by,
            "city": self.numbering.city_name(hex, node),
            "slot": self.numbering.slot(hex, node),
        }


def site_player_id(seat: str) -> int:
    """The player's number in our files."""
    return int(seat[1:]) + 1


class ActionCodec(NamedTuple):
    """A kind of action of the site: how it is said here, and which decisions of ours are written as it.

    An action names what it moves by number, so it is written before it is played, with the ledger as
    things then lie; it is read with the ledger told what it names.
    """

    action_type: str
    decode: Callable[[SiteReplay, SiteAction], None]
    encoders: dict[type[Action], Callable[[EncodingContext, str, Any], ActionRecord | list[ActionRecord]]]
