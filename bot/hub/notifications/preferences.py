"""The settings of a person: time zone, quiet hours, channels, digest, escalation, absence (pure).

The settings are lines, the same by Discord, mail and terminal; `settings` shows them, and each can be sent
back changed:

    settings zone Europe/Berlin
    settings quiet 22:00-07:00
    settings tell thread, mail
    settings digest 08:00
    settings mail too after 12h
    settings next on
    settings deputy Dora
    settings palette dark
    settings pictures off
    settings away until 2026-12-24 deputy Dora
    settings for ABC tell mail

`tell`, `digest`, `at once`, `… too after` and `next` can be set for one table, by its code after `for`. What
is not set for a table is as for all tables.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import replace

from bot.hub.info import AS_TABLE, is_robot_name, parse_own_palette
from bot.hub.pace import Interval
from bot.position.times import (
    day_text,
    format_duration,
    hour_of,
    local_moment,
    parse_date,
    parse_duration,
    parse_hour,
    parse_quiet_hours,
    parse_zone,
    zone_of,
)
from renderers import PaletteName

PersonalChannel = Literal["thread", "direct", "mail"]
CHANNEL_NAMES: tuple[str, ...] = get_args(PersonalChannel)
CHANNELS = {"thread": "table", "direct": "user", "mail": "mail"}
"""Of a route (`notify.Route`), by the name that people write."""
MAX_ABSENCE = timedelta(days=366)
DEFAULT_DIGEST_HOUR = "08:00"
TABLE_LINES = "`tell`, `at once`, `digest`, `mail too after 12h` and `next`"
SETTINGS_HELP = (
    "`zone Europe/Berlin`, `quiet 22:00-07:00`, `tell thread, direct, mail`, `at once`, `digest 08:00`, "
    "`mail too after 12h`, `next on`, `deputy Dora`, `palette dark`, `pictures off`, "
    "`away until 2026-12-24` or `for ABC tell mail`"
)


class TellSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a person is told, of all tables or of one; None is as for all tables, or the default.

    channels: where. digest: once a day instead of at once. escalation: one more channel, for what waits so
    many seconds (`escalation_after`); an empty text for none. next: whether they are told that they are next.
    """

    channels: tuple[PersonalChannel, ...] | None = None
    digest: bool | None = None
    escalation: str | None = None
    escalation_after: int = 0
    next: bool | None = None

    def over(self, general: TellSettings) -> TellSettings:
        """These settings, with those for all tables where nothing is set here."""
        escalates = self if self.escalation is not None else general
        return TellSettings(
            general.channels if self.channels is None else self.channels,
            general.digest if self.digest is None else self.digest,
            escalates.escalation, escalates.escalation_after,
            general.next if self.next is None else self.next,
        )  # fmt: skip

    def lines(self) -> list[str]:
        """The lines that set these settings."""
        lines = []
        if self.channels is not None:
            lines.append(f"tell {', '.join(self.channels)}")
        if self.digest is not None:
            lines.append("digest" if self.digest else "at once")
        if self.escalation:
            lines.append(f"{self.escalation} too after {format_duration(self.escalation_after)}")
        elif self.escalation is not None:
            lines.append("mail too off")
        if self.next is not None:
            lines.append(f"next {'on' if self.next else 'off'}")
        return lines


FAR_AWAY = datetime(9000, 1, 1, tzinfo=UTC)
"""When a timer is due that is to happen no more: it stays stored, as the time may be set back."""


class Absence(msgspec.Struct, frozen=True):
    """A person is away, from the start of one local day to the start of another (ISO dates).

    since, until: the moments from which and to which it holds, if that is less. deputy: who plays for them,
    if anybody.
    """

    first_day: str
    back_on: str
    since: str = ""
    deputy: str = ""
    deputy_id: int | None = None
    until: str = ""

    def interval(self, zone_name: str | None) -> Interval:
        """From when to when, in UTC."""
        zone = zone_of(zone_name)
        start = local_moment(date.fromisoformat(self.first_day), time(), zone)
        if self.since:
            start = max(start, datetime.fromisoformat(self.since))
        end = local_moment(date.fromisoformat(self.back_on), time(), zone)
        if self.until:
            end = max(min(end, datetime.fromisoformat(self.until)), start)
        return start, end

    def next_change(self, zone_name: str | None, now: datetime) -> datetime:
        """When it begins or ends next. After its end that is never, unless the time is set back."""
        return next((at for at in self.interval(zone_name) if at > now), FAR_AWAY)

    @property
    def line(self) -> str:
        """The line that sets it."""
        first = f"from {self.first_day} " if not self.since else ""
        return f"away {first}until {self.back_on}" + (f" deputy {self.deputy}" if self.deputy else "")


class PersonSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """All settings of a person. quiet: `22:00-07:00`. digest_hour: local. deputy: who plays for them when
    their time is up, where the table has agreed to that. tables: by the code of a table. palette: the colours
    of pictures that only they get; None for those of each table. pictures: whether they get any."""

    zone: str | None = None
    quiet: str = ""
    digest_hour: str = DEFAULT_DIGEST_HOUR
    tell: TellSettings = TellSettings()
    tables: dict[str, TellSettings] = {}
    deputy: str = ""
    deputy_id: int | None = None
    absence: Absence | None = None
    palette: PaletteName | None = None
    pictures: bool = True

    def for_table(self, code: str) -> TellSettings:
        """How they are told of a table."""
        return self.tables.get(code, TellSettings()).over(self.tell)

    def is_told_by_mail_alone(self, code: str) -> bool:
        """Whether email is the only channel that they have chosen for a table."""
        return self.for_table(code).channels == ("mail",)

    @property
    def quiet_hours(self) -> QuietHours | None:
        """Their quiet hours."""
        start, _, end = self.quiet.partition("-")
        return QuietHours(hour_of(start), hour_of(end), zone_of(self.zone)) if self.quiet else None

    def absences(self) -> list[Interval]:
        """When they are away and nobody plays for them: this time does not count."""
        return [self.absence.interval(self.zone)] if self.absence and self.absence.deputy_id is None else []

    def at_table(self, players: Collection[int], *, robot_deputies: bool) -> PersonSettings:
        """What holds at a table: one of its players is no deputy there, nor is the computer player where it
        was not agreed; then an absence has none."""
        absence = self.absence
        if absence is None or absence.deputy_id is None:
            return self
        if absence.deputy_id not in players and (robot_deputies or not is_robot_name(absence.deputy)):
            return self
        return replace(self, absence=replace(absence, deputy="", deputy_id=None))

    def is_away(self, now: datetime) -> bool:
        """Whether they are away at a moment, with a deputy or without."""
        if self.absence is None:
            return False
        start, end = self.absence.interval(self.zone)
        return start <= now < end

    def ending_absence(self, now: datetime) -> PersonSettings:
        """The settings of a person who is back; the time of their absence still does not count."""
        if not self.is_away(now) or self.absence is None:
            return self if self.absence is None or self.is_over(now) else replace(self, absence=None)
        return replace(self, absence=replace(self.absence, until=now.astimezone(UTC).isoformat()))

    def is_over(self, now: datetime) -> bool:
        """Whether the last absence is over."""
        return self.absence is None or self.absence.interval(self.zone)[1] <= now

    @property
    def wants_digest(self) -> bool:
        """Whether any table is told by the daily digest."""
        return bool(self.tell.digest) or any(tell.digest for tell in self.tables.values())

    def lines(self, now: datetime) -> list[str]:
        """The settings as lines; those that are not set are shown with their default."""
        tell = self.tell
        default = TellSettings(digest=False, escalation="", next=False)
        shown = tell.over(default).lines()
        if tell.channels is None:
            shown.insert(0, "tell default")
        lines = [
            f"zone {self.zone or 'UTC'}",
            f"quiet {self.quiet or 'off'}",
            *(f"digest {self.digest_hour}" if line == "digest" else line for line in shown),
            f"deputy {self.deputy or 'off'}",
            f"palette {self.palette or AS_TABLE}",
            f"pictures {'on' if self.pictures else 'off'}",
            self.absence.line if self.absence and not self.is_over(now) else "away off",
        ]
        return lines + [f"for {code} {line}" for code, own in self.tables.items() for line in own.lines()]


PREFERENCES_KEY = "settings"


DEFAULT_SETTINGS = PersonSettings()


def settings_of(preferences: dict[str, Any], zone: str | None) -> PersonSettings:
    """The settings in the preferences of a person. zone: the time zone of the person."""
    raw = preferences.get(PREFERENCES_KEY)
    if not raw and zone is None:
        return DEFAULT_SETTINGS
    raw = raw or {}
    return replace(msgspec.convert(raw, PersonSettings), zone=zone)


