"""What a letter may do and what it is answered: the decision table, one test a row, and the threat model's
rows by name.
"""

import hashlib
from email import message_from_bytes
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default

import pytest

from mail.compose import compose
from mail.pages import address_confirmation, invitation
from mail.parser import MailProblem, parse_mail
from mail.policy import MailPolicy, ReplyLimits, parse_query
from mail.port import Folder, MailOutcome, OutgoingMail, ReplyToken
from mail.reply_address import ServiceAddress, hash_token, new_token
from tests.mail.memory_port import POST, InMemoryService, MailClock, reply


@pytest.fixture
def desk() -> InMemoryService:
    return InMemoryService()


@pytest.fixture
def clerk(desk: InMemoryService) -> MailPolicy:
    return MailPolicy(POST, desk, now=desk.clock)


async def arrive(desk: InMemoryService, clerk: MailPolicy, raw: bytes, authserv_id: str = "") -> MailOutcome:
    """What the inbox does with a mail, without a mailbox; a mail seen before is not dealt with again."""
    digest = hashlib.sha256(raw).hexdigest()
    arrival = await desk.record_arrival(digest, raw, desk.clock())
    if arrival.folder:
        return desk.outcome_by_digest[digest]
    outcome = await clerk.handle(parse_mail(raw, authserv_id))
    await desk.record_outcome(digest, outcome)
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


async def test_orders_are_executed_and_echoed(desk: InMemoryService, clerk: MailPolicy) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), "sell 1 PRR\nbuy SV\n\nThanks!"))
    assert desk.moves == [("s1", "sell 1 PRR"), ("s1", "buy SV")]
    assert (outcome.reason, outcome.folder) == ("played", Folder.PROCESSED)
    (answer,) = outcome.replies
    assert answer.recipient == "ann@player.test"
    assert headline(answer).startswith("OK")
    assert "buy SV → s1 said buy SV." in body(answer)
    assert "| Thanks!" in body(answer)
    assert message_from_bytes(answer.raw)["In-Reply-To"] == "<reply-1@player.test>"


async def test_what_is_tried_is_one_question_and_playing_it_is_an_order(
    desk: InMemoryService, clerk: MailPolicy
) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), "try buy SV\nplan Bob: pass\nat or 2.1\nlog 5"))
    (answer,) = outcome.replies
    assert outcome.reason == "shown" and not desk.moves
    for told in ("This is the try buy SV; Bob: pass", "This is the at or 2.1", "This is the log 5"):
        assert told in body(answer)
    for line, order in (("try play", True), ("plan PLAY", True), ("try", False), ("try playing", False)):
        assert (parse_query(line) is None) is order, line


async def test_a_bad_line_stops_all(desk: InMemoryService, clerk: MailPolicy) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), "buy SV\n\nbuy NOTHING"))
    text = body(outcome.replies[0])
    assert desk.moves == [] and headline(outcome.replies[0]).startswith("NOT DONE")
    for words in ("Line 3", "| buy NOTHING", "There is no such thing", "\nbuy SV\n", "Nothing was changed."):
        assert words in text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("juggle", "Similar lines"),
        ("buy S", "Did you mean"),
        ("buy NOTHING", "You can write instead"),
    ],
)
async def test_each_kind_of_refusal_says_what_would_be_right(
    desk: InMemoryService, clerk: MailPolicy, line: str, words: str
) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), line))
    assert words in body(outcome.replies[0]) and desk.moves == []


async def test_the_receipt_can_be_answered(desk: InMemoryService, clerk: MailPolicy) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), "buy SV"))
    again = reply(outcome.replies[0], "pass", message_id="<2@player.test>")
    assert (await arrive(desk, clerk, again)).reason == "played"
    assert [line for _, line in desk.moves] == ["buy SV", "pass"]


async def test_a_lost_token_is_made_up_for_by_the_thread(desk: InMemoryService, clerk: MailPolicy) -> None:
    raw = reply(desk.notice(), "buy SV", to="play@games.test")
    assert (await arrive(desk, clerk, raw)).reason == "played"


