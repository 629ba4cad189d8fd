"""The lobby: invitations say what is agreed, a full table asks its host, an old one expires, a rematch."""

from __future__ import annotations

import re
from datetime import timedelta
from unittest.mock import AsyncMock

import pytest

from bot.features.lobby.pages import lobby_page
from bot.features.lobby.tables import Lobby
from bot.hub.people import Limits
from bot.hub.request import LineRefused, QueryAnswer
from bot.service import Service
from tests.mail.mail_desk import MailDesk
from tests.pace.conftest import NAMES, START, DrivenTable, to


async def lobby(driven: DrivenTable, *joined: str) -> int:
    for name in NAMES:
        await driven.person(name)
    info = await driven.service.lobby.create(
        "1830", driven.people["Ann"], name="Friday", pace="24h, weekends out"
    )
    driven.table = info.id
    for name in joined:
        await driven.service.lobby.join(info.id, driven.people[name], name)
    return info.id


async def test_an_invitation_says_what_is_agreed(driven: DrivenTable, desk: MailDesk) -> None:
    table = await lobby(driven, "Ann")
    await driven.settings("Ann", "zone Europe/Berlin")
    await driven.service.lobby.invite(table, driven.people["Bob"], "Bob", by=driven.people["Ann"])
    (email,) = to(await desk.take(), "Bob")
    text = " ".join(email.text.split())
    assert "The pace is 24h, weekends out. When a time is up, the player is reminded, daily at first." in text
    assert "Players * Ann (Europe/Berlin) * Bob (invited)" in text


@pytest.mark.parametrize(
    ("pace", "said"),
    [
        ("24h, then deputy", "A deputy or robot plays fully: it also buys and sells."),
        ("24h, then orders", "the best routes run, the dividend is that of last time, and the player passes"),
        ("none", "There is no pace: players are reminded, daily at first, and nobody's time runs out."),
    ],
)
async def test_what_is_agreed_for_the_end_of_a_time_is_said_when_the_table_is_made(
    driven: DrivenTable, desk: MailDesk, pace: str, said: str
) -> None:
    table = await lobby(driven, "Ann")
    await driven.service.submit(table, None, [f"pace {pace}"], None, None, person_id=driven.people["Ann"])
    await driven.service.lobby.invite(table, driven.people["Bob"], "Bob", by=driven.people["Ann"])
    (email,) = to(await desk.take(), "Bob")
    assert said in " ".join(email.text.split())
    assert said in str(lobby_page(await driven.service.queries.table_info(table)))


async def test_who_has_joined_by_email_hears_of_another_pace(driven: DrivenTable, desk: MailDesk) -> None:
    table = await lobby(driven, "Ann", "Bob")
    await driven.service.lobby.invite(table, driven.people["Cid"], "Cid", by=driven.people["Ann"])
    await desk.take()
    for pace in ("48h", "48h", "24h, then orders"):
        await driven.service.submit(table, None, [f"pace {pace}"], None, None, person_id=driven.people["Ann"])
    emails = await desk.take()
    assert emails == to(emails, "Bob") and len(emails) == 2
    assert "News: Ann sets the pace of table Friday" in emails[1].subject
    assert "The pace is 24h, then orders. When a time is up, the player's orders" in emails[1].text


async def test_a_full_table_asks_its_host_and_yes_starts_it(driven: DrivenTable, desk: MailDesk) -> None:
    table = await lobby(driven, "Ann")
    for name in ("Bob", "Cid"):
        await driven.service.lobby.invite(table, driven.people[name], name, by=driven.people["Ann"])
    await driven.service.lobby.join(table, driven.people["Bob"], "Bob")
    (email,) = to(await desk.take(), "Ann")
    assert "No answer yet from Cid." in email.text
    await driven.service.lobby.join(table, driven.people["Cid"], "Cid")
    (email,) = to(await desk.take(), "Ann")
    assert "Ann, Bob and Cid. Start the game?" in email.text
    answer = await desk.answered(email, "yes")
    info = await driven.service.queries.table_info(table)
    assert f"The game at table {info.code} begins. Seating: Ann, Bob and Cid." in answer.text
    assert info.status == "running"


async def test_a_lobby_expires_after_a_warning(driven: DrivenTable) -> None:
    table = await lobby(driven, "Ann", "Bob")
    await driven.wait_until(START + timedelta(days=11, hours=1))
    (warning,) = driven.heard("Bob", "expiring")
    assert "waiting for its start for 11 days. It is closed in 3 days unless" in warning
    await driven.wait_until(START + timedelta(days=14, hours=1))
    assert (await driven.service.queries.table_info(table)).status == "ended"
    assert len(driven.heard("Ann", "closed")) == 1 and driven.heard("Cid") == []


