"""What an email may do and what it is answered: the rows of the policy table, and the threat model's rows by
name.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from email import message_from_bytes
from email.mime.image import MIMEImage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from mail.composing.compose import OutgoingMail
from mail.imap import Folder
from mail.reading.parser import parse_mail, unparsed
from mail.reading.parts import MailProblem
from mail.reply_address import hash_token
from tests.mail.mail_desk import (
    ADDRESS,
    ANN,
    BOB,
    POST,
    MailDesk,
    alerts,
    reply,
)
from tests.mail.servers import Delivery


def headline(email: OutgoingMail) -> str:
    return email.text.splitlines()[0]


def one_line(email: OutgoingMail) -> str:
    return " ".join(email.text.split())


def lost(raw: bytes) -> bytes:
    """A reply that has lost what it answers."""
    return raw.replace(b"In-Reply-To", b"X-Was").replace(b"References", b"X-Were")


# --- who may act ---


async def test_orders_are_executed_and_echoed(desk: MailDesk, notice: Delivery) -> None:
    outcome = await desk.arrive(reply(notice, "buy SV\n\nThanks!"))
    assert await desk.played() == ["buy SV"]
    assert (outcome.reason, outcome.folder) == ("played", Folder.PROCESSED)
    (answer,) = outcome.replies
    assert answer.recipient == ANN and headline(answer).startswith("OK")
    assert "buy SV → Ann buys the SV for $20" in answer.text and "| Thanks!" in answer.text
    assert message_from_bytes(answer.raw)["In-Reply-To"] == "<reply-1@player.test>"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("juggle", "no line that the game can read"),
        ("Thanks all, good game!", "`say …` tells the table something"),
        ("bu SV", "If you mean that, reply with"),
        ("buy CA", "You can write instead"),
        ("buy CA\n\nbid CA 165", "Line 1"),
        ("buy SV\n\nbuy CA", "Line 3"),
        ("buy SV\nbuy \u202eX", "Line 2"),
        ("Ja, bitte", "Nothing waits for a `yes`"),
        ("buy SV\nstop", "must be the only line"),
    ],
)
async def test_each_kind_of_refusal_says_what_would_be_right(
    desk: MailDesk, notice: Delivery, line: str, words: str
) -> None:
    (answer,) = (await desk.arrive(reply(notice, line))).replies
    assert words in answer.text and headline(answer).startswith("NOT DONE")
    assert "Nothing was changed." in answer.text and await desk.played() == []


async def test_a_lost_token_is_found_by_the_thread(desk: MailDesk, notice: Delivery) -> None:
    assert (await desk.arrive(reply(notice, "buy SV", to=ADDRESS))).reason == "played"


async def test_a_token_in_upper_case_is_the_same(desk: MailDesk, notice: Delivery) -> None:
    raw = reply(notice, "buy SV", to=str(notice.message["Reply-To"]).upper())
    assert (await desk.arrive(lost(raw))).reason == "played"


async def test_c01_forged_from_without_token(desk: MailDesk, notice: Delivery) -> None:
    raw = lost(reply(notice, "buy SV", to=ADDRESS, sender="eve@evil.test"))
    outcome = await desk.arrive(raw)
    assert (outcome.reason, outcome.replies, outcome.folder) == ("stranger", (), Folder.IGNORED)
    raw = raw.replace(b"eve@evil.test", ANN.encode())
    known = await desk.arrive(raw)
    assert known.reason == "help" and await desk.played() == []
    assert ", as Ann" in known.replies[0].text
    assert (await desk.arrive(raw + b" ")).replies == ()  # once a day
    desk.clock[0] += timedelta(days=1, minutes=1)
    assert (await desk.arrive(raw + b"  ")).replies


async def test_c02_a_foreign_message_id_is_not_even_asked_for(desk: MailDesk, notice: Delivery) -> None:
    forged = "<t.aaaaaaaaaaaaaaaaaaaa.bbbb@games.test>"
    async with desk.service.store.begin() as unit:
        (secret,) = POST.find_tokens([str(notice.message["Reply-To"])])
        row = await unit.mail_tokens.by_hash(hash_token(secret))
        assert row is not None and row.person_id is not None
        await unit.mail_tokens.add(
            "0" * 64, row.purpose, table_id=row.table_id, seat=row.seat, person_id=row.person_id,
            decision_id=row.decision_id, address=ANN, message_id=forged, expires_at=row.expires_at,
        )  # fmt: skip
    own = str(notice.message["Message-ID"]).encode()
    raw = reply(notice, "buy SV", to=ADDRESS)
    assert (await desk.arrive(raw.replace(own, forged.encode()))).reason == "help"
    assert (await desk.arrive(raw)).reason == "played"


async def test_c03_leaked_token(desk: MailDesk, notice: Delivery) -> None:
    """Whoever has the token and the code, the owner of the address alone can confirm."""
    outcome = await desk.arrive(reply(notice, "buy SV", sender=BOB))
    (note,) = outcome.replies
    assert outcome.reason == "wrong sender" and note.recipient == ANN
    code = next(line.strip() for line in note.text.splitlines() if line.startswith("yes "))
    again = await desk.arrive(reply(notice, code, sender=BOB, message_id="<2@p>"))
    unknown = await desk.arrive(reply(note, "yes wrongcode234", message_id="<w@p>"))
    assert (again.reason, unknown.reason, await desk.played()) == ("wrong sender", "not done", [])
    for number in ("<3@p>", "<5@p>"):
        assert (await desk.arrive(reply(note, code, message_id=number))).reason == "played"
    assert await desk.played() == ["buy SV"]
    assert message_from_bytes(note.raw)["In-Reply-To"] != "<reply-1@player.test>"
    (linked,) = (await desk.arrive(reply(note, "link ann@work.test", message_id="<4@p>"))).replies
    assert "with `link` and that address" in one_line(note) and "goes to ann@work.test" in one_line(linked)


@pytest.mark.parametrize(
    ("registered", "writes"), [("ann+games@x.test", "ann@x.test"), ("ann@x.test", "ann+phone@x.test")]
)
async def test_who_writes_with_another_tag_is_no_stranger(
    desk: MailDesk, notice: Delivery, registered: str, writes: str
) -> None:
    """They were asked whether they had sent it. The answer goes to the address that is registered."""
    await desk.person("Ann", registered)
    (receipt,) = (await desk.arrive(reply(notice, "buy SV", sender=f"Ann <{writes}>"))).replies
    assert await desk.played() == ["buy SV"] and receipt.recipient == registered
    sender = "ann+list@x.test"
    raw = reply(notice, "list", sender=sender, to=ADDRESS, message_id="<2@p>")
    assert (await desk.arrive(lost(raw))).reason == ("table" if registered == "ann@x.test" else "stranger")


@pytest.mark.parametrize(
    ("registered", "writes"),
    [("lee+ann@x.test", "lee+bob@x.test"), ("+15551110000@sms.test", "+15552220000@sms.test")],
)
async def test_two_people_whose_addresses_differ_in_more_than_a_tag(
    desk: MailDesk, notice: Delivery, registered: str, writes: str
) -> None:
    await desk.person("Ann", registered)
    outcome = await desk.arrive(reply(notice, "buy SV", sender=f"Bob <{writes}>"))
    assert (outcome.reason, await desk.played()) == ("wrong sender", [])


async def test_c09_a_reply_to_all_from_a_mailbox_that_two_share(desk: MailDesk, notice: Delivery) -> None:
    await desk.person("Ann", "lee+ann@x.test")
    await desk.person("Bob", "lee@x.test")
    both = ", ".join(str(each.message["Reply-To"]) for each in (notice, desk.newest[BOB]))
    outcome = await desk.arrive(reply(notice, "status", to=both, sender="Bob <lee@x.test>"))
    assert outcome.reason == "shown" and outcome.replies[0].recipient == "lee@x.test"


async def test_what_another_has_verified_is_no_second_address(desk: MailDesk, notice: Delivery) -> None:
    await desk.person("Ann", "lee+ann@x.test")
    await desk.person("Bob", "lee@x.test")
    outcome = await desk.arrive(reply(notice, "buy SV", sender="Bob <lee@x.test>"))
    assert (outcome.reason, await desk.played()) == ("wrong sender", [])


async def test_c03_notices_about_strangers_are_few(desk: MailDesk, notice: Delivery) -> None:
    sent = [
        await desk.arrive(reply(notice, "pass", sender="eve@evil.test", message_id=f"<{n}@evil.test>"))
        for n in range(5)
    ]
    assert [len(outcome.replies) for outcome in sent] == [1, 1, 1, 0, 0]


async def test_c04_failed_authentication(desk: MailDesk, notice: Delivery) -> None:
    extra = "Authentication-Results: mx.games.test; dkim=fail; dmarc=fail header.from=player.test\n"
    outcome = await desk.arrive(reply(notice, "buy SV", extra=extra), "mx.games.test")
    assert (outcome.reason, outcome.folder) == ("forged", Folder.QUARANTINE)
    assert "failed authentication" in outcome.replies[0].text and await desk.played() == []
    again = reply(notice, "pass", extra=extra, message_id="<2@player.test>")
    assert (await desk.arrive(again, "mx.games.test")).replies == ()  # once a day
    elsewhere = reply(notice, "buy SV", extra=extra, message_id="<3@p>")
    assert (await desk.arrive(elsewhere, "mx.other.test")).reason == "played"


async def test_c09_several_reply_addresses_are_ambiguous(desk: MailDesk, notice: Delivery) -> None:
    """Those of the sender, at two tables. A reply to all carries another player's, and went unanswered."""
    his = desk.newest[BOB]
    await desk.table("1830", ["Ann", "Cid"])
    await desk.take()
    hers, other = (str(each.message["Reply-To"]) for each in (notice, desk.newest[ANN]))
    outcome = await desk.arrive(reply(notice, "buy SV", to=f"{hers}, {other}"))
    assert (outcome.reason, len(outcome.replies), await desk.played()) == ("ambiguous", 1, [])
    both = f"{his.message['Reply-To']}, {hers}"
    outcome = await desk.arrive(reply(notice, "buy SV", to=both, sender="eve@evil.test", message_id="<e@e>"))
    assert outcome.reason == "ambiguous" and "yes " not in outcome.replies[0].text
    (receipt,) = (await desk.arrive(reply(notice, "buy SV", to=both, message_id="<2@p>"))).replies
    assert receipt.recipient == ANN and await desk.played() == ["buy SV"]


