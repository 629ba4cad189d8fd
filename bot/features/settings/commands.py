"""Commands about oneself: `settings`, `away`, `back`, and `turns`, which lists what waits.

The answer has controls for the settings that people change most.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.features.settings.feature import PersonSettingsService, without_word
from bot.hub.command import Command, Form, Lines, PersonCommand
from bot.hub.info import AS_TABLE
from bot.hub.request import QueryAnswer
from bot.position.controls import Ask, Choose, Control, Option, Say

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


class SettingsCommands:
    """Carries out lines about a person's own settings."""

    def __init__(self, settings: PersonSettingsService) -> None:
        self._settings = settings

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
        return QueryAnswer("turns", await self._settings.turns(person_id))

    async def _change(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        """Change settings, or show them with the controls that change them."""
        text = await self._settings.apply(person_id, lines)
        is_change = any(map(without_word, lines))
        now = [without_word(line) for line in text.splitlines()]
        return QueryAnswer("settings", text, controls=() if is_change else settings_controls(now))
