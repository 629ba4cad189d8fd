"""Requests: the lines that a person submits for a seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.hub.info import TableInfo, status_text
from bot.hub.result import LineRefused, NotYourSeat, TableNotRunning
from bot.hub.table import LiveTable
from mail.reading.line_text import without_comment
from storage import NewLogRow

UNKNOWN_SEAT = -1
"""The seat of a request until the seat of its person is found."""

POLL_PREFIX = "v"
"""The decision id of poll 5 is `v5`."""


@dataclass(frozen=True, slots=True)
class Request:
    """Lines that were submitted for a seat.

    seat: `UNKNOWN_SEAT` until `in_seat` has found it.
    line_numbers: the place of each line in the request, from 0 (comments are left out). decision_id: the
    decision that the request answers, None for whatever is current. request_id: names the request; a request
    with the same id has the same result and no second effect. announcement: what the table is told of it.
    confirmed: whether it may do what cannot be taken back lightly (`bot.hub.confirm`). name: what the
    transport calls the person, for a seat that they take. is_repeated: whether it was begun before, and a
    crash has ended it at any point.
    """

    seat: int
    lines: tuple[str, ...]
    line_numbers: tuple[int, ...]
    decision_id: str | None
    request_id: str | None
    person_id: int | None
    transport: str
    announcement: str = ""
    confirmed: bool = False
    name: str = ""
    is_repeated: bool = False

    @property
    def word(self) -> str:
        """The first word of its first line, in lower case; empty without a line."""
        return first_word(self.lines[0]) if self.lines else ""

    @property
    def rest(self) -> str:
        """What follows the first word of its first line."""
        return "".join(self.lines[0].split(None, 1)[1:]).strip() if self.lines else ""

    @property
    def proposer(self) -> int | None:
        """Its seat; None where somebody without a seat, or nobody, has written it."""
        return None if self.seat == UNKNOWN_SEAT else self.seat

    @property
    def answers_poll(self) -> bool:
        """Whether the decision that it answers is a poll."""
        return self.decision_id is not None and self.decision_id.startswith(POLL_PREFIX)

    def numbered_line(self, index: int) -> tuple[int, str]:
        """A line with its place in the request."""
        return self.line_numbers[index], self.lines[index]

    def new_row(self, index: int = 0, **details: Any) -> NewLogRow:
        """A row of the log for one of the lines."""
        request_id = f"{self.request_id}#{index}" if self.request_id and index else self.request_id
        row = NewLogRow(
            self.transport, request_id=request_id, seat=self.proposer, person_id=self.person_id,
            decision_id=self.decision_id, raw_line=self.lines[index],
        )  # fmt: skip
        return row._replace(**details)


def in_seat(info: TableInfo, names: Sequence[str], request: Request) -> Request | NotYourSeat:
    """The request in the seat of its person, or the result where that is another's. names: of all seats."""
    seat: int | None = request.seat
    if seat == UNKNOWN_SEAT and request.person_id is not None:
        seat = info.seat_of(request.person_id)
    if seat is None or not 0 <= seat < len(names):
        return NotYourSeat(f"You have no seat at table {info.code}.")
    player = info.player_at(seat)
    if request.person_id is not None and (player is None or info.seat_of(request.person_id) != seat):
        return NotYourSeat(f"That is for {names[seat]}, not for you.")
    return replace(request, seat=seat)


def writer_of(table: LiveTable, request: Request) -> int | None:
    """Who writes a request: a deputy is themselves; the operator writes for the player of the seat."""
    player = table.stored_info.player_at(request.seat)
    return request.person_id or (player.person_id if player else None)


def is_from_deputy(table: LiveTable, request: Request) -> bool:
    """Whether a request comes from somebody who plays for the player of the seat."""
    player = table.stored_info.player_at(request.seat)
    return player is not None and writer_of(table, request) != player.person_id


def own_seat_sentence(name: str) -> str:
    """Why a deputy does not decide who plays on."""
    return f"You play for {name}; only {name} can give up that seat."


def refused(table: LiveTable, request: Request, reason: str, index: int = 0) -> LineRefused:
    """The result for a line that the service refuses."""
    return LineRefused(
        *request.numbered_line(index), reason, next_decision_id=table.decision_id_of(request.seat)
    )


def not_running(table: LiveTable, *statuses: str) -> TableNotRunning | None:
    """The result for a table that has none of these statuses; None if it has one."""
    info = table.stored_info
    if info.status in statuses:
        return None
    return TableNotRunning(info.status, f"Table {info.code} is {status_text(info.status)}.")


def without_comments(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The lines that are not empty, each with its place, without comments (`#` unless a digit follows)."""
    plain = ((number, without_comment(line)) for number, line in enumerate(lines))
    return [(number, line) for number, line in plain if line]


def storable_text(text: str) -> str:
    """A text without what no database stores, halves of surrogate pairs and the character zero."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def first_word(line: str) -> str:
    """The first word of a line, in lower case."""
    return (line.split() or [""])[0].casefold()
