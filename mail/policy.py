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

from mail import pages
from mail.compose import MailPage, compose
from mail.parser import MailProblem, ParsedMail, recipient_headers
from mail.port import (
    Bounce,
    Folder,
    MailOutcome,
    OutgoingMail,
    QueryKind,
    QueryResult,
    ReplyToken,
    ServicePort,
)
from mail.reply_address import ServiceAddress, hash_token
from mail.reply_text import OrderLine, ParsedReply, first_word, parse_reply

QUERY_WORDS: frozenset[str] = frozenset(get_args(QueryKind))
SERVICE_VERBS = QUERY_WORDS | {"plan", "show", "start", "stop", "unsubscribe", "yes", "confirm"}
_YES = frozenset({"yes", "y", "ok", "confirm", "confirmed", "join", "accept", "ja", "oui", "si", "sí"})
_NO = frozenset({"no", "n", "decline", "nein", "non"})


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """How much is answered. Orders are executed all the same."""

    replies_per_hour: int = 20
    notices_per_day: int = 3
    breaker_replies: int = 200
    breaker_minutes: int = 10


class OperatorAlerts:
    """Tells the operator, at most once an hour for each kind of trouble: a flood of bad mail is one
    trouble.
    """

    def __init__(self, desk: ServicePort, now: Callable[[], datetime]) -> None:
        self._service = desk
        self._now = now
        self._last_sent: dict[str, datetime] = {}

    async def send(self, kind: str, text: str) -> None:
        last = self._last_sent.get(kind)
        if last is None or self._now() - last >= timedelta(hours=1):
            self._last_sent[kind] = self._now()
            await self._service.alert_operator(text)


class _Query(NamedTuple):
    kind: QueryKind
    argument: str = ""


class _Ruling(NamedTuple):
    """What is to become of a letter: the page that answers it, and what a reply to that page will answer."""

    reason: str
    page: MailPage
    token: ReplyToken
    folder: Folder = Folder.PROCESSED
    lines: tuple[str, ...] = ()


def parse_query(line: str) -> _Query | None:
    """`map`, `show map`, `log 20`, `try LINE`: a question that changes nothing; None for anything else."""
    match = re.fullmatch(
        r"(?:show )?(help|status|turn|sheet|board|map|market|log)(?: (\d{1,3}))?[?!]?", line.casefold()
    )
    if match and (match[1] == "log" or not match[2]):
        what: QueryKind = match[1]  # type: ignore[assignment]
        return _Query(what, match[2] or "")
    more = re.fullmatch(r"(?:show +)?(at|company|player|export|try|plan)(?: +(.*))?", line, re.IGNORECASE)
    if more is None or (more[2] or "").casefold() == "play":
        return None
    word = more[1].casefold()
    asks: QueryKind = "try" if word == "plan" else word  # type: ignore[assignment]
    return _Query(asks, more[2] or "")


def _merge_queries(asks: Sequence[_Query]) -> list[_Query]:
    """The questions of a letter, each once; the lines that it tries are one plan."""
    tries = [ask.argument for ask in asks if ask.kind == "try"]
    others = [ask for ask in asks if ask.kind != "try"]
    return list(dict.fromkeys([*others, *([_Query("try", "; ".join(tries))] if tries else [])]))[:5]


