"""`/me settings`: the settings of a person as one private card, and `/me turns`, the same as the digest.

Everything that the card does is a line of settings, the same as by mail and in the terminal. A control holds
its line; one that asks for something opens a form with one field, and what is entered is put behind the
beginning of the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bot.discord.cards import layouts
from bot.discord.cards import parts as message_parts
from bot.discord.cards.parts import PRIMARY, SECONDARY, Json
from bot.discord.controls.controls import ENTER_LINE, SELECT, SETTING, CustomId, MenuItem
from bot.hub.info import AS_TABLE
from bot.hub.waiting import WaitingTable

ASK = "?"
"""Begins the argument of a control that opens a form."""


class Form(NamedTuple):
    """A form of one field. start: the beginning of the line that is made of it."""

    label: str
    start: str
    example: str


FORMS = {
    "zone": Form("Time zone", "zone ", "Europe/Berlin"),
    "quiet": Form("Quiet hours", "quiet ", "22:00-07:00, or off"),
    "away": Form("Away until", "away until ", "2026-12-24, or 2026-12-24 deputy Dora"),
    "digest": Form("Daily digest at", "digest ", "08:00"),
    "deputy": Form("Deputy", "deputy ", "Dora, or off"),
    "line": Form("A line of settings", "", "for ABC tell mail; mail too after 12h"),
}

CHANNEL_LINES = (
    ("Wherever I can be reached", "tell default"),
    ("In the thread", "tell thread"),
    ("By direct message", "tell direct"),
    ("By email", "tell mail"),
    ("In the thread and by email", "tell thread, mail"),
    ("By direct message and email", "tell direct, mail"),
    ("In the thread, by direct message and email", "tell thread, direct, mail"),
)
TIME_LINES = (
    ("At once", "at once"),
    ("Once a day", "digest"),
    ("Email too after 6 hours", "mail too after 6h"),
    ("Email too after 12 hours", "mail too after 12h"),
    ("Email too after a day", "mail too after 24h"),
    ("No other channel later", "mail too off"),
)
PALETTE_LINES = (
    ("Light pictures", "palette light"),
    ("Dark pictures", "palette dark"),
    ("Pictures as each table has them", f"palette {AS_TABLE}"),
    ("No pictures", "pictures off"),
    ("Pictures again", "pictures on"),
)


def _control(argument: str) -> str:
    return str(CustomId(0, None, None, SETTING, argument))


def settings_card(lines: Sequence[str], said: str = "") -> list[Json]:
    """The settings of a person, with controls. lines: as they are stored. said: what has just changed."""
    selects = [
        message_parts.select_row(
            str(CustomId(0, None, None, SELECT, f"{number}")),
            placeholder,
            [MenuItem(label, line, SETTING, line) for label, line in options],
        )
        for number, (placeholder, options) in enumerate(
            (("Where you are told", CHANNEL_LINES), ("When you are told", TIME_LINES))
        )
    ]
    forms = [message_parts.button(f"{form.label}…", _control(f"{ASK}{name}")) for name, form in FORMS.items()]
    if "next on" in lines:
        others = [message_parts.button("Do not say when I am next", _control("next off"))]
    else:
        others = [message_parts.button("Say when I am next", _control("next on"))]
    others += [
        message_parts.button(label, _control(line)) for label, line in PALETTE_LINES if line not in lines
    ]
    if any(line.startswith("away ") and line != "away off" for line in lines):
        others.append(message_parts.button("I am back", _control("back"), PRIMARY))
    if "quiet off" not in lines:
        others.append(message_parts.button("No quiet hours", _control("quiet off"), SECONDARY))
    text = "\n".join(["**Your settings**", *(f"`{line}`" for line in lines)])
    head = [message_parts.text_display(said)] if said else []
    controls = message_parts.action_rows([*forms, *others])
    return [*head, message_parts.container([message_parts.text_display(text), *selects, *controls])]


def form_of(argument: str) -> Form | None:
    """The form that a control opens, if it opens one."""
    return FORMS.get(argument.removeprefix(ASK)) if argument.startswith(ASK) else None


def form_modal(argument: str, form: Form) -> Json:
    """A form as a modal."""
    field = {
        "type": 4, "custom_id": "line", "style": 1, "required": True, "max_length": 100,
        "placeholder": form.example,
    }  # fmt: skip
    label = {"type": 18, "label": form.label, "component": field}
    return {"title": "Settings", "custom_id": _control(argument), "components": [label]}


def lines_of(argument: str, entered: str | None) -> list[str]:
    """The lines of settings of a control, or of a form in which something was entered."""
    form = form_of(argument)
    if form is None or entered is None:
        return [argument]
    return [f"{form.start}{part.strip()}" for part in entered.split(";") if part.strip()]


# -- what waits ------------------------------------------------------------------------------


class WaitingEntry(NamedTuple):
    """A table that waits for the reader. text: what it waits for. decision_id: that is answered from here.
    link: to its card, if there is one."""

    waiting: WaitingTable
    text: str
    decision_id: str | None
    link: str | None


MAX_ENTRIES = 8
MAX_TEXT = 3600  # characters of all entries


def turns_card(entries: Sequence[WaitingEntry]) -> list[Json]:
    """Every table that waits for the reader, the most urgent first, each with a button to answer."""
    if not entries:
        return [message_parts.text_display("No table waits for you.")]
    parts: list[Json] = []
    limit = MAX_TEXT // min(len(entries), MAX_ENTRIES)
    for entry in entries[:MAX_ENTRIES]:
        table = entry.waiting.table
        link = f"\n[The card]({entry.link})" if entry.link else ""
        parts.append(message_parts.text_display(f"{entry.text}{link}", limit))
        if entry.waiting.poll_id:
            parts += message_parts.action_rows(layouts.vote_buttons(table.id, entry.waiting.poll_id))
        elif entry.decision_id:
            custom_id = CustomId(table.id, entry.waiting.seat, entry.decision_id, ENTER_LINE)
            parts += message_parts.action_rows(
                [message_parts.button(f"Answer at {table.code}…", str(custom_id), PRIMARY)]
            )
    if len(entries) > MAX_ENTRIES:
        parts.append(message_parts.text_display(f"… and {len(entries) - MAX_ENTRIES} more."))
    return [message_parts.container(parts)]
