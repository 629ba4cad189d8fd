"""When a player is reminded, and their quiet hours (pure).

A decision with a deadline is recalled when half of its time is over, one hour before its end, one hour before
the time bank is empty, and then daily. Without a pace it is recalled after a day, then daily for a week, then
weekly; after eight weekly reminders the table is paused. Nothing is sent in quiet hours: a message that would
fall into them is sent when they end, or just before they begin if the end would be too late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from bot.hub.pace import Deadline
from bot.position.times import hour_of, local_moment, parse_hour, zone_of

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MIN_HALF = timedelta(minutes=30)  # an allowance of less than twice this has no reminder at half


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Hours in which a person is not disturbed, in their time zone. start, end: local times of day."""

    start: time
    end: time
    zone: ZoneInfo

    def contain(self, moment: datetime) -> bool:
        """Whether a moment is in the quiet hours."""
        local = moment.astimezone(self.zone).time()
        if self.start < self.end:
            return self.start <= local < self.end
        return local >= self.start or local < self.end

    def end_after(self, moment: datetime) -> datetime:
        """When the quiet hours that contain a moment end."""
        day = moment.astimezone(self.zone).date()
        for offset in range(3):
            end = local_moment(day + timedelta(days=offset), self.end, self.zone)
            if end > moment:
                return end
        return moment

    def start_before(self, moment: datetime) -> datetime:
        """When the quiet hours that contain a moment began."""
        day = moment.astimezone(self.zone).date()
        for offset in range(3):
            start = local_moment(day - timedelta(days=offset), self.start, self.zone)
            if start <= moment:
                return start
        return moment

    def intervals(self, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
        """The quiet hours between two moments."""
        day = start.astimezone(self.zone).date() - DAY
        while (begin := local_moment(day, self.start, self.zone)) < end:
            yield begin, self.end_after(begin)
            day += DAY


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


def quiet_hours(text: str, zone_name: str | None) -> QuietHours | None:
    """The quiet hours that are stored as `22:00-07:00`; None for an empty text."""
    if not text:
        return None
    start, _, end = text.partition("-")
    return QuietHours(hour_of(start), hour_of(end), zone_of(zone_name))


def not_quiet(moment: datetime, quiet: QuietHours | None, *, before: datetime | None = None) -> datetime:
    """A moment, moved out of the quiet hours: to their end, or to a minute before their start if their end
    is not before `before`."""
    if quiet is None or not quiet.contain(moment):
        return moment
    end = quiet.end_after(moment)
    if before is not None and end >= before:
        return quiet.start_before(moment) - timedelta(minutes=1)
    return end


WITHOUT_PACE = {
    **{f"day {number}": timedelta(days=number) for number in range(1, 9)},
    **{f"week {number}": timedelta(days=8 + 7 * number) for number in range(1, 9)},
    "pause": timedelta(days=8 + 7 * 9),
}
"""When a decision without a deadline is recalled, after it was asked for; and at last the pause."""


class Reminder(NamedTuple):
    """A reminder of one decision. name: `half`, `hour`, `bank`, `day 1` …; each is sent at most once. Without
    a pace the last is no reminder but the pause of the table, `pause`."""

    name: str
    at: datetime


def _planned(since: datetime, due: Deadline) -> Iterator[tuple[str, datetime, datetime]]:
    """Name, moment, and what the reminder comes before."""
    allowance = due.allowance_end - since
    if allowance >= 2 * MIN_HALF:
        yield "half", since + allowance / 2, due.allowance_end
    if allowance > 2 * HOUR:
        yield "hour", due.allowance_end - HOUR, due.allowance_end
    if due.time_up - due.allowance_end > 2 * HOUR:
        yield "bank", due.time_up - HOUR, due.time_up


def next_reminder(
    since: datetime, due: Deadline | None, after: datetime, quiet: QuietHours | None = None
) -> Reminder:
    """The first reminder that is later than a moment. There is always one: after the end they are daily."""
    if due is None:
        planned = (Reminder(name, not_quiet(since + wait, quiet)) for name, wait in WITHOUT_PACE.items())
        return next((each for each in planned if each.at > after), Reminder("pause", after))
    found = []
    for name, moment, end in _planned(since, due):
        at = not_quiet(moment, quiet, before=end)
        if at > max(after, since):
            found.append(Reminder(name, at))
    if found:
        return min(found, key=lambda reminder: reminder.at)
    number = max((after - due.allowance_end) // DAY, 0) + 1
    at = not_quiet(due.allowance_end + number * DAY, quiet)
    if at <= after:
        number += 1
        at = not_quiet(due.allowance_end + number * DAY, quiet)
    return Reminder(f"day {number}", at)
