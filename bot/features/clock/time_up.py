"""What is done when a seat's row is due: reminders of an open decision, on the channels of a player or on
one more, and at the end of their time what the table has agreed for it.

Which line may be played for them then, `engine.standing_orders.default_line` says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

import engine
from bot.features.clock.clocks import CLOCK_TRANSPORT, ClockRules
from bot.features.clock.seat_timers import next_reminder
from bot.hub.cache import TableCache
from bot.hub.changes import again_on_conflict
from bot.hub.commit import write_notes
from bot.hub.info import ORDER_TRANSPORT, ROBOT_TRANSPORT, is_robot_name
from bot.hub.loading import load_recipient
from bot.hub.notifications import clock_messages, messages
from bot.hub.notifications.notify import Recipient, is_told_at_once, wanted_channels
from bot.hub.notifications.preferences import CHANNELS, not_quiet
from bot.hub.notifications.waiting import has_digest_near
from bot.hub.polls import held_until
from bot.hub.request import Announcement, CommandResult, LineFailure
from bot.hub.seating import people_of, robot_deputy
from bot.hub.table import LiveTable
from bot.hub.timers import LATE_KIND, NUDGE_KIND, PING_KIND, recall
from bot.position.pending import engine_seat
from bot.position.times import duration_text
from engine.core.events import DividendDeclared
from engine.standing_orders import line_when_time_is_up
from engine.standing_orders.turns import DIVIDENDS
from storage import Deputy, LogRow, NewMessage, Person, SeatClock, StoredTimer, UnitOfWork

Submit = Callable[..., Awaitable[CommandResult]]
STANDSTILL = timedelta(minutes=10)  # after which the end of a time has been missed
GRACE = timedelta(minutes=15)
UNANSWERED = 8
"""After so many ends of time for each player, and no answer by anybody, the table is paused."""
AFTER_ORDERS = timedelta(minutes=1)
"""Orders that a vote on an undo has held speak before anything is played for their owner."""
PAUSED = "The game is paused until a player resumes it."
HOW_TO_RESUME = "Write `resume` when you are back; on Discord it is `/table resume`."
MOOT = timedelta(days=3650)  # for a row that has only to be remembered


@dataclass(frozen=True, slots=True)
class Wait:
    """A table that waits for a seat, as a timer says."""

    table: LiveTable
    seat: int
    clock: SeatClock
    recipient: Recipient


class WaitTimers:
    """Does what the timers of seats say, each in one transaction."""

    def __init__(self, cache: TableCache, submit: Submit) -> None:
        self._cache, self._store, self._submit = cache, cache.store, submit

    @asynccontextmanager
    async def _locked(self, row: StoredTimer) -> AsyncIterator[tuple[LiveTable, UnitOfWork]]:
        """The table of a row, held, with a transaction at it. Timers need no log."""
        assert row.table_id is not None
        async with (
            self._cache.locked(row.table_id, with_log=False) as table,
            self._store.begin(table=row.table_id) as unit,
        ):
            yield table, unit

    @staticmethod
    async def _open_wait(table: LiveTable, unit: UnitOfWork, row: StoredTimer) -> Wait | None:
        """The wait that a row is about; None if the decision was made, or the table is behind. A row about
        something that is over is taken."""
        assert row.table_id is not None and row.seat is not None
        record = (await unit.clocks.records([row.table_id])).get(row.table_id)
        if record is None or not table.seq == record.seq == record.followed:
            return None
        clock = record.seats.get(row.seat)
        recipient = table.metadata.recipients.get(row.seat)
        is_open = (
            clock is not None and clock.since is not None and recipient is not None
            and clock.since.isoformat() == row.details.get("since")
            and table.stored_info.status == "running"
        )  # fmt: skip
        if not is_open or clock is None or recipient is None:
            await unit.clocks.take_due(row)
            return None
        return Wait(table, row.seat, clock, recipient)

    async def remind(self, row: StoredTimer) -> bool:
        """Remind a player, on their channels or on one more, and move a reminder to its next time."""
        if row.details.get("name") == "pause":
            return await self._pause_at_last(row)
        async with self._locked(row) as (table, unit):
            wait = await self._open_wait(table, unit, row)
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
                channels = {CHANNELS[tell.escalation or "mail"]}
            elif row.kind == PING_KIND and "table" in wanted_channels(info, wait.recipient):
                channels = {"table"}  # elsewhere the turn itself has waited
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
        self._cache.wake_subscribers()
        return True

    async def _move_reminder(self, unit: UnitOfWork, row: StoredTimer, wait: Wait) -> str | None:
        """Move a reminder to its next time; the name of the one to send, None if somebody else has moved it.

        One that comes late has another name: if the time was set forward, the right one is still to come.
        """
        clock = wait.clock
        info = wait.table.info
        rules = ClockRules(info.pace, wait.table.metadata.settings)
        due = rules.deadline(clock)
        if clock.since is None or (due is None and info.pace.kind != "none"):
            return row.kind if await unit.clocks.take_due(row) else None
        quiet = wait.recipient.settings.quiet_hours
        reminder = next_reminder(clock.since, due, unit.now, rules.calendar(wait.seat), quiet)
        last = unit.now.isoformat()
        if not await unit.clocks.take_due(row, reminder.at, name=reminder.name, last=last):
            return None
        is_late = unit.now - row.due_at > STANDSTILL
        return f"before {reminder.name}" if is_late else str(row.details.get("name", row.kind))

    # -- the end of a time --------------------------------------------------------------------

    async def end(self, row: StoredTimer) -> bool:
        """Do what the table has agreed for the end of a player's time."""
        async with self._locked(row) as (table, unit):
            wait = await self._open_wait(table, unit, row)
            if wait is None:
                return (await unit.clocks.get_due(row.key)) is None
            if unit.now - row.due_at > STANDSTILL and not row.details.get("late"):
                await unit.clocks.take_due(row, unit.now + GRACE, late=True)
                return True  # nobody has looked when the time was up: it is up a little later, once
            held = held_until(table.polls, table.info.pace, unit.now)
            if held and table.info.pace.when_up == "orders":  # which the player may have left
                await unit.clocks.take_due(row, held + AFTER_ORDERS)
                return True
        told = own = ""
        match table.info.pace.when_up:
            case "pause":
                await self._pause_if_undecided(wait)
            case "deputy":
                told, own = await self._appoint(table, wait)
            case "orders":
                told, own = await self._play(table, wait)
            case _:
                told = f"{table.state.players[wait.seat]}'s time is up. The game waits for them."
        rows = list[LogRow]()
        async with self._locked(row) as (table, unit):
            # It is dealt with once, however often the table is followed up while it waits.
            if await unit.clocks.take_due(row, unit.now + MOOT, late=True) and told:
                stamp = f"{clock_messages.wait_name(wait.clock)}.{row.due_at.timestamp():.0f}.time_up"
                others = _hear_of_time_up(table, wait.seat)
                await unit.outbox.enqueue(
                    *clock_messages.news_messages(table.info, others, told, stamp, unit.now)
                )
                if own:
                    await unit.outbox.enqueue(
                        *messages.personal_messages(
                            table.info, "time_up", wait.recipient, own, stamp, unit.now
                        )
                    )
                rows = await write_notes(unit, table, [told])
        for each in rows:
            table.add(each)
        self._cache.wake_subscribers()
        return True

    async def _pause_at_last(self, row: StoredTimer) -> bool:
        """Pause a table at which all reminders were in vain."""
        async with self._locked(row) as (table, unit):
            wait = await self._open_wait(table, unit, row)
            if wait is None:
                return (await unit.clocks.get_due(row.key)) is None
        await self._pause_if_undecided(wait, wait.table.state.players[wait.seat], wait.clock.since)
        async with self._locked(row) as (_, unit):
            await unit.clocks.take_due(row)
        return True

    @again_on_conflict
    async def _pause_if_undecided(
        self, wait: Wait, for_whom: str = "", since: datetime | None = None
    ) -> None:
        """Pause a game that still waits for this decision."""
        async with self._cache.locked(wait.table.info.id) as table:
            if not _is_decided(table, wait):
                await self._pause(table, wait.seat, for_whom, since)

    async def _pause(self, table: LiveTable, seat: int, for_whom: str, since: datetime | None) -> None:
        """Pause a locked table because a player's time is up; nothing happens if it is not being played.
        for_whom, since: for whom the table has waited and since when, where no answer has come.

        They are told themselves, even if a digest has their news: the game goes on when they are back.
        """
        info, recipient = table.stored_info, table.metadata.recipients.get(seat)
        if info.status != "running":
            return
        why, yours = f"{table.state.players[seat]}'s time is up.", "Your time is up."
        async with self._cache.commit(
            table, answered_person=recipient.person_id if recipient else None
        ) as draft:
            await (await draft.unit()).tables.update(info.id, status="paused")
            if since:
                waited = duration_text(draft.timestamp - since)
                why = f"The table has waited for {for_whom} for {waited}."
                yours = f"The table has waited for you for {waited}."
            player = info.player_at(seat)
            draft.add_note(
                CLOCK_TRANSPORT, "pause", f"{why} {PAUSED}", person_id=player.person_id if player else None
            )
            draft.announce("news", f"{why} {PAUSED}")
            if recipient:
                draft.messages += messages.personal_messages(
                    info, "time_up", recipient, f"{yours} {PAUSED} {HOW_TO_RESUME}",
                    f"{info.id}.{draft.seq}.time_up", draft.timestamp,
                )  # fmt: skip

    @again_on_conflict
    async def _play(self, table: LiveTable, wait: Wait) -> tuple[str, str]:
        """Play for a seat, or pause a table at which nobody answers; what the others and the player are told
        if nothing may be played."""
        async with self._cache.locked(table.info.id) as table:
            if _is_decided(table, wait):
                return "", ""
            if since := _unanswered_since(table):
                await self._pause(table, wait.seat, "its players", since)
                return "", ""
            line = _line_for(table, wait.seat)
        if line and await self._play_line(table, wait, line):
            return "", ""
        told = "time is up. Nothing may be played for {} here, so the game waits."
        return f"{table.state.players[wait.seat]}'s {told.format('them')}", f"Your {told.format('you')}"

    async def _play_line(self, table: LiveTable, wait: Wait, line: str) -> bool:
        """Play a line for a player whose time is up, and tell the table; whether the decision is made now."""
        info, name = table.info, table.state.players[wait.seat]
        what = "they pass." if line == "pass" else f"`{line}` is played for them."
        yours = "You have passed" if line == "pass" else f"`{line}` was played for you"
        decision_id, own = wait.clock.decision_id, f"{yours} at table {info.name} {info.code}."
        result = await self._submit(
            info.id, wait.seat, [line], decision_id,
            f"clock:{clock_messages.wait_name(wait.clock)}:{decision_id}", transport="clock",
            announcement=Announcement(f"{name}'s time is up: {what}", own), confirmed=True,
        )  # fmt: skip
        return not isinstance(result, LineFailure)

    async def _appoint(self, table: LiveTable, wait: Wait) -> tuple[str, str]:
        """Let the deputy of a player decide this once: whom they have named, else a robot, where the
        table has agreed to robots. What the others are told, and the player, if they have not been."""
        seat, decision_id = wait.seat, wait.clock.decision_id or ""
        name, info = table.state.players[seat], table.info
        async with self._store.begin(table=info.id) as unit:
            late = f"{info.id}.{seat}.{LATE_KIND}"  # for a deputy who sleeps too
            await unit.clocks.set_due(late, LATE_KIND, unit.now, table_id=info.id, seat=seat)
            deputy = await _deputy(unit, table, seat)
            if deputy is None:
                has_deputy = seat in info.deputies
                why = "Their deputy has not decided" if has_deputy else "They have named no deputy"
                return (
                    f"{name}'s time is up. {why}, so the game waits. "
                    f"If {name} stays away, the others vote on the seat.",
                    "Your time is up, and the game waits for you. If you stay away, the others vote on the "
                    "seat.",
                )
            await unit.clocks.set_deputy(
                Deputy(
                    table_id=info.id, seat=seat, person_id=deputy.id, starts_at=unit.now,
                    decision_id=decision_id,
                )
            )  # fmt: skip
            recipient = await load_recipient(unit, deputy.id, seat)
            sentence = (
                f"{name}'s time is up at table {info.name} {info.code}, and they have named you as their "
                "deputy: please decide for them this once."
            )
            stamp = f"{clock_messages.wait_name(wait.clock)}.deputy"
            beside = messages.personal_messages(info, "deputy", recipient, sentence, stamp, unit.now)
            waiting = [p for p in table.pending if p.seat == seat]
            turn = messages.turn_messages(info, table.seq, waiting, {seat: recipient}, unit.now, suffix=stamp)
            await _remind_anew(unit, table, wait.clock, recipient)
            at_table = f"this once at table {info.name} {info.code}"
            told = f"{deputy.name} decides for you {at_table}, unless you move first."
            if seat in info.deputies:  # a deputy has let the time run out
                told = f"{name}'s time is up. {deputy.name} decides for them {at_table}."
            await unit.outbox.enqueue(
                *messages.with_own_news(turn, beside),
                *beside,
                *messages.personal_messages(info, "time_up", wait.recipient, told, f"{stamp}.own", unit.now),
            )
        return f"{name}'s time is up. {deputy.name} decides for them this once.", ""


