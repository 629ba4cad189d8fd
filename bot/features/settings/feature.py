"""The settings of people in the store: shown, and changed by lines. The commands about oneself: `settings`,
`away`, `back`, and `turns`, which lists what waits.

The answer has controls for the settings that people change most.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

import msgspec

from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, Lines, PersonCommand
from bot.hub.info import AS_TABLE, TableInfo, is_robot_name
from bot.hub.loading import load_recipient
from bot.hub.notifications.messages import turn_collapse_key
from bot.hub.notifications.notify import wanted_channels
from bot.hub.notifications.preferences import (
    CHANNEL_NAMES,
    PersonSettings,
    changed_settings,
    not_quiet,
    preferences_with,
    settings_of,
)
from bot.hub.notifications.waiting import next_digest_at, turns_text, waiting_tables
from bot.hub.pace import stored_pace
from bot.hub.request import QueryAnswer
from bot.hub.seating import robot_deputy
from bot.hub.timers import NUDGE_KIND, PING_KIND, recall
from bot.position.controls import Ask, Choose, Control, Option, Say
from bot.position.times import day_text
from renderers import PaletteName
from storage import ABSENCE_KIND, Person, UnitOfWork

CHANNEL_MISSING = {
    "mail": "You have no confirmed email address; link one first (`/me email` on Discord).",
    "direct": "You have no Discord account here, so there are no direct messages to you.",
}


_ADDRESS = re.compile(r"(?:[^<>@]*<)?([^<>\s]+@[^<>\s]+?)>?")

COMMENTS = {
    "zone": "your time zone, such as Europe/Berlin",
    "quiet": "hours without messages, such as 22:00-07:00",
    "tell": "thread, direct, mail; default is wherever you can be reached",
    "at once": "once a day: digest 08:00",
    "digest": "without one: at once",
    "mail too": "one more message, such as after 12h",
    "next": "on: a message when your turn is next",
    "deputy": "who decides when your time is up",
    "palette": "of pictures: light, dark, as the table",
    "pictures": "on, off",
    "away": "such as until 2026-12-24",
}
"""What the settings are about, by the beginning of their lines. No comment has a word that would qualify a
move: they come back by email (`mail.reading.reply_text`)."""
STOPPED = {
    "tell": "you have stopped emails; `start` by email starts them again, and so does a line with mail"
}


class PersonSettingsService:
    """Reads and changes the settings of people, and carries out lines about one's own. Every error is a
    ValueError with one sentence."""

    def __init__(self, cache: TableCache) -> None:
        self._cache, self._store = cache, cache.store

    def commands(self) -> list[Command]:
        """`turns`, `settings`, `away`, `back`."""
        list_turns = Form("turns", "every table that waits for you, the most urgent first")
        own = Form(
            "settings [TEXT]", "how you are told: channels, digest, quiet hours, time zone", "settings",
            pattern=r"settings(?: [^?]{1,80})?",
        )  # fmt: skip
        away = Form(
            "away until DATE", "you are away; `away until DATE deputy NAME`, `back`",
            pattern=r"away (?:until|from|off).{0,60}",
        )  # fmt: skip
        return [
            PersonCommand("turns", (list_turns,), self._turns, Lines.NONE),
            PersonCommand("settings", (own,), self._change),
            PersonCommand("away", (away,), self._change),
            PersonCommand("back", (Form("back"),), self._change),
        ]

    async def _turns(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        return QueryAnswer("turns", await self.turns(person_id))

    async def _change(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        """Change settings, or show them with the controls that change them."""
        text = await self.apply(person_id, lines)
        is_change = any(map(without_word, lines))
        now = [without_word(line) for line in text.splitlines()]
        return QueryAnswer("settings", text, controls=() if is_change else settings_controls(now))

    async def settings(self, person_id: int) -> PersonSettings:
        """The settings of a person. Raises NotFound."""
        async with self._store.read() as unit:
            return await _load(unit, person_id)

    async def palette(self, table: TableInfo, person_id: int | None) -> PaletteName | None:
        """In which palette a person sees pictures of a table, None for one who wants none. person_id: None is
        everybody."""
        if person_id is None:
            return table.palette
        own = await self.settings(person_id)
        return (own.palette or table.palette) if own.pictures else None

    async def show(self, person_id: int) -> str:
        """The settings of a person as lines that set them, each with what it is about."""
        async with self._store.read() as unit:
            person = await unit.people.get(person_id)
        lines = settings_of(person.preferences, person.time_zone).lines(self._store.now())
        comments = COMMENTS if person.preferences.get("mail") is not False else COMMENTS | STOPPED
        return "\n".join(f"settings {line}{_comment(line, comments)}" for line in lines)

    async def turns(self, person_id: int) -> str:
        """What waits for a person, the most urgent first."""
        async with self._store.read() as unit:
            waiting = await waiting_tables(unit, person_id)
            return turns_text(waiting, unit.now, await _load(unit, person_id))

    async def apply(self, person_id: int, lines: Sequence[str]) -> str:
        """Change settings by lines, all of them or none; what holds now. Without a line: all settings.

        A line may begin with `settings`. Raises ValueError.
        """
        plain = [text for line in lines if (text := without_word(line))]
        if not plain:
            return await self.show(person_id)
        async with self._store.begin() as unit:
            person = await unit.people.get(person_id)
            settings = former = settings_of(person.preferences, person.time_zone)
            for line in plain:
                settings = changed_settings(settings, line, unit.now)
            tables = await unit.tables.for_person(person_id)
            known = former.tables.keys() | {table.code for table, _ in tables}
            if unknown := [code for code in settings.tables if code not in known]:
                raise ValueError(f"You are at no table {unknown[0]}; `list` names your tables.")
            settings = await self._with_deputies(unit, person, settings)
            if former.deputy_id is not None and former.deputy_id != settings.deputy_id:
                for table, seat in tables:
                    await unit.clocks.take_back_decision(table.id, seat.number or 0, former.deputy_id)
            named = _named_channels(plain)
            await self._check_channels(unit, person_id, named)
            preferences = preferences_with(person.preferences, settings)
            if "mail" in named:
                preferences |= {"mail": True}
            await unit.people.update(person_id, preferences=preferences, time_zone=settings.zone)
            await self._set_timers(unit, person_id, settings)
            await self._tell_what_waits(unit, person_id, former, settings)
            await unit.clocks.look_again_for(person_id)
        self._cache.wake_subscribers()
        return "\n".join(_confirmation(settings, line, self._store.now()) for line in plain)

    async def _with_deputies(
        self, unit: UnitOfWork, person: Person, settings: PersonSettings
    ) -> PersonSettings:
        """The settings with the people whom the names of deputies mean."""
        replace = msgspec.structs.replace
        if settings.deputy and settings.deputy_id is None:
            deputy = await self._find_deputy(unit, person, settings.deputy)
            settings = replace(settings, deputy=deputy.name, deputy_id=deputy.id)
        absence = settings.absence
        if absence and absence.deputy and absence.deputy_id is None:
            deputy = await self._find_deputy(unit, person, absence.deputy)
            absence = replace(absence, deputy=deputy.name, deputy_id=deputy.id)
            settings = replace(settings, absence=absence)
        return settings

    async def _find_deputy(self, unit: UnitOfWork, person: Person, name: str) -> Person:
        """The person whom a name, an address, both (`Dora <dora@example.org>`) or a mention means. Raises
        ValueError."""
        found: list[Person] = []
        if is_robot_name(name):
            return await _robot_deputy(unit, person)
        if mention := re.fullmatch(r"<@!?(\d+)>", name):
            known = await unit.people.find_by_identity("discord", mention[1])
            found = [known] if known else []
        elif address := _ADDRESS.fullmatch(name):
            known = await unit.people.find_by_identity("email", address[1])
            found = [known] if known else []
        else:
            found = await unit.people.by_name(name)
        others = [each for each in found if each.id != person.id]
        if not others:
            reason = "You cannot be your own deputy." if found else f"Nobody here is called {name}."
            raise ValueError(f"{reason} Name somebody who plays here, or give their email address.")
        if len(others) > 1:
            raise ValueError(f"Several people are called {name}; give the email address of the one you mean.")
        for table, _ in await unit.tables.for_person(person.id):
            if table.status in ("running", "paused") and others[0].id in {
                seat.person_id for seat in await unit.tables.seats(table.id)
            }:
                raise ValueError(f"{name} plays at table {table.code} too; a deputy has to be somebody else.")
        return others[0]

    async def _check_channels(self, unit: UnitOfWork, person_id: int, named: Collection[str]) -> None:
        """Raises ValueError for a channel on which the person cannot be reached."""
        identities = await unit.people.identities(person_id)
        possible = {"thread"} | {
            {"discord": "direct", "email": "mail"}[each.kind] for each in identities if each.verified_at
        }
        for channel in named:
            if channel not in possible:
                raise ValueError(CHANNEL_MISSING[channel])

    async def _set_timers(self, unit: UnitOfWork, person_id: int, settings: PersonSettings) -> None:
        """When the next digest is due, and the begin or the end of an absence."""
        digest, absence = f"digest.{person_id}", f"absence.{person_id}"
        if settings.wants_digest:
            at = next_digest_at(settings, unit.now)
            await unit.clocks.set_due(digest, "digest", at, person_id=person_id)
        else:
            await unit.clocks.delete_due(digest)
        if settings.absence is None:
            await unit.clocks.delete_due(absence)
        else:
            at = settings.absence.next_change(settings.zone, unit.now)
            await unit.clocks.set_due(absence, ABSENCE_KIND, at, person_id=person_id)

    @staticmethod
    async def _tell_what_waits(
        unit: UnitOfWork, person_id: int, former: PersonSettings, settings: PersonSettings
    ) -> None:
        """What waits for the end of quiet hours that are others now, for a digest that does not come, or to
        go where the person is not told any more, is told at its new time and in the new way."""
        if former.quiet_hours != settings.quiet_hours:
            await unit.outbox.hasten_held(f"user:{person_id}", f"mail:{person_id}")
        if (former.tell, former.tables) == (settings.tell, settings.tables):
            return
        last_digest = next_digest_at(former, unit.now) - timedelta(days=1)
        now = await load_recipient(unit, person_id, None)
        before, at = replace(now, settings=former), not_quiet(unit.now, settings.quiet_hours)
        for each in await waiting_tables(unit, person_id):
            table, clock = each.table, each.clock
            if clock is None or clock.since is None:
                continue
            is_ended = former.for_table(table.code).digest and not settings.for_table(table.code).digest
            if is_ended and clock.since > last_digest:
                await recall(unit, NUDGE_KIND, clock, at)
            channels = wanted_channels(table, now)
            for channel in {"user", "mail"} - channels:
                key = turn_collapse_key(table.id, each.seat, channel)
                if held := await unit.outbox.pending_with_collapse_key(key):
                    await unit.outbox.mark_sent(held.idempotency_key)
                    if not channels & wanted_channels(table, before):
                        await recall(unit, PING_KIND, clock, at)


_NAMES_CHANNELS = re.compile(r"(?:for \S+ )?(?:tell (.+)|(\S+) too after .+)", re.IGNORECASE)


def _named_channels(lines: Sequence[str]) -> list[str]:
    """The channels on which lines say that a person wants to be told."""
    found = filter(None, map(_NAMES_CHANNELS.fullmatch, lines))
    words = " ".join(match[1] or match[2] for match in found).casefold()
    return [channel for channel in CHANNEL_NAMES if channel in words]


async def _robot_deputy(unit: UnitOfWork, person: Person) -> Person:
    """The computer player as a deputy; it sits at no table. Raises ValueError where no table has agreed."""
    tables = [table for table, _ in await unit.tables.for_person(person.id)]
    if not any(stored_pace(t.pace).robot_deputies for t in tables if t.status in ("running", "paused")):
        raise ValueError("None of your tables has agreed to robots as deputies: `pace 24h, robot deputies`.")
    return await robot_deputy(unit)


async def _load(unit: UnitOfWork, person_id: int) -> PersonSettings:
    person = await unit.people.get(person_id)
    return settings_of(person.preferences, person.time_zone)


def without_word(line: str) -> str:
    """A line of settings without the word `settings` and without its comment."""
    first, _, rest = " ".join(line.partition("#")[0].split()).partition(" ")
    return rest if first.casefold() == "settings" else f"{first} {rest}".strip()


def _comment(line: str, comments: Mapping[str, str]) -> str:
    """What a line of settings is about, behind a `#`."""
    return next((f"  # {text}" for start, text in comments.items() if line.startswith(start)), "")


def _confirmation(settings: PersonSettings, line: str, now: datetime) -> str:
    """What holds after a line, in a sentence."""
    words = line.casefold().split()
    if words[0] in ("away", "back"):
        absence = settings.absence
        if absence is None or settings.is_over(now):
            return "You are back: tables wait for you again."
        if absence.deputy_id is not None:
            return f"You are away until {back_on_text(settings)}. {absence.deputy} plays for you until then."
        return f"You are away until {back_on_text(settings)}. Your time does not run until then."
    if words[0] == "deputy":
        if not settings.deputy:
            return "You have no deputy."
        return f"{settings.deputy} decides for you when your time is up, at tables that have agreed to that."
    if words[:1] == ["for"]:
        return f"For table {words[1].upper()}: {' '.join(words[2:])}."
    return f"Set: {line}."


def back_on_text(settings: PersonSettings) -> str:
    """The day on which an absent person is back."""
    return day_text(date.fromisoformat(settings.absence.back_on)) if settings.absence else ""


FORMS = (
    ("Time zone", "zone ", "Europe/Berlin"),
    ("Quiet hours", "quiet ", "22:00-07:00, or off"),
    ("Away until", "away until ", "2026-12-24, or 2026-12-24 deputy Dora"),
    ("Daily digest at", "digest ", "08:00"),
    ("Deputy", "deputy ", "Dora, or off"),
    ("A line of settings", "", "for ABC tell mail; mail too after 12h"),
)
CHANNELS = (
    ("Wherever I can be reached", "tell default"),
    ("In the thread", "tell thread"),
    ("By direct message", "tell direct"),
    ("By email", "tell mail"),
    ("In the thread and by email", "tell thread, mail"),
    ("By direct message and email", "tell direct, mail"),
    ("In the thread, by direct message and email", "tell thread, direct, mail"),
)
TIMES = (
    ("At once", "at once"),
    ("Once a day", "digest"),
    ("Email too after 6 hours", "mail too after 6h"),
    ("Email too after 12 hours", "mail too after 12h"),
    ("Email too after a day", "mail too after 24h"),
    ("No other channel later", "mail too off"),
)
PICTURES = (
    ("Light pictures", "palette light"),
    ("Dark pictures", "palette dark"),
    ("Pictures as each table has them", f"palette {AS_TABLE}"),
    ("No pictures", "pictures off"),
    ("Pictures again", "pictures on"),
)


def settings_controls(now: Collection[str]) -> tuple[Control, ...]:
    """The controls of a person's settings. now: as they are, as lines without the word `settings`."""
    is_away = any(line.startswith("away ") and line != "away off" for line in now)
    others = [
        ("Do not say when I am next", "next off") if "next on" in now else ("Say when I am next", "next on"),
        *(each for each in PICTURES if each[1] not in now),
        *([("I am back", "back")] if is_away else []),
        *([("No quiet hours", "quiet off")] if "quiet off" not in now else []),
    ]
    return (
        _choose("Where you are told", CHANNELS),
        _choose("When you are told", TIMES),
        *(Ask(label, f"settings {start}", example) for label, start, example in FORMS),
        *(Say(label, f"settings {line}", "first" if line == "back" else "") for label, line in others),
    )


def _choose(label: str, lines: Collection[tuple[str, str]]) -> Choose:
    return Choose(label, tuple(Option(option, f"settings {line}") for option, line in lines))
