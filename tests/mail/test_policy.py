"""What a letter may do and what it is answered: the decision table, one test a row, and the threat model's
rows by name.
"""

import hashlib
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default

import pytest

from bot.email.pages.answer_pages import address_confirmation
from bot.email.policy import MailPolicy
from bot.email.replies.reply_limits import ReplyLimits
from mail.composing.compose import OutgoingMail, compose
from mail.imap import Folder
from mail.inbox import MailOutcome
from mail.reading.parser import parse_mail
from mail.reading.parts import MailProblem
from mail.reply_address import ReplyToken, ServiceAddress, hash_token, new_token
from tests.mail.reply_corpus import LINE_READER
from tests.mail.test_compose import INVITATION
from tests.mail.toy_service import POST, InMemoryService, MailClock, alerts, reply


@pytest.fixture
def service() -> InMemoryService:
    return InMemoryService()


@pytest.fixture
def policy(service: InMemoryService) -> MailPolicy:
    return MailPolicy(POST, service.gateway, now=service.clock)


async def arrive(
    service: InMemoryService, policy: MailPolicy, raw: bytes, authserv_id: str = ""
) -> MailOutcome:
    """What the inbox does with a mail, without a mailbox; a mail seen before is not dealt with again."""
    digest = hashlib.sha256(raw).hexdigest()
    arrival = await service.record_arrival(digest, raw, service.clock())
    if arrival.folder:
        return service.outcome_by_digest[digest]
    outcome = await policy.handle(parse_mail(raw, authserv_id))
    await service.record_outcome(digest, outcome)
    return outcome


def body(letter: OutgoingMail) -> str:
    parsed = BytesParser(policy=default).parsebytes(letter.raw)
    assert isinstance(parsed, EmailMessage)
    part = parsed.get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


def headline(letter: OutgoingMail) -> str:
    return body(letter).splitlines()[2]


# --- who may act ---


async def test_orders_are_executed_and_echoed(service: InMemoryService, policy: MailPolicy) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "sell 1 PRR\nbuy SV\n\nThanks!"))
    assert service.moves == [("s1", "sell 1 PRR"), ("s1", "buy SV")]
    assert (outcome.reason, outcome.folder) == ("played", Folder.PROCESSED)
    (answer,) = outcome.replies
    assert answer.recipient == "ann@player.test"
    assert headline(answer).startswith("OK")
    assert "buy SV → s1 said buy SV." in body(answer)
    assert "| Thanks!" in body(answer)
    assert message_from_bytes(answer.raw)["In-Reply-To"] == "<reply-1@player.test>"


async def test_what_is_tried_is_one_question_and_playing_it_is_an_order(
    service: InMemoryService, policy: MailPolicy
) -> None:
    outcome = await arrive(
        service, policy, reply(service.notice(), "try buy SV\nplan Bob: pass\nat or 2.1\nlog 5")
    )
    (answer,) = outcome.replies
    assert outcome.reason == "shown" and not service.moves
    for told in ("This is the try buy SV; Bob: pass", "This is the at or 2.1", "This is the log 5"):
        assert told in body(answer)
    for line, order in (("try play", True), ("plan PLAY", True), ("try", False), ("try playing", False)):
        assert (LINE_READER.query_in(line) is None) is order, line


async def test_a_bad_line_stops_all(service: InMemoryService, policy: MailPolicy) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "buy SV\n\nbuy NOTHING"))
    text = body(outcome.replies[0])
    assert service.moves == [] and headline(outcome.replies[0]).startswith("NOT DONE")
    for words in ("Line 3", "| buy NOTHING", "There is no such thing", "\nbuy SV\n", "Nothing was changed."):
        assert words in text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("juggle", "no line that the game can read"),
        ("bu SV", "If you mean that, reply with"),
        ("buy S", "Did you mean"),
        ("buy NOTHING", "You can write instead"),
    ],
)
async def test_each_kind_of_refusal_says_what_would_be_right(
    service: InMemoryService, policy: MailPolicy, line: str, words: str
) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), line))
    assert words in body(outcome.replies[0]) and service.moves == []


