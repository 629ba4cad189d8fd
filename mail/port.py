"""What the mail channel asks of the rest of the service, as one small protocol and its values.

The post knows neither rules nor tables: it turns a letter into one call of `Desk.say` and an answer into one
letter. Everything that must survive a crash is kept by the desk: the ledger of what arrived, the letters that
wait to be sent, the tokens that were issued (only their SHA-256), the orders that wait for a confirmation.

Three promises make the channel exactly-once, and all three are the desk's:

- `say` with a `request` seen before returns the answer it gave then and has no second effect;
- `settle` keeps the outcome, its letters and their tokens in one transaction; when an outcome with the same
  `key` has been settled already, its letters are dropped;
- `received` counts an attempt before anything is read, in a transaction of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

TokenPurpose = Literal["reply", "bounce", "unsubscribe", "link", "invite"]
"""What a token is good for. `link` and `invite` are answered with yes or no; `bounce` gives no right to
act.
"""

QueryKind = Literal[
    "help",
    "status",
    "turn",
    "sheet",
    "board",
    "map",
    "market",
    "log",
    "at",
    "company",
    "player",
    "export",
    "try",
]
"""The questions that change nothing in the game. `try` says lines to a copy of it."""


@dataclass(frozen=True, slots=True)
class ReplyToken:
    """What a live token stands for.

    `address` is the one the answers go to; `addresses` are all verified ones of that person, from which
    orders are accepted. `table` is the code that threads letters (`17`); `label` is how a subject names the
    table. `decision` is the id of the decision the letter asked for. `seat` is None where the token belongs
    to no seat (`link`).
    """

    purpose: TokenPurpose
    address: str
    verified_addresses: frozenset[str]
    table_label: str
    table_code: str = ""
    seat: str | None = None
    decision_id: str | None = None

    @property
    def actor(self) -> str:
        """Whom limits and ledger keys are counted for: the seat, or the address where there is none."""
        return self.seat or self.address.casefold()


@dataclass(frozen=True, slots=True)
class Correspondent:
    """Somebody whose address is verified: (label, name) of each seat in play."""

    address: str
    seats: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class InlineImage:
    """A PNG that stands in a letter: `name` is a word (`map`), `width` in CSS pixels, `alt` says what it
    shows.
    """

    name: str
    png: bytes
    alt: str
    width: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with a letter: its name, its media type (`text/csv`), its bytes."""

    name: str
    media_type: str
    content: bytes


# --- answers of say ---


class AcceptedLine(NamedTuple):
    """A line as it was understood: what was written and the sentence the table reads."""

    line: str
    sentence: str


@dataclass(frozen=True, slots=True)
class LinesPlayed:
    """All lines were executed. `next` says who is asked now, `undo` how long it can be taken back.

    Each answer's `decision` is the id of what the seat is asked now (None: nothing): a reply to the receipt
    answers that one. `lines` are the legal lines of it, ready to copy.
    """

    accepted: tuple[AcceptedLine, ...]
    changes: tuple[str, ...] = ()
    waiting_for: str = ""
    undo_hint: str = ""
    decision_id: str | None = None
    legal_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineRejected:
    """The line at `index` (from 0) failed, so nothing was changed.

    `kind` is `unreadable` (`lines` are the nearest legal lines), `ambiguous` (the choices) or `refused`
    (legal lines).
    """

    kind: Literal["refused", "unreadable", "ambiguous"]
    index: int
    reason: str
    decision_id: str | None = None
    suggested_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StaleReply:
    """The letter answered a decision that has passed: `about` says which, `now` what is asked now, `since`
    what happened in between.
    """

    old_prompt: str
    current_prompt: str
    events_since: tuple[str, ...] = ()
    decision_id: str | None = None
    legal_lines: tuple[str, ...] = ()


PlayResult = LinesPlayed | LineRejected | StaleReply


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a question is answered with: text in fixed width, pictures, and files."""

    title: str
    text: str
    images: tuple[InlineImage, ...] = ()
    decision_id: str | None = None
    attachments: tuple[Attachment, ...] = ()


class HeldLines(NamedTuple):
    """Lines that wait for `yes CODE`, and the decision they answered."""

    lines: tuple[str, ...]
    decision_id: str | None


# --- the ledger and the outbox ---


class Arrival(NamedTuple):
    """How often this very mail was begun, this time included, and the folder it belongs in if it is
    settled.
    """

    attempts: int
    folder: "Folder | None"


class Folder(StrEnum):
    """Where a mail is moved once it is dealt with: the folder is the state, flags mean nothing."""

    PROCESSED = "Processed"
    IGNORED = "Ignored"
    QUARANTINE = "Quarantine"


class IssuedToken(NamedTuple):
    """A token that a letter carries: `sha` is the hex SHA-256 of it, `sealed` what it stands for."""

    token_hash: str
    token: ReplyToken


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A finished letter: the bytes that are sent, and sent again, unchanged.

    `sender` is the envelope's (it carries a bounce token), `who` and `reason` are what limits are counted by,
    `sealed` is what a reply to `message_id` stands for even when the token was lost on the way.
    """

    message_id: str
    recipient: str
    envelope_sender: str
    raw: bytes
    actor: str
    reason: str
    issued_tokens: tuple[IssuedToken, ...]
    reply_token: ReplyToken | None = None


