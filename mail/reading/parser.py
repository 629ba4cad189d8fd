"""Parses the bytes of a mail into a `ParsedMail`: a pure function that never raises, with bounded cost.

Nothing is decided here. Any bytes give a `ParsedMail`; its `problem` says what could not be read. Three
rules keep hostile mail cheap:

- parts that are expensive for the standard library are measured first: the size of the header, the number of
  boundary lines, the depth of parts, the length of each header value. Only From is parsed by the full address
  grammar;
- headers are read raw, one by one, so that a broken one does not affect the others;
- the text is cut to `MAX_TEXT` characters and `MAX_LINES` lines: moves are written at the top.

Parsing still needs a time limit; `mail.reading.parser_process` sets it.
"""

import email.parser
import email.policy
import hashlib
import re
from dataclasses import dataclass
from email.message import Message

from mail.reading.automatic_mail import DeliveryReport, automatic_sign, delivery_report
from mail.reading.headers import (
    MAX_HEADER_BYTES,
    RECIPIENT_HEADERS,
    DmarcVerdict,
    MailHeaders,
    decode_subject,
    dmarc_verdict,
    parent_ids,
    recipient_headers,
    sender_address,
)
from mail.reading.parts import MailFile, MailProblem, flat_parts, game_files, is_text, readable_text
from mail.reply_address import find_message_ids

_MAX_BOUNDARY_LINES = 1_000


@dataclass(frozen=True, slots=True)
class ParsedMail:
    """One mail.

    message_id: its Message-ID, or a digest of its content. sender: the address in From, in lower case; None
    unless there is exactly one valid address. recipients: header values, in the order in which reply tokens
    are looked for. parent_ids: the Message-IDs that it answers, nearest first. loop_headers: its X-Loop
    headers. dmarc: the verdict of our own mail server. automatic_sign: the sign that no human wrote it, or
    None. sender_name: the display name in From. text: with plain line ends; without quotes where it comes
    from HTML. files: attached games, the first two. is_repeated: there was an attempt at it before, which a
    fault or a crash may have ended anywhere.
    """

    message_id: str
    sender: str | None = None
    subject: str = ""
    recipients: tuple[str, ...] = ()
    parent_ids: tuple[str, ...] = ()
    loop_headers: tuple[str, ...] = ()
    dmarc: DmarcVerdict = "none"
    automatic_sign: str | None = None
    report: DeliveryReport | None = None
    text: str = ""
    problem: MailProblem | None = None
    sender_name: str = ""
    files: tuple[MailFile, ...] = ()
    is_repeated: bool = False


def parse_mail(raw: bytes, authserv_id: str = "", partial: bool = False) -> ParsedMail:
    """Parse a mail. Never raises.

    authserv_id: the name of the server whose Authentication-Results are trusted; empty for none. partial:
    only the beginning of the mail was fetched, as it is too big; its text is read if it ends there.
    """
    try:
        return _parse(raw, authserv_id, partial)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError):
        # The standard library's parser may raise; then the mail is broken.
        return unparsed(raw, MailProblem.BROKEN)


def unparsed(raw: bytes, problem: MailProblem) -> ParsedMail:
    """A mail of which only its bytes are known, and whom it is to."""
    return ParsedMail(_digest(raw), recipients=tuple(recipient_headers(raw)), problem=problem)


def _parse(raw: bytes, authserv_id: str, partial: bool) -> ParsedMail:
    end = re.search(rb"\r?\n\r?\n", raw[: MAX_HEADER_BYTES + 4])
    if end is None and len(raw) > MAX_HEADER_BYTES:
        return unparsed(raw, MailProblem.LONG_HEADERS)
    head = MailHeaders(email.parser.BytesHeaderParser().parsebytes(raw[: end.end()] if end else raw))
    message, problem = None, None
    if len(re.findall(rb"(?m)^--", raw)) > _MAX_BOUNDARY_LINES:
        problem = MailProblem.TOO_MANY_PARTS
    else:
        try:
            message = email.message_from_bytes(raw, policy=email.policy.compat32)
        except (RecursionError, ValueError, LookupError, TypeError, AttributeError, AssertionError):
            problem = MailProblem.BROKEN
    parts: list[Message] = []
    if message is not None:
        parts, fits = flat_parts(message)
        problem = None if fits else MailProblem.TOO_MANY_PARTS
    report = delivery_report(head, parts, raw)
    text = ""
    if partial and (problem or is_text(parts[-1])):
        problem = MailProblem.TOO_BIG
    elif problem is None:
        text, problem = readable_text(parts)
    ids = find_message_ids(head.first("message-id"))
    return ParsedMail(
        files=() if partial or problem is MailProblem.TOO_MANY_PARTS else game_files(parts),
        message_id=ids[0] if ids else _digest(f"{head.first('date')}\n{head.first('from')}\n{text}".encode()),
        sender=sender_address(head),
        subject=decode_subject(head.first("subject")),
        recipients=tuple(value for name in RECIPIENT_HEADERS for value in head.all(name)[:20]),
        parent_ids=parent_ids(head),
        loop_headers=tuple(head.all("x-loop")[:5]),
        dmarc=dmarc_verdict(head.all("authentication-results"), authserv_id),
        automatic_sign=automatic_sign(head, report),
        report=report,
        text=text,
        problem=problem,
        sender_name=decode_subject(head.first("from").rpartition("<")[0].strip(' "')[:200]),
    )


def _digest(data: bytes) -> str:
    return f"<sha256.{hashlib.sha256(data).hexdigest()}>"