async def test_the_receipt_can_be_answered(service: InMemoryService, policy: MailPolicy) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "buy SV"))
    again = reply(outcome.replies[0], "pass", message_id="<2@player.test>")
    assert (await arrive(service, policy, again)).reason == "played"
    assert [line for _, line in service.moves] == ["buy SV", "pass"]


async def test_a_lost_token_is_found_by_the_thread(service: InMemoryService, policy: MailPolicy) -> None:
    raw = reply(service.notice(), "buy SV", to="play@games.test")
    assert (await arrive(service, policy, raw)).reason == "played"


async def test_a_token_in_upper_case_is_the_same(service: InMemoryService, policy: MailPolicy) -> None:
    notice = service.notice()
    raw = reply(notice, "buy SV", to=str(message_from_bytes(notice.raw)["Reply-To"]).upper())
    assert (await arrive(service, policy, raw)).reason == "played"


async def test_c01_forged_from_without_token(service: InMemoryService, policy: MailPolicy) -> None:
    notice = service.notice()
    raw = reply(notice, "buy SV", to="play@games.test", sender="eve@evil.test").replace(
        notice.message_id.encode(), b"<x@y>"
    )
    outcome = await arrive(service, policy, raw)
    assert (outcome.reason, outcome.replies, outcome.folder) == ("stranger", (), Folder.IGNORED)
    assert service.moves == []
    known = await arrive(service, policy, raw.replace(b"eve@evil.test", b"ann@player.test"))
    assert known.reason == "help" and service.moves == []
    assert "Table 17, as Ann" in body(known.replies[0])
    third = await arrive(service, policy, raw.replace(b"eve@evil.test", b"ann@player.test") + b" ")
    assert third.replies == ()  # once a day
    service.clock.advance(days=1, minutes=1)
    assert (await arrive(service, policy, raw.replace(b"eve@evil.test", b"ann@player.test") + b"  ")).replies


async def test_c02_guessed_tokens(service: InMemoryService, policy: MailPolicy) -> None:
    notice = service.notice()
    for _ in range(200):
        raw = reply(notice, "buy SV", to=POST.reply_address(new_token()), sender="eve@evil.test")
        outcome = await policy.handle(parse_mail(raw.replace(notice.message_id.encode(), b"<x@y>")))
        assert (outcome.reason, outcome.replies) == ("stranger", ())


async def test_c02_a_foreign_message_id_is_not_even_asked_for(
    service: InMemoryService, policy: MailPolicy
) -> None:
    notice = service.notice()
    forged = "<t.aaaaaaaaaaaaaaaaaaaa.bbbb@games.test>"
    service.by_message[forged] = service.current_token("s1")
    raw = reply(notice, "buy SV", to="play@games.test").replace(notice.message_id.encode(), forged.encode())
    assert (await arrive(service, policy, raw)).reason == "help"


async def test_c03_leaked_token(service: InMemoryService, policy: MailPolicy) -> None:
    notice = service.notice()
    outcome = await arrive(service, policy, reply(notice, "buy SV\nsell 3 X", sender="bob@player.test"))
    (note,) = outcome.replies
    assert outcome.reason == "wrong sender" and service.moves == []
    assert note.recipient == "ann@player.test" and "| sell 3 X" in body(note)
    assert message_from_bytes(note.raw)["In-Reply-To"] != "<reply-1@player.test>"
    code = next(line for line in body(note).splitlines() if line.startswith("yes "))
    bob = await arrive(service, policy, reply(notice, code, sender="bob@player.test", message_id="<2@p>"))
    assert bob.reason == "wrong sender" and service.moves == []
    done = await arrive(service, policy, reply(note, code, message_id="<3@player.test>"))
    assert done.reason == "played" and [line for _, line in service.moves] == ["buy SV", "sell 3 X"]
    await arrive(service, policy, reply(note, code, message_id="<4@player.test>"))
    assert len(service.moves) == 2  # said twice, done once
    unknown = await arrive(service, policy, reply(note, "yes abcdefgh", message_id="<5@player.test>"))
    assert "This code is unknown." in body(unknown.replies[0])