def preferences_with(preferences: dict[str, Any], settings: PersonSettings) -> dict[str, Any]:
    """The preferences with these settings; the time zone is stored elsewhere."""
    raw = msgspec.to_builtins(replace(settings, zone=None))
    return preferences | {PREFERENCES_KEY: raw}


def with_deputy(preferences: Any, former: int, deputy: int | None) -> Any:
    """Preferences in which another person is the deputy in the place of one; None for nobody."""
    if not isinstance(preferences, dict):
        return preferences
    if preferences.get("deputy_id") == former:
        preferences = preferences | {"deputy_id": deputy} | ({} if deputy else {"deputy": ""})
    return {key: with_deputy(each, former, deputy) for key, each in preferences.items()}


def deputies_in(preferences: Any) -> set[int]:
    """The ids of the people whom preferences name as deputies."""
    if not isinstance(preferences, dict):
        return set()
    own = {preferences["deputy_id"]} if preferences.get("deputy_id") else set()
    return own.union(*map(deputies_in, preferences.values()))


# -- lines -----------------------------------------------------------------------------------


def changed_settings(settings: PersonSettings, line: str, now: datetime) -> PersonSettings:
    """The settings after a line, without the word `settings`. Raises ValueError with one sentence.

    A deputy is only a name here; the service finds the person.
    """
    word, _, rest = " ".join(line.split()).partition(" ")
    match word.casefold():
        case "zone":
            return replace(settings, zone=parse_zone(rest))
        case zone if "/" in zone:  # `Europe/Berlin 22:00-07:00`
            settings = replace(settings, zone=parse_zone(word))
            return replace(settings, quiet=parse_quiet_hours(rest)) if rest else settings
        case "quiet":
            return _with_quiet_hours(settings, rest)
        case "deputy":
            name = "" if rest.casefold() in ("off", "none") else rest
            if not rest:
                raise ValueError("Name the deputy, such as `deputy Dora`, or write `deputy off`.")
            return replace(settings, deputy=name, deputy_id=None)
        case "away":
            absence = parse_absence(rest, settings.zone, now)
            return replace(settings, absence=absence) if absence else settings.ending_absence(now)
        case "back":
            return settings.ending_absence(now)
        case "palette":
            return replace(settings, palette=parse_own_palette(rest))
        case "pictures" if rest.casefold() in ("on", "off"):
            return replace(settings, pictures=rest.casefold() == "on")
        case "for":
            return _for_one_table(settings, rest)
        case "digest" if rest and rest.casefold() not in ("on", "off"):
            hour = parse_hour(rest)
            return replace(settings, digest_hour=hour, tell=replace(settings.tell, digest=True))
    return replace(settings, tell=_changed_tell(settings.tell, line))


def _with_quiet_hours(settings: PersonSettings, rest: str) -> PersonSettings:
    """Hours, with a time zone before or behind them or without one."""
    first, _, others = rest.partition(" ")
    before, _, last = rest.rpartition(" ")
    for zone, hours in ((first, others), (last, before)):
        is_beside_span = not zone[:1].isdigit() and re.fullmatch(r"[\d:]+ ?[–-] ?[\d:]+", hours)
        if hours and ("/" in zone or is_beside_span):
            return replace(settings, zone=parse_zone(zone), quiet=parse_quiet_hours(hours))
    return replace(settings, quiet=parse_quiet_hours(rest))


def _for_one_table(settings: PersonSettings, rest: str) -> PersonSettings:
    code, _, line = rest.partition(" ")
    code = code.upper()
    if not code or not line:
        raise ValueError("Name the table and the setting, such as `for ABC tell mail` or `for ABC default`.")
    tables = {key: tell for key, tell in settings.tables.items() if key != code}
    if line.casefold() != "default":
        tables[code] = _changed_tell(settings.tables.get(code, TellSettings()), line, one_table=True)
    return replace(settings, tables=tables)


