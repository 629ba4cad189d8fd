"""What `Service.submit` returns: one plain value type for each possible outcome.

Every transport shows them in its own way, and needs nothing beyond what they hold. They are stored as bytes,
because a repeated request gets the same result as the first time. Sentences are complete and meant for
players. Seats are numbered clockwise from 0.
"""

from __future__ import annotations

import msgspec

import engine
from bot.position.controls import Control
from bot.position.pending import PendingDecision


class PlayedLine(msgspec.Struct, frozen=True):
    """A line that was played: its row in the log, as submitted, in full, and what happened, in sentences."""

    seq: int
    raw_line: str
    line: str
    sentences: tuple[str, ...]


class _Result(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """next_decision_id: the decision that the seat has to make now, if any; the next command refers to it."""

    next_decision_id: str | None = None


class Completed(_Result, frozen=True):
    """All lines were played, or an undo, redo or resignation was done (then `played` is empty).

    sentences: what happened in addition to the played lines. pending: whom the table waits for now.
    """

    played: tuple[PlayedLine, ...] = ()
    sentences: tuple[str, ...] = ()
    pending: tuple[PendingDecision, ...] = ()
    game_over: bool = False


class LineUnreadable(_Result, frozen=True):
    """Line `index` (from 0) is not a line of this game; `nearest` are similar legal lines. Nothing
    changed."""

    index: int
    line: str
    reason: str
    nearest: tuple[str, ...] = ()


class LineRefused(_Result, frozen=True):
    """The rules refuse line `index` (from 0); `suggestions` are legal lines. Nothing changed."""

    index: int
    line: str
    reason: str
    suggestions: tuple[str, ...] = ()


class LineAmbiguous(_Result, frozen=True):
    """Line `index` (from 0) can mean several legal lines, `choices`. Nothing changed."""

    index: int
    line: str
    reason: str
    choices: tuple[str, ...] = ()


class StaleDecision(_Result, frozen=True):
    """The decision that the command answers is no longer open. Nothing changed.

    since: what has happened since then, in sentences. lines: the lines played since then.
    """

    reason: str
    since: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    pending: tuple[PendingDecision, ...] = ()


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
    pending: tuple[PendingDecision, ...] = ()


class ExportedFile(msgspec.Struct, frozen=True):
    """A file for the player: its name, its media type and its bytes."""

    name: str
    media_type: str
    content: bytes


class ReviewChart(msgspec.Struct, frozen=True):
    """What the picture of a review shows: (round, text) of its turning points, and each player's name with
    (cause, dollars) of what they gained."""

    marks: tuple[tuple[str, str], ...]
    bars: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


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

    def shown_state(self, current: engine.State) -> engine.State:
        """The position that the answer is about."""
        return current if self.encoded_state is None else engine.decode_state(self.encoded_state)


LineFailure = LineUnreadable | LineRefused | LineAmbiguous
CommandResult = (
    Completed
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
