"""Parses the bytes of a mail into a `ParsedMail`: a pure function that never raises, with bounded cost.

Nothing is decided here. Any bytes give a `ParsedMail`; its `problem` says what could not be read. Three
rules keep hostile mail cheap:

- what is expensive in the standard library is measured first: the size of the header, the number of boundary
  lines, the depth of parts, the length of each header value. Only From is parsed by the full address grammar;
- headers are read raw, one by one, so that a broken one does not affect the others;
- the text is cut to `MAX_TEXT` characters and `MAX_LINES` lines: orders are written at the top.

Parsing still needs a time limit; `mail.parser_process` sets it.
"""

import codecs
import email.parser
import email.policy
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.header import decode_header
from email.headerregistry import HeaderRegistry
from email.message import Message
from enum import StrEnum
from typing import Any, Literal

from mail.bounces import DELAYED, FAILURE_WORDS, BounceKind, classify, kind_of_report, reason_line
from mail.html_text import has_struck_text, visible_text
from mail.reply_address import find_message_ids, normalize_address

MAX_HEADER_BYTES = 64 * 1024
MAX_PARTS = 100
MAX_DEPTH = 20
MAX_TEXT = 64 * 1024
MAX_LINES = 400
MAX_FILES = 2
MAX_FILE_BYTES = 16 * 1024 * 1024
GAME_FILES = (".json", ".json.gz", ".18xx", ".18xx.gz", ".txt")
"""The ends of the names of files that may be games."""
_MAX_HTML = 256 * 1024
_MAX_HEADER_VALUE = 4_000
_MAX_BOUNDARY_LINES = 1_000

DmarcVerdict = Literal["none", "pass", "fail"]


class MailProblem(StrEnum):
    """Why a mail has no readable text. The values are parts of sentences."""

    LONG_HEADERS = "its header is far too long"
    TOO_MANY_PARTS = "it has far too many parts"
    BROKEN = "its structure is broken"
    TOO_BIG = "it is too big"
    EMPTY = "it has no text above the quoted email"
    NO_TEXT = "it has pictures or attachments but no text"
    TNEF = "its text is inside a winmail.dat attachment"
    ENCRYPTED = "it is encrypted"


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """A delivery report in any form.

    status: as in RFC 3463, or empty. message_ids: those of ours that it quotes. kind: see `mail.bounces`.
    reason: the line that says why.
    """

    status: str
    message_ids: tuple[str, ...]
    kind: BounceKind = "soft"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MailFile:
    """An attached file that may be a game: its name and its bytes."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ParsedMail:
    """One mail.

    message_id: its Message-ID, or a digest of its content. sender: the address in From, in lower case; None
    unless there is exactly one valid address. recipients: header values, in the order in which reply tokens
    are looked for. parent_ids: the Message-IDs that it answers, nearest first. loop_headers: its X-Loop
    headers. dmarc: the verdict of our own mail server. automatic_sign: the sign that no human wrote it, or
    None. sender_name: the display name in From. text: with plain line ends; without quotes where it comes
    from HTML. files: attached games, the first two.
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


def parse_mail(raw: bytes, authserv_id: str = "", partial: bool = False) -> ParsedMail:
    """Parse a mail. Never raises.

    authserv_id: the name of the server whose Authentication-Results are trusted; empty for none. partial:
    only the beginning of the mail was fetched, as it is too big.
    """
    try:
        return _parse(raw, authserv_id, partial)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError):
        # The standard library's parser may raise; then the mail is broken.
        return ParsedMail(_digest(raw), problem=MailProblem.BROKEN)


