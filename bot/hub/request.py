"""Requests and their results: the lines that a person submits for a seat, and what they are answered.

A result is one plain value type for each possible outcome of `Service.submit`. Every transport shows them
in its own way, and needs nothing beyond what they hold. They are stored as bytes, because a repeated
request gets the same result as the first time. Sentences are complete and meant for players. Seats are
numbered clockwise from 0.

A line that cannot be taken back lightly is confirmed by the same line with `yes` behind it: `resign yes`.
Discord has a button for that line, an email holds it until the player replies `yes`, and at the terminal it
is typed. Lines of the clock, of robots and of orders count as confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

import engine
from bot.hub.info import TableInfo
from bot.hub.table import LiveTable
from bot.position.controls import Control, ExportedFile, ReviewChart
from mail.reading.line_text import without_comment
from storage import LogRow

UNKNOWN_SEAT = -1
"""The seat of a request until the seat of its person is found."""

POLL_PREFIX = "v"
"""The decision id of poll 5 is `v5`."""


class Announcement(NamedTuple):
    """What is told of lines that are played for a player whose time is up: to the table, and to them."""

    table: str
    player: str


class Request(NamedTuple):
    """Lines that were submitted for a seat.

    seat: `UNKNOWN_SEAT` until `in_seat` has found it.
    line_numbers: the place of each line in the request, from 0 (comments are left out). decision_id: the
    decision that the request answers, None for whatever is current. request_id: names the request; a request
    with the same id has the same result and no second effect. announcement: what is told of it.
    confirmed: whether it may do what cannot be taken back lightly (`confirmed_lines`). name: what the
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
    announcement: Announcement | None = None
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

    def new_row(self, index: int = 0, **details: Any) -> LogRow:
        """A row of the log for one of the lines."""
        request_id = f"{self.request_id}#{index}" if self.request_id and index else self.request_id
        row = LogRow(
            self.transport, request_id=request_id, seat=self.proposer, person_id=self.person_id,
            decision_id=self.decision_id, raw_line=self.lines[index],
        )  # fmt: skip
        return row._replace(**details)


# -- results ---------------------------------------------------------------------------------


class PlayedLine(msgspec.Struct, frozen=True):
    """A line that was played: its row in the log, as submitted, in full, and what happened, in sentences."""

    seq: int
    raw_line: str
    line: str
    sentences: tuple[str, ...]


class _Result(msgspec.Struct, frozen=True, tag=True):
    """What a request leads to, as it is stored."""


class Completed(_Result, frozen=True):
    """All lines were played, or an undo, redo or resignation was done (then `played` is empty).

    sentences: what happened in addition to the played lines.
    """

    played: tuple[PlayedLine, ...] = ()
    sentences: tuple[str, ...] = ()
    game_over: bool = False


class LineFailure(_Result, frozen=True):
    """Line `index` (from 0) cannot be played; `suggestions` are legal lines. Nothing changed."""

    index: int
    line: str
    reason: str
    suggestions: tuple[str, ...] = ()


class LineUnreadable(LineFailure, frozen=True):
    """It is not a line of this game; the suggestions are similar."""

    suggestions: tuple[str, ...] = msgspec.field(default=(), name="nearest")


class LineRefused(LineFailure, frozen=True):
    """The rules refuse it."""


class LineAmbiguous(LineFailure, frozen=True):
    """It can mean several legal lines, which are the suggestions."""

    suggestions: tuple[str, ...] = msgspec.field(default=(), name="choices")


class StaleDecision(_Result, frozen=True):
    """The decision that the command answers is no longer open. Nothing changed.

    since: what has happened since then, in sentences. lines: the lines played since then.
    """

    reason: str
    since: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


class NotYourSeat(_Result, frozen=True):
    """The person has no seat at the table, or the seat is empty or another person's."""

    reason: str


class TableNotRunning(_Result, frozen=True):
    """The table is in its lobby, paused, finished or ended."""

    status: str
    reason: str


class ConfirmationRequired(_Result, frozen=True):
    """The command takes effect only after `line` is submitted too."""

    reason: str
    line: str


