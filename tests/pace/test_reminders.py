"""Reminders at half, one hour before, then daily; never in quiet hours."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bot.features.clock.seat_timers import next_reminder
from bot.hub.notifications.preferences import PersonSettings, QuietHours, not_quiet
from bot.hub.pace import Deadline, calendar_of, parse_pace
from bot.hub.request import QueryAnswer
from bot.position.times import parse_quiet_hours
from tests.pace.conftest import START, DrivenTable
from tests.pace.test_pace import local

QUIET = PersonSettings("Europe/Berlin", "22:00-07:00").quiet_hours
ALWAYS = calendar_of(parse_pace("24h"), None)


def all_reminders(
    since: datetime, due: Deadline, until: datetime, *, quiet: bool = True
) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    after = since
    while True:
        reminder = next_reminder(since, due, after, ALWAYS, QUIET if quiet else None)
        if reminder.at > until:
            return found
        assert reminder.at > after
        after = reminder.at
        found.append((reminder.name, reminder.at.astimezone(local("2026-06-01").tzinfo).isoformat()[5:16]))


def berlin(*texts: str) -> list[str]:
    return [local(f"2026-{text}").isoformat()[5:16] for text in texts]


def test_half_one_hour_before_and_then_daily() -> None:
    since = local("2026-06-01 09:00")
    end = local("2026-06-02 09:00")
    found = all_reminders(since, Deadline(end, end), local("2026-06-05 00:00"), quiet=False)
    assert [name for name, _ in found] == ["half", "hour", "day 1", "day 2"]
    assert [at for _, at in found] == berlin("06-01 21:00", "06-02 08:00", "06-03 09:00", "06-04 09:00")


def test_nothing_in_quiet_hours() -> None:
    """Half at 23:00 waits for the morning; one hour before 05:00 comes just before the quiet hours."""
    since, end = local("2026-06-01 15:00"), local("2026-06-02 07:00")
    found = all_reminders(since, Deadline(end, end), local("2026-06-03 12:00"))
    assert [at for _, at in found] == berlin("06-01 21:59", "06-03 07:00")
    end = local("2026-06-02 11:00")
    found = all_reminders(local("2026-06-01 11:30"), Deadline(end, end), local("2026-06-03 01:00"))
    assert [at for _, at in found] == berlin("06-02 07:00", "06-02 10:00")


def test_quiet_hours_follow_the_clock_on_the_wall() -> None:
    assert not_quiet(local("2026-03-29 01:30"), QUIET) == local("2026-03-29 07:00")
    assert not_quiet(local("2026-10-25 01:30"), QUIET) == local("2026-10-25 07:00")
    assert not_quiet(local("2026-10-25 07:00"), QUIET) == local("2026-10-25 07:00")
    noon = PersonSettings("Europe/Berlin", "12:00-14:00").quiet_hours
    assert not_quiet(local("2026-06-01 13:00"), noon) == local("2026-06-01 14:00")


def test_one_more_before_the_bank_is_empty() -> None:
    since, end = local("2026-06-01 09:00"), local("2026-06-02 09:00")
    found = all_reminders(
        since, Deadline(end, end + timedelta(hours=10)), local("2026-06-02 23:00"), quiet=False
    )
    assert [name for name, _ in found] == ["half", "hour", "bank"]


def test_daily_while_the_bank_lasts_and_after_its_end() -> None:
    since, end = local("2026-06-01 09:00"), local("2026-06-02 09:00")
    due = Deadline(end, end + timedelta(hours=50))
    found = all_reminders(since, due, local("2026-06-05 23:00"), quiet=False)
    assert [name for name, _ in found] == ["half", "hour", "bank day 1", "bank day 2", "bank", "day 1"]


def test_a_short_allowance_has_no_reminder_before_its_end() -> None:
    since = local("2026-06-01 09:00")
    end = since + timedelta(minutes=30)
    assert next_reminder(since, Deadline(end, end), since, ALWAYS).name == "day 1"


def test_after_a_long_pause_one_reminder_follows_not_all_that_were_missed() -> None:
    since, end = local("2026-06-01 09:00"), local("2026-06-02 09:00")
    reminder = next_reminder(since, Deadline(end, end), local("2026-06-20 10:00"), ALWAYS, QUIET)
    assert reminder == ("week 2", local("2026-06-24 09:00"))


@pytest.mark.parametrize("due", [Deadline(START, START), None])
def test_after_a_year_the_pause_is_a_week_away(due: Deadline | None) -> None:
    """The table was paused at once."""
    now = local("2027-06-01 12:00")
    assert next_reminder(START, due, now, ALWAYS) == ("pause", now + timedelta(days=7))


@pytest.mark.parametrize(("hours", "quiet"), [(49, None), (73.5, QUIET)])
def test_the_end_of_the_bank_comes_before_a_daily_reminder_at_the_same_time(
    hours: float, quiet: QuietHours | None
) -> None:
    """Who reads a digest was not reminded of it."""
    since, end = local("2026-06-01 06:00"), local("2026-06-02 06:00")
    due = Deadline(end, end + timedelta(hours=hours))
    reminder = next_reminder(since, due, due.time_up - timedelta(hours=6), ALWAYS, quiet)
    assert reminder.name == "bank"


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("22:00", "`22:00` is not a span of hours; write one such as `22:00-07:00`."),
        ("22:00-7", "`7` is not a time of day; write hours and minutes, such as `20:00`."),
        ("22:00-22:00", "Quiet hours have to begin and end at different times, such as `22:00-07:00`."),
    ],
)
def test_what_are_no_quiet_hours_is_one_sentence(written: str, sentence: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_quiet_hours(written)
    assert str(error.value) == sentence


async def test_who_wakes_is_told_once_of_what_waits(driven: DrivenTable) -> None:
    """Ann was pinged and reminded at the same moment, in the same words."""
    await driven.begin("12h", discord=True)
    for name in ("Ann", "Bob"):
        await driven.settings(name, "tell thread", "quiet 10:00-20:00")
    await driven.say("Ann", "pass")
    await driven.wait_until(START + timedelta(hours=11, minutes=30))
    told = [each for each in driven.heard("Bob", "turn", "reminder") if " thread " in each]
    assert [each[:8] for each in told] == ["01 20:00", "01 21:00"]


async def test_no_reminder_falls_into_an_absence_or_a_weekend_that_is_out(driven: DrivenTable) -> None:
    """Half of the time was counted through both, and a nudge reached Ann on her holiday."""
    await driven.begin("24h")
    await driven.say("Ann", "settings zone Europe/Berlin")
    await driven.say("Ann", "away until 2026-06-20")
    await driven.wait_until(START + timedelta(days=2))
    nudged = await driven.say("Bob", "nudge")
    assert isinstance(nudged, QueryAnswer) and "Ann is away until Sat 20 Jun 2026." in nudged.text
    await driven.wait_until(local("2026-06-20 23:30"))
    assert [each[:8] for each in driven.heard("Ann", "reminder")] == ["20 10:00", "20 21:00"]


async def test_half_of_a_time_over_a_weekend_that_is_out(driven: DrivenTable) -> None:
    await driven.begin("24h, weekends out")
    for name in ("Ann", "Bob", "Cid"):
        await driven.say(name, "settings zone Europe/Berlin")
    await driven.wait_until(local("2026-06-05 16:00"))
    await driven.say("Ann", "pass")
    await driven.wait_until(local("2026-06-08 15:30"))
    assert [each[:8] for each in driven.heard("Bob", "reminder")] == ["08 02:00", "08 13:00"]


async def test_an_absence_does_not_count_without_a_pace(driven: DrivenTable) -> None:
    """After a holiday of 19 days the others heard that the table had waited, and the pause came early."""
    await driven.begin("none")
    await driven.say("Ann", "settings zone Europe/Berlin")
    await driven.say("Ann", "away until 2026-06-20")
    await driven.wait_until(local("2026-06-22 12:00"))
    assert [each[:8] for each in driven.heard("Ann", "reminder")] == ["20 22:00", "21 22:00"]
    assert not [each for each in driven.heard("Bob", "news") if "has waited" in each]


async def test_who_goes_away_when_the_time_is_up_is_not_reminded_daily(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.wait_until(START + timedelta(hours=30))
    await driven.say("Ann", "away until 2026-06-20")
    driven.told.clear()
    await driven.wait_until(local("2026-06-21 23:30"))
    assert [each[:8] for each in driven.heard("Ann", "reminder")] == ["20 18:00", "21 18:00"]
