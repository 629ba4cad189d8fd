"""The clock on a time that the tests drive: reminders, the end of a time, the bank, absences, deputies."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from bot.hub.loading import UnreadableTable
from bot.hub.log import recent_events
from bot.hub.notifications.due_messages import still_wanted
from bot.hub.notifications.messages import Notification
from bot.hub.request import Completed, LineRefused, PollUpdated, QueryAnswer
from storage import NewMessage
from tests.pace.conftest import NAMES, START, DrivenTable
from tests.pace.test_pace import local
from tests.service.test_orders import OPENING
from tests.tables import started

BERLIN = "settings zone Europe/Berlin"


def at(text: str) -> str:
    """A local time of June as `heard` writes it (UTC)."""
    return f"{local(f'2026-06-{text}').astimezone(START.tzinfo):%d %H:%M}"


# -- reminders -------------------------------------------------------------------------------


async def test_reminders_at_half_one_hour_before_and_then_daily(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.wait_until(local("2026-06-04 13:00"))
    reminders = driven.heard("Ann", "reminder")
    assert [line[:8] for line in reminders] == [
        at("02 00:00"), at("02 11:00"), at("03 12:00"), at("04 12:00")
    ]  # fmt: skip
    assert reminders[0].endswith("You have 12 hours left, until Tue 2 Jun 10:00 (UTC).")
    assert reminders[1].endswith("You have 1 hour left, until Tue 2 Jun 10:00 (UTC).")
    assert reminders[2].endswith("Your time ended Tue 2 Jun 10:00 (UTC); the table still waits for you.")
    assert driven.heard("Bob", "reminder") == []


async def test_with_remind_the_others_hear_that_a_time_is_up(driven: DrivenTable) -> None:
    """Once, at its end."""
    await driven.begin("24h")
    await driven.wait_until(local("2026-06-05 13:00"))
    assert driven.heard("Bob", "news") == [
        f"{at('02 12:00')} mail news: Ann's time is up. The game waits for them."
    ]


async def test_nobody_is_reminded_who_has_nothing_to_decide(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.wait_until(local("2026-06-01 14:00"))
    await driven.say("Ann", "pass")
    await driven.wait_until(local("2026-06-02 14:30"))
    assert driven.heard("Ann", "reminder") == []
    assert [line[:8] for line in driven.heard("Bob", "reminder")] == [at("02 02:00"), at("02 13:00")]


async def test_reminders_wait_for_the_end_of_quiet_hours(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.settings("Ann", BERLIN, "settings quiet 22:00-07:00")
    await driven.wait_until(local("2026-06-02 12:30"))
    assert [line[:8] for line in driven.heard("Ann", "reminder")] == [at("02 07:00"), at("02 11:00")]
    assert "until Tue 2 Jun 12:00 (Europe/Berlin)" in driven.heard("Ann", "reminder")[0]


async def test_without_a_pace_nobody_is_asked_without_end_and_nobody_is_forgotten(
    driven: DrivenTable,
) -> None:
    """After a day, then daily for a week, then weekly; after eight weekly ones the table is paused."""
    await driven.begin("none")
    await driven.wait_until(local("2026-06-09 12:30"))
    days = [line[:8] for line in driven.heard("Ann", "reminder")]
    assert days == [at(f"{day:02} 12:00") for day in range(2, 10)]
    assert "The table has waited for you for 24 hours." in driven.heard("Ann", "reminder")[0]
    assert driven.heard("Bob", "news") == []
    await driven.wait_until(local("2026-08-04 12:30"))
    assert len(driven.heard("Ann", "reminder")) == 8 + 8
    weekly = driven.heard("Bob", "news")
    assert len(weekly) == 8 and "The table has waited for Ann for 15 days." in weekly[0]
    assert (await driven.service.queries.table_info(driven.table)).status == "running"
    await driven.wait_until(local("2026-08-20 12:00"))
    assert len(driven.heard("Ann", "reminder")) == 16
    assert (await driven.service.queries.table_info(driven.table)).status == "paused"
    assert "The table has waited for Ann for 71 days. The game is paused" in driven.heard("Bob", "news")[-1]


async def test_with_a_pace_nobody_is_reminded_without_end(driven: DrivenTable) -> None:
    """Ann was reminded daily for ever of a time that was up."""
    await driven.begin("24h")
    await driven.wait_until(local("2026-08-12 12:30"))
    assert (await driven.service.queries.table_info(driven.table)).status == "paused"
    assert len(driven.heard("Ann", "reminder")) == 2 + 8 + 8
    news = driven.heard("Bob", "news")
    assert "The table has waited for Ann for 72 days. The game is paused" in news[-1] and len(news) == 10
    await driven.wait_until(local("2026-12-01 12:00"))
    assert len(driven.heard("Ann", "reminder")) == 18 and driven.heard("Bob", "news") == news


async def test_who_is_nudged_is_asked_again_once_in_twelve_hours(driven: DrivenTable) -> None:
    await driven.begin("none")

    async def nudged(name: str) -> str:
        answer = await driven.say(name, "nudge")
        return answer.text if isinstance(answer, QueryAnswer) else getattr(answer, "reason", "")

    assert await nudged("Bob") == "Ann is asked again."
    assert len(driven.heard("Ann", "reminder")) == 1
    assert await nudged("Cid") == "Ann was asked again less than twelve hours ago."
    assert await nudged("Ann") == "The table waits for nobody but you."
    await driven.wait_until(local("2026-06-02 00:30"))
    assert await nudged("Cid") == "Ann is asked again."
    assert len(driven.heard("Ann", "reminder")) == 2


async def test_who_has_just_been_asked_is_not_nudged(driven: DrivenTable) -> None:
    """Nobody was told why."""
    await driven.begin("none")
    await driven.service.submit(driven.table, 0, ["pass"], None, None)
    nudged = await driven.service.submit(driven.table, 0, ["nudge"], None, None)
    assert isinstance(nudged, QueryAnswer) and nudged.text == "Bob has just been asked."
    await driven.tick()
    for seat in (1, 2, 0):  # the clock is behind: it knows of Bob's question before
        await driven.service.submit(driven.table, seat, ["pass"], None, None)
    nudged = await driven.service.submit(driven.table, 0, ["nudge"], None, None)
    assert isinstance(nudged, QueryAnswer) and nudged.text == "Bob has just been asked."


async def test_who_may_only_answer_in_advance_is_not_nudged(driven: DrivenTable) -> None:
    """Cid, who bids against Ann, had always just been asked."""
    await driven.begin("none")
    for name, line in (("Ann", "bid CS 45"), ("Bob", "pass"), ("Cid", "bid CS 50"), ("Ann", "buy SV")):
        await driven.say(name, line)
    nudged = await driven.say("Ann", "nudge")
    assert isinstance(nudged, LineRefused) and nudged.reason == "The table waits for nobody but you."
    nudged = await driven.say("Bob", "nudge")
    assert isinstance(nudged, QueryAnswer) and nudged.text == "Ann is asked again."


async def test_the_computer_player_is_not_nudged(driven: DrivenTable) -> None:
    """Who nudged was asked to tell it some other way."""
    await driven.begin("none")
    await driven.say("Ann", "robot Ann")
    for name in ("Bob", "Cid"):
        await driven.say(name, "accept")
    nudged = await driven.say("Bob", "nudge")
    assert isinstance(nudged, QueryAnswer)
    assert nudged.text == "Robot is the computer player and moves by itself."


@pytest.mark.parametrize(("passes", "heard"), [("", [at("01 15:00")]), ("Ann Bob Cid", [])])
async def test_a_nudge_waits_for_the_end_of_quiet_hours(
    driven: DrivenTable, passes: str, heard: list[str]
) -> None:
    """It is about one question: who has answered, and is asked the next one, hears nothing of it."""
    await driven.begin("none")
    await driven.settings("Ann", "Europe/Berlin 11:00-15:00")
    answer = await driven.say("Bob", "nudge")
    assert isinstance(answer, QueryAnswer)
    assert answer.text == "Ann is asked again when their quiet hours end."
    again = await driven.say("Cid", "nudge")
    assert isinstance(again, QueryAnswer)
    assert again.text == "Somebody has nudged Ann already; they are asked again on Mon 1 Jun 13:00 (UTC)."
    assert driven.heard("Ann", "reminder") == []
    for name in passes.split():
        await driven.say(name, "pass")
        driven.now += timedelta(minutes=1)
    assert await driven.asked() == ["Ann"]
    await driven.wait_until(local("2026-06-01 15:30"))
    assert [line[:8] for line in driven.heard("Ann", "reminder")] == heard


async def test_who_is_nudged_and_reads_digests_finds_it_at_their_head(driven: DrivenTable) -> None:
    """Of two tables the other waits for less long, and comes first."""
    await driven.begin("none")
    first = driven.table
    await driven.settings("Ann", BERLIN, "settings digest 08:00")
    driven.now += timedelta(hours=1)
    other = await started(driven.service, driven.people, name="Sunday")
    await driven.wait_until(local("2026-06-02 08:05"))
    driven.table = other.id
    when = "on Wed 3 Jun 06:00 (UTC)."
    for name, told in (("Bob", "Ann is asked again by their digest"), ("Cid", "they are asked again")):
        nudged = await driven.say(name, "nudge")
        assert isinstance(nudged, QueryAnswer) and nudged.text.endswith(f"{told} {when}")
    assert driven.heard("Ann", "reminder") == [], "it stands in the digest"
    await driven.wait_until(local("2026-06-03 08:05"))
    before, after = driven.heard("Ann", "digest")
    assert before.index("Friday") < before.index("Sunday") and "asked again" not in before
    assert after.index("Sunday") < after.index("Friday") and after.count("you are asked again") == 1
    assert first != other.id


async def test_who_cannot_be_reached_is_not_nudged(driven: DrivenTable) -> None:
    await driven.begin("none")
    async with driven.store.begin() as unit:
        await unit.people.record_bounces(driven.people["Ann"], "ann@player.test", {}, "no such mailbox")
    await driven.service.cache.refresh(driven.table)
    answer = await driven.say("Bob", "nudge")
    assert isinstance(answer, QueryAnswer)
    assert answer.text == "No message reaches Ann now. Please tell them some other way."
    assert driven.heard("Ann", "reminder") == []


async def test_escalation_adds_a_channel_once(driven: DrivenTable) -> None:
    await driven.begin("none", discord=True)
    await driven.settings("Ann", "settings tell thread", "settings mail too after 12h")
    await driven.wait_until(local("2026-06-02 11:00"))
    assert driven.heard("Ann", "reminder") == [
        f"{at('02 00:00')} mail reminder: The table has waited for you for 12 hours."
    ]


# -- hold-off and quiet hours of turns -------------------------------------------------------


async def test_hold_off_a_run_of_moves_is_one_message(driven: DrivenTable) -> None:
    """A turn that is over before the hold-off ends is told to nobody; so is one that an undo takes back, for
    the player who undoes is asked again in the answer."""
    await driven.begin("24h")
    await driven.wait_until(local("2026-06-01 12:10"))
    driven.told.clear()
    await driven.say("Ann", "pass")
    await driven.say("Bob", "pass")
    await driven.wait_until(local("2026-06-01 12:11"))
    await driven.say("Cid", "bid CS 45")
    await driven.say("Cid", "undo")
    assert [told for told in driven.told if told.kind == "turn"] == []
    await driven.wait_until(local("2026-06-01 12:20"))
    assert [(told.to, told.kind) for told in driven.told if told.kind == "turn"] == []
    assert await driven.asked() == ["Cid"]


async def test_hold_off_of_a_table(driven: DrivenTable) -> None:
    await driven.begin("24h, hold-off 0")
    await driven.say("Ann", "pass")
    assert driven.heard("Bob", "turn") == [f"{at('01 12:00')} mail turn"]


async def test_a_turn_in_quiet_hours_is_told_when_they_end(driven: DrivenTable) -> None:
    await driven.begin("none", discord=True)
    await driven.settings("Bob", BERLIN, "settings quiet 12:00-15:00", "settings tell thread, mail")
    await driven.say("Ann", "pass")
    await driven.wait_until(local("2026-06-01 15:10"))
    assert sorted(driven.heard("Bob")[-2:]) == [
        f"{at('01 15:00')} mail turn",
        f"{at('01 15:00')} thread reminder: The table has waited for you for 3 hours.",
    ]
    assert f"{at('01 12:02')} thread turn" in driven.heard("table"), "the card is there, without a ping"


async def test_what_comes_late_after_a_downtime_wakes_nobody(driven: DrivenTable) -> None:
    """Ann's digest was due at 12:30 and Bob's turn at 16:02; nothing was sent before 14:00 and 18:00."""
    await driven.begin("none", discord=True)
    await driven.settings("Bob", BERLIN, "settings quiet 17:00-19:00", "settings tell thread, mail")
    await driven.settings("Ann", BERLIN, "settings quiet 13:00-16:00", "settings digest 12:30")
    driven.now = local("2026-06-01 14:00")
    await driven.tick()
    assert driven.heard("Ann", "digest") == []
    await driven.wait_until(local("2026-06-01 16:00"))
    assert [line[:20] for line in driven.heard("Ann", "digest")] == [f"{at('01 16:00')} mail digest"]

    await driven.say("Ann", "pass")
    driven.now = local("2026-06-01 18:00")
    await driven.tick()
    assert driven.heard("Bob", "turn") == []
    await driven.wait_until(local("2026-06-01 19:00"))
    assert sorted(driven.heard("Bob", "turn")) == [f"{at('01 19:00')} {to} turn" for to in ("mail", "thread")]


async def test_late_messages_that_cannot_be_read_hold_up_no_other(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is damaged, the reader of another is deleted, the table of a third is damaged: all are leased, and
    delivery says what is wrong."""

    async def damaged(*_: object) -> None:
        raise UnreadableTable("ABC")

    monkeypatch.setattr("bot.hub.notifications.due_messages.load_info", damaged)
    async with driven.store.begin() as unit:
        eve = await unit.people.add("Eve")
        deleted, unreadable = (
            msgspec.json.encode(Notification("turn", 1, 0, person_id=reader)) for reader in (999, eve.id)
        )
        for key, payload in (("damaged", b"{"), ("deleted", deleted), ("unreadable", unreadable)):
            message = NewMessage(key, "mail", {}, payload, not_before=START - timedelta(hours=1))
            await unit.outbox.enqueue(message)
        leased = await unit.outbox.lease_due("mail", 9, timedelta(minutes=1))
        sent = await still_wanted(unit, leased)
    assert [row.idempotency_key for row in sent] == ["damaged", "deleted", "unreadable"]


