"""What is done when a row is due: reminders, escalations, the end of a player's time, absences."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from bot.features.clock import pages
from bot.features.clock.clocks import ClockRules
from bot.features.digest.feature import enqueue_digest, has_digest_near, next_digest_at
from bot.features.lobby.pages import WARNING, renew_expiry, tell_expiry
from bot.features.lobby.tables import Lobby
from bot.features.votes.reminders import VOTE_KIND, remind_of_vote, set_vote_reminders
from bot.hub import notify
from bot.hub.cache import TableCache
from bot.hub.commit import write_notes
from bot.hub.info import is_robot_name
from bot.hub.loading import load_recipient, load_table_info
from bot.hub.notify import Recipient
from bot.hub.preferences import settings_of
from bot.hub.quiet_hours import next_reminder, not_quiet
from bot.hub.status import RunningTables
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat
from engine.orders import line_when_time_is_up
from storage import Deputy, DueRow, LogRow, SeatClock, UnitOfWork

PlayForSeat = Callable[[LiveTable, int, str, str], Awaitable[bool]]
"""Plays for a seat whose time is up, from (table, seat, decision, name of the wait), and tells the table;
False if nothing may be played."""

STANDSTILL = timedelta(minutes=10)  # after which the end of a time has been missed
GRACE = timedelta(minutes=15)
MOOT = timedelta(days=3650)  # for a row that has only to be remembered


@dataclass(frozen=True, slots=True)
class Wait:
    """A table that waits for a seat, as a due row says."""

    table: LiveTable
    seat: int
    clock: SeatClock
    recipient: Recipient


class DueRowHandler:
    """Does what is due, each row in one transaction."""

    def __init__(
        self, cache: TableCache, lobby: Lobby, running: RunningTables, play_for_seat: PlayForSeat
    ) -> None:
        self._cache, self._store = cache, cache.store
        self._lobby, self._running, self._play_for_seat = lobby, running, play_for_seat

    async def handle(self, row: DueRow) -> bool:
        """Do what a row says; False if it cannot be done yet."""
        match row.kind:
            case "reminder" | "escalation" | "ping":
                return await self._tell(row)
            case "time_up":
                return await self._time_up(row)
            case "absence":
                await self._absence(row)
            case "digest":
                await self._digest(row)
            case "lobby":
                await self._expire(row)
            case "vote":
                return await remind_of_vote(self._cache, row)
            case _:
                async with self._store.begin() as unit:
                    await unit.clocks.take_due(row)
        self._cache.wake_subscribers()
        return True

    @asynccontextmanager
    async def _locked(self, row: DueRow) -> AsyncIterator[tuple[LiveTable, UnitOfWork]]:
        """The table of a row, held, with a transaction at it. What is due needs no log."""
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
            if row.kind == "reminder":
                name = await self._move_reminder(unit, row, wait)
            elif not await unit.clocks.take_due(row):
                name = None
            is_covered = (
                row.kind == "reminder"
                and tell.digest
                and (name not in ("hour", "bank") or has_digest_near(wait.recipient.settings, now))
            )
            if name and not is_covered:
                await unit.outbox.enqueue(
                    *pages.reminder_messages(info, wait.clock, wait.recipient, name, now, channels)
                )
        self._cache.wake_subscribers()
        return True

    async def _move_reminder(self, unit: UnitOfWork, row: DueRow, wait: Wait) -> str | None:
        """Move a reminder to its next time; the name of the one to send, None if somebody else has moved it.

        One that comes late has another name: if the time was set forward, the right one is still to come.
        """
        clock = wait.clock
        info = wait.table.info
        due = ClockRules(info.pace, wait.table.metadata.settings).deadline(clock)
        if clock.since is None or due is None:
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
                await self._running.pause_for_time(row.table_id, row.seat)
                told = None
            case "deputy":
                told = await self._appoint(table, wait)
            case "orders":
                told = await self._play(table, wait)
            case _:
                told = None
        rows = list[LogRow]()
        async with self._locked(row) as (table, unit):
            if await unit.clocks.take_due(row):
                await self._keep_done(unit, row)
            else:
                told = None
            if told:
                stamp = f"{pages.wait_name(wait.clock)}.time_up"
                recipients = table.metadata.recipients.values()
                await unit.outbox.enqueue(*pages.news_messages(table.info, recipients, told, stamp, unit.now))
                rows = await write_notes(unit, table, [told])
        for each in rows:
            table.add(each)
        self._cache.wake_subscribers()
        return True

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
        name = pages.wait_name(wait.clock)
        if await self._play_for_seat(table, wait.seat, wait.clock.decision_id or "", name):
            return None
        name = table.state.players[wait.seat]
        return f"{name}'s time is up. Nothing may be played for them here, so the game waits."

    async def _appoint(self, table: LiveTable, wait: Wait) -> str:
        """Let the deputy whom a player has named decide this once."""
        seat, decision_id = wait.seat, wait.clock.decision_id or ""
        name, info = table.state.players[seat], table.info
        settings = table.metadata.settings.get(seat)
        is_barred = settings is not None and is_robot_name(settings.deputy) and not info.pace.robot_deputies
        if settings is None or settings.deputy_id is None or info.player_of(settings.deputy_id) or is_barred:
            return f"{name}'s time is up. They have named no deputy, so the game waits."
        async with self._store.begin(table=info.id) as unit:
            await unit.clocks.set_deputy(
                Deputy(
                    table_id=info.id,
                    seat=seat,
                    person_id=settings.deputy_id,
                    starts_at=unit.now,
                    decision_id=decision_id,
                )
            )
            recipient = await load_recipient(unit, settings.deputy_id, seat)
            sentence = (
                f"{name}'s time is up at table {info.name} {info.code}, and they have named you as their "
                "deputy: please decide for them this once."
            )
            stamp = f"{pages.wait_name(wait.clock)}.deputy"
            await unit.outbox.enqueue(*pages.deputy_messages(info, recipient, sentence, stamp, unit.now))
            waiting = [p for p in table.pending if p.seat == seat]
            await unit.outbox.enqueue(
                *notify.turn_messages(info, table.seq, waiting, {seat: recipient}, unit.now)
            )
        return f"{name}'s time is up. {settings.deputy} decides for them this once."

    # -- people ------------------------------------------------------------------------------

    async def _absence(self, row: DueRow) -> None:
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

    async def _expire(self, row: DueRow) -> None:
        """Warn the people of a lobby that it will be closed; later, close it."""
        assert row.table_id is not None
        if row.details.get("warned"):
            await self._lobby.expire(row.table_id)
        async with self._store.begin(table=row.table_id) as unit:
            info = await load_table_info(unit, await unit.tables.get(row.table_id))
            if await unit.clocks.take_due(row) and info.status == "lobby":
                await tell_expiry(unit, info)
                await unit.clocks.set_due(
                    row.key, row.kind, unit.now + WARNING, table_id=row.table_id, details={"warned": True}
                )

    async def _digest(self, row: DueRow) -> None:
        """Send the digest of a person, if any table waits for them, and set the next."""
        assert row.person_id is not None
        async with self._store.begin() as unit:
            person = await unit.people.get(row.person_id)
            settings = settings_of(person.preferences, person.time_zone)
            next_at = next_digest_at(settings, unit.now) if settings.wants_digest else None
            if await unit.clocks.take_due(row, next_at) and settings.wants_digest:
                await enqueue_digest(unit, row.person_id)


def play_pass(table: LiveTable, seat: int) -> str | None:
    """The line that may be played for an absent player: a pass or a decline, which costs nothing."""
    pending = next((p for p in table.pending if p.seat == seat and p.is_main and p.acts_now), None)
    return line_when_time_is_up(table.state, engine_seat(seat)) if pending else None


async def set_missing_rows(unit: UnitOfWork) -> None:
    """Every lobby has an end, and every vote that is missing a reminder."""
    lobbies = {row.table_id for row in await unit.clocks.rows_of_kind("lobby")}
    for table in await unit.tables.all("lobby"):
        if table.id not in lobbies:
            await renew_expiry(unit, await load_table_info(unit, table))
    polls = {row.details.get("poll") for row in await unit.clocks.rows_of_kind(VOTE_KIND)}
    for poll in await unit.polls.every_open_poll():
        if poll.poll.id not in polls:
            await set_vote_reminders(unit, poll)