def _parse(raw: bytes, authserv_id: str, partial: bool) -> ParsedMail:
    end = re.search(rb"\r?\n\r?\n", raw[: MAX_HEADER_BYTES + 4])
    if end is None and len(raw) > MAX_HEADER_BYTES:
        return ParsedMail(_digest(raw), problem=MailProblem.LONG_HEADERS)
    head = _Headers(email.parser.BytesHeaderParser().parsebytes(raw[: end.end()] if end else raw))
    message, problem = None, MailProblem.TOO_BIG if partial else None
    if len(re.findall(rb"(?m)^--", raw)) > _MAX_BOUNDARY_LINES:
        problem = problem or MailProblem.TOO_MANY_PARTS
    else:
        try:
            message = email.message_from_bytes(raw, policy=email.policy.compat32)
        except (RecursionError, ValueError, LookupError, TypeError, AttributeError, AssertionError):
            problem = problem or MailProblem.BROKEN
    parts: list[Message] = []
    if message is not None:
        parts, fits = _parts(message)
        problem = problem or (None if fits else MailProblem.TOO_MANY_PARTS)
    report = _delivery_report(head, parts, raw)
    text = ""
    if problem is None:
        text, problem = _text(parts)
    ids = find_message_ids(head.first("message-id"))
    return ParsedMail(
        files=() if problem in (MailProblem.TOO_BIG, MailProblem.TOO_MANY_PARTS) else _files(parts),
        message_id=ids[0] if ids else _digest(f"{head.first('date')}\n{head.first('from')}\n{text}".encode()),
        sender=_sender(head),
        subject=_decode_subject(head.first("subject")),
        recipients=tuple(value for name in _RECIPIENT_HEADERS for value in head.all(name)[:20]),
        parent_ids=_parents(head),
        loop_headers=tuple(head.all("x-loop")[:5]),
        dmarc=_dmarc(head.all("authentication-results"), authserv_id),
        automatic_sign=_automatic_sign(head, report),
        report=report,
        text=text,
        problem=problem,
        sender_name=_decode_subject(head.first("from").rpartition("<")[0].strip(' "')[:200]),
    )


def _digest(data: bytes) -> str:
    return f"<sha256.{hashlib.sha256(data).hexdigest()}>"


# --- headers ---

# First those set by our own server, then those of the sender.
_RECIPIENT_HEADERS = (
    "delivered-to",
    "x-original-to",
    "envelope-to",
    "x-envelope-to",
    "to",
    "cc",
    "resent-to",
    "x-forwarded-to",
)


class _Headers:
    """Header values by lower-case name: unfolded, not parsed, each cut to a maximum length."""

    def __init__(self, message: Message) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in message.raw_items():
            self._values.setdefault(name.lower().strip(), []).append(_unfolded(str(value)))

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def first(self, name: str) -> str:
        return next(iter(self.all(name)), "")

    def __contains__(self, name: str) -> bool:
        return name in self._values


def _unfolded(value: str) -> str:
    raw = value[: _MAX_HEADER_VALUE * 4].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return re.sub(r"[\r\n]+[ \t]*", " ", raw)[:_MAX_HEADER_VALUE].strip()


def _sender(head: _Headers) -> str | None:
    """The address in From, if there is exactly one header with exactly one valid address."""
    if len(head.all("from")) != 1:
        return None
    value = head.first("from")
    # Nested comments cause deep recursion in the address grammar; no ordinary From has them.
    if len(value) > 1_000 or value.count("(") > 4 or any(ord(char) < 32 or char == "\x7f" for char in value):
        return None
    try:
        header: Any = HeaderRegistry()("From", value)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError):
        return None
    if header.defects or len(header.addresses) != 1 or any(g.display_name is not None for g in header.groups):
        return None
    try:
        return normalize_address(header.addresses[0].addr_spec)
    except ValueError:
        return None


def _decode_subject(value: str) -> str:
    """A subject as text; encoded words of an unknown charset stay as they are."""
    try:
        pieces = decode_header(value[:1_000])
        text = "".join(
            piece if isinstance(piece, str) else decode_text(piece, charset or "us-ascii")
            for piece, charset in pieces
        )
    except (ValueError, LookupError):
        text = value
    return " ".join(text.split())[:300]


