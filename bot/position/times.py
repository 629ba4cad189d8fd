"""Times as players write and read them: durations, hours of a day, dates, time zones, quiet hours (pure).

Every parser raises ValueError with one sentence: what was written, and what would be right.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from engine.core.words import counted

UNIT_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(
    r"(\d{1,6}) ?(m|min|mins|minutes?|h|hours?|hrs?|d|days?|w|weeks?)", re.IGNORECASE | re.ASCII
)
_HOUR = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)


@cache
def _zone_names() -> dict[str, str]:
    """The IANA names by their lower case."""
    return {name.casefold(): name for name in available_timezones() | {"UTC"} if name != "localtime"}


def parse_zone(text: str) -> str:
    """The IANA name of a time zone, in any case: `Europe/Berlin`."""
    names, wanted = _zone_names(), text.strip().casefold()
    if wanted in names:
        return names[wanted]
    plain = wanted.replace(" ", "_")
    cities = [name for key, name in names.items() if "/" in key and key.rpartition("/")[2] == plain]
    near = sorted(cities, key=len)[:1] or [names[key] for key in get_close_matches(plain, names, 1, 0.75)]
    example = near[0] if near else "Europe/Berlin"
    raise ValueError(
        f"`{text.strip() or 'nothing'}` is not the name of a time zone; write one such as `{example}`."
    )


def zone_of(name: str | None) -> ZoneInfo:
    """The time zone with a stored name; UTC for none, and for one that this machine does not know."""
    return ZoneInfo(name if name and name.casefold() in _zone_names() else "UTC")


def parse_duration(text: str, *, least: int = 0, most: int = 30 * 86_400) -> int:
    """Seconds, from `30m`, `24h`, `3 days`; `0` where that is allowed."""
    plain = " ".join(text.split())
    match = _DURATION.fullmatch(plain)
    if match is None and plain != "0":
        raise ValueError(f"`{plain or 'nothing'}` is not a length of time; write one such as `24h` or `90m`.")
    seconds = int(match[1]) * UNIT_SECONDS[match[2][0].lower()] if match else 0
    if not least <= seconds <= most:
        raise ValueError(
            f"`{plain}` is not possible here; write at least `{format_duration(least)}` "
            f"and at most `{format_duration(most)}`."
        )
    return seconds


def format_duration(seconds: int) -> str:
    """The shortest form that `parse_duration` reads: `24h`, `90m`, `0`."""
    if seconds == 0:
        return "0"
    return f"{seconds // 3600}h" if seconds % 3600 == 0 else f"{max(round(seconds / 60), 1)}m"


def duration_text(length: timedelta) -> str:
    """A length of time in words: `45 minutes`, `1 hour`, `12 hours`, `3 days`."""
    minutes = max(round(length.total_seconds() / 60), 1)
    if 58 <= minutes <= 62:
        count, unit = 1, "hour"
    elif minutes < 100:
        count, unit = minutes, "minute"
    elif minutes < 48 * 60:
        count, unit = round(minutes / 60), "hour"
    else:
        count, unit = round(minutes / 1440), "day"
    return counted(count, unit)


def parse_hour(text: str) -> str:
    """An hour of the day, `20:00`."""
    match = _HOUR.fullmatch(text.strip())
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        raise ValueError(
            f"`{text.strip() or 'nothing'}` is not a time of day; write hours and minutes, such as `20:00`."
        )
    return f"{int(match[1]):02}:{match[2]}"


def hour_of(text: str) -> time:
    """The time of day that `parse_hour` returned."""
    return time.fromisoformat(text)


def parse_date(text: str) -> date:
    """A date, `2026-12-24`."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f"`{text.strip() or 'nothing'}` is not a date; write year, month and day, such as `2026-12-24`."
        ) from None


def local_moment(day: date, hour: time, zone: ZoneInfo) -> datetime:
    """The moment at which a clock in that zone shows the hour, in UTC.

    Of an hour that a change of summer time shows twice it is the first; an hour that is left out is as much
    later as the clock is put forward.
    """
    return datetime.combine(day, hour, zone).astimezone(UTC)


def moment_text(moment: datetime, zone_name: str | None) -> str:
    """A moment as a person reads it: `Thu 24 Dec 20:00 (Europe/Berlin)`."""
    local = moment.astimezone(zone_of(zone_name))
    return f"{local:%a} {local.day} {local:%b} {local:%H:%M} ({zone_name or 'UTC'})"


def day_text(day: date) -> str:
    """A date as a person reads it: `Thu 24 Dec 2026`."""
    return f"{day:%a} {day.day} {day:%b} {day.year}"


def parse_quiet_hours(text: str) -> str:
    """Quiet hours as they are stored, `22:00-07:00`; empty for `off`. Raises ValueError."""
    plain = text.strip().casefold().replace(" ", "").replace("–", "-")
    if plain in ("off", "none"):
        return ""
    start, dash, end = plain.partition("-")
    if not dash:
        raise ValueError(
            f"`{text.strip() or 'nothing'}` is not a span of hours; write one such as `22:00-07:00`."
        )
    start, end = parse_hour(start), parse_hour(end)
    if start == end:
        raise ValueError("Quiet hours have to begin and end at different times, such as `22:00-07:00`.")
    return f"{start}-{end}"
