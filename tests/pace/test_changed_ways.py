"""Who changes how they are told while something waits for them is told once, and in the new way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.email.reachability import Bounce, Correspondents
from bot.hub.people import load_standing
from mail.reply_address import ReplyToken
from storage import NewMessage
from tests.pace.conftest import START, DrivenTable

MORNING = START + timedelta(hours=21)  # 07:00 in UTC


async def asked_at_night(driven: DrivenTable, tell: str) -> None:
    """It is Bob's turn in his quiet hours, and he has not been told of it."""
    await driven.begin("none", discord=True)
    await driven.settings("Bob", "zone UTC", "quiet 10:00-07:00", f"tell {tell}")
    await driven.say("Ann", "pass")
    await driven.wait_until(START + timedelta(hours=1))
    driven.told.clear()


async def wants_mail(driven: DrivenTable, person_id: int) -> bool:
    async with driven.store.read() as unit:
        return (await load_standing(unit, person_id)).wants_mail


@pytest.mark.parametrize("way", ["stop", "unlink"])
async def test_no_email_comes_after_the_last_one(driven: DrivenTable, way: str) -> None:
    """The email came at the end of the quiet hours, or nothing; and another setting turned emails on again,
    or was refused."""
    await asked_at_night(driven, "mail")
    bob = driven.people["Bob"]
    if way == "stop":
        await Correspondents(driven.service).stop(bob, "bob@player.test")
    else:
        await driven.service.submit_personal(bob, ["unlink bob@player.test"])
    assert await driven.settings("Bob", "next on") == "Set: next on."
    await driven.wait_until(MORNING)
    await driven.tick()
    assert [line[9:] for line in driven.heard("Bob")] == [
        "thread reminder: The table has waited for you for 21 hours."
    ]
    if way == "stop":
        assert not await wants_mail(driven, bob)
        await driven.settings("Bob", "mail too after 12h")
        assert await wants_mail(driven, bob), "they have asked for it"


@pytest.mark.parametrize(("tell", "told"), [("mail", "mail turn"), ("thread", "thread reminder")])
async def test_other_quiet_hours_hold_from_now_on(driven: DrivenTable, tell: str, told: str) -> None:
    """The email came at the old end, and the ping in the thread did not come at all."""
    await asked_at_night(driven, tell)
    await driven.settings("Bob", "quiet 10:00-08:00")
    await driven.wait_until(MORNING + timedelta(minutes=30))
    assert driven.heard("Bob") == []
    await driven.settings("Bob", "quiet 20:00-06:00")
    assert [line[9:].partition(":")[0] for line in driven.heard("Bob")] == [told]


@pytest.mark.parametrize(
    ("tell", "then", "told"),
    [
        ("mail", "thread", ["thread reminder"]), ("mail", "direct", ["direct reminder"]),
        ("direct", "mail", ["mail reminder"]), ("direct", "thread", ["thread reminder"]),
        ("mail", "thread, mail", ["mail turn", "thread reminder"]), ("thread", "mail", ["mail reminder"]),
        ("thread, mail", "thread", ["thread reminder"]), ("thread, mail", "mail", ["mail reminder"]),
    ],
)  # fmt: skip
async def test_who_is_to_be_told_in_another_way_in_the_night_is_told_in_that_alone(
    driven: DrivenTable, tell: str, then: str, told: list[str]
) -> None:
    """They were told in the former way too, or in that alone."""
    await asked_at_night(driven, tell)
    await driven.settings("Bob", f"tell {then}")
    assert driven.heard("Bob") == []
    await driven.wait_until(MORNING + timedelta(minutes=30))
    assert sorted(line[9:].partition(":")[0] for line in driven.heard("Bob")) == told


async def test_who_ends_their_digest_is_told_what_it_would_have_said(driven: DrivenTable) -> None:
    """They were told at the next reminder; of what a digest has told, they are told no second time."""
    await driven.begin("none")
    await driven.settings("Bob", "zone UTC", "digest 08:00")
    await driven.say("Ann", "pass")
    await driven.wait_until(START + timedelta(hours=1))
    driven.told.clear()
    await driven.settings("Bob", "at once")
    assert [line[9:] for line in driven.heard("Bob")] == [
        "mail reminder: The table has waited for you for 1 hour."
    ]
    await driven.settings("Bob", "digest 08:00")
    await driven.wait_until(MORNING + timedelta(hours=2))
    driven.told.clear()
    await driven.settings("Bob", "at once")
    assert driven.heard("Bob") == []


async def test_settings_for_a_table_are_for_one_of_ones_own(driven: DrivenTable) -> None:
    """A code with a mistake in it changed nothing, and was confirmed."""
    await driven.begin("none")
    with pytest.raises(ValueError, match="You are at no table XXX"):
        await driven.settings("Bob", "for XXX tell mail")
    code = (await driven.service.queries.table_info(driven.table)).code
    assert await driven.settings("Bob", f"for {code} tell mail") == f"For table {code}: tell mail."


async def test_the_settings_say_that_emails_are_stopped(driven: DrivenTable) -> None:
    bob = await driven.person("Bob")
    async with driven.store.begin() as unit:
        await unit.people.update(bob, preferences={"mail": False})
    shown = await driven.service.settings.show(bob)
    assert "settings tell default  # you have stopped emails; `start` by email" in shown
    await driven.service.settings.apply(bob, ["tell mail"])
    assert "stopped" not in await driven.service.settings.show(bob)


async def wait_for_bob_by_mail(driven: DrivenTable) -> None:
    """The table has waited for Bob for an hour, who is told by email alone."""
    await driven.begin("none", discord=True)
    await driven.settings("Bob", "tell mail")
    await driven.say("Ann", "pass")
    await driven.wait_until(START + timedelta(hours=1))
    driven.told.clear()


async def test_what_waits_as_an_email_when_emails_stop_is_asked_on_discord(driven: DrivenTable) -> None:
    """The mail server was away since their turn began: the email was dropped, and nothing told them."""
    await wait_for_bob_by_mail(driven)
    address, later = {"to": "bob@player.test", "sender": "play@games.test"}, driven.now + timedelta(hours=1)
    async with driven.store.begin() as unit:
        await unit.outbox.enqueue(NewMessage("<1@games.test>", "mail", address, b"mail", not_before=later))
    await Correspondents(driven.service).stop(driven.people["Bob"])
    await driven.tick()
    assert [line[9:] for line in driven.heard("Bob")] == [
        "thread reminder: The table has waited for you for 1 hour."
    ]


async def test_whose_address_refuses_emails_is_asked_on_discord(driven: DrivenTable) -> None:
    """They heard that their emails come back, and not that the table waits for them."""
    await wait_for_bob_by_mail(driven)
    address, correspondents = "bob@player.test", Correspondents(driven.service)
    token = ReplyToken("reply", address, frozenset({address}), "", person_id=driven.people["Bob"])
    for number in range(2):
        await correspondents.record_bounce(Bounce(token, f"<{number}@x.test>", "address", "5.1.1"))
    await driven.tick()
    assert [line[9:] for line in driven.heard("Bob") if "reminder" in line] == [
        "thread reminder: The table has waited for you for 1 hour."
    ]
