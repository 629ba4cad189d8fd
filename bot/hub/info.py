"""Tables as transports see them (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from bot.hub.pace import NO_PACE, Pace
from engine.core.words import join_words
from renderers import PALETTES, PaletteName
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


class TableInfo(NamedTuple):
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
    deputies: Mapping[int, int] = MappingProxyType({})
    hints: bool = False
    palette: PaletteName = "light"

    @property
    def is_over(self) -> bool:
        """Whether the game is over, or was ended."""
        return self.status in ("finished", "ended")

    def player_of(self, person_id: int | None) -> SeatedPlayer | None:
        """The person's seat, taken or reserved; None if they have none."""
        return next((p for p in self.seated_players if p.person_id == person_id), None)

    def seats_of(self, person_id: int | None) -> list[int]:
        """The numbers of the seats for which a person acts: their own, or all whose deputy they are; none
        before the start and for others."""
        if player := self.player_of(person_id):
            return [] if player.seat is None else [player.seat]
        deputies = sorted(self.deputies.items())
        return [seat for seat, deputy_id in deputies if deputy_id == person_id and self.player_at(seat)]

    @property
    def title_and_name(self) -> str:
        """`TITLE · Friday`; the title alone for a table without a name of its own."""
        return self.title if self.name == self.title else f"{self.title} · {self.name}"

    @property
    def status_sentence(self) -> str:
        """`Table A7K is paused.`"""
        return f"Table {self.code} is {status_text(self.status)}."

    def seat_of(self, person_id: int) -> int | None:
        """The seat that a person means who names none: of several, the first that the table waits for."""
        seats = self.seats_of(person_id)
        return next((seat for seat in seats if seat in self.acting_seats), seats[0] if seats else None)

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


def open_seat_named(table: TableInfo, name: str) -> str:
    """The name of an open seat as it is written at the table. Raises ValueError with those that are open."""
    seats = [table.names[seat] for seat in open_seats(table)]
    if not seats:
        raise ValueError(f"No seat at table {table.code} waits for a player.")
    found = next((seat for seat in seats if seat.casefold() == name.strip().casefold()), None)
    if found is None:
        raise ValueError(f"Name an open seat of table {table.code}: {join_words(seats, 'or')}.")
    return found


def status_text(status: str) -> str:
    """A status in words, to follow `Table X is`."""
    return {
        "lobby": "still in its lobby",
        "running": "being played",
        "paused": "paused",
        "finished": "over",
        "ended": "ended",
    }[status]


def stopped_text(status: str) -> str:
    """Why nobody is to act, as a sentence; empty for a game that is played, or played to its end."""
    return {"paused": "The game is paused.", "ended": "The game was ended unfinished."}.get(status, "")


MAX_TABLE_NAME = 60
PUNCTUATION = " .,:;!?'’&+-–—()%€$£"
"""What a table's name may have beside letters and digits: nothing that Discord or an email would render."""


def check_distinct(name: str, others: Iterable[str]) -> None:
    """Raises ValueError for a name that looks like another one: `Аnn` with a Cyrillic А, and `Ann`."""
    for other in others:
        if name != other and _skeletons(name) & _skeletons(other):
            raise ValueError(f"{name} looks like {other}, who is at this table; choose another name.")


def _skeletons(name: str) -> set[str]:
    """What a name looks like, as typed and in lower case."""
    return {"".join(map(_skeleton, text)) for text in (name, name.casefold())}


@cache
def _skeleton(character: str) -> str:
    """One text for all characters that look like this one (Unicode TR39): `m` looks like `rn`."""
    from confusable_homoglyphs.confusables import confusables_data  # it reads a long list, for new names only

    several = [
        c for entry in confusables_data.get(character, []) if len(c := entry["c"]) > 1 and _is_plain(c)
    ]
    if several:
        return "".join(map(_skeleton, several[0]))
    alike: list[str] = [entry["c"] for entry in confusables_data.get(character, []) if len(entry["c"]) == 1]
    # Each group is a star: one character lists all others, and these list only that one.
    return max([character, *alike], key=lambda c: (len(confusables_data.get(c, [])), c))


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isalnum()


def table_name(text: str) -> str:
    """The name of a table, with single spaces. Raises ValueError for one that is more than a name."""
    name = " ".join(text.split())
    wrong = next((c for c in name if not (c.isalnum() or c in PUNCTUATION)), None)
    if wrong is not None:
        shown = wrong if wrong.isprintable() else f"U+{ord(wrong):04X}"
        raise ValueError(
            f"A table's name has letters, digits and simple punctuation; {shown} cannot be part of it."
        )
    if len(name) > MAX_TABLE_NAME:
        raise ValueError(f"A table's name has at most {MAX_TABLE_NAME} characters; this one has {len(name)}.")
    return name


def plain_table_name(text: str) -> str:
    """A table's name from a text that nobody typed for it, such as the title of an imported file."""
    plain = "".join(c if c.isalnum() or c in PUNCTUATION else " " for c in text)
    return " ".join(plain.split())[:MAX_TABLE_NAME].strip()


AS_TABLE = "as the table"
"""What a person without a palette of their own has."""


def parse_palette(text: str) -> PaletteName:
    """The palette with a name. Raises ValueError with a sentence."""
    name = text.strip().casefold()
    if name not in PALETTES:
        raise ValueError(f"`{name or 'nothing'}` is not a palette; there are `light` and `dark`.")
    return PALETTES[name].name


def parse_own_palette(text: str) -> PaletteName | None:
    """The palette that a person chooses, None for that of each table. Raises ValueError with a sentence."""
    return None if text.strip().casefold() in (AS_TABLE, "default", "off") else parse_palette(text)


def stored_palette(name: str) -> PaletteName:
    """The palette of a table in the store; light for one that is unknown here."""
    return PALETTES[name].name if name in PALETTES else "light"


ORDER_TRANSPORT = "order"
"""The transport of a row that an order has said."""
ROBOT_TRANSPORT = "robot"
