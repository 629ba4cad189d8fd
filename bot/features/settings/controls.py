"""What people change most in their settings, as controls."""

from __future__ import annotations

from collections.abc import Collection

from bot.hub.info import AS_TABLE
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
