"""What `service.say` answers: plain values, one kind for each thing that can come of it.

Every transport shows them in its own way, and none needs more than is in them. They can be kept as
bytes, because a repeated request gets the answer that it got the first time. Sentences are complete
and meant for players. Seats are numbers, clockwise from 0; a `decision` is the word that `seen`
wants back.
"""

from __future__ import annotations

import msgspec

import engine


class PendingDecision(msgspec.Struct, frozen=True):
    """A seat that the table waits for, and for what: `needs` is a phrase after the name.

    `decision` names the question (or the offer) for `seen`. `main` is False for an offer put to
    somebody beside the question that the table waits for, `now` for who may say beforehand what he
    will do when it is his turn.
    """

    seat: int
    name: str
    decision_id: str
    prompt: str
    is_main: bool = True
    acts_now: bool = True


class PlayedLine(msgspec.Struct, frozen=True):
    """A line that was played: as it came, in full, and what it brought about, a sentence each."""

    seq: int
    raw_line: str
    line: str
    sentences: tuple[str, ...]


class _Result(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """`decision`: what that seat is asked now, if anything; a further answer refers to it."""

    next_decision_id: str | None = None


class Completed(_Result, frozen=True):
    """All lines were played, or an undo or redo was carried out at once (then `moves` is empty).

    `sentences`: what is to be told beside the moves. `asked`: whom the table waits for now.
    """

    played: tuple[PlayedLine, ...] = ()
    sentences: tuple[str, ...] = ()
    pending: tuple[PendingDecision, ...] = ()
    game_over: bool = False


class LineUnreadable(_Result, frozen=True):
    """Line `index` (from 0) is no line of this game. Nothing was changed."""

    index: int
    line: str
    reason: str
    nearest: tuple[str, ...] = ()


class LineRefused(_Result, frozen=True):
    """The rules refuse line `index` (from 0). Nothing was changed. `suggestions` are legal lines."""

    index: int
    line: str
    reason: str
    suggestions: tuple[str, ...] = ()


class LineAmbiguous(_Result, frozen=True):
    """Line `index` (from 0) can be several legal lines. Nothing was changed."""

    index: int
    line: str
    reason: str
    choices: tuple[str, ...] = ()


class StaleDecision(_Result, frozen=True):
    """What the lines were an answer to no longer stands. Nothing was changed.

    `since`: what happened since then, a sentence each; `lines`: the lines that were played.
    """

    reason: str
    since: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    pending: tuple[PendingDecision, ...] = ()


class NotYourSeat(_Result, frozen=True):
    """Somebody else sits there, or nobody does, or who spoke has no seat at the table."""

    reason: str


class TableNotRunning(_Result, frozen=True):
    """The table is not being played: it is in its lobby, paused, finished or ended."""

    status: str
    reason: str


class ConfirmationRequired(_Result, frozen=True):
    """It is done only when `line` is said too."""

    reason: str
    line: str


class PollUpdated(_Result, frozen=True):
    """A vote was opened or answered. `waiting`: seats still to answer; `outcome` once it is closed.

    outcome: `passed`, `failed` or `overtaken` (what it was about is no longer there).
    """

    poll_id: str
    sentences: tuple[str, ...]
    waiting_seats: tuple[int, ...] = ()
    outcome: str | None = None
    pending: tuple[PendingDecision, ...] = ()


class ExportedFile(msgspec.Struct, frozen=True):
    """A file that is handed out: its name, its media type, its bytes."""

    name: str
    media_type: str
    content: bytes


class QueryAnswer(_Result, frozen=True):
    """The answer to a question that changes nothing. `picture`: map, market or sheet, if one fits.

    `position`: the encoded state that is shown, None for the table's as it is. `files` are handed out.
    """

    query: str
    text: str
    picture: str | None = None
    encoded_state: bytes | None = None
    files: tuple[ExportedFile, ...] = ()

    def shown_state(self, now: engine.State) -> engine.State:
        """The position that is shown."""
        return now if self.encoded_state is None else engine.decode_state(self.encoded_state)


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


def encode_result(answer: CommandResult) -> bytes:
    """An answer as it is kept."""
    return _encoder.encode(answer)


def decode_result(raw: bytes) -> CommandResult:
    """The answer that `encoded` wrote."""
    return _decoder.decode(raw)
