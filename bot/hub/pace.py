"""The pace of a table: how long a decision may take, and what happens when the time is up (pure).

    pace none
    pace 24h, bank 72h, weekends out, then orders
    pace daily 20:00 Europe/Berlin, hold-off 5m

A decision has an allowance: so many hours, or until the next fixed hour. After it the player's time bank runs
down, and when that is empty the time is up. Time that does not count (weekends, if they are out, and
absences) is skipped by the allowance and by the bank alike. Every length of time is a length of real time, so
a day on which the clocks change has 23 or 25 hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Literal, get_args
from zoneinfo import ZoneInfo

import msgspec

from bot.position.times import (
    format_duration,
    hour_of,
    local_moment,
    parse_duration,
    parse_hour,
    parse_zone,
    zone_of,
)

PaceKind = Literal["none", "each", "daily"]
TimeUpAction = Literal["remind", "orders", "deputy", "pause"]

MIN_PACE, MAX_PACE = 5 * 60, 30 * 86_400  # seconds
MIN_SHORT = 2 * 3600
MAX_BANK = 90 * 86_400
MAX_HOLDOFF = 3600
MIN_NOTICE = timedelta(hours=8)
"""A fixed hour that is nearer than this is left out: the next day's counts."""
MAX_SEGMENTS = 2000  # days and absences that a calculation looks at

EXAMPLES = (
    "`none`, a time for each decision such as `24h`, or a fixed hour such as `daily 20:00 Europe/Berlin`"
)
Interval = tuple[datetime, datetime]