async def _remind_anew(unit: UnitOfWork, table: LiveTable, clock: SeatClock, recipient: Recipient) -> None:
    """The deputy gets the ping at the end of their quiet hours, and only reminders due after that."""
    info, at = table.info, not_quiet(unit.now, recipient.settings.quiet_hours)
    is_in_thread = is_told_at_once(info, recipient) and "table" in wanted_channels(info, recipient)
    if at > unit.now and is_in_thread:
        await recall(unit, PING_KIND, clock, at)
    else:
        await unit.clocks.delete_due(f"{info.id}.{clock.seat}.{PING_KIND}")
    if reminder := await unit.clocks.get_due(f"{info.id}.{clock.seat}.reminder"):
        await unit.clocks.take_due(reminder, reminder.due_at, last=at.isoformat())


def _hear_of_time_up(table: LiveTable, seat: int) -> list[Recipient]:
    """Who gets a message of their own when a player's time is up: the others. Where the game goes on waiting
    for the player, at a table with a thread the thread is enough."""
    if table.info.pace.when_up == "remind" and table.info.location:
        return []
    return [each for at, each in table.metadata.recipients.items() if at != seat]


async def _deputy(unit: UnitOfWork, table: LiveTable, seat: int) -> Person | None:
    """Who may decide for a player whose time is up."""
    info, settings = table.info, table.metadata.settings.get(seat)
    agreed = info.pace.robot_deputies
    named = settings.deputy_id if settings and (agreed or not is_robot_name(settings.deputy)) else None
    if named is not None and not info.player_of(named) and named != info.person_at(seat):
        return await unit.people.get(named)
    return await robot_deputy(unit) if agreed else None


