"""The timers of the clock: reminders, escalations, the end of a player's time, absences."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

import engine
from bot.features.clock.clocks import CLOCK_TRANSPORT, ClockRules
from bot.hub.cache import TableCache
from bot.hub.changes import again_on_conflict
from bot.hub.commit import write_notes
from bot.hub.info import is_robot_name
from bot.hub.loading import load_recipient
from bot.hub.notifications import clock_messages, messages
from bot.hub.notifications.notify import Recipient
from bot.hub.notifications.preferences import settings_of
from bot.hub.notifications.quiet_hours import next_reminder, not_quiet
from bot.hub.notifications.waiting import has_digest_near
from bot.hub.result import CommandResult, LineFailure
from bot.hub.seating import robot_deputy
from bot.hub.table import LiveTable
from bot.hub.timers import LATE_KIND, NUDGE_KIND, Timer
from bot.position.pending import engine_seat
from bot.position.times import duration_text
from engine.core.events import DividendDeclared
from engine.standing_orders import line_when_time_is_up
from engine.standing_orders.turns import DIVIDENDS
from storage import Deputy, DueRow, LogRow, NewMessage, Person, SeatClock, UnitOfWork

Submit = Callable[..., Awaitable[CommandResult]]
PlayForSeat = Callable[[LiveTable, int, str, str, str], Awaitable[bool]]
"""Plays for a seat whose time is up, from (table, seat, line, decision, name of the wait), and tells the
table; False if it could not be played."""

STANDSTILL = timedelta(minutes=10)  # after which the end of a time has been missed
GRACE = timedelta(minutes=15)
PAUSED = "The game is paused until a player resumes it."
HOW_TO_RESUME = "Write `resume` when you are back; on Discord it is `/table resume`."
MOOT = timedelta(days=3650)  # for a row that has only to be remembered


@dataclass(frozen=True, slots=True)
class Wait:
    """A table that waits for a seat, as a due row says."""

    table: LiveTable
    seat: int
    clock: SeatClock
    recipient: Recipient


class ClockTimers:
    """Does what is due for seats and their players, each row in one transaction."""

    def __init__(self, cache: TableCache, play_for_seat: PlayForSeat) -> None:
        self._cache, self._store, self._play_for_seat = cache, cache.store, play_for_seat

    def timers(self) -> dict[str, Timer]:
        """By the kind of their due rows."""
        told = dict.fromkeys(("reminder", "escalation", "ping", NUDGE_KIND), self._tell)
        return {**told, "time_up": self._time_up, "absence": self._absence}

    @asynccontextmanager
    async def _locked(self, row: DueRow) -> AsyncIterator[tuple[LiveTable, UnitOfWork]]:
        """The table of a row, held, with a transaction at it. Due rows need no log."""
        assert row.table_id is not None
        async with (
            self._cache.locked(row.table_id, with_log=False) as table,
            self._store.begin(table=row.table_id) as unit,
        ):
            yield table, unit

    async def _wait(self, unit: UnitOfWork, row: DueRow) -> Wait | None:
        """The wait that a row is about; None if the decision was made, or the table is behind. A row about
        something that is over is taken."""
        assert row.table_id is not None and row.seat is not None
        table = self._cache.peek(row.table_id)
        clock = (await unit.clocks.seat_clocks(row.table_id)).get(row.seat)
        snapshot = await unit.move_log.snapshot(row.table_id)
        followed = await unit.clocks.followed_seq(row.table_id)
        if table is None or not table.seq == snapshot.seq == followed:
            return None
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

    # -- reminders ---------------------------------------------------------------------------

    async def _tell(self, row: DueRow) -> bool:
        """Remind a player, on their channels or on one more, and move a reminder to its next time."""
        if row.details.get("name") == "pause":
            return await self._pause_without_pace(row)
        async with self._locked(row) as (_, unit):
            wait = await self._wait(unit, row)
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
        self._cache.wake_subscribers()
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

    # -- the end of a player's time ----------------------------------------------------------

    async def _time_up(self, row: DueRow) -> bool:
        """Do what the table has agreed for the end of a player's time."""
        assert row.table_id is not None and row.seat is not None
        async with self._locked(row) as (table, unit):
            wait = await self._wait(unit, row)
            if wait is None:
                return (await unit.clocks.get_due(row.key)) is None
            if unit.now - row.due_at > STANDSTILL and not row.details.get("late"):
                return await self._give_grace(unit, row)
        match table.info.pace.when_up:
            case "pause":
                await self._pause(row.table_id, row.seat)
                told = None
            case "deputy":
                told = await self._appoint(table, wait)
            case "orders":
                told = await self._play(table, wait)
            case _:
                told = f"{table.state.players[wait.seat]}'s time is up. The game waits for them."
        rows = list[LogRow]()
        async with self._locked(row) as (table, unit):
            if await unit.clocks.take_due(row):
                await self._keep_done(unit, row)
            else:
                told = None
            if told:
                stamp = f"{clock_messages.wait_name(wait.clock)}.time_up"
                recipients = _hear_of_time_up(table, wait.seat)
                await unit.outbox.enqueue(
                    *clock_messages.news_messages(table.info, recipients, told, stamp, unit.now)
                )
                rows = await write_notes(unit, table, [told])
        for each in rows:
            table.add(each)
        self._cache.wake_subscribers()
        return True

    async def _pause_without_pace(self, row: DueRow) -> bool:
        """Pause a table without a pace at which all reminders were in vain."""
        assert row.table_id is not None and row.seat is not None
        async with self._locked(row) as (_, unit):
            wait = await self._wait(unit, row)
            if wait is None:
                return (await unit.clocks.get_due(row.key)) is None
            waited = duration_text(unit.now - wait.clock.since) if wait.clock.since else ""
        await self._pause(row.table_id, row.seat, waited)
        async with self._locked(row) as (_, unit):
            await unit.clocks.take_due(row)
        return True

    @again_on_conflict
    async def _pause(self, table_id: int, seat: int, waited: str = "") -> None:
        """Pause the game because a player's time is up; nothing happens if it is not being played. waited:
        for how long the table has waited, where no time was agreed.

        They are told themselves, even if a digest has their news: the game goes on when they are back.
        """
        async with self._cache.locked(table_id) as table:
            if table.stored_info.status != "running":
                return
            recipient = table.metadata.recipients.get(seat)
            async with self._cache.commit(
                table, answered_person=recipient.person_id if recipient else None
            ) as draft:
                await (await draft.unit()).tables.update(table_id, status="paused")
                name = table.state.players[seat]
                why = f"The table has waited for {name} for {waited}." if waited else f"{name}'s time is up."
                yours = f"The table has waited for you for {waited}." if waited else "Your time is up."
                sentence = f"{why} {PAUSED}"
                player = table.stored_info.player_at(seat)
                for_whom = player.person_id if player else None
                draft.add_note(CLOCK_TRANSPORT, "pause", sentence, person_id=for_whom)
                draft.announce("news", sentence)
                if recipient:
                    draft.messages += clock_messages.time_up_messages(
                        table.stored_info, recipient,
                        f"{yours} {PAUSED} {HOW_TO_RESUME}",
                        f"{table_id}.{draft.seq}.time_up", draft.timestamp,
                    )  # fmt: skip

    @staticmethod
    async def _give_grace(unit: UnitOfWork, row: DueRow) -> bool:
        """Nobody has looked when a player's time was up: it is up a little later, once."""
        if await unit.clocks.take_due(row):
            await unit.clocks.set_due(
                row.key, row.kind, unit.now + GRACE, table_id=row.table_id, seat=row.seat,
                details=row.details | {"late": True},
            )  # fmt: skip
        return True

    @staticmethod
    async def _keep_done(unit: UnitOfWork, row: DueRow) -> None:
        """The end of a time is dealt with once, however often the table is followed up while it waits."""
        await unit.clocks.set_due(
            row.key, row.kind, unit.now + MOOT, table_id=row.table_id, seat=row.seat,
            details=row.details | {"late": True},
        )  # fmt: skip

    async def _play(self, table: LiveTable, wait: Wait) -> str | None:
        """Play for a seat; what the table is told if that is not possible."""
        async with self._cache.locked(table.info.id) as table:
            line = _line_for(table, wait.seat)
        name = clock_messages.wait_name(wait.clock)
        decision_id = wait.clock.decision_id or ""
        if line and await self._play_for_seat(table, wait.seat, line, decision_id, name):
            return None
        name = table.state.players[wait.seat]
        return f"{name}'s time is up. Nothing may be played for them here, so the game waits."

    async def _appoint(self, table: LiveTable, wait: Wait) -> str:
        """Let the deputy of a player decide this once: whom they have named, else a robot, where the
        table has agreed to robots."""
        seat, decision_id = wait.seat, wait.clock.decision_id or ""
        name, info = table.state.players[seat], table.info
        async with self._store.begin(table=info.id) as unit:
            late = f"{info.id}.{seat}.{LATE_KIND}"  # for a deputy who sleeps too
            await unit.clocks.set_due(late, LATE_KIND, unit.now, table_id=info.id, seat=seat)
            deputy = await _deputy(unit, table, seat)
            if deputy is None:
                return (
                    f"{name}'s time is up. They have named no deputy, so the game waits. "
                    f"If {name} stays away, the others vote on the seat."
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
            await unit.outbox.enqueue(
                *clock_messages.deputy_messages(info, recipient, sentence, stamp, unit.now)
            )
            waiting = [p for p in table.pending if p.seat == seat]
            await unit.outbox.enqueue(
                *messages.turn_messages(info, table.seq, waiting, {seat: recipient}, unit.now)
            )
        return f"{name}'s time is up. {deputy.name} decides for them this once."

    # -- people ------------------------------------------------------------------------------

    async def _absence(self, row: DueRow) -> bool:
        """An absence begins or ends: the tables of the person are followed up."""
        assert row.person_id is not None
        async with self._store.begin() as unit:
            person = await unit.people.get(row.person_id)
            settings = settings_of(person.preferences, person.time_zone)
            next_at = None
            if settings.absence is not None:
                start, end = settings.absence.interval(settings.zone)
                next_at = next((at for at in (start, end) if at > unit.now), None)
            if await unit.clocks.take_due(row, next_at):
                await unit.people.update(row.person_id, name=person.name)  # tables load their deputies again
                await unit.clocks.look_again_for(row.person_id)
        self._cache.wake_subscribers()
        return True


def _hear_of_time_up(table: LiveTable, seat: int) -> list[Recipient]:
    """Who gets a message of their own when a player's time is up: everybody, where the game goes on. Where it
    goes on waiting for the player, only the others do, and at a table with a thread the thread is enough."""
    recipients = table.metadata.recipients
    if table.info.pace.when_up != "remind":
        return list(recipients.values())
    return [] if table.info.location else [each for at, each in recipients.items() if at != seat]


def _weekly_news(wait: Wait, now: datetime) -> list[NewMessage]:
    """Tells the others for whom a table without a pace has waited for weeks."""
    info, name = wait.table.info, wait.table.state.players[wait.seat]
    waited = duration_text(now - wait.clock.since) if wait.clock.since else ""
    others = [each for each in wait.table.metadata.recipients.values() if each.seat != wait.seat]
    stamp = f"{clock_messages.wait_name(wait.clock)}.{now:%Y%m%d}"
    return clock_messages.news_messages(
        info, others, f"The table has waited for {name} for {waited}.", stamp, now
    )


async def _deputy(unit: UnitOfWork, table: LiveTable, seat: int) -> Person | None:
    """Who may decide for a player whose time is up."""
    info, settings = table.info, table.metadata.settings.get(seat)
    agreed = info.pace.robot_deputies
    named = settings.deputy_id if settings and (agreed or not is_robot_name(settings.deputy)) else None
    if named is not None and not info.player_of(named):
        return await unit.people.get(named)
    return await robot_deputy(unit) if agreed else None


def _line_for(table: LiveTable, seat: int) -> str | None:
    """The line that may be played for an absent player, which costs them nothing. Raises LogNotLoaded."""
    if not any(p.seat == seat and p.is_main and p.acts_now for p in table.pending):
        return None
    return line_when_time_is_up(table.state, engine_seat(seat), _last_dividends(table))


def _last_dividends(table: LiveTable) -> dict[str, str]:
    """By company what became of its revenue last time."""
    found: dict[str, str] = {}
    for seq in table.log.line_of_play.played:
        if (row := table.log.row(seq)).line in DIVIDENDS:
            declared = (e for e in engine.decode_events(row.events) if isinstance(e, DividendDeclared))
            found |= {event.company: event.kind for event in declared if event.kind in DIVIDENDS}
    return found


async def play_line(
    submit: Submit, table: LiveTable, seat: int, line: str, decision_id: str, wait: str
) -> bool:
    """Play a line for a player whose time is up; whether the decision is made now."""
    name = table.state.players[seat]
    what = "they pass." if line == "pass" else f"`{line}` is played for them."
    result = await submit(
        table.info.id, seat, [line], decision_id, f"clock:{wait}:{decision_id}", transport="clock",
        announcement=f"{name}'s time is up: {what}", confirmed=True,
    )  # fmt: skip
    return not isinstance(result, LineFailure)