class Pace(msgspec.Struct, frozen=True):
    """What a table has agreed.

    seconds: the allowance of each decision (`each`). hour, zone: the fixed hour (`daily`). bank: seconds of
    the time bank that every player starts with. weekends: whether they count. when_up: what happens when
    the time is up. holdoff: seconds for which a notification waits; None for the default of the service.
    shows_answers: the figures at the end of the game say how fast each player answered. robot_deputies: the
    computer player may play for an absent player.
    """

    kind: PaceKind = "none"
    seconds: int = 0
    hour: str = ""
    zone: str = ""
    bank: int = 0
    weekends: bool = True
    when_up: TimeUpAction = "remind"
    holdoff: int | None = None
    shows_answers: bool = False
    robot_deputies: bool = False

    def __str__(self) -> str:
        """The line that `parse_pace` reads."""
        base = {
            "none": "none", "each": format_duration(self.seconds), "daily": f"daily {self.hour} {self.zone}"
        }[self.kind]  # fmt: skip
        parts = [base]
        if self.bank:
            parts.append(f"bank {format_duration(self.bank)}")
        if not self.weekends:
            parts.append("weekends out")
        if self.when_up != "remind":
            parts.append(f"then {self.when_up}")
        if self.holdoff is not None:
            parts.append(f"hold-off {format_duration(self.holdoff)}")
        if self.shows_answers:
            parts.append("answers shown")
        if self.robot_deputies:
            parts.append("robot deputies")
        return ", ".join(parts)

    def shortened(self) -> Pace:
        """A quarter of the time for each decision, but not less than two hours."""
        return msgspec.structs.replace(self, seconds=max(self.seconds // 4, min(self.seconds, MIN_SHORT)))


NO_PACE = Pace()


def parse_pace(text: str) -> Pace:
    """The pace in a line such as `24h, bank 72h, weekends out, then orders`. Raises ValueError."""
    words = text.replace(",", " ").split()
    if not words:
        raise ValueError(f"The pace is missing; write {EXAMPLES}.")
    pace, rest = _parse_base(words)
    while rest:
        pace, rest = _parse_part(pace, rest)
    if pace.kind == "none" and (pace.bank or not pace.weekends or pace.when_up != "remind"):
        raise ValueError("Without a pace there is no time to run out; name a pace first, such as `24h`.")
    return pace


def _parse_base(words: list[str]) -> tuple[Pace, list[str]]:
    first, rest = words[0].casefold(), words[1:]
    if first == "none":
        return NO_PACE, rest
    if first == "daily":
        if len(rest) < 2:
            raise ValueError("A fixed hour needs a time zone, such as `daily 20:00 Europe/Berlin`.")
        return Pace("daily", hour=parse_hour(rest[0]), zone=parse_zone(rest[1])), rest[2:]
    if not first[:1].isdecimal():
        raise ValueError(f"`{words[0]}` is not a pace; write {EXAMPLES}.")
    taken = 2 if first.isdecimal() and first != "0" and rest and rest[0][:1].casefold() in "mhdw" else 1
    written = " ".join(words[:taken])
    try:
        return Pace("each", parse_duration(written, least=MIN_PACE, most=MAX_PACE)), words[taken:]
    except ValueError as error:
        if "at least" in str(error):
            raise
        raise ValueError(f"`{written}` is not a pace; write {EXAMPLES}.") from None


def _parse_part(pace: Pace, words: list[str]) -> tuple[Pace, list[str]]:
    word, value, rest = words[0].casefold(), words[1] if len(words) > 1 else "", words[2:]
    if word == "bank":
        bank = 0 if value.casefold() == "none" else parse_duration(value, most=MAX_BANK)
        return msgspec.structs.replace(pace, bank=bank), rest
    if word == "weekends" and value.casefold() in ("in", "out"):
        return msgspec.structs.replace(pace, weekends=value.casefold() == "in"), rest
    if word == "then" and value.casefold() in get_args(TimeUpAction):
        return msgspec.structs.replace(pace, when_up=value.casefold()), rest
    if word in ("hold-off", "holdoff"):
        return msgspec.structs.replace(pace, holdoff=parse_duration(value, most=MAX_HOLDOFF)), rest
    if word == "answers" and value.casefold() in ("shown", "hidden"):
        return msgspec.structs.replace(pace, shows_answers=value.casefold() == "shown"), rest
    if word == "robot" and value.casefold() == "deputies":
        return msgspec.structs.replace(pace, robot_deputies=True), rest
    raise ValueError(
        f"`{' '.join(words[:2])}` is not part of a pace; after the time there may be `bank 72h`, "
        "`weekends out`, `then remind`, `then orders`, `then deputy`, `then pause`, `hold-off 2m`, "
        "`answers shown` and `robot deputies`."
    )


def stored_pace(text: str) -> Pace:
    """The pace of a table as it is stored."""
    try:
        return parse_pace(text) if text else NO_PACE
    except ValueError:  # the machine may have lost a time zone
        return NO_PACE


# -- time that counts ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Calendar:
    """Which time counts for a player. zone: in which a weekend begins and ends. absences: do not count."""

    zone: ZoneInfo
    weekends: bool = True
    absences: Sequence[Interval] = ()

    def counts(self, moment: datetime) -> bool:
        """Whether time counts at a moment."""
        if not self.weekends and moment.astimezone(self.zone).weekday() >= 5:
            return False
        return not any(start <= moment < end for start, end in self.absences)

    def segments(self, start: datetime) -> Iterator[tuple[datetime, datetime, bool]]:
        """From a moment on: stretches of at most a day, each with whether it counts."""
        moment = start.astimezone(UTC)
        edges = sorted({edge.astimezone(UTC) for absence in self.absences for edge in absence})
        for _ in range(MAX_SEGMENTS):
            tomorrow = moment.astimezone(self.zone).date() + timedelta(days=1)
            midnight = local_moment(tomorrow, time(), self.zone)
            end = min([midnight, *(edge for edge in edges if edge > moment)])
            yield moment, end, self.counts(moment)
            moment = end


def add_counted(start: datetime, length: timedelta, calendar: Calendar) -> datetime:
    """The moment at which so much time that counts has passed since the start, in UTC."""
    left = length
    end = start
    for begin, end, counts in calendar.segments(start):
        if counts:
            if left <= end - begin:
                return begin + left
            left -= end - begin
    return end


def counted_between(start: datetime, end: datetime, calendar: Calendar) -> timedelta:
    """How much of the time between two moments counts."""
    total = timedelta()
    for begin, until, counts in calendar.segments(start):
        if begin >= end:
            break
        if counts:
            total += min(until, end.astimezone(UTC)) - begin
    return total


def next_fixed_hour(after: datetime, pace: Pace, calendar: Calendar) -> datetime:
    """The first fixed hour of a `daily` pace that is not before a moment and that counts, in UTC."""
    zone, hour = zone_of(pace.zone), hour_of(pace.hour)
    day = after.astimezone(zone).date()
    for _ in range(MAX_SEGMENTS):
        moment = local_moment(day, hour, zone)
        if moment >= after and calendar.counts(moment):
            return moment
        day += timedelta(days=1)
    return after


# -- deadlines -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of the allowance, and when the time bank is empty too."""

    allowance_end: datetime
    time_up: datetime


def calendar_of(pace: Pace, player_zone: str | None, absences: Sequence[Interval] = ()) -> Calendar:
    """Which time counts for a player: weekends are those of the pace's zone, else of the player's."""
    return Calendar(zone_of(pace.zone or player_zone), pace.weekends, tuple(absences))


def deadline(
    pace: Pace, since: datetime, bank: timedelta, calendar: Calendar, *, extended: bool = False
) -> Deadline | None:
    """The deadline of a decision that is open since a moment; None without a pace.

    bank: what is left of the time bank. extended: the player has taken one more allowance.
    """
    if pace.kind == "none":
        return None
    if pace.kind == "each":
        allowance = timedelta(seconds=pace.seconds) * (2 if extended else 1)
        end = add_counted(since, allowance, calendar)
    else:
        end = next_fixed_hour(since + MIN_NOTICE, pace, calendar)
        if extended:
            end = next_fixed_hour(end + timedelta(seconds=1), pace, calendar)
    return Deadline(end, add_counted(end, bank, calendar) if bank else end)


def bank_after(bank: timedelta, due: Deadline | None, answered_at: datetime, calendar: Calendar) -> timedelta:
    """What is left of a time bank after a decision that was made at a moment."""
    if due is None or answered_at <= due.allowance_end:
        return bank
    return max(bank - counted_between(due.allowance_end, answered_at, calendar), timedelta())


def pace_text(pace: Pace) -> str:
    """A pace in a sentence."""
    if pace.kind == "none":
        return "There is no pace: players are reminded, daily at first, and nobody's time runs out."
    actions = {
        "remind": "the player is reminded, daily at first",
        "orders": "the player's orders are played; else the best routes run, the dividend is that of last "
        "time, and the player passes where that costs nothing",
        "deputy": f"the player's deputy decides{', else a robot' * pace.robot_deputies}",
        "pause": "the game is paused",
    }
    fully = " A deputy or robot plays fully: it also buys and sells."
    plays = fully if pace.robot_deputies or pace.when_up == "deputy" else ""
    return f"The pace is {pace}. When a time is up, {actions[pace.when_up]}.{plays}"
