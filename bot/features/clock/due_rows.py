"""What is due for the seats of a table: reminders, ends of times, escalations, pings (pure).

Each row knows the wait that it is about, by the time since when it lasts: `since`. A row that was dealt with
in that wait is not due again, however often the table is followed up.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.hub.info import TableInfo
from bot.hub.notifications.notify import (
    Recipient,
    is_quiet,
    is_told_at_once,
    reachable_channels,
    wanted_channels,
)
from bot.hub.notifications.quiet_hours import next_reminder, not_quiet
from bot.hub.pace import Deadline
from storage import ClockChanges, DueRow, SeatClock

SEAT_KINDS = ("reminder", "time_up", "escalation", "ping")


class SeatDueRows:
    """The due rows of the seats of a table; what differs from those that are stored goes into the changes.

    recipients: who plays for each seat now. holdoff: seconds for which notifications wait.
    """

    def __init__(
        self,
        info: TableInfo,
        stored: Mapping[str, DueRow],
        recipients: Mapping[int, Recipient],
        holdoff: float,
        now: datetime,
        changes: ClockChanges,
    ) -> None:
        self._info, self._due, self._recipients = info, stored, recipients
        self._holdoff, self._now, self._changes = holdoff, now, changes

    def update(self, seat: int, clock: SeatClock, due: Deadline | None) -> None:
        """What is due for a seat, as its clock is now."""
        wanted: dict[str, tuple[datetime, dict[str, Any]]] = {}
        recipient = self._recipients.get(seat)
        if clock.decision_id and clock.since and recipient:
            wait = {"decision": clock.decision_id, "since": clock.since.isoformat()}
            if due or (self._info.pace.kind == "none" and not recipient.settings.is_away(self._now)):
                wanted["reminder"] = self._reminder(clock, due, wait)
            if due:
                wanted["time_up"] = (due.time_up, wait)
            if at := self._escalation_at(seat, clock):
                wanted["escalation"] = (at, wait)
            if at := self._ping_at(seat, clock):
                wanted["ping"] = (at, wait)
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
            due = DueRow(key=key, kind=kind, due_at=at, table_id=self._info.id, seat=seat, details=details)
            self._changes.due.append(due)

    def _same_wait(self, clock: SeatClock, kind: str) -> DueRow | None:
        row = self._due.get(f"{clock.table_id}.{clock.seat}.{kind}")
        since = clock.since.isoformat() if clock.since else ""
        return row if row and row.details.get("since") == since else None

    def _reminder(
        self, clock: SeatClock, due: Deadline | None, wait: dict[str, Any]
    ) -> tuple[datetime, dict[str, Any]]:
        """The next reminder after the last that was sent for the same wait."""
        assert clock.since is not None
        row = self._same_wait(clock, "reminder")
        last = row.details.get("last") if row else None
        quiet = self._recipients[clock.seat].settings.quiet_hours
        after = datetime.fromisoformat(last) if last else clock.since
        if after > self._now:  # the time was set back
            after, last = max(clock.since, self._now), None
        reminder = next_reminder(clock.since, due, after, quiet)
        return reminder.at, wait | {"name": reminder.name} | ({"last": last} if last else {})

    def _escalation_at(self, seat: int, clock: SeatClock) -> datetime | None:
        """When a decision is told on one more channel, if that is still to come."""
        recipient = self._recipients[seat]
        tell = recipient.settings.for_table(self._info.code)
        channel = {"thread": "table", "direct": "user", "mail": "mail"}.get(tell.escalation or "")
        if channel is None or clock.since is None or channel not in reachable_channels(self._info, recipient):
            return None
        at = not_quiet(clock.since + timedelta(seconds=tell.escalation_after), recipient.settings.quiet_hours)
        is_over = at <= self._now and self._same_wait(clock, "escalation") is None
        return None if is_over else at

    def _ping_at(self, seat: int, clock: SeatClock) -> datetime | None:
        """When the quiet hours end in which a card was posted in the thread without a ping."""
        recipient, quiet = self._recipients[seat], self._recipients[seat].settings.quiet_hours
        if clock.since is None or quiet is None or not is_told_at_once(self._info, recipient):
            return None
        posted = clock.since + timedelta(seconds=self._holdoff)
        if "table" not in wanted_channels(self._info, recipient) or not is_quiet(recipient, posted):
            return None
        at = quiet.end_after(posted)
        is_over = at <= self._now and self._same_wait(clock, "ping") is None
        return None if is_over else at
