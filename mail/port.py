"""The port between the mail channel and the service: two protocols and their values.

The mail channel knows neither rules nor tables: it turns a mail into one call of `ServicePort.play`, and its
result into one reply. The service keeps everything that must survive a crash: the mail that arrived, the
mail to be sent, the issued tokens (only their SHA-256), the lines that wait for a confirmation.

Three promises of the service make every mail take effect exactly once:

- `play` with a `request_id` that was used before returns the former result and has no second effect;
- `record_outcome` stores the outcome, its replies and their tokens in one transaction; if an outcome with
  the same `idempotency_key` exists already, the replies are dropped;
- `record_arrival` counts an attempt in a transaction of its own, before the mail is parsed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

from mail.reading.bounces import BounceKind
from mail.reading.parts import MailFile
from mail.reading.unclear_lines import Vocabulary

TokenPurpose = Literal[
    "reply", "bounce", "unsubscribe", "link", "invite", "host", "answer", "export", "erase"
]
"""What a token is for. `link` (confirm an address), `invite`, `host` (open a table), `export` and `erase`
(the data of the person) are answered with yes or no, and so is `answer`: its decision id is the lines that
these words say, `agree|decline`. `bounce` gives no right to act.
"""


class MailQuery(NamedTuple):
    """A question that changes nothing in the game, and its argument: `20` in `log 20`. `try` plays lines on a
    copy of it."""

    kind: str
    argument: str = ""

    @property
    def line(self) -> str:
        """As it can be written."""
        return f"{self.kind} {self.argument}".strip()


@dataclass(frozen=True, slots=True)
class ReplyToken:
    """What a valid token stands for.

    address: where replies go. verified_addresses: all verified addresses of the person; orders are
    accepted from these. table_code: the code that threads the emails of a table (`17`). table_label: the
    table's name in subjects. seat: None where the token belongs to no seat (`link`). decision_id: the
    decision that the email asked for.
    """

    purpose: TokenPurpose
    address: str
    verified_addresses: frozenset[str]
    table_label: str
    table_code: str = ""
    seat: str | None = None
    decision_id: str | None = None
    message_id: str | None = None

    @property
    def actor(self) -> str:
        """The key for rate limits and idempotency: the seat, or the address where there is none."""
        return self.seat or self.address.casefold()


@dataclass(frozen=True, slots=True)
class Correspondent:
    """A person with a verified address. seats: table label and player name of each seat in play."""

    address: str
    seats: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class InlineImage:
    """A PNG in an email. name: one word (`map`). width: in CSS pixels. alt: what it shows, in words."""

    name: str
    png: bytes
    alt: str
    width: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attached file: its name, its media type (`text/csv`), its bytes."""

    name: str
    media_type: str
    content: bytes


# --- results of play ---


class AcceptedLine(NamedTuple):
    """A line as the player wrote it, and the sentence that the table reads."""

    line: str
    sentence: str


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table: the names of its columns, its rows, and the same as lines of fixed width.

    numeric: which columns hold numbers.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[str]
    numeric: Sequence[bool]


@dataclass(frozen=True, slots=True)
class LinesPlayed:
    """All lines were played. waiting_for: a sentence on who is to act. undo_hint: how to undo the lines.

    In each result, decision_id is the pending decision of the seat, None for none: a reply to the receipt
    answers this one. legal_lines: its legal lines, ready to copy. answer: lines of text that answer the line
    where it changes nothing, else what happened beside the lines.
    """

    accepted: tuple[AcceptedLine, ...]
    changes: tuple[str, ...] = ()
    waiting_for: str = ""
    undo_hint: str = ""
    decision_id: str | None = None
    legal_lines: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineRejected:
    """The line at `index` (from 0) failed, so nothing was changed.

    suggested_lines: the nearest legal lines of an `unreadable` line, the choices of an `ambiguous` one, legal
    lines instead of a `refused` one.
    """

    kind: Literal["refused", "unreadable", "ambiguous"]
    index: int
    reason: str
    decision_id: str | None = None
    suggested_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StaleReply:
    """The mail answered a decision that is no longer pending.

    old_prompt: that decision, in words. current_prompt: the pending one. events_since: what happened between.
    """

    old_prompt: str
    current_prompt: str
    events_since: tuple[str, ...] = ()
    decision_id: str | None = None
    legal_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NeedsYes:
    """The lines are carried out only when the player confirms them. reason: why, as a sentence. lines: those
    that say so."""

    reason: str
    lines: tuple[str, ...]
    decision_id: str | None = None


