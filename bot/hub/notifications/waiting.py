"""What waits for a person, the most urgent first: `turns`, and the daily digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.hub.info import TableInfo
from bot.hub.loading import load_info
from bot.hub.notifications.messages import may_vote, poll_id
from bot.hub.notifications.preferences import PersonSettings
from bot.hub.timers import NUDGE_KIND
from bot.position.times import duration_text, hour_of, local_moment, moment_text, zone_of
from storage import SeatClock, TablePoll, UnitOfWork

NEAR = timedelta(minutes=30)
NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WaitingTable:
    """A table that waits for a person. clock: of the seat. poll: the vote that it waits for; without one it
    is the game that waits. nudged: whether another player has asked them again."""

    table: TableInfo
    seat: int
    clock: SeatClock | None = None
    poll: TablePoll | None = None
    nudged: bool = False

    @property
    def poll_id(self) -> str | None:
        """The decision id of the vote."""
        return poll_id(self.poll) if self.poll else None

    @property
    def urgency(self) -> tuple[bool, datetime, datetime, int]:
        """Orders tables: where they were asked again, the end of the time, then how long it has waited."""
        clock, waited = self.clock, not self.nudged
        if self.poll is not None:
            return waited, NEVER, self.poll.poll.opened_at, self.table.id
        if clock is None or clock.decision_id is None:
            return waited, NEVER, NEVER, self.table.id
        return waited, clock.time_up or NEVER, clock.since or NEVER, self.table.id

    def line(self, now: datetime, zone: str | None) -> str:
        """The table in one line, with the time that is left."""
        table = self.table
        parts = [f"{table.code} {table.title_and_name}, {table.round}"]
        clock = self.clock
        if self.poll is not None:
            parts.append(f"a vote, open for {duration_text(now - self.poll.poll.opened_at)}")
        if clock and clock.time_up and clock.allowance_end:
            if now < clock.allowance_end:
                left = duration_text(clock.allowance_end - now)
                parts.append(f"{left} left, until {moment_text(clock.allowance_end, zone)}")
            elif now < clock.time_up:
                parts.append(f"time bank until {moment_text(clock.time_up, zone)}")
            else:
                parts.append(f"time was up {moment_text(clock.time_up, zone)}")
        elif clock and clock.since and clock.decision_id:
            parts.append(f"waiting for {duration_text(now - clock.since)}")
        if self.nudged:
            parts.append("you are asked again")
        if (player := table.player_at(self.seat)) and player.person_id not in (table.person_at(self.seat),):
            parts.append(f"for {player.name}")
        return ": ".join([parts[0], "; ".join(parts[1:])]) if parts[1:] else parts[0]


async def waiting_tables(unit: UnitOfWork, person_id: int) -> list[WaitingTable]:
    """The tables that wait for a person or for a seat whose deputy they are, for their move or their vote,
    the most urgent first."""
    own = {table.id: table.status for table, _ in await unit.tables.for_person(person_id)}
    ids = [table_id for table_id, status in own.items() if status == "running"]
    ids += await unit.clocks.tables_as_deputy(person_id)
    open_polls = await unit.polls.open_polls(*dict.fromkeys([*own, *ids]))
    found = []
    for table_id in dict.fromkeys([*ids, *(each.poll.table_id for each in open_polls)]):
        info = await load_info(unit, table_id)
        polls = [each for each in open_polls if each.poll.table_id == table_id]
        for seat in info.seats_of(person_id):
            if info.person_at(seat) == person_id:
                found += await _waiting_seat(unit, info, seat, person_id, polls)
    return sorted(found, key=lambda waiting: waiting.urgency)


async def _waiting_seat(
    unit: UnitOfWork, info: TableInfo, seat: int, person_id: int, polls: list[TablePoll]
) -> list[WaitingTable]:
    """What waits for a person at one seat: the game, and votes."""
    found = []
    if info.status == "running" and seat in info.acting_seats:
        clock = (await unit.clocks.seat_clocks(info.id)).get(seat)
        asked = await unit.facts.get(NUDGE_KIND, info.id, person_id)
        nudged = bool(asked and clock and clock.since and datetime.fromisoformat(asked) >= clock.since)
        found.append(WaitingTable(info, seat, clock, nudged=nudged))
    missing = [poll for poll in polls if poll.votes.get(seat, True) is None]
    asked_for = [poll for poll in missing if may_vote(info, poll, seat, person_id)]
    return found + [WaitingTable(info, seat, poll=poll) for poll in asked_for]


def turns_text(waiting: list[WaitingTable], now: datetime, settings: PersonSettings) -> str:
    """What waits for a person, the most urgent first."""
    if not waiting:
        return "No table waits for you."
    return "\n".join(_turn_line(each, now, settings.zone) for each in waiting)


def _turn_line(waiting: WaitingTable, now: datetime, zone: str | None) -> str:
    line = waiting.line(now, zone)
    if waiting.poll is None:
        return line
    return f"{line}: {waiting.poll.poll.details['question']} Answer `accept vote` or `decline vote` there."


def next_digest_at(settings: PersonSettings, after: datetime) -> datetime:
    """When the next digest of a person is due, in UTC."""
    zone, hour = zone_of(settings.zone), hour_of(settings.digest_hour)
    day = after.astimezone(zone).date()
    for offset in range(3):
        moment = local_moment(day + timedelta(days=offset), hour, zone)
        if moment > after:
            return moment
    raise AssertionError("unreachable")


def has_digest_near(settings: PersonSettings, moment: datetime) -> bool:
    """Whether a person's digest goes out within half an hour of a moment, and says what a reminder would."""
    return next_digest_at(settings, moment - NEAR) < moment + NEAR
