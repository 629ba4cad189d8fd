"""From what an action of the site is written, and what the table of actions is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.actions import Action
from engine.game import Game
from engine.interchange.ledger import Ledger
from engine.interchange.site_file import SiteAction
from engine.interchange.site_names import SiteNames
from engine.state import OperatingTurn, is_seat

if TYPE_CHECKING:
    from engine.interchange.site import Replay

Record = dict[str, Any]


class Desk(NamedTuple):
    """What an action is written from: the position before it, the site's names, the numbered things."""

    g: Game
    names: SiteNames
    ledger: Ledger

    def by(self, owner: str) -> Record:
        """The owner as the one who acts."""
        if is_seat(owner):
            return {"entity": player_id(owner), "entity_type": "player"}
        return {"entity": self.names.theirs(owner), "entity_type": "corporation"}

    def by_private(self, private: str) -> Record:
        """The private as the one who acts; a company may have the same name."""
        return {"entity": self.names.their_private(private), "entity_type": "company"}

    def company(self) -> str | None:
        """The company whose turn it is."""
        turns = (f for f in reversed(self.g.state.stack) if isinstance(f, OperatingTurn))
        return next((turn.company for turn in turns), None)

    def by_turn(self, seat: str) -> Record:
        """The company whose turn it is as the one who acts, or else the player."""
        return self.by(self.company() or seat)

    def acting(self) -> str:
        """The company that the question is about."""
        company = getattr(self.g.top, "company", None)
        assert isinstance(company, str)
        return company

    def placed(self, by: Record, hex: str, node: int) -> Record:
        return {
            "type": "place_token",
            **by,
            "city": self.ledger.city(hex, node),
            "slot": self.ledger.place(hex, node),
        }


def player_id(seat: str) -> int:
    """The player's number in our files."""
    return int(seat[1:]) + 1


class Form(NamedTuple):
    """A kind of action of the site: how it is said here, and which decisions of ours are written as it.

    An action names what it moves by number, so it is written before it is played, with the ledger as
    things then lie; it is read with the ledger told what it names.
    """

    kind: str
    read: Callable[[Replay, SiteAction], None]
    write: dict[type[Action], Callable[[Desk, str, Any], Record | list[Record]]]
