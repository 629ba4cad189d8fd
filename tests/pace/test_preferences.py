"""The settings of a person: lines that set them, what is shown, and one sentence for each error."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.hub.notifications.preferences import PersonSettings, changed_settings, preferences_with, settings_of
from tests.pace.test_pace import local

NOW = local("2026-12-10 15:00")


def after(*lines: str) -> PersonSettings:
    settings = PersonSettings()
    for line in lines:
        settings = changed_settings(settings, line, NOW)
    return settings


def test_the_defaults_are_shown() -> None:
    assert PersonSettings().lines(NOW) == [
        "zone UTC", "quiet off", "tell default", "at once", "mail too off", "next off",
        "deputy off", "palette as the table", "pictures on", "away off",
    ]  # fmt: skip


def test_what_is_shown_sets_the_same() -> None:
    lines = [
        "zone Europe/Berlin", "quiet 22:00-07:00", "tell thread, mail", "digest 08:30", "mail too after 12h",
        "next on", "deputy Dora", "palette dark", "pictures off", "away until 2026-12-24 deputy Dora Smith",
        "for ABC tell direct", "for ABC at once",
    ]  # fmt: skip
    settings = after(*lines)
    assert settings.lines(NOW) == lines
    assert after(*settings.lines(NOW)) == settings
    stored = preferences_with({"mail": True}, settings)
    assert settings_of(stored, "Europe/Berlin") == settings
    assert stored["mail"] is True


def test_a_zone_and_quiet_hours_in_one_line() -> None:
    expected = after("zone Europe/Berlin", "quiet 22:00-07:00")
    assert after("Europe/Berlin 22:00-07:00") == after("quiet Europe/Berlin 22:00-07:00") == expected
    assert after("Europe/Berlin") == after("zone Europe/Berlin")


def test_a_table_of_its_own() -> None:
    settings = after(
        "tell thread, mail", "digest", "mail too after 12h", "for abc at once", "for ABC tell direct"
    )
    assert settings.for_table("ABC").channels == ("direct",)
    assert settings.for_table("ABC").digest is False
    assert settings.for_table("ABC").escalation == "mail"
    assert settings.for_table("XYZ").digest is True
    assert after("for ABC tell mail", "for ABC default").tables == {}


def test_quiet_hours_with_a_zone() -> None:
    for line in ("quiet Europe/Berlin 22:00-07:00", "quiet 22:00 - 07:00 europe/berlin"):
        settings = after(line)
        assert (settings.zone, settings.quiet) == ("Europe/Berlin", "22:00-07:00")
    assert after("quiet 22:00 - 7:00").quiet == "22:00-07:00"


@pytest.mark.parametrize(
    ("quiet", "day"),
    [
        ("America/New_York 22:00-01:30", "2026-10-31"),
        ("America/New_York 02:15-07:00", "2026-03-07"),
        ("Australia/Lord_Howe 22:00-01:45", "2026-04-04"),
        ("Australia/Lord_Howe 02:15-07:00", "2026-10-03"),
        ("America/Havana 00:30-06:00", "2026-03-07"),
    ],
)
def test_quiet_hours_are_a_night_where_summer_time_begins_or_ends(quiet: str, day: str) -> None:
    """A message that came in an hour that the clock showed twice waited for a day."""
    hours = after(f"quiet {quiet}").quiet_hours
    assert hours
    for minutes in range(0, 2 * 24 * 60, 5):
        moment = local(f"{day} 12:00", str(hours.zone)) + timedelta(minutes=minutes)
        if hours.contain(moment):
            assert not hours.contain(end := hours.end_after(moment)) and end - moment < timedelta(hours=7)
            start = hours.start_before(moment)
            assert not hours.contain(start - timedelta(minutes=1)) and moment - start < timedelta(hours=7.5)


def test_an_absence_ends_on_the_day_of_return_where_the_person_lives() -> None:
    settings = after("zone America/New_York", "away until 2026-12-24")
    (interval,) = settings.absences()
    assert interval == (NOW, local("2026-12-24 00:00", "America/New_York"))
    assert settings.is_away(NOW) and settings.absence and settings.absence.deputy_id is None
    later = after("away from 2026-12-20 until 2026-12-24")
    assert not later.is_away(NOW)
    assert later.is_away(local("2026-12-21 12:00"))
    back = after("away until 2026-12-24", "back")
    assert not back.is_away(NOW) and back.lines(NOW)[-1] == "away off"
    assert after("away from 2026-12-20 until 2026-12-24", "away off").absence is None


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "Europe/Bonn 22:00-07:00",
            "`Europe/Bonn` is not the name of a time zone; write one such as `Europe/London`.",
        ),
        ("quiet Berlin 22:00-07:00",
         "`Berlin` is not the name of a time zone; write one such as `Europe/Berlin`."),
        ("quiet from 22:00 to 7:00",
         "`from 22:00 to 7:00` is not a span of hours; write one such as `22:00-07:00`."),
        ("quiet 10 pm - 7 am", "`10pm` is not a time of day; write hours and minutes, such as `20:00`."),
        ("zone Berlin", "`Berlin` is not the name of a time zone; write one such as `Europe/Berlin`."),
        ("zone", "`nothing` is not the name of a time zone; write one such as `Europe/Berlin`."),
        ("tell smoke", "`smoke` is not a channel; there are `thread`, `direct` and `mail`."),
        ("smoke too after 12h", "`smoke` is not a channel; write one such as `mail too after 12h`."),
        ("mail too after lunch", "`lunch` is not a length of time; write one such as `24h` or `90m`."),
        ("mail too after 1m", "`1m` is not possible here; write at least `10m` and at most `168h`."),
        ("digest early", "`early` is not a time of day; write hours and minutes, such as `20:00`."),
        ("deputy", "Name the deputy, such as `deputy Dora`, or write `deputy off`."),
        ("away", "Write until when, such as `away until 2026-12-24` or `away until 2026-12-24 deputy Dora`."),
        ("away until Christmas",
         "`Christmas` is not a date; write year, month and day, such as `2026-12-24`."),
        ("away until 2026-12-10",
         "`2026-12-10` is not after Thu 10 Dec 2026; write the day on which you are back."),
        ("away until 2028-12-10",
         "`2028-12-10` is more than a year away; give up the seat with `resign` instead."),
        ("for ABC", "Name the table and the setting, such as `for ABC tell mail` or `for ABC default`."),
        ("for ABC zone UTC", "`zone UTC` is not a setting; there is `tell`, `at once`, `digest`, "
                             "`mail too after 12h` and `next`."),
        ("volume 11", "`volume 11` is not a setting; there is `zone Europe/Berlin`, `quiet 22:00-07:00`, "
                      "`tell thread, direct, mail`, `at once`, `digest 08:00`, `mail too after 12h`, "
                      "`next on`, `deputy Dora`, `palette dark`, `pictures off`, `away until 2026-12-24` or "
                      "`for ABC tell mail`."),
    ],
)  # fmt: skip
def test_a_wrong_line_is_one_sentence(line: str, sentence: str) -> None:
    with pytest.raises(ValueError) as error:
        after(line)
    assert str(error.value) == sentence


def test_the_palette_of_ones_own_pictures() -> None:
    settings = changed_settings(PersonSettings(), "palette Dark", NOW)
    assert settings.palette == "dark" and "palette dark" in settings.lines(NOW)
    assert settings_of(preferences_with({}, settings), None).palette == "dark"
    with pytest.raises(ValueError, match="`blue` is not a palette; there are `light` and `dark`"):
        changed_settings(settings, "palette blue", NOW)
