"""Tables as transports see them (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from bot.service.pace import NO_PACE, Pace
from renderers import PaletteName
from storage import TableStatus

ROBOT_PREFIX = "robot"
ROBOT_NAME = re.compile(ROBOT_PREFIX + r"( \d+)?", re.IGNORECASE)


def is_robot_name(name: str) -> bool:
    """Whether a name is one of the computer player: `Robot`, `Robot 2`."""
    return ROBOT_NAME.fullmatch(name.strip()) is not None


@dataclass(frozen=True, slots=True)
class SeatedPlayer:
    """A person at a table.

    seat: 0 to n-1 clockwise, None before the start. joined: False while the person is only invited.
    seat_id: the id of the seat in the store.
    """

    seat: int | None
    person_id: int
    name: str
    joined: bool
    seat_id: int

    @property
    def is_robot(self) -> bool:
        """Whether the computer player sits there; its name says so."""
        return is_robot_name(self.name)


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table: its status, where it is shown, who sits there and whom it waits for.

    location: where a transport shows the table (`guild`, `channel`, `thread`). seated_players: by seat; an
    empty seat is missing. names: the names of all seats, empty seats included. round: `stock round 2`, empty
    in the lobby. acting_seats: the seats that the table waits for. seq: the number of the last row of the
    log. pace: what is agreed about time. deputies: by seat, the person who may now act for it. hints: players
    may ask what a robot would do. palette: the colours of its pictures.
    """

    id: int
    code: str
    name: str
    title: str
    options: tuple[str, ...]
    status: TableStatus
    host_id: int | None
    location: dict[str, Any]
    seated_players: tuple[SeatedPlayer, ...]
    names: tuple[str, ...] = ()
    round: str = ""
    acting_seats: tuple[int, ...] = ()
    seq: int = 0
    pace: Pace = NO_PACE
    deputies: dict[int, int] = field(default_factory=dict)
    hints: bool = False
    palette: PaletteName = "light"

    def player_of(self, person_id: int | None) -> SeatedPlayer | None:
        """The person's seat, taken or reserved; None if they have none."""
        return next((p for p in self.seated_players if p.person_id == person_id), None)

    def seat_of(self, person_id: int) -> int | None:
        """The number of the person's seat, or of the seat whose deputy they are; None before the start and
        for others."""
        player = self.player_of(person_id)
        if player:
            return player.seat
        return next((seat for seat, deputy_id in self.deputies.items() if deputy_id == person_id), None)

    def person_at(self, seat: int) -> int | None:
        """Who is asked to act for a seat: its player, or the deputy; None if it is empty."""
        player = self.player_at(seat)
        return self.deputies.get(seat, player.person_id) if player else None

    def player_at(self, seat: int) -> SeatedPlayer | None:
        """The person in a seat; None if it is empty."""
        return next((p for p in self.seated_players if p.seat == seat), None)


def open_seats(table: TableInfo) -> list[int]:
    """The seats of a game in play that have no player."""
    return [seat for seat in range(len(table.names)) if table.player_at(seat) is None]


def status_text(status: str) -> str:
    """A status in words, to follow `Table X is`."""
    return {
        "lobby": "still in its lobby",
        "running": "being played",
        "paused": "paused",
        "finished": "over",
        "ended": "ended",
    }[status]
