"""The pace of a table: its line, its deadlines, changes of summer time, weekends, absences, the time bank."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.hub.pace import (
    EXAMPLES,
    Calendar,
    Deadline,
    Pace,
    add_counted,
    bank_after,
    calendar_of,
    counted_between,
    deadline,
    parse_pace,
)
from bot.position.times import zone_of

BERLIN = "Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def local(text: str, zone: str = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone_of(zone)).astimezone(UTC)


def due(line: str, since: datetime, **more: object) -> Deadline:
    pace = parse_pace(line)
    left = timedelta(seconds=pace.bank)
    absences = more.pop("absences", ())
    found = deadline(pace, since, left, calendar_of(pace, BERLIN, absences), **more)  # type: ignore[arg-type]
    assert found is not None
    return found


# -- the line --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("none", "none"),
        ("24h", "24h"),
        ("1 day", "24h"),
        ("90 minutes", "90m"),
        ("3d bank 72h", "72h, bank 72h"),
        ("24h, bank 3 d", None),
        ("daily 20:00 europe/berlin", "daily 20:00 Europe/Berlin"),
        ("daily 8:05 UTC, weekends out, then pause", "daily 08:05 UTC, weekends out, then pause"),
        ("24h, hold-off 0", "24h, hold-off 0"),
        ("none, hold-off 5m", "none, hold-off 5m"),
        ("24H THEN ORDERS", "24h, then orders"),
    ],
)
def test_a_pace_is_read_and_written(written: str, stored: str | None) -> None:
    if stored is None:
        with pytest.raises(ValueError, match="not a length of time"):
            parse_pace(written)
        return
    pace = parse_pace(written)
    assert str(pace) == stored
    assert parse_pace(str(pace)) == pace


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("", f"The pace is missing; write {EXAMPLES}."),
        ("soon", f"`soon` is not a pace; write {EXAMPLES}."),
        ("24", f"`24` is not a pace; write {EXAMPLES}."),
        ("0h", "`0h` is not possible here; write at least `5m` and at most `720h`."),
        ("99d", "`99d` is not possible here; write at least `5m` and at most `720h`."),
        ("daily 20:00", "A fixed hour needs a time zone, such as `daily 20:00 Europe/Berlin`."),
        ("daily 25:00 UTC", "`25:00` is not a time of day; write hours and minutes, such as `20:00`."),
        ("daily 20:00 Berlin", "`Berlin` is not the name of a time zone; write one such as `Europe/Berlin`."),
        ("daily 20:00 Oz", "`Oz` is not the name of a time zone; write one such as `Europe/Berlin`."),
        ("24h bank much", "`much` is not a length of time; write one such as `24h` or `90m`."),
        ("24h then sell", "`then sell` is not part of a pace; after the time there may be `bank 72h`, "
                          "`weekends out`, `then remind`, `then orders`, `then deputy`, `then pause`, "
                          "`hold-off 2m`, `answers shown` and `robot deputies`."),
        ("none bank 72h", "Without a pace there is no time to run out; name a pace first, such as `24h`."),
    ],
)  # fmt: skip
def test_what_is_no_pace_is_one_sentence(written: str, sentence: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_pace(written)
    assert str(error.value) == sentence


# -- deadlines -------------------------------------------------------------------------------


def test_no_pace_has_no_deadline() -> None:
    assert deadline(Pace(), utc("2026-03-01 12:00"), timedelta(), calendar_of(Pace(), None)) is None


@pytest.mark.parametrize(
    ("since", "end"),
    [
        ("2026-03-28 12:00", "2026-03-29 13:00"),  # the clocks go forward in the night
        ("2026-10-24 12:00", "2026-10-25 11:00"),  # and back
        ("2026-06-01 12:00", "2026-06-02 12:00"),
    ],
)
def test_24_hours_are_24_hours_when_the_clocks_change(since: str, end: str) -> None:
    assert due("24h", local(since)).allowance_end == local(end)
    assert local(end) - local(since) == timedelta(hours=24)


@pytest.mark.parametrize(
    ("since", "end"),
    [
        ("2026-06-01 10:00", "2026-06-01 20:00"),
        ("2026-06-01 12:00", "2026-06-01 20:00"),  # just enough notice
        ("2026-06-01 12:01", "2026-06-02 20:00"),  # less than 8 hours: the next day
        ("2026-03-28 21:00", "2026-03-29 20:00"),  # the hour on the clock stays when the clocks change
        ("2026-10-24 21:00", "2026-10-25 20:00"),
    ],
)
def test_a_fixed_hour_is_the_hour_on_the_clock(since: str, end: str) -> None:
    assert due("daily 20:00 Europe/Berlin", local(since)).allowance_end == local(end)


@pytest.mark.parametrize(
    ("day", "end"), [("2026-03-28 12:00", "03-29 01:30"), ("2026-10-24 12:00", "10-25 00:30")]
)
def test_an_hour_that_is_left_out_or_comes_twice_is_one_moment(day: str, end: str) -> None:
    """In the night of the change 02:30 does not exist in spring, and is there twice in autumn."""
    assert due("daily 02:30 Europe/Berlin", local(day)).allowance_end == utc(f"2026-{end}")


def test_weekends_out_are_skipped() -> None:
    friday = local("2026-06-05 18:00")
    assert due("24h", friday).allowance_end == local("2026-06-06 18:00")
    assert due("24h, weekends out", friday).allowance_end == local("2026-06-08 18:00")
    assert due("24h, weekends out", local("2026-06-06 15:00")).allowance_end == local("2026-06-09 00:00")
    assert due("daily 20:00 Europe/Berlin, weekends out", local("2026-06-05 18:00")).allowance_end == local(
        "2026-06-08 20:00"
    )


def test_a_weekend_with_a_change_of_the_clocks_is_skipped_whole() -> None:
    assert due("24h, weekends out", local("2026-03-27 18:00")).allowance_end == local("2026-03-30 18:00")
    assert due("24h, weekends out", local("2026-10-23 18:00")).allowance_end == local("2026-10-26 18:00")


def test_weekends_are_those_of_the_player() -> None:
    """Saturday begins earlier in Tokyo."""
    pace = parse_pace("24h, weekends out")
    friday = utc("2026-06-05 14:00")
    tokyo = deadline(pace, friday, timedelta(), calendar_of(pace, "Asia/Tokyo"))
    angeles = deadline(pace, friday, timedelta(), calendar_of(pace, "America/Los_Angeles"))
    assert tokyo and tokyo.allowance_end == local("2026-06-08 23:00", "Asia/Tokyo")
    assert angeles and angeles.allowance_end == local("2026-06-08 07:00", "America/Los_Angeles")


def test_an_absence_does_not_count() -> None:
    away = (local("2026-06-02 00:00"), local("2026-06-09 00:00"))
    assert due("24h", local("2026-06-01 18:00"), absences=[away]).allowance_end == local("2026-06-09 18:00")
    assert due(
        "daily 20:00 Europe/Berlin", local("2026-06-01 18:00"), absences=[away]
    ).allowance_end == local("2026-06-09 20:00")


def test_an_extension_is_one_more_allowance() -> None:
    since = local("2026-06-01 12:00")
    assert due("24h", since, extended=True).allowance_end == local("2026-06-03 12:00")
    assert due("daily 20:00 Europe/Berlin", since, extended=True).allowance_end == local("2026-06-02 20:00")


# -- the bank --------------------------------------------------------------------------------


def test_the_bank_runs_after_the_allowance_and_not_on_weekends() -> None:
    found = due("24h, bank 72h, weekends out", local("2026-06-03 12:00"))
    assert found.allowance_end == local("2026-06-04 12:00")
    assert found.time_up == local("2026-06-09 12:00")


def test_what_is_left_of_the_bank() -> None:
    pace = parse_pace("24h, bank 72h")
    calendar, bank = calendar_of(pace, BERLIN), timedelta(hours=72)
    found = due("24h, bank 72h", local("2026-06-01 12:00"))
    assert bank_after(bank, found, local("2026-06-02 11:00"), calendar) == bank
    assert bank_after(bank, found, local("2026-06-02 22:00"), calendar) == timedelta(hours=62)
    assert bank_after(bank, found, local("2026-06-30 22:00"), calendar) == timedelta()
    assert bank_after(bank, None, local("2026-06-30 22:00"), calendar) == bank


@pytest.mark.parametrize("hours", [0, 1, 5, 24, 49, 200, 700])
@pytest.mark.parametrize("start", ["2026-03-27 23:30", "2026-10-24 01:30", "2026-06-06 00:00"])
def test_counted_time_added_is_counted_back(start: str, hours: int) -> None:
    away = (local("2026-03-31 10:00"), local("2026-04-02 09:00"))
    calendar = Calendar(zone_of(BERLIN), weekends=False, absences=[away])
    end = add_counted(local(start), timedelta(hours=hours), calendar)
    assert counted_between(local(start), end, calendar) == timedelta(hours=hours)


def test_a_day_without_midnight_ends() -> None:
    """In Beirut the clocks go forward at midnight."""
    calendar = Calendar(zone_of("Asia/Beirut"), weekends=True)
    start = local("2026-03-28 12:00", "Asia/Beirut")
    assert add_counted(start, timedelta(hours=48), calendar) == start + timedelta(hours=48)


@pytest.mark.parametrize(("agreed", "short"), [("24h", "6h"), ("4h", "2h"), ("1h", "1h")])
def test_a_shortened_allowance_is_a_quarter_and_not_under_two_hours(agreed: str, short: str) -> None:
    assert parse_pace(agreed).shortened() == parse_pace(short)