def _parents(head: _Headers) -> tuple[str, ...]:
    nearest = (
        find_message_ids(head.first("in-reply-to"))[:5]
        + find_message_ids(head.first("references"))[-5:][::-1]
    )
    return tuple(dict.fromkeys(nearest))


def _dmarc(values: list[str], authserv_id: str) -> DmarcVerdict:
    """The DMARC verdict in the topmost Authentication-Results (RFC 8601) of the trusted server.

    `none` where it is missing or unclear, or does not begin with the server's name.
    """
    for value in values if authserv_id else []:
        pieces = _without_comments(value).lower().split(";")
        if pieces[0].split()[:1] != [authserv_id.lower()]:
            continue
        found = [piece.split()[0] for piece in pieces[1:] if re.match(r"\s*dmarc\s*=", piece)]
        results = {re.sub(r"\s", "", piece).partition("=")[2] for piece in found}
        return "fail" if "fail" in results else "pass" if results == {"pass"} else "none"
    return "none"


def _without_comments(value: str) -> str:
    """The value without comments, which may be nested."""
    out, depth, escaped = [], 0, False
    for char in value:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "(":
            depth += 1
        elif char == ")" and depth:
            depth -= 1
        elif not depth:
            out.append(char)
    return "".join(out)


# --- mail that no human wrote ---

_DAEMON_SENDERS = re.compile(
    r"(?:mailer-?daemon|postmaster|mail-?delivery(?:-?(?:system|subsystem))?|no-?reply|do-?not-?reply|bounces?"
    r"|auto-?reply|automailer|mmdf|root)(?:[+.=_-].*)?@"
)
_AUTOMATIC_SUBJECTS = re.compile(
    r"automatic reply|auto(?:matic)?[ -]?(?:reply|response)|out of (?:the )?office"
    r"|away from (?:my|the) (?:office|mail)|on (?:vacation|holiday)"
    r"|undeliver(?:able|ed)|delivery (?:status notification|failure|has failed|delayed)"
    r"|mail delivery (?:failed|failure|system)|returned mail|failure notice|delivery notification"
    r"|read(?: receipt)?:|automatische antwort|abwesenheits|abwesend|unzustellbar|nicht zugestellt|gelesen:"
    r"|r[eé]ponse automatique|absen(?:ce|t) du bureau|respuesta automática|fuera de (?:la )?oficina"
    r"|risposta automatica|fuori (?:sede|ufficio)|resposta automática|fora do escritório|automatisch antwoord"
    r"|afwezig|autosvar|frånvaro|fravær|poissaolo|nieobecno|nepřítomn|távollét"
    r"|automatiskt svar|automaattinen vastaus|odpowiedź automatyczna|automatická odpověď"
    r"|автоматический ответ|автоответ|自動返信|自动回复|自動回覆|자동 회신"
)


def _automatic_sign(head: _Headers, report: DeliveryReport | None) -> str | None:
    """The sign that a machine wrote the mail. X-Auto-Response-Suppress is none: it is also in human mail."""
    if report is not None:
        return "delivery report"
    submitted = head.first("auto-submitted").lower()
    if submitted and not re.match(r"no\b", submitted):
        return "Auto-Submitted"
    for name in ("x-autoreply", "x-autorespond", "x-autoresponse", "x-autogenerated", "x-mail-autoreply"):
        if name in head and head.first(name).lower() != "no":
            return name
    if re.match(r"(?:bulk|junk|list|auto_?reply)\b", head.first("precedence").lower()):
        return "Precedence"
    if "x-failed-recipients" in head:
        return "X-Failed-Recipients"
    if re.fullmatch(r"<\s*>", head.first("return-path")):
        return "empty Return-Path"
    if _DAEMON_SENDERS.match(_bare_address(head.first("from"))):
        return "From"
    if _AUTOMATIC_SUBJECTS.match(_decode_subject(head.first("subject")).lower()):
        return "Subject"
    return None