def _changed_tell(tell: TellSettings, line: str, *, one_table: bool = False) -> TellSettings:
    words = line.replace(",", " ").casefold().split() or [""]
    match words:
        case ["tell", *names] if names:
            return replace(tell, channels=_parse_channels(names))
        case ["at", "once"] | ["digest", "off"]:
            return replace(tell, digest=False)
        case ["digest"] | ["digest", "on"]:
            return replace(tell, digest=True)
        case ["next", ("on" | "off") as state]:
            return replace(tell, next=state == "on")
        case [_, "too", "off"]:
            return replace(tell, escalation="", escalation_after=0)
        case [channel, "too", "after", *length] if channel in CHANNEL_NAMES:
            seconds = parse_duration(" ".join(length), least=600, most=7 * 86_400)
            return replace(tell, escalation=channel, escalation_after=seconds)
        case [channel, "too", *_]:
            raise ValueError(f"`{channel}` is not a channel; write one such as `mail too after 12h`.")
    known = TABLE_LINES if one_table else SETTINGS_HELP
    raise ValueError(f"`{line.strip() or 'nothing'}` is not a setting; there is {known}.")


def _parse_channels(names: Sequence[str]) -> tuple[PersonalChannel, ...] | None:
    if names == ["default"]:
        return None
    for name in names:
        if name not in CHANNEL_NAMES:
            raise ValueError(f"`{name}` is not a channel; there are `thread`, `direct` and `mail`.")
    return tuple(msgspec.convert(name, PersonalChannel) for name in CHANNEL_NAMES if name in names)


_ABSENCE = re.compile(r"(?:from (\S+) )?until (\S+)(?: deputy (.+))?", re.IGNORECASE)


def parse_absence(text: str, zone_name: str | None, now: datetime) -> Absence | None:
    """The absence in `[from DATE] until DATE [deputy NAME]`, None for `off`. The player is back on the date
    after `until`. Raises ValueError."""
    plain = " ".join(text.split())
    if plain.casefold() in ("off", "none"):
        return None
    match = _ABSENCE.fullmatch(plain)
    if match is None:
        raise ValueError(
            "Write until when, such as `away until 2026-12-24` or `away until 2026-12-24 deputy Dora`."
        )
    today = now.astimezone(zone_of(zone_name)).date()
    first, back_on = parse_date(match[1]) if match[1] else today, parse_date(match[2])
    if back_on <= max(first, today):
        raise ValueError(
            f"`{match[2]}` is not after {day_text(max(first, today))}; write the day on which you are back."
        )
    if back_on - today > MAX_ABSENCE:
        raise ValueError(f"`{match[2]}` is more than a year away; give up the seat with `resign` instead.")
    since = now.astimezone(UTC).isoformat() if first <= today else ""
    return Absence(first.isoformat(), back_on.isoformat(), since, match[3] or "")


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Hours in which a person is not disturbed, in their time zone. start, end: local times of day."""

    start: time
    end: time
    zone: ZoneInfo

    def contain(self, moment: datetime) -> bool:
        """Whether a moment is in the quiet hours."""
        local = moment.astimezone(self.zone).time()
        if self.start < self.end:
            return self.start <= local < self.end
        return local >= self.start or local < self.end

    def end_after(self, moment: datetime) -> datetime:
        """When the quiet hours that contain a moment end."""
        return next(end for end in self._moments(self.end, moment, +1) if end > moment)

    def start_before(self, moment: datetime) -> datetime:
        """When the quiet hours that contain a moment began."""
        return next(start for start in self._moments(self.start, moment, -1) if start <= moment)

    def _moments(self, hour: time, moment: datetime, step: int) -> Iterator[datetime]:
        """When a clock shows an hour on the day of a moment, and on the days after or before. A change of
        summer time may show it twice; one that it leaves out is also so much earlier."""
        day = moment.astimezone(self.zone).date()
        for offset in range(3):
            for fold in (0, 1)[::step]:
                yield local_moment(day + timedelta(days=step * offset), hour.replace(fold=fold), self.zone)

    def intervals(self, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
        """The quiet hours between two moments."""
        day = start.astimezone(self.zone).date() - timedelta(days=1)
        while (begin := local_moment(day, self.start, self.zone)) < end:
            yield begin, self.end_after(begin)
            day += timedelta(days=1)


def not_quiet(moment: datetime, quiet: QuietHours | None, *, before: datetime | None = None) -> datetime:
    """A moment, moved out of the quiet hours: to their end, or to a minute before their start if their end
    is not before `before`."""
    if quiet is None or not quiet.contain(moment):
        return moment
    end = quiet.end_after(moment)
    if before is not None and end >= before:
        return quiet.start_before(moment) - timedelta(minutes=1)
    return end
