"""A service in memory with a toy game, for tests of the policy.

The game: each seat gets decision after decision (`s1.0`, `s1.1`, …). `buy X` and `pass` answer one, `sell N
X` may be played any number of times before. `buy NOTHING` is refused, `buy S` is ambiguous.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Self, cast

import pytest

from bot.email.pages.turn_pages import turn_notice
from bot.email.policy import MailGateway
from bot.email.reachability import Bounce, Correspondent
from bot.email.replies.results import (
    AcceptedLine,
    PlayResult,
    QueryResult,
    TableAnswer,
)
from bot.email.stored_mail import HeldLines
from bot.hub.request import (
    Completed,
    LineAmbiguous,
    LineFailure,
    LineRefused,
    LineUnreadable,
    PlayedLine,
    StaleDecision,
)
from mail.composing.compose import OutgoingMail, compose
from mail.composing.page import InlineImage, TableRows
from mail.inbox import Arrival, GatheredAnswer, MailOutcome
from mail.reading.parts import MailFile
from mail.reading.unclear_lines import Vocabulary
from mail.reply_address import ReplyToken, ServiceAddress
from mail.smtp import DueMail, LeasedMails

POST = ServiceAddress("play@games.test", b"a key of sixteen")
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


VERBS = frozenset(
    """
    buy bid pass sell undo help status turn sheet board map market log at company player
    export try plan show
    """.split()
)
QUERIES = frozenset("help status turn sheet board map market log at company player export".split())
SYMBOLS = frozenset({"SV", "CS", "CA", "PRR", "NYC", "SX", "S", "NOTHING"})
_LINES = re.compile(
    r"pass|undo|(?:buy|sell) (?:\d{1,2} )?(?:[A-Z]{1,3}|NOTHING)|bid [A-Z]{2} \d+"
    r"|(?:help|status|turn|sheet|board|map|market)"
    r"|log(?: \d+)?|at or [\d.]+|company [A-Z]+|player \w+|(?:try|plan)(?: .+)?",
    re.IGNORECASE,
)


def readable(lines: Sequence[str]) -> frozenset[str]:
    """Those of the lines that have the form of a line of the toy game."""
    return frozenset(line for line in lines if _LINES.fullmatch(line))


@dataclass
class MailClock:
    """A clock that only tests move."""

    now: datetime = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **times: float) -> None:
        self.now += timedelta(**times)


@dataclass
class OutboxRow:
    """A letter in the outbox."""

    outgoing: OutgoingMail
    created: datetime
    due: datetime
    attempts: int = 0
    state: str = "waiting"
    reason: str = ""


def seat_name(sealed: ReplyToken) -> str:
    """`s1` for a token of the first seat; empty for one without a seat."""
    return f"s{sealed.seat_number}" if sealed.seat else ""


def alerts(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the operator was told."""
    told = (record.getMessage() for record in caplog.records)
    return [text.partition(": ")[2] for text in told if text.startswith("for the operator: ")]


