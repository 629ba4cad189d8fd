"""`/me turns`: every table that waits for a person as one card, the same as the digest."""

from __future__ import annotations

from collections.abc import Sequence

from bot.discord.cards.parts import PRIMARY, Json, action_rows, button, container, text_display
from bot.discord.controls.controls import ENTER_LINE, CustomId
from bot.discord.controls.page_controls import added_buttons
from bot.discord.threads import card_link
from bot.hub.feature import Page
from bot.hub.notifications.waiting import WaitingTable
from bot.service import Service

MAX_ENTRIES = 8
MAX_TEXT = 3600  # characters of all entries


async def turns_card(service: Service, waiting: Sequence[tuple[WaitingTable, Page]]) -> list[Json]:
    """Every table that waits for the reader, the most urgent first, each with buttons to answer."""
    if not waiting:
        return [text_display("No table waits for you.")]
    parts: list[Json] = []
    limit = MAX_TEXT // min(len(waiting), MAX_ENTRIES)
    for each, page in waiting[:MAX_ENTRIES]:
        events = [f"- {event}" for _, items in page.lists for event in items]
        lines = [f"**{page.headline}**", *page.sentences, *events]
        buttons = added_buttons(each.table.id, page.decision_id, page.controls)
        if not buttons:
            link = await card_link(service, each.table, each.seat)
            lines += [f"[The card]({link})"] if link else []
            custom_id = CustomId(each.table.id, each.seat, page.decision_id, ENTER_LINE)
            buttons = [button(f"Answer at {each.table.code}…", str(custom_id), PRIMARY)]
        parts += [text_display("\n".join(lines), limit), *action_rows(buttons)]
    if len(waiting) > MAX_ENTRIES:
        parts.append(text_display(f"… and {len(waiting) - MAX_ENTRIES} more."))
    return [container(parts)]
