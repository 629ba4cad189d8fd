"""Commands about time, `pace`, `extend`, `nudge`, the timers of the clock, and what it tells one person:
they are next, they are a deputy, their time is up, how long they have left, and on the page of a turn, until
when they have time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from bot.features.clock.clocks import ClockRules, decisions_now
from bot.features.clock.time_up import Submit, WaitTimers
from bot.hub.cache import TableCache
from bot.hub.changes import (
    actor_name,
    again_on_conflict,
    changing,
    check_allowed,
    check_in_lobby,
    record_pace,
)
from bot.hub.command import Command, Form, OpenCommand, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.feature import Addition, MakePage, Page, TurnPage
from bot.hub.info import TableInfo, is_robot_name
from bot.hub.loading import load_recipient
from bot.hub.notifications import clock_messages, messages, notify
from bot.hub.notifications.messages import Notification
from bot.hub.notifications.preferences import not_quiet, settings_of
from bot.hub.notifications.waiting import next_digest_at
from bot.hub.pace import Pace, pace_text, parse_pace, stored_pace
from bot.hub.polls import Motion, PollHandler, completed
from bot.hub.request import CommandResult, QueryAnswer, Request, not_running, refused
from bot.hub.table import LiveTable
from bot.hub.timers import NUDGE_KIND, PING_KIND, TimerHandler, recall
from bot.position.times import moment_text
from storage import ABSENCE_KIND, ClockChanges, SeatClock, Store, StoredTimer, TablePoll, UnitOfWork

NUDGE_AGAIN = timedelta(hours=12)


class TimeCommands:
    """Carries out the commands about time at a locked table."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache, self._polls = cache, polls

    def motions(self) -> dict[str, Motion]:
        """What a poll about time decides."""
        return {"pace": Motion(_set_pace)}

    def commands(self) -> list[Command]:
        """`pace`, `extend`, `nudge`."""
        return [
            TableCommand(
                "pace",
                (
                    Form(
                        "pace [TEXT]", "the pace of the table; propose another, for a vote", "pace, pace 24h"
                    ),
                ),
                self._pace,
            ),
            OpenCommand(
                "pace",
                (Form("pace [PACE]", "the pace: `24h`, `daily 20:00 Europe/Berlin`, `none`"),),
                self._pace_before_start,
                needs_seat=False,
                statuses=("lobby",),
            ),
            TableCommand("extend", (Form("extend", "take more time for this decision, once"),), self._extend),
            TableCommand("nudge", (Form("nudge", "remind those whom the table waits for"),), self._nudge),
        ]

    @again_on_conflict
    async def _pace_before_start(self, info: TableInfo, request: Request) -> str:
        """The pace of a table that has not started; the host sets it."""
        async with self._cache.locked(info.id) as table:
            if request.rest:
                pace = parse_pace(request.rest)
                check_allowed(table.stored_info, request.person_id)
                check_in_lobby(table.stored_info)
                async with changing(self._cache, table) as unit:
                    await unit.tables.update(info.id, pace=str(pace))
                    await self._tell_joiners(unit, table.stored_info, pace, request.person_id)
            return pace_text(table.stored_info.pace)

    @staticmethod
    async def _tell_joiners(unit: UnitOfWork, info: TableInfo, pace: Pace, by: int | None) -> None:
        """Tell those who have joined by email of another pace; on Discord the card shows it."""
        sentence = f"{actor_name(info, by)} sets the pace of table {info.name} {info.code}. {pace_text(pace)}"
        for player in info.seated_players:
            if player.joined and player.person_id != by and pace != info.pace:
                recipient = await load_recipient(unit, player.person_id, None)
                await unit.outbox.enqueue(*messages.lobby_answers(info, recipient, sentence))

    async def _pace(self, table: LiveTable, request: Request) -> CommandResult:
        rest = request.lines[0].partition(" ")[2].strip()
        if not rest:
            return QueryAnswer("pace", pace_text(table.stored_info.pace))
        return await self._propose_pace(table, request, parse_pace(rest))

    async def _propose_pace(self, table: LiveTable, request: Request, pace: Pace) -> CommandResult:
        """Ask the others for another pace; alone at the table, a player changes it at once."""
        if problem := not_running(table, "running", "paused"):
            return problem
        if pace == table.stored_info.pace:
            return refused(request, f"The pace is already {pace}.")
        others = [
            p.seat for p in table.stored_info.seated_players if p.seat is not None and p.seat != request.seat
        ]
        name = table.state.players[request.seat]
        if others:
            question = f"{name} proposes another pace: {pace} (now: {table.stored_info.pace})."
            return await self._polls.open_poll(table, request, "pace", others, question, {"pace": str(pace)})
        async with self._cache.commit_request(table, request) as draft:
            sentence = f"{name} sets the pace: {pace}."
            await record_pace(draft, pace, sentence, request.person_id, request.transport)
            draft.result = completed(draft, (sentence,))
        return draft.result

    async def _extend(self, table: LiveTable, request: Request) -> CommandResult:
        """Take one more allowance for the decision that waits; once, without asking."""
        if problem := not_running(table, "running"):
            return problem
        info = table.stored_info
        if info.pace.kind == "none":
            return refused(request, "There is no pace at this table, so your time does not run out.")
        async with self._cache.store.read() as unit:
            clock = (await unit.clocks.seat_clocks(info.id)).get(request.seat)
        if clock is None or clock.decision_id is None or table.decision_id_of(request.seat) is None:
            return refused(request, "The table does not wait for you, so your time does not run.")
        if clock.extended:
            return refused(request, "You have taken more time for this decision already.")
        clock.extended = True
        due = ClockRules(info.pace, table.metadata.settings).deadline(clock)
        until = moment_text(due.time_up, _zone_of(table, request.seat)) if due else ""
        name = table.state.players[request.seat]
        async with self._cache.commit_request(table, request) as draft:
            unit = await draft.unit()
            await unit.clocks.write(ClockChanges(seats=[clock]))
            await unit.clocks.look_again(info.id)
            sentence = f"{name} takes more time, until {until}."
            draft.add_row(request.new_row(kind="note", line="extend", raw_line=sentence))
            draft.announce("news", sentence)
            draft.result = completed(draft, (f"You have more time, until {until}.",))
        return draft.result

    async def _nudge(self, table: LiveTable, request: Request) -> CommandResult:
        """Ask again everybody for whom the table waits: each once in twelve hours, however many nudge.

        A player in their quiet hours is asked when these end.
        """
        if problem := not_running(table, "running"):
            return problem
        asked = sorted(decisions_now(table.pending).keys() - {request.seat})
        if not asked:
            return refused(request, "The table waits for nobody but you.")
        told = list[str]()
        async with self._cache.commit_request(table, request) as draft:
            unit = await draft.unit()
            clocks = await unit.clocks.seat_clocks(table.stored_info.id)
            zone = _zone_of(table, request.seat)
            for seat in asked:
                told.append(await self._nudge_seat(unit, table, seat, clocks.get(seat), zone))
            draft.result = QueryAnswer("nudge", " ".join(told))
        return draft.result

    @staticmethod
    async def _nudge_seat(
        unit: UnitOfWork, table: LiveTable, seat: int, clock: SeatClock | None, zone: str | None
    ) -> str:
        """Set the time at which a player is asked again; a sentence about it. zone: of who reads it."""
        info, name = table.stored_info, table.state.players[seat]
        recipient = table.metadata.recipients.get(seat)
        if recipient is None:
            return f"Nobody plays for {name} now."
        if is_robot_name(name):
            return f"{name} is the computer player and moves by itself."
        settings = table.metadata.settings[seat]
        if settings.absences() and settings.is_away(unit.now):
            return clock_messages.absence_sentence(name, settings)
        if not notify.reachable_channels(info, recipient):
            return f"No message reaches {name} now. Please tell them some other way."
        if clock is None or clock.decision_id != decisions_now(table.pending)[seat]:  # the clock is behind
            return f"{name} has just been asked."
        row = await unit.clocks.get_due(f"{info.id}.{seat}.{NUDGE_KIND}")
        last = await unit.facts.get(NUDGE_KIND, info.id, recipient.person_id)
        by_digest = not notify.is_told_at_once(info, recipient)
        digest_at = next_digest_at(recipient.settings, unit.now) if by_digest else None
        if row or (last and datetime.fromisoformat(last) > unit.now - NUDGE_AGAIN):
            next_at = digest_at or (row.due_at if row else unit.now)
            if next_at <= unit.now:
                return f"{name} was asked again less than twelve hours ago."
            when = moment_text(next_at, zone)
            return f"Somebody has nudged {name} already; they are asked again on {when}."
        at = not_quiet(unit.now, recipient.settings.quiet_hours)
        await recall(unit, NUDGE_KIND, clock, at)
        await unit.facts.set(NUDGE_KIND, info.id, recipient.person_id, at.isoformat())
        if digest_at:
            return f"{name} is asked again by their digest on {moment_text(digest_at, zone)}."
        return f"{name} is asked again{' when their quiet hours end' if at > unit.now else ''}."