async def test_who_has_joined_or_is_invited_hears_that_the_host_closes_the_table(driven: DrivenTable) -> None:
    """They waited for a game that never began; who is invited, and has not answered, need not any more."""
    table = await lobby(driven, "Ann", "Bob")
    await driven.service.lobby.invite(table, driven.people["Cid"], "Cid", by=driven.people["Ann"])
    await driven.tick()
    await driven.say("Ann", "end yes")
    closed = sorted((told.to, told.text) for told in driven.told if told.kind != "invited")
    assert closed == [("Bob", "Ann closes the table."), ("Cid", "Ann closes the table.")]
    async with driven.store.read() as unit:
        assert await unit.clocks.next_due_at() is None


async def test_a_lobby_that_is_kept_or_joined_stays(driven: DrivenTable, desk: MailDesk) -> None:
    table = await lobby(driven, "Ann")
    driven.now += timedelta(days=11)
    await driven.service.clock.tick()
    (email,) = to(await desk.take(), "Ann")
    assert "This table expires." in email.text
    assert "stays open." in (await desk.answered(email, "yes")).text
    driven.now += timedelta(days=10)
    await driven.service.clock.tick()
    await driven.service.lobby.join(table, driven.people["Bob"], "Bob")
    driven.now += timedelta(days=10)
    await driven.service.clock.tick()
    assert (await driven.service.queries.table_info(table)).status == "lobby"


@pytest.mark.parametrize(
    ("most", "invited"),
    [
        (9, "Ann and Cid are invited."),
        (1, "Ann is invited. Cid is not invited. You have invited 1 players today, the most on one day. "
         "More is possible again in 14 hours, at 00:00 UTC; or ask the operator."),
    ],
)  # fmt: skip
async def test_a_rematch_with_the_same_people(driven: DrivenTable, most: int, invited: str) -> None:
    driven.service = Service(driven.store, ping_holdoff=120, limits=Limits({"invitations": most}))
    await driven.begin("24h", options=["hints", "conventions 18xx.games"])
    await driven.say("Ann", "palette dark")
    early = await driven.say("Bob", "rematch")
    assert isinstance(early, LineRefused) and early.reason.startswith(
        "A rematch is for the players of a game"
    )
    await driven.service.running.end_now(driven.table, by=driven.people["Ann"])
    done = await driven.say("Bob", "rematch")
    assert isinstance(done, QueryAnswer)
    found = re.fullmatch(rf"Table (\w+) is open, as the last one was\. {re.escape(invited)}", done.text)
    assert found is not None, done.text
    created = await driven.service.queries.find_table(found[1])
    assert created.options == ("conventions 18xx.games",) and created.hints and created.palette == "dark"
    assert str(created.pace) == "24h" and created.host_id == driven.people["Bob"]
    is_open = f"The rematch is open already: table {found[1]}. Join there."
    again = await driven.say("Cid", "rematch")
    assert isinstance(again, LineRefused) and again.reason == is_open
    driven.now += timedelta(days=1)
    repeated = await driven.say("Bob", "rematch")
    if most == 1:  # its host invites on the next day whom the limit has left out
        assert isinstance(repeated, QueryAnswer)
        assert repeated.text == f"Table {found[1]} is open, as the last one was. Ann and Cid are invited."
        repeated = await driven.say("Bob", "rematch")
    assert isinstance(repeated, LineRefused) and repeated.reason == is_open


async def test_a_rematch_that_a_crash_has_stopped_goes_on(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    await driven.begin("24h")
    await driven.service.running.end_now(driven.table, by=driven.people["Ann"])
    with monkeypatch.context() as crash:
        crash.setattr(Lobby, "invite", AsyncMock(side_effect=RuntimeError))
        with pytest.raises(RuntimeError):
            await driven.say("Bob", "rematch")
    done = await driven.say("Bob", "rematch")
    assert isinstance(done, QueryAnswer) and done.text.endswith("Ann and Cid are invited.")


async def test_after_a_rematch_that_was_closed_there_is_another(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.service.running.end_now(driven.table, by=driven.people["Ann"])
    codes = []
    for by in ("Bob", "Cid"):
        done = await driven.say(by, "rematch")
        assert isinstance(done, QueryAnswer)
        codes.append(done.text.split()[1])
        created = await driven.service.queries.find_table(codes[-1])
        await driven.service.running.end_now(created.id, by=driven.people[by])
    assert codes[0] != codes[1]