async def test_a_token_in_upper_case_is_the_same(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    raw = reply(notice, "buy SV", to=str(message_from_bytes(notice.raw)["Reply-To"]).upper())
    assert (await arrive(desk, clerk, raw)).reason == "played"


async def test_c01_forged_from_without_token(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    raw = reply(notice, "buy SV", to="play@games.test", sender="eve@evil.test").replace(
        notice.message_id.encode(), b"<x@y>"
    )
    outcome = await arrive(desk, clerk, raw)
    assert (outcome.reason, outcome.replies, outcome.folder) == ("stranger", (), Folder.IGNORED)
    assert desk.moves == []
    known = await arrive(desk, clerk, raw.replace(b"eve@evil.test", b"ann@player.test"))
    assert known.reason == "help" and desk.moves == []
    assert "Table 17, as Ann" in body(known.replies[0])
    third = await arrive(desk, clerk, raw.replace(b"eve@evil.test", b"ann@player.test") + b" ")
    assert third.replies == ()  # once a day
    desk.clock.advance(days=1, minutes=1)
    assert (await arrive(desk, clerk, raw.replace(b"eve@evil.test", b"ann@player.test") + b"  ")).replies


async def test_c02_guessed_tokens(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    for _ in range(200):
        raw = reply(notice, "buy SV", to=POST.reply_address(new_token()), sender="eve@evil.test")
        outcome = await clerk.handle(parse_mail(raw.replace(notice.message_id.encode(), b"<x@y>")))
        assert (outcome.reason, outcome.replies) == ("stranger", ())


async def test_c02_a_foreign_message_id_is_not_even_asked_for(
    desk: InMemoryService, clerk: MailPolicy
) -> None:
    notice = desk.notice()
    forged = "<t.aaaaaaaaaaaaaaaaaaaa.bbbb@games.test>"
    desk.by_message[forged] = desk.current_token("s1")
    raw = reply(notice, "buy SV", to="play@games.test").replace(notice.message_id.encode(), forged.encode())
    assert (await arrive(desk, clerk, raw)).reason == "help"


async def test_c03_leaked_token(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    outcome = await arrive(desk, clerk, reply(notice, "buy SV\nsell 3 X", sender="bob@player.test"))
    (note,) = outcome.replies
    assert outcome.reason == "wrong sender" and desk.moves == []
    assert note.recipient == "ann@player.test" and "| sell 3 X" in body(note)
    assert message_from_bytes(note.raw)["In-Reply-To"] != "<reply-1@player.test>"
    code = next(line for line in body(note).splitlines() if line.startswith("yes "))
    bob = await arrive(desk, clerk, reply(notice, code, sender="bob@player.test", message_id="<2@p>"))
    assert bob.reason == "wrong sender" and desk.moves == []
    done = await arrive(desk, clerk, reply(note, code, message_id="<3@player.test>"))
    assert done.reason == "played" and [line for _, line in desk.moves] == ["buy SV", "sell 3 X"]
    await arrive(desk, clerk, reply(note, code, message_id="<4@player.test>"))
    assert len(desk.moves) == 2  # said twice, done once
    unknown = await arrive(desk, clerk, reply(note, "yes abcdefgh", message_id="<5@player.test>"))
    assert "This code is unknown." in body(unknown.replies[0])


async def test_c03_notes_about_strangers_are_few(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    sent = [
        await arrive(
            desk, clerk, reply(notice, "pass", sender="eve@evil.test", message_id=f"<{n}@evil.test>")
        )
        for n in range(10)
    ]
    assert sum(len(outcome.replies) for outcome in sent) == 3


async def test_c04_failed_authentication(desk: InMemoryService, clerk: MailPolicy) -> None:
    extra = "Authentication-Results: mx.games.test; dkim=fail; dmarc=fail header.from=player.test\n"
    notice = desk.notice()
    outcome = await arrive(desk, clerk, reply(notice, "buy SV", extra=extra), "mx.games.test")
    assert (outcome.reason, outcome.folder, desk.moves) == ("forged", Folder.QUARANTINE, [])
    assert "failed authentication" in body(outcome.replies[0])
    again = reply(notice, "pass", extra=extra, message_id="<2@player.test>")
    assert (await arrive(desk, clerk, again, "mx.games.test")).replies == ()  # once a day
    assert (
        await arrive(desk, clerk, reply(notice, "buy SV", extra=extra, message_id="<3@p>"))
    ).reason == "played"


async def test_c05_results_that_the_sender_wrote(desk: InMemoryService) -> None:
    strict = MailPolicy(POST, desk, require_dmarc=True, now=desk.clock)
    notice = desk.notice()
    ours = "Authentication-Results: MX.games.test; spf=pass;\n dmarc=pass (p=none) header.from=player.test\n"
    fake = "Authentication-Results: mx.games.test; dmarc=pass\n"
    fail = "Authentication-Results: mx.games.test; dmarc=fail\n"
    other = "Authentication-Results: mx.other.test; dmarc=pass\n"
    bare = "Authentication-Results: spf=pass; dmarc=pass action=none\n"
    for number, (extra, good) in enumerate(
        [(fail + fake, False), (other, False), (bare, False), ("", False), (other + ours, True)]
    ):
        raw = reply(notice, "sell 1 X", extra=extra, message_id=f"<{number}@player.test>")
        outcome = await arrive(desk, strict, raw, "mx.games.test")
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


async def test_c07_replay(desk: InMemoryService, clerk: MailPolicy) -> None:
    raw = reply(desk.notice(), "buy SV")
    await arrive(desk, clerk, raw)
    await arrive(desk, clerk, raw)
    stale = await arrive(desk, clerk, raw.replace(b"<reply-1@", b"<replayed@"))
    assert len(desk.moves) == 1 and len(desk.replies()) == 2
    text = body(stale.replies[0])
    assert stale.reason == "stale" and headline(stale.replies[0]).startswith("NOT DONE")
    assert "your last turn" in text and "s1: buy SV" in text and "Nothing was changed." in text
    fresh = reply(stale.replies[0], "pass", message_id="<fresh@player.test>")
    assert (await arrive(desk, clerk, fresh)).reason == "played"


async def test_c08_an_older_mail_comes_later(desk: InMemoryService, clerk: MailPolicy) -> None:
    old = desk.notice()
    await arrive(desk, clerk, reply(old, "buy SV", message_id="<1@p>"))
    new = desk.notice()
    await arrive(desk, clerk, reply(new, "bid CA 165", message_id="<3@p>"))
    assert (await arrive(desk, clerk, reply(old, "pass", message_id="<2@p>"))).reason == "stale"
    assert [line for _, line in desk.moves] == ["buy SV", "bid CA 165"]


async def test_c09_the_same_mail_by_two_ways(desk: InMemoryService, clerk: MailPolicy) -> None:
    raw = reply(desk.notice(), "buy SV")
    for way in (b"", b"Received: from elsewhere\r\n", b"Delivered-To: play@games.test\r\n"):
        await arrive(desk, clerk, way + raw)
    assert len(desk.moves) == 1
    assert len([row for row in desk.rows.values() if row.outgoing.reason == "played"]) == 1


async def test_c09_several_reply_addresses_are_ambiguous(desk: InMemoryService, clerk: MailPolicy) -> None:
    first, second = desk.notice(), desk.notice("s2", "bob")
    both = ", ".join(str(message_from_bytes(letter.raw)["Reply-To"]) for letter in (first, second))
    outcome = await arrive(desk, clerk, reply(first, "buy SV", to=both))
    assert (outcome.reason, len(outcome.replies), desk.moves) == ("ambiguous", 1, [])


async def test_c10_automatic_mail_is_never_answered(desk: InMemoryService, clerk: MailPolicy) -> None:
    for number, extra in enumerate(
        [
            "Auto-Submitted: auto-replied\n",
            "X-Autoreply: yes\n",
            "Precedence: junk\n",
            "Return-Path: <>\n",
            "X-Failed-Recipients: a@b.test\n",
        ]
    ):
        raw = reply(desk.notice(), "buy SV", extra=extra, message_id=f"<{number}@player.test>")
        outcome = await arrive(desk, clerk, raw)
        assert (outcome.folder, outcome.replies) == (Folder.IGNORED, ())
    assert desk.moves == []


async def test_c10_ping_pong_ends_at_once(desk: InMemoryService, clerk: MailPolicy) -> None:
    """Two installations whose addresses know each other: the other's receipt is automatic mail to us."""
    ours = await arrive(desk, clerk, reply(desk.notice(), "juggle"))
    there = MailPolicy(ServiceAddress("play@other.test", b"another key, 16 b"), desk, now=desk.clock)
    echo = await there.handle(parse_mail(ours.replies[0].raw))
    assert echo.replies == () and echo.folder == Folder.IGNORED


async def test_c11_bounces_are_counted_only_with_a_letter_of_ours(
    desk: InMemoryService, clerk: MailPolicy
) -> None:
    notice = desk.notice()

    def bounce(to: str, quoted: str) -> bytes:
        return (
            f"Return-Path: <>\nDelivered-To: {to}\nFrom: mailer-daemon@player.test\nTo: {to}\n"
            "Subject: Undelivered\n"
            'Auto-Submitted: auto-replied\nContent-Type: multipart/report; boundary="b"\n\n'
            "--b\nContent-Type: text/plain\n\nbuy SV\n--b\nContent-Type: message/delivery-status\n\n"
            "Reporting-MTA: dns; x\n\nAction: failed\nStatus: 5.1.1\n\n"
            f"--b\nContent-Type: message/rfc822\n\nMessage-ID: {quoted}\n\nbuy SV\n--b--\n"
        ).encode()

    reply_to = str(message_from_bytes(notice.raw)["Reply-To"])
    for raw in (
        bounce(reply_to, notice.message_id),  # a reply address takes no bounces
        bounce(
            notice.envelope_sender, "<t.aaaaaaaaaaaaaaaaaaaa.bb@games.test>"
        ),  # C.12: not a letter of ours
        bounce(notice.envelope_sender, POST.new_message_id()),  # C.12: ours by its looks, never sent
        bounce(notice.envelope_sender, desk.notice("s2", "bob").message_id),  # C.12: went to somebody else
        bounce(POST.reply_address(new_token()), notice.message_id),
    ):
        outcome = await arrive(desk, clerk, raw)
        assert (outcome.replies, desk.bounces, desk.moves) == ((), [], [])
    outcome = await arrive(desk, clerk, bounce(notice.envelope_sender, notice.message_id))
    assert outcome.replies == () and desk.moves == []
    (found,) = desk.bounces
    assert found.is_permanent and found.message_id == notice.message_id and found.token.seat == "s1"


async def test_c12_a_bounce_token_gives_no_right_to_act(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    outcome = await arrive(desk, clerk, reply(notice, "buy SV", to=notice.envelope_sender))
    assert (outcome.replies, desk.moves) == ((), [])


async def test_c13_nobody_but_the_registered_address_is_written_to(
    desk: InMemoryService, clerk: MailPolicy
) -> None:
    notice = desk.notice()
    for number, sender in enumerate(
        ["victim@elsewhere.test", "victim@elsewhere.test, ann@player.test", "<>", ""]
    ):
        raw = reply(notice, "buy SV", sender=sender, message_id=f"<{number}@x>")
        await arrive(desk, clerk, raw)
        await arrive(desk, clerk, raw.replace(b"play+", b"play-x"))
    assert desk.moves == []
    assert {row.outgoing.recipient for row in desk.rows.values()} == {"ann@player.test"}


async def test_c14_our_own_mail_comes_back(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    assert (await arrive(desk, clerk, notice.raw)).reason == "our own mail"
    forwarded = notice.raw.replace(notice.message_id.encode(), b"<changed@relay.test>")
    assert (await arrive(desk, clerk, forwarded)).reason == "our own mail"
    assert (await arrive(desk, clerk, reply(notice, "buy SV", sender="play@games.test"))).replies == ()
    assert desk.moves == []


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
async def test_c15_quoted_letters_give_no_orders(
    desk: InMemoryService, clerk: MailPolicy, quoting: str
) -> None:
    """Whatever a mailer does to the quoted letter, what others wrote in it is never an order of ours."""
    notice = desk.notice(chat=HOSTILE)
    quoted = body(notice)
    stripped = "\n".join(quoted.splitlines()[2:])  # a mailer that lost even the delimiter
    raw = reply(notice, "buy SV\n\n" + quoting.format(body=quoted, stripped=stripped))
    await arrive(desk, clerk, raw)
    assert all("sell" not in line for _, line in desk.moves)
    if "{body}" in quoting and "Unbekannt" not in quoting:
        assert desk.moves == [("s1", "buy SV")]


# --- meta words ---


async def test_questions_are_answered_with_text_and_pictures(
    desk: InMemoryService, clerk: MailPolicy
) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), "map\nlog 20\nstatus"))
    assert outcome.reason == "shown" and desk.moves == []
    assert "This is the map" in body(outcome.replies[0]) and "This is the log 20" in body(outcome.replies[0])
    kinds = [part.get_content_type() for part in message_from_bytes(outcome.replies[0].raw).walk()]
    assert kinds.count("image/png") == 1


async def test_questions_beside_orders_come_in_one_receipt(desk: InMemoryService, clerk: MailPolicy) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), "buy SV\nmarket"))
    assert outcome.reason == "played" and desk.moves == [("s1", "buy SV")]
    assert "This is the market" in body(outcome.replies[0])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("Map", "map"),
        ("show map", "map"),
        ("log 5", "log"),
        ("help?", "help"),
        ("map 5", None),
        ("Company PRR", "company"),
        ("show player Ann", "player"),
        ("turn", "turn"),
    ],
)
def test_asked(line: str, what: str | None) -> None:
    found = parse_query(line)
    assert (found.kind if found else None) == what


