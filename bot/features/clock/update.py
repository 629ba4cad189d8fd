"""The clocks of a table follow its log, its pace and the settings of its players.

The changes of clocks are plain values (`storage.ClockChanges`), so tables are followed many at a time: one
transaction reads them all and writes all changes. Nobody has to hold the tables meanwhile: a table in memory
counts only if the transaction finds the same row and revision. Rare things (absences, deputies, a log that is
needed) are done at one table alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import fields
from datetime import date, datetime, timedelta
from operator import attrgetter

import engine
from bot.features.clock.clocks import ClockRules, follow
from bot.features.clock.seat_timers import SeatTimers
from bot.hub.cache import TableCache
from bot.hub.commit import write_notes
from bot.hub.loading import load_recipient
from bot.hub.log import LogNotLoaded
from bot.hub.notifications import clock_messages, messages
from bot.hub.notifications.notify import Recipient, is_told_at_once
from bot.hub.notifications.preferences import CHANNELS, PersonSettings
from bot.hub.polls import ask_to_vote
from bot.hub.seating import is_robot
from bot.hub.table import LiveTable
from bot.position.pending import PendingDecision, engine_seat, next_seat
from bot.position.times import day_text
from storage import (
    ClockChanges,
    ClockRecord,
    Deputy,
    NewMessage,
    SeatClock,
    TablePoll,
    UnfollowedRow,
    UnitOfWork,
)


async def follow_tables(cache: TableCache, table_ids: Sequence[int]) -> Sequence[int]:
    """Let the clocks of several tables follow up, in one transaction, without holding the tables.

    Returns those that have to be followed alone. A change for which a table is not ready waits for the next
    look. Raises StoreError where nothing was stored.
    """
    found = await asyncio.gather(
        *(cache.get(table_id, with_log=False) for table_id in table_ids), return_exceptions=True
    )
    alone = [one for one, table in zip(table_ids, found, strict=True) if isinstance(table, BaseException)]
    tables = [table for table in found if not isinstance(table, BaseException)]
    changes = ClockChanges()
    async with cache.store.begin(tables=[table.stored_info.id for table in tables]) as unit:
        records = await unit.clocks.records([table.stored_info.id for table in tables])
        for table in tables:
            record = records.get(table.stored_info.id)
            if record is None:
                continue
            if not _is_current(table, record):  # another process has written, or it is written just now
                alone.append(table.stored_info.id)
                continue
            try:
                changes.add(_changes(table, record, unit.now, cache.ping_holdoff))
            except Exception:  # whatever is wrong at one table is told when it is followed alone
                alone.append(table.stored_info.id)
        await unit.clocks.write(changes)
    if changes.messages:
        cache.wake_subscribers()
    return alone


def is_at_rest(table: LiveTable) -> bool:
    """Whether nothing but a reminder in a day comes of the moves at a table.

    It has no pace, and none of its players has quiet hours, an escalation, an absence or a deputy, or wants
    to know when they are next.
    """
    info = table.stored_info
    return (
        info.pace.kind == "none"
        and not info.deputies
        and not any(_needs_clock(settings, info.code) for settings in table.metadata.settings.values())
    )


def _needs_clock(settings: PersonSettings, code: str) -> bool:
    tell = settings.for_table(code)
    return bool(settings.quiet or settings.absence or tell.next or CHANNELS.get(tell.escalation or ""))


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
        record = (await unit.clocks.records([table_id]))[table_id]
        if not _is_current(table, record):
            return False  # another process has written
        followup = _Followup(table, record, unit.now, cache.ping_holdoff)
        if table.begun:
            followup.follow_log()
            await followup.change_deputies(unit)
            followup.finish()
        rows = await write_notes(unit, table, followup.notes)
        followup.changes.followed[table_id] = table.seq + len(rows)
        await unit.clocks.write(followup.changes)
    for row in rows:
        table.add(row)
    if followup.changes.messages:
        cache.wake_subscribers()
    return True


def _is_current(table: LiveTable, record: ClockRecord) -> bool:
    return (table.seq, table.metadata.revision) == (record.seq, record.revision)


_values = attrgetter(*(each.name for each in fields(SeatClock)))
"""All that a clock says, to see whether it has changed."""


class _NeedsTransaction(Exception):
    """What follows changes more than clocks, timers and messages."""


def _changes(table: LiveTable, record: ClockRecord, now: datetime, ping_holdoff: float) -> ClockChanges:
    """What follows at a table where nobody comes or goes. Raises LogNotLoaded, and _NeedsTransaction."""
    followup = _Followup(table, record, now, ping_holdoff)
    if table.begun:
        followup.follow_log()
        if followup.has_news_of_absence():
            raise _NeedsTransaction
        followup.finish()
    return followup.changes


class _Followup:
    """One look at a table in a transaction.

    changes: what is to be written when all is done. notes: what is to stand in the log.
    """

    def __init__(self, table: LiveTable, record: ClockRecord, now: datetime, ping_holdoff: float) -> None:
        self._table, self._record, self._now = table, record, now
        self._info = table.info
        pace = self._info.pace
        self._holdoff = ping_holdoff if pace.holdoff is None else pace.holdoff
        self._rules = ClockRules(self._info.pace, table.metadata.settings)
        self._recipients = dict(table.metadata.recipients)
        self._clocks = record.seats
        self._deputies = {each.seat: each for each in record.deputies}
        self._before = {seat: _values(clock) for seat, clock in record.seats.items()}
        self.changes = ClockChanges(followed={self._info.id: table.seq})
        self._timers = SeatTimers(
            self._info, record.due, self._rules, self._recipients, self._holdoff, now, self.changes
        )
        for seat in range(len(self._info.names)):
            self._clocks.setdefault(seat, SeatClock(table_id=self._info.id, seat=seat))
        self.notes: list[str] = []

    def _tell(self, *messages: NewMessage) -> None:
        """Put messages into the outbox."""
        self.changes.messages += messages

    def _tell_person(self, kind: str, recipient: Recipient, sentence: str, name: str) -> None:
        """Tell one person something. name: see `messages.sent`."""
        self._tell(*messages.personal_messages(self._info, kind, recipient, sentence, name, self._now))

    def finish(self) -> None:
        """The deadlines of all seats, what is due for them, and who is next."""
        for seat, clock in self._clocks.items():
            self._update_seat(seat, clock)
            if _values(clock) != self._before.get(seat):
                self.changes.seats.append(clock)
        if self._record.followed != self._table.seq:
            self._tell_next()

    # -- the log -----------------------------------------------------------------------------

    def follow_log(self) -> None:
        """Follow the rows that are new; a table that is looked at for the first time starts now."""
        if self._record.followed is None:
            self._follow_row(self._note("start"), self._table.pending)
        for row in self._record.rows:
            self._follow_row(row, self._table.pending_after(row.seq))
        if self._info.status != "running":
            self._follow_row(self._note("pause"), ())

    def _note(self, line: str) -> UnfollowedRow:
        """A note of this look; it stands in no log."""
        return UnfollowedRow(self._info.id, self._table.seq, self._now, "note", line=line)

    def _follow_row(self, row: UnfollowedRow, pending: Sequence[PendingDecision]) -> None:
        def was_forced(seat: int) -> bool:
            choices = engine.choices(self._table.state_at(row.seq - 1), engine_seat(seat))
            return len(choices) == 1 and choices[0].amounts is None

        follow(self._clocks, row, pending, was_forced, self._rules)

    # -- a seat ------------------------------------------------------------------------------

    def _update_seat(self, seat: int, clock: SeatClock) -> None:
        """The deadlines of a seat, and what follows from them."""
        player = self._info.player_at(seat)
        clock.person_id = player.person_id if player else None
        due = self._rules.deadline(clock) if player else None
        clock.allowance_end = due.allowance_end if due else None
        clock.time_up = due.time_up if due else None
        self._timers.update(seat, clock, due)

    def _absence_line(self, settings: PersonSettings) -> str:
        """The absence of a player as the table is told of it; empty for one who is there."""
        away = settings.is_away(self._now) and self._info.status in ("running", "paused")
        return settings.absence.line if settings.absence and away else ""

    def has_news_of_absence(self) -> bool:
        """Whether an absence begins, changes or ends, or a deputy has made their only decision."""
        return any(
            self._absence_line(self._rules.settings_of(seat)) != clock.absence or self._is_over(seat, clock)
            for seat, clock in self._clocks.items()
        )

    def _is_over(self, seat: int, clock: SeatClock) -> bool:
        """Whether somebody has decided once for a seat whose time was up, or need not, for a new player."""
        deputy = self._deputies.get(seat)
        if deputy is None or deputy.decision_id is None:
            return False
        return deputy.decision_id != clock.decision_id or self._has_new_player(seat)

    async def change_deputies(self, unit: UnitOfWork) -> None:
        """Tell the table of absences that begin, change or end; appoint and dismiss deputies."""
        for seat, clock in self._clocks.items():
            await self._update_absence(unit, seat, clock)
            if self._is_over(seat, clock):
                await self._end_single_decision(unit, seat, clock)

    async def _end_single_decision(self, unit: UnitOfWork, seat: int, clock: SeatClock) -> None:
        """What a deputy was to decide once is decided, by them or not: whoever played before plays again."""
        stamp, former = f"{self._info.id}.{seat}.decided.{self._table.seq}", self._deputies.pop(seat)
        await unit.clocks.remove_deputy(self._info.id, seat)
        await self._dismiss(unit, former, stamp)
        deputy = self._absence_deputy(seat) if clock.absence else None  # who did not answer in time
        if deputy is not None:
            await unit.clocks.set_deputy(deputy)
        if (player := self._info.player_at(seat)) is not None:
            recipient = await load_recipient(unit, deputy.person_id if deputy else player.person_id, seat)
            votes = await self._missed_votes(unit, former, is_away=bool(clock.absence))
            await self._ask(unit, seat, clock, recipient, stamp, votes)

    async def _missed_votes(self, unit: UnitOfWork, former: Deputy, *, is_away: bool) -> list[TablePoll]:
        """The votes for which whoever plays again was not asked: a deputy was, or nobody, as with a robot for
        a player who is away."""
        opened = [each for each in self._table.polls if each.poll.opened_at >= former.starts_at]
        if is_away:
            return opened
        if await is_robot(unit, former.person_id):
            return []
        return [each for each in opened if messages.may_vote(self._info, each, former.seat, former.person_id)]

    def _has_new_player(self, seat: int) -> bool:
        """Whether another player has come to a seat since the last look."""
        player = self._info.player_at(seat)
        return player is not None and player.person_id != self._clocks[seat].person_id

    def _absence_deputy(self, seat: int) -> Deputy | None:
        """Who plays for a seat as long as its player is away."""
        settings = self._rules.settings_of(seat)
        if settings.absence is None or settings.absence.deputy_id is None:
            return None
        start, end = settings.absence.interval(settings.zone)
        return Deputy(
            table_id=self._info.id, seat=seat, person_id=settings.absence.deputy_id, starts_at=start,
            ends_at=end,
        )  # fmt: skip

    async def _update_absence(self, unit: UnitOfWork, seat: int, clock: SeatClock) -> None:
        settings = self._rules.settings_of(seat)
        line = self._absence_line(settings)
        if line == clock.absence:
            return
        had_deputy = bool(line) and " deputy " in clock.absence  # who may be deleted by now
        clock.absence = line
        name, player = self._info.names[seat], self._info.player_at(seat)
        shown = settings if line else PersonSettings()
        sentence = clock_messages.absence_sentence(name, shown)
        deputy_id = shown.absence.deputy_id if shown.absence else None  # who is asked themselves
        others = [r for r in self._recipients.values() if r.seat != seat and r.person_id != deputy_id]
        stamp = f"{self._info.id}.{seat}.absence.{self._table.seq}"  # the note of the last one is before it
        if line or (player and player.person_id == clock.person_id):  # who has left is not back
            self._tell(*clock_messages.news_messages(self._info, others, sentence, stamp, self._now))
            self.notes.append(sentence)
        await self._update_deputy(unit, seat, clock, shown, stamp, had_deputy)

    async def _update_deputy(
        self,
        unit: UnitOfWork,
        seat: int,
        clock: SeatClock,
        settings: PersonSettings,
        stamp: str,
        had_deputy: bool,
    ) -> None:
        """Appoint the deputy of an absent player, or let the player play again; the one who plays now is
        told what waits. had_deputy: according to the absence as it was."""
        absence, former = settings.absence, self._deputies.pop(seat, None)
        had_deputy |= await unit.clocks.remove_deputy(self._info.id, seat)
        if former is not None and former.person_id != (absence.deputy_id if absence else None):
            await self._dismiss(unit, former, stamp)
        player = self._info.player_at(seat)
        if absence and (deputy := self._absence_deputy(seat)):
            await unit.clocks.set_deputy(deputy)
            recipient = await load_recipient(unit, deputy.person_id, seat)
            sentence = (
                f"{self._info.names[seat]} asks you to play for them at table {self._info.name} "
                f"{self._info.code} until {day_text(date.fromisoformat(absence.back_on))}."
            )
            self._tell_person("deputy", recipient, sentence, f"{stamp}.deputy")
            if former and (former.person_id, former.decision_id) == (deputy.person_id, None):
                return  # who is asked already, for other days
        elif had_deputy and player is not None:
            recipient = await load_recipient(unit, player.person_id, seat)
            if absence and not self._has_new_player(seat):
                info, back_on = self._info, day_text(date.fromisoformat(absence.back_on))
                sentence = (
                    f"You are away until {back_on}, and nobody plays for you at table {info.name} "
                    f"{info.code} any more."
                )
                self._tell_person("seat_answer", recipient, sentence, f"{stamp}.alone")
        else:
            return
        await self._ask(unit, seat, clock, recipient, stamp, self._table.polls)

    async def _ask(
        self,
        unit: UnitOfWork,
        seat: int,
        clock: SeatClock,
        recipient: Recipient,
        stamp: str,
        votes: Sequence[TablePoll],
    ) -> None:
        """Tell who plays for a seat from now on what waits. votes: those that they are asked for if the seat
        has not voted; a robot does not vote for whom it plays, and a new player was asked as they came."""
        self._recipients[seat] = recipient
        self._timers.asked_now.add(seat)
        waiting = [p for p in self._table.pending if p.seat == seat and clock.decision_id]
        told = messages.turn_messages(
            self._info, self._table.seq, waiting, {seat: recipient}, unit.now, suffix=stamp
        )
        self._tell(*messages.with_own_news(told, self.changes.messages))
        player = self._info.player_at(seat)
        was_asked = self._has_new_player(seat) and player and player.person_id == recipient.person_id
        for open_poll in () if was_asked else votes:
            is_missing = open_poll.votes.get(seat, True) is None
            if is_missing and not await is_robot(unit, recipient.person_id):
                self._tell(
                    *await ask_to_vote(unit, self._info, self._table.seq, open_poll, seat, recipient, stamp)
                )

    async def _dismiss(self, unit: UnitOfWork, deputy: Deputy, stamp: str) -> None:
        """Tell a deputy that they do not play for a seat any more; who has made their only decision knows."""
        seat = deputy.seat
        acted = {row.person_id for row in self._record.rows if row.seat == seat and row.kind == "move"}
        if deputy.decision_id is not None and deputy.person_id in acted:
            return
        recipient = await load_recipient(unit, deputy.person_id, seat)
        name, table = self._info.names[seat], f"table {self._info.name} {self._info.code}"
        sentence = f"You no longer play for {name} at {table}. Thank you."
        if self._has_new_player(seat):
            sentence = f"{name} has the seat now for which you played at {table}. Thank you."
        self._tell_person("dismissed", recipient, sentence, f"{stamp}.dismissed")

    # -- who is next -------------------------------------------------------------------------

    def _tell_next(self) -> None:
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
        due = self._now + timedelta(seconds=self._holdoff)
        self._tell(
            *clock_messages.next_messages(self._info, recipient, acting, self._table.current_decision_id, due)
        )