async def test_c03_notices_about_strangers_are_few(service: InMemoryService, policy: MailPolicy) -> None:
    notice = service.notice()
    sent = [
        await arrive(
            service, policy, reply(notice, "pass", sender="eve@evil.test", message_id=f"<{n}@evil.test>")
        )
        for n in range(10)
    ]
    assert sum(len(outcome.replies) for outcome in sent) == 3


async def test_c04_failed_authentication(service: InMemoryService, policy: MailPolicy) -> None:
    extra = "Authentication-Results: mx.games.test; dkim=fail; dmarc=fail header.from=player.test\n"
    notice = service.notice()
    outcome = await arrive(service, policy, reply(notice, "buy SV", extra=extra), "mx.games.test")
    assert (outcome.reason, outcome.folder, service.moves) == ("forged", Folder.QUARANTINE, [])
    assert "failed authentication" in body(outcome.replies[0])
    again = reply(notice, "pass", extra=extra, message_id="<2@player.test>")
    assert (await arrive(service, policy, again, "mx.games.test")).replies == ()  # once a day
    assert (
        await arrive(service, policy, reply(notice, "buy SV", extra=extra, message_id="<3@p>"))
    ).reason == "played"


async def test_c05_results_that_the_sender_wrote(service: InMemoryService) -> None:
    strict = MailPolicy(POST, service.gateway, require_dmarc=True, now=service.clock)
    notice = service.notice()
    ours = "Authentication-Results: MX.games.test; spf=pass;\n dmarc=pass (p=none) header.from=player.test\n"
    fake = "Authentication-Results: mx.games.test; dmarc=pass\n"
    fail = "Authentication-Results: mx.games.test; dmarc=fail\n"
    other = "Authentication-Results: mx.other.test; dmarc=pass\n"
    bare = "Authentication-Results: spf=pass; dmarc=pass action=none\n"
    for number, (extra, good) in enumerate(
        [(fail + fake, False), (other, False), (bare, False), ("", False), (other + ours, True)]
    ):
        raw = reply(notice, "sell 1 X", extra=extra, message_id=f"<{number}@player.test>")
        outcome = await arrive(service, strict, raw, "mx.games.test")
        assert (outcome.reason == "played") is good, extra


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


async def test_c07_replay(service: InMemoryService, policy: MailPolicy) -> None:
    raw = reply(service.notice(), "buy SV")
    await arrive(service, policy, raw)
    await arrive(service, policy, raw)
    stale = await arrive(service, policy, raw.replace(b"<reply-1@", b"<replayed@"))
    assert len(service.moves) == 1 and len(service.replies()) == 2
    text = body(stale.replies[0])
    assert stale.reason == "stale" and headline(stale.replies[0]).startswith("NOT DONE")
    assert "no longer open" in text and "s1: buy SV" in text and "Nothing was changed." in text
    fresh = reply(stale.replies[0], "pass", message_id="<fresh@player.test>")
    assert (await arrive(service, policy, fresh)).reason == "played"


async def test_c08_an_older_mail_comes_later(service: InMemoryService, policy: MailPolicy) -> None:
    old = service.notice()
    await arrive(service, policy, reply(old, "buy SV", message_id="<1@p>"))
    new = service.notice()
    await arrive(service, policy, reply(new, "bid CA 165", message_id="<3@p>"))
    assert (await arrive(service, policy, reply(old, "pass", message_id="<2@p>"))).reason == "stale"
    assert [line for _, line in service.moves] == ["buy SV", "bid CA 165"]


async def test_c09_several_reply_addresses_are_ambiguous(
    service: InMemoryService, policy: MailPolicy
) -> None:
    first, second = service.notice(), service.notice("s2", "bob")
    both = ", ".join(str(message_from_bytes(letter.raw)["Reply-To"]) for letter in (first, second))
    outcome = await arrive(service, policy, reply(first, "buy SV", to=both))
    assert (outcome.reason, len(outcome.replies), service.moves) == ("ambiguous", 1, [])