# -- channels and digest ---------------------------------------------------------------------


async def test_channels_of_a_person_and_of_one_table(driven: DrivenTable) -> None:
    await driven.begin("none, hold-off 0", discord=True)
    await driven.settings("Bob", "settings tell direct, mail")
    code = (await driven.service.queries.table_info(driven.table)).code
    await driven.say("Ann", "pass")
    assert {line[9:] for line in driven.heard("Bob", "turn")} == {"direct turn", "mail turn"}
    await driven.settings("Cid", f"settings for {code} tell mail")
    await driven.say("Bob", "pass")
    assert {line[9:] for line in driven.heard("Cid", "turn")} == {"mail turn"}


async def test_a_digest_is_one_message_a_day_if_something_waits(driven: DrivenTable) -> None:
    await driven.begin("48h")
    await driven.settings("Ann", BERLIN, "settings digest 08:00")
    await driven.settings("Bob", BERLIN, "settings digest 08:00")
    await driven.wait_until(local("2026-06-03 09:00"))
    assert driven.heard("Bob") == ["01 10:00 mail started: " + driven.heard("Bob")[0].partition(": ")[2]]
    assert [line[:20] for line in driven.heard("Ann", "digest")] == [
        f"{at('02 08:00')} mail digest", f"{at('03 08:00')} mail digest"
    ]  # fmt: skip
    await driven.wait_until(local("2026-06-03 11:30"))
    assert driven.heard("Ann", "reminder")[0].startswith(at("03 11:00")), "the last hour is told all the same"


