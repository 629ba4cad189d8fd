"""Refusals and bounces by class: what is counted, what is held, what is forgotten."""

import re
import tomllib
from email.header import Header
from pathlib import Path

import pytest

from mail.imap import Folder
from mail.reading.bounces import classify, reason_line
from mail.reading.parser import parse_mail
from tests.mail.mail_desk import ADDRESS, BOB, POST, MailDesk, reply
from tests.mail.servers import Delivery

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


def report(quoted: str, *, to: str, status: str, action: str = "failed", code: str = "") -> bytes:
    """A bounce as RFC 3464 has it."""
    return (
        f"Return-Path: <>\nFrom: MAILER-DAEMON@mx.test\nTo: {to}\nSubject: Undelivered Mail\n"
        f"Message-ID: <{status}.{action}.{len(code)}@mx.test>\nMIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        "--b\nContent-Type: text/plain\n\nSorry.\n"
        "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\n"
        f"Final-Recipient: rfc822; ann@player.test\nAction: {action}\nStatus: {status}\n"
        f"Diagnostic-Code: smtp; {code}\n\n"
        f"--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: {quoted}\n\n--b--\n"
    ).encode()


def prose_bounce(text: str, *, to: str, subject: str = "failure notice") -> bytes:
    """A bounce in a form of its own, as qmail and Exim write it."""
    return (
        f"Return-Path: <>\nFrom: MAILER-DAEMON@mx.test\nTo: {to}\nSubject: {subject}\n"
        "Message-ID: <prose@mx.test>\nContent-Type: text/plain; charset=utf-8\n\n"
        f"{text}\n"
    ).encode()


def kind_of(raw: bytes) -> str:
    """The class of a bounce; empty for other mail."""
    report = parse_mail(raw).report
    return report.kind if report else ""


@pytest.mark.parametrize(("status", "action", "code", "kind"), CORPUS["reports"])
def test_standard_report(status: str, action: str, code: str, kind: str) -> None:
    found = kind_of(report("<1@mx.test>", to=ADDRESS, status=status, action=action, code=code))
    assert found == (kind or "arrived")


@pytest.mark.parametrize("email", CORPUS["emails"], ids=lambda email: str(email["form"]))
def test_bounce_in_other_forms(email: dict[str, str]) -> None:
    text = email["text"].replace("{id}", "<1@mx.test>")
    assert kind_of(prose_bounce(text, to=ADDRESS, subject=email["subject"])) == email["kind"]


def in_form(form: dict[str, str], said: str) -> bytes:
    """A refusal as a mail server writes it down: in its own words, with a part for machines or without, and
    with our email behind it."""
    found = re.search(r"[45]\.\d+\.\d+", said)
    status = found[0] if found else f"{said[0]}.0.0"
    quoted = FORMS["quoted"].replace("{id}", "<1@mx.test>")
    text = form["text"].replace("{said}", said).replace("{status}", status).replace("{quoted}", quoted)
    subject = form["subject"].replace("{said}", said)
    head = f"Return-Path: <>\nFrom: {form['from']}\nTo: {ADDRESS}\nMIME-Version: 1.0\n"
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
def test_every_refusal_in_every_form(form: dict[str, str]) -> None:
    """What is quoted of our own email says nothing; whatever passes by itself counts against no address."""
    found = [(said, kind, kind_of(in_form(form, said))) for kind, said in FORMS["refusals"]]
    assert not [each for each in found if each[1] != each[2]]


def test_a_complaint_is_no_bounce() -> None:
    """A report in the abuse format (RFC 5965)."""
    raw = report("<1@mx.test>", to=ADDRESS, status="5.7.1")
    raw = raw.replace(b"message/delivery-status", b"message/feedback-report")
    assert kind_of(raw.replace(b"delivery-status", b"feedback-report")) == "complaint"


# --- whose they are ---


@pytest.mark.parametrize("form", ["report", "prose"])
@pytest.mark.parametrize("is_quoted", [True, False])
@pytest.mark.parametrize("where", ["envelope", "reply", "unknown", "none"])
async def test_a_bounce_is_ours_by_its_token_or_by_what_it_quotes(
    desk: MailDesk, notice: Delivery, form: str, is_quoted: bool, where: str
) -> None:
    """With neither, it counts nothing; a reply to our email gives no order by it."""
    to = {
        "envelope": notice.sender, "reply": str(notice.message["Reply-To"]),
        "unknown": f"play+b{'z' * 26}@games.test", "none": ADDRESS,
    }[where]  # fmt: skip
    quoted = str(notice.message["Message-ID"]) if is_quoted else ""
    prose = f"delivery failed: 550 5.1.1 User unknown\n\nMessage-ID: {quoted}\n\nbuy SV"
    raw = report(quoted, to=to, status="5.1.1") if form == "report" else prose_bounce(prose, to=to)
    outcome = await desk.arrive(raw)
    is_ours = is_quoted or where == "envelope"
    assert outcome.reason == ("bounce: address" if is_ours else "bounce of a mail that is not ours")
    assert outcome.replies == () and await desk.played() == []
    async with desk.service.store.read() as unit:
        (address,) = await unit.people.identities(await desk.person("Ann"))
    assert bool(address.bounces) is is_ours


async def test_a_bounce_from_where_mail_is_forwarded_counts(desk: MailDesk, notice: Delivery) -> None:
    """Also where that is another address of the player: the email went to the first all the same."""
    await desk.person("Ann", "ann@mail.test")
    raw = report(str(notice.message["Message-ID"]), to=notice.sender, status="5.1.1")
    forwarded = raw.replace(b"rfc822; ann@player.test", b"rfc822; ann@mail.test")
    assert (await desk.arrive(forwarded)).reason == "bounce: address"


async def test_a_forged_report_counts_nothing(desk: MailDesk, notice: Delivery) -> None:
    """An id of ours that was never sent, by its looks or in truth, and another's id beside a token."""
    bobs = str(desk.newest[BOB].message["Message-ID"])
    for to, quoted in (
        (ADDRESS, f"<t.{'a' * 20}.b@games.test>"),
        (notice.sender, POST.new_message_id()),
        (notice.sender, bobs),
    ):
        outcome = await desk.arrive(report(quoted, to=to, status="5.1.1"))
        assert outcome.reason == "bounce of a mail that is not ours" and outcome.folder is Folder.IGNORED


async def test_what_came_to_a_bounce_address_and_is_no_bounce(desk: MailDesk, notice: Delivery) -> None:
    """A read receipt (RFC 8098), an automatic reply, and an order: a bounce token gives no right to act."""
    to, own = notice.sender, str(notice.message["Message-ID"])
    receipt = report(own, to=to, status="5.0.0", action="")
    automatic = reply(notice, "Away. Call 550 5.1.1.", to=to, extra="Auto-Submitted: auto-replied\n")
    order = reply(notice, "buy SV", to=to, message_id="<order@p>")
    for raw in (
        receipt.replace(b"delivery-status", b"disposition-notification"),
        automatic,
        order,
    ):
        outcome = await desk.arrive(raw)
        assert not outcome.reason.startswith("bounce") and outcome.replies == ()
    assert await desk.played() == []
