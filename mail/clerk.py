"""The decision table: what one letter may do, and the one answer it gets.

| token    | From            | our server's DMARC   | automatic | becomes |
|----------|-----------------|----------------------|-----------|-------------------------------------------------------------|
| any      | ours            |                      |           | ignored: our own letter came back | | bounce
|                 |                      |           | counted when it quotes a letter of ours; never answered
| | any      | any             | any                  | yes       | ignored, no answer | | several  | any |
any                  | no        | nothing; one receipt | | one      | not the seat's  | any | no        |
held; the registered address is told and may say `yes CODE` | | one      | the seat's      | fail | no |
quarantined; the registered address is told, once a day     | | one      | the seat's      | pass, or none
asked  | no        | executed; one receipt | | none     | a verified one  | not fail | no | help, once a day |
| none     | anybody         | any | no        | dropped: no answer to strangers, ever |

Answers go to the registered address and nowhere else. The clerk keeps nothing: what it needs to know about
the past it asks the desk, and every call that it makes may be repeated after a crash (the request's key comes
from the seat, the Message-ID and the lines as they were read).
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, get_args

from . import wording
from .address import Post, token_sha
from .compose import Page, compose
from .desk import Bounced, Desk, Folder, Outcome, Outgoing, Sealed, Show, Shown
from .letter import Letter, Problem, headers_of
from .trim import Line, Reading, first_word, reading

SHOWS: frozenset[str] = frozenset(get_args(Show))
META = SHOWS | {"plan", "show", "start", "stop", "unsubscribe", "yes", "confirm"}
_YES = frozenset({"yes", "y", "ok", "confirm", "confirmed", "join", "accept", "ja", "oui", "si", "sí"})
_NO = frozenset({"no", "n", "decline", "nein", "non"})


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is answered. Orders are executed all the same."""

    hourly: int = 20
    notes_daily: int = 3
    breaker: int = 200
    breaker_minutes: int = 10


class Alarm:
    """Tells the operator, at most once an hour for each kind of trouble: a flood of bad mail is one
    trouble.
    """

    def __init__(self, desk: Desk, now: Callable[[], datetime]) -> None:
        self._desk = desk
        self._now = now
        self._rung: dict[str, datetime] = {}

    async def ring(self, kind: str, text: str) -> None:
        last = self._rung.get(kind)
        if last is None or self._now() - last >= timedelta(hours=1):
            self._rung[kind] = self._now()
            await self._desk.alert(text)


class _Ask(NamedTuple):
    what: Show
    rest: str = ""


class _Verdict(NamedTuple):
    """What is to become of a letter: the page that answers it, and what a reply to that page will answer."""

    verdict: str
    page: Page
    sealed: Sealed
    folder: Folder = Folder.PROCESSED
    lines: tuple[str, ...] = ()


def asked(line: str) -> _Ask | None:
    """`map`, `show map`, `log 20`, `try LINE`: a question that changes nothing; None for anything else."""
    match = re.fullmatch(
        r"(?:show )?(help|status|turn|sheet|board|map|market|log)(?: (\d{1,3}))?[?!]?", line.casefold()
    )
    if match and (match[1] == "log" or not match[2]):
        what: Show = match[1]  # type: ignore[assignment]
        return _Ask(what, match[2] or "")
    more = re.fullmatch(r"(?:show +)?(at|company|player|export|try|plan)(?: +(.*))?", line, re.IGNORECASE)
    if more is None or (more[2] or "").casefold() == "play":
        return None
    word = more[1].casefold()
    asks: Show = "try" if word == "plan" else word  # type: ignore[assignment]
    return _Ask(asks, more[2] or "")


def _together(asks: Sequence[_Ask]) -> list[_Ask]:
    """The questions of a letter, each once; the lines that it tries are one plan."""
    tries = [ask.rest for ask in asks if ask.what == "try"]
    others = [ask for ask in asks if ask.what != "try"]
    return list(dict.fromkeys([*others, *([_Ask("try", "; ".join(tries))] if tries else [])]))[:5]