async def test_c10_automatic_mail_is_never_answered(service: InMemoryService, policy: MailPolicy) -> None:
    for number, extra in enumerate(
        [
            "Auto-Submitted: auto-replied\n",
            "X-Autoreply: yes\n",
            "Precedence: junk\n",
            "Return-Path: <>\n",
            "X-Failed-Recipients: a@b.test\n",
        ]
    ):
        raw = reply(service.notice(), "buy SV", extra=extra, message_id=f"<{number}@player.test>")
        outcome = await arrive(service, policy, raw)
        assert (outcome.folder, outcome.replies) == (Folder.IGNORED, ())
    assert service.moves == []


async def test_c10_a_reply_that_a_list_marks_is_a_reply(service: InMemoryService, policy: MailPolicy) -> None:
    """Some mail programs put `Precedence: list` on everything. It counts from the owner of a token alone."""
    extra = "Precedence: list\n"
    stranger = reply(
        service.notice(), "buy SV", extra=extra, sender="eve@other.test", message_id="<e@o.test>"
    )
    both = f"Auto-Submitted: auto-replied\n{extra}"
    automatic = reply(service.notice(), "buy SV", extra=both, message_id="<a@player.test>")
    for raw in (stranger, automatic):
        outcome = await arrive(service, policy, raw)
        assert (outcome.folder, outcome.replies, service.moves) == (Folder.IGNORED, (), [])
    await arrive(service, policy, reply(service.notice(), "buy SV", extra=extra))
    assert service.moves == [("s1", "buy SV")]


async def test_c10_ping_pong_ends_at_once(service: InMemoryService, policy: MailPolicy) -> None:
    """Two installations whose addresses know each other: the other's receipt is automatic mail to us."""
    ours = await arrive(service, policy, reply(service.notice(), "juggle"))
    elsewhere = ServiceAddress("play@other.test", b"another key, 16 b")
    there = MailPolicy(elsewhere, service.gateway, now=service.clock)
    echo = await there.handle(parse_mail(ours.replies[0].raw))
    assert echo.replies == () and echo.folder == Folder.IGNORED


async def test_c11_bounces_are_counted_only_with_a_mail_of_ours(
    service: InMemoryService, policy: MailPolicy
) -> None:
    notice = service.notice()

    def bounce(to: str, quoted: str) -> bytes:
        return (
            f"Return-Path: <>\nDelivered-To: {to}\nFrom: mailer-daemon@player.test\nTo: {to}\n"
            "Subject: Undelivered\n"
            'Auto-Submitted: auto-replied\nContent-Type: multipart/report; boundary="b"\n\n'
            "--b\nContent-Type: text/plain\n\nbuy SV\n--b\nContent-Type: message/delivery-status\n\n"
            "Reporting-MTA: dns; x\n\nAction: failed\nStatus: 5.1.1\n\n"
            f"--b\nContent-Type: message/rfc822\n\nMessage-ID: {quoted}\n\nbuy SV\n--b--\n"
        ).encode()

    for raw in (
        bounce(
            notice.envelope_sender, "<t.aaaaaaaaaaaaaaaaaaaa.bb@games.test>"
        ),  # C.12: not a letter of ours
        bounce(notice.envelope_sender, POST.new_message_id()),  # C.12: ours by its looks, never sent
        bounce(notice.envelope_sender, service.notice("s2", "bob").message_id),  # C.12: went to somebody else
    ):
        outcome = await arrive(service, policy, raw)
        assert (outcome.replies, service.bounces, service.moves) == ((), [], [])
    reply_to = str(message_from_bytes(notice.raw)["Reply-To"])
    for to in (notice.envelope_sender, reply_to, POST.reply_address(new_token())):
        service.bounces.clear()
        outcome = await arrive(service, policy, bounce(to, notice.message_id))
        assert outcome.replies == () and service.moves == []
        (found,) = service.bounces
        assert found.kind == "address" and found.message_id == notice.message_id
        assert found.token.seat_number == 1


async def test_c12_a_bounce_token_gives_no_right_to_act(service: InMemoryService, policy: MailPolicy) -> None:
    notice = service.notice()
    outcome = await arrive(service, policy, reply(notice, "buy SV", to=notice.envelope_sender))
    assert (outcome.replies, service.moves) == ((), [])


