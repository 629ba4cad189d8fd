"""A desk in memory with a toy game, for tests of the mail channel: whole, with the promises that `mail.desk`
asks for.

The game: each seat is asked decision after decision (`s1.0`, `s1.1`, …). `buy X` and `pass` answer one, `sell
N X` may be said any number of times before; `buy NOTHING` is refused, `buy S` is ambiguous.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from mail import wording
from mail.address import Post
from mail.compose import compose
from mail.desk import (
    Answer,
    Arrival,
    Bounced,
    Done,
    Due,
    Echo,
    Held,
    NotDone,
    Outcome,
    Outgoing,
    Person,
    Picture,
    Sealed,
    Show,
    Shown,
    Stale,
)

POST = Post("play@games.test", b"a key of sixteen")
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


@dataclass
class Clock:
    """A clock that only tests move."""

    now: datetime = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **times: float) -> None:
        self.now += timedelta(**times)


@dataclass
class Row:
    """A letter in the outbox."""

    outgoing: Outgoing
    created: datetime
    due: datetime
    attempts: int = 0
    state: str = "waiting"
    reason: str = ""


@dataclass
class MemoryDesk:
    """Seats `s1` (ann@player.test) and `s2` (bob@player.test) at table 17; implements Desk and Pouch."""

    clock: Clock = field(default_factory=Clock)
    turns: Counter[str] = field(default_factory=Counter)
    moves: list[tuple[str, str]] = field(default_factory=list)
    alerts: list[str] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    linked: list[tuple[str, bool]] = field(default_factory=list)
    bounces: list[Bounced] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)
    tokens: dict[str, Sealed] = field(default_factory=dict)
    by_message: dict[str, Sealed] = field(default_factory=dict)
    arrivals: Counter[str] = field(default_factory=Counter)
    raws: dict[str, bytes] = field(default_factory=dict)
    settled: dict[str, Outcome] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    said: dict[str, Answer] = field(default_factory=dict)
    holds: dict[tuple[str, str], Held] = field(default_factory=dict)
    answered: list[tuple[datetime, str, str]] = field(default_factory=list)

    # --- the service's side ---

    def sealed_now(self, seat: str, name: str = "ann") -> Sealed:
        address = f"{name}@player.test"
        return Sealed(
            "reply", address, frozenset({address}), "Table 17", "17", seat, f"{seat}.{self.turns[seat]}"
        )

    def post(self, outgoing: Outgoing, answer: bool = False) -> Outgoing:
        """Store a letter as a service would."""
        self.rows[outgoing.message_id] = Row(outgoing, self.clock(), self.clock())
        self.tokens |= {issued.sha: issued.sealed for issued in outgoing.issued}
        if outgoing.sealed:
            self.by_message[outgoing.message_id] = outgoing.sealed
        if answer:
            self.answered.append((self.clock(), outgoing.who, outgoing.reason))
        return outgoing

    def notice(self, seat: str = "s1", name: str = "ann", chat: tuple[tuple[str, str], ...] = ()) -> Outgoing:
        """The letter that asks a seat for its decision."""
        told = wording.Notice(
            name=name.title(),
            need="Buy a private company, bid on one, or pass.",
            lines=("buy SV", "bid CA 165", "pass"),
            since=("Bob passed.",),
            position="Ann 600  Bob 600",
            pictures=(Picture("map", PNG, "The map: nothing is built.", 560),),
            chat=chat,
        )
        sealed = self.sealed_now(seat, name)
        return self.post(compose(POST, wording.notice(told), sealed, self.clock(), "notice"))

    # --- Desk ---

    async def received(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        assert hashlib.sha256(raw).hexdigest() == digest
        self.arrivals[digest] += 1
        self.raws[digest] = raw
        outcome = self.settled.get(digest)
        return Arrival(self.arrivals[digest], outcome.folder if outcome else None)

    async def settle(self, digest: str, outcome: Outcome) -> None:
        assert digest not in self.settled
        self.settled[digest] = outcome
        self.outcomes.append(outcome)
        if outcome.key is None or outcome.key not in self.keys:
            for letter in outcome.letters:
                self.post(letter, answer=True)
        if outcome.key:
            self.keys.add(outcome.key)

    async def sealed(self, sha: str) -> Sealed | None:
        return self.tokens.get(sha)

    async def sealed_by_message(self, message_id: str) -> Sealed | None:
        return self.by_message.get(message_id)

    async def person(self, address: str) -> Person | None:
        names = {"ann@player.test": "Ann", "bob@player.test": "Bob"}
        return Person(address, (("Table 17", names[address]),)) if address in names else None

    async def verbs(self, sealed: Sealed) -> frozenset[str]:
        return frozenset({"buy", "bid", "pass", "sell", "undo", "resign"})

    async def say(self, sealed: Sealed, lines: Sequence[str], request: str) -> Answer:
        if request not in self.said:
            answer = self._answer(sealed, lines)
            if isinstance(answer, Done):
                assert sealed.seat
                self.moves += [(sealed.seat, line) for line in lines]
            self.said[request] = answer
        return self.said[request]

    def _answer(self, sealed: Sealed, lines: Sequence[str]) -> Answer:
        seat = sealed.seat or ""
        asked = f"{seat}.{self.turns[seat]}"
        if sealed.decision != asked:
            since = tuple(f"{who}: {line}" for who, line in self.moves)
            return Stale("your last turn.", "buy, bid or pass.", since, asked, ("pass",))
        for index, line in enumerate(lines):
            verb, _, rest = line.partition(" ")
            if verb not in {"buy", "bid", "pass", "sell", "resign"}:
                return NotDone("unreadable", index, f"“{verb}” is no word of the game.", asked, ("buy SV",))
            if rest == "NOTHING":
                return NotDone("refused", index, "There is no such thing to buy.", asked, ("buy SV", "pass"))
            if rest == "S":
                return NotDone("ambiguous", index, "Two things begin with S.", asked, ("buy SV", "buy SX"))
        self.turns[seat] += any(not line.startswith("sell") for line in lines)
        echoes = tuple(Echo(line, f"{seat} said {line}.") for line in lines)
        return Done(echoes, ("Ann 600 → 580",), "Bob is next.", "", f"{seat}.{self.turns[seat]}")

    async def show(self, sealed: Sealed, what: Show, rest: str) -> Shown:
        pictures = (Picture(what, PNG, f"The {what}.", 560),) if what in {"map", "market"} else ()
        decision = self.sealed_now(sealed.seat or "").decision
        return Shown(what, f"This is the {what} {rest}", pictures, decision)

    async def hold(self, sealed: Sealed, lines: Sequence[str], request: str) -> str:
        code = request[:8]
        self.holds[sealed.who, code] = Held(tuple(lines), sealed.decision)
        return code

    async def held(self, sealed: Sealed, code: str) -> Held | None:
        return self.holds.get((sealed.who, code))

    async def confirm(self, sealed: Sealed, yes: bool) -> str:
        if (sealed.address, yes) not in self.linked:
            self.linked.append((sealed.address, yes))
        return f"{sealed.address} is {'now' if yes else 'not'} linked."

    async def stop(self, sealed: Sealed) -> str:
        self.stopped.add(sealed.address)
        return "No more letters will come."

    async def start(self, sealed: Sealed) -> str:
        self.stopped.discard(sealed.address)
        return "Letters come again."

    async def bounced(self, bounced: Bounced) -> None:
        self.bounces.append(bounced)

    async def answers(self, since: datetime, who: str | None = None, reason: str | None = None) -> int:
        return sum(
            when >= since and who in {None, whom} and reason in {None, why}
            for when, whom, why in self.answered
        )

    async def alert(self, text: str) -> None:
        self.alerts.append(text)

    # --- Pouch ---

    async def due(self, limit: int) -> Sequence[Due]:
        rows = [row for row in self.rows.values() if row.state == "waiting" and row.due <= self.clock()]
        return [
            Due(
                row.outgoing.message_id,
                row.outgoing.to,
                row.outgoing.sender,
                row.outgoing.raw,
                row.attempts,
                row.created,
            )
            for row in rows[:limit]
        ]

    async def sent(self, due: Due) -> None:
        self.rows[due.id].state = "sent"

    async def failed(self, due: Due, reason: str, retry: datetime | None, recipient: bool) -> None:
        row = self.rows[due.id]
        state = "waiting" if retry else "refused" if recipient else "dead"
        self.rows[due.id] = replace(
            row, attempts=row.attempts + 1, due=retry or row.due, state=state, reason=reason
        )

    def letters(self) -> list[Outgoing]:
        """What was answered, in order."""
        return [letter for outcome in self.outcomes for letter in outcome.letters]


def reply(
    notice: Outgoing,
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
