"""The headers of an email, read raw and one by one, so that a broken one does not affect the others;
and text in the character sets of emails."""

import codecs
import re
from collections.abc import Iterator
from email.header import decode_header
from email.headerregistry import HeaderRegistry
from email.message import Message
from typing import Any, Literal

from mail.reply_address import find_message_ids, normalize_address

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


MAX_HEADER_BYTES = 64 * 1024
_MAX_HEADER_VALUE = 4_000

DmarcVerdict = Literal["none", "pass", "fail"]

# First those set by our own server, then those of the sender.
RECIPIENT_HEADERS = (
    "delivered-to",
    "x-original-to",
    "envelope-to",
    "x-envelope-to",
    "to",
    "cc",
    "resent-to",
    "x-forwarded-to",
)


class MailHeaders:
    """Header values by lower-case name: unfolded, not parsed, each cut to a maximum length."""

    def __init__(self, message: Message) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in message.raw_items():
            self._values.setdefault(name.lower().strip(), []).append(unfolded(str(value)))

    def all(self, name: str) -> list[str]:
        """All values of a header, in their order."""
        return self._values.get(name, [])

    def first(self, name: str) -> str:
        """The first value of a header; empty if it is missing."""
        return next(iter(self.all(name)), "")

    def __contains__(self, name: str) -> bool:
        return name in self._values


def unfolded(value: str) -> str:
    """A header value in one line, cut to the maximum length."""
    raw = value[: _MAX_HEADER_VALUE * 4].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return re.sub(r"[\r\n]+[ \t]*", " ", raw)[:_MAX_HEADER_VALUE].strip()


def sender_address(head: MailHeaders) -> str | None:
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


def decode_subject(value: str) -> str:
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


def parent_ids(head: MailHeaders) -> tuple[str, ...]:
    """The Message-IDs that the mail answers, nearest first."""
    nearest = (
        find_message_ids(head.first("in-reply-to"))[:5]
        + find_message_ids(head.first("references"))[-5:][::-1]
    )
    return tuple(dict.fromkeys(nearest))


def dmarc_verdict(values: list[str], authserv_id: str) -> DmarcVerdict:
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


def recipient_headers(raw: bytes) -> Iterator[str]:
    """The recipient header values of a mail that cannot be parsed."""
    head = re.split(rb"\r?\n\r?\n", raw[:MAX_HEADER_BYTES], maxsplit=1)[0].decode("latin-1")
    for line in re.sub(r"\r?\n[ \t]+", " ", head).splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() in RECIPIENT_HEADERS:
            yield value.strip()[:_MAX_HEADER_VALUE]