async def test_c10_automatic_mail_is_never_answered(desk: MailDesk, notice: Delivery) -> None:
    """Nor is ours by another installation, whose address knows ours."""
    marks = ("Auto-Submitted: auto-replied", "X-Autoreply: yes", "Precedence: junk", "Return-Path: <>")
    for number, extra in enumerate((*marks, "X-Failed-Recipients: a@b.test")):
        outcome = await desk.arrive(reply(notice, "buy SV", extra=f"{extra}\n", message_id=f"<{number}@p>"))
        assert (outcome.folder, outcome.replies) == (Folder.IGNORED, ())
    assert await desk.played() == [] and parse_mail(notice.raw).automatic_sign


async def test_c10_a_reply_that_a_list_marks_is_a_reply(desk: MailDesk, notice: Delivery) -> None:
    """Some mail programs put `Precedence: list` on everything. It counts from the owner of a token alone."""
    extra = "Precedence: list\n"
    stranger = reply(notice, "buy SV", extra=extra, sender="eve@other.test", message_id="<e@o.test>")
    both = f"Auto-Submitted: auto-replied\n{extra}"
    automatic = reply(notice, "buy SV", extra=both, message_id="<a@player.test>")
    for raw in (stranger, automatic):
        outcome = await desk.arrive(raw)
        assert (outcome.folder, outcome.replies, await desk.played()) == (Folder.IGNORED, (), [])
    await desk.arrive(reply(notice, "buy SV", extra=extra))
    assert await desk.played() == ["buy SV"]


