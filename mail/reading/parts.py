"""The MIME parts of an email: its text and the games that are attached."""

import re
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum
from itertools import chain

from mail.reading.headers import decode_subject, decode_text, unfolded
from mail.reading.html_text import has_struck_text, visible_text

MAX_PARTS = 100
MAX_DEPTH = 20
MAX_TEXT = 64 * 1024
MAX_TEXTS = 10  # parts of text of a kind that are read
MAX_LINES = 400
MAX_FILES = 2
MAX_FILE_BYTES = 16 * 1024 * 1024
GAME_FILES = (".json", ".json.gz", ".18xx", ".18xx.gz", ".txt")
"""The ends of the names of files that may be games."""
_MAX_HTML = 256 * 1024


class MailProblem(StrEnum):
    """Why a mail has no readable text, or could not be handled. The values are parts of sentences."""

    LONG_HEADERS = "its header is far too long"
    TOO_MANY_PARTS = "it has far too many parts"
    BROKEN = "its structure is broken"
    TOO_BIG = "it is too big"
    EMPTY = "it has no text above the quoted email"
    IN_SUBJECT = "its moves stand in the subject, where none are read"
    NO_TEXT = "it has pictures or attachments but no text"
    TNEF = "its text is inside a winmail.dat attachment"
    ENCRYPTED = "it is encrypted, or sealed by its signature"
    FAILED = "the service has failed at it"


UNPARSABLE = (MailProblem.LONG_HEADERS, MailProblem.TOO_MANY_PARTS, MailProblem.BROKEN, MailProblem.FAILED)
"""With one of these nothing that a mail says is known for certain."""


@dataclass(frozen=True, slots=True)
class MailFile:
    """An attached file that may be a game: its name and its bytes."""

    name: str
    content: bytes


def flat_parts(message: Message) -> tuple[list[Message], bool]:
    """All parts in order, without those of attached mails, and whether they are within the limits."""
    found: list[Message] = []
    rest = [(message, 0)]
    while rest:
        part, depth = rest.pop()
        found.append(part)
        if len(found) > MAX_PARTS or depth > MAX_DEPTH:
            return found, False
        if part.get_content_maintype() == "multipart":
            rest += [(child, depth + 1) for child in reversed(children(part))]
    return found, True


def children(part: Message) -> list[Message]:
    """The parts of a part that has several; none of any other."""
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _is_game_file(part: Message) -> bool:
    return _name(part).endswith(GAME_FILES)


def game_files(parts: list[Message]) -> tuple[MailFile, ...]:
    """The attached games, by the ends of their names."""
    found = []
    for part in [part for part in parts if _is_game_file(part)][:MAX_FILES]:
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes) and len(payload) <= MAX_FILE_BYTES:
            found.append(MailFile(decode_subject(_name(part))[:100], payload))
    return tuple(found)


def is_attached(part: Message) -> bool:
    """Whether the part is an attachment, not a part of the text."""
    return unfolded(str(part.get("content-disposition", ""))).lower().startswith("attachment")


def is_text(part: Message) -> bool:
    """Whether the part is text that people read, not an attachment."""
    return part.get_content_maintype() == "text" and not is_attached(part) and not _is_game_file(part)


def readable_text(parts: list[Message]) -> tuple[str, MailProblem | None]:
    """The text: the text/plain, else the text/html, else the problem. `parts`: a whole mail, as `flat_parts`
    has it. There are several parts of a kind where a picture stands between paragraphs, and behind it may
    stand a condition.

    The HTML comes first where something is struck out in it.
    """
    kinds = {part.get_content_type() for part in parts}
    is_struck = any(has_struck_text(_decoded(part, _MAX_HTML)) for part in _texts(parts[0], "html"))
    for subtype in ("html",) if is_struck else ("plain", "html"):
        texts = [part_text(part, subtype) for part in _texts(parts[0], subtype)]
        if text := _cut("\n\n".join(filter(str.strip, texts))):
            is_encrypted = text.lstrip().startswith("-----BEGIN PGP MESSAGE-----")
            return ("", MailProblem.ENCRYPTED) if is_encrypted else (_without_armour(text), None)
    if kinds & {"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"}:
        return "", MailProblem.ENCRYPTED
    if "application/ms-tnef" in kinds or any(_name(part) == "winmail.dat" for part in parts):
        return "", MailProblem.TNEF
    if any(part.get_content_maintype() not in {"text", "multipart"} or is_attached(part) for part in parts):
        return "", MailProblem.NO_TEXT
    return "", MailProblem.EMPTY


def _texts(part: Message, subtype: str) -> list[Message]:
    """The parts of a kind that are text, in order; of alternatives only those of the first that has any."""
    if part.get_content_maintype() != "multipart":
        return [part] if is_text(part) and part.get_content_subtype() == subtype else []
    found = [texts for child in children(part) if (texts := _texts(child, subtype))]
    chosen = found[:1] if part.get_content_subtype() == "alternative" else found
    return list(chain.from_iterable(chosen))[:MAX_TEXTS]


_SIGNED_BEGIN = re.compile(r"(?m)^-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Za-z]{1,20}: .{0,200}\n){0,9}\n?")
_SIGNATURE_BEGIN = re.compile(r"(?m)^-----BEGIN PGP SIGNATURE-----$")
_SIGNATURE_END = re.compile(r"(?m)^-----END PGP SIGNATURE-----$")


def _without_armour(text: str) -> str:
    """A text that is signed in its lines (RFC 4880 §7), without what the signature has added."""
    if not (begin := _SIGNED_BEGIN.search(text)):
        return text
    end = _SIGNATURE_BEGIN.search(text, begin.end())
    signed = text[begin.end() : end.start() if end else None]
    last = _SIGNATURE_END.search(text, end.end()) if end else None
    rest = text[last.end() :] if last else ""
    return text[: begin.start()] + re.sub(r"(?m)^- ", "", signed) + rest


def _name(part: Message) -> str:
    return (part.get_filename() or "").lower()


_BASE64 = re.compile(r"\s*+(?:(?:[A-Za-z0-9+/]+={0,2})?[ \t]*\r*(?:\n|\Z))+")


def _decoded(part: Message, max_bytes: int) -> str:
    """The text of a part. A mail server may have put its own lines below the base64 of the sender's."""
    is_base64 = str(part.get("content-transfer-encoding", "")).strip().lower() == "base64"
    if is_base64 and (block := _BASE64.match(str(part.get_payload()))):
        part.set_payload(block.group())
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    return decode_text(data[:max_bytes], str(part.get_param("charset", "us-ascii")))


def part_text(part: Message, subtype: str) -> str:
    """The text of a part, within the limits, with plain line ends. subtype: plain or html."""
    text = _decoded(part, _MAX_HTML if subtype == "html" else MAX_TEXT * 4)
    if subtype == "html":
        text = visible_text(text[:_MAX_HTML])
    elif str(part.get_param("format", "")).lower() == "flowed":
        text = _unflowed(text[:MAX_TEXT], str(part.get_param("delsp", "")).lower() == "yes")
    return _cut(text)


def _cut(text: str) -> str:
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
