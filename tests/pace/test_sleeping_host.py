"""The host sleeps at their own turn: the others fill the seat and play on, on Discord and by mail."""

from __future__ import annotations

from datetime import timedelta

from bot.hub.request import Completed, PollUpdated
from tests.mail.mail_desk import MailDesk
from tests.pace.conftest import START, DrivenTable, to
from tests.pace.test_replacement import DAY, names, voters
from tests.pace.test_seat_requests import ask

PACE = "24h, then deputy"
LATE = START + 3 * DAY  # a day to answer, and 48 hours
HOLDOFF = timedelta(minutes=3)


async def robot_moves(driven: DrivenTable) -> None:
    """The robot of the table makes its move, as the service lets it."""
    async with driven.service.cache.locked(driven.table):
        """The cache has the robot, as `TableCache.run` sees to it."""
    assert await driven.service.robots.play(driven.table) == 1
    driven.service.robots.worker.close()


async def test_on_discord_the_others_vote_and_play_on(driven: DrivenTable) -> None:
    await driven.begin(PACE, discord=True)
    await driven.wait_until(LATE + timedelta(hours=1))
    assert await voters(driven) == ["Bob", "Cid"]
    for name in ("Bob", "Cid"):
        (vote, _) = driven.heard(name, "vote")
        assert "thread vote: Ann is late, and nobody decides for them. Let a robot play on for Ann?" in vote
        assert isinstance(await driven.say(name, "accept"), PollUpdated)
    assert await names(driven) == ("Robot", "Bob", "Cid")
    assert "Robot plays on for you at table Friday" in driven.heard("Ann", "seat_answer")[0]
    await robot_moves(driven)
    await driven.wait_until(driven.now + HOLDOFF)
    assert await driven.asked() == ["Bob"]
    assert [told[9:] for told in driven.heard("Bob", "turn")] == ["thread turn", "mail turn"]


async def test_by_mail_they_vote_and_play_on(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin(PACE)
    await desk.take()
    driven.now = START + DAY
    await driven.tick()
    driven.now = LATE
    await driven.tick()
    emails = await desk.take()
    for name in ("Bob", "Cid"):
        vote = to(emails, name)[-1]
        assert "Ann is late, and nobody decides for them. Let a robot play on for Ann?" in vote.text
        assert (await desk.answered(vote, "accept")).subject.endswith("Done")
    assert await names(driven) == ("Robot", "Bob", "Cid")
    await robot_moves(driven)
    driven.now += HOLDOFF
    await driven.tick()
    await desk.take()
    assert "Robot plays on for you at table Friday" in to(desk.emails, "Ann")[-1].text
    asked = to(desk.emails, "Bob")[-1]
    assert "Your turn" in asked.subject
    assert (await desk.answered(asked, "pass")).subject.endswith("Done")
    assert await driven.asked() == ["Cid"]


async def test_a_seat_that_is_open_later_is_not_asked_of_who_sleeps(driven: DrivenTable) -> None:
    """The former host would have been the only one to admit anybody."""
    await driven.begin(PACE)
    await driven.person("Dora")
    await driven.wait_until(LATE + timedelta(hours=1))
    for name in ("Bob", "Cid"):
        await driven.say(name, "accept")
    assert "Bob is the host now." in driven.heard("Bob", "news")[-1]
    await driven.say("Cid", "resign yes")
    await ask(driven, "Dora")
    assert driven.heard("Ann", "seat_request") == [] and len(driven.heard("Bob", "seat_request")) == 1
    assert (await ask(driven, "Bob", "admit Dora")).startswith("Dora has a seat at table")
    assert await names(driven) == ("Robot", "Bob", "Dora")
    info = await driven.service.queries.table_info(driven.table)
    assert info.status == "running"


async def test_who_asks_for_a_seat_does_not_wait_for_a_host_who_sleeps(driven: DrivenTable) -> None:
    """The game is paused for the empty seat, so nobody votes on the host."""
    await driven.begin("24h")
    await driven.person("Dora")
    await driven.say("Bob", "resign yes")
    await ask(driven, "Dora")
    await driven.wait_until(START + 2 * DAY - timedelta(hours=1))
    assert "Only Ann, its host, may do that" in await ask(driven, "Cid", "admit Dora")
    assert driven.heard("Cid", "seat_request") == [] and len(driven.heard("Ann", "seat_request")) == 1
    await driven.wait_until(START + 2 * DAY + timedelta(hours=1))
    (asked,) = driven.heard("Cid", "seat_request")
    assert "Dora asks for the seat of Bob" in asked and "any player may" in asked
    assert (await ask(driven, "Cid", "admit Dora")).startswith("Dora has a seat at table")
    assert await names(driven) == ("Ann", "Dora", "Cid")


async def test_a_host_who_agrees_to_be_replaced_stays_host(driven: DrivenTable) -> None:
    await driven.begin("24h")
    dora = await driven.person("Dora")
    await ask(driven, "Dora", "ask Ann")
    await driven.say("Ann", "accept")
    assert (await names(driven))[0] == "Dora" and dora
    assert (await driven.service.queries.table_info(driven.table)).host_id == driven.people["Ann"]
    assert isinstance(await driven.say("Dora", "pass"), Completed)