async def test_c13_nobody_but_the_registered_address_is_written_to(desk: MailDesk, notice: Delivery) -> None:
    replies = []
    for number, sender in enumerate(["victim@elsewhere.test", f"victim@elsewhere.test, {ANN}", "<>", ""]):
        raw = reply(notice, "buy SV", sender=sender, message_id=f"<{number}@x>")
        replies += [*(await desk.arrive(raw)).replies]
        replies += [*(await desk.arrive(raw.replace(b"play+", b"play-x"))).replies]
    assert await desk.played() == [] and {each.recipient for each in replies} == {ANN}


async def test_c14_our_own_mail_comes_back(desk: MailDesk, notice: Delivery) -> None:
    own = str(notice.message["Message-ID"]).encode()
    for raw in (
        notice.raw,
        notice.raw.replace(own, b"<changed@relay.test>"),
        reply(notice, "buy SV", sender=ADDRESS),
    ):
        assert (await desk.arrive(raw)).reason == "our own mail"
    assert await desk.played() == []


@pytest.mark.parametrize(
    "quoting",
    [
        "{body}",
        "From: Friday <play@games.test>\nSent: Friday\nTo: Ann\nSubject: Your turn\n\n{body}",
        "________________________________\n{body}",
        "-----Original Message-----\n{body}",
        "On Fri, Nov 20, 2026 at 9:00 Friday <play@games.test> wrote:\n{body}",
        "Unbekannte Einleitung\n\n{body}",
        "{stripped}",
    ],
)
async def test_c15_quoted_mails_give_no_orders(desk: MailDesk, notice: Delivery, quoting: str) -> None:
    """Whatever a mailer does to the quoted email, what others wrote in it is never an order of ours."""
    (table,) = await desk.service.queries.list_tables()
    await desk.service.running.talk(table.id, await desk.person("Bob"), "bid CA 165", "said on Discord")
    await desk.take()
    email = desk.newest[ANN]
    assert "Bob says: bid CA 165" in email.text
    stripped = "\n".join(email.text.splitlines()[2:])  # a mailer that lost even the delimiter
    await desk.arrive(reply(email, "buy SV\n\n" + quoting.format(body=email.text, stripped=stripped)))
    is_plain = "{body}" in quoting and "Unbekannt" not in quoting
    assert await desk.played() in (["buy SV"], *([] if is_plain else [[]]))