PlayResult = LinesPlayed | LineRejected | StaleReply | NeedsYes


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer to a query: preformatted text, or a position with tables, images, attachments."""

    title: str
    text: str
    images: tuple[InlineImage, ...] = ()
    decision_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    position: tuple[str | TableRows, ...] = ()


class HeldLines(NamedTuple):
    """Lines that wait for `yes CODE`, and the decision that they answer. figures: what the offer has said
    that they do, a sentence for each line; empty where it has said nothing."""

    lines: tuple[str, ...]
    decision_id: str | None
    figures: tuple[str, ...] = ()


# --- inbound and outbound mail ---


class Arrival(NamedTuple):
    """The number of attempts at a mail, this one included, and its folder if it has an outcome already."""

    attempts: int
    folder: "Folder | None"


class Folder(StrEnum):
    """Where a mail is moved after its outcome. The folder is the state of the mail; flags mean nothing."""

    PROCESSED = "Processed"
    IGNORED = "Ignored"
    QUARANTINE = "Quarantine"


class IssuedToken(NamedTuple):
    """A token in an email: its hex SHA-256, and what it stands for."""

    token_hash: str
    token: ReplyToken


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A composed email: the bytes are sent, and sent again, unchanged.

    envelope_sender: holds a bounce token. actor, reason: what rate limits count by. reply_token: what a reply
    to `message_id` stands for, also when the token was lost on the way. offered_code: of the held lines that
    a plain `yes` in reply to this email confirms. text: what it says, in words (`page.summary`).
    """

    message_id: str
    recipient: str
    envelope_sender: str
    raw: bytes
    actor: str
    reason: str
    issued_tokens: tuple[IssuedToken, ...]
    reply_token: ReplyToken | None = None
    offered_code: str | None = None
    text: str = ""


class TableAnswer(NamedTuple):
    """The answer to a command about tables: sentences, what a reply to it stands for, and whether it was
    done.

    sentences: none where nobody is to be answered. offered_code: of held lines that `yes` confirms. images,
    attachments: below the sentences.
    """

    sentences: tuple[str, ...]
    token: ReplyToken
    is_done: bool = True
    offered_code: str | None = None
    images: tuple[InlineImage, ...] = ()
    attachments: tuple[Attachment, ...] = ()


class GatheredAnswer(NamedTuple):
    """An answer that is sent together with others later: to whom, and its text, the headline first."""

    token: ReplyToken
    text: str


@dataclass(frozen=True, slots=True)
class MailOutcome:
    """The outcome of a mail. `idempotency_key` is None where nothing was changed and there is no reply."""

    reason: str
    folder: Folder
    idempotency_key: str | None = None
    replies: tuple[OutgoingMail, ...] = ()
    gathered: GatheredAnswer | None = None


@dataclass(frozen=True, slots=True)
class Bounce:
    """Our email `message_id` did not reach `token.address`. status: as in RFC 3463, or empty. reason: in
    words.
    """

    token: ReplyToken
    message_id: str
    status: str
    kind: BounceKind = "soft"
    reason: str = ""


