"""Names, ids and addresses are taken out of texts, of values of JSON or MessagePack, and of mails."""

from __future__ import annotations

import email
import re
from collections.abc import Iterable
from contextlib import suppress
from email import policy
from email.message import EmailMessage
from typing import Any

import msgspec

from mail.reading.headers import decode_text

SOMEBODY = "somebody"
WORDS_OF_RECORDS = frozenset({"type", "kind"})
"""Entries of a stored record that say what it is; no text of anybody."""
LINES = "lines"
"""The entry of a stored record with lines in notation: of a plan, of a result."""


class Replacing:
    """Takes a person out of texts.

    identifiers: Discord ids and addresses, in whatever text, but not within a longer one. names: whole words;
    a name of one or two letters only in the same case, because `a` is a word. word: what stands in the place
    of a name.
    """

    def __init__(self, identifiers: Iterable[str], names: Iterable[str], word: str = SOMEBODY) -> None:
        self.identifiers = tuple(sorted(filter(None, identifiers), key=len, reverse=True))
        self.names = tuple(sorted(set(filter(None, names)), key=len, reverse=True))
        self.word = word
        found = [rf"(?<![\w.+-])(?i:{re.escape(each)})(?![\w-]|\.\w)" for each in self.identifiers]
        found += [_whole_word(name) for name in self.names]
        self._pattern = re.compile("|".join(found)) if found else None
        plain = {form for each in (*self.identifiers, *self.names) for form in (each, _escaped(each))}
        named = "|".join(map(re.escape, self.names)) or "(?!)"
        behind, before = r"(?:(?<=\bfrom )|(?<=\bto )(?<!\bup to ))", r"(?:(?<=^)|(?<=^[!?]))"
        self._in_line = re.compile(rf"{behind}(?:{named})(?!\w)|{before}(?:{named})(?=:)")
        self._raw = re.compile(
            b"|".join(re.escape(each.encode()) for each in sorted(plain)) or rb"(?!)", re.IGNORECASE
        )

    def text(self, text: str) -> str:
        """A text without them."""
        return self._pattern.sub(self.word, text) if self._pattern else text

    def mentions(self, raw: bytes) -> bool:
        """Whether stored bytes may name the person."""
        return bool(self._raw.search(raw))

    def holds(self, text: str) -> bool:
        """Whether a text names the person."""
        return bool(self._pattern and self._pattern.search(text))

    def line(self, line: str) -> str:
        """A line in notation without them. A name stands there behind `from` and `to`, or before a colon;
        elsewhere it is an amount or a word of the notation."""
        return self._in_line.sub(self.word, line)

    def game_text(self, text: str) -> str:
        """A game text without them: a line in notation for each move; players, checkpoints and comments have
        names anywhere."""
        in_words = ("players ", "#", "=", "@")
        return "".join(
            self.text(line) if line.startswith(in_words) else self.line(line)
            for line in text.splitlines(keepends=True)
        )

    def value(self, value: Any) -> Any:
        """A value as JSON or MessagePack gives it, without them."""
        match value:
            case str():
                return self.text(value)
            case bytes():
                return self.raw(value)
            case list() | tuple():
                return [self.value(each) for each in value]
            case dict():
                return {key: self._entry(key, each) for key, each in value.items()}
            case int() if str(value) in self.identifiers:
                return 0
        return value

    def _entry(self, key: Any, value: Any) -> Any:
        return value if key in WORDS_OF_RECORDS else self._lines(value) if key == LINES else self.value(value)

    def _lines(self, value: Any) -> Any:
        """Lines in notation, also each with its seat."""
        if isinstance(value, list | tuple):
            return [self._lines(each) for each in value]
        return self.line(value) if isinstance(value, str) else value

    def raw(self, raw: bytes) -> bytes:
        """Stored bytes without them: MessagePack, JSON, a mail, or text."""
        if (mail := _as_mail(raw)) is not None:
            return self.mail(mail, raw)
        if not self.mentions(raw):
            return raw
        for codec in (msgspec.json, msgspec.msgpack):
            with suppress(msgspec.DecodeError, UnicodeDecodeError):
                value = codec.decode(raw)
                after = self.value(value)
                return raw if after == value else codec.encode(after)
        with suppress(UnicodeDecodeError):
            return self.text(raw.decode()).encode()
        return raw

    def mail(self, mail: EmailMessage, raw: bytes) -> bytes:
        """A mail without them in its headers and its texts; pictures stay."""
        is_changed = False
        for part in mail.walk():
            for name, content in part.items():
                if self.holds(content):
                    is_changed = True
                    part.replace_header(name, self.text(content))
            if part.get_content_maintype() == "text" and self.holds(text := str(part.get_content())):
                is_changed = True
                headers = [
                    (name, value) for name, value in part.items() if not name.lower().startswith("content-")
                ]
                part.set_content(self.text(text), subtype=part.get_content_subtype())
                for name, value in headers:
                    if name not in part:
                        part[name] = value
        return mail.as_bytes() if is_changed else raw


def mail_text(raw: bytes) -> str:
    """What a mail says: its headers and its texts, decoded; as it is where it is no mail that can be read."""
    if (mail := _as_mail(raw)) is None:
        return raw.decode("utf-8", "replace")
    said = [f"{name}: {content}" for part in mail.walk() for name, content in part.items()]
    for part in mail.walk():
        if part.get_content_maintype() == "text":
            payload, charset = part.get_payload(decode=True), part.get_content_charset("utf-8")
            said += ["", decode_text(payload, charset) if isinstance(payload, bytes) else ""]
    return "\n".join(said)


def _as_mail(raw: bytes) -> EmailMessage | None:
    """A mail, if these bytes are one: they begin with a header."""
    if not re.match(rb"[A-Za-z][A-Za-z-]{1,60}:[ \t]", raw) or b"\n" not in raw:
        return None
    with suppress(Exception):  # what others have written may be wrong in any way
        found = email.message_from_bytes(raw, policy=policy.default)
        for part in found.walk():
            part.items()  # headers are parsed when they are asked for
        return found if isinstance(found, EmailMessage) else None
    return None


def _whole_word(name: str) -> str:
    pattern = rf"(?<![\w$])(?<!\d,){re.escape(name)}(?!\w)"
    return f"(?i:{pattern})" if len(name) > 2 else pattern


def _escaped(text: str) -> str:
    """As JSON writes it when it keeps to ASCII."""
    return "".join(c if c.isascii() else f"\\u{ord(c):04x}" for c in text)