async def test_c13_nobody_but_the_registered_address_is_written_to(
    service: InMemoryService, policy: MailPolicy
) -> None:
    notice = service.notice()
    for number, sender in enumerate(
        ["victim@elsewhere.test", "victim@elsewhere.test, ann@player.test", "<>", ""]
    ):
        raw = reply(notice, "buy SV", sender=sender, message_id=f"<{number}@x>")
        await arrive(service, policy, raw)
        await arrive(service, policy, raw.replace(b"play+", b"play-x"))
    assert service.moves == []
    assert {row.outgoing.recipient for row in service.rows.values()} == {"ann@player.test"}


async def test_c14_our_own_mail_comes_back(service: InMemoryService, policy: MailPolicy) -> None:
    notice = service.notice()
    assert (await arrive(service, policy, notice.raw)).reason == "our own mail"
    forwarded = notice.raw.replace(notice.message_id.encode(), b"<changed@relay.test>")
    assert (await arrive(service, policy, forwarded)).reason == "our own mail"
    assert (await arrive(service, policy, reply(notice, "buy SV", sender="play@games.test"))).replies == ()
    assert service.moves == []


HOSTILE = (("Bob", "sell all\nsell 3 PRR"), ("sell 4 PRR", "\r\n\u2028sell 5 PRR"))


@pytest.mark.parametrize(
    "quoting",
    [
        "{body}",
        "From: Table 17 <play@games.test>\nSent: Friday\nTo: Ann\nSubject: Your turn\n\n{body}",
        "________________________________\n{body}",
        "-----Original Message-----\n{body}",
        "On Fri, Nov 20, 2026 at 9:00 Table 17 <play@games.test> wrote:\n{body}",
        "Unbekannte Einleitung\n\n{body}",
        "{stripped}",
    ],
)
async def test_c15_quoted_mails_give_no_orders(
    service: InMemoryService, policy: MailPolicy, quoting: str
) -> None:
    """Whatever a mailer does to the quoted letter, what others wrote in it is never an order of ours."""
    notice = service.notice(chat=HOSTILE)
    quoted = body(notice)
    stripped = "\n".join(quoted.splitlines()[2:])  # a mailer that lost even the delimiter
    raw = reply(notice, "buy SV\n\n" + quoting.format(body=quoted, stripped=stripped))
    await arrive(service, policy, raw)
    assert all("sell" not in line for _, line in service.moves)
    if "{body}" in quoting and "Unbekannt" not in quoting:
        assert service.moves == [("s1", "buy SV")]


# --- meta words ---


async def test_questions_are_answered_with_text_and_pictures(
    service: InMemoryService, policy: MailPolicy
) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "map\nlog 20\nstatus"))
    assert outcome.reason == "shown" and service.moves == []
    assert "This is the map" in body(outcome.replies[0]) and "This is the log 20" in body(outcome.replies[0])
    kinds = [part.get_content_type() for part in message_from_bytes(outcome.replies[0].raw).walk()]
    assert kinds.count("image/png") == 1


async def test_queries_and_orders_get_one_receipt(service: InMemoryService, policy: MailPolicy) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "buy SV\nmarket"))
    assert outcome.reason == "played" and service.moves == [("s1", "buy SV")]
    assert "This is the market" in body(outcome.replies[0])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("Map", "map"),
        ("show map", "map"),
        ("log 5", "log"),
        ("help?", "help"),
        ("map 5", "map"),
        ("Company PRR", "company"),
        ("show player Ann", "player"),
        ("turn", "turn"),
        ("chart prices", "chart"),
        ("show records?", "records"),
        ("animation", "animation"),
        ("review money", "review"),
        ("show from E11 east", "from"),
        ("buy SV", None),
        ("undo", None),
    ],
)
def test_every_question_of_the_registry_is_one(line: str, what: str | None) -> None:
    found = LINE_READER.query_in(line)
    assert (found.split()[0] if found else None) == what


@pytest.mark.parametrize(
    ("text", "subject"), [("stop", "Re: x"), ("", "stop"), ("unsubscribe", "x"), ("", "Re: STOP")]
)
async def test_stop(service: InMemoryService, policy: MailPolicy, text: str, subject: str) -> None:
    notice = service.notice()
    token = str(message_from_bytes(notice.raw)["List-Unsubscribe"]).partition("mailto:")[2].partition("?")[0]
    outcome = await arrive(service, policy, reply(notice, text, to=token, subject=subject))
    assert outcome.reason == "stopped" and service.stopped == {"ann@player.test"}
    assert "No more letters" in body(outcome.replies[0])