class MailPolicy:
    """Reads letters for one post and one desk."""

    def __init__(
        self,
        post: ServiceAddress,
        desk: ServicePort,
        *,
        require_dmarc: bool = False,
        dangerous: frozenset[str] = frozenset({"resign"}),
        limits: ReplyLimits = ReplyLimits(),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._address = post
        self._service = desk
        self._require_dmarc = require_dmarc
        self._dangerous = dangerous
        self._limits = limits
        self._now = now
        self._alerts = OperatorAlerts(desk, now)

    # --- the table, row by row ---

    async def handle(self, letter: ParsedMail) -> MailOutcome:
        """Decide about one letter and carry it out; the outcome is to be given to `Desk.settle`."""
        if self._is_ours(letter):
            return MailOutcome("our own letter", Folder.IGNORED)
        found = await self._tokens_of(letter)
        if any(sealed.purpose == "bounce" for sealed in found):
            return await self._bounce(letter, found)
        if letter.automatic_sign:
            return MailOutcome(f"automatic: {letter.automatic_sign}", Folder.IGNORED)
        if not found:
            return await self._without_token(letter)
        if len(found) > 1:
            return await self._reply(letter, _Ruling("ambiguous", pages.ambiguous_recipient(), found[0]))
        return await self._reply(letter, await self._with_token(letter, found[0]))

    def _is_ours(self, letter: ParsedMail) -> bool:
        return (
            self._address.is_own_message_id(letter.message_id)
            or self._address.domain in (loop.casefold() for loop in letter.loop_headers)
            or (letter.sender is not None and self._address.owns(letter.sender))
        )

    async def _tokens_of(self, letter: ParsedMail) -> list[ReplyToken]:
        """What the valid reply tokens in the letter stand for; without one, what the letters that it answers
        do.
        """
        tokens = self._address.find_tokens(letter.recipients)[:10]
        found = [sealed for token in tokens if (sealed := await self._service.find_token(hash_token(token)))]
        for parent in letter.parent_ids if not found else ():
            if self._address.is_own_message_id(parent) and (
                sealed := await self._service.find_token_by_message(parent)
            ):
                return [sealed]
        return found

    async def _bounce(self, letter: ParsedMail, found: Sequence[ReplyToken]) -> MailOutcome:
        """A bounce counts only when it quotes a letter of ours that went to the address of that very
        token.
        """
        bounces = [sealed for sealed in found if sealed.purpose == "bounce"]
        for message_id in letter.report.message_ids if letter.report else ():
            sent = (
                await self._service.find_token_by_message(message_id)
                if self._address.is_own_message_id(message_id)
                else None
            )
            for sealed in bounces:
                if sent and letter.report and sent.address == sealed.address:
                    await self._service.record_bounce(Bounce(sealed, message_id, letter.report.status))
                    return MailOutcome("bounce", Folder.PROCESSED)
        return MailOutcome("bounce without a letter of ours", Folder.IGNORED)

    async def _without_token(self, letter: ParsedMail) -> MailOutcome:
        person = await self._service.find_correspondent(letter.sender) if letter.sender else None
        if person is None or self._fails_dmarc(letter):
            return MailOutcome("stranger", Folder.IGNORED)
        sealed = ReplyToken("reply", person.address, frozenset({person.address}), "")
        verdict = _Ruling("help", pages.help_without_table(person), sealed)
        return await self._reply(letter, verdict, daily=1)

    def _fails_dmarc(self, letter: ParsedMail) -> bool:
        return letter.dmarc != "pass" if self._require_dmarc else letter.dmarc == "fail"

    async def _with_token(self, letter: ParsedMail, sealed: ReplyToken) -> _Ruling:
        if not _is_from(letter, sealed):
            return await self._wrong_sender(letter, sealed)
        if self._fails_dmarc(letter):
            return _Ruling("forged", pages.failed_authentication(), sealed, Folder.QUARANTINE)
        if letter.problem is None or sealed.purpose == "unsubscribe":
            return await self._from_owner(letter, sealed)
        return _Ruling("unreadable", pages.unreadable_mail(letter.problem), sealed)

    async def _wrong_sender(self, letter: ParsedMail, sealed: ReplyToken) -> _Ruling:
        read = parse_reply(letter.text, await self._verbs(sealed))
        lines = tuple(line.text for line in read.orders)
        code = None
        fits = lines and not read.fault and sealed.purpose == "reply" and sealed.seat
        if fits and await self._count(86_400, sealed.actor, "wrong sender") < self._limits.notices_per_day:
            code = await self._service.hold_lines(sealed, lines, self._idempotency_key(letter, sealed, lines))
        return _Ruling("wrong sender", pages.wrong_sender(lines[:10], code), sealed, lines=lines)

    # --- letters from whom they should be from ---

    async def _from_owner(self, letter: ParsedMail, sealed: ReplyToken) -> _Ruling:
        read = parse_reply(letter.text, await self._verbs(sealed))
        lines = tuple(line.text for line in read.orders)
        alone = re.fullmatch(r"(?:re: ?)*(start|stop|unsubscribe)", letter.subject.casefold())
        if not lines and alone:
            lines = (alone[1],)
        if sealed.purpose in {"reply", "unsubscribe"} and _is_only_line(lines, "start"):
            sentence = await self._service.start_mail(sealed)
            return _Ruling("started", pages.confirmation(sentence), sealed, lines=("start",))
        if sealed.purpose == "unsubscribe" or _is_only_line(lines, "stop", "unsubscribe"):
            return _Ruling(
                "stopped", pages.confirmation(await self._service.stop_mail(sealed)), sealed, lines=("stop",)
            )
        if read.fault:
            return _Ruling("not done", pages.invalid_line(read.fault, read), sealed, lines=lines)
        if sealed.purpose in {"link", "invite"}:
            return await self._yes_or_no(sealed, lines)
        if sealed.seat is None:
            person = await self._service.find_correspondent(sealed.address)
            page = pages.help_without_table(person) if person else pages.unknown_code()
            return _Ruling("help", page, sealed, lines=lines)
        if not lines:
            return _Ruling("unreadable", pages.unreadable_mail(MailProblem.EMPTY, read), sealed)
        return await self._orders(letter, sealed, read, lines)

    async def _yes_or_no(self, sealed: ReplyToken, lines: tuple[str, ...]) -> _Ruling:
        word = first_word(lines[0]) if lines else ""
        if word not in _YES | _NO:
            return _Ruling("not done", pages.expects_yes_or_no(), sealed, lines=lines)
        sentence = await self._service.confirm(sealed, word in _YES)
        return _Ruling("confirmed", pages.confirmation(sentence), sealed, lines=lines)

    async def _orders(
        self, letter: ParsedMail, sealed: ReplyToken, read: ParsedReply, lines: tuple[str, ...]
    ) -> _Ruling:
        if code := re.fullmatch(r"(?:yes|confirm):? ([a-z0-9]{4,40})", lines[0].casefold()):
            if len(lines) > 1:
                return _Ruling("not done", pages.must_be_alone("yes CODE"), sealed, lines=lines)
            return await self._confirm_held(sealed, code[1], lines)
        words = [first_word(line) for line in lines]
        for word in (*self._dangerous, "stop", "unsubscribe"):
            if word in words and len(lines) > 1:
                return _Ruling("not done", pages.must_be_alone(word), sealed, lines=lines)
        key = self._idempotency_key(letter, sealed, lines)
        if words[0] in self._dangerous:
            code_for = await self._service.hold_lines(sealed, lines, key)
            return _Ruling("held", pages.confirm_orders(lines, code_for), sealed, lines=lines)
        return await self._play(sealed, read, key, lines)

    async def _confirm_held(self, sealed: ReplyToken, code: str, lines: tuple[str, ...]) -> _Ruling:
        held = await self._service.find_held_lines(sealed, code)
        if held is None:
            return _Ruling("not done", pages.unknown_code(), sealed, lines=lines)
        read = ParsedReply(tuple(OrderLine(number, text) for number, text in enumerate(held.lines, 1)))
        if _is_only_line(held.lines, "stop", "unsubscribe"):
            return _Ruling(
                "stopped", pages.confirmation(await self._service.stop_mail(sealed)), sealed, lines=lines
            )
        bound = replace(sealed, decision_id=held.decision_id)
        return await self._play(bound, read, f"held:{sealed.actor}:{code}", lines)

    async def _play(
        self, sealed: ReplyToken, read: ParsedReply, request: str, lines: tuple[str, ...]
    ) -> _Ruling:
        """Say the orders, then answer the questions: one receipt for both."""
        asks = [ask for line in read.orders if (ask := parse_query(line.text))]
        orders = tuple(line for line in read.orders if not parse_query(line.text))
        read = read._replace(orders=orders)
        answer = await self._service.play(sealed, [line.text for line in orders], request) if orders else None
        shown: list[QueryResult] = [await self._service.query(sealed, *ask) for ask in _merge_queries(asks)]
        latest = shown[-1] if shown else answer
        assert latest is not None
        verdict = type(answer).__name__.lower() if answer else "shown"
        now = replace(sealed, decision_id=latest.decision_id)
        return _Ruling(verdict, pages.receipt(answer, read, shown), now, lines=lines)

    async def _verbs(self, sealed: ReplyToken) -> frozenset[str]:
        return SERVICE_VERBS | await self._service.verbs(sealed)

    # --- answers ---

    @staticmethod
    def _idempotency_key(letter: ParsedMail, sealed: ReplyToken, lines: Sequence[str]) -> str:
        """The ledger's key: the same mail by two ways has the same, and nobody can pre-empt another
        seat's.
        """
        parts = (sealed.actor, letter.message_id, *lines)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()

    async def _reply(self, letter: ParsedMail, verdict: _Ruling, daily: int | None = None) -> MailOutcome:
        if verdict.reason == "forged":
            daily = 1
        elif verdict.reason == "wrong sender":
            daily = self._limits.notices_per_day
        page, sealed = verdict.page, verdict.token
        key = self._idempotency_key(letter, sealed, verdict.lines)
        reason = verdict.reason
        if await self._is_breaker_open() or (
            daily and await self._count(86_400, sealed.actor, reason) >= daily
        ):
            return MailOutcome(reason, verdict.folder, key)
        if await self._count(3_600, sealed.actor, "paused"):
            return MailOutcome(reason, verdict.folder, key)
        if await self._count(3_600, sealed.actor) >= self._limits.replies_per_hour:
            page, reason = pages.rate_limited(), "paused"
        # The note about a stranger's mail must not carry the stranger's Message-ID to the owner's thread.
        parent = letter.message_id if _is_from(letter, sealed) else None
        answer = self._compose(page, sealed, reason, parent, letter.parent_ids)
        return MailOutcome(verdict.reason, verdict.folder, key, (answer,))

    def _compose(
        self, page: MailPage, sealed: ReplyToken, reason: str, parent: str | None, thread: Sequence[str] = ()
    ) -> OutgoingMail:
        ours = [id for id in reversed(thread) if self._address.is_own_message_id(id)]
        parent = parent if parent and not parent.startswith("<sha256.") else None
        return compose(self._address, page, sealed, self._now(), reason, parent=parent, thread=ours)

    def _count(self, seconds: int, who: str | None = None, reason: str | None = None) -> Awaitable[int]:
        return self._service.count_replies(self._now() - timedelta(seconds=seconds), who, reason)

    async def _is_breaker_open(self) -> bool:
        """The breaker: too many answers of all kinds in a short time are a loop or an attack."""
        limit, minutes = self._limits.breaker_replies, self._limits.breaker_minutes
        if await self._count(60 * minutes) < limit:
            return False
        await self._alerts.send(
            "breaker", f"{limit} answers by mail in {minutes} minutes: none are sent for now."
        )
        return True

    async def handle_unparsable(self, raw: bytes, problem: MailProblem = MailProblem.BROKEN) -> MailOutcome:
        """A mail that the reader did not survive: aside, and one receipt to the owner of its reply
        address.
        """
        await self._alerts.send("unread", "A mail could not be read and was put into Quarantine.")
        for token in self._address.find_tokens(recipient_headers(raw))[:5]:
            sealed = await self._service.find_token(hash_token(token))
            if sealed and sealed.purpose != "bounce":
                stub = ParsedMail(f"<sha256.{hashlib.sha256(raw).hexdigest()}>")
                page = pages.unreadable_mail(problem)
                verdict = _Ruling("unreadable", page, sealed, Folder.QUARANTINE)
                return await self._reply(stub, verdict, daily=self._limits.notices_per_day)
        return MailOutcome("unreadable", Folder.QUARANTINE)


def _is_from(letter: ParsedMail, sealed: ReplyToken) -> bool:
    return letter.sender is not None and letter.sender in {
        address.casefold() for address in sealed.verified_addresses
    }


def _is_only_line(lines: Sequence[str], *words: str) -> bool:
    """Whether one of those words is all that is said."""
    return len(lines) == 1 and lines[0].casefold() in words
