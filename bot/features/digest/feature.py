"""What waits for a person, the most urgent first: `turns`, and the daily digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from bot.hub.cache import TableCache
from bot.hub.info import TableInfo
from bot.hub.loading import load_recipient, load_table_info
from bot.hub.notify import Notification
from bot.hub.pace import Pace
from bot.hub.preferences import PersonSettings, settings_of
from bot.hub.request import POLL_PREFIX
from bot.position.times import duration_text, hour_of, local_moment, moment_text, zone_of
from storage import DueRow, NewMessage, SeatClock, TablePoll, UnitOfWork

NEAR = timedelta(minutes=30)
NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WaitingTable:
    """A table that waits for a person. clock: of the seat. poll: the vote that it waits for; without one it
    is the game that waits."""

    table: TableInfo
    seat: int
    clock: SeatClock | None = None
    poll: TablePoll | None = None

    @property
    def poll_id(self) -> str | None:
        """The decision id of the vote."""
        return f"{POLL_PREFIX}{self.poll.poll.id}" if self.poll else None

    @property
    def urgency(self) -> tuple[datetime, datetime, int]:
        """Orders tables: the end of the time, then how long it has waited."""
        clock = self.clock
        if self.poll is not None:
            return NEVER, self.poll.poll.opened_at, self.table.id
        if clock is None or clock.decision_id is None:
            return NEVER, NEVER, self.table.id
        return clock.time_up or NEVER, clock.since or NEVER, self.table.id

    def line(self, now: datetime, zone: str | None) -> str:
        """The table in one line, with the time that is left."""
        table = self.table
        parts = [f"{table.code} {table.name} ({table.title}), {table.round}"]
        clock = self.clock
        if self.poll is not None:
            parts.append(f"a vote since {duration_text(now - self.poll.poll.opened_at)}")
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
        if (player := table.player_at(self.seat)) and player.person_id not in (table.person_at(self.seat),):
            parts.append(f"for {player.name}")
        return ": ".join([parts[0], "; ".join(parts[1:])]) if parts[1:] else parts[0]


async def waiting_tables(unit: UnitOfWork, person_id: int) -> list[WaitingTable]:
    """The tables that wait for a person or for a seat whose deputy they are, for their move or their vote,
    the most urgent first."""
    own = {table.id: table.status for table, _ in await unit.tables.for_person(person_id)}
    ids = [table_id for table_id, status in own.items() if status == "running"]
    ids += await unit.clocks.tables_as_deputy(person_id)
    voting = await unit.polls.tables_with_open_polls(dict.fromkeys([*own, *ids]))
    found = []
    for table_id in dict.fromkeys([*ids, *voting]):
        info = await load_table_info(unit, await unit.tables.get(table_id))
        seat = info.seat_of(person_id)
        if seat is None or info.person_at(seat) != person_id:
            continue
        if info.status == "running" and seat in info.acting_seats:
            found.append(WaitingTable(info, seat, (await unit.clocks.seat_clocks(table_id)).get(seat)))
        polls = await unit.polls.open_polls(table_id) if table_id in voting else []
        found += [WaitingTable(info, seat, poll=poll) for poll in polls if poll.votes.get(seat, True) is None]
    return sorted(found, key=lambda waiting: waiting.urgency)


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


async def enqueue_digest(unit: UnitOfWork, person_id: int) -> None:
    """Put the digest of a person into the outbox, if a table waits for them: by mail, else as a direct
    message."""
    recipient = await load_recipient(unit, person_id, None)
    settings = recipient.settings
    waiting = [
        each for each in await waiting_tables(unit, person_id) if settings.for_table(each.table.code).digest
    ]
    if not waiting:
        return
    chosen = settings.tell.channels or ("mail", "direct")
    by_mail = recipient.email if "mail" in chosen or not recipient.discord_id else None
    direct = recipient.discord_id if not by_mail or "direct" in (settings.tell.channels or ()) else None
    day = unit.now.astimezone(zone_of(settings.zone)).date().isoformat()
    lines = tuple(each.line(unit.now, settings.zone) for each in waiting)
    notification = Notification("digest", waiting[0].table.id, 0, person_id=person_id, sentences=lines)
    for channel, address in (
        ("mail", {"person": person_id, "email": by_mail} if by_mail else None),
        ("user", {"user": direct} if direct else None),
    ):
        if address is None:
            continue
        await unit.outbox.enqueue(
            NewMessage(
                idempotency_key=f"clock.digest.{person_id}.{day}.{channel}",
                channel="mail" if channel == "mail" else "discord",
                address=address,
                payload=msgspec.json.encode(notification),
                ordering_key=f"{channel}:{person_id}",
                collapse_key=f"digest:{person_id}:{channel}",
            )
        )


def pace_text(pace: Pace) -> str:
    """A pace in a sentence."""
    if pace.kind == "none":
        return "There is no pace: nobody's time runs out."
    actions = {
        "remind": "the player is reminded daily",
        "orders": "the player's orders are played, else a pass where that is possible",
        "deputy": "the player's deputy decides",
        "pause": "the game is paused",
    }
    return f"The pace is {pace}. When a time is up, {actions[pace.when_up]}."


class DigestTimer:
    """Sends the digest of a person when it is due."""

    def __init__(self, cache: TableCache) -> None:
        self._cache = cache

    async def send(self, row: DueRow) -> bool:
        """Send the digest, if any table waits for the person, and set the next."""
        assert row.person_id is not None
        async with self._cache.store.begin() as unit:
            person = await unit.people.get(row.person_id)
            settings = settings_of(person.preferences, person.time_zone)
            next_at = next_digest_at(settings, unit.now) if settings.wants_digest else None
            if await unit.clocks.take_due(row, next_at) and settings.wants_digest:
                await enqueue_digest(unit, row.person_id)
        self._cache.wake_subscribers()
        return True