@pytest.mark.parametrize(("text", "subject"), [("start", "Re: x"), ("Start.", "x"), ("", "start")])
async def test_start_after_stop(
    service: InMemoryService, policy: MailPolicy, text: str, subject: str
) -> None:
    notice = service.notice()
    token = str(message_from_bytes(notice.raw)["List-Unsubscribe"]).partition("mailto:")[2].partition("?")[0]
    stopped = await arrive(service, policy, reply(notice, "", to=token, subject="stop", message_id="<1@p>"))
    assert service.stopped
    started = await arrive(
        service, policy, reply(stopped.replies[0], text, subject=subject, message_id="<2@p>")
    )
    assert started.reason == "started" and service.stopped == set() and service.moves == []
    assert "Letters come again" in body(started.replies[0])


@pytest.mark.parametrize(
    ("subject", "reason", "words"),
    [
        ("AW: Stop", "stopped", "No more letters"),
        ("Re: pass", "unreadable", "its moves stand in the subject, where none are read"),
        ("Re: [Table 17] Your turn", "unreadable", "it has no text above the quoted email"),
    ],
)
async def test_a_letter_with_nothing_but_a_subject(
    service: InMemoryService, policy: MailPolicy, subject: str, reason: str, words: str
) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "", subject=subject))
    assert outcome.reason == reason and words in body(outcome.replies[0]) and not service.moves


async def test_yes_to_an_email_that_asks_nothing(service: InMemoryService, policy: MailPolicy) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "Ja, bitte"))
    assert outcome.reason == "no orders" and "Nothing waits for a `yes`" in body(outcome.replies[0])


async def test_stop_without_a_token_is_told_how(service: InMemoryService, policy: MailPolicy) -> None:
    raw = reply(service.notice(), "Stop", to=POST.address).replace(b"In-Reply-To", b"X")
    outcome = await arrive(service, policy, raw.replace(b"References", b"X"))
    assert outcome.reason == "not done" and not service.stopped
    assert "reply to this email with `stop`" in body(outcome.replies[0])


async def test_a_company_is_started_as_ever(service: InMemoryService, policy: MailPolicy) -> None:
    service.stopped.add("ann@player.test")
    outcome = await arrive(service, policy, reply(service.notice(), "start PRR H12 100"))
    assert outcome.reason != "started" and service.stopped


async def test_stop_by_reply_and_not_by_others(service: InMemoryService, policy: MailPolicy) -> None:
    notice = service.notice()
    await arrive(service, policy, reply(notice, "stop", sender="eve@evil.test", message_id="<1@e>"))
    mixed = await arrive(service, policy, reply(notice, "buy SV\nstop", message_id="<2@p>"))
    assert (
        service.stopped == set() and service.moves == [] and "must be the only line" in body(mixed.replies[0])
    )
    assert (await arrive(service, policy, reply(notice, "Stop.", message_id="<3@p>"))).reason == "stopped"


@pytest.mark.parametrize(("word", "yes"), [("yes", True), ("Yes!", True), ("no", False), ("maybe", None)])
@pytest.mark.parametrize("purpose", ["link", "invite"])
async def test_confirmations(
    service: InMemoryService, policy: MailPolicy, purpose: str, word: str, yes: bool | None
) -> None:
    address = "new@player.test"
    page, sealed = (
        (address_confirmation("Ann"), ReplyToken("link", address, frozenset({address})))
        if purpose == "link"
        else (
            INVITATION,
            ReplyToken("invite", address, frozenset({address}), "Table 17", "17"),
        )
    )
    letter = service.post(compose(POST, page, sealed, service.clock(), purpose))
    other = await arrive(service, policy, reply(letter, word, sender="eve@evil.test", message_id="<0@e>"))
    assert other.reason == "wrong sender" and service.linked == []
    outcome = await arrive(service, policy, reply(letter, word, sender=address))
    assert service.linked == ([] if yes is None else [(address, yes)])
    assert outcome.replies[0].recipient == address