# --- emails stop, and start ---


@pytest.mark.parametrize(
    ("stop", "start"),
    [
        (("Stop.", "Re: x"), ("start", "Re: x")),
        (("unsubscribe", "x"), ("Start.", "x")),
        (("", "stop"), ("", "start")),
        (("", "AW: STOP"), ("", "Re: Start")),
    ],
)
async def test_stop_and_start(
    desk: MailDesk, notice: Delivery, stop: tuple[str, str], start: tuple[str, str]
) -> None:
    """By the address in the header or in reply; a company is started as ever, and others stop nothing."""
    header = str(notice.message["List-Unsubscribe"]).partition("mailto:")[2].partition("?")[0]
    by_others = await desk.arrive(reply(notice, "stop", sender="eve@evil.test", message_id="<0@e>"))
    assert by_others.reason == "wrong sender"
    for number, to in enumerate((header, None)):
        raw = reply(notice, stop[0], to=to, subject=stop[1], message_id=f"<{number}@p>")
        stopped = await desk.arrive(raw)
        assert stopped.reason == "stopped" and "No more emails go to" in stopped.replies[0].text
    company = await desk.arrive(reply(notice, "start PRR H12 100", message_id="<company@p>"))
    assert company.reason != "started"
    raw = reply(stopped.replies[0], start[0], subject=start[1], message_id="<back@p>")
    started = await desk.arrive(raw)
    assert started.reason == "started" and f"Emails go to {ANN} again" in one_line(started.replies[0])
    assert await desk.played() == []


async def test_an_email_that_a_mail_program_writes_to_unsubscribe_is_no_answering_machine(
    desk: MailDesk, notice: Delivery
) -> None:
    """It was ignored, as is one that answers, or comes from another address."""
    header = str(notice.message["List-Unsubscribe"]).partition("mailto:")[2].partition("?")[0]
    ignored, text = "automatic: Auto-Submitted", "This message was automatically generated."
    generated = f"{ignored}: auto-generated"
    for number, (to, sender, sign, reason) in enumerate(
        [
            (None, ANN, "generated", generated),
            (header, "eve@evil.test", "generated", generated),
            (header, ANN, "replied", ignored),
            (header, ANN, "generated", "stopped"),
        ]
    ):
        extra = f"Auto-Submitted: auto-{sign}\n"
        raw = reply(notice, text, to=to, sender=sender, extra=extra, message_id=f"<{number}@p>")
        assert (await desk.arrive(raw.replace(b"Re: [Friday] Your turn", b"stop"))).reason == reason
    assert (await desk.arrive(raw.replace(b"Re: [Friday] Your turn", b"start"))).reason == "stopped"