@dataclass
class InMemoryService:
    """Seats `s1` (ann@player.test) and `s2` (bob@player.test) at table 17."""

    clock: MailClock = field(default_factory=MailClock)
    turns: Counter[str] = field(default_factory=Counter)
    moves: list[tuple[str, str]] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    linked: list[tuple[str, bool]] = field(default_factory=list)
    bounces: list[Bounce] = field(default_factory=list)
    gathered: list[GatheredAnswer] = field(default_factory=list)
    commands: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    talk: list[tuple[str, str]] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    outcomes: list[MailOutcome] = field(default_factory=list)
    rows: dict[str, OutboxRow] = field(default_factory=dict)
    tokens: dict[str, ReplyToken] = field(default_factory=dict)
    by_message: dict[str, ReplyToken] = field(default_factory=dict)
    attempts: Counter[str] = field(default_factory=Counter)
    raw_mails: dict[str, bytes] = field(default_factory=dict)
    outcome_by_digest: dict[str, MailOutcome] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    results: dict[str, PlayResult] = field(default_factory=dict)
    held_lines: dict[tuple[str, str], HeldLines] = field(default_factory=dict)
    answered: list[tuple[datetime, str, str]] = field(default_factory=list)

    # --- the service's side ---

    def current_token(self, seat: str, name: str = "ann") -> ReplyToken:
        address = f"{name}@player.test"
        return ReplyToken(
            "reply", address, frozenset({address}), "Table 17", "17", f"{seat}.{self.turns[seat]}",
            table_id=17, seat_number=int(seat[1:]),
        )  # fmt: skip

    def post(self, outgoing: OutgoingMail, answer: bool = False) -> OutgoingMail:
        """Store a letter as a service would."""
        self.rows[outgoing.message_id] = OutboxRow(outgoing, self.clock(), self.clock())
        self.tokens |= {
            issued.token_hash: replace(issued.token, message_id=outgoing.message_id)
            for issued in outgoing.issued_tokens
        }
        if outgoing.reply_token:
            self.by_message[outgoing.message_id] = outgoing.reply_token
        if answer:
            self.answered.append((self.clock(), outgoing.actor, outgoing.reason))
        return outgoing

    def notice(
        self, seat: str = "s1", name: str = "ann", chat: tuple[tuple[str, str], ...] = ()
    ) -> OutgoingMail:
        """The letter that asks a seat for its decision."""
        told = turn_notice(
            name=name.title(),
            prompt="Buy a private company, bid on one, or pass.",
            legal_lines=("buy SV", "bid CA 165", "pass"),
            events_since=("Bob passed.", *(f"{who} says: {words}" for who, words in chat)),
            position=(
                "opening",
                TableRows(
                    ("player", "cash"),
                    (("Ann", "$600"), ("Bob", "$70")),
                    ("Ann  $600", "Bob   $70"),
                    (False, True),
                ),
            ),
            images=(InlineImage("map", PNG, "The map: nothing is built.", 560),),
        )
        sealed = self.current_token(seat, name)
        return self.post(compose(POST, told, sealed, self.clock(), "notice"))

    # --- the gateway ---

    @property
    def gateway(self) -> MailGateway:
        """This, in the place of the gateway of a real service."""
        return cast(MailGateway, self)

    @property
    def arrivals(self) -> Self:
        return self

    people = seats = held = confirmations = tables = arrivals

    async def record_arrival(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        assert hashlib.sha256(raw).hexdigest() == digest
        self.attempts[digest] += 1
        self.raw_mails[digest] = raw
        outcome = self.outcome_by_digest.get(digest)
        return Arrival(self.attempts[digest], outcome.folder if outcome else None)

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        assert digest not in self.outcome_by_digest
        self.outcome_by_digest[digest] = outcome
        self.outcomes.append(outcome)
        if outcome.gathered:
            self.gathered.append(outcome.gathered)
        if outcome.idempotency_key is None or outcome.idempotency_key not in self.keys:
            for letter in outcome.replies:
                self.post(letter, answer=True)
        if outcome.idempotency_key:
            self.keys.add(outcome.idempotency_key)

    async def find_token(self, sha: str) -> ReplyToken | None:
        return self.tokens.get(sha)

    async def find_token_by_message(self, message_id: str) -> ReplyToken | None:
        return self.by_message.get(message_id)

    async def find_correspondent(self, address: str) -> Correspondent | None:
        names = {"ann@player.test": "Ann", "bob@player.test": "Bob"}
        return Correspondent(0, address, (("Table 17", names[address]),)) if address in names else None

    async def vocabulary(self, sealed: ReplyToken) -> Vocabulary:
        legal = ("buy SV", "bid CA 165", "pass") if sealed.seat else ()
        return Vocabulary(VERBS, frozenset({"buy", "bid", "pass", "sell"}), SYMBOLS, legal)

    async def readable_lines(self, sealed: ReplyToken, lines: Sequence[str]) -> frozenset[str]:
        return readable(lines) if sealed.seat else frozenset()

    async def try_lines(self, sealed: ReplyToken, lines: Sequence[str]) -> tuple[AcceptedLine, ...] | None:
        before = self.turns.copy()
        answer = self._answer(sealed, lines)
        self.turns = before
        if not isinstance(answer.result, Completed):
            return None
        return tuple(AcceptedLine(each.line, " ".join(each.sentences)) for each in answer.result.played)

    async def find_offered_code(self, sealed: ReplyToken, message_ids: Sequence[str]) -> str | None:
        offered = {id: row.outgoing.offered_code for id, row in self.rows.items()}
        ids = filter(None, (sealed.message_id, *message_ids))
        return next((code for id in ids if (code := offered.get(id))), None)

    async def play(self, sealed: ReplyToken, lines: Sequence[str], request: str) -> PlayResult:
        if request not in self.results:
            answer = self._answer(sealed, lines)
            if answer.is_done:
                self.moves += [(seat_name(sealed), line) for line in lines]
            self.results[request] = answer
        return self.results[request]

    def _answer(self, sealed: ReplyToken, lines: Sequence[str]) -> PlayResult:
        seat = seat_name(sealed)
        asked = f"{seat}.{self.turns[seat]}"
        if sealed.decision_id != asked:
            since = tuple(f"{who}: {line}" for who, line in self.moves)
            return PlayResult(StaleDecision("too late", since), asked, "buy, bid or pass.", ("pass",))
        for index, line in enumerate(lines):
            verb, _, rest = line.partition(" ")
            failed: LineFailure | None = None
            if verb not in {"buy", "bid", "pass", "sell"}:
                failed = LineUnreadable(index, line, f"“{verb}” is no word of the game.", ("buy SV",))
            elif rest == "NOTHING":
                failed = LineRefused(index, line, "There is no such thing to buy.", ("buy SV", "pass"))
            elif rest == "S":
                failed = LineAmbiguous(index, line, "Two things begin with S.", ("buy SV", "buy SX"))
            if failed:
                return PlayResult(failed, asked)
        self.turns[seat] += any(not line.startswith("sell") for line in lines)
        done = Completed(played=tuple(PlayedLine(0, line, line, (f"{seat} said {line}.",)) for line in lines))
        after = f"{seat}.{self.turns[seat]}"
        return PlayResult(done, after, "Bob is next.", changes=("Ann 600 → 580",))

    def query_in(self, line: str) -> str | None:
        line = line.removeprefix("show ")
        word, _, rest = line.partition(" ")
        if word in ("try", "plan"):
            return None if rest == "play" else f"try {rest}".strip()
        return line if word in QUERIES else None

    async def query(self, sealed: ReplyToken, query: str) -> QueryResult:
        what, _, rest = query.partition(" ")
        pictures = (InlineImage(what, PNG, f"The {what}.", 560),) if what in {"map", "market"} else ()
        decision = self.current_token(seat_name(sealed)).decision_id
        return QueryResult(what, f"This is the {what} {rest}", pictures, decision)

    async def current_decision(self, sealed: ReplyToken) -> str | None:
        return self.current_token(seat_name(sealed)).decision_id

    async def hold_lines(
        self, sealed: ReplyToken, lines: Sequence[str], request: str, figures: Sequence[str] = ()
    ) -> str:
        code = request[:8]
        self.held_lines[sealed.actor, code] = HeldLines(tuple(lines), sealed.decision_id, tuple(figures))
        return code

    async def find_held_lines(self, sealed: ReplyToken, code: str) -> HeldLines | None:
        return self.held_lines.get((sealed.actor, code))

    async def confirm(self, sealed: ReplyToken, yes: bool) -> TableAnswer:
        if (sealed.address, yes) not in self.linked:
            self.linked.append((sealed.address, yes))
        return TableAnswer((f"{sealed.address} is {'now' if yes else 'not'} linked.",), sealed)

    async def say(self, sealed: ReplyToken, text: str, request: str) -> str:
        if request not in self.keys:
            self.talk.append((seat_name(sealed), text))
        return text

    async def table_command(
        self,
        sealed: ReplyToken,
        lines: Sequence[str],
        name: str,
        request: str,
        files: Sequence[MailFile] = (),
        *,
        is_reply: bool = True,
    ) -> TableAnswer | None:
        if not lines or not lines[0].startswith(("new ", "who")):
            return None
        self.commands.append((sealed.address, tuple(lines)))
        return TableAnswer((f"{name} said {lines[0]}.",), sealed)

    async def ask_new_host(
        self, address: str, lines: Sequence[str], name: str, request: str
    ) -> TableAnswer | None:
        if not address.endswith("@admitted.test"):
            return None
        sealed = ReplyToken("host", address, frozenset({address}))
        return TableAnswer(("Asked.",), sealed, offered_code=await self.hold_lines(sealed, lines, request))

    async def confirm_host(self, sealed: ReplyToken) -> None:
        self.linked.append((sealed.address, True))

    async def stop_mail(self, sealed: ReplyToken) -> str:
        self.stopped.add(sealed.address)
        return "No more letters will come."

    async def start_mail(self, sealed: ReplyToken) -> str:
        self.stopped.discard(sealed.address)
        return "Letters come again."

    async def record_bounce(self, bounced: Bounce) -> None:
        self.bounces.append(bounced)

    async def heard_from(self, address: str) -> None:
        self.heard.append(address)

    async def count_replies(self, since: datetime, who: str | None = None, reason: str | None = None) -> int:
        return sum(
            when >= since and who in {None, whom} and reason in {None, why}
            for when, whom, why in self.answered
        )

    # --- MailOutbox ---

    async def lease_due(self, limit: int, full: Collection[str] = ()) -> LeasedMails:
        rows = [
            row
            for row in self.rows.values()
            if row.state == "waiting"
            and row.due <= self.clock()
            and row.outgoing.recipient.partition("@")[2] not in full
        ]
        due = [
            DueMail(
                row.outgoing.message_id,
                row.outgoing.recipient,
                row.outgoing.envelope_sender,
                row.outgoing.raw,
                row.attempts,
                row.created,
            )
            for row in rows[:limit]
        ]
        waiting = (row.due for row in self.rows.values() if row.state == "waiting")
        return LeasedMails(due, min(waiting, default=None))

    async def renew_leases(self, mails: Sequence[DueMail]) -> frozenset[str]:
        return frozenset(mail.id for mail in mails if self.rows[mail.id].state == "waiting")

    async def mark_sent(self, due: DueMail) -> None:
        self.rows[due.id].state = "sent"

    async def mark_failed(self, due: DueMail, reason: str, retry: datetime | None, recipient: bool) -> None:
        row = self.rows[due.id]
        state = "waiting" if retry else "refused" if recipient else "dead"
        self.rows[due.id] = replace(
            row, attempts=row.attempts + 1, due=retry or row.due, state=state, reason=reason
        )

    def replies(self) -> list[OutgoingMail]:
        """What was answered, in order."""
        return [letter for outcome in self.outcomes for letter in outcome.replies]


def reply(
    notice: OutgoingMail,
    text: str,
    *,
    sender: str = "Ann Lee <ann@player.test>",
    message_id: str = "<reply-1@player.test>",
    to: str | None = None,
    extra: str = "",
    subject: str = "Re: [Table 17] Your turn",
) -> bytes:
    """A player's answer to a letter of ours, as a plain mailer writes it; `to` defaults to its Reply-To."""
    from email import message_from_bytes

    if to is None:
        to = message_from_bytes(notice.raw)["Reply-To"]
    head = (
        f"From: {sender}\nTo: {to}\nSubject: {subject}\nMessage-ID: {message_id}\n"
        f"In-Reply-To: {notice.message_id}\nReferences: {notice.message_id}\n"
        f"Date: Fri, 20 Nov 2026 09:00:00 +0100\n{extra}"
        'MIME-Version: 1.0\nContent-Type: text/plain; charset="utf-8"\nContent-Transfer-Encoding: 8bit\n'
    )
    return f"{head}\n{text}\n".replace("\n", "\r\n").encode()
