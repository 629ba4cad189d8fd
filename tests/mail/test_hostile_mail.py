"""Mails made to hurt: they are read in bounded time and memory, or put aside, and the service goes on
meanwhile.

Nothing here asserts a short time; the bound of the suite is far above what any of these takes, and far below
what a quadratic reading of them would.
"""

import asyncio
import base64
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from unittest.mock import Mock

import pytest

import engine
from mail.reading.html_text import visible_text
from mail.reading.parser import parse_mail
from mail.reading.parser_process import ParserFailed, ParserNotStarted, ParserProcess
from mail.reading.parts import MailProblem
from mail.reading.quotes import ReplyLine
from tests.mail.reply_corpus import read_text

BIG = 60_000

C17: dict[str, str] = {
    "On repeated": "pass\n\n" + "On " * (BIG // 3),
    "On lines": "On 1\n" * (BIG // 5),
    "wrote without end": "On " + "wrote " * (BIG // 6),
    "From lines": "From: a\n" * (BIG // 8),
    "From and Sent": "From: a\nSent: b\n\n" * (BIG // 17),
    "quotes": ">" * BIG,
    "bullets": "- " * (BIG // 2),
    "spaces": "buy" + " " * BIG + "x",
    "one word": "b" * BIG,
    "hyphens": "buy-" * (BIG // 4),
    "short lines": "a\n" * (BIG // 2),
    "wrapped without end": ("buy " + "x" * 70 + ",\n") * (BIG // 76),
    "ligatures": "\ufdfa" * (BIG // 3),
    "combining": "a" + "\u0301" * (BIG // 2),
    "underscores": "_" * BIG,
    "prose": "buy x\n\n" + "buuy " * (BIG // 5),
    "colons": ":\n" * (BIG // 2),
}


@pytest.mark.parametrize("name", C17)
@pytest.mark.timeout(60)
def test_c17_texts(name: str) -> None:
    email = parse_mail(b"From: a@b.test\nContent-Type: text/plain; charset=utf-8\n\n" + C17[name].encode())
    found = read_text(email.text)
    assert len(found.lines) <= 400


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "html",
    [
        "<" * BIG,
        "<div>" * (BIG // 5),
        "<div" * (BIG // 4),
        "</div>" * (BIG // 6),
        "<!--" * (BIG // 4),
        "<![CDATA[" * (BIG // 9),
        "&" * BIG,
        "&#x" * (BIG // 3),
        "<a " + "b=c " * (BIG // 4),
        "<p style='" + "display" * (BIG // 7) + "'>",
        "<blockquote>" * (BIG // 12),
        "<?" * (BIG // 2),
        "<script>" * (BIG // 8),
    ],
    ids=lambda html: html[:12],
)
def test_c17_markup(html: str) -> None:
    assert "sell" not in visible_text(html + "<blockquote>sell 1 X</blockquote>") or "<" in html


def nested(depth: int) -> bytes:
    lines = []
    for level in range(depth):
        lines.append(f"Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n")
    return "".join(lines).encode() + b"Content-Type: text/plain\n\nbuy SV\n"


HEAD = b"From: ann@player.test\nTo: play@games.test\n"
C18: dict[str, tuple[Callable[[], bytes], MailProblem | None]] = {
    "100000 parts": (
        lambda: HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 100_000,
        MailProblem.TOO_MANY_PARTS,
    ),
    "101 parts": (
        lambda: HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 101,
        MailProblem.TOO_MANY_PARTS,
    ),
    "depth 3000": (lambda: HEAD + nested(3_000), MailProblem.TOO_MANY_PARTS),
    "depth 900": (lambda: HEAD + nested(900), MailProblem.TOO_MANY_PARTS),
    "depth 30": (lambda: HEAD + nested(30), MailProblem.TOO_MANY_PARTS),
    "depth 10": (lambda: HEAD + nested(10), None),
    "header of 100 KB": (lambda: HEAD + b"X: " + b"y" * 100_000 + b"\n\nbuy SV\n", MailProblem.LONG_HEADERS),
    "header without end": (lambda: b"X: y\n" * 40_000, MailProblem.LONG_HEADERS),
    "encoded words": (lambda: HEAD + b"Subject: " + b"=?utf-8?q?a?= " * 4_000 + b"\n\nbuy SV\n", None),
    "addresses": (lambda: HEAD + b"Cc: " + b"a@b.test, " * 5_000 + b"\n\nbuy SV\n", None),
    "comments": (lambda: b"From: " + b"(" * 30_000 + b"\nTo: a@b.test\n\nbuy SV\n", None),
    "long From": (lambda: b"From: " + b"a@b.test, " * 5_000 + b"\n\nbuy SV\n", None),
    "parameters": (lambda: HEAD + b"Content-Type: text/plain" + b"; a*0=b" * 8_000 + b"\n\nbuy SV\n", None),
    "references": (lambda: HEAD + b"References: " + b"<a@b> " * 10_000 + b"\n\nbuy SV\n", None),
    "results": (
        lambda: HEAD + b"Authentication-Results: x" + b";dmarc=pass(" * 5_000 + b"\n\nbuy SV\n",
        None,
    ),
    "boundary of 60 KB": (
        lambda: HEAD + b"Content-Type: multipart/mixed; boundary=" + b"b" * 60_000 + b"\n\nbuy SV\n",
        None,
    ),
    "many lines": (lambda: HEAD + b"\n" + b"\n" * 900_000, MailProblem.EMPTY),
    "one line": (lambda: HEAD + b"\n" + b"x" * 900_000, None),
    "base64 bomb": (
        lambda: HEAD + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(b"a\n" * 300_000),
        None,
    ),
    "quoted-printable": (
        lambda: HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n" + b"=\n" * 300_000,
        MailProblem.EMPTY,
    ),
    "uuencode": (
        lambda: HEAD + b"Content-Transfer-Encoding: uuencode\n\nbegin 666 x\n" + b"M" * 90_000,
        None,
    ),
}


@pytest.fixture(scope="module")
def parser() -> Iterator[ParserProcess]:
    """One for all bombs: its worker has to live through them."""
    found = ParserProcess()
    yield found
    found.close()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", C18)
async def test_c18_bombs(parser: ParserProcess, name: str) -> None:
    make, problem = C18[name]
    email = await parser.parse(make())
    assert len(email.text) <= 64 * 1024 and email.text.count("\n") <= 400
    if problem is not None:
        assert email.problem is problem
    assert (await parser.parse(b"From: ann@player.test\n\nbuy SV\n")).text == "buy SV"


def test_any_bytes_are_a_mail() -> None:
    random.seed(7)
    words = [
        b"From: ", b"\n", b"\n\n", b"--b", b"Content-Type: ", b"multipart/mixed; boundary=b", b"=?utf-8?b?",
        b"?=", b"text/html; charset=", b"\xff", b"\0", b"a@b.test", b"(", b'"', b"<",
        b"Content-Transfer-Encoding: base64", b"message/rfc822", b"; charset*=utf-8''%FF",
        b"message/delivery-status", b"text/plain; charset=\xff",
    ]  # fmt: skip
    for _ in range(1_500):
        raw = b"".join(random.choices(words, k=random.randrange(1, 30)))
        email = parse_mail(raw, "mx.games.test")
        read_text(email.text)


@pytest.mark.parametrize(
    "charset",
    [
        "idna",
        "punycode",
        "unicode_escape",
        "utf-7",
        "rot13",
        "zlib",
        "undefined",
        "\xff",
        "utf-16",
        "x" * 900,
    ],
)
def test_c33_charsets_that_are_none(charset: str) -> None:
    raw = f"From: a@b.test\nContent-Type: text/plain; charset={charset}\n\n\\x62uy SV\n".encode("latin-1")
    assert read_text(parse_mail(raw).text).lines[:1] != (ReplyLine(1, "buy SV"),)


def test_a_line_that_is_too_long_is_not_given_to_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """The game took 12 seconds to refuse it."""
    monkeypatch.setattr(engine, "is_readable", Mock(side_effect=AssertionError))
    fault = read_text("pass " + "x " * 32_000).fault
    assert fault and fault.reason == "This line is longer than 500 characters."


async def test_a_parser_that_dies_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ParserProcess(timeout=0.0) as parser:
        with pytest.raises(ParserFailed, match="longer than"):
            await parser.parse(C18["many lines"][0]())
    async with ParserProcess() as parser:
        await parser.parse(b"\n\nx")
        (worker,) = (await parser.start())._processes.values()
        worker.kill()
        worker.join()
        with pytest.raises(ParserFailed, match="died"):
            await parser.parse(b"\n\nx")
        assert (await parser.parse(b"From: ann@player.test\n\nbuy SV\n")).sender == "ann@player.test"


def test_a_parser_ends_after_its_processor_time() -> None:
    code = "from mail.reading.parser_process import limit_processor_time as limit\nlimit(0)\nwhile True: pass"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == -signal.SIGXCPU


async def test_the_loop_goes_on_while_a_bomb_is_read() -> None:
    """C.18: the reading happens elsewhere. Counted, not timed: the loop must have turned many times
    meanwhile.
    """
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)

    async with ParserProcess() as parser:
        counter = asyncio.create_task(count())
        await parser.parse(C18["many lines"][0]())
        await parser.parse(C18["depth 900"][0]())
        counter.cancel()
    assert turns > 20


async def test_a_parser_that_cannot_be_started_is_another_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ParserProcess() as parser:
        with monkeypatch.context() as patch:
            patch.setattr("mail.reading.parser_process.START_TIMEOUT", 0.0)
            with pytest.raises(ParserNotStarted, match=r"^the parser could not be started: it takes longer"):
                await parser.start()
            starting = parser._pool
        assert await parser.start() is starting, "it was not begun anew"
        assert (await parser.parse(b"Subject: hello\r\n\r\nbuy SV\r\n")).text.strip() == "buy SV"