async def test_who_unsubscribes_with_an_email_that_was_forwarded_gets_no_more(
    desk: MailDesk, notice: Delivery
) -> None:
    """The email went to an address that is given up: it was said that nothing goes there any more."""
    ann = await desk.person("Ann", "ann@work.test")
    async with desk.service.store.begin() as unit:
        await unit.people.remove_identity(ann, "email", ANN)
    header = str(notice.message["List-Unsubscribe"]).partition("mailto:")[2].partition("?")[0]
    outcome = await desk.arrive(reply(notice, "", to=header, subject="stop", sender="ann@work.test"))
    assert "No more emails go to ann@work.test." in one_line(outcome.replies[0])
    async with desk.service.store.read() as unit:
        assert (await unit.people.get(ann)).preferences["mail"] is False


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("Re: pass", "its moves stand in the subject, where none are read"),
        ("Re: [Friday] Your turn", "it has no text above the quoted email"),
    ],
)
async def test_an_email_with_nothing_but_a_subject(
    desk: MailDesk, notice: Delivery, subject: str, words: str
) -> None:
    outcome = await desk.arrive(reply(notice, "", subject=subject))
    assert outcome.reason == "unreadable" and words in one_line(outcome.replies[0])
    assert await desk.played() == []


async def test_who_asks_in_prose_for_no_more_emails_reads_the_word_for_it(
    desk: MailDesk, notice: Delivery
) -> None:
    outcome = await desk.arrive(reply(notice, "Please stop sending me these emails."))
    assert outcome.reason == "no moves" and "You can write stop" in one_line(outcome.replies[0])


async def test_stop_without_a_token_is_told_how(desk: MailDesk, notice: Delivery) -> None:
    outcome = await desk.arrive(lost(reply(notice, "Stop", to=ADDRESS)))
    assert outcome.reason == "not done" and "reply to this email with `stop`" in one_line(outcome.replies[0])


# --- what cannot be read ---


@pytest.mark.parametrize("problem", [each for each in MailProblem if each is not MailProblem.FAILED])
async def test_every_problem_has_its_sentence(desk: MailDesk, notice: Delivery, problem: MailProblem) -> None:
    email = parse_mail(reply(notice, "buy SV"))
    (answer,) = (await desk.policy.handle(replace(email, problem=problem, text=""))).replies
    assert problem.value in one_line(answer) and "Nothing was changed" in answer.text
    assert await desk.played() == []


async def test_orders_below_quotes_are_played_and_named(desk: MailDesk, notice: Delivery) -> None:
    outcome = await desk.arrive(reply(notice, "> It is your turn\n\nbuy SV"))
    assert await desk.played() == ["buy SV"]
    assert "between or below the quoted lines" in one_line(outcome.replies[0])


@pytest.mark.parametrize("is_lost", [False, True])
async def test_yes_takes_up_what_was_meant(desk: MailDesk, notice: Delivery, is_lost: bool) -> None:
    """Also where the reply has lost the thread, and `yes` to a later email says nothing."""
    (asked,) = (await desk.arrive(reply(notice, "buy SV?", message_id="<a@p>"))).replies
    assert await desk.played() == [] and "buy SV → Ann buys the SV for $20" in asked.text
    other = await desk.arrive(reply(notice, "yes", message_id="<other@p>"))
    assert other.reason == "no moves"
    yes = reply(asked, "Yes, please!\n\nAnn", message_id="<b@p>")
    assert (await desk.arrive(lost(yes) if is_lost else yes)).reason == "played"
    assert await desk.played() == ["buy SV"]


async def test_yes_to_a_later_email_of_the_thread_is_for_nothing_that_was_asked_before(
    desk: MailDesk, notice: Delivery
) -> None:
    """Mail programs name the whole thread: `yes` to a receipt gave up the seat."""
    (asked,) = (await desk.arrive(reply(notice, "resign", message_id="<1@p>"))).replies
    (receipt,) = (await desk.arrive(reply(asked, "bid CA 165", message_id="<2@p>"))).replies
    own, thread = (str(message_from_bytes(receipt.raw)[name]) for name in ("Message-ID", "References"))
    assert str(message_from_bytes(asked.raw)["Message-ID"]) in thread
    yes = reply(receipt, "yes", message_id="<3@p>").decode()
    yes = yes.replace(f"References: {own}", f"References: {thread} {own}")
    assert (await desk.arrive(yes.encode())).reason == "no moves"
    assert await desk.played() == ["bid CA 165"]


QUOTED = "> If you mean that, reply with\n> yes\n\nyes"


