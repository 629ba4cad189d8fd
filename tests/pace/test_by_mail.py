"""Reminders, digests and settings by mail."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from bot.hub.request import Completed
from tests.mail.mail_desk import MailDesk
from tests.mail.servers import Delivery
from tests.pace.conftest import NAMES, DrivenTable, to
from tests.pace.test_clock import BERLIN
from tests.pace.test_pace import local
from tests.service.test_orders import OPENING
from tests.tables import started


async def test_a_turn_says_until_when(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h")
    await driven.settings("Ann", BERLIN)
    driven.now += timedelta(minutes=3)
    (turn,) = to(await desk.take(), "Ann")
    assert "The game begins." in turn.text
    assert "Please reply by Tue 2 Jun 12:00 (Europe/Berlin)." in turn.text


async def test_nobody_is_said_to_be_waited_for_in_a_pause(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h")
    await desk.take()
    await driven.say("Ann", "pause")
    (news,) = to(await desk.take(), "Bob")
    assert "Ann pauses the game." in news.text and "to act" not in news.text
    await driven.say("Ann", "resume")
    news = to(await desk.take(), "Cid")[-1]
    assert "Ann resumes the game." in news.text and "Ann to act" in news.text


async def test_a_reminder_can_be_answered(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h")
    driven.now = local("2026-06-02 11:00")
    await driven.tick()
    *_, reminder = to(await desk.take(), "Ann")
    assert reminder.subject.endswith("A reminder: your turn: opening, buy the SV for $20")
    assert "You have 1 hour left, until Tue 2 Jun 10:00 (UTC)." in reminder.text
    assert "bid CS 45" in reminder.text
    assert (await desk.answered(reminder, "bid CS 45")).subject.endswith("Done")
    assert await driven.asked() == ["Bob"]


async def test_a_reminder_that_waited_says_how_it_is_by_now(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h")
    await desk.take()
    driven.now = local("2026-06-02 11:00")
    await driven.tick()
    driven.now = local("2026-06-02 11:25")
    (reminder,) = to(await desk.take(), "Ann")
    assert "You have 35 minutes left, until Tue 2 Jun 10:00 (UTC)." in reminder.text


async def test_at_most_one_reminder_a_day_comes_by_email(driven: DrivenTable, desk: MailDesk) -> None:
    """At two tables with a pace of a day: the one an hour before the end, and then daily; each says which
    other table waits."""
    await driven.begin("24h")
    first = driven.table
    await started(driven.service, driven.people, name="Sunday", pace="20h")
    reminders: list[Delivery] = []
    while driven.now < local("2026-06-06 12:00"):
        driven.now += timedelta(minutes=30)
        await driven.tick()
        reminders += [each for each in to(await desk.take(), "Ann") if "reminder" in each.subject]
    assert 4 <= len(reminders) <= 5 and driven.table == first
    assert all("These tables wait for you too" in each.text for each in reminders)


async def test_a_reminder_that_comes_too_late_is_not_sent(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h")
    driven.now = local("2026-06-02 00:00")
    await driven.service.clock.tick()
    assert isinstance(await driven.say("Ann", "pass"), Completed)
    assert [each.subject for each in to(await desk.take(), "Ann") if "reminder" in each.subject] == []


async def test_a_digest_has_all_tables_and_each_is_answered_from_there(
    driven: DrivenTable, desk: MailDesk
) -> None:
    await driven.begin("24h")
    await driven.settings("Ann", BERLIN, "settings digest 08:00")
    two = {name: driven.people[name] for name in ("Ann", "Bob")}
    second = await started(driven.service, two, name="Sunday", pace="72h")
    await driven.tick()
    driven.now += timedelta(minutes=3)
    await desk.take()
    driven.now = local("2026-06-02 08:00")
    await driven.tick()
    (digest,) = to(await desk.take(), "Ann")
    first = await driven.service.queries.table_info(driven.table)
    assert "2 tables wait for you, the most urgent first." in digest.text
    assert digest.text.index(first.code) < digest.text.index(second.code)
    assert "4 hours left, until Tue 2 Jun 12:00 (Europe/Berlin)" in digest.text
    assert (await desk.answered(digest, "pass")).subject.endswith("Done")
    assert await driven.asked() == ["Bob"]
    other = re.search(rf"For {second.code}, write to (\S+)", digest.text)
    assert other is not None
    await desk.write("Ann", "buy SV", to=other[1])
    state = await driven.service.queries.state_at(second.id)
    assert state.private_owners["SV"] == "p0"
    late = await desk.answered(digest, "pass")
    assert "the game has moved on" in late.text, "each for its own decision"


async def test_settings_by_mail(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h")
    driven.now += timedelta(minutes=3)
    *_, turn = to(await desk.take(), "Ann")
    shown = (await desk.answered(turn, "settings")).text
    lines = [line for line in shown.splitlines() if line.startswith("settings ")]
    assert lines[:3] == [
        "settings zone UTC # your time zone, such as Europe/Berlin",
        "settings quiet off # hours without messages, such as 22:00-07:00",
        "settings tell default # thread, direct, mail; default is wherever you can be reached",
    ]  # fmt: skip
    unchanged = await desk.answered(turn, *lines)
    assert unchanged.subject.endswith("Done")
    assert (await desk.answered(turn, "settings")).text == shown
    done = await desk.answered(
        turn, "settings zone Europe/Berlin  # your time zone", "settings quiet 22:00-07:00"
    )
    assert " Set: zone Europe/Berlin.\n" in done.text and " Set: quiet 22:00-07:00.\n" in done.text
    assert (await driven.service.settings.settings(driven.people["Ann"])).quiet == "22:00-07:00"


@pytest.mark.parametrize("line", ["pause", "end yes"])
async def test_no_turn_comes_by_mail_when_the_game_stands_still(
    driven: DrivenTable, desk: MailDesk, line: str
) -> None:
    """The email waited for the hold-off, and said that it was the turn of somebody whose game was over."""
    await driven.begin("24h")
    await driven.say("Bob" if line == "pause" else "Ann", line)
    driven.now += timedelta(minutes=3)
    assert not [each for each in await desk.take() if "Your turn" in each.subject]
    if line == "pause":
        await driven.say("Cid", "resume")
        driven.now += timedelta(minutes=3)
        assert len([each for each in await desk.take() if "Your turn" in each.subject]) == 1


async def test_nobody_is_next_while_the_game_stands_still(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h")
    await driven.settings("Cid", "settings next on")
    await driven.say("Ann", "pass")
    await driven.say("Bob", "pause")
    driven.now += timedelta(minutes=3)
    assert not [each for each in await desk.take() if "next" in each.subject]


async def test_an_offer_to_a_late_player_says_that_their_time_has_ended(
    driven: DrivenTable, desk: MailDesk
) -> None:
    """It asked for an answer by a time that was over."""
    await driven.begin("24h")
    for name, line in (*OPENING, *((name, "pass") for name in NAMES)):
        assert isinstance(await driven.say(name, line), Completed)
    await driven.wait_until(driven.now + timedelta(hours=25))
    await desk.take()
    assert isinstance(await driven.say("Bob", "sell private CS to Ann for 50"), Completed)
    driven.now += timedelta(minutes=3)
    (turn,) = to(await desk.take(), "Ann")
    assert "Please reply by" not in turn.text
    assert "Your time ended Tue 2 Jun 10:00 (UTC); the table still waits for you." in turn.text


async def test_an_offer_is_no_turn_and_ends_with_another_deal(driven: DrivenTable, desk: MailDesk) -> None:
    """It began with `It is your turn`; and who was offered what another had bought was asked on for days."""
    await driven.begin("24h")
    for name, line in (*OPENING, *((name, "pass") for name in NAMES), ("Ann", "pass")):
        assert isinstance(await driven.say(name, line), Completed)
    for name in ("Ann", "Cid"):
        await driven.say("Bob", f"sell private CS to {name} for 50")
    driven.now += timedelta(minutes=3)
    (offer,) = (each for each in to(await desk.take(), "Ann") if "offer" in each.subject)
    assert offer.subject.endswith("An offer: the CS from Bob to Ann for $50")
    assert "An offer to you, Ann.\n\nPlease answer: accept or decline (the CS" in offer.text
    assert isinstance(await driven.say("Cid", "accept"), Completed)
    assert await driven.asked() == ["Bob"]
    driven.now += timedelta(minutes=3)
    (ended,) = to(await desk.take(), "Ann")
    assert "You need not answer it any more: the CS from Bob to Ann for $50." in ended.text


async def test_a_deputy_reads_who_has_an_offer(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h")
    await driven.person("Dora")
    await driven.settings("Ann", "away until 2026-06-05 deputy Dora")
    for name, line in (*OPENING, *((name, "pass") for name in NAMES), ("Ann", "pass")):
        assert isinstance(await driven.say(name, line), Completed)
    await driven.say("Bob", "sell private CS to Ann for 50")
    driven.now += timedelta(minutes=3)
    (offer,) = (each for each in to(await desk.take(), "Dora") if "offer" in each.subject)
    assert "Ann has an offer, and you answer for them, Dora.\n" in offer.text


async def test_who_goes_away_as_they_are_asked_hears_what_became_of_their_order(
    driven: DrivenTable, desk: MailDesk
) -> None:
    """The email about the turn, which has it, is for the deputy."""
    await driven.begin("24h")
    await driven.person("Dora")
    for name, line in OPENING:
        assert isinstance(await driven.say(name, line), Completed)
    await driven.say("Bob", "auto buy BO up to 60")
    await driven.say("Ann", "pass")
    await driven.settings("Bob", "away until 2026-06-05 deputy Dora")
    driven.now += timedelta(minutes=3)
    emails = await desk.take()
    (own,) = (each for each in to(emails, "Bob") if "order" in each.subject)
    assert "costs $67, more than your $60." in own.text and "It is your turn" not in own.text
    assert not [each for each in to(emails, "Dora") if "your $60" in each.text]
