"""The clocks of one table follow its log, its pace and the settings of its players, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

import engine
from bot.service import clock_messages, notifications
from bot.service.live_table import LiveTable, LogNotLoaded, engine_seat, pending_decisions
from bot.service.loading import load_recipient
from bot.service.pace import Deadline
from bot.service.preferences import PersonSettings
from bot.service.reminders import next_reminder, not_quiet
from bot.service.results import PendingDecision
from bot.service.routing import is_quiet, is_told_at_once, reachable_channels, wanted_channels
from bot.service.seat_clocks import ClockRules, LogStep, follow
from bot.service.table_cache import TableCache
from bot.service.time_text import day_text
from bot.service.upcoming import next_seat
from storage import Deputy, DueRow, NewMessage, SeatClock, UnitOfWork

SEAT_KINDS = ("reminder", "time_up", "escalation", "ping")


async def follow_table(cache: TableCache, table_id: int) -> bool:
    """Let the clocks of a table follow up; False if it has to be looked at again. Raises NotFound."""
    try:
        return await _follow_table(cache, table_id, with_log=False)
    except LogNotLoaded:  # nothing was written; several rows are new, or it matters whether one was forced
        return await _follow_table(cache, table_id, with_log=True)


async def _follow_table(cache: TableCache, table_id: int, *, with_log: bool) -> bool:
    async with (
        cache.locked(table_id, with_log=with_log) as table,
        cache.store.begin(table=table_id) as unit,
    ):
        snapshot = await unit.move_log.snapshot(table_id)
        if snapshot.seq != table.seq:
            return False  # another process has written
        followup = _Followup(table, unit, cache.ping_holdoff)
        if table.begun:
            await followup.run()
        await unit.clocks.set_followed_seq(table_id, table.seq)
    if followup.has_told:
        cache.wake_subscribers()
    return True


class _Followup:
    """One look at a table in a transaction."""

    def __init__(self, table: LiveTable, unit: UnitOfWork, ping_holdoff: float) -> None:
        self._table, self._unit = table, unit
        self._info = table.info
        pace = self._info.pace
        self._holdoff = ping_holdoff if pace.holdoff is None else pace.holdoff
        self._rules = ClockRules(self._info.pace, table.metadata.settings)
        self._recipients = dict(table.metadata.recipients)
        self._clocks: dict[int, SeatClock] = {}
        self._due: dict[str, DueRow] = {}
        self._deputies: list[Deputy] = []
        self.has_told = False

    async def _tell(self, *messages: NewMessage) -> None:
        """Put messages into the outbox."""
        self.has_told |= bool(messages)
        await self._unit.outbox.enqueue(*messages)

    async def run(self) -> None:
        clocks, info = self._unit.clocks, self._info
        self._clocks = await clocks.seat_clocks(info.id)
        before = {seat: clock.model_dump() for seat, clock in self._clocks.items()}
        for seat in range(len(info.names)):
            self._clocks.setdefault(seat, SeatClock(table_id=info.id, seat=seat))
        followed = await clocks.followed_seq(info.id)
        await self._follow_log(followed)
        self._due = {row.key: row for row in await clocks.due_rows(info.id)}
        self._deputies = await clocks.deputies(info.id)
        for seat, clock in self._clocks.items():
            await self._update_seat(seat, clock)
            if clock.model_dump() != before.get(seat):
                await clocks.save_seat_clock(clock)
        if followed != self._table.seq:
            await self._tell_next()

    # -- the log -----------------------------------------------------------------------------

    async def _follow_log(self, followed: int | None) -> None:
        """Follow the rows that are new; a table that is looked at for the first time starts now."""
        table = self._table
        if followed is None:
            self._follow_step(self._unit.now, "note", None, "start", table.pending, table.seq)
        elif followed < table.seq:
            for row in await self._unit.move_log.rows(self._info.id, followed):
                pending = table.pending if row.seq == table.seq else self._pending_at(row.seq)
                line = row.line or row.raw_line
                self._follow_step(row.created_at, row.kind, row.seat, line, pending, row.seq)
        if self._info.status != "running":
            self._follow_step(self._unit.now, "note", None, "pause", (), table.seq)

    def _pending_at(self, seq: int) -> Sequence[PendingDecision]:
        return pending_decisions(self._table.state_at(seq), 0)

    def _follow_step(
        self,
        at: datetime,
        kind: str,
        seat: int | None,
        line: str,
        pending: Sequence[PendingDecision],
        seq: int,
    ) -> None:
        def was_forced(forced_seat: int) -> bool:
            choices = engine.choices(self._table.state_at(seq - 1), engine_seat(forced_seat))
            return len(choices) == 1 and choices[0].amounts is None

        follow(self._clocks, LogStep(at, kind, seat, line, pending, was_forced), self._rules)

    # -- a seat ------------------------------------------------------------------------------

    async def _update_seat(self, seat: int, clock: SeatClock) -> None:
        """Absence, deputy and deadlines of a seat, and what follows from them."""
        player = self._info.player_at(seat)
        clock.person_id = player.person_id if player else None
        settings = self._rules.settings_of(seat)
        await self._update_absence(seat, clock, settings)
        await self._end_single_decision(seat, clock)
        due = self._rules.deadline(clock) if player else None
        clock.allowance_end = due.allowance_end if due else None
        clock.time_up = due.time_up if due else None
        await self._update_due_rows(seat, clock, due)

    async def _update_absence(self, seat: int, clock: SeatClock, settings: PersonSettings) -> None:
        """Tell the table of an absence that begins, changes or ends, and appoint the deputy."""
        away = settings.is_away(self._unit.now) and self._info.status in ("running", "paused")
        line = settings.absence.line if settings.absence and away else ""
        if line == clock.absence:
            return
        clock.absence = line
        name = self._info.names[seat]
        shown = settings if away else PersonSettings()
        sentence = clock_messages.absence_sentence(name, shown)
        others = [r for r in self._recipients.values() if r.seat != seat]
        stamp = f"{self._info.id}.{seat}.absence.{self._unit.now.timestamp():.0f}"
        await self._tell(*clock_messages.news_messages(self._info, others, sentence, stamp, self._unit.now))
        await self._update_deputy(seat, clock, shown, stamp)

    async def _update_deputy(self, seat: int, clock: SeatClock, settings: PersonSettings, stamp: str) -> None:
        """Appoint the deputy of an absent player, or let the player play again; whoever plays now is told
        what waits."""
        absence, unit = settings.absence, self._unit
        had_deputy = await unit.clocks.remove_deputy(self._info.id, seat)
        player = self._info.player_at(seat)
        if absence and absence.deputy_id is not None:
            start, end = absence.interval(settings.zone)
            await unit.clocks.set_deputy(
                Deputy(
                    table_id=self._info.id,
                    seat=seat,
                    person_id=absence.deputy_id,
                    starts_at=start,
                    ends_at=end,
                )
            )
            recipient = await load_recipient(unit, absence.deputy_id, seat)
            sentence = (
                f"{self._info.names[seat]} asks you to play for them at table {self._info.name} "
                f"{self._info.code} until {day_text(date.fromisoformat(absence.back_on))}."
            )
            await self._tell(
                *clock_messages.deputy_messages(self._info, recipient, sentence, f"{stamp}.deputy", unit.now)
            )
        elif had_deputy and player is not None:
            recipient = await load_recipient(unit, player.person_id, seat)
        else:
            return
        self._recipients[seat] = recipient
        waiting = [p for p in self._table.pending if p.seat == seat and clock.decision_id]
        await self._tell(
            *notifications.turn_messages(self._info, self._table.seq, waiting, {seat: recipient}, unit.now)
        )

    async def _end_single_decision(self, seat: int, clock: SeatClock) -> None:
        """Whoever decided once for a seat whose time was up is no longer its deputy."""
        for deputy in self._deputies:
            if deputy.seat == seat and deputy.decision_id not in (None, clock.decision_id):
                await self._unit.clocks.remove_deputy(self._info.id, seat)

    # -- due rows ----------------------------------------------------------------------------

    async def _update_due_rows(self, seat: int, clock: SeatClock, due: Deadline | None) -> None:
        """What is due for a seat, as its clock is now."""
        wanted: dict[str, tuple[datetime, dict[str, Any]]] = {}
        recipient = self._recipients.get(seat)
        if clock.decision_id and clock.since and recipient:
            wait = {"decision": clock.decision_id, "since": clock.since.isoformat()}
            if due:
                wanted["reminder"] = self._reminder(clock, due, wait)
                if self._info.pace.when_up != "remind":
                    wanted["time_up"] = (due.time_up, wait)
            if at := self._escalation_at(seat, clock):
                wanted["escalation"] = (at, wait)
            if at := self._ping_at(seat, clock):
                wanted["ping"] = (at, wait)
        for kind in SEAT_KINDS:
            await self._set_due(seat, kind, wanted.get(kind))

    async def _set_due(self, seat: int, kind: str, wanted: tuple[datetime, dict[str, Any]] | None) -> None:
        key = f"{self._info.id}.{seat}.{kind}"
        row = self._due.get(key)
        if row and wanted and row.details.get("late") and row.details.get("since") == wanted[1]["since"]:
            return  # it waits for the end of a grace
        if wanted is None:
            if row is not None:
                await self._unit.clocks.delete_due(key)
            return
        at, details = wanted
        if row is None or (row.due_at, row.details) != (at, details):
            await self._unit.clocks.set_due(key, kind, at, table_id=self._info.id, seat=seat, details=details)

    def _same_wait(self, clock: SeatClock, kind: str) -> DueRow | None:
        row = self._due.get(f"{clock.table_id}.{clock.seat}.{kind}")
        since = clock.since.isoformat() if clock.since else ""
        return row if row and row.details.get("since") == since else None

    def _reminder(
        self, clock: SeatClock, due: Deadline, wait: dict[str, Any]
    ) -> tuple[datetime, dict[str, Any]]:
        """The next reminder after the last that was sent for the same wait."""
        assert clock.since is not None
        row = self._same_wait(clock, "reminder")
        last = row.details.get("last") if row else None
        quiet = self._recipients[clock.seat].settings.quiet_hours
        after = datetime.fromisoformat(last) if last else clock.since
        if after > self._unit.now:  # the time was set back
            after, last = max(clock.since, self._unit.now), None
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
        is_over = at <= self._unit.now and self._same_wait(clock, "escalation") is None
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
        is_over = at <= self._unit.now and self._same_wait(clock, "ping") is None
        return None if is_over else at

    # -- who is next -------------------------------------------------------------------------

    async def _tell_next(self) -> None:
        """Tell the player who is probably next, if they want to know that."""
        wanting = {
            seat for seat, recipient in self._recipients.items()
            if recipient.settings.for_table(self._info.code).next and is_told_at_once(self._info, recipient)
        }  # fmt: skip
        if not wanting or self._info.status != "running":
            return
        seat = next_seat(self._table.state)
        if seat not in wanting or any(p.seat == seat for p in self._table.pending):
            return
        recipient = self._recipients[seat]
        acting = [self._table.state.players[p.seat] for p in self._table.pending if p.is_main]
        due = notifications.seconds_later(self._unit.now, self._holdoff)
        await self._tell(
            *clock_messages.next_messages(self._info, recipient, acting, self._table.current_decision_id, due)
        )