@pytest.mark.parametrize(
    "said",
    [
        "yes, I am sure", "Yes, that's right, thanks!", "yes sure", "yes right", "yes sure thanks",
        "Yes correct.", "Hello,\n\nyes\n\nAnn", "Hi Bob, yes!", "Hello - yes please. Thanks", "Hi, Si, yes!",
        f"Hi,\n\n{QUOTED}", QUOTED,
    ],
)  # fmt: skip
async def test_what_was_asked_is_confirmed_by_yes_alone(desk: MailDesk, notice: Delivery, said: str) -> None:
    (asked,) = (await desk.arrive(reply(notice, "buy SV?", message_id="<a@p>"))).replies
    await desk.arrive(reply(asked, said, message_id="<b@p>"))
    assert await desk.played() == ["buy SV"]
    late = await desk.arrive(reply(asked, "Thanks, see you on Friday", message_id="<d@p>"))
    assert late.reason == "no moves" and "this word alone" not in late.replies[0].text


async def test_what_confirms_nothing_is_answered_by_what_was_asked(desk: MailDesk, notice: Delivery) -> None:
    """`yes` to that answer does it, once."""
    (asked,) = (await desk.arrive(reply(notice, "buy SV?", message_id="<a@p>"))).replies
    for number, said in enumerate(
        (
            "Hi Bob, Si,\n\nno", "Hi, Si!\n\nLet me think about it until tomorrow.", f"My answer\n\n{QUOTED}",
            f"{QUOTED}\nbut not yet", "Yes?", "Yes, if Bob sells", "Yes, but only if Bob buys CS",
            "Sell it for me, yes", "yes\n\nbuy CS?", "buy " + "x" * 600, "turn",
            "status\n\nsay one moment", "say let me think", "settings next on", "",
        )
    ):  # fmt: skip
        (again,) = (await desk.arrive(reply(asked, said, message_id=f"<b{number}@p>"))).replies
        assert await desk.played() == [], said
        assert "asked about\n  * buy SV → Ann buys the SV for $20." in again.text, said
        assert "reply with this word alone\n\nyes" in again.text, said
    for number in range(2):
        assert (await desk.arrive(reply(again, "yes", message_id=f"<c{number}@p>"))).reason == "played"
    assert await desk.played() == ["buy SV"]
    late = await desk.arrive(reply(asked, "Thanks, see you on Friday", message_id="<d@p>"))
    assert late.reason == "no moves" and "this word alone" not in late.replies[0].text


@pytest.mark.parametrize(
    ("said", "played"),
    [
        ("Yes\nbuy SV", ["buy SV"]),
        ("Yes please!\n\nbuy SV\n\nAnn", ["buy SV"]),
        ("Yes\nbid CS 45", []),
        ("Yes?\nbuy SV", []),
        ("buy SV\nyes", []),
        ("Yes\nunless Bob bids\nbuy SV", []),
    ],
)
async def test_a_yes_above_the_move_that_was_asked_about_is_no_doubt(
    desk: MailDesk, notice: Delivery, said: str, played: list[str]
) -> None:
    """It was asked again. Above another move it is, as where a vote is asked for."""
    (asked,) = (await desk.arrive(reply(notice, "buy SV?", message_id="<a@p>"))).replies
    outcome = await desk.arrive(reply(asked, said, message_id="<b@p>"))
    assert await desk.played() == played and outcome.reason == ("played" if played else "unclear")


async def test_a_yes_above_a_move_is_a_doubt_only_where_something_is_asked(desk: MailDesk) -> None:
    await desk.begun("Ann", "Bob", "Cid")
    assert (await desk.write("Ann", "yes", "stop")).reason == "unclear"  # it was called no line of the game
    for name, *lines in (("Ann", "yes", "buy SV"), ("Bob", "pass"), ("Ann", "undo")):
        await desk.write(name, *lines)
    assert "Your vote is needed" in desk.newest[BOB].text
    assert (await desk.write("Bob", "yes", "status")).reason == "unclear"
    assert await desk.played() == ["buy SV", "pass"]


async def test_a_mail_that_kills_its_parser_is_quarantined(
    desk: MailDesk, notice: Delivery, caplog: pytest.LogCaptureFixture
) -> None:
    outcome = await desk.policy.handle(unparsed(reply(notice, "buy SV"), MailProblem.BROKEN))
    assert outcome.folder == Folder.QUARANTINE and outcome.replies[0].recipient == ANN
    assert alerts(caplog)
    unknown = unparsed(b"From: eve@evil.test\r\nTo: play@games.test\r\n\r\nx", MailProblem.BROKEN)
    stranger = await desk.policy.handle(unknown)
    assert stranger.replies == ()


