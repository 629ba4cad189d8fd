"""Emails that were accepted and came back: what they said is said again, and hosts hear of invitations."""

from __future__ import annotations

from datetime import timedelta

from bot.email.reachability import ASK_AGAIN, KEPT, Bounce
from mail.reading.bounces import BounceKind
from tests.mail.mail_desk import ADDRESS, MailDesk
from tests.mail.servers import Delivery

ANN, BOB, WORK = "ann@player.test", "bob@player.test", "ann@work.test"
UNKNOWN, FULL = "550 5.1.1 User unknown", "552 5.2.2 Mailbox full"
LOST = "What you have missed"


async def come_back(desk: MailDesk, email: Delivery, kind: BounceKind, reason: str) -> None:
    """An email that was accepted comes back."""
    message_id = email.message["Message-ID"]
    (token,) = await desk.tokens(email.message["Reply-To"])
    await desk.people.record_bounce(Bounce(token, message_id, kind, reason))


async def later(desk: MailDesk, hours: float = 0) -> list[Delivery]:
    """The emails that are due after so many hours."""
    desk.clock[0] += timedelta(hours=hours)
    desk.emails.clear()
    await desk.take()
    return list(desk.emails)


def missed(emails: list[Delivery]) -> list[str]:
    """What the emails to Ann say that was missed."""
    to = [each for each in emails if each.message["To"] == ANN and LOST in each.message["Subject"]]
    return [each.text for each in to]


async def lost_three(desk: MailDesk, kind: BounceKind, reason: str) -> int:
    """A start, an answer and the words of another player come back to Ann."""
    table = await desk.table("1830", ["Bob", "Ann"])
    begun = next(each for each in await later(desk) if each.message["To"] == ANN)
    assert "News" in begun.message["Subject"]
    await desk.write("Bob", "pass")
    await desk.write("Ann", "bid CS 45")
    answer = desk.newest[ANN]
    await desk.service.running.announce(table, "Bob says: hello", "say", "hello")
    await later(desk)
    said = desk.newest[ANN]
    for email in (begun, answer, said):
        await come_back(desk, email, kind, reason)
    return table


def assert_has_all(text: str) -> None:
    for words in ("These 3 emails to you came back", "The game begins.", "Ann bids $45", "Bob says: hello"):
        assert words in text, words


async def test_what_came_back_is_said_again_in_one_email_that_can_be_answered(desk: MailDesk) -> None:
    table = await lost_three(desk, "operator", "554 5.7.1 blocked")
    assert missed(await later(desk)) == []
    (text,) = missed(await later(desk, ASK_AGAIN / timedelta(hours=1)))
    assert_has_all(text)
    await desk.write("Ann", "say I am here again")
    told = [text for row in await desk.service.queries.log(table) for text in row.sentences]
    assert "Ann says: I am here again" in told
    assert missed(await later(desk, 50)) == [], "once"