def _is_decided(table: LiveTable, wait: Wait) -> bool:
    """Whether the player, or another process for them, has decided meanwhile."""
    asked = {pending.decision_id for pending in table.pending if pending.seat == wait.seat}
    return wait.clock.decision_id not in asked


def _line_for(table: LiveTable, seat: int) -> str | None:
    """The line that may be played for an absent player, which costs them nothing. Raises LogNotLoaded."""
    if not any(p.seat == seat and p.is_main and p.acts_now for p in table.pending):
        return None
    return line_when_time_is_up(table.state, engine_seat(seat), _last_dividends(table))


def _unanswered_since(table: LiveTable) -> datetime | None:
    """Since when nobody has done anything at a table whose clock has played often enough for each player;
    else None. Raises LogNotLoaded."""
    rows, by_itself = table.log.rows, (CLOCK_TRANSPORT, ORDER_TRANSPORT, ROBOT_TRANSPORT)
    last = next(row for row in reversed(rows) if row.transport not in by_itself)  # or the start
    played = sum((row.transport, row.kind) == (CLOCK_TRANSPORT, "move") for row in rows[last.seq :])
    return last.created_at if played >= UNANSWERED * len(people_of(table.stored_info)) else None


def _last_dividends(table: LiveTable) -> dict[str, str]:
    """By company what became of its revenue last time."""
    found: dict[str, str] = {}
    for seq in table.log.line_of_play.played:
        if (row := table.log.row(seq)).line in DIVIDENDS:
            declared = (e for e in engine.decode_events(row.events) if isinstance(e, DividendDeclared))
            found |= {event.company: event.kind for event in declared if event.kind in DIVIDENDS}
    return found


def _weekly_news(wait: Wait, now: datetime) -> list[NewMessage]:
    """Tells the others for whom a table has waited for weeks."""
    info, name = wait.table.info, wait.table.state.players[wait.seat]
    waited = duration_text(now - wait.clock.since) if wait.clock.since else ""
    others = [each for each in wait.table.metadata.recipients.values() if each.seat != wait.seat]
    stamp = f"{clock_messages.wait_name(wait.clock)}.{now:%Y%m%d}"
    return clock_messages.news_messages(
        info, others, f"The table has waited for {name} for {waited}.", stamp, now
    )