# --- what cannot be read ---


@pytest.mark.parametrize("problem", [each for each in MailProblem if each is not MailProblem.FAILED])
async def test_every_problem_has_its_sentence(
    service: InMemoryService, policy: MailPolicy, problem: MailProblem
) -> None:
    letter = parse_mail(reply(service.notice(), "buy SV"))
    from dataclasses import replace

    outcome = await policy.handle(replace(letter, problem=problem, text=""))
    assert problem.value in body(outcome.replies[0]) and "Nothing was changed" in body(outcome.replies[0])
    assert service.moves == []


async def test_orders_below_quotes_are_played_and_named(service: InMemoryService, policy: MailPolicy) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "> It is your turn\n\nbuy SV"))
    assert service.moves == [("s1", "buy SV")]
    assert "between or below the quoted lines" in body(outcome.replies[0])


async def test_yes_takes_up_what_was_meant(service: InMemoryService, policy: MailPolicy) -> None:
    """Also where the reply has lost the thread, and `yes` to a later email says nothing."""
    for number, headers in enumerate(("", "lost")):
        service.turns.clear()
        service.moves.clear()
        outcome = await arrive(
            service, policy, reply(service.notice(), "buy SV?", message_id=f"<a{number}@p.test>")
        )
        (asked,) = outcome.replies
        assert service.moves == [] and "buy SV → s1 said buy SV." in body(asked)
        yes = reply(asked, "Yes, please!\n\nAnn", message_id=f"<b{number}@p.test>")
        if headers:
            yes = yes.replace(b"In-Reply-To", b"X-Was").replace(b"References", b"X-Were")
        assert (await arrive(service, policy, yes)).reason == "played"
        assert service.moves == [("s1", "buy SV")]
    later = reply(service.notice(), "yes", message_id="<later@p.test>")
    assert (await arrive(service, policy, later)).reason == "no orders"
    assert service.moves == [("s1", "buy SV")]


async def test_faults_name_the_line(service: InMemoryService, policy: MailPolicy) -> None:
    outcome = await arrive(service, policy, reply(service.notice(), "buy SV\nbuy \u202eX"))
    assert "Line 2" in body(outcome.replies[0]) and service.moves == []


async def test_a_mail_that_kills_its_parser_is_quarantined(
    service: InMemoryService, policy: MailPolicy, caplog: pytest.LogCaptureFixture
) -> None:
    outcome = await policy.handle_unparsable(reply(service.notice(), "buy SV"))
    assert outcome.folder == Folder.QUARANTINE and outcome.replies[0].recipient == "ann@player.test"
    assert alerts(caplog)
    stranger = await policy.handle_unparsable(b"From: eve@evil.test\r\nTo: play@games.test\r\n\r\nx")
    assert stranger.replies == ()


# --- talk ---


async def test_say_goes_to_the_table_to_the_end_of_its_paragraph(
    service: InMemoryService, policy: MailPolicy
) -> None:
    text = "buy SV\n\nsay Nice opening, Bob!\nWhat if I pass next time?\n\nCheers\nAnn"
    outcome = await arrive(service, policy, reply(service.notice(), text))
    assert service.talk == [("s1", "Nice opening, Bob! What if I pass next time?")]
    assert service.moves == [("s1", "buy SV")]
    assert "The table is told: Nice opening, Bob!" in body(outcome.replies[0])


async def test_a_line_of_play_never_becomes_talk(service: InMemoryService, policy: MailPolicy) -> None:
    """It is a doubt, before anything is published; `yes` plays it."""
    notice = service.notice()
    outcome = await arrive(service, policy, reply(notice, "say good luck all\nbuy SV"))
    assert not service.talk and not service.moves and outcome.reason == "unclear"
    assert "it stands in what you say to the table" in body(outcome.replies[0]).replace("\n", " ")
    outcome = await arrive(service, policy, reply(service.notice(), "buy SV\n\nsay well\nbuy CS"))
    assert not service.talk and not service.moves