@dataclass(frozen=True, slots=True)
class MailOutcome:
    """What became of a mail. `key` is None where nothing is answered and nothing was changed."""

    reason: str
    folder: Folder
    idempotency_key: str | None = None
    replies: tuple[OutgoingMail, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounce:
    """Our letter `message_id` did not reach `sealed.address`; `status` is RFC 3463's, or empty."""

    token: ReplyToken
    message_id: str
    status: str

    @property
    def is_permanent(self) -> bool:
        return self.status.startswith("5")


class ServicePort(Protocol):
    """The rest of the service, as the clerk and the inbox see it."""

    async def record_arrival(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        """Keep the bytes and count an attempt, before anything is read. `digest` is their SHA-256; `when` is
        the time at which the server received the mail.
        """

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        """Keep the outcome, its letters and their tokens in one transaction; no letters for a `key` seen
        before.
        """

    async def find_token(self, sha: str) -> ReplyToken | None:
        """What a token stands for, by its SHA-256; None when unknown, expired or revoked."""

    async def find_token_by_message(self, message_id: str) -> ReplyToken | None:
        """The same by the Message-ID of the letter that was answered."""

    async def find_correspondent(self, address: str) -> Correspondent | None:
        """Who has verified this address."""

    async def verbs(self, sealed: ReplyToken) -> frozenset[str]:
        """First words of order lines at that table, in lower case; the service's own (`undo`, `resign`)
        included.
        """

    async def play(self, sealed: ReplyToken, lines: Sequence[str], request: str) -> PlayResult:
        """Play the lines for the seat, all or none, as the answer to `sealed.decision`.

        Where that is None the letter asked for nothing: the lines may still be legal out of turn."""

    async def query(self, sealed: ReplyToken, what: QueryKind, rest: str) -> QueryResult:
        """Answer a question from the seat's own point of view; `rest` is what stands behind its word."""

    async def hold_lines(self, sealed: ReplyToken, lines: Sequence[str], request: str) -> str:
        """Keep lines until `yes CODE`; returns the code: 8 or more letters and digits, the same for one
        request.
        """

    async def find_held_lines(self, sealed: ReplyToken, code: str) -> HeldLines | None:
        """What waits under a code for this seat (or this address), also when it was said before; None when
        nothing does.
        """

    async def confirm(self, sealed: ReplyToken, yes: bool) -> str:
        """An address is linked, or an invitation answered; returns the sentence that says so. May be
        repeated.
        """

    async def stop_mail(self, sealed: ReplyToken) -> str:
        """No more letters to this person; returns the sentence that says so. May be repeated."""

    async def start_mail(self, sealed: ReplyToken) -> str:
        """Letters to this person again, after a stop; returns the sentence that says so. May be repeated."""

    async def record_bounce(self, bounced: Bounce) -> None:
        """Count a letter that came back. May be repeated."""

    async def count_replies(self, since: datetime, who: str | None = None, reason: str | None = None) -> int:
        """How many answers (letters given to `settle`) there were since then, of that seat or address, for
        that reason.
        """

    async def alert_operator(self, text: str) -> None:
        """Tell the operator."""


# --- the outbox as the courier sees it ---


@dataclass(frozen=True, slots=True)
class DueMail:
    """A letter that is to be sent now. `attempts` are those that failed; `created` is in UTC."""

    id: str
    recipient: str
    envelope_sender: str
    raw: bytes
    attempts: int
    created_at: datetime


class MailOutbox(Protocol):
    """The letters that wait. A row is given to one courier at a time."""

    async def lease_due(self, limit: int) -> Sequence[DueMail]:
        """Rows whose time has come, oldest first."""

    async def mark_sent(self, due: DueMail) -> None:
        """The server has taken it."""

    async def mark_failed(self, due: DueMail, reason: str, retry: datetime | None, recipient: bool) -> None:
        """Not taken: try again at `retry` (UTC), or never (None). `recipient`: the address itself was
        refused.
        """