class Arrivals(Protocol):
    """Emails that came in, and what came of them."""

    async def record_arrival(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        """Keep the bytes and count an attempt. digest: their SHA-256. when: the server's time of receipt."""

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        """Store the outcome, its replies and their tokens; no replies for a known `idempotency_key`.

        A gathered answer is sent within an hour, together with the others to the same seat.
        """

    async def count_replies(
        self, since: datetime, actor: str | None = None, reason: str | None = None
    ) -> int:
        """The number of replies (see `record_outcome`) since a time, to an actor, for a reason."""


class People(Protocol):
    """Who writes, and which of our emails they answer."""

    async def find_token(self, token_hash: str) -> ReplyToken | None:
        """What the token with this SHA-256 stands for; None for an unknown, expired or revoked one."""

    async def find_token_by_message(self, message_id: str) -> ReplyToken | None:
        """The token of our email with this Message-ID."""

    async def find_correspondent(self, address: str) -> Correspondent | None:
        """The person with this verified address."""

    async def stop_mail(self, token: ReplyToken) -> str:
        """Send no more email to this person; returns a sentence for them. May be repeated."""

    async def start_mail(self, token: ReplyToken) -> str:
        """Send email to this person again; returns a sentence for them. May be repeated."""

    async def record_bounce(self, bounce: Bounce) -> None:
        """An email came back: count what speaks against its address. May be repeated."""

    async def heard_from(self, address: str) -> None:
        """The owner of a verified address has written: nothing speaks against it. May be repeated."""


class Seats(Protocol):
    """What a player reads and says for a seat."""

    async def vocabulary(self, token: ReplyToken) -> Vocabulary:
        """What the seat can say now."""

    async def readable_lines(self, token: ReplyToken, lines: Sequence[str]) -> frozenset[str]:
        """Those of the lines that the game or the service can read, each after those before it."""

    async def try_lines(self, token: ReplyToken, lines: Sequence[str]) -> tuple[AcceptedLine, ...] | None:
        """What the lines would do if they were played now; None if they cannot all be played."""

    async def play(self, token: ReplyToken, lines: Sequence[str], request_id: str) -> PlayResult:
        """Play all of the lines for the seat, or none, as the answer to `token.decision_id`.

        Where that is None, the email asked for nothing; lines may still be legal out of turn.
        """

    def query_in(self, line: str) -> MailQuery | None:
        """The query in a line (`map`, `show map`, `log 20`, `try LINE`); None for any other line."""

    async def query(self, token: ReplyToken, query: MailQuery) -> QueryResult:
        """Answer a query as the seat sees the game."""

    async def current_decision(self, token: ReplyToken) -> str | None:
        """The decision that the seat faces now; None for a token without a seat."""

    async def say(self, token: ReplyToken, text: str, request_id: str) -> str:
        """Tell the table something on every channel, as talk; what it is told, with an ellipsis for the end
        of what is too long. A repeated request says nothing again."""


class HeldReplies(Protocol):
    """Lines that wait for `yes`."""

    async def hold_lines(
        self, token: ReplyToken, lines: Sequence[str], request_id: str, figures: Sequence[str] = ()
    ) -> str:
        """Hold lines until `yes CODE`; returns the code (8 or more characters), the same for one request.

        figures: what `try_lines` has said of them. They answer the decision of the token.
        """

    async def find_held_lines(self, token: ReplyToken, code: str) -> HeldLines | None:
        """The lines held under a code for this seat or address, confirmed before or not; None for none."""

    async def find_offered_code(self, token: ReplyToken, message_ids: Sequence[str]) -> str | None:
        """The code that the email with this token offered (`OutgoingMail.offered_code`), or else the first
        of these emails of ours that offered one."""


class Confirmations(Protocol):
    """What `yes` and `no` do where no lines are held."""

    async def confirm(self, token: ReplyToken, yes: bool) -> TableAnswer:
        """Link the address, or answer the invitation. May be repeated. A reply to the answer is for the
        table."""


class Tables(Protocol):
    """Commands about tables."""

    async def table_command(
        self,
        token: ReplyToken,
        lines: Sequence[str],
        name: str,
        request_id: str,
        files: Sequence[MailFile] = (),
    ) -> TableAnswer | None:
        """Carry out a command about tables (`new`, `invite`, `start`, `who`, …); None where it is none.

        name: of the person, from their email. files: attached games. A repeated request has no second effect.
        """

    async def ask_new_host(
        self, address: str, lines: Sequence[str], name: str, request_id: str
    ) -> TableAnswer | None:
        """Hold a command from an address that is not verified until it is confirmed; None where such an
        address may not host."""

    async def confirm_host(self, token: ReplyToken) -> None:
        """The owner of the address has answered: it is verified. May be repeated."""


class ServicePort(Protocol):
    """The service, as the mail policy and the inbox watcher see it, by parts."""

    @property
    def arrivals(self) -> Arrivals: ...

    @property
    def people(self) -> People: ...

    @property
    def seats(self) -> Seats: ...

    @property
    def held(self) -> HeldReplies: ...

    @property
    def confirmations(self) -> Confirmations: ...

    @property
    def tables(self) -> Tables: ...