def _bare_address(value: str) -> str:
    """The address in a From, roughly: used only to recognise automatic mail."""
    return value.rpartition("<")[2].strip(" >").lower()


_OWN_IDS = re.compile(rb"<t\.[a-z2-7]{20}\.[a-z0-9-]{1,60}@[A-Za-z0-9.-]{1,253}>")


def _delivery_report(head: _Headers, parts: list[Message], raw: bytes) -> DeliveryReport | None:
    """A delivery report: by its type, its status part or its headers (RFC 3464), or by its sender and its
    words.
    """
    kinds = [part.get_content_type() for part in parts]
    is_feedback = "message/feedback-report" in kinds
    is_standard = is_feedback or "message/delivery-status" in kinds or "multipart/report" in kinds[:1]
    words = _report_words(head, parts)
    body = raw[:1_000_000].partition(b"\r\n\r\n" if b"\r\n\r\n" in raw[:MAX_HEADER_BYTES] else b"\n\n")[2]
    ids = dict.fromkeys(id.decode() for id in _OWN_IDS.findall(body)[:50])
    if not (is_standard or "x-failed-recipients" in head):
        is_daemon = _DAEMON_SENDERS.match(_bare_address(head.first("from"))) is not None
        if not (is_daemon and (FAILURE_WORDS.search(words) or DELAYED.search(words) or ids)):
            return None
    status = re.search(rb"(?im)^status:[ \t]{0,9}([245]\.[0-9]{1,3}\.[0-9]{1,3})", raw[:1_000_000])
    text = status[1].decode() if status else ""
    kind = kind_of_report(_actions(parts), kinds) or classify(words, text)
    return DeliveryReport(text, tuple(ids), kind, reason_line(words))


def _actions(parts: list[Message]) -> list[str]:
    """What a report says was done, for each recipient."""
    return [
        str(action).strip().casefold()
        for part in parts
        if part.get_content_type() == "message/delivery-status"
        for block in _children(part)
        for action in block.get_all("action", [])[:5]
    ]


def _report_words(head: _Headers, parts: list[Message]) -> str:
    """What a report says in words: its diagnostic codes first, then its text, without the email that it
    returns.
    """
    found = [_decode_subject(head.first("subject"))]
    for part in parts:
        if part.get_content_type() == "message/delivery-status":
            found += [
                str(line) for block in _children(part) for line in block.get_all("diagnostic-code", [])[:5]
            ]
        elif part.get_content_maintype() == "text" and not _is_attached(part) and len(found) < 12:
            text = _content(part, part.get_content_subtype())[:6_000]
            found.append(re.split(r"(?im)^-{2,}.{0,60}(?:original|returned|copy|below).{0,60}$", text)[0])
    return "\n".join(found)[:12_000]


# --- text ---


def _parts(message: Message) -> tuple[list[Message], bool]:
    """All parts in order, without those of attached mails, and whether they are within the limits."""
    found: list[Message] = []
    rest = [(message, 0)]
    while rest:
        part, depth = rest.pop()
        found.append(part)
        if len(found) > MAX_PARTS or depth > MAX_DEPTH:
            return found, False
        if part.get_content_maintype() == "multipart":
            rest += [(child, depth + 1) for child in reversed(_children(part))]
    return found, True


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _is_game_file(part: Message) -> bool:
    return _name(part).endswith(GAME_FILES)


def _files(parts: list[Message]) -> tuple[MailFile, ...]:
    """The attached games, by the ends of their names."""
    found = []
    for part in [part for part in parts if _is_game_file(part)][:MAX_FILES]:
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes) and len(payload) <= MAX_FILE_BYTES:
            found.append(MailFile(_decode_subject(_name(part))[:100], payload))
    return tuple(found)


def _is_attached(part: Message) -> bool:
    return _unfolded(str(part.get("content-disposition", ""))).lower().startswith("attachment")


