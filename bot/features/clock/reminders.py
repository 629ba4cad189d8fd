"""Reminders of an open decision: on the channels of a player, or on one more."""

from __future__ import annotations

from datetime import datetime

from bot.features.clock.clocks import ClockRules
from bot.features.clock.due_rows import STANDSTILL, Wait, WaitTimers, next_reminder
from bot.hub.cache import TableCache
from bot.hub.notifications import clock_messages
from bot.hub.notifications.preferences import not_quiet
from bot.hub.notifications.waiting import has_digest_near
from bot.hub.timers import NUDGE_KIND, Timer
from bot.position.times import duration_text
from storage import DueRow, NewMessage, UnitOfWork


class Reminders(WaitTimers):
    """Reminds players, and moves each reminder to its next time. pause: of a table without a pace, at which
    all reminders were in vain."""

    def __init__(self, cache: TableCache, pause: Timer) -> None:
        super().__init__(cache)
        self._pause = pause

    async def remind(self, row: DueRow) -> bool:
        """Remind a player, on their channels or on one more, and move a reminder to its next time."""
        if row.details.get("name") == "pause":
            return await self._pause(row)
        async with self.locked(row) as (_, unit):
            wait = await self.open_wait(unit, row)
            if wait is None:
                return (await unit.clocks.get_due(row.key)) is None
            info, now = wait.table.info, unit.now
            quiet = wait.recipient.settings.quiet_hours
            if quiet is not None and quiet.contain(now):  # it was due before they began, and comes late
                await unit.clocks.take_due(row, not_quiet(now, quiet))
                return True
            tell = wait.recipient.settings.for_table(info.code)
            channels = None
            if row.kind == "escalation":
                channels = {{"thread": "table", "direct": "user", "mail": "mail"}[tell.escalation or "mail"]}
            elif row.kind == "ping":
                channels = {"table"}
            name: str | None = row.kind
            if row.kind == NUDGE_KIND:  # of several in one wait, each is told
                name = f"{row.kind} {row.due_at.timestamp():.0f}"
            if row.kind == "reminder":
                name = await self._move_reminder(unit, row, wait)
            elif not await unit.clocks.take_due(row):
                name = None
            is_covered = (
                row.kind in ("reminder", NUDGE_KIND)
                and tell.digest
                and (name not in ("hour", "bank") or has_digest_near(wait.recipient.settings, now))
            )
            if name and not is_covered:
                once_a_day = row.kind == "reminder"
                await unit.outbox.enqueue(
                    *clock_messages.reminder_messages(
                        info, wait.clock, wait.recipient, name, now, channels, once_a_day=once_a_day
                    )
                )
            if name and name.startswith("week"):
                await unit.outbox.enqueue(*_weekly_news(wait, now))
        self.cache.wake_subscribers()
        return True

    async def _move_reminder(self, unit: UnitOfWork, row: DueRow, wait: Wait) -> str | None:
        """Move a reminder to its next time; the name of the one to send, None if somebody else has moved it.

        One that comes late has another name: if the time was set forward, the right one is still to come.
        """
        clock = wait.clock
        info = wait.table.info
        due = ClockRules(info.pace, wait.table.metadata.settings).deadline(clock)
        if clock.since is None or (due is None and info.pace.kind != "none"):
            return row.kind if await unit.clocks.take_due(row) else None
        reminder = next_reminder(clock.since, due, unit.now, wait.recipient.settings.quiet_hours)
        if not await unit.clocks.take_due(row):
            return None
        details = row.details | {"name": reminder.name, "last": unit.now.isoformat()}
        await unit.clocks.set_due(
            row.key, row.kind, reminder.at, table_id=row.table_id, seat=row.seat, details=details
        )
        is_late = unit.now - row.due_at > STANDSTILL
        return f"before {reminder.name}" if is_late else str(row.details.get("name", row.kind))


def _weekly_news(wait: Wait, now: datetime) -> list[NewMessage]:
    """Tells the others for whom a table without a pace has waited for weeks."""
    info, name = wait.table.info, wait.table.state.players[wait.seat]
    waited = duration_text(now - wait.clock.since) if wait.clock.since else ""
    others = [each for each in wait.table.metadata.recipients.values() if each.seat != wait.seat]
    stamp = f"{clock_messages.wait_name(wait.clock)}.{now:%Y%m%d}"
    return clock_messages.news_messages(
        info, others, f"The table has waited for {name} for {waited}.", stamp, now
    )
