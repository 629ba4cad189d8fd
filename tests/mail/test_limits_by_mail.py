"""Limits, through the service: answers above them come later, whole; invitations above them are refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.email.replies.reply_limits import ReplyLimits
from bot.hub.people import INVITATIONS_TO_STRANGER, LIMITS
from bot.pictures import workers
from tests.end_to_end.mail_players import headline
from tests.fake_discord.running_bot import HangingPictures, OnePixelPictures
from tests.mail.mail_desk import ADDRESS, MailDesk, alerts, mail_desk

ANN = "ann@player.test"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[MailDesk]:
    with OnePixelPictures() as pictures:
        async with mail_desk(tmp_path, pictures, ReplyLimits(2, breaker_replies=10)) as desk:
            yield desk


async def emails(desk: MailDesk, address: str = ANN) -> list[str]:
    """The texts of the emails to an address that are due now."""
    desk.emails.clear()
    await desk.take()
    return [each.text for each in desk.emails if each.message["To"] == address]


async def test_answers_above_the_limit_come_together_and_whole(desk: MailDesk) -> None:
    """Refusals and turns are sent at once; what is gathered has all its words an hour later."""
    await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    asked = desk.asking(ANN)
    sent = [len((await desk.write("Ann", line, original=asked)).replies) for line in ("map", "turn")]
    sent += [len((await desk.write("Ann", line, original=asked)).replies) for line in ("status", "log")]
    assert sent == [1, 1, 0, 0]
    refused = await desk.write("Ann", "buy XX", original=asked)
    assert len(refused.replies) == 1, "refusals are always sent"
    await desk.write("Ann", "bid CS 45", original=asked)
    await desk.write("Bob", "buy SV", original=desk.asking("bob@player.test"))
    assert "Your turn" in desk.newest[ANN].message["Subject"], "turns are always sent"
    assert await emails(desk) == []
    desk.clock[0] += timedelta(hours=1)
    (together,) = await emails(desk)
    for words in (
        "Here is: status.",
        "No company has started.",
        "Here is: log.",
        "start — The game begins.",
        "Ann bids $45",
    ):
        assert words in together, words
    assert "Reply above" in together
    await desk.write("Ann", "say it can be answered")
    assert "it can be answered" in desk.newest["bob@player.test"].text


async def test_a_loop_of_one_player_holds_back_no_reply_to_another(desk: MailDesk) -> None:
    """The game goes on."""
    await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    asked = desk.asking(ANN)
    for number in range(6):
        assert (await desk.write("Ann", f"buy X{number}", original=asked)).replies
    looped = await desk.write("Ann", "buy XX", original=asked)
    assert looped.gathered is not None and looped.replies == ()
    assert (await desk.write("Bob", "list", to=ADDRESS)).replies
    played = await desk.write("Ann", "buy SV", original=asked)
    assert played.reason == "played"
    assert "Your turn" in desk.newest["bob@player.test"].message["Subject"]


async def test_what_the_breaker_holds_back_is_sent_later(
    desk: MailDesk, caplog: pytest.LogCaptureFixture
) -> None:
    """Also to who has written without a table, which was read three times and put into quarantine."""
    await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    for name, times in (("Ann", 6), ("Bob", 4)):
        for number in range(times):
            await desk.write(name, f"buy X{number}")
    outcome = await desk.write("Bob", "list", to=ADDRESS)
    assert outcome.gathered is not None and outcome.replies == ()
    assert len(alerts(caplog)) == 1 and "in 10 minutes" in alerts(caplog)[0]
    desk.clock[0] += timedelta(hours=1)
    (together,) = await emails(desk, "bob@player.test")
    assert "being played: Ann and Bob. Ann to act" in together


async def test_a_stranger_gets_few_invitations_whoever_sends_them(desk: MailDesk) -> None:
    """The table of the last host is closed again, and nobody else is invited to it."""
    for host in ("Ann", "Bob", "Cid", "Dora")[: INVITATIONS_TO_STRANGER + 1]:
        await desk.person(host)
        await desk.write(host, "new 1830 Zoe <zoe@player.test>", to=ADDRESS)
    last = desk.newest["dora@player.test"].text
    assert "zoe@player.test has had enough invitations this week, and has not answered." in last
    assert (
        await desk.service.queries.list_tables(person_id=await desk.person("Dora"), statuses=("lobby",)) == []
    )
    invited = [each for each in desk.emails if each.message["To"] == "zoe@player.test"]
    assert len(invited) == INVITATIONS_TO_STRANGER
    desk.clock[0] += timedelta(days=8)
    await desk.write("Dora", "new 1830 Zoe <zoe@player.test>", to=ADDRESS)
    assert "Invitations go to Zoe" in desk.newest["dora@player.test"].text


async def test_a_host_sends_so_many_invitations_a_day(desk: MailDesk) -> None:
    await desk.person("Ann")
    limit, asked = LIMITS["invitations"][0], 0
    while asked < limit:
        guests = [f"G{asked + n} <g{asked + n}@player.test>" for n in range(5)]
        await desk.write("Ann", f"new 1830 {', '.join(guests)}", to=ADDRESS)
        assert "Invitations go to" in desk.newest[ANN].text
        asked += len(guests)
        desk.clock[0] += timedelta(hours=1)
    await desk.write("Ann", "new 1830 Last <last@player.test>", to=ADDRESS)
    assert f"You have invited {limit} players today" in desk.newest[ANN].text
    assert "last@player.test" not in desk.newest
    desk.clock[0] += timedelta(days=1)
    await desk.write("Ann", "new 1830 Last <last@player.test>", to=ADDRESS)
    assert "last@player.test" in desk.newest


async def test_of_invitations_in_one_email_those_before_a_bad_one_go_out(desk: MailDesk) -> None:
    """The answer says which, and not that nothing was changed."""
    for name in ("Ann", "Bob"):
        await desk.person(name)
    await desk.write("Ann", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    await desk.write("Ann", "invite Cid <cid@player.test>, Dan <cid@player.test>")
    answer = desk.newest[ANN]
    text = answer.text
    assert "DONE IN PART." in text and "Nothing was changed" not in text
    assert "Invitations go to Cid (cid@player.test)." in text
    assert "invites you" in str(desk.newest["cid@player.test"].message["Subject"])


async def test_who_begins_gets_one_email_at_the_start(desk: MailDesk) -> None:
    """It asks for the first move, and says that the game begins; the others are told that it does."""
    await desk.table("1830", ["Ann", "Bob"])
    (asked,) = await emails(desk)
    assert "It is your turn, Ann." in asked and "The game begins. Seating: Ann and Bob." in asked
    assert desk.newest["bob@player.test"].message["Subject"].endswith("News: The game begins")


async def test_out_of_turn_begins_with_that(desk: MailDesk) -> None:
    await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    await desk.write("Bob", "buy SV")
    told = " ".join(desk.newest["bob@player.test"].text.split())
    assert "It is not your turn. Ann to act: buy the SV for $20" in told


async def test_lines_say_what_they_cost(desk: MailDesk) -> None:
    await desk.table("1830", ["Ann", "Bob"])
    (asked,) = await emails(desk)
    assert "buy SV # costs $20, leaves Ann $1,180" in asked


async def test_a_person_switches_pictures_off(desk: MailDesk) -> None:
    """In their emails the board stands in words; others have their pictures."""
    table = await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    assert "[Picture: " in desk.asking(ANN).text
    await desk.write("Bob", "settings pictures off", original=desk.newest["bob@player.test"])
    await desk.write("Ann", "buy SV", original=desk.asking(ANN))
    asked = desk.asking("bob@player.test")
    assert "[Picture: " not in asked.text and "Mohawk & Hudson" in asked.text
    view = await desk.service.queries.view(table)
    assert await desk.service.settings.palette(view.table, await desk.person("Bob")) is None


async def test_an_email_does_not_wait_for_a_worker_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so, and has the map in words; a later question has its picture."""
    monkeypatch.setitem(workers.PATIENCE, "turn", 0.05)
    pictures = HangingPictures()
    async with mail_desk(tmp_path, pictures) as desk:
        await desk.table("1830", ["Ann", "Bob"])
        await desk.take()
        asked = desk.asking(ANN)
        assert "Not every picture was drawn in time." in asked.text.replace("\n", " ")
        assert "[Picture: " not in asked.text and "Nothing is laid yet." in asked.text
        pictures.draws.set()
        await desk.write("Ann", "turn", original=asked)
        assert "[Picture: " in desk.newest[ANN].text


async def test_a_question_without_an_answer_is_headed_so(desk: MailDesk) -> None:
    await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    asked = desk.asking(ANN)
    told = await desk.answered(asked, "at row 9999")
    assert headline(told) == "No answer to: at."
    assert "there is no row 9999" in told.text and told.message["Subject"].endswith("No answer: at")
    both = await desk.answered(asked, "at row 9999", "status")
    assert headline(both).startswith("Here is: ")