def _text(parts: list[Message]) -> tuple[str, MailProblem | None]:
    """The text: the first text/plain that is not empty, else the first text/html, else the problem.

    The HTML comes first where something is struck out in it.
    """
    kinds = {part.get_content_type() for part in parts}
    inline = [
        part
        for part in parts
        if part.get_content_maintype() == "text" and not _is_attached(part) and not _is_game_file(part)
    ]
    is_struck = any(has_struck_text(_decoded(part, _MAX_HTML)) for part in inline if _is_html(part))
    for subtype in ("html",) if is_struck else ("plain", "html"):
        for part in inline:
            if part.get_content_subtype() == subtype and (text := _content(part, subtype)).strip():
                is_encrypted = text.lstrip().startswith("-----BEGIN PGP MESSAGE-----")
                return ("", MailProblem.ENCRYPTED) if is_encrypted else (text, None)
    if kinds & {"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"}:
        return "", MailProblem.ENCRYPTED
    if "application/ms-tnef" in kinds or any(_name(part) == "winmail.dat" for part in parts):
        return "", MailProblem.TNEF
    if any(part.get_content_maintype() not in {"text", "multipart"} or _is_attached(part) for part in parts):
        return "", MailProblem.NO_TEXT
    return "", MailProblem.EMPTY


def _name(part: Message) -> str:
    return (part.get_filename() or "").lower()


def _is_html(part: Message) -> bool:
    return part.get_content_subtype() == "html"


def _decoded(part: Message, max_bytes: int) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    return decode_text(data[:max_bytes], str(part.get_param("charset", "us-ascii")))


def _content(part: Message, subtype: str) -> str:
    text = _decoded(part, _MAX_HTML if subtype == "html" else MAX_TEXT * 4)
    if subtype == "html":
        text = visible_text(text[:_MAX_HTML])
    elif str(part.get_param("format", "")).lower() == "flowed":
        text = _unflowed(text[:MAX_TEXT], str(part.get_param("delsp", "")).lower() == "yes")
    return "\n".join(text[:MAX_TEXT].splitlines()[:MAX_LINES])


def _unflowed(text: str, delsp: bool) -> str:
    """Text in format=flowed (RFC 3676) with one line per paragraph; the signature line `-- ` is kept."""
    out: list[str] = []
    flowing = False
    for line in text.splitlines():
        body = line.removeprefix(" ")
        soft = body.endswith(" ") and body != "-- " and not body.startswith(">") and body.strip() != ""
        if flowing and not body.startswith(">") and body != "-- ":
            out[-1] += body
        else:
            out.append(body)
        if soft and delsp:
            out[-1] = out[-1][:-1]
        flowing = soft
    return "\n".join(out)


# Mail programs name a charset and send a superset of it; some use names of their own.
_CHARSET_SUPERSETS = {
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "windows-874": "cp874",
}
_UNSAFE_CHARSETS = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"}
)


def decode_text(data: bytes, charset: str) -> str:
    """Decode by the declared charset, else UTF-8, else Windows-1252 with U+FFFD for invalid bytes."""
    name = charset.strip(" '\"").lower()
    for candidate in (_CHARSET_SUPERSETS.get(name, name), "utf-8"):
        try:
            if codecs.lookup(candidate).name.replace("_", "-") not in _UNSAFE_CHARSETS:
                return data.decode(candidate)
        except (LookupError, ValueError):
            continue
    return data.decode("cp1252", "replace")


def recipient_headers(raw: bytes) -> Iterator[str]:
    """The recipient header values of a mail that cannot be parsed."""
    head = re.split(rb"\r?\n\r?\n", raw[:MAX_HEADER_BYTES], maxsplit=1)[0].decode("latin-1")
    for line in re.sub(r"\r?\n[ \t]+", " ", head).splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() in _RECIPIENT_HEADERS:
            yield value.strip()[:_MAX_HEADER_VALUE]
