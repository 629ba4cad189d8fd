"""Every mail in `incoming_mails/` is read as the JSON beside it says, which was written by hand from looking
at the mail.

Names that begin with `cNN` are rows of the threat model.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from mail.reading.parser import parse_mail
from mail.reading.parts import MailProblem
from tests.mail.reply_corpus import read_text

MAILS = Path(__file__).parent / "incoming_mails"
NAMES = sorted(path.stem for path in MAILS.glob("*.eml"))


def test_every_mail_has_an_expectation_and_the_other_way_round() -> None:
    assert sorted(path.stem for path in MAILS.glob("*.json")) == NAMES
    assert len(NAMES) > 60
    assert {path.suffix for path in MAILS.iterdir()} == {".eml", ".json"}


@pytest.mark.parametrize("name", NAMES)
def test_mail(name: str) -> None:
    expected: dict[str, Any] = json.loads((MAILS / f"{name}.json").read_text(encoding="utf-8"))
    email = parse_mail((MAILS / f"{name}.eml").read_bytes())
    found = read_text(email.text)
    seen: dict[str, Any] = {
        "sender": email.sender,
        "orders": [line.text for line in found.lines],
        "ignored": list(found.ignored),
        "misplaced": list(found.misplaced),
        "unclear": [each.line.text for each in found.unclear],
        "automatic": email.automatic_sign,
        "problem": email.problem.name if email.problem else None,
        "report": [email.report.status, list(email.report.message_ids)] if email.report else None,
    }
    fault = expected.pop("fault", None)
    standard: dict[str, Any] = {
        "ignored": [],
        "misplaced": [],
        "unclear": [],
        "automatic": None,
        "problem": None,
        "report": None,
    }
    assert seen == standard | expected
    assert (fault in found.fault.reason) if fault and found.fault else fault is None and found.fault is None


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_mail_is_still_a_mail(name: str) -> None:
    raw = (MAILS / f"{name}.eml").read_bytes()
    for cut in range(0, len(raw), 37):
        email = parse_mail(raw[:cut])
        assert email.problem is None or isinstance(email.problem, MailProblem)


def test_bounce_to_a_reply_address_gives_no_order() -> None:
    """C.11: the report is seen before anybody looks at the text."""
    email = parse_mail((MAILS / "c11-bounce-quotes-orders.eml").read_bytes())
    assert email.report and email.automatic_sign


def test_the_text_of_a_mail_with_a_large_attachment_is_read() -> None:
    """Only its beginning was fetched. A text that is cut itself is not read, nor the one beside it."""
    text = "--b\nContent-Type: text/plain\n\npass\n"
    picture = "--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAAA"
    html = "--b\nContent-Type: text/html\n\n<p>pass"
    head = "From: ann@player.test\nContent-Type: multipart/mixed; boundary=b\n\n"
    for parts, read, problem in (
        ([text, picture], "pass", None),
        ([text, html], "", MailProblem.TOO_BIG),
        ([picture], "", MailProblem.NO_TEXT),
        ([text], "", MailProblem.TOO_BIG),
    ):
        mail = parse_mail((head + "".join(parts)).encode(), partial=True)
        assert (mail.text.strip(), mail.problem) == (read, problem)


# --- who wrote it ---


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ("mx.games.test; dmarc=fail\nAuthentication-Results: mx.games.test; dmarc=pass", "fail"),
        ("mx.other.test; dmarc=pass", "none"),
        ("spf=pass; dmarc=pass action=none", "none"),
        (
            "mx.other.test; dmarc=pass\nAuthentication-Results: MX.games.test; spf=pass;\n"
            " dmarc=pass (p=none) header.from=player.test",
            "pass",
        ),
    ],
)
def test_c05_results_that_the_sender_wrote(results: str, verdict: str) -> None:
    """Those of our own mail server count, which it writes above all others."""
    raw = f"Authentication-Results: {results}\nFrom: ann@player.test\n\npass\n".encode()
    assert parse_mail(raw, "mx.games.test").dmarc == verdict


_FROM = r"""
From: alice@ex.org <mallory@evil.test>
From: alice@ex.org)<mallory@evil.test>
From: alice@ex.org, mallory@evil.test
From: alice@ex.org\nFrom: mallory@evil.test
From: mallory@evil.test\nFrom: alice@ex.org
From: friends: alice@ex.org;
From: friends: alice@ex.org, mallory@evil.test;
From: =?utf-8?q?alice=40ex=2Eorg?= <mallory@evil.test>
From: =?utf-8?q?alice=40ex=2Eorg=3E?= <mallory@evil.test>
From: =?utf-8?q?alice=40ex=2Eorg?=
From: "alice@ex.org" <mallory@evil.test>
From: (alice@ex.org) mallory@evil.test
From: <@ex.org,@evil.test:alice@ex.org>
From: alice@ex.org.
From: аlice@ex.org
From: alice@ex.org@evil.test
From: alice@ex.org\0<mallory@evil.test>
From: "alice"@ex.org.evil.test
From: alice@[127.0.0.1]
From: alice @ex.org <mallory@evil.test>
From: <alice@ex.org> <mallory@evil.test>
From: alice@ex.org;mallory@evil.test
From:
X-From: alice@ex.org
"""


@pytest.mark.parametrize("header", _FROM.strip().splitlines())
def test_c06_confusing_from_is_not_alice(header: str) -> None:
    header = header.replace("\\n", "\n").replace("\\0", "\0")
    raw = f"{header}\nTo: play@games.test\nSubject: x\n\npass\n".encode()
    assert parse_mail(raw).sender != "alice@ex.org"


@pytest.mark.parametrize(
    "header",
    ["alice@ex.org", "<Alice@EX.org>", "Alice Lee <alice@ex.org>", '"Lee, Alice (x)" <alice@ex.org>'],
)
def test_c06_plain_from_is_alice(header: str) -> None:
    assert parse_mail(f"From: {header}\n\npass\n".encode()).sender == "alice@ex.org"


def test_c06_deep_comments_are_no_recursion() -> None:
    assert parse_mail(b"From: " + b"(" * 20_000 + b")" * 20_000 + b" alice@ex.org\n\npass\n").sender is None