class Clerk:
    """Reads letters for one post and one desk."""

    def __init__(
        self,
        post: Post,
        desk: Desk,
        *,
        require_dmarc: bool = False,
        dangerous: frozenset[str] = frozenset({"resign"}),
        limits: Limits = Limits(),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._post = post
        self._desk = desk
        self._require_dmarc = require_dmarc
        self._dangerous = dangerous
        self._limits = limits
        self._now = now
        self._alarm = Alarm(desk, now)

    # --- the table, row by row ---

    async def handle(self, letter: Letter) -> Outcome:
        """Decide about one letter and carry it out; the outcome is to be given to `Desk.settle`."""
        if self._is_ours(letter):
            return Outcome("our own letter", Folder.IGNORED)
        found = await self._sealed(letter)
        if any(sealed.purpose == "bounce" for sealed in found):
            return await self._bounce(letter, found)
        if letter.automatic:
            return Outcome(f"automatic: {letter.automatic}", Folder.IGNORED)
        if not found:
            return await self._without_token(letter)
        if len(found) > 1:
            return await self._answer(letter, _Verdict("ambiguous", wording.ambiguous(), found[0]))
        return await self._answer(letter, await self._with_token(letter, found[0]))

    def _is_ours(self, letter: Letter) -> bool:
        return (
            self._post.issued(letter.message_id)
            or self._post.domain in (loop.casefold() for loop in letter.loops)
            or (letter.sender is not None and self._post.owns(letter.sender))
        )

    async def _sealed(self, letter: Letter) -> list[Sealed]:
        """What the valid reply tokens in the letter stand for; without one, what the letters that it answers
        do.
        """
        tokens = self._post.tokens(letter.recipients)[:10]
        found = [sealed for token in tokens if (sealed := await self._desk.sealed(token_sha(token)))]
        for parent in letter.parents if not found else ():
            if self._post.issued(parent) and (sealed := await self._desk.sealed_by_message(parent)):
                return [sealed]
        return found

    async def _bounce(self, letter: Letter, found: Sequence[Sealed]) -> Outcome:
        """A bounce counts only when it quotes a letter of ours that went to the address of that very
        token.
        """
        bounces = [sealed for sealed in found if sealed.purpose == "bounce"]
        for message_id in letter.report.message_ids if letter.report else ():
            sent = await self._desk.sealed_by_message(message_id) if self._post.issued(message_id) else None
            for sealed in bounces:
                if sent and letter.report and sent.address == sealed.address:
                    await self._desk.bounced(Bounced(sealed, message_id, letter.report.status))
                    return Outcome("bounce", Folder.PROCESSED)
        return Outcome("bounce without a letter of ours", Folder.IGNORED)

    async def _without_token(self, letter: Letter) -> Outcome:
        person = await self._desk.person(letter.sender) if letter.sender else None
        if person is None or self._fails(letter):
            return Outcome("stranger", Folder.IGNORED)
        sealed = Sealed("reply", person.address, frozenset({person.address}), "")
        verdict = _Verdict("help", wording.help_without_table(person), sealed)
        return await self._answer(letter, verdict, daily=1)

    def _fails(self, letter: Letter) -> bool:
        return letter.dmarc != "pass" if self._require_dmarc else letter.dmarc == "fail"

    async def _with_token(self, letter: Letter, sealed: Sealed) -> _Verdict:
        if not _is_from(letter, sealed):
            return await self._wrong_sender(letter, sealed)
        if self._fails(letter):
            return _Verdict("forged", wording.forged(), sealed, Folder.QUARANTINE)
        if letter.problem is None or sealed.purpose == "unsubscribe":
            return await self._trusted(letter, sealed)
        return _Verdict("unreadable", wording.unreadable(letter.problem), sealed)

    async def _wrong_sender(self, letter: Letter, sealed: Sealed) -> _Verdict:
        read = reading(letter.text, await self._verbs(sealed))
        lines = tuple(line.text for line in read.orders)
        code = None
        fits = lines and not read.fault and sealed.purpose == "reply" and sealed.seat
        if fits and await self._count(86_400, sealed.who, "wrong sender") < self._limits.notes_daily:
            code = await self._desk.hold(sealed, lines, self._key(letter, sealed, lines))
        return _Verdict("wrong sender", wording.wrong_sender(lines[:10], code), sealed, lines=lines)

    # --- letters from whom they should be from ---

    async def _trusted(self, letter: Letter, sealed: Sealed) -> _Verdict:
        read = reading(letter.text, await self._verbs(sealed))
        lines = tuple(line.text for line in read.orders)
        alone = re.fullmatch(r"(?:re: ?)*(start|stop|unsubscribe)", letter.subject.casefold())
        if not lines and alone:
            lines = (alone[1],)
        if sealed.purpose in {"reply", "unsubscribe"} and _is_alone(lines, "start"):
            sentence = await self._desk.start(sealed)
            return _Verdict("started", wording.told(sentence), sealed, lines=("start",))
        if sealed.purpose == "unsubscribe" or _is_alone(lines, "stop", "unsubscribe"):
            return _Verdict("stopped", wording.told(await self._desk.stop(sealed)), sealed, lines=("stop",))
        if read.fault:
            return _Verdict("not done", wording.faulty(read.fault, read), sealed, lines=lines)
        if sealed.purpose in {"link", "invite"}:
            return await self._yes_or_no(sealed, lines)
        if sealed.seat is None:
            person = await self._desk.person(sealed.address)
            page = wording.help_without_table(person) if person else wording.unknown_code()
            return _Verdict("help", page, sealed, lines=lines)
        if not lines:
            return _Verdict("unreadable", wording.unreadable(Problem.EMPTY, read), sealed)
        return await self._read(letter, sealed, read, lines)

    async def _yes_or_no(self, sealed: Sealed, lines: tuple[str, ...]) -> _Verdict:
        word = first_word(lines[0]) if lines else ""
        if word not in _YES | _NO:
            return _Verdict("not done", wording.yes_or_no(), sealed, lines=lines)
        sentence = await self._desk.confirm(sealed, word in _YES)
        return _Verdict("confirmed", wording.told(sentence), sealed, lines=lines)

    async def _read(self, letter: Letter, sealed: Sealed, read: Reading, lines: tuple[str, ...]) -> _Verdict:
        if code := re.fullmatch(r"(?:yes|confirm):? ([a-z0-9]{4,40})", lines[0].casefold()):
            if len(lines) > 1:
                return _Verdict("not done", wording.alone("yes CODE"), sealed, lines=lines)
            return await self._released(sealed, code[1], lines)
        words = [first_word(line) for line in lines]
        for word in (*self._dangerous, "stop", "unsubscribe"):
            if word in words and len(lines) > 1:
                return _Verdict("not done", wording.alone(word), sealed, lines=lines)
        key = self._key(letter, sealed, lines)
        if words[0] in self._dangerous:
            code_for = await self._desk.hold(sealed, lines, key)
            return _Verdict("held", wording.sure(lines, code_for), sealed, lines=lines)
        return await self._play(sealed, read, key, lines)

    async def _released(self, sealed: Sealed, code: str, lines: tuple[str, ...]) -> _Verdict:
        held = await self._desk.held(sealed, code)
        if held is None:
            return _Verdict("not done", wording.unknown_code(), sealed, lines=lines)
        read = Reading(tuple(Line(number, text) for number, text in enumerate(held.lines, 1)))
        if _is_alone(held.lines, "stop", "unsubscribe"):
            return _Verdict("stopped", wording.told(await self._desk.stop(sealed)), sealed, lines=lines)
        bound = replace(sealed, decision=held.decision)
        return await self._play(bound, read, f"held:{sealed.who}:{code}", lines)

    async def _play(self, sealed: Sealed, read: Reading, request: str, lines: tuple[str, ...]) -> _Verdict:
        """Say the orders, then answer the questions: one receipt for both."""
        asks = [ask for line in read.orders if (ask := asked(line.text))]
        orders = tuple(line for line in read.orders if not asked(line.text))
        read = read._replace(orders=orders)
        answer = await self._desk.say(sealed, [line.text for line in orders], request) if orders else None
        shown: list[Shown] = [await self._desk.show(sealed, *ask) for ask in _together(asks)]
        latest = shown[-1] if shown else answer
        assert latest is not None
        verdict = type(answer).__name__.lower() if answer else "shown"
        now = replace(sealed, decision=latest.decision)
        return _Verdict(verdict, wording.receipt(answer, read, shown), now, lines=lines)

    async def _verbs(self, sealed: Sealed) -> frozenset[str]:
        return META | await self._desk.verbs(sealed)

    # --- answers ---

    @staticmethod
    def _key(letter: Letter, sealed: Sealed, lines: Sequence[str]) -> str:
        """The ledger's key: the same mail by two ways has the same, and nobody can pre-empt another
        seat's.
        """
        parts = (sealed.who, letter.message_id, *lines)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()

    async def _answer(self, letter: Letter, verdict: _Verdict, daily: int | None = None) -> Outcome:
        if verdict.verdict == "forged":
            daily = 1
        elif verdict.verdict == "wrong sender":
            daily = self._limits.notes_daily
        page, sealed = verdict.page, verdict.sealed
        key = self._key(letter, sealed, verdict.lines)
        reason = verdict.verdict
        if await self._is_broken() or (daily and await self._count(86_400, sealed.who, reason) >= daily):
            return Outcome(reason, verdict.folder, key)
        if await self._count(3_600, sealed.who, "paused"):
            return Outcome(reason, verdict.folder, key)
        if await self._count(3_600, sealed.who) >= self._limits.hourly:
            page, reason = wording.paused(), "paused"
        # The note about a stranger's mail must not carry the stranger's Message-ID to the owner's thread.
        parent = letter.message_id if _is_from(letter, sealed) else None
        answer = self._compose(page, sealed, reason, parent, letter.parents)
        return Outcome(verdict.verdict, verdict.folder, key, (answer,))

    def _compose(
        self, page: Page, sealed: Sealed, reason: str, parent: str | None, thread: Sequence[str] = ()
    ) -> Outgoing:
        ours = [id for id in reversed(thread) if self._post.issued(id)]
        parent = parent if parent and not parent.startswith("<sha256.") else None
        return compose(self._post, page, sealed, self._now(), reason, parent=parent, thread=ours)

    def _count(self, seconds: int, who: str | None = None, reason: str | None = None) -> Awaitable[int]:
        return self._desk.answers(self._now() - timedelta(seconds=seconds), who, reason)

    async def _is_broken(self) -> bool:
        """The breaker: too many answers of all kinds in a short time are a loop or an attack."""
        limit, minutes = self._limits.breaker, self._limits.breaker_minutes
        if await self._count(60 * minutes) < limit:
            return False
        await self._alarm.ring(
            "breaker", f"{limit} answers by mail in {minutes} minutes: none are sent for now."
        )
        return True

    async def unread(self, raw: bytes, problem: Problem = Problem.BROKEN) -> Outcome:
        """A mail that the reader did not survive: aside, and one receipt to the owner of its reply
        address.
        """
        await self._alarm.ring("unread", "A mail could not be read and was put into Quarantine.")
        for token in self._post.tokens(headers_of(raw))[:5]:
            sealed = await self._desk.sealed(token_sha(token))
            if sealed and sealed.purpose != "bounce":
                stub = Letter(f"<sha256.{hashlib.sha256(raw).hexdigest()}>")
                page = wording.unreadable(problem)
                verdict = _Verdict("unreadable", page, sealed, Folder.QUARANTINE)
                return await self._answer(stub, verdict, daily=self._limits.notes_daily)
        return Outcome("unreadable", Folder.QUARANTINE)


def _is_from(letter: Letter, sealed: Sealed) -> bool:
    return letter.sender is not None and letter.sender in {address.casefold() for address in sealed.addresses}


def _is_alone(lines: Sequence[str], *words: str) -> bool:
    """Whether one of those words is all that is said."""
    return len(lines) == 1 and lines[0].casefold() in words
