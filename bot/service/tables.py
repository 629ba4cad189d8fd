"""Tables as transports see them, and who may do what at one (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from storage import TableStatus


@dataclass(frozen=True, slots=True)
class SeatedPlayer:
    """Somebody at a table. `seat` is None before the start; `joined` False while only invited."""

    seat: int | None
    person_id: int
    name: str
    joined: bool
    seat_id: int


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table: where it is, who sits there by seat (an empty seat is missing), whom it waits for.

    `round` is where the game is in words, empty in the lobby. `asked` are seats. `names` are those of
    all seats, of empty ones too.
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

    def seat_of(self, person: int) -> int | None:
        """The seat of a person."""
        return next((s.seat for s in self.seated_players if s.person_id == person), None)

    def player_at(self, seat: int) -> SeatedPlayer | None:
        """Who sits in a seat."""
        return next((s for s in self.seated_players if s.seat == seat), None)
