"""`/me turns`: every table that waits for a person as one card, the same as the digest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bot.discord.cards.parts import PRIMARY, Json, action_rows, button, container, text_display
from bot.discord.controls.controls import ENTER_LINE, CustomId
from bot.discord.controls.page_controls import added_buttons
from bot.hub.notifications.waiting import WaitingTable
from bot.hub.polls import VOTE_CONTROLS


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
        return [text_display("No table waits for you.")]
    parts: list[Json] = []
    limit = MAX_TEXT // min(len(entries), MAX_ENTRIES)
    for entry in entries[:MAX_ENTRIES]:
        table = entry.waiting.table
        link = f"\n[The card]({entry.link})" if entry.link else ""
        parts.append(text_display(f"{entry.text}{link}", limit))
        if entry.waiting.poll_id:
            parts += action_rows(added_buttons(table.id, entry.waiting.poll_id, VOTE_CONTROLS))
        elif entry.decision_id:
            custom_id = CustomId(table.id, entry.waiting.seat, entry.decision_id, ENTER_LINE)
            parts += action_rows([button(f"Answer at {table.code}…", str(custom_id), PRIMARY)])
    if len(entries) > MAX_ENTRIES:
        parts.append(text_display(f"… and {len(entries) - MAX_ENTRIES} more."))
    return [container(parts)]