async def test_it_waits_longer_whenever_it_comes_back_and_stays_whole(desk: MailDesk) -> None:
    """It is one email each time, with the words of each lost email once."""
    await lost_three(desk, "soft", FULL)
    waits = []
    for _ in range(4):
        begun, found = desk.clock[0], list[str]()
        while not (found := missed(await later(desk))):
            desk.clock[0] += timedelta(minutes=30)
        waits.append((desk.clock[0] - begun) // ASK_AGAIN)
        (text,) = found
        assert_has_all(text)
        assert text.count("Bob says: hello") == 1
        await come_back(desk, desk.newest[ANN], "soft", FULL)
    assert waits == [1, 2, 3, 4]


async def test_it_waits_until_the_address_works(desk: MailDesk) -> None:
    """Two hard bounces cut Ann off; a good email from her brings what she has missed."""
    await lost_three(desk, "address", UNKNOWN)
    emails = await later(desk, 30)
    assert [each for each in emails if each.message["To"] == ANN] == []
    await desk.write("Ann", "list", to=ADDRESS, take=False)
    (text,) = missed(await later(desk))
    assert_has_all(text)


async def test_it_goes_to_the_other_address_at_once(desk: MailDesk) -> None:
    ann = await desk.person("Ann", WORK)
    async with desk.service.store.begin() as unit:
        await unit.people.prefer_address(ann, WORK)
    table = await desk.table("1830", ["Bob", "Ann"])
    begun = next(each for each in await later(desk) if each.message["To"] == WORK)
    await desk.service.running.announce(table, "Bob says: hello", "say", "hello")
    await later(desk)
    said = desk.newest[WORK]
    await come_back(desk, begun, "address", UNKNOWN)
    await come_back(desk, said, "address", UNKNOWN)
    (text,) = missed(await later(desk))
    assert "The game begins." in text and "Bob says: hello" in text


async def test_what_is_asked_is_asked_anew_and_not_twice(desk: MailDesk) -> None:
    await desk.table("1830", ["Ann", "Bob"])
    await later(desk)
    await come_back(desk, desk.asking(ANN), "soft", FULL)
    emails = [each for each in await later(desk, 1) if each.message["To"] == ANN]
    assert ["Your turn" in each.message["Subject"] for each in emails] == [True]


async def test_two_reports_of_one_email_count_once(desk: MailDesk) -> None:
    await desk.table("1830", ["Bob", "Ann"])
    begun = next(each for each in await later(desk) if each.message["To"] == ANN)
    await come_back(desk, begun, "soft", FULL)
    await come_back(desk, begun, "soft", FULL)
    (text,) = missed(await later(desk, 1))
    assert "This email to you came back" in text and text.count("The game begins.") == 1
    await come_back(desk, begun, "soft", FULL)
    assert missed(await later(desk, 5)) == []


async def test_who_wants_no_emails_gets_none_again(desk: MailDesk) -> None:
    await desk.table("1830", ["Ann", "Bob"])
    begun = next(each for each in await later(desk) if each.message["To"] == ANN)
    await desk.write("Ann", "stop")
    await come_back(desk, begun, "soft", FULL)
    assert missed(await later(desk, 5)) == []


async def test_words_that_nobody_asked_for_are_kept_as_long_as_other_messages(desk: MailDesk) -> None:
    await desk.table("1830", ["Bob", "Ann"])
    begun = next(each for each in await later(desk) if each.message["To"] == ANN)
    async with desk.service.store.begin() as unit:
        row = await unit.outbox.get(begun.message["Message-ID"])
        assert row is not None and not row.payload and row.text and "The game begins." in row.text
        asked = await unit.outbox.get(desk.asking(BOB).message["Message-ID"])
        assert asked is not None and asked.text is None
        await unit.outbox.delete_finished(unit.now + KEPT)
        assert await unit.outbox.get(begun.message["Message-ID"]) is None


# --- invitations ---


async def invited(desk: MailDesk) -> Delivery:
    """Ann has invited Bob to a mistyped address; the invitation."""
    await desk.person("Ann")
    await desk.write("Ann", "new 1830 Bob <bbo@player.test>", to=ADDRESS)
    return desk.newest["bbo@player.test"]


async def test_the_host_hears_of_an_invitation_that_came_back_and_sends_another(desk: MailDesk) -> None:
    await come_back(desk, await invited(desk), "address", UNKNOWN)
    await later(desk)
    text = desk.newest[ANN].text
    assert f"The invitation to Bob (bbo@player.test) came back: {UNKNOWN}." in text
    assert "`invite Bob <ADDRESS>` sends another." in text
    await desk.write("Ann", f"invite Bob <{BOB}>")
    assert f"Invitations go to Bob ({BOB})." in desk.newest[ANN].text
    await desk.write("Bob", "yes")
    (table,) = await desk.service.queries.list_tables()
    assert [(player.name, player.joined) for player in table.seated_players] == [("Ann", True), ("Bob", True)]
    for word in ("yes", "join"):  # which would take any open seat, said as a command
        await desk.write("Bbo", word, original="bbo@player.test")
        text = desk.newest["bbo@player.test"].text
        assert "\nNOT DONE.\n" in text and "is no longer kept for you" in text
    await desk.write("Bbo", "no", original="bbo@player.test")
    assert "\nOK.\n" in desk.newest["bbo@player.test"].text
    (table,) = await desk.service.queries.list_tables()
    assert len(table.seated_players) == 2


async def test_an_invitation_is_sent_once_more_to_the_same_address(desk: MailDesk) -> None:
    """Also after two refusals, since nobody else can say that the address works."""
    await invited(desk)
    for _ in range(2):
        await come_back(desk, desk.newest["bbo@player.test"], "address", UNKNOWN)
        await later(desk)
        assert "came back" in desk.newest[ANN].text
        former = desk.newest["bbo@player.test"]
        desk.clock[0] += timedelta(minutes=1)
        await desk.write("Ann", "invite Bob <bbo@player.test>")
        assert desk.newest["bbo@player.test"] is not former
    await desk.write("Bbo", "yes")
    (table,) = await desk.service.queries.list_tables()
    assert all(player.joined for player in table.seated_players)


async def test_a_host_waits_for_nobody(desk: MailDesk) -> None:
    """A person who never answers is uninvited, and the game starts without them."""
    await desk.person("Ann")
    await desk.write("Ann", f"new 1830 Bob <{BOB}>, Cid <cid@player.test>", to=ADDRESS)
    await desk.write("Bob", "yes")
    await desk.write("Ann", "start")
    assert "Cid has not joined yet." in desk.newest[ANN].text
    for line in ("uninvite Cid", "invite Cid <mallory@player.test>"):
        await desk.write("Bob", line)
        assert "NOT DONE" in desk.newest[BOB].text, "only the host"
    assert "mallory@player.test" not in desk.newest
    await desk.write("Ann", "uninvite Bob")
    assert "Nobody called Bob is invited" in desk.newest[ANN].text
    await desk.write("Ann", "uninvite Cid")
    text = desk.newest[ANN].text
    assert "Cid is no longer invited to table" in text and "Players now: Ann and Bob." in text
    await desk.write("Ann", "start")
    (table,) = await desk.service.queries.list_tables()
    assert (table.status, table.names) == ("running", ("Ann", "Bob"))


async def test_whose_emails_do_not_arrive_is_not_invited_silently(desk: MailDesk) -> None:
    bob = await desk.person("Bob")
    await desk.person("Ann")
    async with desk.service.store.begin() as unit:
        await unit.people.record_bounces(bob, BOB, {}, UNKNOWN)
    await desk.write("Ann", f"new 1830 Bob <{BOB}>", to=ADDRESS)
    assert f"Emails to {BOB} do not arrive: {UNKNOWN}." in desk.newest[ANN].text