def _zone_of(table: LiveTable, seat: int) -> str | None:
    """The time zone of the player of a seat."""
    settings = table.metadata.settings.get(seat)
    return settings.zone if settings else None


async def _set_pace(draft: CommitDraft, request: Request, open_poll: TablePoll) -> list[str]:
    pace = stored_pace(str(open_poll.poll.details["pace"]))
    sentence = f"All players agree to the pace {pace}."
    await record_pace(draft, pace, sentence, request.person_id, request.transport)
    return [sentence]


def clock_timers(cache: TableCache, submit: Submit) -> dict[str, TimerHandler]:
    """Reminders, escalations, the end of a player's time, absences."""
    timers = WaitTimers(cache, submit)
    reminders = dict.fromkeys(("reminder", "escalation", PING_KIND, NUDGE_KIND), timers.remind)
    return {**reminders, "time_up": timers.end, ABSENCE_KIND: partial(_absence, cache)}


async def _absence(cache: TableCache, row: StoredTimer) -> bool:
    """An absence begins or ends: the tables of the person are followed up."""
    assert row.person_id is not None
    async with cache.store.begin() as unit:
        person = await unit.people.get(row.person_id)
        settings = settings_of(person.preferences, person.time_zone)
        next_at = settings.absence.next_change(settings.zone, unit.now) if settings.absence else None
        if await unit.clocks.take_due(row, next_at):
            await unit.people.update(row.person_id, name=person.name)  # tables load their deputies again
            await unit.clocks.look_again_for(row.person_id)
    cache.wake_subscribers()
    return True


