"""The corpus of replies in `replies/`: emails of our own making, each with the orders that its writer means.

A file is a class of emails. `at` names a position of 1830 (`POSITIONS`). An email has its `text`, and
either `orders` (what is played, in the end; empty: nothing may be) or `offered` (nothing is played, and
`yes` would play these). `sender` is the name in its From. A `series` is emails that differ in one place,
`{each}`. In texts `{quoted}` stands for our email behind `> `, and `{email}` for the same unmarked.
`any_case`: capitals and `done` for `pass` do not count. An email with a `type` (its Content-Type), a
`charset` (in which it is written) or a `header` is parsed as a whole mail.
"""

from __future__ import annotations

import base64
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import engine
from bot.email.replies.reply_reader import ReplyReader
from bot.service import Service
from engine.game_text import replay
from mail.reading.parser import ParsedMail, parse_mail
from mail.reading.quotes import DELIMITER, FOOTER
from mail.reading.reply_text import ParsedReply

FOLDER = Path(__file__).parent / "replies"
HEAD = "title 1830\nplayers Ann, Bob, Cid\n---\n"
POSITIONS = {
    "opening": "",
    "operating": """
@ owns Ann PRR 6
@ par PRR 100
@ cash PRR 500
@ round operating PRR
""",
    "offer": """
@ private CS Bob
@ cash Ann 500
@ cash Bob 300
@ round stock Bob
Bob: sell private CS to Ann for 40
""",
}


class ReplyCase(NamedTuple):
    """An email of the corpus. offered: None where nothing is said about it. raw: if it is parsed whole."""

    name: str
    at: str
    text: str
    orders: tuple[str, ...]
    offered: tuple[str, ...] | None
    any_case: bool
    sender: str = ""
    raw: bytes = b""


class Reading(NamedTuple):
    """What an email did: the lines that were played, and those that are offered for `yes`."""

    played: tuple[str, ...]
    offered: tuple[str, ...]


@cache
def position(name: str) -> engine.State:
    report = replay(HEAD + POSITIONS[name])
    assert report.state is not None, report.failure
    return report.state


@cache
def email_text(at: str) -> str:
    """Our email at a position, roughly: with lines to copy, and a chat line that looks like an order."""
    lines = engine.legal_lines(position(at), "p0")[:12]
    body = [
        "It is your turn, Ann.",
        "",
        "You to act: buy, bid on another private, or pass.",
        "",
        "For example",
        "",
    ]
    return "\n".join(
        [DELIMITER, "", *body, *lines, "", "Chat", "| Bob: pass", "", f"{FOOTER}; `help` explains.", ""]
    )


def cases() -> Iterator[tuple[str, ReplyCase]]:
    """Every email of the corpus, with the name of its class."""
    for path in sorted(FOLDER.glob("*.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        number = 0
        for entry in [*content.get("emails", ()), *content.get("series", ())]:
            for each in entry.get("each", [""]):
                number += 1
                yield path.stem, _case(f"{path.stem}-{number}", content["at"], entry, each)


def _case(name: str, at: str, entry: dict[str, Any], each: str) -> ReplyCase:
    email = email_text(at)
    quoted = "\n".join(f"> {line}".rstrip() for line in email.splitlines())
    text = entry["text"].replace("{each}", each).replace("{quoted}", quoted).replace("{email}", email)
    offered = tuple(entry["offered"]) if "offered" in entry else None
    raw = b""
    if not {"type", "charset", "header"}.isdisjoint(entry):
        raw = _whole_mail(text, {key: str(value).replace("{each}", each) for key, value in entry.items()})
    return ReplyCase(
        name, at, text, tuple(entry.get("orders", ())), offered, entry.get("any_case", False),
        entry.get("sender", ""), raw,
    )  # fmt: skip


def _whole_mail(text: str, entry: dict[str, str]) -> bytes:
    """An email as bytes; the charset is that of Python, which need not be the declared one."""
    head = [
        "From: Ann <ann@player.test>",
        "Message-ID: <m@player.test>",
        "MIME-Version: 1.0",
        f"Content-Type: {entry.get('type', 'text/plain; charset=utf-8')}",
        "Content-Transfer-Encoding: base64",
        *filter(None, [entry.get("header", "")]),
    ]
    body = text.replace("\n", "\r\n").encode(entry.get("charset", "utf-8"))
    return "\r\n".join([*head, "", ""]).encode() + base64.encodebytes(body)


COMMANDS = Service(Mock()).commands
_READINGS: dict[ReplyCase, Reading] = {}


@cache
def reader(at: str) -> ReplyReader:
    """What reads replies at a position with Ann to act."""
    return ReplyReader(COMMANDS, position(at), 0, engine.choices(position(at), "p0"))


def read_text(text: str) -> ParsedReply:
    """The text of a reply as it is read in the opening."""
    return reader("opening").read(ParsedMail("<m@player.test>", text=text)).parsed


def read(case: ReplyCase) -> Reading:
    """What an email does: its orders are played together or not at all."""
    if case not in _READINGS:
        _READINGS[case] = _read(case)
    return _READINGS[case]


def _read(case: ReplyCase) -> Reading:
    mail = ParsedMail("<m@player.test>", "ann@player.test", text=case.text, sender_name=case.sender)
    if case.raw:
        mail = parse_mail(case.raw)
        if mail.automatic_sign or mail.problem:
            return Reading((), ())
    reply = reader(case.at).read(mail, "ann@player.test")
    offered = tuple(each.line for each in reply.to_confirm)
    is_played = not reply.parsed.fault and reply.reader.try_lines(reply.lines)
    return Reading(reply.lines if is_played else (), offered)
