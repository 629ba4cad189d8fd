"""How the clocks of the seats follow the log of their table (pure).

A clock runs while the table waits for its seat. An action of the player, an undo, a resumption or a new
pace starts it anew. Actions of others may change the question, but the clock runs on; an offer, and the
question after one, are decisions of their own. When it stops, the time above the allowance is taken from the
time bank, unless only one thing could be done. A player who lets the time run out twice in a row has a
quarter of the allowance until they move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.hub.info import ORDER_TRANSPORT
from bot.hub.notifications.preferences import PersonSettings
from bot.hub.pace import Calendar, Deadline, Pace, bank_after, calendar_of, deadline
from bot.position.pending import PendingDecision, is_offer
from storage import SeatClock, UnfollowedRow

STOPPING_LINES = ("pause", "resign", "end")
"""Notes of the log after which the table is not in play."""


LAPSES = 2
"""After so many in a row the allowance of a player is shorter."""
CLOCK_TRANSPORT = "clock"
"""The transport of what is played for a player whose time is up."""
LONGEST_SHORT = timedelta(days=60)  # for which quiet hours are looked at


@dataclass(frozen=True, slots=True)
class ClockRules:
    """What the clocks of a table run by: its pace, and the settings of its players by seat."""

    pace: Pace
    settings: Mapping[int, PersonSettings]

    def settings_of(self, seat: int) -> PersonSettings:
        """The settings of a seat's player, as far as they hold at this table."""
        return self.settings.get(seat, PersonSettings())

    def calendar(self, seat: int) -> Calendar:
        """Which time counts for a seat."""
        settings = self.settings_of(seat)
        return calendar_of(self.pace, settings.zone, settings.absences())

    def bank(self, clock: SeatClock) -> timedelta:
        """What is left of the time bank of a seat."""
        seconds = self.pace.bank if clock.bank is None else min(clock.bank, self.pace.bank)
        return timedelta(seconds=seconds)

    def deadline(self, clock: SeatClock) -> Deadline | None:
        """The deadline of the decision that a clock runs for."""
        if clock.decision_id is None or clock.since is None:
            return None
        pace, calendar = self.pace, self.calendar(clock.seat)
        if clock.lapses >= LAPSES and pace.kind == "each":
            pace, quiet = pace.shortened(), self.settings_of(clock.seat).quiet_hours
            hours = quiet.intervals(clock.since, clock.since + LONGEST_SHORT) if quiet else ()
            calendar = replace(calendar, absences=(*calendar.absences, *hours))
        return deadline(pace, clock.since, self.bank(clock), calendar, extended=clock.extended)


def decisions_now(pending: Sequence[PendingDecision]) -> dict[int, str]:
    """By seat, what the table waits for; orders for a later turn are not waited for."""
    return {p.seat: p.decision_id for p in pending if p.acts_now}


def follow(
    clocks: Mapping[int, SeatClock],
    row: UnfollowedRow,
    pending: Sequence[PendingDecision],
    was_forced: Callable[[int], bool],
    rules: ClockRules,
) -> None:
    """Let the clocks of all seats follow one row of the log. pending: the decisions after it. was_forced:
    whether a seat had only one thing to do before it."""
    line = row.line or row.raw_line
    stops = row.kind == "note" and line in STOPPING_LINES
    waited_for = {} if stops else decisions_now(pending)
    new_pace = row.kind == "note" and line == "pace"
    restarts = new_pace or row.kind in ("undo", "redo", "replace") or line == "resume"
    for seat, clock in clocks.items():
        decision_id = waited_for.get(seat)
        has_acted = row.kind == "move" and row.seat == seat
        was_up = clock.time_up is not None and row.created_at >= clock.time_up
        ids = {decision_id or "", clock.decision_id or ""}
        is_another = len(ids) == 2 and any(map(is_offer, ids))
        if clock.decision_id and (decision_id is None or restarts or has_acted or is_another):
            _stop(clock, row.created_at, was_forced, rules)
        _count_lapse(clock, row, was_up=was_up)
        if new_pace:
            clock.bank = None
        if decision_id is None:
            continue
        if clock.decision_id is None:
            clock.since, clock.extended = row.created_at, False
        clock.decision_id = decision_id


def _count_lapse(clock: SeatClock, row: UnfollowedRow, *, was_up: bool) -> None:
    """Count a line that was played for a player whose time was up as a lapse. Their own next action, that of
    a deputy in time, or a new player, ends these."""
    if row.seat != clock.seat or row.kind == "note" or row.transport == ORDER_TRANSPORT:
        return
    is_own = row.kind == "replace" or row.person_id == clock.person_id
    if row.kind == "move" and (row.transport == CLOCK_TRANSPORT or (row.person_id and was_up and not is_own)):
        clock.lapses += 1
    elif is_own or (row.kind == "move" and row.person_id):
        clock.lapses = 0


def _stop(clock: SeatClock, at: datetime, was_forced: Callable[[int], bool], rules: ClockRules) -> None:
    """Stop a clock, and take what went over the allowance from the bank."""
    due = rules.deadline(clock)
    if due and at > due.allowance_end and not was_forced(clock.seat):
        left = bank_after(rules.bank(clock), due, at, rules.calendar(clock.seat))
        clock.bank = int(left.total_seconds())
    clock.decision_id = clock.since = clock.allowance_end = clock.time_up = None
    clock.extended = False