HEADLINES = {"next": "You are next.", "deputy": "You are a deputy.", "time_up": "Your time is up."}


def notice_pages(cache: TableCache) -> Mapping[str, MakePage]:
    """By the kind of the notification."""

    async def of_seat(table: TableInfo, notification: Notification) -> Page | None:
        view, seat = (await cache.get(table.id, with_log=False)).view(), notification.seat
        is_next, sentences = notification.kind == "next", list(notification.sentences)
        if seat is None or (is_next and view.current_decision_id != notification.decision_id):
            return None
        if is_next and (table.status != "running" or table.person_at(seat) != notification.person_id):
            return None  # the game stands still, a deputy plays now, or does no more
        if view.waiting_sentence and not is_next:
            sentences.append(view.waiting_sentence)
        decision_id = notification.decision_id or view.answered_decision_id(seat)
        return Page(HEADLINES[notification.kind], sentences, decision_id=decision_id)

    return {
        **dict.fromkeys(HEADLINES, of_seat),
        "dismissed": _dismissed,
        "reminder": partial(_reminder, cache.store),
    }


async def _reminder(store: Store, table: TableInfo, notification: Notification) -> Page | None:
    """How long a decision has waited by now: the message may have waited too, for a way out."""
    if (found := await _clock_of(store, table, notification.seat, notification.person_id)) is None:
        return None
    clock, now, zone = found
    late = "" if clock.person_id == notification.person_id else table.names[clock.seat]
    return Page("A reminder.", [clock_messages.reminder_sentence(clock, now, zone, late)])


async def _dismissed(table: TableInfo, notification: Notification) -> Page:
    return Page("You are no longer a deputy.", notification.sentences)


async def add_deadline(store: Store, page: TurnPage) -> Addition:
    """A sentence for the reader, in their time zone; none without a pace, on a page for everybody, or for a
    deputy whose player is late."""
    if page.pending is None:
        return Addition()
    if (found := await _clock_of(store, page.view.table, page.pending.seat, page.reader)) is None:
        return Addition()
    clock, now, zone = found
    if clock.time_up is None or clock.allowance_end is None:
        return Addition()
    if now >= clock.allowance_end:
        if clock.person_id != page.reader:
            return Addition()
        return Addition([clock_messages.reminder_sentence(clock, now, zone)])
    by = moment_text(clock.allowance_end, zone)
    return Addition([f"Please reply by {by}{clock_messages.bank_text(clock)}."])


async def _clock_of(
    store: Store, table: TableInfo, seat: int | None, reader: int | None
) -> tuple[SeatClock, datetime, str | None] | None:
    """The clock of a seat, the time now, and the time zone of the reader; None where no clock runs."""
    if seat is None or reader is None:
        return None
    async with store.read() as unit:
        if (clock := (await unit.clocks.seat_clocks(table.id)).get(seat)) is None:
            return None
        person = await unit.people.get(reader)
        return clock, unit.now, settings_of(person.preferences, person.time_zone).zone