async def test_resign_needs_a_second_mail(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    mixed = await arrive(desk, clerk, reply(notice, "buy SV\nresign", message_id="<0@p>"))
    assert "`resign` must be the only line" in body(mixed.replies[0])
    first = await arrive(desk, clerk, reply(notice, "resign"))
    assert first.reason == "held" and desk.moves == []
    code = next(line for line in body(first.replies[0]).splitlines() if line.startswith("yes "))
    second = await arrive(desk, clerk, reply(first.replies[0], code, message_id="<2@p>"))
    assert second.reason == "played" and desk.moves == [("s1", "resign")]


@pytest.mark.parametrize(
    ("text", "subject"), [("stop", "Re: x"), ("", "stop"), ("unsubscribe", "x"), ("", "Re: STOP")]
)
async def test_stop(desk: InMemoryService, clerk: MailPolicy, text: str, subject: str) -> None:
    notice = desk.notice()
    token = str(message_from_bytes(notice.raw)["List-Unsubscribe"]).partition("mailto:")[2].partition("?")[0]
    outcome = await arrive(desk, clerk, reply(notice, text, to=token, subject=subject))
    assert outcome.reason == "stopped" and desk.stopped == {"ann@player.test"}
    assert "No more letters" in body(outcome.replies[0])


@pytest.mark.parametrize(("text", "subject"), [("start", "Re: x"), ("Start.", "x"), ("", "start")])
async def test_start_after_stop(desk: InMemoryService, clerk: MailPolicy, text: str, subject: str) -> None:
    notice = desk.notice()
    token = str(message_from_bytes(notice.raw)["List-Unsubscribe"]).partition("mailto:")[2].partition("?")[0]
    stopped = await arrive(desk, clerk, reply(notice, "", to=token, subject="stop", message_id="<1@p>"))
    assert desk.stopped
    started = await arrive(desk, clerk, reply(stopped.replies[0], text, subject=subject, message_id="<2@p>"))
    assert started.reason == "started" and desk.stopped == set() and desk.moves == []
    assert "Letters come again" in body(started.replies[0])


async def test_a_company_is_started_as_ever(desk: InMemoryService, clerk: MailPolicy) -> None:
    desk.stopped.add("ann@player.test")
    outcome = await arrive(desk, clerk, reply(desk.notice(), "start PRR H12 100"))
    assert outcome.reason != "started" and desk.stopped


async def test_stop_by_reply_and_not_by_others(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    await arrive(desk, clerk, reply(notice, "stop", sender="eve@evil.test", message_id="<1@e>"))
    mixed = await arrive(desk, clerk, reply(notice, "buy SV\nstop", message_id="<2@p>"))
    assert desk.stopped == set() and desk.moves == [] and "must be the only line" in body(mixed.replies[0])
    assert (await arrive(desk, clerk, reply(notice, "Stop.", message_id="<3@p>"))).reason == "stopped"


@pytest.mark.parametrize(("word", "yes"), [("yes", True), ("Yes!", True), ("no", False), ("maybe", None)])
@pytest.mark.parametrize("purpose", ["link", "invite"])
async def test_confirmations(
    desk: InMemoryService, clerk: MailPolicy, purpose: str, word: str, yes: bool | None
) -> None:
    address = "new@player.test"
    page, sealed = (
        (address_confirmation("Ann"), ReplyToken("link", address, frozenset({address}), ""))
        if purpose == "link"
        else (
            invitation("Ann", "Table 17"),
            ReplyToken("invite", address, frozenset({address}), "Table 17", "17"),
        )
    )
    letter = desk.post(compose(POST, page, sealed, desk.clock(), purpose))
    other = await arrive(desk, clerk, reply(letter, word, sender="eve@evil.test", message_id="<0@e>"))
    assert other.reason == "wrong sender" and desk.linked == []
    outcome = await arrive(desk, clerk, reply(letter, word, sender=address))
    assert desk.linked == ([] if yes is None else [(address, yes)])
    assert outcome.replies[0].recipient == address


# --- what cannot be read ---


@pytest.mark.parametrize("problem", list(MailProblem))
async def test_every_problem_has_its_sentence(
    desk: InMemoryService, clerk: MailPolicy, problem: MailProblem
) -> None:
    letter = parse_mail(reply(desk.notice(), "buy SV"))
    from dataclasses import replace

    outcome = await clerk.handle(replace(letter, problem=problem, text=""))
    assert problem.value in body(outcome.replies[0]) and "Nothing was changed" in body(outcome.replies[0])
    assert desk.moves == []


async def test_orders_among_quotes_are_named(desk: InMemoryService, clerk: MailPolicy) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), "> It is your turn\n\nbuy SV"))
    assert desk.moves == [] and "| buy SV" in body(outcome.replies[0])