async def test_what_is_half_done_does_not_say_that_nothing_was(
    service: InMemoryService, policy: MailPolicy
) -> None:
    """What is said to the table is told, though the move below is refused."""
    outcome = await arrive(service, policy, reply(service.notice(), "say well\n\nbuy NOTHING"))
    text = body(outcome.replies[0])
    assert service.talk == [("s1", "well")] and headline(outcome.replies[0]).startswith("NOT DONE")
    assert "The table is told: well" in text and "Nothing was changed" not in text


async def test_talk_alone_and_prose_that_never_leaves(service: InMemoryService, policy: MailPolicy) -> None:
    text = "My wife is ill, keep that to yourself.\n\nsay I am slow this week"
    outcome = await arrive(service, policy, reply(service.notice(), text))
    assert service.talk == [("s1", "I am slow this week")] and outcome.reason == "said"
    assert service.moves == []


# --- limits ---


async def test_answers_above_the_limit_are_gathered_and_none_is_dropped(
    service: InMemoryService, policy: MailPolicy
) -> None:
    """Refusals are always sent; receipts after which somebody else is to act come together later."""
    notice = service.notice()
    sent = [
        await arrive(service, policy, reply(notice, "sell 1 X", message_id=f"<{n}@player.test>"))
        for n in range(25)
    ]
    assert [len(outcome.replies) for outcome in sent] == [1] * 20 + [0] * 5
    assert len(service.moves) == 25 and len(service.gathered) == 5
    assert all("sell 1 X" in each.text for each in service.gathered)
    refused = await arrive(service, policy, reply(notice, "buy NOTHING", message_id="<refused@p.test>"))
    assert headline(refused.replies[0]) == "NOT DONE."
    service.clock.advance(minutes=61)
    later = await arrive(service, policy, reply(notice, "sell 1 X", message_id="<later@player.test>"))
    assert headline(later.replies[0]).startswith("OK")


async def test_the_breaker_stops_all_replies_and_alerts_once(
    service: InMemoryService, caplog: pytest.LogCaptureFixture
) -> None:
    policy = MailPolicy(POST, service.gateway, limits=ReplyLimits(breaker_replies=5), now=service.clock)
    notice = service.notice()
    sent = [
        await arrive(service, policy, reply(notice, "buy NOTHING", message_id=f"<{n}@player.test>"))
        for n in range(8)
    ]
    assert sum(len(outcome.replies) for outcome in sent) == 5 and len(alerts(caplog)) == 1
    assert len(service.gathered) == 3
    played = await arrive(service, policy, reply(notice, "sell 1 X", message_id="<move@player.test>"))
    assert headline(played.replies[0]).startswith("OK"), "receipts of moves are sent"


async def test_c25_tokens_of_another_seat_are_in_no_mail(
    service: InMemoryService, policy: MailPolicy
) -> None:
    mine, others = service.notice(), service.notice("s2", "bob")
    outcome = await arrive(service, policy, reply(mine, "buy SV"))
    theirs = POST.find_tokens([others.raw.decode(), others.envelope_sender])
    for letter in (mine, *outcome.replies):
        for token in POST.find_tokens([letter.raw.decode()]):
            assert service.tokens[hash_token(token)].seat_number == 1
            assert token not in theirs


def test_clock_is_utc() -> None:
    assert MailClock()().tzinfo is not None


async def test_a_program_that_answers_by_itself_is_answered_once_an_hour(
    service: InMemoryService, policy: MailPolicy, caplog: pytest.LogCaptureFixture
) -> None:
    """It has no header that says so, and quotes another email of ours each time."""
    away = "I am out of the office until Monday.\n\n> {}\n"
    for number in range(4):
        letter = reply(service.notice(), away.format(number), message_id=f"<away{number}@p.test>")
        outcome = await arrive(service, policy, letter)
        assert len(outcome.replies) == (number == 0)
    assert len(alerts(caplog)) == 1 and "the same text again" in alerts(caplog)[0]
    other = await arrive(service, policy, reply(service.notice(), "What now?", message_id="<other@p.test>"))
    assert other.replies
    service.clock.now += timedelta(hours=1)
    later = reply(service.notice(), away.format(9), message_id="<away9@p.test>")
    assert (await arrive(service, policy, later)).replies
    assert (await policy.handle(parse_mail(later))).replies, "the same mail again, after a crash"