@pytest.mark.parametrize(
    "said",
    ["I am out of the office until Monday.", "Away until 5 January. Ask Bob.", "Away until 2026-12-24."],
)
async def test_a_program_that_answers_by_itself_is_answered_once_an_hour(
    desk: MailDesk, notice: Delivery, caplog: pytest.LogCaptureFixture, said: str
) -> None:
    """It has no header that says so, and quotes another email of ours each time; what it says may begin as a
    setting, or be one, which is true then."""
    away = said + "\n\n> {}\n"
    for number in range(4):
        outcome = await desk.arrive(reply(notice, away.format(number), message_id=f"<away{number}@p.test>"))
        assert len(outcome.replies) == (number == 0)
    assert len(alerts(caplog)) == 1 and "the same text again" in alerts(caplog)[0]
    other = await desk.arrive(reply(notice, "What now?", message_id="<other@p.test>"))
    assert other.replies
    assert not (await desk.arrive(reply(notice, away.format(4), message_id="<away4@p.test>"))).replies
    await desk.arrive(reply(notice, "back", message_id="<back@p.test>"))
    between = reply(notice, away.format(5), message_id="<away5@p.test>")
    assert (await desk.arrive(between)).replies, "something else was read in between"
    desk.clock[0] += timedelta(hours=1)
    later = reply(notice, away.format(9), message_id="<away9@p.test>")
    assert (await desk.arrive(later)).replies
    assert (await desk.policy.handle(parse_mail(later))).replies, "the same mail again, after a crash"


@pytest.mark.parametrize(
    ("kind", "texts", "played"),
    [
        ("mixed", ["buy SV", "only if Bob sells"], []),
        ("mixed", ["Look at this:", "buy SV"], []),
        ("mixed", ["Hi Bob,", "buy SV"], ["buy SV"]),
        ("mixed", ["buy SV", "_" * 47 + "\ngames mailing list\npass"], ["buy SV"]),
        ("mixed", ["", "buy SV"], ["buy SV"]),
        ("alternative", ["bid CA 165", "bid CA 165"], ["bid CA 165"]),
    ],
)
async def test_text_above_and_below_a_picture(
    desk: MailDesk, notice: Delivery, kind: str, texts: list[str], played: list[str]
) -> None:
    """Apple Mail writes a part for each; what a mailing list adds is one too. Of alternatives one is read."""
    head, mail = message_from_bytes(reply(notice, "")), MIMEMultipart(kind)
    for text in texts:
        mail.attach(MIMEText(text))
        mail.attach(MIMEImage(b"x", "png"))
    for name in ("From", "To", "Subject", "Message-ID", "In-Reply-To"):
        mail[name] = head[name]
    await desk.arrive(mail.as_bytes())
    assert await desk.played() == played


# --- talk ---


async def test_say_goes_to_the_table_to_the_end_of_its_paragraph(desk: MailDesk, notice: Delivery) -> None:
    text = "buy SV\n\nsay Nice opening, Bob!\nWhat if I pass next time?\n\nCheers\nAnn"
    outcome = await desk.arrive(reply(notice, text))
    assert await desk.played() == ["buy SV"]
    assert "The table is told: Nice opening, Bob!" in one_line(outcome.replies[0])
    await desk.take()
    told = " ".join(desk.newest[BOB].text.split())
    assert "Ann says: Nice opening, Bob! What if I pass next time?" in told and "Cheers" not in told


@pytest.mark.parametrize(
    ("text", "played", "told"),
    [
        ("bid CS 45\n\nSAY: well; played", ["bid CS 45"], "Ann says: well; played"),
        ("note if Bob bids; pass", [], ""),
        ("note my plan; say nothing of it", [], ""),
        ("buy SV; note if Bob bids; pass", [], ""),
        ("buy SV # my secret; say nothing of it to Bob", ["buy SV"], ""),
        ("bid CS 45; say 50 if Bob has bid too", [], ""),
        ("away back Friday; say hi", [], ""),
        ("bid CS 45; show market; status", ["bid CS 45"], ""),
        ("buy SV\n[image: \N{THUMBS DOWN SIGN}]", [], ""),
        ("buy SV\n[image: not yet]", [], ""),
        ("buy SV\n[image: only if Bob passes]", [], ""),
        ("buy SV\n[image: logo.png]", ["buy SV"], ""),
    ],
)
async def test_lines_beside_each_other(
    desk: MailDesk, notice: Delivery, text: str, played: list[str], told: str
) -> None:
    """Text goes on to the end of its line: half a note was played, and half of another told to the table."""
    await desk.arrive(reply(notice, text))
    await desk.take()
    assert await desk.played() == played
    shown = " ".join(desk.newest[BOB].text.split())
    assert told in shown and ("Ann says" in shown) is bool(told)