async def test_faults_name_the_line(desk: InMemoryService, clerk: MailPolicy) -> None:
    outcome = await arrive(desk, clerk, reply(desk.notice(), "buy SV\nbuy \u202eX"))
    assert "Line 2" in body(outcome.replies[0]) and desk.moves == []


async def test_a_mail_that_kills_its_reader_is_put_aside(desk: InMemoryService, clerk: MailPolicy) -> None:
    outcome = await clerk.handle_unparsable(reply(desk.notice(), "buy SV"))
    assert outcome.folder == Folder.QUARANTINE and outcome.replies[0].recipient == "ann@player.test"
    assert desk.alerts
    stranger = await clerk.handle_unparsable(b"From: eve@evil.test\r\nTo: play@games.test\r\n\r\nx")
    assert stranger.replies == ()


# --- limits ---


async def test_twenty_answers_an_hour_then_a_pause(desk: InMemoryService, clerk: MailPolicy) -> None:
    notice = desk.notice()
    sent = [
        await arrive(desk, clerk, reply(notice, "sell 1 X", message_id=f"<{n}@player.test>"))
        for n in range(25)
    ]
    assert [len(outcome.replies) for outcome in sent] == [1] * 21 + [0] * 4
    assert headline(sent[20].replies[0]) == "No more replies for now." and len(desk.moves) == 25
    desk.clock.advance(minutes=61)
    later = await arrive(desk, clerk, reply(notice, "sell 1 X", message_id="<later@player.test>"))
    assert headline(later.replies[0]).startswith("OK")


async def test_the_breaker_stops_all_answers_and_alerts_once(desk: InMemoryService) -> None:
    clerk = MailPolicy(POST, desk, limits=ReplyLimits(breaker_replies=5), now=desk.clock)
    notice = desk.notice()
    sent = [
        await arrive(desk, clerk, reply(notice, "sell 1 X", message_id=f"<{n}@player.test>"))
        for n in range(8)
    ]
    assert sum(len(outcome.replies) for outcome in sent) == 5 and len(desk.alerts) == 1


async def test_c25_tokens_of_another_seat_are_in_no_letter(desk: InMemoryService, clerk: MailPolicy) -> None:
    mine, others = desk.notice(), desk.notice("s2", "bob")
    outcome = await arrive(desk, clerk, reply(mine, "buy SV"))
    theirs = POST.find_tokens([others.raw.decode(), others.envelope_sender])
    for letter in (mine, *outcome.replies):
        for token in POST.find_tokens([letter.raw.decode()]):
            assert desk.tokens[hash_token(token)].seat == "s1"
            assert token not in theirs


def test_clock_is_utc() -> None:
    assert MailClock()().tzinfo is not None
