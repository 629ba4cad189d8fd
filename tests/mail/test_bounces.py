"""Refusals and bounces by class: what is counted, what is held, what is forgotten."""

import re
import tomllib
from email.header import Header
from itertools import product
from pathlib import Path

import pytest

from bot.email.policy import MailPolicy
from mail.composing.compose import OutgoingMail
from mail.imap import Folder
from mail.reading.bounces import classify, reason_line
from mail.reading.parser import parse_mail
from tests.mail.toy_service import POST, InMemoryService

CORPUS = tomllib.loads((Path(__file__).parent / "bounces.toml").read_text(encoding="utf-8"))
FORMS = tomllib.loads((Path(__file__).parent / "bounce_forms.toml").read_text(encoding="utf-8"))
REFUSALS = {
    "address": (
        "550 5.1.1 <bob@player.test>: Recipient address rejected: User unknown in virtual mailbox table",
        "550 no such user",
        "550 5.1.1 The email account that you tried to reach does not exist.",
        "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
        "550 5.2.1 The email account that you tried to reach is disabled.",
        "553 5.1.2 Host unknown",
        "550 Requested action not taken: mailbox unavailable",
        "550 Unrouteable address",
        "511 5.1.1 unknown address or alias: bob@player.test",
        "550 #5.1.0 Address rejected.",
    ),
    "operator": (
        "554 5.7.1 <bob@player.test>: Relay access denied",
        "550 5.7.1 Unable to relay",
        "530 5.7.0 Authentication required",
        "550 5.7.26 This mail has been blocked because the sender is unauthenticated (SPF, DKIM).",
        "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org",
        "550 5.1.1 Mail from 192.0.2.1 rejected: see our block list",
        "550 5.7.509 Access denied, sending domain does not pass DMARC verification",
        "554 5.7.1 Message rejected as spam by Content Filtering.",
        "550 5.1.8 Sender address rejected: Domain not found",
        "421 4.7.0 Our system has detected an unusual rate of mail with poor reputation",
        "554 Refused. Your reverse DNS entry does not resolve.",
        "550 relaying prohibited",
    ),
    "delayed": (
        "Action: delayed\nStatus: 4.4.1",
        "THIS IS A WARNING MESSAGE ONLY. YOU DO NOT NEED TO RESEND YOUR MESSAGE.",
        "Warning: could not send message for past 4 hours",
        "Delivery Status Notification (Delay)\n451 4.4.1 connection timed out; will keep trying",
        "Your message has not been delivered yet. Delivery is delayed; 4.4.7",
    ),
    "soft": (
        "552 5.2.2 The email account that you tried to reach is over quota.",
        "452 4.2.2 Mailbox full",
        "450 4.2.1 greylisted, please try again",
        "451 4.3.0 Temporary lookup failure",
        "554 5.4.6 Too many hops",
        "552 5.3.4 Message size exceeds fixed limit",
        "550 5.5.0 Something unexpected",
        "554 Transaction failed",
        "550 5.2.2 <bob@player.test>: user is over the storage quota",
    ),
}
CASES = [(kind, text) for kind, texts in REFUSALS.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_class_of_a_refusal(kind: str, text: str) -> None:
    assert classify(text) == kind


def test_the_reason_is_the_line_that_says_why() -> None:
    text = "Hello,\n\nyour mail could not be delivered.\n\n<bob@player.test>:\n550 5.1.1 User unknown\n"
    assert reason_line(text) == "550 5.1.1 User unknown"


# --- bounces as they come ---


def report(notice: OutgoingMail, *, to: str, status: str, action: str = "failed", code: str = "") -> bytes:
    """A bounce as RFC 3464 has it."""
    return (
        f"Return-Path: <>\nFrom: MAILER-DAEMON@mx.test\nTo: {to}\nSubject: Undelivered Mail\n"
        f"Message-ID: <{status}.{action}.{len(code)}@mx.test>\nMIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        "--b\nContent-Type: text/plain\n\nSorry.\n"
        "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\n"
        f"Final-Recipient: rfc822; ann@player.test\nAction: {action}\nStatus: {status}\n"
        f"Diagnostic-Code: smtp; {code}\n\n"
        f"--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: {notice.message_id}\n\n--b--\n"
    ).encode()


def prose_bounce(text: str, *, to: str, subject: str = "failure notice") -> bytes:
    """A bounce in a form of its own, as qmail and Exim write it."""
    return (
        f"Return-Path: <>\nFrom: MAILER-DAEMON@mx.test\nTo: {to}\nSubject: {subject}\n"
        "Message-ID: <prose@mx.test>\nContent-Type: text/plain; charset=utf-8\n\n"
        f"{text}\n"
    ).encode()


async def bounced(service: InMemoryService, raw: bytes) -> tuple[str, ...]:
    outcome = await MailPolicy(POST, service.gateway, now=service.clock).handle(parse_mail(raw))
    assert not outcome.replies and not service.moves
    return tuple(bounce.kind for bounce in service.bounces)


def quoting(raw: bytes, notice: OutgoingMail, is_quoted: bool) -> bytes:
    """The bounce with or without our Message-ID."""
    return raw if is_quoted else raw.replace(notice.message_id.encode(), b"")


@pytest.mark.parametrize(("status", "action", "code", "kind"), CORPUS["reports"])
async def test_standard_report(status: str, action: str, code: str, kind: str) -> None:
    """It is ours by its token or by the Message-ID that it quotes; with neither, it counts nothing."""
    for has_token, is_quoted in product((True, False), repeat=2):
        service = InMemoryService()
        notice = service.notice()
        to = notice.envelope_sender if has_token else POST.address
        raw = quoting(report(notice, to=to, status=status, action=action, code=code), notice, is_quoted)
        counted = (kind,) if kind and (has_token or is_quoted) else ()
        assert await bounced(service, raw) == counted, (has_token, is_quoted)


@pytest.mark.parametrize("letter", CORPUS["letters"], ids=lambda letter: str(letter["form"]))
async def test_bounce_in_other_forms(letter: dict[str, str]) -> None:
    """The same."""
    for has_token, is_quoted in product((True, False), repeat=2):
        service = InMemoryService()
        notice = service.notice()
        to = notice.envelope_sender if has_token else POST.address
        text = letter["text"].replace("{id}", notice.message_id)
        raw = quoting(prose_bounce(text, to=to, subject=letter["subject"]), notice, is_quoted)
        counted = (letter["kind"],) if has_token or is_quoted else ()
        assert await bounced(service, raw) == counted, (has_token, is_quoted)


def in_form(form: dict[str, str], said: str, notice: OutgoingMail) -> bytes:
    """A refusal as a mail server writes it down: in its own words, with a part for machines or without, and
    with our email behind it."""
    found = re.search(r"[45]\.\d+\.\d+", said)
    status = found[0] if found else f"{said[0]}.0.0"
    quoted = FORMS["quoted"].replace("{id}", notice.message_id)
    text = form["text"].replace("{said}", said).replace("{status}", status).replace("{quoted}", quoted)
    subject = form["subject"].replace("{said}", said)
    head = f"Return-Path: <>\nFrom: {form['from']}\nTo: {notice.envelope_sender}\nMIME-Version: 1.0\n"
    head += f"Subject: {Header(subject, 'utf-8').encode(linesep='')}\nMessage-ID: <b@mx.test>\n"
    plain = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
    if not form.get("report"):
        return f"{head}{plain}{text}\n".encode()
    return (
        f'{head}Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        f"--b\n{plain}{text}\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\n"
        f"Final-Recipient: rfc822; ann@player.test\nAction: failed\nStatus: {status}\n"
        f"Diagnostic-Code: smtp; {said}\n\n--b\nContent-Type: text/rfc822-headers\n\n{quoted}\n--b--\n"
    ).encode()


@pytest.mark.parametrize("form", FORMS["forms"], ids=lambda form: str(form["name"]))
async def test_every_refusal_in_every_form(form: dict[str, str]) -> None:
    """What is quoted of our own email says nothing; whatever passes by itself counts against no address."""
    wrong, service = [], InMemoryService()
    notice = service.notice()
    for kind, said in FORMS["refusals"]:
        service.bounces.clear()
        found = await bounced(service, in_form(form, said, notice))
        if found != (kind,):
            wrong.append((said, kind, found))
    assert not wrong


@pytest.mark.parametrize("status", ["5.1.1", "5.7.1"])
async def test_a_forged_report_counts_nothing(status: str) -> None:
    """An id of ours that was never sent, another's id beside a token, a token that was never given."""
    service = InMemoryService()
    anns, bobs = service.notice(), service.notice("s2", "bob")
    made_up = f"<t.{'a' * 20}.b@games.test>"
    forged = report(anns, to=POST.address, status=status).replace(anns.message_id.encode(), made_up.encode())
    assert await bounced(service, forged) == ()
    assert await bounced(service, report(bobs, to=anns.envelope_sender, status=status)) == ()
    unknown = "play+b" + "z" * 26 + "@games.test"
    assert await bounced(service, quoting(report(anns, to=unknown, status=status), anns, False)) == ()


async def test_a_complaint_is_no_bounce() -> None:
    """A report in the abuse format (RFC 5965)."""
    service = InMemoryService()
    notice = service.notice()
    raw = report(notice, to=notice.envelope_sender, status="5.7.1")
    raw = raw.replace(b"message/delivery-status", b"message/feedback-report")
    assert await bounced(service, raw.replace(b"delivery-status", b"feedback-report")) == ("complaint",)


async def test_a_read_receipt_counts_nothing() -> None:
    """RFC 8098."""
    service = InMemoryService()
    notice = service.notice()
    raw = report(notice, to=notice.envelope_sender, status="5.0.0", action="")
    assert await bounced(service, raw.replace(b"delivery-status", b"disposition-notification")) == ()


async def test_bounce_that_quotes_nothing_is_ours_by_its_token() -> None:
    service = InMemoryService()
    notice = service.notice()
    raw = prose_bounce("delivery failed: 550 5.1.1 User unknown", to=notice.envelope_sender)
    assert await bounced(service, raw) == ("address",)


async def test_bounce_of_a_mail_that_is_not_ours_counts_nothing() -> None:
    service = InMemoryService()
    text = "550 5.1.1 User unknown\n\nMessage-ID: <t.aaaaaaaaaaaaaaaaaaaa.b@games.test>"
    raw = prose_bounce(text, to=POST.address)
    outcome = await MailPolicy(POST, service.gateway, now=service.clock).handle(parse_mail(raw))
    assert outcome.folder is Folder.IGNORED and not service.bounces


async def test_an_automatic_reply_to_the_bounce_address_is_no_bounce() -> None:
    service = InMemoryService()
    notice = service.notice()
    raw = (
        f"From: Ann <ann@player.test>\nTo: {notice.envelope_sender}\nSubject: Out of office\n"
        f"Auto-Submitted: auto-replied\nMessage-ID: <v@player.test>\nIn-Reply-To: {notice.message_id}\n\n"
        "I am away. In urgent cases call 550 5.1.1.\n"
    ).encode()
    assert await bounced(service, raw) == ()