async def test_who_is_away_gets_no_digest(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.settings("Ann", BERLIN, "settings digest 08:00", "away until 2026-06-05")
    await driven.wait_until(local("2026-06-05 09:00"))
    assert [line[:8] for line in driven.heard("Ann", "digest")] == [at("05 08:00")]


async def test_a_digest_whose_hour_is_changed_comes_at_the_new_one(driven: DrivenTable) -> None:
    """Also on a day on which one has come already."""
    await driven.begin("48h")
    await driven.settings("Ann", BERLIN, "settings digest 08:00")
    await driven.wait_until(local("2026-06-02 12:00"))
    await driven.settings("Ann", "settings digest 20:00")
    await driven.wait_until(local("2026-06-03 09:00"))
    assert [line[:8] for line in driven.heard("Ann", "digest")] == [at("02 08:00"), at("02 20:00")]


async def test_who_travels_west_gets_the_digest_of_the_day_that_comes_again(driven: DrivenTable) -> None:
    await driven.begin("48h")
    await driven.settings("Ann", "settings zone Pacific/Auckland", "settings digest 08:00")
    await driven.wait_until(auckland := local("2026-06-02 08:00", "Pacific/Auckland"))
    await driven.settings("Ann", "settings zone America/New_York")
    await driven.wait_until(new_york := local("2026-06-02 08:00", "America/New_York"))
    assert [told.at for told in driven.told if told.kind == "digest"] == [auckland, new_york]


async def test_turns_are_told_the_most_urgent_first(driven: DrivenTable) -> None:
    await driven.begin("24h")
    second = await started(driven.service, driven.people, name="Sunday", pace="6h")
    await driven.tick()
    first = await driven.service.queries.table_info(driven.table)
    answer = await driven.say("Ann", "turns")
    assert isinstance(answer, QueryAnswer)
    assert answer.text == (
        f"{second.code} 1830 · Sunday, opening: 6 hours left, until Mon 1 Jun 16:00 (UTC)\n"
        f"{first.code} 1830 · Friday, opening: 24 hours left, until Tue 2 Jun 10:00 (UTC)"
    )
    answer = await driven.say("Bob", "turns")
    assert isinstance(answer, QueryAnswer) and answer.text == "No table waits for you."


async def test_you_are_next(driven: DrivenTable) -> None:
    await driven.begin("none, hold-off 0")
    await driven.settings("Cid", "settings next on")
    code = (await driven.service.queries.table_info(driven.table)).code
    await driven.say("Ann", "pass")
    await driven.tick()
    assert driven.heard("Cid", "next") == [
        f"{at('01 12:00')} mail next: You are next at table Friday {code}, after Bob."
    ]


# -- the end of a time -----------------------------------------------------------------------


async def test_time_up_pass(driven: DrivenTable) -> None:
    await driven.begin("24h, then orders")
    await driven.wait_until(local("2026-06-02 12:00"))
    assert await driven.asked() == ["Bob"]
    assert [line[9:] for line in driven.heard("Cid", "news")] == ["mail news: Ann's time is up: they pass."]
    assert driven.heard("Bob", "news") == [], "the notification of their turn says it"
    assert driven.heard("Ann", "news") == []
    assert "mail time_up: You have passed at table Friday" in driven.heard("Ann", "time_up")[0]
    since = await driven.service.queries.log_since_last_move(driven.table, 1)
    assert recent_events(since)[1:] == ("Ann's time is up: they pass.", "Ann passes.")
    assert (since[-1].line, since[-1].seat) == ("pass", 0)


async def test_where_nobody_answers_any_more_the_clock_does_not_pass_for_ever(driven: DrivenTable) -> None:
    """After eight passes for each player since Cid has answered the table is paused; after another answer
    there are as many."""
    await driven.begin("6h, then orders")
    await driven.wait_until(START + timedelta(hours=13))
    for answer in ("pass", "resume"):
        before = (await driven.service.cache.get(driven.table)).seq
        await driven.say("Cid", answer)
        await driven.wait_until(driven.now + timedelta(days=6))
        table = await driven.service.cache.get(driven.table)
        rows = [row for row in table.log.rows[before:] if row.transport == "clock"]
        assert [row.line for row in rows if row.kind == "move"] == ["pass"] * 24
        assert table.info.status == "paused" and rows[-1].line == "pause"
        assert rows[-1].raw_line.startswith("The table has waited for its players for ")
    (asked,) = await driven.asked()
    assert "The table has waited for you for " in driven.heard(asked, "time_up")[-1]
    assert all(rows[-1].raw_line in driven.heard(name, "news")[-1] for name in NAMES if name != asked)


async def test_who_reads_digests_hears_at_once_that_their_time_is_up(driven: DrivenTable) -> None:
    """They heard nothing: what is played is news, and no table waits for them after it."""
    await driven.begin("24h, then orders")
    await driven.settings("Ann", "digest 08:00")
    await driven.wait_until(START + timedelta(hours=25))
    (told,) = driven.heard("Ann", "time_up")
    assert told.startswith("02 10:00") and "You have passed at table Friday" in told
    assert driven.heard("Bob", "time_up") == []


async def test_time_up_pause(driven: DrivenTable) -> None:
    await driven.begin("24h, then pause")
    await driven.wait_until(local("2026-06-04 12:00"))
    assert (await driven.service.queries.table_info(driven.table)).status == "paused"
    assert [line[9:] for line in driven.heard("Bob", "news")] == [
        "mail news: Ann's time is up. The game is paused until a player resumes it."
    ]
    assert driven.heard("Ann", "news") == []
    assert [line[9:] for line in driven.heard("Ann", "time_up")] == [
        "mail time_up: Your time is up. The game is paused until a player resumes it. "
        "Write `resume` when you are back; on Discord it is `/table resume`."
    ]
    assert len(driven.heard("Ann", "reminder")) == 2, "nobody is reminded while the game is paused"
    assert isinstance(await driven.say("Ann", "resume"), Completed)
    await driven.wait_until(local("2026-06-05 11:30"))
    assert (await driven.service.queries.table_info(driven.table)).status == "running"


async def test_time_up_deputy(driven: DrivenTable) -> None:
    await driven.begin("24h, then deputy")
    await driven.person("Dora")
    await driven.settings("Ann", "settings deputy Dora")
    refused = await driven.say("Dora", "pass")
    assert not isinstance(refused, Completed)
    await driven.wait_until(local("2026-06-02 12:10"))
    (asked,) = driven.heard("Dora")
    assert "mail turn: " in asked and "please decide for them this once" in asked
    assert isinstance(await driven.say("Dora", "pass"), Completed)
    assert await driven.asked() == ["Bob"]
    info = await driven.service.queries.table_info(driven.table)
    assert info.deputies == {}, "it was for one decision"


async def test_then_deputy_without_a_deputy_is_a_robot_where_the_table_has_agreed(
    driven: DrivenTable,
) -> None:
    await driven.begin("24h, then deputy, robot deputies")
    shown = await driven.say("Bob", "pace")
    assert isinstance(shown, QueryAnswer)
    assert "the player's deputy decides, else a robot. A deputy or robot plays fully" in shown.text
    await driven.wait_until(local("2026-06-02 12:10"))
    assert any("Ann's time is up. Robot decides for them this once." in told for told in driven.heard("Bob"))
    async with driven.service.cache.locked(driven.table):
        """The cache has the new deputy, as `TableCache.run` sees to it."""
    assert await driven.service.robots.play(driven.table) == 1
    assert await driven.asked() == ["Bob"]
    driven.service.robots.worker.close()


async def test_nothing_is_sold_or_bought_for_an_absent_player(driven: DrivenTable) -> None:
    """Where no pass is legal, the game waits."""
    await driven.begin("24h, then orders")
    for name, line in (("Ann", "buy SV"), ("Bob", "bid CS 45"), ("Cid", "bid CS 50")):
        await driven.say(name, line)
    before = await driven.service.queries.state_at(driven.table)
    await driven.wait_until(local("2026-06-12 12:00"))
    after = await driven.service.queries.state_at(driven.table)
    lines = [entry.line for entry in await driven.service.queries.log(driven.table) if entry.kind == "move"]
    assert set(lines[3:]) == {"pass"}
    assert after.cash["p1"] >= before.cash["p1"] - 5


async def test_the_bank_is_used_up_and_not_refilled(driven: DrivenTable) -> None:
    await driven.begin("24h, bank 10h, then orders")
    await driven.wait_until(local("2026-06-02 18:00"))
    assert await driven.asked() == ["Ann"], "6 of 10 hours of the bank are used"
    await driven.say("Ann", "pass")
    await driven.say("Bob", "pass")
    await driven.say("Cid", "pass")
    async with driven.store.read() as unit:
        clock = (await unit.clocks.seat_clocks(driven.table))[0]
    assert clock.bank == 4 * 3600
    assert clock.time_up == driven.now + timedelta(hours=28)


async def test_a_question_with_one_answer_takes_nothing_from_the_bank(driven: DrivenTable) -> None:
    await driven.begin("24h, bank 10h", title="1851")  # whoever is drawn begins
    for line in (
        "par L&N 100", "buy L&N", "par TC 90", "par GM&O 100", "par Dixie 90",
        "buy TC", "buy L&N", "buy L&N", "par SR 75", "lay 8 C15 1",
    ):  # fmt: skip
        assert isinstance(await driven.say((await driven.asked())[0], line), Completed)
    (president,) = await driven.asked()
    await driven.wait_until(START + timedelta(hours=30))
    assert isinstance(await driven.say(president, "buy train 2"), Completed)
    async with driven.store.read() as unit:
        assert (await unit.clocks.seat_clocks(driven.table))[NAMES.index(president)].bank is None


async def test_an_offer_takes_no_time_of_the_turn_after_it(driven: DrivenTable) -> None:
    """Cid had an hour for the turn that came after an offer of the day before."""
    await driven.begin("24h")
    for name, line in (*OPENING, *((name, "pass") for name in NAMES), ("Ann", "pass")):
        assert isinstance(await driven.say(name, line), Completed)
    assert isinstance(await driven.say("Bob", "sell private CS to Cid for 50"), Completed)
    await driven.wait_until(START + timedelta(hours=23))
    assert isinstance(await driven.say("Bob", "pass"), Completed)
    async with driven.store.read() as unit:
        clock = (await unit.clocks.seat_clocks(driven.table))[2]
    assert clock.time_up == driven.now + timedelta(hours=24)


@pytest.mark.parametrize(
    ("pace", "told"),
    [
        ("none", "The {} has waited for you for 2 days."),
        ("24h", "Your time ended Tue 2 Jun 10:00 (UTC); the {} still waits for you."),
    ],
)
async def test_a_reminder_of_an_offer_says_that_the_offer_waits(
    driven: DrivenTable, pace: str, told: str
) -> None:
    """The table goes on without an answer; it waits for Bob, who has proposed the deal."""
    await driven.begin(pace)
    for name, line in (*OPENING, *((name, "pass") for name in NAMES), ("Ann", "pass")):
        assert isinstance(await driven.say(name, line), Completed)
    assert isinstance(await driven.say("Bob", "sell private CS to Cid for 50"), Completed)
    await driven.wait_until(START + timedelta(hours=60))
    for name, what in (("Bob", "table"), ("Cid", "offer")):
        assert driven.heard(name, "reminder")[-1].endswith(told.format(what))


async def test_one_extension_without_asking(driven: DrivenTable) -> None:
    await driven.begin("24h, then orders")
    result = await driven.say("Ann", "extend")
    assert isinstance(result, Completed)
    assert result.sentences == ("You have more time, until Wed 3 Jun 10:00 (UTC).",)
    assert driven.heard("Ann", "news") == []
    (told,) = driven.heard("Cid", "news")
    assert told == "01 10:00 mail news: Ann takes more time, until Wed 3 Jun 10:00 (UTC)."
    again = await driven.say("Ann", "extend")
    assert isinstance(again, LineRefused)
    assert again.reason == "You have taken more time for this decision already."
    other = await driven.say("Bob", "extend")
    assert isinstance(other, LineRefused)
    assert other.reason == "The table does not wait for you, so your time does not run."
    await driven.wait_until(local("2026-06-03 11:55"))
    assert await driven.asked() == ["Ann"]


async def test_who_takes_more_time_is_reminded_of_the_new_end_too(driven: DrivenTable) -> None:
    """Half of the time was over before the extension, and is again after it."""
    await driven.begin("24h")
    await driven.wait_until(local("2026-06-02 10:00"))
    await driven.say("Ann", "extend")
    await driven.wait_until(local("2026-06-03 12:30"))
    times = [line[:8] for line in driven.heard("Ann", "reminder")]
    assert times == ["01 22:00", "02 10:00", "03 09:00"]


# -- absence ---------------------------------------------------------------------------------


async def test_an_absence_moves_deadlines_and_is_told_at_the_table(driven: DrivenTable) -> None:
    await driven.begin("24h, then orders")
    answer = await driven.settings("Ann", BERLIN, "away until 2026-06-08")
    assert answer.splitlines()[-1] == "You are away until Mon 8 Jun 2026. Your time does not run until then."
    assert [line[9:] for line in driven.heard("Bob", "news")] == [
        "mail news: Ann is away until Mon 8 Jun 2026. Their time does not run until then."
    ]
    assert driven.heard("Ann", "news") == []
    await driven.wait_until(local("2026-06-08 23:00"))
    assert await driven.asked() == ["Ann"]
    assert [line[9:] for line in driven.heard("Bob", "news")][1:] == ["mail news: Ann is back."]
    await driven.wait_until(local("2026-06-09 01:00"))
    assert await driven.asked() == ["Bob"]


async def test_a_deputy_plays_until_the_player_is_back(driven: DrivenTable) -> None:
    await driven.begin("24h, hold-off 0")
    await driven.person("Dora")
    await driven.settings("Ann", BERLIN, "away until 2026-06-08 deputy Dora")
    assert "Dora plays for them until then." in driven.heard("Cid", "news")[0]
    (asked,) = driven.heard("Dora")
    assert "mail turn: " in asked and "Ann asks you to play for them at table Friday" in asked
    assert isinstance(await driven.say("Dora", "pass"), Completed)
    await driven.say("Bob", "pass")
    await driven.say("Cid", "pass")
    assert len(driven.heard("Dora", "turn")) == 2
    await driven.wait_until(local("2026-06-08 00:30"))
    assert len(driven.heard("Dora", "reminder")) > 0 and driven.heard("Ann", "reminder") == []
    assert not isinstance(await driven.say("Dora", "pass"), Completed), "Ann is back"
    assert isinstance(await driven.say("Ann", "pass"), Completed)


async def test_a_deputy_is_somebody_else_who_is_known(driven: DrivenTable) -> None:
    await driven.begin("24h")
    for name, sentence in (
        ("Zoe", "Nobody here is called Zoe. Name somebody who plays here, or give their email address."),
        ("Ann", "You cannot be your own deputy. Name somebody who plays here, or give their email address."),
    ):
        with pytest.raises(ValueError, match="Name somebody") as error:
            await driven.settings("Ann", f"away until 2026-06-08 deputy {name}")
        assert str(error.value) == sentence
    with pytest.raises(ValueError, match=r"Bob plays at table \w+ too; a deputy has to be somebody else"):
        await driven.settings("Ann", "away until 2026-06-08 deputy Bob")


@pytest.mark.parametrize("written", ["Dora", "dora@player.test", "Dora <Dora@Player.test>"])
async def test_a_deputy_is_named_as_other_people_are(driven: DrivenTable, written: str) -> None:
    await driven.begin("24h")
    await driven.person("Dora")
    await driven.settings("Ann", f"away until 2026-06-08 deputy {written}")
    await driven.tick()
    assert driven.heard("Bob", "news")[-1].endswith("Dora plays for them until then.")


# -- the pace is changed by a vote -----------------------------------------------------------


async def test_the_pace_is_changed_by_a_vote(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.wait_until(local("2026-06-01 20:00"))
    proposed = await driven.say("Bob", "pace daily 20:00 Europe/Berlin, then pause")
    assert isinstance(proposed, PollUpdated)
    assert proposed.sentences[0] == (
        "Bob proposes another pace: daily 20:00 Europe/Berlin, then pause (now: 24h)."
    )
    await driven.say("Ann", "accept vote")
    assert str((await driven.service.queries.table_info(driven.table)).pace) == "24h"
    result = await driven.say("Cid", "accept vote")
    assert isinstance(result, PollUpdated) and result.outcome == "passed"
    info = await driven.service.queries.table_info(driven.table)
    assert str(info.pace) == "daily 20:00 Europe/Berlin, then pause"
    async with driven.store.read() as unit:
        clock = (await unit.clocks.seat_clocks(driven.table))[0]
    assert clock.time_up == local("2026-06-02 20:00"), "the clock starts anew"


async def test_a_pace_that_is_none_is_refused_with_a_sentence(driven: DrivenTable) -> None:
    await driven.begin("24h")
    result = await driven.say("Bob", "pace soon")
    assert isinstance(result, LineRefused)
    assert result.reason.startswith("`soon` is not a pace; write `none`")
    shown = await driven.say("Bob", "pace")
    assert isinstance(shown, QueryAnswer)
    assert shown.text == "The pace is 24h. When a time is up, the player is reminded, daily at first."
    declined = await driven.say("Bob", "pace none")
    assert isinstance(declined, PollUpdated)
    result = await driven.say("Ann", "decline vote")
    assert isinstance(result, PollUpdated) and result.outcome == "failed"
    assert str((await driven.service.queries.table_info(driven.table)).pace) == "24h"


async def test_the_computer_player_is_a_deputy_where_the_table_has_agreed(driven: DrivenTable) -> None:
    """It plays for the absent player until they are back; elsewhere their time does not run."""
    await driven.begin("24h")
    with pytest.raises(ValueError, match="`pace 24h, robot deputies`"):
        await driven.settings("Ann", "away until 2026-06-08 deputy Robot")
    await driven.say("Ann", "pace 24h, robot deputies")
    for name in ("Bob", "Cid"):
        await driven.say(name, "accept")
    assert "Robot plays for you" in await driven.settings("Ann", "away until 2026-06-08 deputy Robot")
    assert any("Robot plays for them until then" in line for line in driven.heard("Bob", "news"))
    async with driven.service.cache.locked(driven.table):
        """The cache has the new deputy, as `TableCache.run` sees to it."""
    assert await driven.service.robots.play(driven.table) == 1
    assert await driven.asked() == ["Bob"]
    (move,) = [e for e in await driven.service.queries.log(driven.table) if e.kind == "move"]
    assert move.seat == 0
    await driven.say("Bob", "pace 48h")
    await driven.say("Cid", "accept")
    assert await driven.service.robots.play(driven.table) == 0, "a deputy does not vote"
    driven.service.robots.worker.close()


async def test_then_orders_runs_the_trains_and_declares_the_dividend_of_last_time(
    driven: DrivenTable,
) -> None:
    """`then orders` waited without end where the trains have to run."""
    lines = Path("tests/games/1830-2p-1.18xx").read_text().splitlines(keepends=True)
    runs = [number for number, line in enumerate(lines) if line.startswith("Ann: run ")]
    assert lines[runs[0] + 1] == "Ann: withhold\n"
    for name in ("Ann", "Bob"):
        await driven.person(name)
    table, _ = await driven.service.imports.open_table(
        "".join(lines[: runs[1]]).encode(), by=driven.people["Ann"]
    )
    driven.table = table.id
    for seat, name in enumerate(table.names):
        await driven.service.imports.claim_seat(table.id, seat, driven.people[name], name)
    await driven.say("Bob", "pace 24h, then orders")
    assert isinstance(await driven.say("Ann", "accept"), PollUpdated)
    before = len(await driven.service.queries.log(table.id))
    await driven.wait_until(START + timedelta(hours=49))
    run = lines[runs[1]].removeprefix("Ann: ").strip()
    played = (await driven.service.queries.log(table.id))[before:]
    assert [row.line for row in played if row.kind == "move"] == [run, "withhold"]
    assert "Ann's time is up: `run best` is played for them." in driven.heard("Bob", "news")[-1]


async def ends_of_time(driven: DrivenTable, until: str) -> list[str]:
    """The times at which Ann's turn ends while the others pass at once."""
    found = []
    while driven.now < local(until):
        before = driven.now
        await driven.wait_until(min(local(until), before + timedelta(hours=1)))
        while (asked := await driven.asked()) and asked[0] != "Ann":
            found += [f"{driven.now.astimezone(START.tzinfo):%d %H:%M}"] if asked[0] == "Bob" else []
            await driven.say(asked[0], "pass")
    return list(dict.fromkeys(found))


async def test_who_lets_the_time_run_out_twice_has_a_quarter_of_it_until_they_move(
    driven: DrivenTable,
) -> None:
    """14 passes took 14 days. The second quarter ends after the quiet hours."""
    await driven.begin("24h, then orders")
    await driven.settings("Ann", BERLIN, "settings quiet 22:00-07:00")
    ends = await ends_of_time(driven, "2026-06-04 14:00")
    assert ends == [at("02 12:00"), at("03 12:00"), at("03 18:00"), at("04 09:00")]
    await driven.say("Ann", "pass")
    async with driven.store.read() as unit:
        clocks = await unit.clocks.seat_clocks(driven.table)
    assert clocks[0].lapses == 0


async def test_a_fixed_hour_is_no_shorter_after_lapses(driven: DrivenTable) -> None:
    await driven.begin("daily 12:00 Europe/Berlin, then orders")
    assert await ends_of_time(driven, "2026-06-05 14:00") == [at(f"0{day} 12:00") for day in (2, 3, 4, 5)]
