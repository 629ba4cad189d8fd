"""One table in memory: its log, its position, and every position that it ever had."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import engine
from bot.answers import Asked
from bot.tables import TableInfo
from storage import Ballot


@dataclass(frozen=True, slots=True)
class Happening:
    """A row of the log in words. `live` is False for a move that was undone."""

    seq: int
    at: datetime
    kind: str
    seat: int | None
    said: str
    line: str
    sentences: tuple[str, ...]
    live: bool = True


@dataclass(frozen=True, slots=True)
class View:
    """A table as it stands. `asked`: whom it waits for; `votes`: open votes; `state` None in the lobby."""

    table: TableInfo
    state: engine.State | None
    seq: int
    asked: tuple[Asked, ...]
    votes: tuple[Ballot, ...]

    def decision(self, seat: int) -> str | None:
        """What that seat is asked now, as `seen` wants it."""
        return next((a.decision for a in self.asked if a.seat == seat), None)
