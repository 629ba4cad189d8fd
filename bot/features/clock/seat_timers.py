"""The timers of the seats of a table: reminders, ends of times, escalations, pings.

Each row knows its wait by the time since when it lasts: `since`. A row that was dealt with in that wait is
not due again, however often the table is followed up.

A decision with a deadline is recalled when half of its time is over, one hour before its end, daily while the
time bank lasts, and one hour before that is empty. After the end of that time, or without a pace after the
question, it is recalled after a day, then daily for a week, then weekly; after eight weekly reminders the
table is paused. A reminder that would fall into quiet hours is sent when they end, or just before they begin
if the end would be too late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from bot.features.clock.clocks import ClockRules
from bot.hub.info import TableInfo
from bot.hub.notifications.notify import (
    Recipient,
    is_told_at_once,
    reachable_channels,
    wanted_channels,
)
from bot.hub.notifications.preferences import CHANNELS, QuietHours, not_quiet
from bot.hub.pace import Calendar, Deadline, add_counted, counted_between
from bot.hub.timers import PING_KIND
from storage import ClockChanges, SeatClock, SeatTimer, StoredTimer

SEAT_KINDS = ("reminder", "time_up", "escalation", PING_KIND)


class SeatTimers:
    """The timers of the seats of a table; what differs from those that are stored goes into the changes.

    rules: what its clocks run by. recipients: who plays for each seat now. holdoff: seconds for which
    notifications wait. asked_now: seats of which somebody else is asked from this look on.
    """

    def __init__(
        self,
        info: TableInfo,
        stored: Mapping[str, StoredTimer],
        rules: ClockRules,
        recipients: Mapping[int, Recipient],
        holdoff: float,
        now: datetime,
        changes: ClockChanges,
    ) -> None:
        self._info, self._due, self._rules, self._recipients = info, stored, rules, recipients
        self._holdoff, self._now, self._changes = holdoff, now, changes
        self.asked_now = set[int]()

    def update(self, seat: int, clock: SeatClock, due: Deadline | None) -> None:
        """What is due for a seat, as its clock is now."""
        wanted: dict[str, tuple[datetime, dict[str, Any]]] = {}
        recipient = self._recipients.get(seat)
        if clock.decision_id and clock.since and recipient:
            wait = {"decision": clock.decision_id, "since": clock.since.isoformat()}
            if due or self._info.pace.kind == "none":
                wanted["reminder"] = self._reminder(clock, due, wait)
            if due:
                wanted["time_up"] = (due.time_up, wait)
            if at := self._escalation_at(seat, clock):
                wanted["escalation"] = (at, wait)
            if at := self._ping_at(seat, clock):
                wanted[PING_KIND] = (at, wait)
        for kind in SEAT_KINDS:
            self._set_due(seat, kind, wanted.get(kind))

    def _set_due(self, seat: int, kind: str, wanted: tuple[datetime, dict[str, Any]] | None) -> None:
        key = f"{self._info.id}.{seat}.{kind}"
        row = self._due.get(key)
        is_same = row and wanted and row.details.get("since") == wanted[1]["since"]
        if is_same and row and wanted and row.details.get("late") and wanted[0] <= self._now:
            return  # it waits for the end of a grace, or was done
        if wanted is None:
            if row is not None:
                self._changes.not_due.append(key)
            return
        at, details = wanted
        if row is None or (row.due_at, row.details) != (at, details):
            self._changes.due.append(SeatTimer(key, kind, at, self._info.id, seat, details))

    def _same_wait(self, clock: SeatClock, kind: str) -> StoredTimer | None:
        row = self._due.get(f"{clock.table_id}.{clock.seat}.{kind}")
        since = clock.since.isoformat() if clock.since else ""
        return row if row and row.details.get("since") == since else None

    def _reminder(
        self, clock: SeatClock, due: Deadline | None, wait: dict[str, Any]
    ) -> tuple[datetime, dict[str, Any]]:
        """The next reminder after the player was told of the question, or after the last of the same wait."""
        assert clock.since is not None
        row = self._same_wait(clock, "reminder")
        last = row.details.get("last") if row else None
        quiet = self._recipients[clock.seat].settings.quiet_hours
        told_now = not_quiet(self._now, quiet)
        if row and clock.seat in self.asked_now:
            last = told_now.isoformat()
        told_at = not_quiet(clock.since + timedelta(seconds=self._holdoff), quiet)
        after = datetime.fromisoformat(last) if last else told_at
        if last and after > told_now:  # the time was set back
            after, last = max(told_at, self._now), None
        reminder = next_reminder(clock.since, due, after, self._rules.calendar(clock.seat), quiet)
        return reminder.at, wait | {"name": reminder.name} | ({"last": last} if last else {})

    def _escalation_at(self, seat: int, clock: SeatClock) -> datetime | None:
        """When a decision is told on one more channel, if that is still to come."""
        recipient = self._recipients[seat]
        tell = recipient.settings.for_table(self._info.code)
        channel = CHANNELS.get(tell.escalation or "")
        if channel is None or clock.since is None or channel not in reachable_channels(self._info, recipient):
            return None
        at = not_quiet(clock.since + timedelta(seconds=tell.escalation_after), recipient.settings.quiet_hours)
        is_over = at <= self._now and self._same_wait(clock, "escalation") is None
        return None if is_over else at

    def _ping_at(self, seat: int, clock: SeatClock) -> datetime | None:
        """When the quiet hours end in which a card was posted in the thread without a ping; where they were
        changed meanwhile, as soon as they allow it."""
        recipient, quiet = self._recipients[seat], self._recipients[seat].settings.quiet_hours
        is_new = seat in self.asked_now
        owed = None if is_new else self._same_wait(clock, PING_KIND)  # what is owed to another is not theirs
        if clock.since is None or not is_told_at_once(self._info, recipient):
            return None
        if owed is None and "table" not in wanted_channels(self._info, recipient):
            return None
        posted = self._now if is_new else clock.since + timedelta(seconds=self._holdoff)
        if owed is not None:
            return not_quiet(max(posted, self._now), quiet)
        at = not_quiet(posted, quiet)
        return at if at > max(posted, self._now) else None


# -- reminders -------------------------------------------------------------------------------

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MIN_HALF = timedelta(minutes=30)  # an allowance of less than twice this has no reminder at half


WAITING = {
    **{f"day {number}": timedelta(days=number) for number in range(1, 9)},
    **{f"week {number}": timedelta(days=8 + 7 * number) for number in range(1, 9)},
    "pause": timedelta(days=8 + 7 * 9),
}
"""When a decision is recalled after the end of its time, or without a pace after it was asked for; and at
last the pause."""


class Reminder(NamedTuple):
    """A reminder of one decision. name: `half`, `hour`, `bank`, `day 1` …; each is sent at most once. The
    last is no reminder but the pause of the table, `pause`."""

    name: str
    at: datetime


def _planned(
    since: datetime, due: Deadline | None, calendar: Calendar
) -> Iterator[tuple[str, datetime, datetime | None]]:
    """Name, moment, and what the reminder comes before: one after the other."""
    if due is not None:
        allowance = counted_between(since, due.allowance_end, calendar)
        if allowance >= 2 * MIN_HALF:
            yield "half", add_counted(since, allowance / 2, calendar), due.allowance_end
        if allowance > 2 * HOUR:
            yield "hour", due.allowance_end - HOUR, due.allowance_end
        bank = counted_between(due.allowance_end, due.time_up, calendar)
        for number in range(1, (bank - HOUR) // DAY + 1):
            yield f"bank day {number}", add_counted(due.allowance_end, number * DAY, calendar), due.time_up
        if due.time_up - due.allowance_end > 2 * HOUR:
            yield "bank", due.time_up - HOUR, due.time_up
    start = since if due is None else due.time_up
    for name, wait in WAITING.items():
        yield name, add_counted(start, wait, calendar), None


def next_reminder(
    since: datetime,
    due: Deadline | None,
    after: datetime,
    calendar: Calendar,
    quiet: QuietHours | None = None,
) -> Reminder:
    """The first reminder that is later than a moment, the last of those at the same time; else the pause, a
    week after that moment: nobody may have been reminded while the service stood still.

    Half of the time and the days of waiting are of time that counts: not of an absence, nor of a weekend that
    is out.
    """
    planned = (
        Reminder(name, not_quiet(moment, quiet, before=end))
        for name, moment, end in _planned(since, due, calendar)
    )
    later = (each for each in planned if each.at > max(after, since))
    for _, together in groupby(later, attrgetter("at")):
        *_, last = together
        return last
    return Reminder("pause", after + 7 * DAY)