class PollUpdated(_Result, frozen=True):
    """A poll was opened, or a vote was cast.

    waiting_seats: the seats that have not voted. outcome: None while the poll is open, then `passed`,
    `failed` or `superseded` (what it was about no longer exists).
    """

    poll_id: str
    sentences: tuple[str, ...]
    waiting_seats: tuple[int, ...] = ()
    outcome: str | None = None


class QueryAnswer(_Result, frozen=True):
    """The answer to a command that changes nothing.

    query: the command, such as `status`. picture: of the position (`map`, `market`, `sheet`) or of the whole
    game (`worth`, `prices`, `revenue`, `animation`, `review`), if one goes with the text.
    encoded_state: the position to draw, None for the table's current position. files: files for the player.
    argument: what the command was about, such as a tile. ran: the last run of a plan.
    review: what the picture of a review shows. controls: what the reader may do next.
    """

    query: str
    text: str
    picture: str | None = None
    encoded_state: bytes | None = None
    files: tuple[ExportedFile, ...] = ()
    argument: str = ""
    ran: engine.TrainsRan | None = None
    review: ReviewChart | None = None
    controls: tuple[Control, ...] = ()

    @property
    def text_file(self) -> ExportedFile:
        """The text as a file."""
        return ExportedFile(f"{self.query}.txt", "text/plain", self.text.encode())

    def shown_state(self, current: engine.State) -> engine.State:
        """The position that the answer is about."""
        return current if self.encoded_state is None else engine.decode_state(self.encoded_state)


CommandResult = (
    Completed
    | LineFailure
    | LineUnreadable
    | LineRefused
    | LineAmbiguous
    | StaleDecision
    | NotYourSeat
    | TableNotRunning
    | ConfirmationRequired
    | PollUpdated
    | QueryAnswer
)

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[CommandResult] = msgspec.msgpack.Decoder(CommandResult)


def encode_result(result: CommandResult) -> bytes:
    """A result as it is stored."""
    return _encoder.encode(result)


def decode_result(raw: bytes) -> CommandResult:
    """The result that `encode_result` wrote."""
    return _decoder.decode(raw)


# -- how requests are read ---------------------------------------------------------------------


_YES = " yes"


def confirmed_lines(lines: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The lines without the `yes` behind the last, and whether it was there."""
    if not lines or not lines[-1].casefold().endswith(_YES):
        return tuple(lines), False
    return (*lines[:-1], lines[-1][: -len(_YES)].rstrip()), True


def ask_to_confirm(request: Request, reason: str) -> ConfirmationRequired:
    """The question, and the line that answers it."""
    return ConfirmationRequired(reason, "; ".join(request.lines) + _YES)


def in_seat(info: TableInfo, request: Request) -> Request | NotYourSeat:
    """The request in the seat of its person, or the result where that is another's. info: of a game that has
    begun."""
    seat: int | None = request.seat
    if seat == UNKNOWN_SEAT and request.person_id is not None:
        seat = info.seat_of(request.person_id)
    if seat is None or not 0 <= seat < len(info.names):
        return NotYourSeat(f"You have no seat at table {info.code}.")
    player = info.player_at(seat)
    if request.person_id is not None and (player is None or seat not in info.seats_of(request.person_id)):
        return NotYourSeat(f"That is for {info.names[seat]}, not for you.")
    return request if seat == request.seat else request._replace(seat=seat)


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


def refused(request: Request, reason: str, index: int = 0) -> LineRefused:
    """The result for a line that the service refuses."""
    return LineRefused(*request.numbered_line(index), reason)


def not_running(table: LiveTable, *statuses: str) -> TableNotRunning | None:
    """The result for a table that has none of these statuses; None if it has one."""
    info = table.stored_info
    return None if info.status in statuses else out_of_play(info)


def out_of_play(info: TableInfo) -> TableNotRunning:
    """The result for a table that is not in play."""
    can_go_on = info.status == "paused" and all(map(info.player_at, range(len(info.names))))
    return TableNotRunning(info.status, info.status_sentence + " `resume` lets it go on." * can_go_on)


def split_lines(text: str) -> list[str]:
    """The lines in a text that separates them by semicolons."""
    return [line.strip() for line in text.split(";") if line.strip()]


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
