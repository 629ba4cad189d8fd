"""A player whose address refuses emails: who is told, what waits, and every way back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.email.reachability import ASK_AGAIN, Bounce
from bot.hub import people
from bot.hub.request import QueryAnswer
from mail.reading.bounces import BounceKind
from tests.mail.mail_desk import MailDesk
from tests.mail.test_bounces import report

ANN, WORK = "ann@player.test", "ann@work.test"
UNKNOWN = "550 5.1.1 User unknown"


async def bounce(desk: MailDesk, address: str, kind: BounceKind = "address", times: int = 2) -> None:
    """The newest email to an address comes back, as do emails before it."""
    (token,) = await desk.tokens(desk.newest[address].message["Reply-To"])
    for number in range(times):
        came_back = Bounce(token, f"<{number}.{address}@x>", kind, UNKNOWN)
        await desk.people.record_bounce(came_back)


async def told(desk: MailDesk, table: int) -> list[str]:
    """What the table was told."""
    return [text for row in await desk.service.queries.log(table) for text in row.sentences]


async def subjects(desk: MailDesk) -> list[str]:
    """The emails that are due now, as `address: subject`."""
    desk.emails.clear()
    await desk.take()
    return [f"{email.message['To']}: {email.message['Subject'].partition('] ')[2]}" for email in desk.emails]


async def cut_off(desk: MailDesk) -> int:
    """A table whose Ann is to act and cannot be reached."""
    table = await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    await bounce(desk, ANN)
    assert "Emails to Ann do not arrive. Nothing else reaches them." in await told(desk, table)
    desk.clock[0] += timedelta(hours=30)
    assert [each for each in await subjects(desk) if each.startswith(ANN)] == []
    return table


async def assert_back(desk: MailDesk, table: int, address: str = ANN) -> None:
    """Ann is asked at once, and the table knows."""
    assert f"{address}: Your turn: opening, buy the SV for $20" in await subjects(desk)
    assert "Emails reach Ann again." in await told(desk, table)
    await desk.write("Ann", "buy SV", original=desk.asking(address))
    assert "Ann buys the SV for $20." in " ".join(await told(desk, table))


async def test_back_by_an_email(desk: MailDesk) -> None:
    table = await cut_off(desk)
    await desk.write("Ann", "list", to="play@games.test", take=False)
    await assert_back(desk, table)


async def test_back_by_a_link_on_discord(desk: MailDesk) -> None:
    """`/me email` makes the request; the email that it sends is answered from the new address."""
    table = await cut_off(desk)
    ann = await desk.person("Ann")
    await desk.service.submit_personal(ann, [f"link {WORK}"])
    assert await subjects(desk) == [f"{WORK}: "]  # to confirm the address
    await desk.write("Ann", "yes", original=WORK, sender=WORK, take=False)
    await assert_back(desk, table, WORK)


async def test_the_other_address_takes_over_at_once(desk: MailDesk) -> None:
    """One address of two dies: no table is told, the turn is asked for anew, and emails that were refused go
    to the other."""
    table = await desk.table("1830", ["Ann", "Bob"])
    ann = await desk.person("Ann", WORK)
    async with desk.service.store.begin() as unit:
        await unit.people.prefer_address(ann, WORK)
    await desk.service.running.announce(table, "Bob says: hello", "say", "hello")
    refused = 0
    while refused < 2:
        for mail in (await desk.outbox.lease_due(20)).mails:
            if mail.recipient == WORK:
                refused += 1
                desk.clock[0] += timedelta(seconds=1)
                await desk.outbox.mark_failed(mail, UNKNOWN, None)
            else:
                await desk.outbox.mark_sent(mail)
    found = await subjects(desk)
    assert f"{ANN}: Your turn: opening, buy the SV for $20" in found
    assert any("News" in each for each in found if each.startswith((ANN, WORK))), found
    assert WORK not in desk.newest, "nothing goes to the address that refuses"
    assert not any("do not arrive" in text for text in await told(desk, table))
    assert f"unlink {WORK}" in " ".join(each.text for each in desk.emails)
    await desk.write("Ann", "buy SV", original=desk.asking(ANN))
    assert "Ann buys the SV for $20." in " ".join(await told(desk, table))


@pytest.mark.parametrize("has_other", [True, False])
async def test_an_email_that_waits_for_an_address_that_is_given_up(desk: MailDesk, has_other: bool) -> None:
    """It goes to another address of the person; who has none is asked on Discord, and reads the rest now."""
    table = await desk.table("1830", ["Ann", "Bob"])
    ann = await desk.person("Ann")
    async with desk.service.store.begin() as unit:
        await unit.people.add_identity(ann, "discord", "1001")
        await unit.people.add_identity(ann, "email", WORK)
        await unit.people.prefer_address(ann, WORK)
        if not has_other:
            await unit.people.remove_identity(ann, "email", ANN)
    await desk.service.settings.apply(ann, ["tell mail"])
    await desk.service.running.announce(table, "Bob says: hello", "say", "hello")
    await desk.service.clock.tick()
    for mail in (await desk.outbox.lease_due(20)).mails:
        await desk.outbox.mark_failed(mail, "451 busy", desk.clock[0] + timedelta(hours=1))
    with desk.service.subscribe() as woken:
        answer = await desk.service.submit_personal(ann, [f"unlink {WORK}"])
    assert woken.is_set(), "the clock asks, and the emails go out, at once"
    assert isinstance(answer, QueryAnswer) and ("Bob says: hello" in answer.text) is not has_other
    desk.clock[0] += timedelta(hours=2)
    found = {f"{ANN}: Your turn: opening, buy the SV for $20", f"{ANN}: News: Bob says: hello"}
    assert found <= {*await subjects(desk)} if has_other else ANN not in desk.newest
    assert WORK not in desk.newest
    if has_other:
        turn = desk.asking(ANN)
        assert turn.message["To"] == ANN
        assert (await desk.write("Ann", "buy SV", original=turn)).reason == "played"
        came_back = report(str(turn.message["Message-ID"]), to=turn.sender, status="5.1.1")
        late = came_back.replace(b"rfc822; ann@player.test", f"rfc822;{WORK}".encode())
        assert (await desk.arrive(late)).reason == "bounce of a mail that goes elsewhere by now"
        assert (await desk.arrive(came_back)).reason == "bounce: address"
    else:
        assert "on their way there:\n\n" in answer.text
    await desk.service.clock.tick()
    async with desk.service.store.read() as unit:
        assert (await unit.outbox.queue_status("discord")).pending == (not has_other)


async def test_an_email_to_somebody_who_claims_an_address_stays_theirs(desk: MailDesk) -> None:
    """Its token would be that of another address, and of another person."""
    await desk.table("1830", ["Ann", "Bob"])
    ann = await desk.person("Ann", WORK)
    await desk.service.submit_personal(await desk.person("Bob"), [f"link {WORK}"])
    for mail in (await desk.outbox.lease_due(20)).mails:
        await desk.outbox.mark_failed(mail, "451 busy", desk.clock[0] + timedelta(hours=1))
    await desk.service.submit_personal(ann, [f"unlink {WORK}"])
    desk.clock[0] += timedelta(hours=2)
    assert f"{WORK}: " in await subjects(desk), "it asks Bob to confirm the address"


async def test_an_email_that_was_refused_for_good_waits(desk: MailDesk) -> None:
    """Any good email from the person sends it again as it was."""
    await desk.table("1830", ["Bob", "Ann"])
    (started,) = [
        m for m in (await desk.outbox.lease_due(20)).mails if m.recipient == ANN and b"] News" in m.raw
    ]
    await desk.outbox.mark_failed(started, UNKNOWN, None)
    assert "News" not in " ".join(await subjects(desk))
    await desk.write("Ann", "list", to="play@games.test", take=False)
    (again,) = [m for m in (await desk.outbox.lease_due(20)).mails if m.id == started.id]
    assert again.raw == started.raw


async def test_a_refusal_that_may_pass_is_tried_for_days(desk: MailDesk) -> None:
    await desk.table("1830", ["Bob", "Ann"])
    attempts = 0
    for _ in range(100):
        for mail in (await desk.outbox.lease_due(20)).mails:
            if mail.recipient == ANN and b"] News" in mail.raw:
                attempts += 1
                await desk.outbox.mark_failed(mail, "554 transaction failed", None)
        desk.clock[0] += timedelta(hours=1)
    assert 12 <= attempts <= 20


@pytest.mark.parametrize("kind", ["soft", "operator"])
async def test_what_comes_back_is_asked_anew_ever_later(desk: MailDesk, kind: BounceKind) -> None:
    """A full mailbox, or a server that has something against us: the turn is asked for again."""
    await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    waits = []
    for _ in range(4):
        await bounce(desk, ANN, kind, times=1)
        begun = desk.clock[0]
        while not [each for each in await subjects(desk) if each.startswith(f"{ANN}: Your turn")]:
            desk.clock[0] += timedelta(minutes=10)
        waits.append((desk.clock[0] - begun) // ASK_AGAIN)
    assert waits == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["soft", "operator"])
async def test_after_three_days_of_full_mailboxes_or_refusals_the_table_is_told(
    desk: MailDesk, kind: BounceKind
) -> None:
    """Once, and when an email of the person comes that they are reached again. What passes in between begins
    anew."""
    table = await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    sentence = "Emails to Ann have not arrived for three days. Nothing else reaches them."
    for hours in (24, 40, 24, 24, 23):
        await bounce(desk, ANN, kind, times=1)
        desk.clock[0] += timedelta(hours=hours)
    assert sentence not in await told(desk, table)
    for _ in range(3):
        await bounce(desk, ANN, kind, times=1)
        desk.clock[0] += timedelta(hours=20)
    assert (await told(desk, table)).count(sentence) == 1
    await desk.write("Ann", "list", to="play@games.test", take=False)
    assert (await told(desk, table))[-1] == "Emails reach Ann again."


async def test_the_operator_reads_one_line_for_each_domain_and_day(
    desk: MailDesk, caplog: pytest.LogCaptureFixture
) -> None:
    await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    for _ in range(2):
        for _ in range(3):
            await bounce(desk, ANN, "operator", times=2)
            desk.clock[0] += timedelta(hours=7)
        desk.clock[0] += timedelta(hours=4)
    lines = [each for each in caplog.messages if "The mail server of player.test refuses our emails" in each]
    assert len(lines) == 2


async def test_a_delay_asks_for_nothing(desk: MailDesk) -> None:
    table = await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    await bounce(desk, ANN, "delayed", times=10)
    desk.clock[0] += timedelta(hours=30)
    assert await subjects(desk) == [] and "do not arrive" not in " ".join(await told(desk, table))


async def test_who_reports_an_email_as_spam_gets_no_more(desk: MailDesk) -> None:
    table = await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    await bounce(desk, ANN, "complaint", times=1)
    assert "Ann gets no more emails and cannot be reached otherwise." in await told(desk, table)
    assert not [each for each in await subjects(desk) if each.startswith(ANN)]


@pytest.mark.parametrize("has_discord", [True, False])
async def test_stop_says_to_the_table_that_a_seat_has_no_channel(desk: MailDesk, has_discord: bool) -> None:
    table = await desk.table("1830", ["Ann", "Bob"])
    ann = await desk.person("Ann")
    if has_discord:
        async with desk.service.store.begin() as unit:
            await unit.people.add_identity(ann, "discord", "1001")
    await desk.take()
    await desk.write("Ann", "stop")
    sentence = "Ann gets no more emails and cannot be reached otherwise."
    assert (sentence in await told(desk, table)) is not has_discord
    await desk.write("Ann", "start")
    assert ("Emails reach Ann again." in await told(desk, table)) is not has_discord


async def test_what_waits_when_emails_stop_is_not_sent(desk: MailDesk) -> None:
    """The mail server was away when it was written; only the receipt of `stop` goes out."""
    await desk.begun("Ann", "Bob")
    await desk.table("1830", ["Ann", "Bob"], name="Sunday")
    assert ANN in [mail.recipient for mail in (await desk.outbox.lease_due(20)).mails]
    await desk.write("Ann", "stop", take=False)
    desk.clock[0] += timedelta(minutes=1)
    assert [each for each in await subjects(desk) if each.startswith(ANN)] == [f"{ANN}: Done"]


async def test_the_person_is_told_on_discord(desk: MailDesk) -> None:
    table = await desk.table("1830", ["Ann", "Bob"])
    ann = await desk.person("Ann")
    async with desk.service.store.begin() as unit:
        await people.person_by_discord(unit, 1001, "Somebody else")
        await unit.people.add_identity(ann, "discord", "1002")
    await desk.take()
    await bounce(desk, ANN)
    assert "Emails to Ann do not arrive. Discord still reaches them." in await told(desk, table)
    due = []
    async with desk.service.store.begin() as unit:
        while leased := await unit.outbox.lease_due("discord", 20, timedelta(minutes=1)):
            for row in leased:
                due.append((row.address, row.payload))
                await unit.outbox.mark_sent(row.idempotency_key)
    (told_ann,) = [each for each in due if b"come back" in each[1]]
    assert told_ann[0]["user"] == "1002" and b"/me email" in told_ann[1]