async def test_prose_above_the_quote_is_shown_where_the_move_stands_below(
    desk: MailDesk, notice: Delivery
) -> None:
    text = "My answer is below.\n\n> It is your turn\n\nbuy SV"
    (receipt,) = (await desk.arrive(reply(notice, text))).replies
    assert await desk.played() == ["buy SV"] and "| My answer is below" in receipt.text


async def test_talk_behind_a_move_is_not_told_and_the_question_says_so(
    desk: MailDesk, notice: Delivery
) -> None:
    (asked,) = (await desk.arrive(reply(notice, "buy SV; say well played, Bob"))).replies
    assert "`say` needs a line of its own, so the table is not told this" in one_line(asked)
    assert await desk.played() == []
    await desk.arrive(reply(asked, "yes", message_id="<yes@p>"))
    await desk.take()
    assert await desk.played() == ["buy SV"] and "Ann says" not in desk.newest[BOB].text


@pytest.mark.parametrize(
    "text",
    [
        "say good luck all\nbuy SV",
        "buy SV\n\nsay well\nbuy CS",
        "say good luck all; bid CA 165",
        "say buy SV",
        "buy SV\nsay well\npass",
    ],
)
async def test_a_line_of_play_never_becomes_talk(desk: MailDesk, notice: Delivery, text: str) -> None:
    """It is a doubt, before anything is published; `yes` plays it."""
    before = desk.newest[BOB]
    outcome = await desk.arrive(reply(notice, text))
    assert outcome.reason == "unclear" and await desk.played() == []
    told = one_line(outcome.replies[0])
    assert "it stands in what you say to the table" in told and "pause" not in told
    await desk.take()
    assert desk.newest[BOB] is before


@pytest.mark.parametrize("text", ["say try harder next time", "say note the price; it falls"])
async def test_talk_may_begin_like_a_command_behind_which_any_text_stands(
    desk: MailDesk, notice: Delivery, text: str
) -> None:
    await desk.arrive(reply(notice, text))
    await desk.take()
    assert f"Ann says: {text[4:]}" in " ".join(desk.newest[BOB].text.split())


@pytest.mark.parametrize(
    "text", ["Note that I am away.", "Try to be quicker, Bob!", "buy SV\n\nNote that I pay"]
)
async def test_a_sentence_may_begin_like_a_command_behind_which_any_text_stands(
    desk: MailDesk, notice: Delivery, text: str
) -> None:
    """It became a note, or a plan, without a word to the table."""
    outcome = await desk.arrive(reply(notice, text))
    assert outcome.reason in ("no moves", "unclear") and await desk.played() == []


async def test_what_is_half_done_does_not_say_that_nothing_was(desk: MailDesk, notice: Delivery) -> None:
    """What is said to the table is told, though the move below is refused."""
    (answer,) = (await desk.arrive(reply(notice, "say well\n\nbuy CA"))).replies
    assert headline(answer).startswith("NOT DONE") and await desk.played() == []
    assert "The table is told: well" in answer.text and "Nothing was changed" not in answer.text


async def test_talk_alone_and_prose_that_never_leaves(desk: MailDesk, notice: Delivery) -> None:
    text = "My wife is ill, keep that to yourself.\n\nsay I am slow this week"
    assert (await desk.arrive(reply(notice, text))).reason == "said"
    await desk.take()
    told = desk.newest[BOB].text
    assert "Ann says: I am slow this week" in told and "wife" not in told and await desk.played() == []


async def test_c25_tokens_of_another_seat_are_in_no_mail(desk: MailDesk, notice: Delivery) -> None:
    outcome = await desk.arrive(reply(notice, "buy SV"))
    for raw in (notice.raw, *(email.raw for email in outcome.replies)):
        tokens = await desk.tokens(raw.decode())
        assert tokens and {token.seat_number for token in tokens} == {0}
